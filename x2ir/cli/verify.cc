// x2ir verify: does a model compute what it should?
#include "x2ir/core/verify.h"

#include <memory>
#include <string>
#include <utility>

#include "x2ir/cli/flags.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kFooter[] =
    "Runs MODEL on the inputs of the io file and compares with the outputs there. With OTHER:\n"
    "whether OTHER computes what MODEL does, on those inputs, or on random ones where there is\n"
    "no io file. All cases of the file are verified. The exit code is 0 only if all outputs\n"
    "agree.\n"
    "\n"
    "Floats agree when |got - expected| <= A + R * |expected|, NaN with NaN; all else must be\n"
    "equal, element types and shapes too.\n"
    "\n"
    "Examples:\n"
    "  x2ir verify model.json --io io.safetensors\n"
    "  x2ir verify model.onnx model.json             # on random inputs\n"
    "  x2ir verify model.onnx out.onnx --io io.safetensors --rtol 1e-5 --atol 1e-6";

struct Flags {
  std::string model, other, io, rtol, atol;
  bool json = false;
};

int RunVerify(const Flags& flags, Session& session) {
  VerifyOptions options;
  for (const auto& [flag, text, value] :
       {std::tuple("--rtol", &flags.rtol, &options.tolerance.rtol),
        std::tuple("--atol", &flags.atol, &options.tolerance.atol)}) {
    if (text->empty()) continue;
    const auto number = ParseTolerance(flag, *text);
    if (!number.ok()) return session.Usage(number.status());
    *value = *number;
  }
  if (flags.io.empty() && flags.other.empty()) {
    return session.Usage(
        "there is nothing to compare with: give an io file with expected outputs by --io, or "
        "another model");
  }
  int code = kDone;
  Progress progress(session, "reading");
  std::optional<Model> model = LoadAsIr(session, progress, flags.model, Unsupported::kFail, &code);
  if (!model) return code;
  std::optional<Model> other;
  if (!flags.other.empty()) {
    other = LoadAsIr(session, progress, flags.other, Unsupported::kFail, &code);
    if (!other) return code;
  }
  auto fail = [&](const absl::Status& status, Phase phase) {
    progress.Stop();
    return session.Fail(status, phase);
  };

  std::vector<IoCase> cases;
  if (flags.io.empty()) {
    std::string note;
    const absl::Status random = RandomCase(*model->graph, 0, &note).status();
    if (!random.ok()) {
      progress.Stop();
      return session.Usage(StrCat(std::string(random.message()), "; give inputs by --io"));
    }
  } else {
    auto read = ReadIoFile(flags.io, *model->graph);
    if (!read.ok()) return fail(read.status(), Phase::kReading);
    cases = *std::move(read);
  }
  if (!other) {
    bool any = false;
    for (const IoCase& io : cases) {
      for (const auto& output : io.outputs) any = any || output.has_value();
    }
    if (!any) {
      progress.Stop();
      return session.Usage(StrCat("'", flags.io,
                                  "' holds no outputs to compare with; expected "
                                  "out_0, ..., or the names of the model's outputs"));
    }
  }

  progress.SetWhat("running");
  options.progress = progress.fn();
  const absl::StatusOr<Verification> result = flags.io.empty()
                                                  ? VerifyOnRandomInputs(*model, *other, options)
                                              : other ? VerifyModels(*model, *other, cases, options)
                                                      : VerifyOutputs(*model, cases, options);
  if (!result.ok()) return fail(result.status(), Phase::kConverting);
  progress.Stop();
  if (flags.json) {
    session.Print(result->ToJson());
  } else if (!session.quiet) {
    session.Print(result->ToText());
  }
  return result->agrees() ? kDone : kCannot;
}

}  // namespace

void AddVerify(CLI::App& app, Session& session) {
  Verb verb(app, session, "verify", "Compare a model's outputs with expected ones", kFooter);
  auto flags = std::make_shared<Flags>();
  verb.Text("MODEL", flags->model, "", "The model file").Required();
  verb.Text("OTHER", flags->other, "", "A model that should compute the same");
  verb.Text("--io", flags->io, "FILE.safetensors",
            "Inputs, and expected outputs: in_0, ..., out_0, ... or real names");
  verb.Text("--rtol", flags->rtol, "R", "Relative tolerance (1e-3)");
  verb.Text("--atol", flags->atol, "A", "Absolute tolerance (1e-4)");
  verb.Flag("--json", flags->json, "For programs");
  verb.Do([flags, &session] { return RunVerify(*flags, session); });
}

}  // namespace x2ir::cli
