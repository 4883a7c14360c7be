// Linear algebra written out, step by step, for matrices of a known number of rows. All in float64,
// as evaluation does it.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

// More rows are more nodes than a model should have.
constexpr int64_t kMaxRows = 32;

// Pieces of matrices in the last two axes.
class Matrices {
 public:
  static absl::StatusOr<Matrices> Of(Rewrite& r) {
    const Shape* x = r.in(0)->shape();
    if (!x || x->rank() < 2 || !IsFloating(r.dtype(0))) {
      return CannotExpress("the shape or the element type is not known");
    }
    const Dim n = (*x)[x->rank() - 1];
    if (!n.is_static() || n.value() < 1 || n.value() > kMaxRows) {
      return CannotExpress("only matrices of 1 to ", kMaxRows, " rows are written out");
    }
    return Matrices(r.b, n.value(), x->rank());
  }

  Expr Wide(Value* v) { return Expr(b, v).To(DType::kFloat64); }
  Expr Row(const Expr& m, int64_t i) { return Slice(m, rank - 2, i, i + 1); }
  Expr Column(const Expr& m, int64_t i) { return Slice(m, rank - 1, i, i + 1); }
  Expr Element(const Expr& m, int64_t row, int64_t column) { return Column(Row(m, row), column); }
  // 0 .. n - 1 down the rows, or along the columns.
  Expr Rows() { return Unsqueeze(Columns(), {1}); }
  Expr Columns() { return Counting(b, n, DType::kInt64); }

  Builder& b;
  const int64_t n, rank;

 private:
  Matrices(Builder& builder, int64_t rows, int64_t of) : b(builder), n(rows), rank(of) {}
};

absl::StatusOr<Values> LuByColumns(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Matrices m, Matrices::Of(r));
  Expr x = m.Wide(r.in(0));
  const Expr sizes = ShapeOf(x);
  const Expr rows = m.Rows();
  Expr order = Expand(rows, ShapeOf(m.Column(x, 0)));  // [.., n, 1]
  for (int64_t i = 0; i + 1 < m.n; ++i) {
    const auto k = static_cast<double>(i);
    // The rows k and that of the pivot change places.
    Expr size = Abs(m.Column(x, i));
    size = Where(rows < k, size.Number(-1), size);
    const Expr pivot = size.Op("arg_max", {}, {{"axis", m.rank - 2}, {"keepdims", 1}});
    Expr from = Where(rows == pivot, rows.Number(k), rows);
    from = Where(rows == k, pivot, from);
    x = GatherElements(x, Expand(from, sizes), m.rank - 2);
    order = GatherElements(order, from, m.rank - 2);
    // What is below loses its multiple of row k. A column of zeros is left as it is.
    const Expr top = m.Element(x, i, i);
    const Expr zero = top == 0;
    const Expr factors = m.Column(x, i) / Where(zero, top.Number(1), top);
    Expr left = x - factors * m.Row(x, i);
    const Expr below = rows > k;
    const Expr at = m.Columns() == k;
    const Expr kept = Not(below) | Not(at | (m.Columns() > k));
    left = Where(kept | zero, x, left);
    x = Where((below & at) & Not(zero), factors, left);
  }
  return Values{x.To(r.dtype(0)), Squeeze(order, {m.rank - 1})};
}
X2IR_LOWERING(lu, LuByColumns);

// Singular values alone: which signs the vectors have is not defined.
absl::StatusOr<Values> SingularValuesAlone(Rewrite& r) {
  for (size_t i = 1; i < r.node.num_outputs(); ++i) {
    if (r.node.output(i) && !r.node.output(i)->is_unused()) {
      return CannotExpress("singular vectors have no defined signs; the values alone are written");
    }
  }
  const Dim rows = DimAt(r.in(0), -2), columns = DimAt(r.in(0), -1);
  if (!IsFloating(r.dtype(0)) || !rows.is_static() || !columns.is_static() || rows.value() < 1 ||
      columns.value() < 1) {
    return CannotExpress("the element type or the sizes of the matrices are not known, or 0");
  }
  const Expr x = Expr(r.b, r.in(0)).To(DType::kFloat64);
  const Expr s = SvdOf(columns.value() > rows.value() ? SwapLast(x) : x).s;
  Values values = {s.To(r.dtype(0))};
  for (size_t i = 1; i < r.node.num_outputs(); ++i) {
    values.push_back(r.node.output(i) ? Zeros(r.b, r.dtype(0), {0}).value() : nullptr);
  }
  return values;
}
X2IR_LOWERING(svd, SingularValuesAlone);

// A row of the result after another.
absl::StatusOr<Values> SolveByRows(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Matrices m, Matrices::Of(r));
  const bool upper = r.attrs().Int("upper") != 0, unit = r.attrs().Int("unit") != 0;
  const Expr a = m.Wide(r.in(0)), sides = m.Wide(r.in(1));
  std::vector<Value*> rows;  // from the first one on, in the result's order
  for (int64_t step = 0; step < m.n; ++step) {
    const int64_t i = upper ? m.n - 1 - step : step;
    Expr row = m.Row(sides, i);
    if (!rows.empty()) {
      const Expr known = Concat(r.b, rows, m.rank - 2);
      const Expr weights = Slice(m.Row(a, i), m.rank - 1, upper ? i + 1 : 0, upper ? m.n : i);
      row = row - weights.Op("matmul", {known});
    }
    if (!unit) row = row / m.Element(a, i, i);
    rows.insert(upper ? rows.begin() : rows.end(), row);
  }
  return Values{Concat(r.b, rows, m.rank - 2).To(r.dtype(0))};
}
X2IR_LOWERING(triangular_solve, SolveByRows);

absl::StatusOr<Values> SolveByLu(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Matrices m, Matrices::Of(r));
  Builder& b = r.b;
  const Values lu = b.Ops("lu", {m.Wide(r.in(0))}, {}, 2);
  const Expr sides = m.Wide(r.in(1)), factors(b, lu[0]);
  const Expr rows = Unsqueeze({b, lu[1]}, {m.rank - 1}), order = Expand(rows, ShapeOf(sides));
  Expr y = GatherElements(sides, order, m.rank - 2);
  y = factors.Op("triangular_solve", {y}, {{"unit", 1}});
  y = factors.Op("triangular_solve", {y}, {{"upper", 1}});
  return Values{y.To(r.dtype(0))};
}
X2IR_LOWERING(solve, SolveByLu);

absl::StatusOr<Values> CholeskyByColumns(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Matrices m, Matrices::Of(r));
  Expr x = m.Wide(r.in(0));
  const Expr rows = m.Rows();
  std::vector<Value*> columns;
  for (int64_t i = 0; i < m.n; ++i) {
    const auto k = static_cast<double>(i);
    const Expr root = Sqrt(m.Element(x, i, i));
    Expr column = m.Column(x, i) / root;
    const Expr at = rows == k;
    column = Where(at, root, column);
    column = Where(rows < k, column.Number(0), column);
    columns.push_back(column);
    if (i + 1 == m.n) break;
    x = x - column * SwapLast(column);
  }
  return Values{Concat(r.b, columns, m.rank - 1).To(r.dtype(0))};
}
X2IR_LOWERING(cholesky, CholeskyByColumns);

}  // namespace
}  // namespace x2ir
