// x2ir verify: does a model compute what it should?
#include "x2ir/inspect/verify.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "x2ir/cli/cases.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/map_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/runtime_flags.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/checks.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/checks.h"
#include "x2ir/inspect/compare.h"
#include "x2ir/runtimes/check.h"

namespace x2ir::cli {
namespace {

constexpr char kVerifyFooter[] =
    "Runs MODEL on the inputs of the io file and compares the results with the outputs there. "
    "With\n"
    "OTHER: compares OTHER with MODEL, on those inputs, or on random ones if there is no io file.\n"
    "All cases of the file are verified. The exit code is 0 only if all outputs agree.\n"
    "\n"
    "--with RUNTIME: the runtime computes the outputs. It runs MODEL, written in the format of "
    "the\n"
    "runtime as x2ir convert writes it, or OTHER unchanged, which must be a file of that format. "
    "If\n"
    "the io file has no outputs, the results of x2ir for MODEL are expected. The library of the\n"
    "runtime is not part of x2ir and is loaded only for this.\n"
    "\n"
    "Floats agree when |got - expected| <= A + R * |expected|, NaN with NaN; all else must be\n"
    "equal, element types and shapes too.\n"
    "\n"
    "A program that checks itself (StableHLO's check.expect_...) needs neither: without an io "
    "file\n"
    "and OTHER its checks are run.\n"
    "\n"
    "For a lossy conversion (int8, float16) use --metric, which decides by one number and "
    "compares\n"
    "values of different element types as numbers. cosine: the cosine of the angle between the "
    "two\n"
    "outputs as vectors, 1 if they are equal. snr: the signal-to-noise ratio of the expected "
    "output\n"
    "to the difference, in decibels. max-abs: the largest difference. steps: the largest "
    "difference\n"
    "in steps of the output's quantization.\n"
    "\n"
    "Examples:\n"
    "  x2ir verify model.json --io io.safetensors\n"
    "  x2ir verify model.onnx nhwc.onnx --map nhwc.json   # of convert --report nhwc.json\n"
    "  x2ir verify nhwc.onnx --io io.safetensors --map nhwc.json\n"
    "  x2ir verify model.onnx model.json             # on random inputs\n"
    "  x2ir verify model.onnx out.onnx --io io.safetensors --rtol 1e-5 --atol 1e-6\n"
    "  x2ir verify model.pt2 --with onnxruntime --runtime-library lib/libonnxruntime.so.1\n"
    "  x2ir verify model.onnx model.tflite --with litert --io io.safetensors\n"
    "  x2ir verify model.onnx int8.tflite --metric cosine --at-least 0.999";

struct VerifyFlags {
  std::string model, other;
  std::vector<std::string> map;
  CaseFlags cases;
  ToleranceFlags tolerance;
  RuntimeFlags runtime;
  bool layers = false, json = false;
};

// Whether files of the model's format may hold checks of their own results.
bool MayCheckItself(const std::string& model) {
  const auto name = DetectFormat(model);
  const Format* format = name.ok() ? FindFormat(*name) : nullptr;
  return format && FindOption(format->read_options, kChecksOption);
}

// Runs the checks that the model makes of its own results.
int RunChecks(const VerifyFlags& flags, Session& session,
              const std::shared_ptr<const Runtime>& runtime) {
  Progress progress(session, "reading");
  int code = kDone;
  ImportOptions reading;
  reading.format_options.Set(kChecksOption, true);
  const std::optional<Model> model =
      LoadAsIr(session, progress, flags.model, Unsupported::kFail, &code, reading);
  if (!model) return code;
  const std::vector<ResultCheck> checks = ChecksOf(*model);
  if (checks.empty()) {
    progress.Stop();
    return session.Usage(StrCat("'", flags.model,
                                "' makes no checks of its own: give an io file with expected "
                                "outputs by --io, or another model"));
  }
  progress.SetWhat("running");
  const auto results = [&]() -> absl::StatusOr<std::vector<Datum>> {
    if (!runtime) return RunCase(*model->graph, IoCase(), progress.fn());
    X2IR_ASSIGN_OR_RETURN(const ModelInRuntime converted, ModelInRuntime::Convert(*model, runtime));
    return converted.Run(IoCase());
  }();
  const auto verdict = results.ok() ? VerifyChecks(*model->graph, checks, *results)
                                    : absl::StatusOr<Verification>(results.status());
  progress.Stop();
  if (!verdict.ok()) return session.Fail(verdict.status(), Phase::kConverting);
  if (flags.json) {
    session.Print(verdict->ToJson());
  } else if (!session.quiet) {
    session.Print(verdict->ToText());
  }
  return verdict->agrees() ? kDone : kCannot;
}

int VerifyAll(const VerifyFlags& flags, Session& session) {
  VerifyOptions options;
  if (absl::Status s = ParseTolerances(flags.tolerance, &options); !s.ok()) {
    return session.Usage(s);
  }
  if (flags.cases.is_random() && flags.other.empty() && MayCheckItself(flags.model)) {
    int code = kDone;
    std::shared_ptr<const Runtime> runtime;
    if (!LoadRuntimeFor(flags.runtime, session, &runtime, &code)) return code;
    return RunChecks(flags, session, runtime);
  }
  if (flags.cases.is_random() && flags.other.empty() && !flags.runtime) {
    return session.Usage(
        "there is nothing to compare with: give an io file with expected outputs by --io, "
        "another model, or a runtime by --with");
  }
  if (flags.layers && flags.other.empty()) {
    return session.Usage("--layers needs another model to compare with");
  }
  if (flags.layers && flags.runtime) {
    return session.Usage("--layers uses the evaluation of x2ir; for --with use x2ir compare");
  }
  int code = kDone;
  std::shared_ptr<const Runtime> runtime;
  if (!LoadRuntimeFor(flags.runtime, session, &runtime, &code)) return code;
  Progress progress(session, "reading");
  std::optional<Model> model = LoadToRun(session, progress, flags.model, flags.cases, &code);
  if (!model) return code;
  std::optional<Model> other;
  if (!flags.other.empty() && !runtime) {
    other = LoadAsIr(session, progress, flags.other, Unsupported::kFail, &code);
    if (!other) return code;
  }
  Model* source = other ? &*model : nullptr;
  Model& converted = other ? *other : *model;
  if (absl::Status s = ApplyMap(flags.map, source, converted); !s.ok()) {
    progress.Stop();
    return session.Fail(s, Phase::kConverting);
  }
  const std::string hint = MapHint(flags.map, source, converted);
  auto fail = [&](const absl::Status& status, Phase phase) {
    progress.Stop();
    return session.Fail(WithHint(status, hint), phase);
  };
  const auto conclude = [&](const auto& outcome) {
    progress.Stop();
    if (flags.json) {
      session.Print(outcome.ToJson());
    } else if (!session.quiet) {
      session.Print(outcome.ToText());
    }
    if (!outcome.agrees() && other && !hint.empty()) session.Warn(hint);
    return outcome.agrees() ? kDone : kCannot;
  };

  std::vector<IoCase> cases;
  std::string note;
  const bool usual =
      flags.cases.is_random() && flags.cases.random.empty() && flags.cases.seed.empty();
  if (usual) {
    const absl::Status random = RandomCase(*model->graph, 0, &note).status();
    if (!random.ok()) {
      progress.Stop();
      return session.Usage(StrCat(std::string(random.message()), "; give inputs by --io"));
    }
  } else {
    auto found = CasesFor(flags.cases, *model->graph, session, progress, &note, &code, hint);
    if (!found) return code;
    cases = *std::move(found);
  }
  if (!other && !runtime) {
    bool any = false;
    for (const IoCase& io : cases) {
      for (const auto& output : io.outputs) any = any || output.has_value();
    }
    if (!any) {
      progress.Stop();
      return session.Usage(StrCat("'", flags.cases.io,
                                  "' holds no outputs to compare with; expected "
                                  "out_0, ..., or the names of the model's outputs"));
    }
  }

  progress.SetWhat("running");
  options.progress = progress.fn();
  if (flags.layers) {
    if (usual) {
      auto found = CasesFor(flags.cases, *model->graph, session, progress, &note, &code);
      if (!found) return code;
      cases = *std::move(found);
    }
    absl::StatusOr<ModelComparison> layers = CompareModels(*model, *other, cases, options);
    if (!layers.ok()) return fail(layers.status(), Phase::kConverting);
    layers->note = note;
    return conclude(*layers);
  }
  std::optional<ModelInRuntime> in_runtime;
  if (runtime) {
    auto opened = flags.other.empty() ? ModelInRuntime::Convert(*model, runtime)
                                      : ModelInRuntime::Open(flags.other, *model->graph, runtime);
    if (!opened.ok()) return fail(opened.status(), Phase::kConverting);
    in_runtime.emplace(*std::move(opened));
  }
  const auto with_runtime = [&](absl::Span<const IoCase> some) {
    return VerifyInRuntime(*model, *in_runtime, some, options);
  };
  absl::StatusOr<Verification> result = runtime && usual
                                            ? VerifyOnRandomInputs(*model, with_runtime)
                                        : runtime ? with_runtime(cases)
                                        : usual   ? VerifyOnRandomInputs(*model, *other, options)
                                        : other   ? VerifyModels(*model, *other, cases, options)
                                                  : VerifyOutputs(*model, cases, options);
  if (!result.ok()) return fail(result.status(), Phase::kConverting);
  if (!usual && !note.empty()) {
    StrAppend(&result->note, result->note.empty() ? "" : "\n", note);
  }
  return conclude(*result);
}

// A model without types of its own is another one for inputs of other types: each is verified.
int RunVerify(const VerifyFlags& flags, Session& session) {
  if (!flags.cases.is_random() && flags.cases.cases.empty() && flags.other.empty()) {
    const auto groups = IoCaseGroups(flags.cases.io);
    std::string format;
    if (groups.ok() && groups->size() > 1) {
      if (const auto model = LoadFile(session, flags.model, &format);
          model.ok() && model->program) {
        int code = kDone;
        for (const std::vector<std::string>& group : *groups) {
          VerifyFlags part = flags;
          part.cases.cases = {absl::StrJoin(group, ",")};
          code = std::max(code, VerifyAll(part, session));
        }
        return code;
      }
    }
  }
  return VerifyAll(flags, session);
}

}  // namespace

void AddVerify(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "verify", "Compare a model's outputs with expected ones", kVerifyFooter,
              RunVerify);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  verb.Text("OTHER", verb.flags.other, "", "A model that should compute the same");
  AddCaseFlags(verb, verb.flags.cases,
               "Inputs, and expected outputs: in_0, ..., out_0, ... or real names");
  AddMapFlag(verb, verb.flags.map);
  AddToleranceFlags(verb, verb.flags.tolerance);
  AddRuntimeFlags(verb, verb.flags.runtime, "Compare with what this runtime computes");
  verb.Flag("--layers", verb.flags.layers,
            "With OTHER: report the first node that differs and the error of each value, as x2ir "
            "compare does");
  verb.Flag("--json", verb.flags.json, "Print JSON");
}

}  // namespace x2ir::cli
