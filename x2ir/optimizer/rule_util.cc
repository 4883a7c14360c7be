// See rule_util.h.
#include "x2ir/optimizer/rule_util.h"

#include "x2ir/ops/infer.h"

namespace x2ir {

bool SameShape(const Shape* a, const Shape* b) {
  if (!a || !b || a->rank() != b->rank()) return false;
  for (int64_t i = 0; i < a->rank(); ++i) {
    if (!ProvablyEqual((*a)[i], (*b)[i])) return false;
  }
  return true;
}

Type InferredType(Rewriter& r) {
  const Node& node = r.node();
  std::vector<bool> wanted;
  for (const Value* output : node.outputs()) wanted.push_back(output != nullptr);
  Builder trial(r.graph(), &r.node());
  const Values outputs = trial.Ops(node.op(), node.inputs(), node.attrs(), wanted);
  Type type = trial.status().ok() && outputs[0] ? outputs[0]->type() : Type();
  trial.Rollback();
  return type;
}

bool HasTypeOf(Rewriter& r, size_t operand) {
  const Value* in = r.in(operand);
  const Value* out = r.out();
  if (!in || !out || !in->shape() || in->dtype() == DType::kUndefined) return false;
  // A glance, before the trial that decides.
  if (!out->is_graph_output() &&
      (out->dtype() != in->dtype() || !SameShape(out->shape(), in->shape()))) {
    return false;
  }
  const Type type = InferredType(r);
  return type.is_tensor() && type.dtype() == in->dtype() && SameShape(type.shape(), in->shape());
}

std::optional<std::vector<Dim>> KnownElements(const Value* value) {
  if (!value) return std::nullopt;
  if (value->elements()) return *value->elements();
  const Tensor* tensor = value->fixed_constant();
  if (!tensor || tensor->is_sparse() || tensor->rank() > 1 ||
      tensor->num_elements() > int64_t{InferContext::kMaxElements}) {
    return std::nullopt;
  }
  const auto ints = tensor->ToInts();
  if (!ints.ok()) return std::nullopt;
  return std::vector<Dim>(ints->begin(), ints->end());
}

}  // namespace x2ir
