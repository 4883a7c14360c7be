#include "x2ir/builder/matrices.h"

#include <limits>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr DType kLong = DType::kInt64;

Expr Column(const Expr& v) { return Unsqueeze(v, {-1}); }
Expr Row(const Expr& v) { return Unsqueeze(v, {-2}); }
Expr SizeMin(const Expr& a) { return Min(SizeOf(a, -2), SizeOf(a, -1)); }
Expr ArgMax(const Expr& x) {
  return x.Op("arg_max", {}, {{"axis", x.rank() - 1}, {"keepdims", 1}, {"select_last_index", 0}});
}
// x on the shape of a batch of vectors of `a`: int64 zeros of which loops are begun.
Expr BatchZeros(const Expr& a, const Expr& n) {
  const int64_t rank = a.rank();
  Expr shape = Unsqueeze(n, {0});
  if (rank > 2) {
    shape =
        a.Op("shape", {}, {{"start", 0}, {"end", rank - 2}}).Op("concat", {shape}, {{"axis", 0}});
  }
  return Expand(n * 0, shape);
}

// --- Real and complex numbers -------------------------------------------------------------------

// What the decompositions do with the numbers of a matrix, once for each kind of them.
const Expr& PlacesOf(const Expr& x) { return x; }  // a tensor of the same shape
const Expr& PlacesOf(const Complex& x) { return x.re; }
template <typename Fn>
Expr EachPartOf(const Expr& x, Fn fn) {
  return fn(x);
}
template <typename Fn>
Complex EachPartOf(const Complex& x, Fn fn) {
  return {fn(x.re), fn(x.im)};
}
// Those where the test holds, zeros or ones elsewhere.
Expr WhereElseZero(const Expr& test, const Expr& x) { return Where(test, x, 0); }
Complex WhereElseZero(const Expr& test, const Complex& x) {
  return {Where(test, x.re, 0), Where(test, x.im, 0)};
}
Expr WhereElseOne(const Expr& test, const Expr& x) { return Where(test, x, 1); }
Complex WhereElseOne(const Expr& test, const Complex& x) {
  return {Where(test, x.re, 1), Where(test, x.im, 0)};
}
Expr Chosen(const Expr& test, const Expr& x, const Expr& y) { return Where(test, x, y); }
Complex Chosen(const Expr& test, const Complex& x, const Complex& y) {
  return {Where(test, x.re, y.re), Where(test, x.im, y.im)};
}
Expr AreZero(const Expr& x) { return x == 0; }
Expr AreZero(const Complex& x) { return (x.re == 0) & (x.im == 0); }
Expr PivotSize(const Expr& x) { return Abs(x); }
Expr PivotSize(const Complex& x) { return Abs(x.re) + Abs(x.im); }
Expr RealPart(const Expr& x) { return x; }
Expr RealPart(const Complex& x) { return x.re; }
Expr Conjugate(const Expr& x) { return x; }
Complex Conjugate(const Complex& x) { return Conj(x); }
Expr OverReal(const Expr& x, const Expr& y) { return x / y; }
Complex OverReal(const Complex& x, const Expr& y) { return {x.re / y, x.im / y}; }
// Real numbers as numbers of the kind.
Expr OfReal(const Expr& x, const Expr&) { return x; }
Complex OfReal(const Expr& x, const Complex&) { return {x, x.Number(0)}; }

template <typename T>
T ColumnOf(const T& x) {
  return EachPartOf(x, [](const Expr& part) { return Column(part); });
}
template <typename T>
T RowOf(const T& x) {
  return EachPartOf(x, [](const Expr& part) { return Row(part); });
}
template <typename T>
T At(const T& x, const Expr& i, int64_t axis) {
  return EachPartOf(x, [&](const Expr& part) { return Gather(part, i, axis); });
}
template <typename T>
T WithBatch(const T& x, const Expr& like) {
  return EachPartOf(x, [&](const Expr& part) { return WithBatchOf(part, like); });
}

