// See temporary_variables.h.
#include "x2ir/handlers/tf/temporary_variables.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "x2ir/core/written_ops.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr std::string_view kScatters[] = {"ScatterAdd", "ScatterDiv", "ScatterMax",   "ScatterMin",
                                          "ScatterMul", "ScatterSub", "ScatterUpdate"};

bool ChangesVariable(const Node& node) {
  return node.dialect().view() == "tf" && std::find(std::begin(kScatters), std::end(kScatters),
                                                    node.op().view()) != std::end(kScatters);
}

// Whether an operator for tensors does the same, with one that adds an axis to the indices.
bool HasTensorForm(const Node& node) {
  const std::string_view op = node.op().view();
  const Shape *data = node.input(0)->shape(), *places = node.input(1)->shape(),
              *updates = node.input(2)->shape();
  return op != "ScatterDiv" && op != "ScatterMul" && places && places->rank() > 0 && updates &&
         updates->rank() == places->rank() + data->rank() - 1;
}

}  // namespace

bool MayChangeTemporaryVariable(const Node& node) {
  if (!ChangesVariable(node) || node.num_inputs() != 3) return false;
  const Value* x = node.input(0);
  return x && node.input(1) && node.input(2) && x->shape() && x->shape()->is_static() &&
         !HasTensorForm(node);
}

void UseTemporaryVariables(Graph& graph) {
  constexpr WrittenOps kOps("tf");
  for (Node* node : graph.nodes()) {
    if (!ChangesVariable(*node) || kOps.Is(node->input(0)->producer(), "Assign")) continue;
    Value* x = node->input(0);
    const std::string name = node->output(0)->name();
    const Type type = Type::Tensor(x->dtype());
    Node* variable =
        kOps.Make(graph, node, "TemporaryVariable", {},
                  {{"dtype", type}, {"shape", Type::Tensor(DType::kUndefined, *x->shape())}});
    Value* held = graph.AddNodeOutput(variable, graph.UniqueName(StrCat(name, "_variable")));
    held->set_type(x->type());
    Node* assign = kOps.Make(graph, node, "Assign", {held, x}, {{"T", type}});
    Value* assigned = graph.AddNodeOutput(assign, graph.UniqueName(StrCat(name, "_assign")));
    assigned->set_type(x->type());
    node->SetInput(0, assigned);
    Value* result = node->output(0);
    if (!result->is_graph_output()) continue;
    // A result of the graph is a value, and no reference.
    Node* value = kOps.Make(graph, node->next(), "Identity", {result}, {{"T", type}});
    WrittenOps::TakeResult(graph, value, result);
    value->SetInput(
        0, graph.FillOutput(node, 0, graph.UniqueName(StrCat(name, "_reference")), x->type()));
  }
}

}  // namespace x2ir
