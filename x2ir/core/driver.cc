// What both directions of the conversion driver do.
#include "x2ir/core/driver_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

int Driver::OpsetOf(Symbol op, Scope& scope) {
  auto [it, fresh] = scope.opsets.try_emplace(op, 0);
  if (fresh) {
    const std::string_view domain = SplitOp(op.view()).first;
    for (const std::string_view name : {domain, std::string_view("ai.onnx")}) {
      for (const OpsetImport& import : *scope.imports) {
        if (import.domain == name && it->second == 0) it->second = static_cast<int>(import.version);
      }
      if (!domain.empty()) break;
    }
  }
  return it->second;
}

bool Driver::MayRename(const Node& node) {
  const size_t n = node.num_inputs();
  return node.num_outputs() == 1 && node.output(0) && !node.has_subgraphs() &&
         (n == 0 || node.input(n - 1));
}

AttributeMap Driver::ReplaceAttrs(Node& node, AttributeMap attrs) {
  AttributeMap before = node.attrs();
  for (const auto& [name, attr] : before) node.EraseAttr(name);
  for (auto& [name, attr] : attrs) node.SetAttr(name, std::move(attr));
  return before;
}

absl::StatusOr<Values> Driver::Try(const Handler& handler, Rewrite& r) {
  absl::StatusOr<Values> values = [&]() -> absl::StatusOr<Values> {
    try {
      return handler(r);
    } catch (const NoSuchAttribute& error) {
      return Invalid(error.what());
    }
  }();
  if (values.ok() && !r.b.status().ok()) values = r.b.status();
  if (values.ok() && values->size() < r.node.num_outputs()) {
    values =
        Internal("the handler gives ", values->size(), " results; expected ", r.node.num_outputs());
  }
  for (size_t i = 0; values.ok() && i < r.node.num_outputs(); ++i) {
    if (r.node.output(i) && !(*values)[i]) {
      values = Internal("the handler does not return output ", i, ", which is used");
    }
  }
  if (!values.ok()) {
    r.b.Rollback();
    const_cast<Node&>(r.node).ReclaimSubgraphs();
  }
  return values;
}

void Driver::NameApart(Graph& graph, bool keep_interface) {
  const Graph* outer = graph.parent();
  if (!outer) return;
  const auto name = [&](Value* value) {
    if (!value || (keep_interface && (value->is_input() || value->is_graph_output())) ||
        (!value->name().empty() && !outer->FindInScope(value->name())))
      return;
    graph.Rename(value, graph.UniqueName(value->name()));
  };
  for (Value* input : graph.inputs()) name(input);
  for (Value* constant : graph.constants()) name(constant);
  for (Node* node : graph.nodes()) {
    for (Value* output : node->outputs()) name(output);
  }
}

std::string Driver::NameOf(const Node& node) {
  return node.name().empty() ? HintOf(node) : node.name();
}

absl::Status Driver::Check(const Model& model) {
  X2IR_RETURN_IF_ERROR(CheckRegistrations());
  X2IR_RETURN_IF_ERROR(CheckOpsAreLinked());
  return model.graph->CheckNames();
}

}  // namespace x2ir
