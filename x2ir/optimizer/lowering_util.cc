#include "x2ir/optimizer/lowering_util.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {

Expr SizeOfAxis(Builder& b, Value* x, int64_t axis, DType t) {
  const Shape* shape = x->shape();
  if (shape && (*shape)[axis].is_static()) {
    return {b, b.Scalar(t, static_cast<double>((*shape)[axis].value()), "size")};
  }
  return Expr(b, b.Op("gather", {b.Op("shape", {x}), b.Int(axis, "axis")})).To(t);
}

Expr Counting(Builder& b, int64_t count, DType t) {
  if (count > kMaxLoweringElements) b.Fail(CannotExpress("a constant of ", count, " elements"));
  std::vector<double> values(std::clamp<int64_t>(count, 0, kMaxLoweringElements));
  std::iota(values.begin(), values.end(), 0.0);
  return NumbersAs(b, t, {static_cast<int64_t>(values.size())}, values, "places");
}

std::optional<std::vector<int64_t>> StaticDims(const Rewrite& r, size_t i) {
  return Given(r, i) ? KnownSizes(r.in(i)) : std::nullopt;
}

std::vector<bool> WantedOutputs(const Node& node) {
  std::vector<bool> wanted;
  for (const Value* output : node.outputs()) wanted.push_back(output != nullptr);
  return wanted;
}

absl::StatusOr<DType> FloatComputeType(DType t) {
  if (!IsFloating(t)) return CannotExpress("the element type is not a known float");
  return t == DType::kFloat64 ? t : DType::kFloat32;
}

absl::StatusOr<Values> AsConstant(Rewrite& r) {
  for (const Value* operand : r.node.inputs()) {
    if (operand && !operand->fixed_constant()) return CannotExpress("an operand is not constant");
  }
  for (const Value* output : r.node.outputs()) {
    const Shape* shape = output ? output->shape() : nullptr;
    const Dim count = shape ? shape->NumElements() : Dim();
    if (output && !(count.is_static() && count.value() <= kMaxLoweringElements)) {
      return CannotExpress("the result is of unknown or enormous size");
    }
  }
  return ConstantResults(r.node, r.b);
}

absl::StatusOr<Values> ConstantResults(const Node& node, Builder& b) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, EvalConstantNode(node));
  Values values;
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    const Tensor* tensor = i < results.size() ? results[i].tensor() : nullptr;
    if (node.output(i) && !tensor) return CannotExpress("the result is no tensor");
    values.push_back(node.output(i) ? b.Constant(*tensor) : nullptr);
  }
  return values;
}

Value* FilledConstant(Builder& b, DType t, const std::vector<int64_t>& dims, double number) {
  const auto count = CheckedProduct(dims);
  if (!count || *count > kMaxLoweringElements) {
    b.Fail(CannotExpress("a constant of too many elements"));
    return b.Scalar(t, number);
  }
  return NumbersAs(b, t, dims, std::vector<double>(*count, number), number == 0 ? "zeros" : "ones");
}

}  // namespace x2ir
