// What singular values and eigenvalues of symmetric matrices give: norms, ranks, pseudo-inverses,
// least squares, roots. The vectors themselves are refused: which of the two signs (and in a space
// of equal values which basis) a library gives is not defined.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/special.h"

namespace x2ir {
namespace {

constexpr DType kSpectralType = DType::kFloat64;

bool UsedOutput(TorchCall& c, size_t i) {
  const Value* output = i < c.num_outputs() ? c.node().output(i) : nullptr;
  return output && !output->is_unused();
}
// In place of a result without uses.
Value* Nothing(TorchCall& c, size_t i) {
  return c.wants(i) ? Zeros(c, c.out_dtype(i), {0}).value() : nullptr;
}
// A handler whose results of no elements are constants: runtimes' top_k fails there.
TorchHandler OrEmpty(TorchHandler handler) {
  return [handler = std::move(handler)](TorchCall& c) -> Values {
    Values values = handler(c);
    for (size_t i = 0; i < values.size(); ++i) {
      const Shape* shape = values[i] ? c.out_shape(i) : nullptr;
      if (!shape) continue;
      std::vector<int64_t> dims;
      for (const Dim& dim : *shape) dims.push_back(dim.is_static() ? dim.value() : 1);
      if (std::find(dims.begin(), dims.end(), 0) == dims.end()) continue;
      values[i] = Zeros(c, c.out_dtype(i), std::move(dims));
    }
    return values;
  };
}
// In float64 or complex128.
Expr WideIn(TorchCall& c, std::string_view name) {
  const bool complex = IsComplex(c.Tensor(name).dtype());
  return c.Operand(name, complex ? DType::kComplex128 : kSpectralType);
}
Expr MatrixIn(TorchCall& c, std::string_view name) {
  const Expr x = WideIn(c, name);
  if (x.rank() >= 2) return x;
  c.Fail(Invalid("argument '", name, "': expected matrices"));
  return Zeros(c, kSpectralType, {1, 1});
}
bool IsComplexMatrix(const Expr& a) { return IsComplex(a.dtype()); }
// Complex matrices are computed in their real form, which has all values twice.
Expr RealMatrix(const Expr& a) { return IsComplexMatrix(a) ? RealFormOf(PartsOf(a)) : a; }
Expr FromRealMatrix(const Expr& x, const Expr& like) {
  return IsComplexMatrix(like) ? ComplexOf(ComplexOfRealForm(x)) : x;
}
Expr OnceEach(const Expr& values, const Expr& of) {
  if (!IsComplexMatrix(of)) return values;
  const Expr n = SizeOf(values, -1).Op("div", {Int(values.builder(), 2)});
  return Gather(values, Iota(n) * 2, -1);
}
// More columns than rows: the transpose has the same singular values.
bool Wide(const Expr& a) {
  const Dim rows = DimAt(a, -2), columns = DimAt(a, -1);
  return rows.is_static() && columns.is_static() && columns.value() > rows.value();
}
Expr SingularValues(const Expr& a) {
  const Expr x = RealMatrix(a);
  return OnceEach(SvdOf(Wide(x) ? SwapLast(x) : x).s, a);
}
// The symmetric or Hermitian matrix of one triangle.
Expr HermitianOf(const Expr& a, bool lower) {
  if (!IsComplexMatrix(a)) return Symmetric(a, lower);
  const Complex z = PartsOf(a);
  const Expr r = RowNumbers(a), c = ColumnNumbers(a);
  const Expr im = Where(lower ? c < r : c > r, z.im, 0);
  return ComplexOf({Symmetric(z.re, lower), im - SwapLast(im)});
}

Values SvdVals(TorchCall& c) {
  c.Ignore({"driver"});
  return {SingularValues(MatrixIn(c, "A")).To(c.out_dtype())};
}
TorchHandler SvdAlone(std::string_view name) {
  return [name](TorchCall& c) -> Values {
    c.Ignore({"driver", "full_matrices", "some", "compute_uv"});
    if (UsedOutput(c, 0) || UsedOutput(c, 2)) {
      return c.Fail(Unimplemented("singular vectors, whose signs are not defined"));
    }
    const Expr s = SingularValues(MatrixIn(c, name));
    return {Nothing(c, 0), s.To(c.out_dtype(1)), Nothing(c, 2)};
  };
}
TorchHandler Eigh(std::string_view name) {
  return [name](TorchCall& c) -> Values {
    c.Ignore({"compute_v"});
    const bool lower = c.String("UPLO", "L") != "U";
    if (UsedOutput(c, 1)) {
      return c.Fail(Unimplemented("eigenvectors, whose signs are not defined"));
    }
    const Expr a = MatrixIn(c, name);
    const Expr all = EigenvaluesOf(RealMatrix(HermitianOf(a, lower)), true);
    Values values = {OnceEach(all, a).To(c.out_dtype())};
    if (c.num_outputs() > 1) values.push_back(Nothing(c, 1));
    return values;
  };
}

// --- Products of factors ----------------------------------------------------------------------

// A = U H, H being positive: what the singular vectors give whatever their signs are. U of matrices
// without full rank is not defined, and has NaN or infinities here.
Values LinalgPolar(TorchCall& c) {
  const Expr a = MatrixIn(c, "A");
  if (Wide(a)) return c.Fail(Invalid("expected as many rows as columns, or more"));
  const Svd f = SvdOf(RealMatrix(a));
  const Expr s = Unsqueeze(f.s, {-2}), turned = SwapLast(f.v);
  const Expr u = MatMul(f.av / s, turned), h = MatMul(f.v * s, turned);
  return {FromRealMatrix(u, a).To(c.out_dtype()), FromRealMatrix(h, a).To(c.out_dtype(1))};
}
// The root of the eigenvalues, of which those below 0 count as 0. All are moved to the right of 0
// to find the vectors, which then are the singular ones.
Values LinalgMatrixSqrtH(TorchCall& c) {
  const Expr given = MatrixIn(c, "self");
  const Expr a = RealMatrix(HermitianOf(given, true));
  const Expr sums = Sum(Abs(a), -1);
  const Expr far =
      Unsqueeze(sums.Op("reduce_max", {Ints(c, {sums.rank() - 1})}, {{"keepdims", 1}}), {-1});
  const Expr v = SvdOf(a + IdentityLike(a) * far).v;
  const Expr values = Sum(v * MatMul(a, v), -2, true);
  const Expr root = MatMul(v * Sqrt(Max(values, 0)), SwapLast(v));
  return {FromRealMatrix(root, given).To(c.out_dtype())};
}

// --- Norms ------------------------------------------------------------------------------------

Expr MostOf(const Expr& x, bool most) {  // of the last axis
  return x.Op(most ? "reduce_max" : "reduce_min", {Ints(x.builder(), {x.rank() - 1})},
              {{"keepdims", 0}});
}
// The same of what is not negative: the largest of nothing is 0. (PyTorch has no smallest of
// nothing.)
Expr MostOfSizes(const Expr& x, bool most) {
  const Expr y = MostOf(x, most);
  const Dim n = DimAt(x, -1);
  return !most || (n.is_static() && n.value() > 0) ? y : Where(y < 0, 0, y);
}
// Of the last two axes, by its name or number.
Expr MatrixNorm(const Expr& a, const std::string& name, double ord) {
  const Expr size = IsComplexMatrix(a) ? Abs(PartsOf(a)) : Abs(a);
  if (name == "fro") return Sqrt(Sum(Sum(size * size, -1), -1));
  if (name == "nuc") return Sum(SingularValues(a), -1);
  if (std::abs(ord) == 1) return MostOfSizes(Sum(size, -2), ord > 0);
  if (std::isinf(ord)) return MostOfSizes(Sum(size, -1), ord > 0);
  if (std::abs(ord) == 2) return MostOfSizes(SingularValues(a), ord > 0);
  a.builder().Fail(Unimplemented("norm of matrices of order ", ord, " '", name, "'"));
  return size;
}
Values MatrixNormOver(TorchCall& c, const Expr& x, const std::string& name, double ord,
                      std::vector<int64_t> dims, bool keepdim) {
  const int64_t rank = x.rank();
  if (dims.size() != 2) return c.Fail(Invalid("expected two dims"));
  for (int64_t& dim : dims) dim = c.NormalAxis(dim, rank);
  if (dims[0] == dims[1] || rank < 2) return c.Fail(Invalid("expected two dims"));
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != dims[0] && i != dims[1]) perm.push_back(i);
  }
  perm.insert(perm.end(), dims.begin(), dims.end());
  Expr y = MatrixNorm(x.Op("transpose", {}, {{"perm", perm}}), name, ord);
  if (keepdim) {
    y = Unsqueeze(y, {std::min(dims[0], dims[1])});
    y = Unsqueeze(y, {std::max(dims[0], dims[1])});
  }
  return {y.To(c.out_dtype())};
}
Values LinalgMatrixNorm(TorchCall& c, bool by_name) {
  c.Ignore({"dtype"});
  const Expr x = MatrixIn(c, "self");
  const std::string name = by_name ? c.String("ord", "fro") : "";
  const double ord = by_name ? 0 : c.Number("ord").real();
  return MatrixNormOver(c, x, name, ord, c.Ints("dim", {-2, -1}), c.Bool("keepdim", false));
}
Values NuclearNorm(TorchCall& c) {
  return MatrixNormOver(c, MatrixIn(c, "self"), "nuc", 0, c.Ints("dim", {-2, -1}),
                        c.Bool("keepdim", false));
}
Values LinalgNorm(TorchCall& c, bool by_name) {
  c.Ignore({"dtype"});
  const Expr x = WideIn(c, "self");
  const std::string name = by_name ? c.String("ord") : "";
  const std::optional<TorchNumber> ord = by_name ? std::nullopt : c.OptNumber("ord");
  std::optional<std::vector<int64_t>> dims = c.OptInts("dim");
  const bool keepdim = c.Bool("keepdim", false);
  const int64_t rank = x.rank();
  if (by_name || ord) {
    if (!dims && rank == 2) dims = {0, 1};
    if (dims && dims->size() == 2) {
      return MatrixNormOver(c, x, name, ord ? ord->real() : 0, *dims, keepdim);
    }
    if (by_name) return c.Fail(Unimplemented("norm '", name, "' of vectors"));
    if (!dims && rank > 2) return c.Fail(Invalid("a norm of a tensor of rank ", rank));
  }
  std::vector<int64_t> axes = AllAxes(x);
  if (dims && rank > 0) {
    axes = *dims;
    for (int64_t& axis : axes) axis = c.NormalAxis(axis, rank);
  }
  const double p = ord ? ord->real() : 2;
  const Expr size = IsComplexMatrix(x) ? Abs(PartsOf(x)) : x;
  return {VectorNorm(size, p, axes, keepdim).To(c.out_dtype())};
}

