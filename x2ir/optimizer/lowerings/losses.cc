// The losses of ONNX 12 by picking the score of each target class.
#include <string>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// Numbers of 16 bits are too coarse to add up, and to count, in.
DType SumType(DType t) {
  return t == DType::kFloat16 || t == DType::kBFloat16 ? DType::kFloat32 : t;
}

// Ignored targets become class 0, whose loss is then put aside: by where, since 0 times an
// infinite loss would not be 0.
absl::StatusOr<Value*> LossOf(Rewrite& r, Value* log_prob) {
  Builder& b = r.b;
  const DType t = r.dtype(0), wide = SumType(t);
  if (!IsFloating(t) || !IsInteger(r.dtype(1))) {
    return CannotExpress("the element types of the operands are not known");
  }
  Value* target = r.dtype(1) == DType::kInt32 ? r.in(1) : Expr(b, r.in(1)).To(DType::kInt64);
  const DType index = target->dtype();
  Value* zero = b.Scalar(wide, 0, "zero");
  Value* ignored = nullptr;
  if (const Attribute* attr = r.attrs().Find("ignore_index")) {
    const int64_t class_ = attr->get<int64_t>() ? *attr->get<int64_t>() : -1;
    if (index == DType::kInt64 || class_ == static_cast<int32_t>(class_)) {
      Value* ignore =
          index == DType::kInt64
              ? b.Int(class_, "ignore_index")
              : b.Constant(Tensor::Scalar(static_cast<int32_t>(class_)), "ignore_index");
      ignored = b.Op("equal", {target, ignore});
      target = b.Op("where", {ignored, b.Scalar(index, 0, "class"), target});
    }
  }
  Value* axis = b.Ints({1}, "axis");
  Value* picked =
      b.Op("gather_elements", {log_prob, b.Op("unsqueeze", {target, axis})}, {{"axis", 1}});
  Value* loss = b.Op("neg", {Expr(b, b.Op("squeeze", {picked, axis})).To(wide)});
  Value* weight = nullptr;
  if (r.has(2)) {
    weight = Expr(b, b.Op("gather", {r.in(2), target}, {{"axis", 0}})).To(wide);
    loss = b.Op("mul", {loss, weight});
    if (ignored) weight = b.Op("where", {ignored, zero, weight});
  } else if (ignored) {
    weight = b.Op("cast", {b.Op("not", {ignored})}, {{"to", Name(wide)}});
  }
  if (ignored) loss = b.Op("where", {ignored, zero, loss});
  const std::string& reduction = r.attrs().String("reduction");
  const auto reduce = [&](Symbol op, Value* x) { return b.Op(op, {x}, {{"keepdims", 0}}); };
  if (reduction == "sum") {
    loss = reduce("reduce_sum", loss);
  } else if (reduction == "mean") {
    loss = weight ? b.Op("div", {reduce("reduce_sum", loss), reduce("reduce_sum", weight)})
                  : reduce("reduce_mean", loss);
  }
  return Expr(b, loss).To(t);
}

absl::StatusOr<Values> LikelihoodByPicking(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Value * loss, LossOf(r, r.in(0)));
  return Values{loss};
}
X2IR_LOWERING(negative_log_likelihood_loss, LikelihoodByPicking);

absl::StatusOr<Values> CrossEntropyByPicking(Rewrite& r) {
  Value* scores = Expr(r.b, r.in(0)).To(SumType(r.dtype(0)));
  Value* log_prob = r.b.Op("log_softmax", {scores}, {{"axis", 1}});
  X2IR_ASSIGN_OR_RETURN(Value * loss, LossOf(r, log_prob));
  Values results = {loss};
  if (r.num_outputs() > 1) {
    results.push_back(r.node.output(1) ? Expr(r.b, log_prob).To(r.dtype(0)) : nullptr);
  }
  return results;
}
X2IR_LOWERING(softmax_cross_entropy_loss, CrossEntropyByPicking);

}  // namespace
}  // namespace x2ir
