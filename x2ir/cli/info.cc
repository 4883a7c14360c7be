// x2ir info: what is in models, what they cost, and whether they would convert.
#include "x2ir/inspect/info.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/shape_flags.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/cost.h"
#include "x2ir/inspect/weight_stats.h"

namespace x2ir::cli {
namespace {

constexpr char kInfoFooter[] =
    "Inputs, outputs, ops with counts, weights, opsets, and every op that cannot be converted.\n"
    "The exit code is 0 even if some cannot: the last line, or \"converts\" with --json, tells.\n"
    "\n"
    "--cost: multiply-adds (of convolutions, matrix products, attention and recurrent layers),\n"
    "parameters, and the memory of activations, by op of the IR. --weights: one line per weight.\n"
    "\n"
    "Examples:\n"
    "  x2ir info model.onnx\n"
    "  x2ir info model.onnx --json | jq .ops\n"
    "  x2ir info model.onnx --cost --shape x:1,3,224,224\n"
    "  x2ir info a.onnx b.onnx --weights --json";

struct InfoFlags {
  std::vector<std::string> models;
  OptionFlags shapes;
  bool cost = false, weights = false, json = false;
};

// What was asked for of one model: text, or members of a JSON object.
struct Part {
  std::string name;  // of the member
  std::string text;
};

// Nothing when it failed: then the failure was printed, and *code is the exit code.
std::optional<std::vector<Part>> PartsOf(const std::string& path, const InfoFlags& flags,
                                         Session& session, int* code) {
  Progress progress(session, StrCat("reading ", path));
  std::vector<Part> parts;
  if (flags.cost) {
    const std::optional<Model> model =
        LoadAsIr(session, progress, path, Unsupported::kKeep, code, flags.shapes);
    if (!model) return std::nullopt;
    const ModelCost cost = CostOf(*model->graph);
    parts.push_back({"cost", flags.json ? cost.ToJson() : cost.ToText()});
  }
  if (flags.weights) {
    std::string format;
    const absl::StatusOr<Model> model = LoadFile(session, path, &format);
    if (!model.ok()) {
      progress.Stop();
      *code = session.Fail(model.status(), Phase::kReading);
      return std::nullopt;
    }
    constexpr int kBins = 16;
    const auto weights = StatsOfWeights(*model->graph, flags.json ? kBins : 0);
    parts.push_back({"weights", flags.json ? WeightsJson(weights) : WeightsText(weights)});
  }
  if (!parts.empty()) return parts;
  const absl::StatusOr<ModelInfo> info = [&]() -> absl::StatusOr<ModelInfo> {
    X2IR_ASSIGN_OR_RETURN(const std::string format, DetectFormat(path));
    X2IR_ASSIGN_OR_RETURN(const LoadOptions loading, session.Loading(format));
    return Inspect(path, loading);
  }();
  progress.Stop();
  if (!info.ok()) {
    *code = session.Fail(info.status(), Phase::kReading);
    return std::nullopt;
  }
  parts.push_back({"", flags.json ? info->ToJson() : info->ToText()});
  return parts;
}

int RunInfo(const InfoFlags& flags, Session& session) {
  if (!flags.cost && !flags.shapes.Texts().empty()) {
    return session.Usage("--shape, --dynamic and --dtype are for --cost");
  }
  const bool several = flags.models.size() > 1;
  int worst = kDone;
  bool first = true;
  if (flags.json && several) session.Print("[");
  for (const std::string& path : flags.models) {
    int code = kDone;
    const auto parts = PartsOf(path, flags, session, &code);
    worst = std::max(worst, code);
    if (!parts) continue;
    std::string text;
    if (!flags.json) {
      if (several) text = StrCat(first ? "" : "\n", path, "\n");
      for (size_t i = 0; i < parts->size(); ++i) {
        StrAppend(&text, i ? "\n" : "", (*parts)[i].text);
      }
    } else if (parts->front().name.empty()) {
      text = parts->front().text;
      // The report's own members follow.
      if (several) {
        text = StrCat(first ? "" : ",", "{\n  \"model\": ", JsonString(path), ",",
                      std::string_view(text).substr(1));
      }
    } else {
      text = StrCat(several && !first ? "," : "", "{\n  \"model\": ", JsonString(path));
      for (const Part& part : *parts) StrAppend(&text, ",\n  \"", part.name, "\": ", part.text);
      text += "\n}\n";
    }
    session.Print(WithFlags(text));
    first = false;
  }
  if (flags.json && several) session.Print("]\n");
  return worst;
}

}  // namespace

void AddInfo(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "info", "Print the content and the cost of a model", kInfoFooter,
              RunInfo);
  verb.Repeated("MODEL", verb.flags.models, "", "The model files").Required();
  verb.Flag("--cost", verb.flags.cost,
            "Multiply-adds, parameters and memory of activations, by op");
  verb.Flag("--weights", verb.flags.weights,
            "Element type, range, mean, zeros and NaN of each weight; with --json a histogram too");
  AddShapeFlags(verb, verb.flags.shapes);
  verb.Flag("--json", verb.flags.json, "Print JSON; a list for several models");
}

}  // namespace x2ir::cli
