// OneFlow: products of matrices.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

Value* FromMatMul(OneflowArgs& a) {
  const double alpha = a.Number("alpha");
  const Expr x = a.Bool("transpose_a") ? SwapLast(a.in(0)) : a.in(0);
  const Expr y = a.Bool("transpose_b") ? SwapLast(a.in(1)) : a.in(1);
  const Expr product = Scaled(MatMul(x, y), alpha);
  return a.has(2) ? product + a.in(2) : product;
}
Value* Products(OneflowArgs& a) { return MatMul(a.in(0), a.in(1)); }

// alpha x w^T + beta b.
Value* MatmulBias(OneflowArgs& a) {
  const double alpha = a.Number("alpha"), beta = a.Number("beta");
  const Expr y = Scaled(MatMul(a.in(0), SwapLast(a.in(1))), alpha) + Scaled(a.in(2), beta);
  return a.has(3) ? y + a.in(3) : y;
}

// Layers x w^T + b, each followed by a relu; the last one is optional.
Values Perceptron(OneflowArgs& a) {
  const bool skip = a.Bool("skip_final_activation");
  for (const float rate : a.Floats("dropout_rate_list")) a.Require(rate == 0, "dropout");
  a.Ignore("seed");
  const std::vector<Value*> weights = a.Group(1), biases = a.Group(2);
  a.Require(!weights.empty() && weights.size() == biases.size(), "layers without a bias");
  for (size_t i = 1; i < a.num_outputs(); ++i) {
    a.Require(!a.wants(i), "hidden results");
  }
  Expr x = a.in(0);
  for (size_t i = 0; i < weights.size(); ++i) {
    x = MatMul(x, SwapLast({a, weights[i]})) + Expr(a, biases[i]);
    if (!skip || i + 1 < weights.size()) x = a.Op("relu", {x});
  }
  Values values(a.num_outputs(), nullptr);
  values[0] = x;
  return values;
}
Values GroupedMatmulBias(OneflowArgs& a) {
  const std::vector<Value*> xs = a.Group(0), weights = a.Group(1), biases = a.Group(2);
  a.Require(xs.size() == weights.size() && (biases.empty() || biases.size() == xs.size()) &&
                xs.size() == a.num_outputs(),
            "groups of different sizes");
  Values values;
  for (size_t i = 0; i < xs.size(); ++i) {
    const Expr y = MatMul({a, xs[i]}, SwapLast({a, weights[i]}));
    values.push_back(biases.empty() ? y : y + Expr(a, biases[i]));
  }
  return values;
}

// The op for operands of these ranks.
absl::StatusOr<std::string_view> ProductOp(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t m, w.RankOf(w.in(0)));
  X2IR_ASSIGN_OR_RETURN(const int64_t n, w.RankOf(w.in(1)));
  if (m == 1 && n == 1) return std::string_view("dot");
  if (m == 1 && n == 2) return std::string_view("vector_matrix_product");
  if (m == 2 && n == 1) return std::string_view("matrix_vector_product");
  if (m < 2 || n < 2) return CannotExpress("a product of tensors of rank ", m, " and ", n);
  if (m == 2 && n == 2) return std::string_view("matmul");
  bool same = m == n;
  for (int64_t i = 0; same && i + 2 < m; ++i) same = (*w.shape(0))[i] == (*w.shape(1))[i];
  return std::string_view(same ? "batch_matmul" : "broadcast_matmul");
}
absl::StatusOr<Value*> ToMatMul(OneflowWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("products of ", Name(w.dtype()));
  X2IR_ASSIGN_OR_RETURN(const std::string_view op, ProductOp(w));
  return w.Oneflow(op, {w.in(0), w.in(1)});
}
absl::StatusOr<Value*> ToGemm(OneflowWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("products of ", Name(w.dtype()));
  const DType t = w.dtype();
  Type type = w.out_type();
  Value* y = w.Oneflow("matmul", {w.in(0), w.in(1)},
                       {{"transpose_a", w.Int("transA")},
                        {"transpose_b", w.Int("transB")},
                        {"alpha", static_cast<double>(w.Float("alpha"))}},
                       w.has(2) ? type : Type());
  if (!w.has(2)) return y;
  Value* c = w.in(2);
  if (w.Float("beta") != 1.0f) c = w.Op("mul", {c, w.Number(t, w.Float("beta"))});
  return w.Op("add", {y, c});
}

}  // namespace

X2IR_ONEFLOW(matmul)
    .To("broadcast_matmul", ToMatMul)
    .From({{"matmul", FromMatMul},
           {"batch_matmul", FromMatMul},
           {"broadcast_matmul", FromMatMul},
           {"dot", Products},
           {"matrix_vector_product", Products},
           {"vector_matrix_product", Products},
           {"cublas_fused_mlp", Perceptron},
           {"fused_matmul_bias_add_relu_dropout", Perceptron},
           {"grouped_matmul_bias", GroupedMatmulBias}});
X2IR_ONEFLOW(gemm).To("matmul", ToGemm).From("fused_matmul_bias", MatmulBias);

}  // namespace x2ir