Values ConditionNumber(TorchCall& c) {
  const Expr a = MatrixIn(c, "self");
  const bool by_name = c.node().op() == Symbol("aten::linalg_cond.p_str");
  const std::string name = by_name ? c.String("p") : "";
  const std::optional<TorchNumber> p = by_name ? std::nullopt : c.OptNumber("p");
  const double ord = p ? p->real() : 2;
  if (!by_name && std::abs(ord) == 2) {
    const Expr s = SingularValues(a);
    const Expr most = MostOf(s, true), least = MostOf(s, false);
    return {(ord > 0 ? most / least : least / most).To(c.out_dtype())};
  }
  const Expr inverse = IsComplexMatrix(a) ? ComplexOf(Inverse(PartsOf(a))) : Inverse(a);
  const Expr y = MatrixNorm(a, name, ord) * MatrixNorm(inverse, name, ord);
  return {y.To(c.out_dtype())};
}

// --- Ranks and pseudo-inverses ----------------------------------------------------------------

// The limit below which singular values s count as 0: [..., 1]. The default is relative, of the
// type's precision, unless an absolute tolerance is given.
Expr Tolerance(TorchCall& c, const Expr& a, const Expr& s, DType t) {
  Builder& b = a.builder();
  const Expr size = Max(SizeOf(a, -2), SizeOf(a, -1)).To(kSpectralType);
  const Expr usual = size * EpsilonOf(IsComplex(t) ? PartType(t) : t);
  const auto given = [&](std::string_view name) -> std::optional<Expr> {
    if (!c.Has(name)) {
      c.Ignore({name});
      return std::nullopt;
    }
    const Expr x = c.Operand(name, kSpectralType);
    return Unsqueeze(x, {-1});
  };
  const std::optional<Expr> atol = given("atol"), rtol = given("rtol"), rcond = given("rcond");
  const std::optional<Expr> tol = given("tol");
  if (tol) return *tol;
  const Expr most = Gather(s, Ints(b, {0}), -1);
  Expr relative = usual;
  if (rtol) relative = *rtol;
  if (rcond) relative = *rcond;
  if (atol && !rtol) relative = Where(*atol > 0, 0, relative);
  const Expr bound = relative * most;
  return atol ? Max(*atol, bound) : bound;
}
Expr Hermitian(TorchCall& c, const Expr& a) {
  return c.Bool("hermitian", false) ? HermitianOf(a, true) : a;
}

