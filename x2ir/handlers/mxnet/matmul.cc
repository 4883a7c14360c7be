// MXNet: matrix products and decompositions, and the products inside of attention.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// The last axis of the first operand with the first one of the second. Transposed: the two axes of
// a matrix are swapped; with more axes the first (or last) one moves to the other end.
absl::StatusOr<Value*> Dot(SymbolArgs& a) {
  const bool left = a.Flag("transpose_a", false), right = a.Flag("transpose_b", false);
  a.Ignore("forward_stype");
  X2IR_ASSIGN_OR_RETURN(const int64_t m, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t n, a.Rank(1));
  Expr x = a.in(0), y = a.in(1);
  if (m == 0 || n == 0) return (x * y).value();
  if (left && m > 1) x = MoveAxis(x, 0, m - 1);
  if (right && n > 1) y = MoveAxis(y, n - 1, 0);
  if (n <= 2) return AtLeastOneAxis(a, MatMul(x, y)).value();
  std::vector<Size> sizes = SizesAt(x, 0, m - 1);
  for (const Size& size : SizesAt(y, 1, n)) sizes.push_back(size);
  const Expr flat = ReshapeTo(y, {SizeAt(y, 0), Size(-1)});
  return ReshapeTo(MatMul(x, flat), sizes).value();
}

// NumPy's dot: with the last but one axis of the second.
absl::StatusOr<Value*> NpDot(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t m, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t n, a.Rank(1));
  if (m == 0 || n == 0) return (a.in(0) * a.in(1)).value();
  if (n <= 2) return MatMul(a.in(0), a.in(1)).value();
  const Expr y = MoveAxis(a.in(1), n - 2, 0);
  std::vector<Size> sizes = SizesAt(a.in(0), 0, m - 1);
  for (const Size& size : SizesAt(y, 1, n)) sizes.push_back(size);
  const Expr flat = ReshapeTo(y, {SizeAt(y, 0), Size(-1)});
  return ReshapeTo(MatMul(a.in(0), flat), sizes).value();
}

Value* NpMatmul(SymbolArgs& a) { return MatMul(a.in(0), a.in(1)); }

Expr MaybeSwapped(SymbolArgs& a, size_t i, Symbol flag) {
  return a.Flag(flag, false) ? SwapLast(a.in(i)) : a.in(i);
}

Value* BatchDot(SymbolArgs& a) {
  a.Ignore("forward_stype");
  return MatMul(MaybeSwapped(a, 0, "transpose_a"), MaybeSwapped(a, 1, "transpose_b"));
}

// Over axes of each operand, as many as an integer says, or as lists do.
absl::StatusOr<Value*> TensorDot(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t m, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t n, a.Rank(1));
  std::vector<int64_t> left, right;
  if (a.attrs().Has("axes")) {
    const int64_t count = a.Integer("axes", 2);
    if (count < 0 || count > std::min(m, n)) return Invalid("a product over ", count, " axes");
    left = CountedFrom(m - count, count);
    right = CountedFrom(0, count);
  } else {
    X2IR_ASSIGN_OR_RETURN(left, a.Axes(a.Tuple("a_axes_summed"), 0));
    X2IR_ASSIGN_OR_RETURN(right, a.Axes(a.Tuple("b_axes_summed"), 1));
  }
  if (left.size() != right.size()) return Invalid("axes that do not go together");
  const auto others = [](int64_t rank, const std::vector<int64_t>& axes) {
    std::vector<int64_t> rest;
    for (int64_t i = 0; i < rank; ++i) {
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest.push_back(i);
    }
    return rest;
  };
  const std::vector<int64_t> free_left = others(m, left), free_right = others(n, right);
  std::vector<int64_t> perm_x = free_left, perm_y = right;
  perm_x.insert(perm_x.end(), left.begin(), left.end());
  perm_y.insert(perm_y.end(), free_right.begin(), free_right.end());
  std::vector<Size> sizes, inner;
  for (const int64_t axis : free_left) sizes.push_back(SizeAt(a.in(0), axis));
  for (const int64_t axis : free_right) sizes.push_back(SizeAt(a.in(1), axis));
  for (const int64_t axis : left) inner.push_back(SizeAt(a.in(0), axis));
  const Size summed = Product(a, inner);
  const Expr x = ReshapeTo(Transpose(a.in(0), perm_x), {Size(-1), summed});
  const Expr y = ReshapeTo(Transpose(a.in(1), perm_y), {summed, Size(-1)});
  return ReshapeTo(MatMul(x, y), sizes).value();
}