// What loops carry: the parts of x, then the rest.
std::vector<Expr> Carried(const Expr& x, std::vector<Expr> rest = {}) {
  rest.insert(rest.begin(), x);
  return rest;
}
std::vector<Expr> Carried(const Complex& x, std::vector<Expr> rest = {}) {
  rest.insert(rest.begin(), {x.re, x.im});
  return rest;
}
Expr FirstOf(const std::vector<Expr>& carried, const Expr&) { return carried[0]; }
Complex FirstOf(const std::vector<Expr>& carried, const Complex&) {
  return {carried[0], carried[1]};
}

}  // namespace

Expr RowNumbers(const Expr& a) { return Unsqueeze(Iota(SizeOf(a, -2)), {-1}); }
Expr ColumnNumbers(const Expr& a) { return Unsqueeze(Iota(SizeOf(a, -1)), {0}); }
Expr Lower(const Expr& a, bool with_diagonal) {
  const Expr r = RowNumbers(a), c = ColumnNumbers(a);
  return Where(with_diagonal ? c <= r : c < r, a, 0);
}
Expr Upper(const Expr& a) { return Where(ColumnNumbers(a) >= RowNumbers(a), a, 0); }
Expr DiagonalOf(const Expr& a) {
  const Expr n = Iota(SizeMin(a));
  const int64_t rank = a.rank();
  Expr index = Unsqueeze(n, {-1});
  const Expr rows = Gather(a, n, rank - 2);
  if (rank > 2) {
    const Expr batch = a.Op("shape", {}, {{"start", 0}, {"end", rank - 2}});
    index = Expand(index, batch.Op("concat", {Ints(a.builder(), {1, 1})}, {{"axis", 0}}));
  }
  return Squeeze(GatherElements(rows, index, rank - 1), {rank - 1});
}
Expr IdentityLike(const Expr& a) {
  const Expr one = (RowNumbers(a) == ColumnNumbers(a)).To(a.dtype());
  return Expand(one, ShapeOf(a));
}
Complex DiagonalOf(const Complex& a) { return {DiagonalOf(a.re), DiagonalOf(a.im)}; }
Complex IdentityLike(const Complex& a) { return {IdentityLike(a.re), a.im * 0}; }
Expr WithBatchOf(const Expr& x, const Expr& like) {
  const int64_t rank = like.rank();
  if (rank <= 2) return x;
  const Expr batch = like.Op("shape", {}, {{"start", 0}, {"end", rank - 2}});
  return Expand(x, batch.Op("concat", {Ints(x.builder(), {1, 1})}, {{"axis", 0}}));
}

namespace {

template <typename T>
LuFactorsOf<T> LuBy(const T& a, bool pivot) {
  const Expr& like = PlacesOf(a);
  const Expr rows = Iota(SizeOf(like, -2)), columns = Iota(SizeOf(like, -1));
  const Expr steps = SizeMin(like), shape = ShapeOf(like), places = Iota(steps);
  const Expr r = Unsqueeze(rows, {-1}), c = Unsqueeze(columns, {0});
  const std::vector<Expr> start =
      Carried(a, {BatchZeros(like, SizeOf(like, -2)) + rows, BatchZeros(like, steps) + places});
  const std::vector<Expr> done =
      Rounds(steps, start, [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
        T x = FirstOf(s, a);
        Expr from = s[s.size() - 2], pivots = s.back();
        if (pivot) {
          // The largest element of the column, from the diagonal on, moves to the diagonal.
          const Expr size = PivotSize(At(x, i, -1));
          const Expr best = ArgMax(Where(rows >= i, size, -1));
          const Expr swap = Where(rows == i, best, Where(rows == best, i, rows));
          const Expr order = Expand(Column(swap), shape);
          x = EachPartOf(x, [&](const Expr& part) { return GatherElements(part, order, -2); });
          from = GatherElements(from, swap, -1);
          pivots = Where(places == i, best, pivots);
        }
        const T column = At(x, i, -1), row = At(x, i, -2);
        const T head = ColumnOf(At(row, i, -1));
        const T factors = column / WhereElseOne(Not(AreZero(head)), head);
        const T below = ColumnOf(WhereElseZero(rows > i, factors));
        const T rest = x - below * RowOf(WhereElseZero(columns > i, row));
        return Carried(Chosen((r > i) & (c == i), below, rest), {from, pivots});
      });
  return {FirstOf(done, a), done[done.size() - 2], done.back()};
}

}  // namespace

