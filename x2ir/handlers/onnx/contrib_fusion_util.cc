// See contrib_fusion_util.h.
#include "x2ir/handlers/onnx/contrib_fusion_util.h"

#include <utility>

#include "x2ir/core/dialect.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/splice.h"

namespace x2ir {

Node* MadeByIr(const Value* value, std::string_view op, const Graph& graph) {
  Node* node = value ? value->producer() : nullptr;
  return node && node->Is(op) && node->graph() == &graph ? node : nullptr;
}

bool HaveOneShape(const Value* a, const Value* b) {
  const Shape *x = a ? a->shape() : nullptr, *y = b ? b->shape() : nullptr;
  if (!x || !y || x->rank() != y->rank() || a->dtype() != b->dtype()) return false;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (!ProvablyEqual((*x)[i], (*y)[i])) return false;
  }
  return true;
}

Node* FusionSite::Make(Node* before, std::string_view op, std::vector<Value*> operands,
                       Value* result) {
  while (!operands.empty() && !operands.back()) operands.pop_back();
  Node* node = graph_.InsertNode(before, "onnx", op, std::move(operands));
  node->annotations().GetOrMake().extra[kMadeForTarget] = "";
  if (result) {
    node->set_name(result->producer()->name());
    Take(node, result);
  }
  return node;
}

Node* FusionSite::MakeContrib(Node* before, std::string_view op, std::vector<Value*> operands,
                              Value* result) {
  return Make(before, StrCat(kContribDomain, "::", op), std::move(operands), result);
}

void FusionSite::Take(Node* node, Value* value) {
  const Type type = value->type();
  graph_.AdoptOutput(graph_.AddNodeOutput(node, "", type), value);
  value->set_type(type);
}

void FusionSite::Name(Builder& b, std::string_view hint) {
  for (Node* node : b.made()) {
    for (Value* output : node->outputs()) {
      if (output && output->name().empty()) {
        graph_.Rename(output, graph_.UniqueName(StrCat(hint, "_", node->op().view())));
      }
    }
  }
}

void FusionSite::Drop(Node* node) {
  for (const Value* output : node->outputs()) {
    if (output && !output->is_unused()) return;
  }
  EraseWithConstants(node);
}

}  // namespace x2ir
