// Operators that make complex numbers, look at their parts, or turn their signs.
#include "x2ir/handlers/torch/complex.h"

#include <algorithm>
#include <numbers>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/complex_parts.h"

namespace x2ir {

Complex PartsOf(const Expr& x) {
  if (IsComplex(x.dtype())) return {x.Op("real"), x.Op("imag")};
  const Expr re = x.To(x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
  return {re, re.Number(0)};
}
Expr ComplexOf(const Complex& z) { return z.re.Op("complex", {z.im}); }

Expr PairsOf(const Expr& x) {
  const Complex z = PartsOf(x);
  if (!IsComplex(x.dtype())) return Unsqueeze(z.re, {-1});
  return Stack(x.builder(), {z.re, z.im}, -1);
}
Expr ComplexOfPairs(const Expr& pairs) {
  const auto part = [&](int64_t i) { return Gather(pairs, Int(pairs.builder(), i), -1); };
  return ComplexOf({part(0), part(1)});
}

Expr ConjOf(const Expr& x) { return IsComplex(x.dtype()) ? ComplexOf(Conj(PartsOf(x))) : x; }

namespace {

// Operators, without their overloads, whose graphs hold for complex numbers too: they move
// elements, add and multiply them, or ask for their parts. Other operators were not checked.
constexpr std::string_view kOfComplex[] = {
    // Parts.
    "_conj", "_conj_physical", "_neg_view", "abs", "absolute", "angle", "complex", "conj",
    "conj_physical", "imag", "isfinite", "isinf", "isnan", "isreal", "polar", "real",
    "resolve_conj", "resolve_neg", "sgn", "view_as_complex", "view_as_real",
    // Types and copies.
    "_local_scalar_dense", "_to_copy", "alias", "clone", "contiguous", "copy", "detach", "item",
    "lift", "lift_fresh", "lift_fresh_copy", "positive", "to", "type_as",
    // Arithmetic.
    "add", "cos", "cosh", "div", "divide", "eq", "exp", "log", "log10", "log2", "mul", "multiply",
    "ne", "neg", "negative", "not_equal", "pow", "reciprocal", "rsqrt", "rsub", "sigmoid", "sin",
    "sinh", "sqrt", "square", "sub", "subtract", "true_divide",
    // Functions.
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "exp2", "expm1", "log1p", "logaddexp",
    "silu", "special_exp2", "special_expm1", "special_log1p", "tan", "tanh",
    // Truth, sizes.
    "all", "any", "count_nonzero", "dist", "frobenius_norm", "linalg_vector_norm", "logical_and",
    "logical_not", "logical_or", "logical_xor", "norm", "std", "std_mean", "var", "var_mean",
    // More that is made of these.
    "_unsafe_masked_index", "addcmul", "alias_copy", "as_strided", "as_strided_copy", "block_diag",
    "cartesian_prod", "channel_shuffle", "im2col", "logspace", "renorm", "rms_norm", "combinations",
    "diagflat", "diff", "linalg_diagonal", "meshgrid", "pixel_shuffle", "pixel_unshuffle", "put",
    "split_with_sizes_copy", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes",
    // Sums and products.
    "corrcoef", "cov", "cumulative_trapezoid", "trapezoid", "trapz", "addbmm", "addmm", "addmv",
    "addr", "baddbmm", "bmm", "chain_matmul", "cross", "cumsum", "dot", "einsum", "ger", "inner",
    "kron", "linalg_cross", "linalg_matmul", "linalg_multi_dot", "linalg_vecdot", "linear",
    "matmul", "mean", "mm", "mv", "outer", "sum", "sum_to_size", "tensordot", "trace", "vdot",
    // The same elements in other places.
    "H", "T", "_reshape_alias", "_unsafe_index", "_unsafe_view", "adjoint", "broadcast_tensors",
    "broadcast_to", "cat", "chunk", "column_stack", "concat", "concatenate", "constant_pad_nd",
    "diag", "diag_embed", "diagonal", "diagonal_copy", "diagonal_scatter", "dsplit", "dstack",
    "expand", "expand_as", "expand_copy", "fft_fftshift", "fft_ifftshift", "flatten", "flip",
    "fliplr", "flipud", "gather", "hsplit", "hstack", "index", "index_add", "index_copy",
    "index_fill", "index_put", "index_select", "mH", "mT", "masked_fill", "masked_scatter",
    "masked_select", "matrix_H", "moveaxis", "movedim", "narrow", "narrow_copy", "numpy_T", "pad",
    "permute", "permute_copy", "ravel", "reflection_pad1d", "reflection_pad2d", "repeat",
    "repeat_interleave", "replication_pad1d", "replication_pad2d", "reshape", "reshape_as", "roll",
    "rot90", "scatter", "scatter_add", "select", "select_copy", "select_scatter", "slice",
    "slice_copy", "slice_scatter", "split", "split_with_sizes", "squeeze", "squeeze_copy", "stack",
    "swapaxes", "swapdims", "t", "t_copy", "take", "take_along_dim", "tensor_split", "tile",
    "transpose", "transpose_copy", "tril", "triu", "unbind", "unbind_copy", "unflatten", "unfold",
    "unfold_backward", "unfold_copy", "unsqueeze", "unsqueeze_copy", "view", "view_as", "view_copy",
    "vsplit", "vstack", "where",
    // Tensors of nothing but sizes, and sizes.
    "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "fill", "full", "full_like",
    "new_empty", "new_full", "new_ones", "new_zeros", "ones", "ones_like", "scalar_tensor",
    "sym_numel", "sym_size", "zero", "zeros", "zeros_like",
    // Systems of equations and what solves them.
    "_linalg_det", "_linalg_slogdet", "_linalg_solve_ex", "_lu_with_info", "cholesky",
    "cholesky_inverse", "cholesky_solve", "det", "inverse", "linalg_cholesky", "linalg_cholesky_ex",
    "linalg_det", "linalg_inv", "linalg_inv_ex", "linalg_lu_factor", "linalg_lu_factor_ex",
    "linalg_lu_solve", "linalg_slogdet", "linalg_solve", "linalg_solve_ex",
    "linalg_solve_triangular", "linalg_tensorinv", "linalg_tensorsolve", "logdet", "lu_solve",
    "slogdet",
    // Singular values, and what they give.
    "linalg_cond", "linalg_eigvalsh", "linalg_lstsq", "linalg_matrix_norm", "linalg_matrix_rank",
    "linalg_matrix_sqrth", "linalg_norm", "linalg_pinv", "linalg_polar", "linalg_svdvals",
    "nuclear_norm", "pinverse",
    // Fourier.
    "_fft_c2c", "_fft_c2r", "_fft_r2c", "fft_fft", "fft_fft2", "fft_fftn", "fft_hfft", "fft_hfft2",
    "fft_hfftn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn",
    "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_rfft", "fft_rfft2", "fft_rfftn", "istft", "stft"};

bool IsComplexTensor(const Value* value) { return value && IsComplex(value->dtype()); }
bool TouchesComplexTensors(const Node& node) {
  const auto any = [](const auto& values) {
    return std::any_of(values.begin(), values.end(), IsComplexTensor);
  };
  return any(node.inputs()) || any(node.outputs());
}

Values ViewAsComplex(TorchCall& c) {
  const Expr x = c.Tensor("self");
  if (DimAt(x, -1) != Dim(2)) return c.Fail(Invalid("expected a last axis of 2"));
  return {ComplexOfPairs(x)};
}
Values ViewAsReal(TorchCall& c) { return {PairsOf(c.Tensor("self"))}; }

Values MakeComplexTensor(TorchCall& c, bool polar) {
  const DType t = PartType(c.out_dtype());
  const Expr a = c.Operand(polar ? "abs" : "real", t), b = c.Operand(polar ? "angle" : "imag", t);
  return {ComplexOf(polar ? Polar(a, b) : Complex{a, b})};
}

Values RealPartOf(TorchCall& c) {
  const Expr x = c.Tensor("self");
  return {x.Op(IsComplex(x.dtype()) ? "real" : "identity")};
}
Values ImagPartOf(TorchCall& c) { return {c.Tensor("self").Op("imag")}; }
Values Conjugate(TorchCall& c) {
  const Expr x = c.Tensor("self");
  return {IsComplex(x.dtype()) ? ConjOf(x) : x.Op("identity")};
}
Values IsReal(TorchCall& c) {
  const Expr x = c.Tensor("self");
  if (IsComplex(x.dtype())) return {PartsOf(x).im == 0};
  const Expr is = x == x;
  return {is | Not(is)};
}

Values AbsCall(TorchCall& c) {
  const Expr x = c.Tensor("self");
  if (IsComplex(x.dtype())) return {Abs(PartsOf(x))};
  return {c.Operand("self", c.out_dtype()).Op("abs")};
}
// Of real numbers: 0, or pi where they are negative.
Values AngleCall(TorchCall& c) {
  const Expr given = c.Tensor("self");
  if (IsComplex(given.dtype())) return {Angle(PartsOf(given))};
  const DType t = c.out_dtype();
  const Expr x = c.Operand("self", AtLeastFloat32(t));
  const Expr angle = Where(x < 0, x.Number(std::numbers::pi), x.Number(0));
  return {Where(IsNan(x), x, angle).To(t)};
}

X2IR_TORCH(complex)
    .From("aten::view_as_complex.default", ViewAsComplex)
    .From("aten::complex.default", [](TorchCall& c) { return MakeComplexTensor(c, false); })
    .From("aten::polar.default", [](TorchCall& c) { return MakeComplexTensor(c, true); })
    .From({"aten::conj_physical.default", "aten::_conj_physical.default", "aten::conj.default",
           "aten::_conj.default"},
          Conjugate);
X2IR_TORCH(concat).From("aten::view_as_real.default", ViewAsReal);
X2IR_TORCH(real).From("aten::real.default", RealPartOf);
X2IR_TORCH(imag).From("aten::imag.default", ImagPartOf);
X2IR_TORCH(neg).From("aten::_neg_view.default");
X2IR_TORCH(equal).From("aten::isreal.default", IsReal);
X2IR_TORCH(abs).From("aten::abs.default", AbsCall).To("aten::abs.default");
X2IR_TORCH(where).From("aten::angle.default", AngleCall);

}  // namespace

absl::Status CheckComplexCall(const Rewrite& r) {
  if (!TouchesComplexTensors(r.node)) return absl::OkStatus();
  std::string_view op = r.node.op().view();
  op.remove_prefix(std::min(op.find("::") + 2, op.size()));
  op = op.substr(0, op.find('.'));
  if (std::find(std::begin(kOfComplex), std::end(kOfComplex), op) != std::end(kOfComplex)) {
    return absl::OkStatus();
  }
  return Unimplemented("of complex numbers");
}

absl::Status CheckComplexResult(const Rewrite& r) {
  for (const Node* made : r.b.made()) {
    if (TouchesComplexTensors(*made) && !TakesComplexNumbers(made->op())) {
      return Unimplemented("of complex numbers (", made->op().str(), ")");
    }
  }
  return absl::OkStatus();
}

}  // namespace x2ir
