// What singular values and eigenvalues of symmetric matrices give: norms, ranks, pseudo-inverses,
// least squares. The vectors themselves are refused: which of the two signs (and in a space of
// equal values which basis) a library gives is not defined.
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
Expr MatrixIn(TorchCall& c, std::string_view name) {
  if (IsComplex(c.Tensor(name).dtype())) c.Fail(Unimplemented("of complex numbers"));
  const Expr x = c.Operand(name, kSpectralType);
  if (x.rank() >= 2) return x;
  c.Fail(Invalid("argument '", name, "': expected matrices"));
  return Zeros(c, kSpectralType, {1, 1});
}
// More columns than rows: the transpose has the same singular values.
bool Wide(const Expr& a) {
  const Dim rows = DimAt(a, -2), columns = DimAt(a, -1);
  return rows.is_static() && columns.is_static() && columns.value() > rows.value();
}
Expr SingularValues(const Expr& a) { return SvdOf(Wide(a) ? SwapLast(a) : a).s; }

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
    Values values = {EigenvaluesOf(MatrixIn(c, name), lower).To(c.out_dtype())};
    if (c.num_outputs() > 1) values.push_back(Nothing(c, 1));
    return values;
  };
}

// --- Norms ------------------------------------------------------------------------------------

Expr MostOf(const Expr& x, bool most) {  // of the last axis
  return x.Op(most ? "reduce_max" : "reduce_min", {Ints(x.builder(), {x.rank() - 1})},
              {{"keepdims", 0}});
}
// Of the last two axes, by its name or number.
Expr MatrixNorm(const Expr& a, const std::string& name, double ord) {
  if (name == "fro") return Sqrt(Sum(Sum(a * a, -1), -1));
  if (name == "nuc") return Sum(SingularValues(a), -1);
  if (std::abs(ord) == 1) return MostOf(Sum(Abs(a), -2), ord > 0);
  if (std::isinf(ord)) return MostOf(Sum(Abs(a), -1), ord > 0);
  if (std::abs(ord) == 2) return MostOf(SingularValues(a), ord > 0);
  a.builder().Fail(Unimplemented("norm of matrices of order ", ord, " '", name, "'"));
  return a;
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
  if (IsComplex(c.out_dtype())) return c.Fail(Unimplemented("of complex numbers"));
  c.Ignore({"dtype"});
  Expr x = c.Operand("self", kSpectralType);
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
  return {VectorNorm(x, p, axes, keepdim).To(c.out_dtype())};
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
  const Expr y = MatrixNorm(a, name, ord) * MatrixNorm(Inverse(a), name, ord);
  return {y.To(c.out_dtype())};
}

// --- Ranks and pseudo-inverses ----------------------------------------------------------------

// The limit below which singular values s count as 0: [..., 1]. The default is relative, of the
// type's precision, unless an absolute tolerance is given.
Expr Tolerance(TorchCall& c, const Expr& a, const Expr& s, DType t) {
  Builder& b = a.builder();
  const Expr size = Max(SizeOf(a, -2), SizeOf(a, -1)).To(kSpectralType);
  const Expr usual = size * EpsilonOf(t);
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
  return c.Bool("hermitian", false) ? Symmetric(a, true) : a;
}

bool IsEmpty(const Expr& a) { return DimAt(a, -1) == Dim(0) || DimAt(a, -2) == Dim(0); }

Values MatrixRank(TorchCall& c) {
  const std::string_view name =
      c.Has("input") ? std::string_view("input") : std::string_view("self");
  const DType t = c.Tensor(name)->dtype();
  const Expr a = Hermitian(c, MatrixIn(c, name));
  if (IsEmpty(a)) {
    c.Ignore({"atol", "rtol", "tol"});
    return {Sum(Sum(a, -1), -1).To(c.out_dtype())};
  }
  const Expr s = SingularValues(a);
  return {Sum((s > Tolerance(c, a, s, t)).To(DType::kInt64), -1).To(c.out_dtype())};
}

struct PseudoInverse {
  Expr inverse, rank, s;
};
PseudoInverse PinvOf(TorchCall& c, const Expr& a, DType t) {
  const bool wide = Wide(a);
  const Svd f = SvdOf(wide ? SwapLast(a) : a);
  const Expr counts = f.s > Tolerance(c, a, f.s, t);
  const Expr over = Where(counts, 1 / Where(counts, f.s * f.s, 1), 0);
  const Expr inverse = MatMul(f.v * Unsqueeze(over, {-2}), SwapLast(f.av));
  return {wide ? SwapLast(inverse) : inverse, Sum(counts.To(DType::kInt64), -1), f.s};
}
Values Pinv(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr a = Hermitian(c, MatrixIn(c, "self"));
  if (IsEmpty(a)) {
    c.Ignore({"atol", "rtol", "rcond"});
    return {SwapLast(a).To(t)};
  }
  return {PinvOf(c, a, t).inverse.To(t)};
}

// The shortest of the solutions that come nearest.
Values Lstsq(TorchCall& c) {
  const DType t = c.out_dtype();
  const Expr a = MatrixIn(c, "self");
  Expr b = c.Operand("b", kSpectralType);
  const std::string driver = c.String("driver", "gelsy");
  const bool vector = b.rank() == a.rank() - 1;
  if (IsEmpty(a)) return c.Fail(Unimplemented("of no equations, or none unknown"));
  if (vector) b = Unsqueeze(b, {-1});
  const PseudoInverse p = PinvOf(c, a, t);
  const Expr x = MatMul(p.inverse, b);
  const auto nothing = [&](DType of) { return Zeros(c, of, {0}); };
  Values values = {(vector ? Squeeze(x, {-1}) : x).To(t)};
  // Residuals are there of more equations than unknowns.
  const Dim rows = DimAt(a, -2), columns = DimAt(a, -1);
  const bool over = rows.is_static() && columns.is_static() && rows.value() > columns.value();
  if (over && driver != "gelsy") {
    const Expr rest = MatMul(a, x) - b;
    const Expr sum = Sum(rest * rest, -2);
    values.push_back((vector ? Squeeze(sum, {-1}) : sum).To(t));
  } else {
    values.push_back(nothing(t));
  }
  values.push_back(driver == "gels" ? nothing(DType::kInt64) : p.rank.To(c.out_dtype(2)));
  const bool with_values = driver == "gelsd" || driver == "gelss";
  values.push_back(with_values ? p.s.To(t) : nothing(t));
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
  const Expr x = c.Operand("self", kSpectralType);
  const size_t ind = static_cast<size_t>(std::max<int64_t>(c.Int("ind", 2), 0));
  const auto dims = KnownDims(x);
  if (!dims) return c.Fail(Unimplemented("where sizes are not known"));
  if (ind == 0 || ind > dims->size()) return c.Fail(Invalid("ind ", ind));
  const int64_t rows = Times(*dims, 0, ind), columns = Times(*dims, ind, dims->size());
  if (rows != columns) return c.Fail(Invalid("tensorinv of what is not square"));
  std::vector<int64_t> turned(dims->begin() + static_cast<int64_t>(ind), dims->end());
  turned.insert(turned.end(), dims->begin(), dims->begin() + static_cast<int64_t>(ind));
  return {ReshapedTo(Inverse(ReshapedTo(x, {rows, columns})), turned).To(c.out_dtype())};
}
Values TensorSolve(TorchCall& c) {
  Expr a = c.Operand("self", kSpectralType);
  const Expr b = c.Operand("other", kSpectralType);
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
  const Expr x = Solve(ReshapedTo(a, {n, n}), ReshapedTo(b, {n, 1}));
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
