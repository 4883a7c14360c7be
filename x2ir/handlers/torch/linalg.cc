// Linear systems and the decompositions that solve them: LU, Cholesky, QR. All in float64, whatever
// the type. Where PyTorch raises an error for what a matrix holds (singular, not positive), the
// result here has NaN or infinities.
#include <cmath>
#include <limits>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

constexpr DType kSolveType = DType::kFloat64;

// Operands of matrices in float64; Fail()s for what are none.
struct Matrices {
  TorchCall& c;
  explicit Matrices(TorchCall& call) : c(call) {
    const DType t = c.out_dtype();
    if (IsComplex(t)) c.Fail(Unimplemented("of complex numbers"));
  }
  Expr In(std::string_view name) {
    const Expr x = c.Operand(name, kSolveType);
    if (x.rank() < 2) {
      c.Fail(Invalid("argument '", name, "': expected matrices"));
      return Zeros(c, kSolveType, {1, 1});
    }
    return x;
  }
  // In the types of the results.
  Values Out(const std::vector<Expr>& results) {
    Values values;
    for (size_t i = 0; i < results.size() && i < c.num_outputs(); ++i) {
      values.push_back(c.node().output(i) ? results[i].To(c.out_dtype(i)) : nullptr);
    }
    return values;
  }
  // The same, where results past these are not used.
  Values OutFirst(const std::vector<Expr>& results) {
    Values values = Out(results);
    for (size_t i = values.size(); i < c.num_outputs(); ++i) {
      const Value* output = c.node().output(i);
      if (output && !output->is_unused()) {
        return c.Fail(Unimplemented("its result ", i, " has no mapping"));
      }
      values.push_back(output ? Zeros(c, c.out_dtype(i), {0}) : nullptr);
    }
    return values;
  }
};

// --- LU ---------------------------------------------------------------------------------------

// 1 or -1: how many rows were swapped.
Expr SwapSign(const LuFactors& f) {
  const Expr moved = Not(f.pivots == Iota(SizeOf(f.pivots, -1)));
  const Expr odd = Mod(Sum(moved.To(DType::kInt64), -1), f.pivots.Number(2));
  return 1 - 2 * odd.To(kSolveType);
}

Expr ProductOf(const Expr& x) {
  return x.Op("reduce_prod", {Ints(x.builder(), {x.rank() - 1})}, {{"keepdims", 0}});
}

struct Determinant {
  Expr sign, log;
};

Determinant DeterminantOf(const Expr& a) {
  const LuFactors f = Lu(a);
  const Expr diagonal = DiagonalOf(f.lu);
  return {SwapSign(f) * ProductOf(Sign(diagonal)), Sum(Log(Abs(diagonal)), -1)};
}

// The number of the first pivot that is 0, from 1; or 0.
Expr InfoOf(const LuFactors& f) {
  const Expr bad = (DiagonalOf(f.lu) == 0).To(DType::kInt64);
  const Expr n = SizeOf(bad, -1);
  // The first one has the largest of what counts down.
  const Expr rank = bad * (n - Iota(n));
  const Expr none = Ints(bad.builder(), {0});
  Expr most = rank;
  {
    // One more element, so that matrices of no rows have one.
    const Expr shape = ShapeOf(Sum(rank, -1, true));
    most = rank.Op("concat", {Expand(none, shape)}, {{"axis", rank.rank() - 1}})
               .Op("reduce_max", {Ints(rank.builder(), {rank.rank() - 1})}, {{"keepdims", 0}});
  }
  return Where(most == 0, 0, n + 1 - most);
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
  return of.Out({Where(d.sign == -1, std::numeric_limits<double>::quiet_NaN(), d.log)});
}

TorchHandler Inv(std::string_view a) {
  return [a](TorchCall& c) -> Values {
    Matrices of(c);
    c.Ignore({"check_errors"});
    const Expr x = of.In(a);
    const LuFactors f = Lu(x);
    return of.Out({SolveLu(f, IdentityLike(x)), InfoOf(f)});
  };
}

