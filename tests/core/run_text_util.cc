#include "tests/core/run_text_util.h"

#include "tests/ops/text_eval_util.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

std::string ErrorText(const absl::Status& status) {
  return StrCat("error: ", std::string(status.message()));
}

}  // namespace

std::string ResultsText(const absl::StatusOr<Model>& model,
                        const std::vector<std::string>& inputs) {
  if (!model.ok()) return ErrorText(model.status());
  IoCase io;
  for (const std::string& input : inputs) {
    const auto graph = ParseGraph(StrCat("graph g() -> (v) {\n v = ", input, "\n}"));
    if (!graph.ok()) return ErrorText(graph.status());
    io.inputs.push_back(*(*graph)->outputs()[0]->constant());
  }
  io.outputs.assign(model->graph->outputs().size(), std::nullopt);
  const auto results = RunCase(*model->graph, io);
  if (!results.ok()) return ErrorText(results.status());
  std::string text;
  for (const Datum& datum : *results) {
    StrAppend(&text, text.empty() ? "" : "; ", TensorText(*datum.tensor()));
  }
  return text;
}

}  // namespace x2ir
