#include "x2ir/core/read_through.h"

#include <utility>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Values ReadThrough(NodeReader& a, std::string_view dialect, int opset, std::string_view op,
                   std::vector<Value*> operands, AttributeMap attrs,
                   const std::vector<ReadThroughResult>& results) {
  const Form* form = FindImportForm(dialect, op, opset);
  if (!form) return a.Fail(Unimplemented("no mapping of ", dialect, "'s ", op, " to IR"));
  // The other node is in a temporary graph, which is dropped after the form was run.
  Graph aside;
  Node* node = aside.AppendNode(dialect, op, operands);
  for (auto& [name, value] : attrs) node->SetAttr(name, std::move(value));
  for (const ReadThroughResult& result : results) {
    if (result.wanted) {
      aside.AddNodeOutput(node, aside.UniqueName("result"), result.type);
    } else {
      aside.AddMissingOutput(node);
    }
  }
  Rewrite r{*node, a.b(), dialect, opset};
  absl::StatusOr<Values> values = RunImport(*form, r);
  a.b().set_stops(true);
  if (!values.ok()) return a.Fail(values.status());
  return *std::move(values);
}

}  // namespace x2ir
