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
Expr WithBatchOf(const Expr& x, const Expr& like) {
  const int64_t rank = like.rank();
  if (rank <= 2) return x;
  const Expr batch = like.Op("shape", {}, {{"start", 0}, {"end", rank - 2}});
  return Expand(x, batch.Op("concat", {Ints(x.builder(), {1, 1})}, {{"axis", 0}}));
}

LuFactors Lu(const Expr& a, bool pivot) {
  const Expr rows = Iota(SizeOf(a, -2)), columns = Iota(SizeOf(a, -1)), steps = SizeMin(a);
  const Expr shape = ShapeOf(a), r = Unsqueeze(rows, {-1}), c = Unsqueeze(columns, {0});
  const Expr places = Iota(steps);
  const std::vector<Expr> done =
      Rounds(steps, {a, BatchZeros(a, SizeOf(a, -2)) + rows, BatchZeros(a, steps) + places},
             [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
               Expr x = s[0], from = s[1], pivots = s[2];
               if (pivot) {
                 // The largest element of the column, from the diagonal on, moves to the
                 // diagonal.
                 const Expr size = Abs(Gather(x, i, -1));
                 const Expr best = ArgMax(Where(rows >= i, size, -1));
                 const Expr swap = Where(rows == i, best, Where(rows == best, i, rows));
                 x = GatherElements(x, Expand(Column(swap), shape), -2);
                 from = GatherElements(from, swap, -1);
                 pivots = Where(places == i, best, pivots);
               }
               const Expr column = Gather(x, i, -1), row = Gather(x, i, -2);
               const Expr head = Column(Gather(row, i, -1));
               const Expr factors = column / Where(head == 0, 1, head);
               const Expr below = Column(Where(rows > i, factors, 0));
               const Expr rest = x - below * Row(Where(columns > i, row, 0));
               return {Where((r > i) & (c == i), below, rest), from, pivots};
             });
  return {done[0], done[1], done[2]};
}

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

Expr SolveTriangular(const Expr& a, const Expr& b, bool upper, bool unit) {
  const Expr n = SizeOf(a, -1), rows = Iota(n), r = Unsqueeze(rows, {-1});
  return Rounds(n, {WithBatchOf(b, a)},
                [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
                  const Expr k = upper ? n - 1 - i : i;
                  const Expr column = Gather(a, k, -1);
                  Expr row = Gather(s[0], k, -2);
                  if (!unit) row = row / Column(Gather(column, k, -1));
                  const Expr rest = Column(Where(upper ? rows < k : rows > k, column, 0));
                  return {Where(r == k, Row(row), s[0] - rest * Row(row))};
                })[0];
}
Expr SolveLu(const LuFactors& f, const Expr& b) {
  const Expr wide = WithBatchOf(b, f.lu);
  const Expr rows = Squeeze(WithBatchOf(Column(f.rows), wide), {-1});
  const Expr y = TakeRows(wide, rows);
  return SolveTriangular(f.lu, SolveTriangular(f.lu, y, false, true), true, false);
}
Expr Solve(const Expr& a, const Expr& b) {
  const Expr wide = WithBatchOf(a, b);
  return SolveLu(Lu(wide), WithBatchOf(b, wide));
}
Expr Inverse(const Expr& a) { return SolveLu(Lu(a), IdentityLike(a)); }

Cholesky CholeskyOf(const Expr& a) {
  Builder& b = a.builder();
  const Expr n = SizeOf(a, -1), rows = Iota(n), c = Unsqueeze(rows, {0});
  const Expr none = Squeeze(BatchZeros(a, Int(b, 1)), {-1});
  const std::vector<Expr> done =
      Rounds(n, {a, none}, [&](const Expr& i, const std::vector<Expr>& s) -> std::vector<Expr> {
        const Expr column = Gather(s[0], i, -1);
        const Expr head = Gather(column, i, -1);
        const Expr l = Where(rows >= i, column / Column(Sqrt(head)), 0);
        const Expr rest = s[0] - Column(l) * Row(Where(rows > i, l, 0));
        const Expr first = (s[1] == 0) & Not(head > 0);
        return {Where(c == i, Column(l), rest), Where(first, i + 1, s[1])};
      });
  return {done[0], done[1].To(DType::kInt32)};
}

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