LuFactors Lu(const Expr& a, bool pivot) { return LuBy(a, pivot); }
LuFactorsOf<Complex> Lu(const Complex& a, bool pivot) { return LuBy(a, pivot); }

Expr RowsOfPivots(const Expr& pivots, const Expr& n) {
  const Expr rows = Iota(n);
  const Expr all = pivots.To(kLong) - 1;
  const Expr start = BatchZeros(Unsqueeze(all, {-1}), n) + rows;
  return Rounds(SizeOf(all, -1), {start},
                [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
                  const Expr best = Column(Gather(all, i, -1));
                  const Expr swap = Where(rows == i, best, Where(rows == best, i, rows));
                  return {GatherElements(s[0], swap, -1)};
                })[0];
}
Expr TakeRows(const Expr& b, const Expr& rows) {
  return GatherElements(b, Expand(Column(rows), ShapeOf(b)), -2);
}
Expr PermutationOf(const Expr& rows, DType t) {
  return (Column(Iota(SizeOf(rows, -1))) == Row(rows)).To(t);
}

namespace {

template <typename T>
T SolveTriangularBy(const T& a, const T& b, bool upper, bool unit) {
  const Expr& like = PlacesOf(a);
  const Expr n = SizeOf(like, -1), rows = Iota(n), r = Unsqueeze(rows, {-1});
  const std::vector<Expr> done =
      Rounds(n, Carried(WithBatch(b, like)),
             [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
               const T x = FirstOf(s, a);
               const Expr k = upper ? n - 1 - i : i;
               const T column = At(a, k, -1);
               T row = At(x, k, -2);
               if (!unit) row = row / ColumnOf(At(column, k, -1));
               const T rest = ColumnOf(WhereElseZero(upper ? rows < k : rows > k, column));
               return Carried(Chosen(r == k, RowOf(row), x - rest * RowOf(row)));
             });
  return FirstOf(done, a);
}
template <typename T>
T SolveLuBy(const LuFactorsOf<T>& f, const T& b) {
  const T wide = WithBatch(b, PlacesOf(f.lu));
  const Expr rows = Squeeze(WithBatchOf(Column(f.rows), PlacesOf(wide)), {-1});
  const T y = EachPartOf(wide, [&](const Expr& part) { return TakeRows(part, rows); });
  return SolveTriangular(f.lu, SolveTriangular(f.lu, y, false, true), true, false);
}
template <typename T>
T SolveBy(const T& a, const T& b) {
  const T wide = WithBatch(a, PlacesOf(b));
  return SolveLu(Lu(wide), WithBatch(b, PlacesOf(wide)));
}

}  // namespace

Expr SolveTriangular(const Expr& a, const Expr& b, bool upper, bool unit) {
  return SolveTriangularBy(a, b, upper, unit);
}
Complex SolveTriangular(const Complex& a, const Complex& b, bool upper, bool unit) {
  return SolveTriangularBy(a, b, upper, unit);
}
Expr SolveLu(const LuFactors& f, const Expr& b) { return SolveLuBy(f, b); }
Complex SolveLu(const LuFactorsOf<Complex>& f, const Complex& b) { return SolveLuBy(f, b); }
Expr Solve(const Expr& a, const Expr& b) { return SolveBy(a, b); }
Complex Solve(const Complex& a, const Complex& b) { return SolveBy(a, b); }
Expr Inverse(const Expr& a) { return SolveLu(Lu(a), IdentityLike(a)); }
Complex Inverse(const Complex& a) { return SolveLu(Lu(a), IdentityLike(a)); }

