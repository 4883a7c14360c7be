// TFLite: products and decompositions of matrices.
#include <algorithm>
#include <string>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Operands: x, weights [out, in], bias. Without keep_num_dims x is a matrix with rows of `in`.
absl::StatusOr<Value*> FullyConnected(TfliteArgs& a) {
  const bool keep = a.Bool("keep_num_dims", false);
  const std::string format = a.String("weights_format", "DEFAULT");
  if (format != "DEFAULT") return Unimplemented("weights of format ", format);
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!w || w->rank() != 2) return Unimplemented("weights that are no matrix");
  Expr rows = a.in(0);
  const bool matrix = x && x->rank() == 2;
  if (!keep && (!matrix || !ProvablyEqual((*x)[1], (*w)[1]))) {
    rows = ReshapeTo(rows, Concat(a, {a.b().Ints({-1}), ShapeOf(a.in(1), 1, 2)}, 0));
  } else if (keep && !x) {
    return Unimplemented("an operand of unknown rank");
  }
  if (!keep || matrix) {
    return a.Op("gemm", {rows, a.in(1), BiasOf(a, 2)}, {{"transB", 1}});
  }
  Value* y = a.Op("matmul", {rows, Relaid(a, a.in(1), {1, 0})});
  return PlusBias(a, y, 2);
}

Value* BatchMatMul(TfliteArgs& a) {
  const bool left = a.Bool("adj_x", false), right = a.Bool("adj_y", false);
  Expr x = a.in(0), y = a.in(1);
  if (left) x = SwapLast(x);
  if (right) y = SwapLast(y);
  // Integers are summed up in the type of the result.
  if (IsInteger(a.out_dtype())) {
    x = x.To(a.out_dtype());
    y = y.To(a.out_dtype());
  }
  return MatMul(x, y);
}

// A constant bias of one number a column, as TFLite wants it; null: it is none.
Value* AsBias(TfliteWriter& w, Value* c, int64_t columns) {
  // Integers of a quantized product.
  if (const Value* integers = IntegersOf(c)) {
    const Tensor& all = *integers->fixed_constant();
    if (all.rank() == 1 && all.num_elements() == columns) return c;
  }
  const Tensor* constant = c->fixed_constant();
  if (!constant || constant->num_elements() != columns || constant->dtype() != DType::kFloat32) {
    return nullptr;
  }
  if (constant->rank() == 1) return c;
  if (constant->rank() > 0 && constant->dim(constant->rank() - 1) != columns) return nullptr;
  return w.b().Constant(constant->Reshaped({columns}), c->name());
}

absl::StatusOr<Value*> ToGemm(TfliteWriter& w) {
  const DType t = w.dtype();
  if (t != DType::kFloat32) return CannotExpress("elements of ", Name(t));
  const double alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  Value* a = w.in(0);
  if (w.Int("transA") != 0) a = w.Op("transpose", {a}, {{"perm", {1, 0}}});
  Value* b = w.Int("transB") != 0 ? w.in(1) : WithOrder(w, w.in(1), {1, 0});
  const Shape* out = w.out_type().shape();
  Value* bias = nullptr;
  if (w.has(2) && alpha == 1 && beta == 1 && out && (*out)[1].is_static()) {
    bias = AsBias(w, w.in(2), (*out)[1].value());
  }
  const bool plain = alpha == 1 && (!w.has(2) || bias);
  Value* y = w.Tflite("FULLY_CONNECTED", {a, b, bias}, {}, plain ? Type() : w.out_type());
  if (alpha != 1) y = w.Op("mul", {y, w.Number(t, alpha)});
  if (!w.has(2) || bias) return y;
  Value* c = beta == 1 ? w.in(2) : w.Op("mul", {w.in(2), w.Number(t, beta)});
  return w.Op("add", {y, c});
}

absl::StatusOr<Value*> ToMatMul(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_a, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_b, w.Rank(1));
  if (w.dtype() != DType::kFloat32) return CannotExpress("elements of ", Name(w.dtype()));
  if (rank_a > 5 || rank_b > 5) return CannotExpress("rank ", std::max(rank_a, rank_b));
  Value *a = w.in(0), *b = w.in(1);
  if (Value* y = MatMulOfVectors(w, rank_a, rank_b)) return y;
  if (rank_b == 2 && (b->fixed_constant() || IntegersOf(b))) {
    return w.Tflite("FULLY_CONNECTED", {a, WithOrder(w, b, {1, 0}), nullptr},
                    {{"keep_num_dims", rank_a != 2}});
  }
  return w.Tflite("BATCH_MATMUL", {a, b});
}

}  // namespace

X2IR_TFLITE(gemm).To("FULLY_CONNECTED", ToGemm).From("FULLY_CONNECTED", FullyConnected);
X2IR_TFLITE(matmul).To("BATCH_MATMUL", ToMatMul).From("BATCH_MATMUL", BatchMatMul);

}  // namespace x2ir