bool IsEmpty(const Expr& a) { return DimAt(a, -1) == Dim(0) || DimAt(a, -2) == Dim(0); }

Values MatrixRank(TorchCall& c) {
  const std::string_view name =
      c.Has("input") ? std::string_view("input") : std::string_view("self");
  const DType t = c.Tensor(name)->dtype();
  const Expr a = Hermitian(c, MatrixIn(c, name));
  if (IsEmpty(a)) {
    c.Ignore({"atol", "rtol", "tol"});
    return {Sum(Sum(RealMatrix(a), -1), -1).To(c.out_dtype())};
  }
  const Expr s = SingularValues(a);
  return {Sum((s > Tolerance(c, a, s, t)).To(DType::kInt64), -1).To(c.out_dtype())};
}

struct PseudoInverse {
  Expr inverse;  // of a complex matrix its real form
  Expr rank, s;
};
PseudoInverse PinvOf(TorchCall& c, const Expr& a, DType t) {
  const bool wide = Wide(a);
  const Expr x = RealMatrix(a);
  const Svd f = SvdOf(wide ? SwapLast(x) : x);
  const Expr counts = f.s > Tolerance(c, a, f.s, t);
  const Expr over = Where(counts, 1 / Where(counts, f.s * f.s, 1), 0);
  const Expr inverse = MatMul(f.v * Unsqueeze(over, {-2}), SwapLast(f.av));
  const Expr rank = Sum(OnceEach(counts.To(DType::kInt64), a), -1);
  return {wide ? SwapLast(inverse) : inverse, rank, OnceEach(f.s, a)};
}
Values Pinv(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr a = Hermitian(c, MatrixIn(c, "self"));
  if (IsEmpty(a)) {
    c.Ignore({"atol", "rtol", "rcond"});
    return {SwapLast(a).To(t)};
  }
  return {FromRealMatrix(PinvOf(c, a, t).inverse, a).To(t)};
}

