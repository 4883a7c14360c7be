// x2ir info: what is in a model, and whether it would convert.
#include "x2ir/core/info.h"

#include <memory>
#include <string>

#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kFooter[] =
    "Inputs, outputs, ops with counts, weights, opsets, and every op that would not convert.\n"
    "The exit code is 0 also when some would not: the last line, or \"converts\" with --json,\n"
    "says so.\n"
    "\n"
    "Examples:\n"
    "  x2ir info model.onnx\n"
    "  x2ir info model.onnx --json | jq .ops";

struct Flags {
  std::string model;
  bool json = false;
};

int RunInfo(const Flags& flags, Session& session) {
  Progress progress(session, StrCat("reading ", flags.model));
  const absl::StatusOr<ModelInfo> info = [&]() -> absl::StatusOr<ModelInfo> {
    X2IR_ASSIGN_OR_RETURN(const std::string format, DetectFormat(flags.model));
    X2IR_ASSIGN_OR_RETURN(const LoadOptions options, session.Loading(format));
    return Inspect(flags.model, options);
  }();
  progress.Stop();
  if (!info.ok()) return session.Fail(info.status(), Phase::kReading);
  session.Print(WithFlags(flags.json ? info->ToJson() : info->ToText()));
  return kDone;
}

}  // namespace

void AddInfo(CLI::App& app, Session& session) {
  Verb verb(app, session, "info", "Print what is in a model", kFooter);
  auto flags = std::make_shared<Flags>();
  verb.Text("MODEL", flags->model, "", "The model file").Required();
  verb.Flag("--json", flags->json, "For programs");
  verb.Do([flags, &session] { return RunInfo(*flags, session); });
}

}  // namespace x2ir::cli