// Whether b is a vector, of rank 1, or a batch of vectors, one for each matrix of a.
bool IsVector(const Expr& a, const Expr& b) {
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
  const Expr a = of.In("A");
  Expr b = c.Operand("B", kSolveType);
  const bool left = c.Bool("left", true), vector = IsVector(a, b);
  if (vector) b = Unsqueeze(b, {-1});
  const bool turned = !left && !vector;
  const LuFactors f = Lu(turned ? SwapLast(a) : a);
  Expr x = SolveLu(f, turned ? SwapLast(b) : b);
  if (turned) x = SwapLast(x);
  if (vector) x = Squeeze(x, {-1});
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
Expr LowerOf(const Expr& lu) {
  const Expr unit = (RowNumbers(lu) == ColumnNumbers(lu)).To(kSolveType);
  const Expr k = Iota(Min(SizeOf(lu, -2), SizeOf(lu, -1)));
  return Gather(Lower(lu, false) + unit, k, -1);
}

Expr UpperOf(const Expr& lu) {
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
  const Expr lu = of.In("LU_data"), pivots = c.Tensor("LU_pivots");
  const bool data = c.Bool("unpack_data", true), with_pivots = c.Bool("unpack_pivots", true);
  const Expr nothing = Zeros(c, kSolveType, {0});
  const Expr p =
      with_pivots ? PermutationOf(RowsOfPivots(pivots, SizeOf(lu, -2)), kSolveType) : nothing;
  return of.Out({p, data ? LowerOf(lu) : nothing, data ? UpperOf(lu) : nothing});
}

Values LuSolve(TorchCall& c, std::string_view lu_name, std::string_view pivots_name,
               std::string_view b_name) {
  Matrices of(c);
  const Expr lu = of.In(lu_name), pivots = c.Tensor(pivots_name);
  Expr b = of.In(b_name);
  const bool left = c.Bool("left", true);
  const bool adjoint = c.Bool("adjoint", false) == left;  // X A = B is A^T X^T = B^T
  if (!left) b = SwapLast(b);
  b = WithBatchOf(b, lu);
  const LuFactors f{lu, RowsOfPivots(pivots, SizeOf(lu, -2)), pivots};
  Expr x = b;
  if (adjoint) {
    const Expr turned = SwapLast(lu);
    x = SolveTriangular(turned, SolveTriangular(turned, b, false, false), true, true);
    x = MatMul(PermutationOf(f.rows, kSolveType), x);
  } else {
    x = SolveLu(f, b);
  }
  return of.Out({left ? x : SwapLast(x)});
}

// --- Triangles --------------------------------------------------------------------------------

Values LinalgSolveTriangular(TorchCall& c) {
  Matrices of(c);
  const Expr a = of.In("self"), b = of.In("B");
  const bool upper = c.Bool("upper"), left = c.Bool("left", true);
  const bool unit = c.Bool("unitriangular", false);
  if (left) return of.Out({SolveTriangular(a, b, upper, unit)});
  return of.Out({SwapLast(SolveTriangular(SwapLast(a), SwapLast(b), !upper, unit))});
}

Values TriangularSolve(TorchCall& c) {
  Matrices of(c);
  const Expr b = of.In("self"), a = of.In("A");
  const bool upper = c.Bool("upper", true), turned = c.Bool("transpose", false);
  const bool unit = c.Bool("unitriangular", false);
  const Expr x = SolveTriangular(turned ? SwapLast(a) : a, b, upper != turned, unit);
  return of.Out({x, WithBatchOf(a, b)});
}

Values CholeskyHandler(TorchCall& c) {
  Matrices of(c);
  c.Ignore({"check_errors"});
  const Expr a = of.In("self");
  const bool upper = c.Bool("upper", false);
  const Cholesky f = CholeskyOf(upper ? SwapLast(a) : a);
  return of.Out({upper ? SwapLast(f.l) : f.l, f.info});
}

Expr SolveCholesky(const Expr& factor, const Expr& b, bool upper) {
  const Expr l = upper ? SwapLast(factor) : factor;
  return SolveTriangular(SwapLast(l), SolveTriangular(l, b, false, false), true, false);
}

Values CholeskySolve(TorchCall& c) {
  Matrices of(c);
  const Expr b = of.In("self"), factor = of.In("input2");
  return of.Out({SolveCholesky(factor, b, c.Bool("upper", false))});
}

Values CholeskyInverse(TorchCall& c) {
  Matrices of(c);
  const Expr factor = of.In("self");
  return of.Out({SolveCholesky(factor, IdentityLike(factor), c.Bool("upper", false))});
}

// --- QR ---------------------------------------------------------------------------------------

// The first `columns` columns of Q.
Expr ColumnsOfQ(const QrFactors& f, const Expr& columns) {
  const Expr one = (RowNumbers(f.a) == Unsqueeze(Iota(columns), {0})).To(kSolveType);
  return ApplyQ(f, WithBatchOf(one, f.a), false);
}

Values QrOf(TorchCall& c, const Expr& a, const std::string& mode) {
  Builder& b = a.builder();
  const QrFactors f = Qr(a);
  const Expr rows = SizeOf(a, -2), least = Min(rows, SizeOf(a, -1));
  Expr r = Upper(f.a);
  if (mode != "complete") r = Gather(r, Iota(least), -2);
  Values values = {nullptr, r.To(c.out_dtype(1))};
  if (mode == "r") {
    values[0] = Zeros(b, c.out_dtype(), {0});
  } else {
    values[0] = ColumnsOfQ(f, mode == "complete" ? rows : least).To(c.out_dtype());
  }
  return values;
}

Values LinalgQr(TorchCall& c) {
  Matrices of(c);
  const Expr a = of.In("A");
  return QrOf(c, a, c.String("mode", "reduced"));
}

Values OldQr(TorchCall& c) {
  Matrices of(c);
  const Expr a = of.In("self");
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
    const QrFactors f{of.In(a), c.Operand(tau, kSolveType)};
    return of.Out({ColumnsOfQ(f, SizeOf(f.a, -1))});
  };
}

