// x2ir compare: where do two models part?
#include "x2ir/core/compare.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "x2ir/cli/cases.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/shape_flags.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kFooter[] =
    "Runs both models on the same inputs, compares every value that they both have, and says at\n"
    "which node they part: what it reads agrees, what it gives does not. Values are matched by\n"
    "the structure of the graphs and by name, so the formats may differ. Then a table of what\n"
    "differs, in the order of computing. The exit code is 0 only if all outputs agree.\n"
    "\n"
    "Examples:\n"
    "  x2ir compare model.pt2 model.onnx\n"
    "  x2ir compare model.onnx other.onnx --io io.safetensors\n"
    "  x2ir compare model.onnx other.onnx --bisect part.onnx   # and part.safetensors";

struct Flags {
  std::string model, other, most, bisect;
  CaseFlags cases;
  ToleranceFlags tolerance;
  bool json = false;
};

int RunCompare(const Flags& flags, Session& session) {
  VerifyOptions options;
  if (absl::Status s = ParseTolerances(flags.tolerance, &options.tolerance); !s.ok()) {
    return session.Usage(s);
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
  Progress progress(session, "reading");
  std::optional<Model> model =
      LoadAsIr(session, progress, flags.model, Unsupported::kFail, &code, flags.cases.shapes);
  if (!model) return code;
  std::optional<Model> other = LoadAsIr(session, progress, flags.other, Unsupported::kFail, &code);
  if (!other) return code;
  const auto fail = [&](const absl::Status& status, Phase phase) {
    progress.Stop();
    return session.Fail(status, phase);
  };
  for (const Model* read : {&*model, &*other}) {
    if (flags.bisect.empty()) break;
    const absl::Status s = CheckOutputs({}, MappedFiles(*read), {flags.bisect, part_io});
    if (!s.ok()) return fail(s, Phase::kWriting);
  }
  std::string note;
  const auto cases = CasesFor(flags.cases, *model->graph, session, progress, &note, &code);
  if (!cases) return code;
  progress.SetWhat("running");
  options.progress = progress.fn();
  absl::StatusOr<ModelComparison> result = CompareModels(*model, *other, *cases, options);
  if (!result.ok()) return fail(result.status(), Phase::kConverting);
  result->note = note;
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
  return result->agrees() ? kDone : kCannot;
}

}  // namespace

void AddCompare(CLI::App& app, Session& session) {
  Verb verb(app, session, "compare", "Say at which node two models part", kFooter);
  auto flags = std::make_shared<Flags>();
  verb.Text("MODEL", flags->model, "", "The model file").Required();
  verb.Text("OTHER", flags->other, "", "A model that should compute the same").Required();
  AddCaseFlags(verb, flags->cases, "Inputs: in_0, ... or real names");
  AddToleranceFlags(verb, flags->tolerance);
  verb.Text("--most", flags->most, "N", "At most so many values in the table (20)");
  verb.Text("--bisect", flags->bisect, "OUT",
            "Write the part of OTHER that differs, and an io file beside it");
  verb.Flag("--json", flags->json, "For programs");
  verb.Do([flags, &session] { return RunCompare(*flags, session); });
}

}  // namespace x2ir::cli
