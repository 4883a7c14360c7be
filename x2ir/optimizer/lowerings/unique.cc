// unique by comparing each slice with each other, for targets that lack it (ONNX before opset 11).
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// bool[n,n]: whether row i of rows[n,width] is ordered before row j: it is less where they first
// differ. A NaN is greater than every number.
Value* Before(Builder& b, Value* rows, int64_t width) {
  Value* i = b.Op("unsqueeze", {rows, b.Ints({1}, "axis")});
  Value* j = b.Op("unsqueeze", {rows, b.Ints({0}, "axis")});
  Value *less = b.Op("less", {i, j}), *greater = b.Op("greater", {i, j});
  if (IsFloating(rows->dtype())) {
    Value *nan_i = b.Op("is_nan", {i}), *nan_j = b.Op("is_nan", {j});
    less = b.Op("or", {less, b.Op("and", {b.Op("not", {nan_i}), nan_j})});
    greater = b.Op("or", {greater, b.Op("and", {nan_i, b.Op("not", {nan_j})})});
  }
  if (width > 1) {
    Value* differ = Expr(b, b.Op("or", {less, greater})).To(DType::kInt32);
    Value* first = b.Op("arg_max", {differ}, {{"axis", 2}});
    less = b.Op("gather_elements", {less, first}, {{"axis", 2}});
  }
  return b.Op("squeeze", {less, b.Ints({2}, "axis")});
}

absl::StatusOr<Values> UniqueByComparing(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const DType t = r.dtype(0);
  if (!IsFloating(t) && !IsInteger(t)) return CannotExpress("only numbers are compared");
  // Slices as rows.
  int64_t axis = 0, width = 1;
  Value *x = r.in(0), *rows;
  if (r.attrs().Has("axis")) {
    const int64_t rank = r.rank(0);
    if (rank < 1) return CannotExpress("the rank is not known");
    X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(r.attrs().Int("axis"), rank));
    const Shape& shape = *x->shape();
    const Dim size = shape.NumElements(0, axis) * shape.NumElements(axis + 1, rank);
    if (!size.is_static() || size.value() == 0) {
      return CannotExpress("the sizes of slices are not known to be from 1");
    }
    width = size.value();
    std::vector<int64_t> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    perm.erase(perm.begin() + axis);
    perm.insert(perm.begin(), axis);
    rows = b.Op("flatten", {b.Op("transpose", {x}, {{"perm", perm}})}, {{"axis", 1}});
  } else {
    x = b.Op("reshape", {x, b.Ints({-1}, "flat")});
    rows = b.Op("unsqueeze", {x, b.Ints({1}, "axis")});
  }
  const auto sum = [&](Value* conditions, int64_t over) {
    return b.Op("reduce_sum", {Expr(b, conditions).To(DType::kInt64), b.Ints({over}, "axis")},
                {{"keepdims", 0}});
  };
  Value* before = Before(b, rows, width);
  Value* after = b.Op("transpose", {before}, {{"perm", {1, 0}}});
  Value* same = b.Op("not", {b.Op("or", {before, after})});
  Value* column = math.Get(math.Positions(math.Size(rows, 0)), "positions");
  Value* row = b.Op("unsqueeze", {column, b.Ints({1}, "axis")});
  // Rows that equal no earlier row represent their group.
  Value* repeats = sum(b.Op("and", {same, b.Op("less", {column, row})}), 1);
  Value* first = b.Op("not", {Expr(b, repeats).To(DType::kBool)});
  Value* firsts = b.Op("squeeze", {b.Op("non_zero", {first}), b.Ints({0}, "axis")});
  // A group's place is how many groups precede it: smaller ones, or ones that begin earlier.
  Value* precedes = before;
  if (r.attrs().Int("sorted") == 0) {
    Value* begin =
        b.Op("arg_max", {Expr(b, same).To(DType::kInt32)}, {{"axis", 1}, {"keepdims", 0}});
    precedes = b.Op("less", {row, begin});
  }
  Value* is_first = b.Op("unsqueeze", {first, b.Ints({1}, "axis")});
  Value* inverse = sum(b.Op("and", {is_first, precedes}), 0);
  const auto pick = [&](Value* from, Value* at) {
    return b.Op("gather", {from, at}, {{"axis", 0}});
  };
  Value* order = b.Op("scatter_elements", {firsts, pick(inverse, firsts), firsts}, {{"axis", 0}});
  const auto wants = [&](size_t i) { return i < r.num_outputs() && r.node.output(i); };
  return Values{b.Op("gather", {x, order}, {{"axis", axis}}), order, inverse,
                wants(3) ? pick(sum(same, 1), order) : nullptr};
}
X2IR_LOWERING(unique, UniqueByComparing);

}  // namespace
}  // namespace x2ir