namespace {

template <typename T>
Cholesky<T> CholeskyBy(const T& a) {
  const Expr& like = PlacesOf(a);
  const Expr n = SizeOf(like, -1), rows = Iota(n), c = Unsqueeze(rows, {0});
  const Expr none = Squeeze(BatchZeros(like, Int(like.builder(), 1)), {-1});
  const std::vector<Expr> done = Rounds(
      n, Carried(a, {none}), [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
        const T x = FirstOf(s, a);
        const T given = At(x, i, -1);
        const Expr head = RealPart(At(given, i, -1));
        const T column = Chosen(rows == i, OfReal(RealPart(given), a), given);
        const T l = WhereElseZero(rows >= i, OverReal(column, Column(Sqrt(head))));
        const T rest = x - ColumnOf(l) * RowOf(Conjugate(WhereElseZero(rows > i, l)));
        const Expr first = (s.back() == 0) & Not(head > 0);
        return Carried(Chosen(c == i, ColumnOf(l), rest), {Where(first, i + 1, s.back())});
      });
  return {FirstOf(done, a), done.back().To(DType::kInt32)};
}

}  // namespace

Cholesky<Expr> CholeskyOf(const Expr& a) { return CholeskyBy(a); }
Cholesky<Complex> CholeskyOf(const Complex& a) { return CholeskyBy(a); }

QrFactors Qr(const Expr& a) {
  const Expr rows = Iota(SizeOf(a, -2)), columns = Iota(SizeOf(a, -1)), steps = SizeMin(a);
  const Expr r = Unsqueeze(rows, {-1}), c = Unsqueeze(columns, {0}), places = Iota(steps);
  const std::vector<Expr> done =
      Rounds(steps, {a, BatchZeros(a, steps).To(a.dtype())},
             [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
               const Expr column = Gather(s[0], i, -1);
               const Expr below = Where(rows > i, column, 0);
               const Expr alpha = Column(Gather(column, i, -1));
               const Expr squares = Sum(below * below, -1, true);
               const Expr flat = squares == 0;
               const Expr norm = Sqrt(alpha * alpha + squares);
               const Expr beta = Where(flat, alpha, Where(alpha < 0, norm, -norm));
               const Expr tau = Where(flat, 0, (beta - alpha) / Where(flat, 1, beta));
               const Expr tail = below / Where(flat, 1, alpha - beta);
               const Expr v = Column(Where(rows == i, 1, tail));
               const Expr w = Where(c > i, Sum(v * s[0], -2, true), 0);
               const Expr rest = s[0] - Column(tau) * v * w;
               const Expr kept = Where(r == i, Column(beta), Where(r > i, Column(tail), rest));
               return {Where(c == i, kept, rest), Where(places == i, tau, s[1])};
             });
  return {done[0], done[1]};
}
Expr ApplyQ(const QrFactors& f, const Expr& x, bool transpose) {
  const Expr rows = Iota(SizeOf(f.a, -2)), count = SizeOf(f.tau, -1);
  return Rounds(count, {x}, [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
    const Expr k = transpose ? i : count - 1 - i;
    const Expr column = Gather(f.a, k, -1);
    const Expr v = Column(Where(rows == k, 1, Where(rows > k, column, 0)));
    const Expr tau = Column(Column(Gather(f.tau, k, -1)));
    return {s[0] - tau * v * Sum(v * s[0], -2, true)};
  })[0];
}

