// TensorFlow: reductions of rows by segment, and counting.
#include <limits>
#include <string_view>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

enum class Kind { kSum, kMean, kSqrtN, kProd, kMax, kMin };

struct Combined {
  const char* reduction;
  double first;  // the initial value
};
Combined HowTo(Kind kind) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (kind) {
    case Kind::kProd: return {"mul", 1};
    case Kind::kMax: return {"max", -kInf};
    case Kind::kMin: return {"min", kInf};
    default: return {"add", 0};
  }
}

Value* BroadcastToRows(TfArgs& a, Value* per_row, Value* rows) {
  std::vector<int64_t> behind;
  for (int64_t i = 1; i < Expr(a, rows).rank(); ++i) behind.push_back(i);
  return Unsqueeze({a, per_row}, behind);
}

// Segments of which those without rows are 0 (1 as products). A null count: up to the last one
// that has rows, since the numbers are sorted.
Value* Segments(TfArgs& a, Kind kind, Value* rows, Value* numbers, Value* count) {
  const DType t = rows->dtype(), computed = AtLeastFloat32(t);
  a.Require(IsFloating(t) || IsInteger(t), "segments of what are no real numbers");
  if (!a.b().status().ok()) return rows;
  numbers = a.AsInt64(numbers);
  if (!count) {
    Value* none_yet = a.Op("concat", {a.b().Ints({-1}), numbers}, {{"axis", 0}});
    Value* last = Reduce({a, none_yet}, "reduce_max", {0});
    count = a.Op("add", {last, a.b().Int(1)});
  }
  rows = a.Cast(rows, computed);
  const auto [reduction, identity] = HowTo(kind);
  const bool extreme = kind == Kind::kMax || kind == Kind::kMin;
  Value* first = extreme && !IsFloating(t) ? FiniteExtreme(a, t, kind == Kind::kMin)
                                           : a.b().Scalar(computed, identity);
  Value* result = CombineRows({a, rows}, {a, numbers}, {a, count}, reduction, {a, first});
  if (kind == Kind::kSum || kind == Kind::kProd) return a.Cast(result, t);
  Value* ones = a.Op("expand", {a.b().Int(1), ShapeOf({a, numbers}, 0)});
  Value* sizes = CombineRows({a, ones}, {a, numbers}, {a, count}, "add", {a, a.b().Int(0)});
  if (extreme) {
    Value* empty = BroadcastToRows(a, a.Op("equal", {sizes, a.b().Int(0)}), rows);
    return a.Cast(Where({a, empty}, Expr(a, result).Number(0), {a, result}), t);
  }
  sizes = a.Cast(a.Op("max", {sizes, a.b().Int(1)}), computed);
  if (kind == Kind::kSqrtN) sizes = a.Op("sqrt", {sizes});
  return a.Cast(a.Op("div", {result, BroadcastToRows(a, sizes, rows)}), t);
}

template <Kind kKind>
Value* FromSorted(TfArgs& a) {
  return Segments(a, kKind, a.in(0), a.in(1), nullptr);
}

// Rows by number first.
template <Kind kKind>
Value* Sparse(TfArgs& a) {
  a.Ignore("sparse_gradient");
  Value* count = a.num_inputs() > 3 ? a.AsInt64(a.in(3)) : nullptr;
  return Segments(a, kKind, Gather(a.in(0), a.in(1), 0), a.in(2), count);
}

// The numbers have the first axes of the data. Segments without rows are the initial value of
// the reduction, which for extremes is the type's least or greatest finite number.
template <Kind kKind>
Value* Unsorted(TfArgs& a) {
  Value* data = a.in(0);
  const DType t = data->dtype(), computed = AtLeastFloat32(t);
  a.Require(IsFloating(t) || IsInteger(t), "segments of what are no real numbers");
  const int64_t rank = a.in(1).rank();
  Value* count = a.in(2);
  if (!a.b().status().ok()) return data;
  Value* rows = a.Cast(FlattenFront({a, data}, rank), computed);
  Value* numbers = ReshapeTo(a.in(1), Ints(a, {-1}));
  const auto [reduction, identity] = HowTo(kKind);
  const bool extreme = kKind == Kind::kMax || kKind == Kind::kMin;
  Value* first = extreme ? a.Cast(FiniteExtreme(a, t, kKind == Kind::kMin), computed)
                         : a.b().Scalar(computed, identity);
  return a.Cast(CombineRows({a, rows}, {a, numbers}, {a, count}, reduction, {a, first}), t);
}

// --- Counting -------------------------------------------------------------------------------

// The weights of each element, or 1; weights of no elements are none.
absl::StatusOr<Value*> Weights(TfArgs& a, size_t i) {
  Value* weights = a.in(i);
  const Shape* shape = weights->shape();
  bool some = shape != nullptr;
  for (int64_t axis = 0; shape && axis < shape->rank(); ++axis) {
    const Dim& size = (*shape)[axis];
    if (size == Dim(0)) return nullptr;
    some = some && size.is_static();
  }
  if (!some) return Unimplemented("whether there are weights is not known");
  return weights;
}

Expr Flat(TfArgs& a, Value* v) { return ReshapeTo({a, v}, Ints(a, {-1})); }

