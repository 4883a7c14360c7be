// Linear systems and the decompositions that solve them: LU, Cholesky, QR. All in float64, whatever
// the type. Those that solve are of complex matrices too. Where PyTorch raises an error for what a
// matrix holds (singular, not positive), the result here has NaN or infinities.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

constexpr DType kSolveType = DType::kFloat64;

// A result: real or complex.
struct MatrixResult {
  MatrixResult(const Expr& x) : re(x) {}                  // NOLINT: implicit
  MatrixResult(const Complex& z) : re(z.re), im(z.im) {}  // NOLINT: implicit
  Value* As(DType t) const {
    if (im.value() == nullptr) return re.To(t);
    const DType part = PartType(t);
    return ComplexOf({re.To(part), im.To(part)});
  }
  Expr re = nullptr, im = nullptr;
};

// Operands of matrices in float64; Fail()s for what are none.
struct Matrices {
  TorchCall& c;
  explicit Matrices(TorchCall& call) : c(call) {}
  Expr Matrix(std::string_view name, const Expr& x) {
    if (x.rank() >= 2) return x;
    c.Fail(Invalid("argument '", name, "': expected matrices"));
    return Zeros(c, x.dtype(), {1, 1});
  }
  // `T`: Expr, or Complex.
  template <typename T = Expr>
  T Operand(std::string_view name) {
    if constexpr (std::is_same_v<T, Expr>) {
      if (IsComplex(c.out_dtype())) c.Fail(Unimplemented("of complex numbers"));
      return c.Operand(name, kSolveType);
    } else {
      return PartsOf(c.Operand(name, DType::kComplex128));
    }
  }
  template <typename T = Expr>
  T In(std::string_view name) {
    if constexpr (std::is_same_v<T, Expr>) {
      return Matrix(name, Operand<T>(name));
    } else {
      return PartsOf(Matrix(name, c.Operand(name, DType::kComplex128)));
    }
  }
  // In the types of the results.
  Values Out(const std::vector<MatrixResult>& results) {
    Values values;
    for (size_t i = 0; i < results.size() && i < c.num_outputs(); ++i) {
      values.push_back(c.node().output(i) ? results[i].As(c.out_dtype(i)) : nullptr);
    }
    return values;
  }
  // The same, where results past these are not used.
  Values OutFirst(const std::vector<MatrixResult>& results) {
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

// A handler that does the same with numbers of both kinds; `kind` is Expr or Complex.
template <typename Fn>
TorchHandler OfEitherKind(Fn fn) {
  return [fn](TorchCall& c) -> Values {
    const auto& inputs = c.node().inputs();
    const bool complex = std::any_of(inputs.begin(), inputs.end(), [](const Value* input) {
      return input && IsComplex(input->dtype());
    });
    if (complex) return fn(c, std::type_identity<Complex>());
    return fn(c, std::type_identity<Expr>());
  };
}

const Expr& PlacesOfMatrix(const Expr& x) { return x; }
const Expr& PlacesOfMatrix(const Complex& x) { return x.re; }
template <typename Fn>
Expr EachMatrixPart(const Expr& x, Fn fn) {
  return fn(x);
}
template <typename Fn>
Complex EachMatrixPart(const Complex& x, Fn fn) {
  return {fn(x.re), fn(x.im)};
}
template <typename T>
T TurnedMatrix(const T& x) {
  return EachMatrixPart(x, [](const Expr& part) { return SwapLast(part); });
}
Expr ConjugatedMatrix(const Expr& x) { return x; }
Complex ConjugatedMatrix(const Complex& x) { return Conj(x); }
template <typename T>
T AdjointMatrix(const T& x) {
  return TurnedMatrix(ConjugatedMatrix(x));
}
Expr IsZeroNumber(const Expr& x) { return x == 0; }
Expr IsZeroNumber(const Complex& x) { return (x.re == 0) & (x.im == 0); }
Complex ComplexMatMul(const Complex& x, const Complex& y) {
  return {MatMul(x.re, y.re) - MatMul(x.im, y.im), MatMul(x.re, y.im) + MatMul(x.im, y.re)};
}

// --- LU ---------------------------------------------------------------------------------------

// 1 or -1: how many rows were swapped.
Expr SwapSign(const Expr& pivots) {
  const Expr moved = Not(pivots == Iota(SizeOf(pivots, -1)));
  const Expr odd = Mod(Sum(moved.To(DType::kInt64), -1), pivots.Number(2));
  return 1 - 2 * odd.To(kSolveType);
}

Expr ProductOf(const Expr& x) {
  return x.Op("reduce_prod", {Ints(x.builder(), {x.rank() - 1})}, {{"keepdims", 0}});
}
Complex ProductOf(const Complex& x) {
  const Expr one = Sum(x.re * 0, -1) + 1, zero = one - 1;
  const std::vector<Expr> product =
      Rounds(SizeOf(x.re, -1), {one, zero},
             [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
               const Complex next{Gather(x.re, i, -1), Gather(x.im, i, -1)};
               const Complex z = Complex{s[0], s[1]} * next;
               return {z.re, z.im};
             });
  return {product[0], product[1]};
}

template <typename T>
struct Determinant {
  T sign;
  Expr log;
};

template <typename T>
Determinant<T> DeterminantOf(const T& a) {
  const LuFactorsOf<T> f = Lu(a);
  const T diagonal = DiagonalOf(f.lu);
  return {ProductOf(Sign(diagonal)) * SwapSign(f.pivots), Sum(Log(Abs(diagonal)), -1)};
}

// The number of the first pivot that is 0, from 1; or 0.
Expr InfoOf(const Expr& zero_pivots) {
  const Expr bad = zero_pivots.To(DType::kInt64);
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
template <typename T>
Expr InfoOf(const LuFactorsOf<T>& f) {
  return InfoOf(IsZeroNumber(DiagonalOf(f.lu)));
}

TorchHandler Det(std::string_view a) {
  return OfEitherKind([a]<typename T>(TorchCall& c, std::type_identity<T>) -> Values {
    Matrices of(c);
    const LuFactorsOf<T> f = Lu(of.In<T>(a));
    return of.OutFirst({ProductOf(DiagonalOf(f.lu)) * SwapSign(f.pivots)});
  });
}

TorchHandler SlogDet(std::string_view a) {
  return OfEitherKind([a]<typename T>(TorchCall& c, std::type_identity<T>) -> Values {
    Matrices of(c);
    const Determinant<T> d = DeterminantOf(of.In<T>(a));
    return of.OutFirst({d.sign, d.log});
  });
}

template <typename T>
Values LogDet(TorchCall& c, std::type_identity<T>) {
  Matrices of(c);
  const Determinant<T> d = DeterminantOf(of.In<T>("self"));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<T, Complex>) {
    return of.Out({Complex{d.log, Where(IsZeroNumber(d.sign), kNan, Angle(d.sign))}});
  } else {
    return of.Out({Where(d.sign == -1, kNan, d.log)});
  }
}

TorchHandler Inv(std::string_view a) {
  return OfEitherKind([a]<typename T>(TorchCall& c, std::type_identity<T>) -> Values {
    Matrices of(c);
    c.Ignore({"check_errors"});
    const T x = of.In<T>(a);
    const LuFactorsOf<T> f = Lu(x);
    return of.Out({SolveLu(f, IdentityLike(x)), InfoOf(f)});
  });
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

template <typename T>
Values LinalgSolve(TorchCall& c, std::type_identity<T>) {
  Matrices of(c);
  c.Ignore({"check_errors"});
  const T a = of.In<T>("A");
  T b = of.Operand<T>("B");
  const bool left = c.Bool("left", true), vector = IsVector(PlacesOfMatrix(a), PlacesOfMatrix(b));
  if (vector) b = EachMatrixPart(b, [](const Expr& part) { return Unsqueeze(part, {-1}); });
  const bool turned = !left && !vector;
  const LuFactorsOf<T> f = Lu(turned ? TurnedMatrix(a) : a);
  T x = SolveLu(f, turned ? TurnedMatrix(b) : b);
  if (turned) x = TurnedMatrix(x);
  if (vector) x = EachMatrixPart(x, [](const Expr& part) { return Squeeze(part, {-1}); });
  if (c.num_outputs() == 2) return of.Out({x, InfoOf(f)});
  return of.OutFirst({x});
}

TorchHandler LuFactor(std::string_view a) {
  return OfEitherKind([a]<typename T>(TorchCall& c, std::type_identity<T>) -> Values {
    Matrices of(c);
    c.Ignore({"check_errors"});
    const bool pivot = c.Bool("pivot", true);
    if (!pivot) return c.Fail(Unimplemented("LU without pivots"));
    const LuFactorsOf<T> f = Lu(of.In<T>(a));
    return of.Out({f.lu, f.pivots + 1, InfoOf(f)});
  });
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

TorchHandler LuSolve(std::string_view lu_name, std::string_view pivots_name,
                     std::string_view b_name) {
  return OfEitherKind([=]<typename T>(TorchCall& c, std::type_identity<T>) -> Values {
    Matrices of(c);
    const T lu = of.In<T>(lu_name);
    const Expr& like = PlacesOfMatrix(lu);
    const Expr pivots = c.Tensor(pivots_name);
    T b = of.In<T>(b_name);
    const bool left = c.Bool("left", true), adjoint = c.Bool("adjoint", false);
    // X A = B is A^T X^T = B^T, and A^H X = B is A^T conj(X) = conj(B).
    const bool turned = adjoint == left;
    if (!left) b = TurnedMatrix(b);
    if (adjoint) b = ConjugatedMatrix(b);
    b = EachMatrixPart(b, [&](const Expr& part) { return WithBatchOf(part, like); });
    const LuFactorsOf<T> f{lu, RowsOfPivots(pivots, SizeOf(like, -2)), pivots};
    T x = b;
    if (turned) {
      const T lower = TurnedMatrix(lu);
      x = SolveTriangular(lower, SolveTriangular(lower, b, false, false), true, true);
      const Expr p = PermutationOf(f.rows, kSolveType);
      x = EachMatrixPart(x, [&](const Expr& part) { return MatMul(p, part); });
    } else {
      x = SolveLu(f, b);
    }
    if (adjoint) x = ConjugatedMatrix(x);
    return of.Out({left ? x : TurnedMatrix(x)});
  });
}

// --- Triangles --------------------------------------------------------------------------------

template <typename T>
Values LinalgSolveTriangular(TorchCall& c, std::type_identity<T>) {
  Matrices of(c);
  const T a = of.In<T>("self"), b = of.In<T>("B");
  const bool upper = c.Bool("upper"), left = c.Bool("left", true);
  const bool unit = c.Bool("unitriangular", false);
  if (left) return of.Out({SolveTriangular(a, b, upper, unit)});
  return of.Out({TurnedMatrix(SolveTriangular(TurnedMatrix(a), TurnedMatrix(b), !upper, unit))});
}

Values TriangularSolve(TorchCall& c) {
  Matrices of(c);
  const Expr b = of.In("self"), a = of.In("A");
  const bool upper = c.Bool("upper", true), turned = c.Bool("transpose", false);
  const bool unit = c.Bool("unitriangular", false);
  const Expr x = SolveTriangular(turned ? SwapLast(a) : a, b, upper != turned, unit);
  return of.Out({x, WithBatchOf(a, b)});
}

template <typename T>
Values CholeskyHandler(TorchCall& c, std::type_identity<T>) {
  Matrices of(c);
  c.Ignore({"check_errors"});
  const T a = of.In<T>("self");
  const bool upper = c.Bool("upper", false);
  const Cholesky<T> f = CholeskyOf(upper ? AdjointMatrix(a) : a);
  return of.Out({upper ? AdjointMatrix(f.l) : f.l, f.info});
}

template <typename T>
Values CholeskySolve(TorchCall& c, std::type_identity<T>) {
  Matrices of(c);
  const T b = of.In<T>("self"), factor = of.In<T>("input2");
  const T l = c.Bool("upper", false) ? AdjointMatrix(factor) : factor;
  const T y = SolveTriangular(l, b, false, false);
  return of.Out({SolveTriangular(AdjointMatrix(l), y, true, false)});
}

// L^-H L^-1. LAPACK takes the diagonal of L^-1 to be real.
template <typename T>
Values CholeskyInverse(TorchCall& c, std::type_identity<T>) {
  Matrices of(c);
  const T factor = of.In<T>("self");
  const T l = c.Bool("upper", false) ? AdjointMatrix(factor) : factor;
  const T inverse = SolveTriangular(l, IdentityLike(l), false, false);
  if constexpr (std::is_same_v<T, Complex>) {
    const Complex x{inverse.re, Lower(inverse.im, false)};
    return of.Out({ComplexMatMul(AdjointMatrix(x), x)});
  } else {
    return of.Out({MatMul(SwapLast(inverse), inverse)});
  }
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
  const Expr log = Log(Max(Where(ordinary, norm, 1), 1)) * (1 / portable::log(2));
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

// Templates of handlers as handlers.
#define X2IR_OF_EITHER_(name) OfEitherKind([](TorchCall& c, auto kind) { return name(c, kind); })

X2IR_TORCH(det)
    .From("aten::det.default", Det("self"))
    .From({"aten::linalg_det.default", "aten::_linalg_det.default"}, Det("A"))
    .From("aten::slogdet.default", SlogDet("self"))
    .From({"aten::linalg_slogdet.default", "aten::_linalg_slogdet.default"}, SlogDet("A"))
    .From("aten::logdet.default", X2IR_OF_EITHER_(LogDet));
X2IR_TORCH(loop)
    .From("aten::inverse.default", Inv("self"))
    .From({"aten::linalg_inv.default", "aten::linalg_inv_ex.default"}, Inv("A"))
    .From({"aten::linalg_solve.default", "aten::linalg_solve_ex.default",
           "aten::_linalg_solve_ex.default"},
          X2IR_OF_EITHER_(LinalgSolve))
    .From({"aten::linalg_lu_factor.default", "aten::linalg_lu_factor_ex.default"}, LuFactor("A"))
    .From("aten::_lu_with_info.default", LuFactor("self"))
    .From("aten::linalg_lu.default", LinalgLu)
    .From("aten::lu_unpack.default", LuUnpack)
    .From("aten::linalg_lu_solve.default", LuSolve("LU", "pivots", "B"))
    .From("aten::lu_solve.default", LuSolve("LU_data", "LU_pivots", "self"))
    .From("aten::linalg_solve_triangular.default", X2IR_OF_EITHER_(LinalgSolveTriangular))
    .From("aten::triangular_solve.default", TriangularSolve)
    .From({"aten::cholesky.default", "aten::linalg_cholesky.default",
           "aten::linalg_cholesky_ex.default"},
          X2IR_OF_EITHER_(CholeskyHandler))
    .From("aten::cholesky_solve.default", X2IR_OF_EITHER_(CholeskySolve))
    .From("aten::cholesky_inverse.default", X2IR_OF_EITHER_(CholeskyInverse))
    .From("aten::linalg_qr.default", LinalgQr)
    .From("aten::qr.default", OldQr)
    .From("aten::geqrf.default", Geqrf)
    .From("aten::linalg_householder_product.default", HouseholderProduct("input", "tau"))
    .From("aten::orgqr.default", HouseholderProduct("self", "input2"))
    .From("aten::ormqr.default", Ormqr)
    .From({"aten::linalg_matrix_exp.default", "aten::matrix_exp.default"}, MatrixExp);
X2IR_TORCH(matmul).From({"aten::linalg_matrix_power.default", "aten::matrix_power.default"},
                        MatrixPower);

#undef X2IR_OF_EITHER_

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
