// TensorFlow: sparse tensors, which are three: indices [n, rank], values [n] and the shape [rank].
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/indices.h"

namespace x2ir {
namespace {

Value* Column(TfArgs& a, Value* indices, int64_t i) {
  return Gather({a, indices}, a.b().Int(i), 1);
}

// The numbers of the elements in the dense tensor.
Value* Places(TfArgs& a, Value* indices, const std::vector<Value*>& sizes) {
  Value* places = Column(a, indices, 0);
  for (size_t i = 1; i < sizes.size(); ++i) {
    Value* index = Column(a, indices, static_cast<int64_t>(i));
    places = a.Op("add", {a.Op("mul", {places, sizes[i]}), index});
  }
  return places;
}

// The indices that sort the numbers in ascending order; equal numbers keep their order.
Value* Ascending(TfArgs& a, Value* numbers) {
  return a.b().Ops("top_k", {numbers, ShapeOf({a, numbers}, 0)},
                   {{"axis", 0}, {"largest", 0}, {"sorted", 1}}, 2)[1];
}

// Operands: indices, shape, the new shape, of which one size may be -1: what is left.
absl::StatusOr<Values> SparseReshape(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> sizes, Elements(a, a.in(1)));
  const Expr old(a.b(), a.in(1)), asked(a.b(), a.in(2));
  const Expr open = asked == -1.0;
  const Expr known = Reduce(Where(open, 1.0, asked), "reduce_prod", {0});
  const Expr rest = Reduce(old, "reduce_prod", {0}) / Max(known, 1.0);
  Value* shape = Where(open, rest, asked).value();
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> to, Elements(a, shape));
  Value* indices = Stack(a, Unraveled({a, Places(a, a.in(0), sizes)}, to), 1);
  return Values{indices, shape};
}

// In the order of the dense tensor.
absl::StatusOr<Values> SparseReorder(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> sizes, Elements(a, a.in(2)));
  Value* order = Ascending(a, Places(a, a.in(0), sizes));
  return Values{Gather(a.in(0), order, 0), Gather(a.in(1), order, 0)};
}

// Rows without elements get one, of index 0 on all other axes; other elements stay, sorted by rows.
// Also gives which rows were empty, and where each element is now.
absl::StatusOr<Values> SparseFillEmptyRows(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> sizes, Elements(a, a.in(2)));
  Value* indices = a.in(0);
  Value* count = sizes[0];
  Value* row = Column(a, indices, 0);
  Value* ones = a.Op("expand", {a.b().Int(1), ShapeOf({a, row}, 0)});
  Value* filled = CombineRows({a, ones}, {a, row}, {a, count}, "add", {a, a.b().Int(0)});
  Value* empty = a.Op("equal", {filled, a.b().Int(0)});
  Value* rows = a.Op("compress", {Iota({a, count}), empty}, {{"axis", 0}});
  Value* more = Unsqueeze({a, rows}, {1});
  const auto others = static_cast<int64_t>(sizes.size() - 1);
  if (others > 0) {
    more = a.Op("pad", {more, a.b().Ints({0, others}), nullptr, a.b().Ints({1})},
                {{"mode", "constant"}});
  }
  Value* defaults = a.Op("expand", {a.in(3), ShapeOf({a, rows}, 0)});
  Value* all = a.Op("concat", {indices, more}, {{"axis", 0}});
  Value* values = a.Op("concat", {a.in(1), defaults}, {{"axis", 0}});
  Value* order = Ascending(a, Column(a, all, 0));
  // The new index of each element; the elements of the operand come first.
  Value* places = Ascending(a, order);
  Value* kept = a.Op("slice", {places, a.b().Ints({0}), ShapeOf({a, row}, 0), a.b().Ints({0})});
  return Values{Gather({a, all}, order, 0), Gather({a, values}, order, 0), empty, kept};
}

// Dense, with 0 where there is no element. Operand 3: the axes to sum over.
absl::StatusOr<Value*> SparseReduceSum(TfArgs& a) {
  const bool keep = a.Bool("keep_dims", false);
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> sizes, Elements(a, a.in(2)));
  const auto rank = static_cast<int64_t>(sizes.size());
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, KnownAxes(a, 3, rank));
  // None is all.
  const auto goes = [&](int64_t i) {
    return axes.empty() || std::find(axes.begin(), axes.end(), i) != axes.end();
  };
  std::vector<int64_t> left;
  std::vector<Value*> dims;
  for (int64_t i = 0; i < rank; ++i) {
    if (!goes(i)) left.push_back(i);
    if (!goes(i) || keep) dims.push_back(goes(i) ? a.b().Int(1) : sizes[i]);
  }
  Value* values = a.in(1);
  const DType t = values->dtype(), computed = AtLeastFloat32(t);
  a.Require(IsFloating(t) || IsInteger(t), "sums of what are no real numbers");
  if (!a.b().status().ok()) return values;
  values = a.Cast(values, computed);
  Value* sum = nullptr;
  if (left.empty()) {
    sum = Reduce({a, values}, "reduce_sum", {0});
  } else {
    Value* zeros =
        a.Op("expand", {a.b().Scalar(computed, 0), Gather(a.in(2), a.b().Ints(left), 0)});
    sum = ScatterNd({a, zeros}, Gather(a.in(0), a.b().Ints(left), 1), values, "add");
  }
  if (keep) sum = ReshapeTo({a, sum}, Stack(a, dims, 0));
  return a.Cast(sum, t);
}

// The elements with those of a dense tensor at their places, which is spread to the shape.
template <const char* kOp>
Value* WithDense(TfArgs& a) {
  Value* dense = a.Op("expand", {a.in(3), a.in(2)});
  return a.Op(kOp, {a.in(1), a.Op("gather_nd", {dense, a.in(0)}, {{"batch_dims", 0}})});
}
constexpr char kAdd[] = "add", kMul[] = "mul", kDiv[] = "div";

}  // namespace

X2IR_TF(mod).From("SparseReshape", SparseReshape);
X2IR_TF(top_k).From({{"SparseReorder", SparseReorder},
                     {"SparseFillEmptyRows", SparseFillEmptyRows}});
X2IR_TF(scatter_nd).From("SparseReduceSum", SparseReduceSum);
X2IR_TF(gather_nd).From({{"SparseDenseCwiseAdd", WithDense<kAdd>},
                         {"SparseDenseCwiseMul", WithDense<kMul>},
                         {"SparseDenseCwiseDiv", WithDense<kDiv>}});

}  // namespace x2ir