Svd SvdOf(const Expr& a) {
  Builder& b = a.builder();
  const int64_t rank = a.rank();
  const Dim n = DimAt(a, -1), rows = DimAt(a, -2);
  constexpr int64_t kLimit = 64;
  if (!n.is_static() || !rows.is_static() || n.value() > kLimit) {
    b.Fail(
        Unimplemented("singular values where both sizes of the matrices are not known, or "
                      "more than ",
                      kLimit));
    return {Gather(a, Int(b, 0), -2), a, a};
  }
  // Every pair of columns in turn is made orthogonal; so many rounds of all pairs are enough.
  constexpr int64_t kSweeps = 12;
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < n.value(); ++i) {
    for (int64_t j = i + 1; j < n.value(); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  const Expr c = ColumnNumbers(a);
  const Expr identity = (SwapLast(c) == c).To(a.dtype());
  std::vector<Expr> done = {a, WithBatchOf(identity, a)};
  if (!first.empty()) {
    const int64_t pairs = static_cast<int64_t>(first.size());
    const Expr ps = Ints(b, first), qs = Ints(b, second);
    done = Rounds(Int(b, kSweeps * pairs), done,
                  [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
                    const Expr pair = Mod(i, i.Number(static_cast<double>(pairs)));
                    const Expr p = Gather(ps, pair, 0), q = Gather(qs, pair, 0);
                    const Expr x = Gather(s[0], p, -1), y = Gather(s[0], q, -1);
                    const Expr xx = Sum(x * x, -1, true), yy = Sum(y * y, -1, true);
                    const Expr xy = Sum(x * y, -1, true);
                    const Expr apart = xy == 0;
                    const Expr zeta = (yy - xx) / (2 * Where(apart, 1, xy));
                    const Expr size = 1 / (Abs(zeta) + Sqrt(1 + zeta * zeta));
                    const Expr t = Where(apart, 0, Where(zeta < 0, -size, size));
                    const Expr cosine = 1 / Sqrt(1 + t * t);
                    const Expr sine = cosine * t;
                    const auto turned = [&](const Expr& g) {
                      const Expr u = Gather(g, p, -1), w = Gather(g, q, -1);
                      return Where(c == p, Column(cosine * u - sine * w),
                                   Where(c == q, Column(sine * u + cosine * w), g));
                    };
                    return {turned(s[0]), turned(s[1])};
                  });
  }
  const Expr norms = Sqrt(Sum(done[0] * done[0], -2));
  const Sorted sorted = TopOf(norms, Ints(b, {n.value()}), rank - 2);
  const Expr order = Unsqueeze(sorted.indices, {-2});
  const auto ordered = [&](const Expr& g) {
    return GatherElements(g, Expand(order, ShapeOf(g)), -1);
  };
  return {sorted.values, ordered(done[0]), ordered(done[1])};
}

Expr RealFormOf(const Complex& a) {
  Builder& b = a.re.builder();
  const int64_t last = a.re.rank() - 1;
  const auto beside = [&](const Expr& x, const Expr& y) { return Concat(b, {x, y}, last); };
  return Concat(b, {beside(a.re, -a.im), beside(a.im, a.re)}, last - 1);
}
Complex ComplexOfRealForm(const Expr& a) {
  const Expr rows = SizeOf(a, -2), columns = SizeOf(a, -1);
  const auto half = [](const Expr& n) { return n.Op("div", {Int(n.builder(), 2)}); };
  const Expr left = Gather(a, Iota(half(columns)), -1), r = Iota(half(rows));
  return {Gather(left, r, -2), Gather(left, r + half(rows), -2)};
}

Expr Symmetric(const Expr& a, bool lower) {
  const Expr r = RowNumbers(a), c = ColumnNumbers(a);
  return Where(lower ? c <= r : c >= r, a, SwapLast(a));
}

Expr EigenvaluesOf(const Expr& a, bool lower) {
  const Expr x = Symmetric(a, lower);
  // Moved so far to the right that all are positive, they are singular values.
  const Expr sums = Sum(Abs(x), -1);
  const Expr far = sums.Op("reduce_max", {Ints(a.builder(), {sums.rank() - 1})}, {{"keepdims", 1}});
  const Expr moved = x + IdentityLike(x) * Unsqueeze(far, {-1});
  const Expr s = SvdOf(moved).s - far;
  // Descending becomes ascending.
  const Expr n = SizeOf(s, -1);
  return Gather(s, n - 1 - Iota(n), -1);
}

}  // namespace x2ir