// The shortest of the solutions that come nearest.
Values Lstsq(TorchCall& c) {
  const DType t = c.out_dtype(), real = IsComplex(t) ? PartType(t) : t;
  const Expr a = MatrixIn(c, "self");
  Expr b = WideIn(c, "b");
  const std::string driver = c.String("driver", "gelsy");
  const bool vector = b.rank() == a.rank() - 1;
  if (IsEmpty(a)) return c.Fail(Unimplemented("of no equations, or none unknown"));
  if (vector) b = Unsqueeze(b, {-1});
  const PseudoInverse p = PinvOf(c, a, t);
  // The real and the imaginary parts of a right side, one above the other.
  if (IsComplexMatrix(b)) {
    const Complex z = PartsOf(b);
    b = Concat(c, {z.re, z.im}, b.rank() - 2);
  }
  const Expr solved = MatMul(p.inverse, b);
  Expr x = solved;
  if (IsComplexMatrix(a)) {
    const Expr n = SizeOf(a, -1), first = Iota(n);
    x = ComplexOf({Gather(solved, first, -2), Gather(solved, first + n, -2)});
  }
  const auto nothing = [&](DType of) { return Zeros(c, of, {0}); };
  Values values = {(vector ? Squeeze(x, {-1}) : x).To(t)};
  // Residuals are there of more equations than unknowns.
  const Dim rows = DimAt(a, -2), columns = DimAt(a, -1);
  const bool over = rows.is_static() && columns.is_static() && rows.value() > columns.value();
  if (over && driver != "gelsy") {
    const Expr rest = MatMul(RealMatrix(a), solved) - b;
    const Expr sum = Sum(rest * rest, -2);
    values.push_back((vector ? Squeeze(sum, {-1}) : sum).To(real));
  } else {
    values.push_back(nothing(real));
  }
  values.push_back(driver == "gels" ? nothing(DType::kInt64) : p.rank.To(c.out_dtype(2)));
  const bool with_values = driver == "gelsd" || driver == "gelss";
  values.push_back(with_values ? p.s.To(real) : nothing(real));
  return values;
}