Value* NpEinsum(SymbolArgs& a) {
  a.Ignore("optimize"), a.Ignore("num_args");
  return a.Op("einsum", a.inputs(), {{"equation", a.Text("subscripts")}});
}

// Each column the product of all pairs of elements of its columns.
absl::StatusOr<Value*> KhatriRao(SymbolArgs& a) {
  Expr all = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) {
    const Expr pairs = Unsqueeze(all, {1}) * Unsqueeze(a.in(i), {0});
    all = ReshapeTo(pairs, {Size(-1), SizeAt(a.in(i), 1)});
  }
  return all.value();
}

// --- Linear algebra ------------------------------------------------------------------------------

Value* Gemm(SymbolArgs& a) {
  const double alpha = a.Number("alpha", 1), beta = a.Number("beta", 1);
  a.Require(a.Integer("axis", -2) == -2, "rows along another axis");
  const Expr product = MatMul(MaybeSwapped(a, 0, "transpose_a"), MaybeSwapped(a, 1, "transpose_b"));
  return Scaled(product, alpha) + Scaled(a.in(2), beta);
}

Value* Gemm2(SymbolArgs& a) {
  const double alpha = a.Number("alpha", 1);
  a.Require(a.Integer("axis", -2) == -2, "rows along another axis");
  return Scaled(MatMul(MaybeSwapped(a, 0, "transpose_a"), MaybeSwapped(a, 1, "transpose_b")),
                alpha);
}

// A A^T, or A^T A.
Value* Syrk(SymbolArgs& a) {
  const double alpha = a.Number("alpha", 1);
  const Expr x = a.in(0), t = SwapLast(x);
  return Scaled(a.Flag("transpose", false) ? MatMul(t, x) : MatMul(x, t), alpha);
}

// A triangular factor; its other half counts for nothing.
Expr TriangleOf(SymbolArgs& a) {
  const bool lower = a.Flag("lower", true);
  const Expr half = a.in(0).Op("trilu", {a.b().Int(0)}, {{"upper", lower ? 0 : 1}});
  return half;
}

Value* Trmm(SymbolArgs& a) {
  const double alpha = a.Number("alpha", 1);
  Expr factor = TriangleOf(a);
  if (a.Flag("transpose", false)) factor = SwapLast(factor);
  const Expr y = a.in(1);
  return Scaled(a.Flag("rightside", false) ? MatMul(y, factor) : MatMul(factor, y), alpha);
}

// X of A X = alpha B, or of X A = alpha B.
Value* Trsm(SymbolArgs& a) {
  const double alpha = a.Number("alpha", 1);
  const bool lower = a.Flag("lower", true), transposed = a.Flag("transpose", false);
  const bool right = a.Flag("rightside", false);
  const Expr b = Scaled(a.in(1), alpha);
  // X A = B is A^T X^T = B^T.
  const bool turned = transposed != right;
  const Expr factor = turned ? SwapLast(a.in(0)) : a.in(0);
  const Expr x = SolveTriangular(factor, right ? SwapLast(b) : b, lower == turned, false);
  return right ? SwapLast(x) : x;
}

Value* Potrf(SymbolArgs& a) {
  const Expr l = CholeskyOf(a.in(0)).l;
  return a.Flag("lower", true) ? l : SwapLast(l);
}

// The inverse of the matrix whose Cholesky factor it is.
Value* Potri(SymbolArgs& a) {
  const Expr l = a.Flag("lower", true) ? a.in(0) : SwapLast(a.in(0));
  const Expr half = l.Op("trilu", {a.b().Int(0)}, {{"upper", 0}});
  return Inverse(MatMul(half, SwapLast(half)));
}