Values Ormqr(TorchCall& c) {
  Matrices of(c);
  const QrFactors f{of.In("self"), c.Operand("input2", kSolveType)};
  const Expr x = of.In("input3");
  const bool left = c.Bool("left", true), turned = c.Bool("transpose", false);
  // x Q is the transpose of Q^T x^T.
  if (left) return of.Out({ApplyQ(f, x, turned)});
  return of.Out({SwapLast(ApplyQ(f, SwapLast(x), !turned))});
}

// --- Powers -----------------------------------------------------------------------------------

Values MatrixPower(TorchCall& c) {
  Matrices of(c);
  const DType t = c.out_dtype();
  int64_t n = c.Int("n");
  constexpr int64_t kLimit = int64_t{1} << 40;
  if (n < -kLimit || n > kLimit) return c.Fail(Unimplemented("power ", n));
  Expr a = c.Operand("self", IsFloating(t) ? kSolveType : t);
  if (a.rank() < 2) return c.Fail(Invalid("expected matrices"));
  if (n < 0) a = Inverse(a);
  if (n == 0) return of.Out({IdentityLike(a)});
  std::optional<Expr> y;
  for (n = std::abs(n); n > 0; n /= 2) {
    if (n % 2 == 1) y = y ? MatMul(*y, a) : a;
    if (n > 1) a = MatMul(a, a);
  }
  return of.Out({y->Op("identity")});
}

