// Keras, written: products of matrices.
#include <utility>

#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

// What is no layer, step by step.
Value* ByMatMul(KerasWriter& w) {
  const auto turned = [&](size_t i, Symbol flag) {
    return w.Int(flag) != 0 ? w.Op("transpose", {w.in(i)}, {{"perm", {1, 0}}}) : w.in(i);
  };
  const auto times = [&](Value* x, Symbol factor) {
    const double number = w.attrs().Float(factor);
    return number == 1 ? x : w.Op("mul", {x, w.Number(w.dtype(), number)});
  };
  Value* y = times(w.Op("matmul", {turned(0, "transA"), turned(1, "transB")}), "alpha");
  return w.has(2) ? w.Op("add", {y, times(w.in(2), "beta")}) : y;
}

absl::StatusOr<Value*> ToDense(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const Tensor *kernel = w.Weight(1), *bias = w.Weight(2);
  const bool turned = w.Int("transB") != 0;
  const int64_t units = kernel ? kernel->dim(turned ? 0 : 1) : 0;
  const bool own =
      bias && bias->rank() == 1 && bias->dim(0) == units && w.attrs().Float("beta") == 1;
  if (!kernel || (w.has(2) && !own) || w.Int("transA") != 0 || w.attrs().Float("alpha") != 1) {
    return ByMatMul(w);
  }
  std::vector<Value*> weights = {
      RelaidWeight(w, 1, turned ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 1})};
  if (own) weights.push_back(w.in(2));
  return w.Layer("Dense", {w.in(0)},
                 {{"units", units}, {"activation", "linear"}, {"use_bias", int64_t{own}}}, weights,
                 w.out_type());
}

absl::StatusOr<Value*> ToMatMul(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const DType type = w.dtype();
  if (!IsFloating(type) && type != DType::kInt32 && type != DType::kInt64) {
    return CannotExpress("elements of ", Name(type));
  }
  const Tensor* kernel = w.Weight(1);
  if (kernel && kernel->rank() == 2 && rank >= 2 && IsFloating(type) && !w.in(0)->constant()) {
    return w.Layer("Dense", {w.in(0)},
                   {{"units", kernel->dim(1)}, {"activation", "linear"}, {"use_bias", int64_t{0}}},
                   {w.in(1)}, w.out_type());
  }
  return w.Function("Matmul", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToEinsum(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return w.Function("Einsum", w.node().inputs(),
                    KerasArguments({{"subscripts", Json(w.String("equation"))}}));
}

}  // namespace

X2IR_KERAS(gemm).To("Dense", ToDense);
X2IR_KERAS(matmul).To("ops.Matmul", ToMatMul);
X2IR_KERAS(einsum).To("ops.Einsum", ToEinsum);

}  // namespace x2ir