// --- Of tensors -------------------------------------------------------------------------------

std::optional<std::vector<int64_t>> KnownDims(const Expr& x) {
  const Shape* shape = x.value()->shape();
  std::vector<int64_t> dims;
  for (int64_t i = 0; shape && i < shape->rank(); ++i) {
    if (!(*shape)[i].is_static()) return std::nullopt;
    dims.push_back((*shape)[i].value());
  }
  return shape ? std::optional(dims) : std::nullopt;
}
Expr ReshapedTo(const Expr& x, const std::vector<int64_t>& dims) {
  return x.Op("reshape", {Ints(x.builder(), dims)}, {{"allowzero", 1}});
}
int64_t Times(const std::vector<int64_t>& dims, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= dims[i];
  return n;
}

Values TensorInv(TorchCall& c) {
  const Expr x = WideIn(c, "self");
  const size_t ind = static_cast<size_t>(std::max<int64_t>(c.Int("ind", 2), 0));
  const auto dims = KnownDims(x);
  if (!dims) return c.Fail(Unimplemented("where sizes are not known"));
  if (ind == 0 || ind > dims->size()) return c.Fail(Invalid("ind ", ind));
  const int64_t rows = Times(*dims, 0, ind), columns = Times(*dims, ind, dims->size());
  if (rows != columns) return c.Fail(Invalid("tensorinv of what is not square"));
  std::vector<int64_t> turned(dims->begin() + static_cast<int64_t>(ind), dims->end());
  turned.insert(turned.end(), dims->begin(), dims->begin() + static_cast<int64_t>(ind));
  const Expr matrix = ReshapedTo(x, {rows, columns});
  const Expr inverse = IsComplexMatrix(x) ? ComplexOf(Inverse(PartsOf(matrix))) : Inverse(matrix);
  return {ReshapedTo(inverse, turned).To(c.out_dtype())};
}
Values TensorSolve(TorchCall& c) {
  Expr a = WideIn(c, "self");
  const Expr b = WideIn(c, "other");
  const int64_t rank = a.rank();
  if (const auto last = c.OptInts("dims"); last && !last->empty()) {
    std::vector<int64_t> perm, moved;
    for (const int64_t dim : *last) moved.push_back(c.NormalAxis(dim, rank));
    for (int64_t i = 0; i < rank; ++i) {
      if (std::find(moved.begin(), moved.end(), i) == moved.end()) perm.push_back(i);
    }
    perm.insert(perm.end(), moved.begin(), moved.end());
    a = a.Op("transpose", {}, {{"perm", perm}});
  }
  const auto of_a = KnownDims(a), of_b = KnownDims(b);
  if (!of_a || !of_b) return c.Fail(Unimplemented("where sizes are not known"));
  if (of_a->size() < of_b->size()) return c.Fail(Invalid("tensorsolve of such ranks"));
  const int64_t n = Times(*of_b, 0, of_b->size());
  if (Times(*of_a, of_b->size(), of_a->size()) != n) {
    return c.Fail(Invalid("tensorsolve of what is not square"));
  }
  const std::vector<int64_t> dims(of_a->begin() + static_cast<int64_t>(of_b->size()), of_a->end());
  const Expr matrix = ReshapedTo(a, {n, n}), right = ReshapedTo(b, {n, 1});
  const Expr x =
      IsComplexMatrix(a) ? ComplexOf(Solve(PartsOf(matrix), PartsOf(right))) : Solve(matrix, right);
  return {ReshapedTo(x, dims).To(c.out_dtype())};
}
X2IR_TORCH(loop)
    .From("aten::linalg_svdvals.default", OrEmpty(SvdVals))
    .From({"aten::linalg_svd.default", "aten::_linalg_svd.default"}, OrEmpty(SvdAlone("A")))
    .From("aten::svd.default", OrEmpty(SvdAlone("self")))
    .From({"aten::linalg_eigvalsh.default", "aten::linalg_eigh.default"}, OrEmpty(Eigh("self")))
    .From("aten::_linalg_eigh.default", OrEmpty(Eigh("A")))
    .From({"aten::linalg_cond.default", "aten::linalg_cond.p_str"}, OrEmpty(ConditionNumber))
    .From({"aten::linalg_matrix_rank.default", "aten::linalg_matrix_rank.tol_tensor",
           "aten::linalg_matrix_rank.atol_rtol_float", "aten::linalg_matrix_rank.atol_rtol_tensor"},
          OrEmpty(MatrixRank))
    .From({"aten::linalg_pinv.default", "aten::linalg_pinv.rcond_tensor",
           "aten::linalg_pinv.atol_rtol_float", "aten::linalg_pinv.atol_rtol_tensor",
           "aten::pinverse.default"},
          OrEmpty(Pinv))
    .From("aten::linalg_lstsq.default", OrEmpty(Lstsq))
    .From("aten::linalg_polar.default", OrEmpty(LinalgPolar))
    .From("aten::linalg_matrix_sqrth.default", OrEmpty(LinalgMatrixSqrtH))
    .From("aten::linalg_tensorinv.default", TensorInv)
    .From("aten::linalg_tensorsolve.default", TensorSolve)
    .From({"aten::linalg_eig.default", "aten::linalg_eigvals.default",
           "aten::_linalg_eigvals.default"},
          Refused("eigenvalues of general matrices are complex"))
    .From({"aten::linalg_ldl_factor.default", "aten::linalg_ldl_factor_ex.default",
           "aten::linalg_ldl_solve.default"},
          Refused("factors by Bunch and Kaufman are not supported"));
X2IR_TORCH(reduce_l2)
    .From("aten::linalg_matrix_norm.default",
          OrEmpty([](TorchCall& c) { return LinalgMatrixNorm(c, false); }))
    .From("aten::linalg_matrix_norm.str_ord",
          OrEmpty([](TorchCall& c) { return LinalgMatrixNorm(c, true); }))
    .From({"aten::nuclear_norm.default", "aten::nuclear_norm.dim"}, OrEmpty(NuclearNorm))
    .From("aten::linalg_norm.default", [](TorchCall& c) { return LinalgNorm(c, false); })
    .From("aten::linalg_norm.ord_str", [](TorchCall& c) { return LinalgNorm(c, true); });

}  // namespace
}  // namespace x2ir