absl::StatusOr<Value*> Bincount(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Value * weights, Weights(a, 2));
  const DType t = a.in(2)->dtype();
  Value* numbers = Flat(a, a.AsInt64(a.in(0)));
  Value* size = Squeeze(Flat(a, a.in(1)), {0});
  Value* amounts =
      weights ? Flat(a, weights) : a.Op("expand", {a.b().Scalar(t, 1), ShapeOf({a, numbers}, 0)});
  return CombineRows({a, amounts}, {a, numbers}, {a, size}, "add", {a, a.b().Scalar(t, 0)});
}

// Rows of numbers are counted each on its own.
absl::StatusOr<Value*> DenseBincount(TfArgs& a) {
  const bool binary = a.Bool("binary_output", false);
  X2IR_ASSIGN_OR_RETURN(Value * weights, Weights(a, 2));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank > 2) return Invalid("expected rank 1 or 2, got ", rank);
  const DType t = a.in(2)->dtype();
  Value* numbers = a.AsInt64(a.in(0));
  Value* size = a.AsInt64(Squeeze(Flat(a, a.in(1)), {0}));
  Value* count = size;
  if (rank == 2) {
    // Numbers out of range stay so.
    Value* rows = SizeAt(a, numbers, 0);
    count = a.Op("mul", {rows, size});
    Value* base = Unsqueeze(a.Op("mul", {Iota({a, rows}), size}), {1});
    Value* in_range = a.Op(
        "and", {a.Op("greater_or_equal", {numbers, a.b().Int(0)}), a.Op("less", {numbers, size})});
    numbers = Where({a, in_range}, a.Op("add", {numbers, base}), {a, a.b().Int(-1)});
  }
  Value* flat = Flat(a, numbers);
  Value* amounts = weights && !binary ? Flat(a, weights)
                                      : a.Op("expand", {a.b().Scalar(t, 1), ShapeOf({a, flat}, 0)});
  Value* result = CombineRows({a, amounts}, {a, flat}, {a, count}, binary ? "max" : "add",
                              {a, a.b().Scalar(t, 0)});
  if (rank < 2) return result;
  return ReshapeTo({a, result}, Concat(a, {ShapeOf(a.in(0), 0, 1), Unsqueeze({a, size}, {0})}, 0));
}

// Equal bins between both ends of the range; numbers outside count in the first or the last one.
Value* HistogramFixedWidth(TfArgs& a) {
  const DType to = a.Type("dtype", DType::kInt32);
  Value* values = Flat(a, a.in(0));
  Value* low = Gather(a.in(1), a.b().Int(0), 0);
  Value* high = Gather(a.in(1), a.b().Int(1), 0);
  Value* bins = Squeeze(Flat(a, a.in(2)), {0});
  const auto wide = [&](Value* v) { return a.Cast(v, DType::kFloat64); };
  Value* step = a.Op("div", {wide(a.Op("sub", {high, low})), wide(bins)});
  Value* above = wide(a.Op("sub", {a.Op("max", {values, low}), low}));
  Value* last = a.Op("sub", {wide(bins), a.b().Scalar(DType::kFloat64, 1)});
  Value* bin = a.AsInt64(a.Op("min", {a.Op("div", {above, step}), last}));
  Value* ones = a.Op("expand", {a.b().Scalar(to, 1), ShapeOf({a, bin}, 0)});
  return CombineRows({a, ones}, {a, bin}, {a, bins}, "add", {a, a.b().Scalar(to, 0)});
}

}  // namespace

X2IR_TF(scatter_nd)
    .From({{"SegmentSum", FromSorted<Kind::kSum>},
           {"SegmentMean", FromSorted<Kind::kMean>},
           {"SegmentProd", FromSorted<Kind::kProd>},
           {"SegmentMax", FromSorted<Kind::kMax>},
           {"SegmentMin", FromSorted<Kind::kMin>},
           {"UnsortedSegmentSum", Unsorted<Kind::kSum>},
           {"UnsortedSegmentProd", Unsorted<Kind::kProd>},
           {"UnsortedSegmentMax", Unsorted<Kind::kMax>},
           {"UnsortedSegmentMin", Unsorted<Kind::kMin>},
           {"SegmentSumV2", Unsorted<Kind::kSum>},
           {"SegmentProdV2", Unsorted<Kind::kProd>},
           {"SegmentMaxV2", Unsorted<Kind::kMax>},
           {"SegmentMinV2", Unsorted<Kind::kMin>},
           {"SparseSegmentSum", Sparse<Kind::kSum>},
           {"SparseSegmentMean", Sparse<Kind::kMean>},
           {"SparseSegmentSqrtN", Sparse<Kind::kSqrtN>},
           {"SparseSegmentSumWithNumSegments", Sparse<Kind::kSum>},
           {"SparseSegmentMeanWithNumSegments", Sparse<Kind::kMean>},
           {"SparseSegmentSqrtNWithNumSegments", Sparse<Kind::kSqrtN>},
           {"Bincount", Bincount},
           {"DenseBincount", DenseBincount},
           {"HistogramFixedWidth", HistogramFixedWidth}});

}  // namespace x2ir
