// x2ir diff: what do two graphs not have in common?
#include "x2ir/inspect/diff.h"

#include <optional>
#include <string>

#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kDiffFooter[] =
    "Matches the nodes of two graphs by structure, not by name, and prints the nodes that are "
    "only\n"
    "in the first (-), only in the other (+), and the differences of nodes that both have (~):\n"
    "attributes, weights, the order of operands, types. Two spellings of the same thing are not a\n"
    "difference: a negative axis, operands of a sum in another order. The models are not run; "
    "x2ir\n"
    "compare runs them. The exit code is 0 if there is no difference, else 1.\n"
    "\n"
    "Examples:\n"
    "  x2ir diff model.onnx simplified.onnx\n"
    "  x2ir diff model.pt2 model.onnx                # both as IR\n"
    "  x2ir diff model.pt2 model.onnx --optimize     # a gelu in one op or in five is the same\n"
    "  x2ir diff model.onnx other.onnx --raw         # nodes and opsets as the files have them";

struct DiffFlags {
  std::string model, other;
  bool raw = false, optimize = false, json = false;
};

int RunDiff(const DiffFlags& flags, Session& session) {
  int code = kDone;
  Progress progress(session, "reading");
  std::optional<Model> model = LoadToLookAt(session, progress, flags.model, flags.raw, &code);
  if (!model) return code;
  std::optional<Model> other = LoadToLookAt(session, progress, flags.other, flags.raw, &code);
  if (!other) return code;
  progress.SetWhat(flags.optimize ? "optimizing" : "comparing");
  const absl::StatusOr<ModelDiff> diff = flags.optimize
                                             ? DiffOptimized(*model, *other, "onnx", progress.fn())
                                             : DiffModels(*model, *other);
  progress.Stop();
  if (!diff.ok()) return session.Fail(diff.status(), Phase::kConverting);
  if (flags.json) {
    session.Print(diff->ToJson());
  } else if (!session.quiet) {
    session.Print(diff->ToText());
  }
  return diff->empty() ? kDone : kCannot;
}

}  // namespace

void AddDiff(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "diff", "Print the differences of two graphs", kDiffFooter, RunDiff);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  verb.Text("OTHER", verb.flags.other, "", "The model to compare it with").Required();
  verb.Flag("--raw", verb.flags.raw, "The graphs as the files have them, not as IR");
  verb.Flag("--optimize", verb.flags.optimize,
            "Optimize both for ONNX first, so that differences which passes remove and roundings "
            "of weights do not count")
      .Excludes("--raw");
  verb.Flag("--json", verb.flags.json, "Print JSON");
}

}  // namespace x2ir::cli
