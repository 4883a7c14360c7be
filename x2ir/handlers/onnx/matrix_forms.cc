// See matrix_forms.h.
#include "x2ir/handlers/onnx/matrix_forms.h"

#include <optional>
#include <vector>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

bool IsOnnx(const Node* node, std::string_view op) {
  return node && node->dialect() == "onnx" && node->op() == op;
}

bool HasSameShape(const Value& a, const Value& b) {
  const Shape *x = a.shape(), *y = b.shape();
  if (!x || !y || x->rank() != y->rank()) return false;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (!ProvablyEqual((*x)[i], (*y)[i])) return false;
  }
  return true;
}

// Whether the Reshape gives `x`'s shape to what has as many elements.
bool GivesShapeOf(const Node& reshape, const Value& x) {
  const Node* shape = reshape.input(1) ? reshape.input(1)->producer() : nullptr;
  return HasSameShape(x, *reshape.output(0)) ||
         (IsOnnx(shape, "Shape") && shape->input(0) == &x && !shape->attrs().Has("start") &&
          !shape->attrs().Has("end"));
}

// The axis from which on the axes of the node's operand are the columns of the matrix that it is
// made.
std::optional<int64_t> FirstColumnAxis(const Node& node) {
  const Value* x = node.input(0);
  const Value* matrix = node.output(0);
  if (!x) return std::nullopt;
  if (node.op() == "Flatten") {
    const int64_t said = node.attrs().Int("axis", 1);
    if (!x->shape()) return said;
    const auto axis = NormalizeAxis(said, x->shape()->rank());
    return axis.ok() ? std::optional(*axis) : std::nullopt;
  }
  if (!x->shape()) return std::nullopt;
  const int64_t rank = x->shape()->rank();
  const auto from = x->shape()->Static();
  const auto to = matrix->shape() ? matrix->shape()->Static() : std::nullopt;
  if (!from || !to || to->size() != 2 || (*to)[0] == 0 || (*to)[1] <= 1) return std::nullopt;
  int64_t rows = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (rows == (*to)[0]) return axis;
    rows *= (*from)[axis];
  }
  return std::nullopt;
}

bool MergeMatrixForm(Node& node) {
  Value *matrix = node.input(0), *y = node.output(0);
  if (!matrix || !y || node.num_inputs() != 1 || node.attrs().Int("axis", 1) != 1) return false;
  Node* before = matrix->producer();
  if (!IsOnnx(before, "Flatten") && !IsOnnx(before, "Reshape")) return false;
  if (before->graph() != node.graph() || y->uses().size() != 1 || y->is_graph_output())
    return false;
  Node* after = y->uses()[0].node;
  if (!IsOnnx(after, "Reshape") || after->graph() != node.graph() || after->input(0) != y) {
    return false;
  }
  Value* x = before->input(0);
  if (!x || !GivesShapeOf(*after, *x)) return false;
  const std::optional<int64_t> axis = FirstColumnAxis(*before);
  if (!axis) return false;
  node.SetInput(0, x);
  node.SetAttr("axis", *axis);
  y->set_type(after->output(0)->type());
  ReplaceUsesByOlder(*node.graph(), after->output(0), y);
  // Nodes that only computed the sizes are erased too.
  std::vector<Node*> unused = {after, before};
  while (!unused.empty()) {
    Node* next = unused.back();
    unused.pop_back();
    bool used = false;
    for (const Value* output : next->outputs()) used |= output && !output->is_unused();
    if (used) continue;
    for (const Value* input : next->inputs()) {
      if (input && input->producer() && IsOnnx(input->producer(), "Shape")) {
        unused.push_back(input->producer());
      }
    }
    EraseWithConstants(next);
  }
  return true;
}

}  // namespace

void MergeMatrixForms(Graph& graph) {
  std::vector<Node*> found;
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) MergeMatrixForms(*inner);
    if (IsOnnx(node, "Softmax") || IsOnnx(node, "LogSoftmax") || IsOnnx(node, "Hardmax")) {
      found.push_back(node);
    }
  }
  for (Node* node : found) MergeMatrixForm(*node);
}

}  // namespace x2ir
