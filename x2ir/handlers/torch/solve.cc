// Linear systems and the decompositions that solve them: LU, Cholesky, QR. All in float64, whatever
// the type. Where PyTorch raises an error for what a matrix holds (singular, not positive), the
// result here has NaN or infinities.
#include <cmath>
#include <limits>
#include <optional>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/matrices.h"

namespace x2ir {
namespace {

constexpr DType kSolveType = DType::kFloat64;

// Operands of matrices in float64; Fail()s for what are none.
struct Matrices {
  TorchCall& c;
  Calc m;
  explicit Matrices(TorchCall& call) : c(call), m(call) {
    const DType t = c.out_dtype();
    if (IsComplex(t)) c.Fail(Unimplemented("of complex numbers"));
  }
  Num In(std::string_view name) {
    const Num x = m.In(name, kSolveType);
    if (x.rank() < 2) {
      c.Fail(Invalid("argument '", name, "': expected matrices"));
      return m.Of(m.Zeros(kSolveType, {1, 1}));
    }
    return x;
  }
  // In the types of the results.
  Values Out(const std::vector<Num>& results) {
    Values values;
    for (size_t i = 0; i < results.size() && i < c.num_outputs(); ++i) {
      values.push_back(c.node().output(i) ? m.Out(results[i], c.out_dtype(i)) : nullptr);
    }
    return values;
  }
  // The same, where results past these are not used.
  Values OutFirst(const std::vector<Num>& results) {
    Values values = Out(results);
    for (size_t i = values.size(); i < c.num_outputs(); ++i) {
      const Value* output = c.node().output(i);
      if (output && !output->is_unused()) {
        return c.Fail(Unimplemented("its result ", i, " has no mapping"));
      }
      values.push_back(output ? m.Zeros(c.out_dtype(i), {0}) : nullptr);
    }
    return values;
  }
};

// --- LU ---------------------------------------------------------------------------------------

// 1 or -1: how many rows were swapped.
Num SwapSign(const LuFactors& f) {
  const Num moved = !(f.pivots == Iota(SizeOf(f.pivots, -1)));
  const Num odd = Mod(Sum(moved.As(DType::kInt64), -1), f.pivots.N(2));
  return 1 - 2 * odd.As(kSolveType);
}
Num ProductOf(const Num& x) {
  return x.Op("reduce_prod", {x.m().Ints({x.rank() - 1})}, {{"keepdims", 0}});
}
struct Determinant {
  Num sign, log;
};
Determinant DeterminantOf(const Num& a) {
  const LuFactors f = Lu(a);
  const Num diagonal = DiagonalOf(f.lu);
  return {SwapSign(f) * ProductOf(Sign(diagonal)), Sum(Log(Abs(diagonal)), -1)};
}
// The number of the first pivot that is 0, from 1; or 0.
Num InfoOf(const LuFactors& f) {
  const Num bad = (DiagonalOf(f.lu) == 0).As(DType::kInt64);
  const Num n = SizeOf(bad, -1);
  // The first one has the largest of what counts down.
  const Num rank = bad * (n - Iota(n));
  const Num none = bad.m().Ints({0});
  Num most = rank;
  {
    // One more element, so that matrices of no rows have one.
    const Num shape = ShapeOf(Sum(rank, -1, true));
    most = rank.Op("concat", {ExpandTo(none, shape)}, {{"axis", rank.rank() - 1}})
               .Op("reduce_max", {rank.m().Ints({rank.rank() - 1})}, {{"keepdims", 0}});
  }
  return If(most == 0, 0, n + 1 - most);
}

TorchHandler Det(std::string_view a) {
  return [a](TorchCall& c) -> Values {
    Matrices of(c);
    const LuFactors f = Lu(of.In(a));
    return of.OutFirst({SwapSign(f) * ProductOf(DiagonalOf(f.lu))});
  };
}
TorchHandler SlogDet(std::string_view a) {
  return [a](TorchCall& c) -> Values {
    Matrices of(c);
    const Determinant d = DeterminantOf(of.In(a));
    return of.OutFirst({d.sign, d.log});
  };
}
Values LogDet(TorchCall& c) {
  Matrices of(c);
  const Determinant d = DeterminantOf(of.In("self"));
  return of.Out({If(d.sign == -1, std::numeric_limits<double>::quiet_NaN(), d.log)});
}
TorchHandler Inv(std::string_view a) {
  return [a](TorchCall& c) -> Values {
    Matrices of(c);
    c.Ignore({"check_errors"});
    const Num x = of.In(a);
    const LuFactors f = Lu(x);
    return of.Out({SolveLu(f, IdentityLike(x)), InfoOf(f)});
  };
}

// A vector beside matrices: one of rank 1, or of as many as there are matrices.
bool IsVector(const Num& a, const Num& b) {
  if (b.rank() == 1) return true;
  if (b.rank() != a.rank() - 1) return false;
  for (int64_t i = 0; i < b.rank(); ++i) {
    if (DimAt(a, i) != DimAt(b, i)) return false;
  }
  return true;
}
Values LinalgSolve(TorchCall& c) {
  Matrices of(c);
  c.Ignore({"check_errors"});
  const Num a = of.In("A");
  Num b = of.m.In("B", kSolveType);
  const bool left = c.Bool("left", true), vector = IsVector(a, b);
  if (vector) b = Unsqueeze(b, -1);
  const bool turned = !left && !vector;
  const LuFactors f = Lu(turned ? Transposed(a) : a);
  Num x = SolveLu(f, turned ? Transposed(b) : b);
  if (turned) x = Transposed(x);
  if (vector) x = Squeeze(x, -1);
  if (c.num_outputs() == 2) return of.Out({x, InfoOf(f)});
  return of.OutFirst({x});
}

Values LuFactor(TorchCall& c, std::string_view a) {
  Matrices of(c);
  c.Ignore({"check_errors"});
  const bool pivot = c.Bool("pivot", true);
  if (!pivot) return c.Fail(Unimplemented("LU without pivots"));
  const LuFactors f = Lu(of.In(a));
  return of.Out({f.lu, f.pivots + 1, InfoOf(f)});
}
// [.., m, k] and [.., k, n] of m x n factors.
Num LowerOf(const Num& lu) {
  const Num unit = (RowNumbers(lu) == ColumnNumbers(lu)).As(kSolveType);
  const Num k = Iota(Min(SizeOf(lu, -2), SizeOf(lu, -1)));
  return Gather(Lower(lu, false) + unit, k, -1);
}
Num UpperOf(const Num& lu) {
  return Gather(Upper(lu), Iota(Min(SizeOf(lu, -2), SizeOf(lu, -1))), -2);
}
Values LinalgLu(TorchCall& c) {
  Matrices of(c);
  if (!c.Bool("pivot", true)) return c.Fail(Unimplemented("LU without pivots"));
  const LuFactors f = Lu(of.In("A"));
  return of.Out({PermutationOf(f.rows, kSolveType), LowerOf(f.lu), UpperOf(f.lu)});
}
Values LuUnpack(TorchCall& c) {
  Matrices of(c);
  const Num lu = of.In("LU_data"), pivots = of.m.In("LU_pivots");
  const bool data = c.Bool("unpack_data", true), with_pivots = c.Bool("unpack_pivots", true);
  const Num nothing = of.m.Of(of.m.Zeros(kSolveType, {0}));
  const Num p =
      with_pivots ? PermutationOf(RowsOfPivots(pivots, SizeOf(lu, -2)), kSolveType) : nothing;
  return of.Out({p, data ? LowerOf(lu) : nothing, data ? UpperOf(lu) : nothing});
}
Values LuSolve(TorchCall& c, std::string_view lu_name, std::string_view pivots_name,
               std::string_view b_name) {
  Matrices of(c);
  const Num lu = of.In(lu_name), pivots = of.m.In(pivots_name);
  Num b = of.In(b_name);
  const bool left = c.Bool("left", true);
  const bool adjoint = c.Bool("adjoint", false) == left;  // X A = B is A^T X^T = B^T
  if (!left) b = Transposed(b);
  b = WithBatchOf(b, lu);
  const LuFactors f{lu, RowsOfPivots(pivots, SizeOf(lu, -2)), pivots};
  Num x = b;
  if (adjoint) {
    const Num turned = Transposed(lu);
    x = SolveTriangular(turned, SolveTriangular(turned, b, false, false), true, true);
    x = MatMul(PermutationOf(f.rows, kSolveType), x);
  } else {
    x = SolveLu(f, b);
  }
  return of.Out({left ? x : Transposed(x)});
}

// --- Triangles --------------------------------------------------------------------------------

Values LinalgSolveTriangular(TorchCall& c) {
  Matrices of(c);
  const Num a = of.In("self"), b = of.In("B");
  const bool upper = c.Bool("upper"), left = c.Bool("left", true);
  const bool unit = c.Bool("unitriangular", false);
  if (left) return of.Out({SolveTriangular(a, b, upper, unit)});
  return of.Out({Transposed(SolveTriangular(Transposed(a), Transposed(b), !upper, unit))});
}
Values TriangularSolve(TorchCall& c) {
  Matrices of(c);
  const Num b = of.In("self"), a = of.In("A");
  const bool upper = c.Bool("upper", true), turned = c.Bool("transpose", false);
  const bool unit = c.Bool("unitriangular", false);
  const Num x = SolveTriangular(turned ? Transposed(a) : a, b, upper != turned, unit);
  return of.Out({x, WithBatchOf(a, b)});
}

Values CholeskyHandler(TorchCall& c) {
  Matrices of(c);
  c.Ignore({"check_errors"});
  const Num a = of.In("self");
  const bool upper = c.Bool("upper", false);
  const Cholesky f = CholeskyOf(upper ? Transposed(a) : a);
  return of.Out({upper ? Transposed(f.l) : f.l, f.info});
}
Num SolveCholesky(const Num& factor, const Num& b, bool upper) {
  const Num l = upper ? Transposed(factor) : factor;
  return SolveTriangular(Transposed(l), SolveTriangular(l, b, false, false), true, false);
}
Values CholeskySolve(TorchCall& c) {
  Matrices of(c);
  const Num b = of.In("self"), factor = of.In("input2");
  return of.Out({SolveCholesky(factor, b, c.Bool("upper", false))});
}
Values CholeskyInverse(TorchCall& c) {
  Matrices of(c);
  const Num factor = of.In("self");
  return of.Out({SolveCholesky(factor, IdentityLike(factor), c.Bool("upper", false))});
}

// --- QR ---------------------------------------------------------------------------------------

// The first `columns` columns of Q.
Num ColumnsOfQ(const QrFactors& f, const Num& columns) {
  const Num one = (RowNumbers(f.a) == Unsqueeze(Iota(columns), 0)).As(kSolveType);
  return ApplyQ(f, WithBatchOf(one, f.a), false);
}
Values QrOf(TorchCall& c, const Num& a, const std::string& mode) {
  Calc& m = a.m();
  const QrFactors f = Qr(a);
  const Num rows = SizeOf(a, -2), least = Min(rows, SizeOf(a, -1));
  Num r = Upper(f.a);
  if (mode != "complete") r = Gather(r, Iota(least), -2);
  Values values = {nullptr, m.Out(r, c.out_dtype(1))};
  if (mode == "r") {
    values[0] = m.Zeros(c.out_dtype(), {0});
  } else {
    values[0] = m.Out(ColumnsOfQ(f, mode == "complete" ? rows : least), c.out_dtype());
  }
  return values;
}
Values LinalgQr(TorchCall& c) {
  Matrices of(c);
  const Num a = of.In("A");
  return QrOf(c, a, c.String("mode", "reduced"));
}
Values OldQr(TorchCall& c) {
  Matrices of(c);
  const Num a = of.In("self");
  return QrOf(c, a, c.Bool("some", true) ? "reduced" : "complete");
}
Values Geqrf(TorchCall& c) {
  Matrices of(c);
  const QrFactors f = Qr(of.In("self"));
  return of.Out({f.a, f.tau});
}
TorchHandler HouseholderProduct(std::string_view a, std::string_view tau) {
  return [a, tau](TorchCall& c) -> Values {
    Matrices of(c);
    const QrFactors f{of.In(a), of.m.In(tau, kSolveType)};
    return of.Out({ColumnsOfQ(f, SizeOf(f.a, -1))});
  };
}
Values Ormqr(TorchCall& c) {
  Matrices of(c);
  const QrFactors f{of.In("self"), of.m.In("input2", kSolveType)};
  const Num x = of.In("input3");
  const bool left = c.Bool("left", true), turned = c.Bool("transpose", false);
  // x Q is the transpose of Q^T x^T.
  if (left) return of.Out({ApplyQ(f, x, turned)});
  return of.Out({Transposed(ApplyQ(f, Transposed(x), !turned))});
}

// --- Powers -----------------------------------------------------------------------------------

Values MatrixPower(TorchCall& c) {
  Matrices of(c);
  const DType t = c.out_dtype();
  int64_t n = c.Int("n");
  if (std::abs(n) > (int64_t{1} << 40)) return c.Fail(Unimplemented("power ", n));
  Num a = of.m.In("self", IsFloating(t) ? kSolveType : t);
  if (a.rank() < 2) return c.Fail(Invalid("expected matrices"));
  if (n < 0) a = Inverse(a);
  if (n == 0) return of.Out({IdentityLike(a)});
  std::optional<Num> y;
  for (n = std::abs(n); n > 0; n /= 2) {
    if (n % 2 == 1) y = y ? MatMul(*y, a) : a;
    if (n > 1) a = MatMul(a, a);
  }
  return of.Out({y->Op("identity")});
}

// Scaled until Taylor's series has all digits, then squared as often.
Values MatrixExp(TorchCall& c) {
  Matrices of(c);
  const Num a = of.In("self");
  const Num sums = Sum(Abs(a), -1);
  const Num zero = ExpandTo(of.m.Doubles({0}), ShapeOf(Sum(sums, -1, true)));
  const Num norm = sums.Op("concat", {zero}, {{"axis", sums.rank() - 1}})
                       .Op("reduce_max", {of.m.Ints({sums.rank() - 1})}, {{"keepdims", 1}});
  const Num ordinary = norm < 1e300;
  const Num log = Log(Max(If(ordinary, norm, 1), 1)) * (1 / std::log(2));
  const Num times = Floor(log).As(DType::kInt64) + 1;
  const Num scale = Unsqueeze(Pow(norm.N(2), -times.As(kSolveType)), -1);
  const Num x = a * scale, one = IdentityLike(a);
  Num y = one;
  for (int k = 18; k > 0; --k) y = one + MatMul(x, y) / k;
  const Num flat = times.Op("reshape", {of.m.Ints({-1})}, {{"allowzero", 0}});
  const Num most =
      flat.Op("concat", {of.m.Ints({0})}, {{"axis", 0}}).Op("reduce_max", {}, {{"keepdims", 0}});
  const Num rounds = Unsqueeze(times, -1);
  y = of.m.Rounds(most, {y}, [&](const Num& i, const std::vector<Num>& s) -> std::vector<Num> {
    return {If(i < rounds, MatMul(s[0], s[0]), s[0])};
  })[0];
  return of.Out({y});
}

X2IR_TORCH(det)
    .Is("aten::det.default", Det("self"))
    .Is({"aten::linalg_det.default", "aten::_linalg_det.default"}, Det("A"))
    .Is("aten::slogdet.default", SlogDet("self"))
    .Is({"aten::linalg_slogdet.default", "aten::_linalg_slogdet.default"}, SlogDet("A"))
    .Is("aten::logdet.default", LogDet);
X2IR_TORCH(loop)
    .Is("aten::inverse.default", Inv("self"))
    .Is({"aten::linalg_inv.default", "aten::linalg_inv_ex.default"}, Inv("A"))
    .Is({"aten::linalg_solve.default", "aten::linalg_solve_ex.default",
         "aten::_linalg_solve_ex.default"},
        LinalgSolve)
    .Is({"aten::linalg_lu_factor.default", "aten::linalg_lu_factor_ex.default"},
        [](TorchCall& c) { return LuFactor(c, "A"); })
    .Is("aten::_lu_with_info.default", [](TorchCall& c) { return LuFactor(c, "self"); })
    .Is("aten::linalg_lu.default", LinalgLu)
    .Is("aten::lu_unpack.default", LuUnpack)
    .Is("aten::linalg_lu_solve.default",
        [](TorchCall& c) { return LuSolve(c, "LU", "pivots", "B"); })
    .Is("aten::lu_solve.default",
        [](TorchCall& c) { return LuSolve(c, "LU_data", "LU_pivots", "self"); })
    .Is("aten::linalg_solve_triangular.default", LinalgSolveTriangular)
    .Is("aten::triangular_solve.default", TriangularSolve)
    .Is({"aten::cholesky.default", "aten::linalg_cholesky.default",
         "aten::linalg_cholesky_ex.default"},
        CholeskyHandler)
    .Is("aten::cholesky_solve.default", CholeskySolve)
    .Is("aten::cholesky_inverse.default", CholeskyInverse)
    .Is("aten::linalg_qr.default", LinalgQr)
    .Is("aten::qr.default", OldQr)
    .Is("aten::geqrf.default", Geqrf)
    .Is("aten::linalg_householder_product.default", HouseholderProduct("input", "tau"))
    .Is("aten::orgqr.default", HouseholderProduct("self", "input2"))
    .Is("aten::ormqr.default", Ormqr)
    .Is({"aten::linalg_matrix_exp.default", "aten::matrix_exp.default"}, MatrixExp);
X2IR_TORCH(matmul).Is({"aten::linalg_matrix_power.default", "aten::matrix_power.default"},
                      MatrixPower);

}  // namespace
}  // namespace x2ir
