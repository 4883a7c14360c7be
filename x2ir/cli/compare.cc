// x2ir compare: where do two models part?
#include "x2ir/inspect/compare.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/cli/cases.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/map_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/runtime_flags.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/runtimes/check.h"

namespace x2ir::cli {
namespace {

constexpr char kCompareFooter[] =
    "Runs both models on the same inputs, compares every value that they both have, and says at\n"
    "which node they start to differ: its operands agree, its results do not. Values are matched "
    "by\n"
    "the structure of the graphs and by name, so the formats may differ. A table lists the values\n"
    "that differ, in the order of computation. Values of different element types (a model and its\n"
    "--float16 version) are compared as numbers. The exit code is 0 only if all outputs agree.\n"
    "\n"
    "--with RUNTIME instead of OTHER: MODEL is written for the runtime, without passes and with\n"
    "every value as an output, and the results of the runtime are compared with those of x2ir.\n"
    "\n"
    "Examples:\n"
    "  x2ir compare model.pt2 model.onnx\n"
    "  x2ir compare model.onnx other.onnx --io io.safetensors\n"
    "  x2ir compare model.onnx other.onnx --bisect part.onnx   # and part.safetensors\n"
    "  x2ir compare model.onnx --with onnxruntime --bisect part.onnx";

struct CompareFlags {
  std::string model, other, most, bisect;
  std::vector<std::string> map;
  CaseFlags cases;
  ToleranceFlags tolerance;
  RuntimeFlags runtime;
  bool json = false;
};

int RunCompare(const CompareFlags& flags, Session& session) {
  VerifyOptions options;
  if (absl::Status s = ParseTolerances(flags.tolerance, &options); !s.ok()) {
    return session.Usage(s);
  }
  if (flags.other.empty() == !flags.runtime) {
    return session.Usage(flags.runtime
                             ? "OTHER and --with cannot be combined here; x2ir verify takes both"
                             : "there is nothing to compare with: give another model, or a "
                               "runtime by --with");
  }
  if (flags.runtime && !flags.map.empty()) {
    return session.Usage(
        "--map describes the changes of another model, and --with compares without one");
  }
  int64_t most = 20;
  if (!flags.most.empty()) {
    const auto number = ParseInt("--most", flags.most, 0, std::numeric_limits<int32_t>::max());
    if (!number.ok()) return session.Usage(number.status());
    most = *number;
  }
  const std::string part_io =
      flags.bisect.empty() ? ""
                           : std::filesystem::path(flags.bisect).replace_extension(".safetensors");
  if (!flags.bisect.empty()) {
    if (absl::Status s =
            CheckOutputs({flags.model, flags.other, flags.cases.io}, {}, {flags.bisect, part_io});
        !s.ok()) {
      return session.Usage(s);
    }
  }
  int code = kDone;
  std::shared_ptr<const Runtime> runtime;
  if (!LoadRuntimeFor(flags.runtime, session, &runtime, &code)) return code;
  Progress progress(session, "reading");
  std::optional<Model> model = LoadToRun(session, progress, flags.model, flags.cases, &code);
  if (!model) return code;
  std::optional<Model> read;
  if (!runtime) {
    read = LoadAsIr(session, progress, flags.other, Unsupported::kFail, &code);
    if (!read) return code;
  }
  Model* other = read ? &*read : &*model;
  std::string hint;
  if (read) {
    if (absl::Status s = ApplyMap(flags.map, &*model, *other); !s.ok()) {
      progress.Stop();
      return session.Fail(s, Phase::kConverting);
    }
    hint = MapHint(flags.map, &*model, *other);
  }
  const auto fail = [&](const absl::Status& status, Phase phase) {
    progress.Stop();
    return session.Fail(WithHint(status, hint), phase);
  };
  for (const Model* each : {&*model, other}) {
    if (flags.bisect.empty()) break;
    const absl::Status s = CheckOutputs({}, MappedFiles(*each), {flags.bisect, part_io});
    if (!s.ok()) return fail(s, Phase::kWriting);
  }
  std::string note;
  const auto cases = CasesFor(flags.cases, *model->graph, session, progress, &note, &code);
  if (!cases) return code;
  progress.SetWhat("running");
  options.progress = progress.fn();
  absl::StatusOr<ModelComparison> result = runtime
                                               ? CompareInRuntime(*model, runtime, *cases, options)
                                               : CompareModels(*model, *other, *cases, options);
  if (!result.ok()) return fail(result.status(), Phase::kConverting);
  if (!note.empty()) StrAppend(&result->note, result->note.empty() ? "" : "\n", note);
  if (!flags.bisect.empty() && result->first) {
    absl::StatusOr<DifferingPart> part =
        CutDifference(*model, *other, *result->first, *cases, options);
    if (!part.ok()) return fail(part.status(), Phase::kConverting);
    const auto folders = NewFolders::For(flags.bisect);
    if (!folders.ok()) return fail(folders.status(), Phase::kWriting);
    if (absl::Status s = WriteIoFile(part_io, {part->io}, *part->model.graph); !s.ok()) {
      return fail(s, Phase::kWriting);
    }
    ExportOptions exporting;
    exporting.optimize = false;
    if (absl::Status s = Export(std::move(part->model), flags.bisect, exporting); !s.ok()) {
      return fail(s, Phase::kWriting);
    }
  }
  progress.Stop();
  if (flags.json) {
    session.Print(result->ToJson());
  } else if (!session.quiet) {
    session.Print(result->ToText(static_cast<size_t>(most)));
    if (!flags.bisect.empty() && result->first) {
      session.Print(StrCat("wrote ", flags.bisect, " and ", part_io, ": the part that differs\n"));
    }
  }
  if (!result->agrees() && !hint.empty()) session.Warn(hint);
  return result->agrees() ? kDone : kCannot;
}

}  // namespace

void AddCompare(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "compare", "Find the node at which two models start to differ",
              kCompareFooter, RunCompare);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  verb.Text("OTHER", verb.flags.other, "", "A model that should compute the same");
  AddCaseFlags(verb, verb.flags.cases, "Inputs: in_0, ... or real names");
  AddMapFlag(verb, verb.flags.map);
  AddToleranceFlags(verb, verb.flags.tolerance);
  AddRuntimeFlags(verb, verb.flags.runtime, "Compare with what this runtime computes");
  verb.Text("--most", verb.flags.most, "N", "The largest number of values in the table (20)");
  verb.Text("--bisect", verb.flags.bisect, "OUT",
            "Write the part of OTHER that differs, and an io file beside it");
  verb.Flag("--json", verb.flags.json, "Print JSON");
}

}  // namespace x2ir::cli