// Scaled until Taylor's series has all digits, then squared as often.
Values MatrixExp(TorchCall& c) {
  Matrices of(c);
  const Expr a = of.In("self");
  const Expr sums = Sum(Abs(a), -1);
  const Expr zero = Expand(Doubles(c, {0}), ShapeOf(Sum(sums, -1, true)));
  const Expr norm = sums.Op("concat", {zero}, {{"axis", sums.rank() - 1}})
                        .Op("reduce_max", {Ints(c, {sums.rank() - 1})}, {{"keepdims", 1}});
  const Expr ordinary = norm < 1e300;
  const Expr log = Log(Max(Where(ordinary, norm, 1), 1)) * (1 / std::log(2));
  const Expr times = Floor(log).To(DType::kInt64) + 1;
  const Expr scale = Unsqueeze(Pow(norm.Number(2), -times.To(kSolveType)), {-1});
  const Expr x = a * scale, one = IdentityLike(a);
  Expr y = one;
  for (int k = 18; k > 0; --k) y = one + MatMul(x, y) / k;
  const Expr flat = times.Op("reshape", {Ints(c, {-1})}, {{"allowzero", 0}});
  const Expr most =
      flat.Op("concat", {Ints(c, {0})}, {{"axis", 0}}).Op("reduce_max", {}, {{"keepdims", 0}});
  const Expr rounds = Unsqueeze(times, {-1});
  y = Rounds(most, {y}, [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
    return {Where(i < rounds, MatMul(s[0], s[0]), s[0])};
  })[0];
  return of.Out({y});
}

X2IR_TORCH(det)
    .From("aten::det.default", Det("self"))
    .From({"aten::linalg_det.default", "aten::_linalg_det.default"}, Det("A"))
    .From("aten::slogdet.default", SlogDet("self"))
    .From({"aten::linalg_slogdet.default", "aten::_linalg_slogdet.default"}, SlogDet("A"))
    .From("aten::logdet.default", LogDet);
X2IR_TORCH(loop)
    .From("aten::inverse.default", Inv("self"))
    .From({"aten::linalg_inv.default", "aten::linalg_inv_ex.default"}, Inv("A"))
    .From({"aten::linalg_solve.default", "aten::linalg_solve_ex.default",
           "aten::_linalg_solve_ex.default"},
          LinalgSolve)
    .From({"aten::linalg_lu_factor.default", "aten::linalg_lu_factor_ex.default"},
          [](TorchCall& c) { return LuFactor(c, "A"); })
    .From("aten::_lu_with_info.default", [](TorchCall& c) { return LuFactor(c, "self"); })
    .From("aten::linalg_lu.default", LinalgLu)
    .From("aten::lu_unpack.default", LuUnpack)
    .From("aten::linalg_lu_solve.default",
          [](TorchCall& c) { return LuSolve(c, "LU", "pivots", "B"); })
    .From("aten::lu_solve.default",
          [](TorchCall& c) { return LuSolve(c, "LU_data", "LU_pivots", "self"); })
    .From("aten::linalg_solve_triangular.default", LinalgSolveTriangular)
    .From("aten::triangular_solve.default", TriangularSolve)
    .From({"aten::cholesky.default", "aten::linalg_cholesky.default",
           "aten::linalg_cholesky_ex.default"},
          CholeskyHandler)
    .From("aten::cholesky_solve.default", CholeskySolve)
    .From("aten::cholesky_inverse.default", CholeskyInverse)
    .From("aten::linalg_qr.default", LinalgQr)
    .From("aten::qr.default", OldQr)
    .From("aten::geqrf.default", Geqrf)
    .From("aten::linalg_householder_product.default", HouseholderProduct("input", "tau"))
    .From("aten::orgqr.default", HouseholderProduct("self", "input2"))
    .From("aten::ormqr.default", Ormqr)
    .From({"aten::linalg_matrix_exp.default", "aten::matrix_exp.default"}, MatrixExp);
X2IR_TORCH(matmul).From({"aten::linalg_matrix_power.default", "aten::matrix_power.default"},
                        MatrixPower);

Value* WriteTriangularSolve(TorchWriter& w) {
  return w.Call("aten::linalg_solve_triangular.default", {{"self", w.in(0)},
                                                          {"B", w.in(1)},
                                                          {"upper", w.Int("upper") != 0},
                                                          {"unitriangular", w.Int("unit") != 0}});
}

}  // namespace

X2IR_TORCH(cholesky).To("aten::linalg_cholesky.default");
X2IR_TORCH(solve).To("aten::linalg_solve.default");
X2IR_TORCH(triangular_solve).To("aten::linalg_solve_triangular.default", WriteTriangularSolve);

}  // namespace x2ir
