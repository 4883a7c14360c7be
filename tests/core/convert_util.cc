// Conversions as text in, text out.
#include "tests/core/convert_util.h"

#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

std::string ErrorText(const absl::Status& status) { return StrCat("error: ", status.ToString()); }

std::string Print(const Graph& graph, const ConvertTextOptions& options) {
  TextOptions text;
  text.types = options.types;
  text.node_names = options.node_names;
  text.max_constant_elements = options.max_constant_elements;
  return ToText(graph, text);
}

// Whatever a conversion gives must be a sound graph.
absl::Status CheckValid(const Graph& graph) {
  const std::vector<std::string> problems = graph.Validate();
  return problems.empty() ? absl::OkStatus() : Internal("invalid graph: ", problems[0]);
}

absl::Status RunToIr(Model& model, const ConvertTextOptions& options) {
  ImportOptions import;
  import.foreign = options.foreign;
  import.optimize = options.optimize;
  X2IR_RETURN_IF_ERROR(ToIr(model, import));
  return CheckValid(*model.graph);
}

absl::Status RunFromIr(Model& model, int opset, const ConvertTextOptions& options) {
  ExportOptions export_options;
  if (opset != 0) export_options.opset = opset;
  export_options.extra_opsets = options.extra_opsets;
  export_options.optimize = options.optimize;
  export_options.foreign = options.foreign;
  X2IR_RETURN_IF_ERROR(FromIrSayingWhatWasTried(model, options.dialect, export_options));
  return CheckValid(*model.graph);
}

}  // namespace

absl::StatusOr<Model> ModelFromText(std::string_view graph_text, std::string_view dialect,
                                    int opset, const std::vector<OpsetImport>& extra) {
  Model model;
  X2IR_ASSIGN_OR_RETURN(model.graph, ParseGraph(graph_text));
  model.source_dialect = dialect;
  if (opset != 0) model.SetOpset("", opset);
  for (const OpsetImport& import : extra) model.SetOpset(import.domain, import.version);
  return model;
}

absl::Status FromIrSayingWhatWasTried(Model& model, const std::string& dialect,
                                      const ExportOptions& options) {
  Report report;
  const absl::Status status = FromIr(model, dialect, options, &report);
  std::string tried;
  for (const Failure& failure : report.failures) {
    for (const std::string& form : failure.tried) StrAppend(&tried, "    tried ", form, "\n");
  }
  return absl::Status(status.code(), StrCat(std::string(status.message()), tried));
}

std::string ToIrText(std::string_view graph_text, int opset, const ConvertTextOptions& options) {
  absl::StatusOr<Model> model =
      ModelFromText(graph_text, options.dialect, opset, options.extra_opsets);
  if (!model.ok()) return ErrorText(model.status());
  if (absl::Status s = RunToIr(*model, options); !s.ok()) return ErrorText(s);
  return Print(*model->graph, options);
}

std::string FromIrText(std::string_view ir_text, int opset, const ConvertTextOptions& options) {
  absl::StatusOr<Model> model = ModelFromText(ir_text, kIrDialect, 0);
  if (!model.ok()) return ErrorText(model.status());
  if (absl::Status s = RunFromIr(*model, opset, options); !s.ok()) return ErrorText(s);
  return Print(*model->graph, options);
}

std::string ThereAndBackText(std::string_view graph_text, int opset, int to_opset,
                             const ConvertTextOptions& options) {
  absl::StatusOr<Model> model =
      ModelFromText(graph_text, options.dialect, opset, options.extra_opsets);
  if (!model.ok()) return ErrorText(model.status());
  if (absl::Status s = RunToIr(*model, options); !s.ok()) return ErrorText(s);
  if (absl::Status s = RunFromIr(*model, to_opset == 0 ? opset : to_opset, options); !s.ok()) {
    return ErrorText(s);
  }
  return Print(*model->graph, options);
}

std::string Canonical(std::string_view graph_text, const ConvertTextOptions& options) {
  absl::StatusOr<std::shared_ptr<Graph>> graph = ParseGraph(graph_text);
  if (!graph.ok()) return ErrorText(graph.status());
  return Print(**graph, options);
}

std::string Body(std::string_view graph_text) {
  const size_t open = graph_text.find('{');
  const size_t close = graph_text.rfind('}');
  if (graph_text.substr(0, 6) != "graph " || open == std::string_view::npos || close < open) {
    return std::string(graph_text);  // an error, most likely
  }
  std::string body;
  std::string_view rest = graph_text.substr(open + 1, close - open - 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (!line.empty()) StrAppend(&body, line, "\n");
  }
  return body;
}

}  // namespace x2ir