Value* SumLogDiag(SymbolArgs& a) { return AtLeastOneAxis(a, Sum(Log(DiagonalOf(a.in(0))), -1)); }
Value* InverseOf(SymbolArgs& a) { return Inverse(a.in(0)); }
Value* Determinant(SymbolArgs& a) { return AtLeastOneAxis(a, a.Op("det", {a.in(0)})); }

Values SignAndLog(SymbolArgs& a) {
  const Expr det = a.Op("det", {a.in(0)});
  return {AtLeastOneAxis(a, Sign(det)), AtLeastOneAxis(a, Log(Abs(det)))};
}

// One axis less than the matrices': one vector of each.
Value* SolveOf(SymbolArgs& a) {
  if (a.rank(1) != 1) return Solve(a.in(0), a.in(1));
  return Squeeze(Solve(a.in(0), Unsqueeze(a.in(1), {-1})), {-1});
}

// The diagonal at an offset, and a matrix with it.
absl::StatusOr<Value*> ExtractDiag(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Expr y, DiagonalAt(a, a.in(0), {-2, -1}, a.Integer("offset", 0)));
  return y.value();
}

absl::StatusOr<Value*> MakeDiag(SymbolArgs& a) {
  const int64_t k = a.Integer("offset", 0);
  X2IR_RETURN_IF_ERROR(CheckDiagonal(k));
  Expr x = a.in(0);
  // A number for each row: of rows that have none, 0.
  if (k != 0) {
    const std::vector<int64_t> pads = {std::max<int64_t>(-k, 0), std::max<int64_t>(k, 0)};
    x = x.Op("pad", {a.b().Ints(pads), x.Number(0), a.b().Ints({-1})}, {{"mode", "constant"}});
  }
  const Expr places = Iota(SizeOf(x, -1));
  const Expr on = places - Unsqueeze(places, {1}) == static_cast<double>(k);
  return Where(on, Unsqueeze(x, {-1}), x.Number(0)).value();
}

// --- Attention, in blocks of queries, keys and values --------------------------------------------

// x [time, batch, heads * (3 * width)], its parts side by side for each head, as
// [batch * heads, time, width].
struct Heads {
  Expr x;  // [time, batch * heads, parts, width]
  Size time, batch, width;
};

absl::StatusOr<Heads> SplitHeads(SymbolArgs& a, size_t i, int64_t heads, int64_t parts) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(i));
  if (rank != 3 || heads < 1 || heads > (int64_t{1} << 20))
    return Invalid("attention of ", heads, " heads of ", rank, " axes");
  const Expr x = a.in(i);
  const Size time = SizeAt(x, 0), batch = SizeAt(x, 1);
  const Size width = DividedBy(a, SizeAt(x, 2), heads * parts);
  const Expr y = ReshapeTo(x, {time, Times(a, batch, Size(heads)), Size(parts), width});
  return Heads{y, time, batch, width};
}

Expr PartOf(const Heads& h, int64_t part) {
  return Transpose(Squeeze(Slice(h.x, 2, Size(part), Size(part + 1)), {2}), {1, 0, 2});
}

Expr OverRootOf(SymbolArgs& a, const Expr& x, const Size& width) {
  const Expr size = Sqrt(Scalar(a, width).To(x.dtype()));
  return x / size;
}

absl::StatusOr<Value*> SelfAttentionScores(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Heads h, SplitHeads(a, 0, a.Integer("heads", 1), 3));
  return MatMul(OverRootOf(a, PartOf(h, 0), h.width), SwapLast(PartOf(h, 1))).value();
}

// [batch * heads, time, width] as [time, batch, heads * width].
Expr JoinHeads(SymbolArgs& a, const Expr& y, const Size& batch, const Size& width, int64_t heads) {
  const Expr time_first = Transpose(y, {1, 0, 2});
  return ReshapeTo(time_first, {SizeAt(time_first, 0), batch, Times(a, width, Size(heads))});
}

absl::StatusOr<Value*> SelfAttentionValues(SymbolArgs& a) {
  const int64_t heads = a.Integer("heads", 1);
  X2IR_ASSIGN_OR_RETURN(const Heads h, SplitHeads(a, 0, heads, 3));
  return JoinHeads(a, MatMul(a.in(1), PartOf(h, 2)), h.batch, h.width, heads).value();
}

// Queries of one sequence, keys and values of another.
absl::StatusOr<Value*> CrossAttentionScores(SymbolArgs& a) {
  const int64_t heads = a.Integer("heads", 1);
  X2IR_ASSIGN_OR_RETURN(const Heads q, SplitHeads(a, 0, heads, 1));
  X2IR_ASSIGN_OR_RETURN(const Heads kv, SplitHeads(a, 1, heads, 2));
  return MatMul(OverRootOf(a, PartOf(q, 0), q.width), SwapLast(PartOf(kv, 0))).value();
}

absl::StatusOr<Value*> CrossAttentionValues(SymbolArgs& a) {
  const int64_t heads = a.Integer("heads", 1);
  X2IR_ASSIGN_OR_RETURN(const Heads kv, SplitHeads(a, 0, heads, 2));
  return JoinHeads(a, MatMul(a.in(1), PartOf(kv, 1)), kv.batch, kv.width, heads).value();
}

Value* DivSqrtDim(SymbolArgs& a) { return OverRootOf(a, a.in(0), SizeAt(a.in(0), -1)); }

Value* FullyConnected(SymbolArgs& a) {
  a.Ignore("num_hidden");
  Value* bias = BiasOf(a, 2, false);
  const Expr x = a.Flag("flatten", true) ? FlattenedRows(a.in(0)) : a.in(0);
  a.Require(x->shape() != nullptr, "a dense layer with an operand of unknown rank");
  return Dense(x, a.in(1), bias);
}

}  // namespace

X2IR_MXNET(matmul)
    .From("dot", Dot)
    .From({"_np_dot", "_npi_dot"}, NpDot)
    .From({"_npi_matmul", "_np_matmul"}, NpMatmul)
    .From({"batch_dot", "_npx_batch_dot"}, BatchDot)
    .From({"_npi_tensordot", "_npi_tensordot_int_axes"}, TensorDot)
    .From({"_linalg_gemm2", "linalg_gemm2"}, Gemm2)
    .From({"_linalg_syrk", "linalg_syrk"}, Syrk)
    .From({"_linalg_trmm", "linalg_trmm"}, Trmm)
    .From({"_contrib_interleaved_matmul_selfatt_qk", "_npx_interleaved_matmul_selfatt_qk"},
          SelfAttentionScores)
    .From({"_contrib_interleaved_matmul_selfatt_valatt", "_npx_interleaved_matmul_selfatt_valatt"},
          SelfAttentionValues)
    .From({"_contrib_interleaved_matmul_encdec_qk", "_npx_interleaved_matmul_encdec_qk"},
          CrossAttentionScores)
    .From({"_contrib_interleaved_matmul_encdec_valatt", "_npx_interleaved_matmul_encdec_valatt"},
          CrossAttentionValues)
    .From("khatri_rao", KhatriRao)
    .From({"_contrib_div_sqrt_dim"}, DivSqrtDim)
    .From({"_linalg_sumlogdiag", "linalg_sumlogdiag"}, SumLogDiag)
    .From({"_linalg_extractdiag", "linalg_extractdiag"}, ExtractDiag)
    .From({"_linalg_makediag", "linalg_makediag"}, MakeDiag);
X2IR_MXNET(einsum).From({"_npi_einsum"}, NpEinsum);
X2IR_MXNET(gemm)
    .From({"_linalg_gemm", "linalg_gemm"}, Gemm)
    .From({"FullyConnected", "_npx_fully_connected"}, FullyConnected);
X2IR_MXNET(det)
    .From({"_linalg_det", "linalg_det", "_npi_det"}, Determinant)
    .From({"_linalg_slogdet", "linalg_slogdet", "_npi_slogdet"}, SignAndLog);
X2IR_MXNET(cholesky)
    .From({"_linalg_potrf", "linalg_potrf", "_npi_cholesky"}, Potrf)
    .From({"_linalg_potri", "linalg_potri"}, Potri);
X2IR_MXNET(triangular_solve).From({"_linalg_trsm", "linalg_trsm"}, Trsm);
X2IR_MXNET(solve)
    .From({"_linalg_inverse", "linalg_inverse", "_npi_inv"}, InverseOf)
    .From({"_npi_solve"}, SolveOf);

}  // namespace x2ir
