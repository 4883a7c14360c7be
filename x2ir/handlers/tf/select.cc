// TensorFlow: what looks for elements or puts them in order: sets, top_k, places among sorted ones.
#include <numeric>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

DType IndexType(TfArgs& a, Symbol attr) { return a.Type(attr, DType::kInt32); }

// Runtimes have `unique` for int64 and floats.
Value* ForUnique(TfArgs& a, Value* x) {
  const DType t = x->dtype();
  if (t == DType::kBool || (IsInteger(t) && t != DType::kUInt64)) return a.AsInt64(x);
  return x;
}

// Rows of an element and 0; instead of a NaN, which is like no other, 0 and its place from 1 on.
Value* Telling(TfArgs& a, Value* x) {
  Value* wide = a.Cast(x, DType::kFloat64);
  Value* nan = a.Op("is_nan", {x});
  Value* zero = a.b().Scalar(DType::kFloat64, 0);
  Value* places = a.Cast(a.Op("add", {Iota({a, SizeAt(a, x, 0)}), a.b().Int(1)}), DType::kFloat64);
  Value* element = Unsqueeze(Where({a, nan}, {a, zero}, {a, wide}), {1});
  Value* place = Unsqueeze(Where({a, nan}, {a, places}, {a, zero}), {1});
  return a.Op("concat", {element, place}, {{"axis", 1}});
}

// In order of first occurrence: {y, index of each, counts}.
absl::StatusOr<Values> UniqueAlong(TfArgs& a, int64_t axis) {
  const DType to = IndexType(a, "out_idx");
  Value* x = a.in(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid("axis ", axis, " of an operand of rank ", rank);
  Value* keys = ForUnique(a, x);
  if (IsFloating(x->dtype())) {
    if (rank > 1) return Unimplemented("slices of floats, which are unequal where one is NaN");
    keys = Telling(a, x);
  }
  const std::vector<bool> wanted = {true, true, true, true};
  Values found = a.b().Ops("unique", {keys}, {{"sorted", 0}, {"axis", axis}}, wanted);
  return Values{Gather({a, x}, found[1], axis), a.Cast(found[2], to), a.Cast(found[3], to)};
}

absl::StatusOr<Values> Unique(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank != 1) return Invalid("expected rank 1, got ", rank);
  return UniqueAlong(a, 0);
}

absl::StatusOr<Values> UniqueV2(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axis, a.KnownInts(1, "axis"));
  if (axis.empty()) return Unique(a);
  if (axis.size() != 1) return Invalid("axis: expected one number at most");
  return UniqueAlong(a, axis[0]);
}

// The elements of x that y does not have, and their indices.
Values ListDiff(TfArgs& a) {
  const DType to = IndexType(a, "out_idx");
  Value* x = a.in(0);
  Value* there = Any(a.Op("equal", {Unsqueeze({a, x}, {1}), a.in(1)}), {1});
  const auto kept = [&](Value* v) {
    return a.Op("compress", {v, Not(Expr(a, there))}, {{"axis", 0}});
  };
  return {kept(x), a.Cast(kept(Iota({a, SizeAt(a, x, 0)})), to)};
}

Value* NonZeroPlaces(TfArgs& a) {
  Value* x = a.in(0);
  a.Require(x->dtype() != DType::kString && !IsComplex(x->dtype()), "elements that are no numbers");
  return Transpose(a.Op("non_zero", {x}), {1, 0});
}

Values Largest(TfArgs& a, Value* k) {
  const DType to = IndexType(a, "index_type");
  a.Bool("sorted", true);  // else in any order, of which this is one
  Values found = a.b().Ops("top_k", {a.in(0), k}, {{"axis", -1}, {"largest", 1}, {"sorted", 1}}, 2);
  return {found[0], a.Cast(found[1], to)};
}

Values TopK(TfArgs& a) { return Largest(a, a.b().Ints({a.Int("k", 0)})); }
Values TopKV2(TfArgs& a) { return Largest(a, ReshapeTo(a.AsInt64(a.in(1)), Ints(a, {1}))); }

Value* NthElement(TfArgs& a) {
  const bool reverse = a.Bool("reverse", false);
  Value* n = ReshapeTo(a.AsInt64(a.in(1)), Ints(a, {1}));
  Value* k = a.Op("add", {n, a.b().Int(1)});
  Values found =
      a.b().Ops("top_k", {a.in(0), k}, {{"axis", -1}, {"largest", reverse}, {"sorted", 1}}, 2);
  return Squeeze(Gather({a, found[0]}, n, a.in(0).rank() - 1), {-1});
}

// Whether fewer than k classes are predicted more than the target; never where a prediction, or
// the target, makes no sense.
Value* IsInTop(TfArgs& a, Value* k) {
  Value* predictions = a.in(0);
  Value* targets = a.AsInt64(a.in(1));
  Value* classes = SizeAt(a, predictions, 1);
  Value* in_range = a.Op(
      "and", {a.Op("greater_or_equal", {targets, a.b().Int(0)}), a.Op("less", {targets, classes})});
  Value* column = Unsqueeze(Where({a, in_range}, {a, targets}, {a, a.b().Int(0)}), {1});
  Value* target = a.Op("gather_elements", {predictions, column}, {{"axis", 1}});
  Value* more = a.Cast(a.Op("greater", {predictions, target}), DType::kInt64);
  Value* fewer = a.Op("less", {Reduce({a, more}, "reduce_sum", {1}), k});
  Value* strange = a.Op("or", {a.Op("is_nan", {predictions}), a.Op("is_inf", {predictions})});
  Value* sane = a.Op("and", {in_range, Not(Any({a, strange}, {1}))});
  return a.Op("and", {sane, fewer});
}

Value* InTopK(TfArgs& a) { return IsInTop(a, a.b().Int(a.Int("k", 0))); }
Value* InTopKV2(TfArgs& a) { return IsInTop(a, a.AsInt64(a.in(2))); }

// How many of the sorted ones (the last axis) come before each value: those less than it, or
// those that it is not less than.
Value* CountBefore(TfArgs& a, Value* sorted, Value* values, bool upper) {
  values = Unsqueeze({a, values}, {-1});
  Value* before = upper ? Not(a.Op("less", {values, sorted})) : a.Op("less", {sorted, values});
  return Reduce(a.Cast(before, DType::kInt64), "reduce_sum", {-1});
}

template <bool kUpper>
Value* SortedBound(TfArgs& a) {
  const DType to = IndexType(a, "out_type");
  return a.Cast(CountBefore(a, Unsqueeze(a.in(0), {1}), a.in(1), kUpper), to);
}

Value* Bucketize(TfArgs& a) {
  const std::vector<float> boundaries = a.FloatList("boundaries", {});
  const auto count = static_cast<int64_t>(boundaries.size());
  const DType t = a.in(0)->dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Value* sorted = a.Cast(a.b().Constant(Tensor::Of<float>({count}, boundaries)), t);
  return a.Cast(CountBefore(a, sorted, a.Cast(a.in(0), t), true), DType::kInt32);
}

Value* InvertPermutation(TfArgs& a) {
  Value* x = a.in(0);
  Value* size = SizeAt(a, x, 0);
  Value* zeros = a.Op("expand", {Expr(a, x).Number(0), ShapeOf({a, x}, 0)});
  return a.Op("scatter_elements", {zeros, a.AsInt64(x), a.Cast(Iota({a, size}), x->dtype())},
              {{"axis", 0}, {"reduction", "none"}});
}

absl::StatusOr<Values> DynamicPartition(TfArgs& a) {
  const int64_t count = a.Int("num_partitions", 0);
  if (count < 1 || count > 1 << 16) return Invalid("num_partitions = ", count);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  Value* rows = FlattenFront(a.in(0), rank);
  Value* numbers = ReshapeTo(a.in(1), Ints(a, {-1}));
  Values parts;
  for (int64_t i = 0; i < count; ++i) {
    Value* mine = a.Op("equal", {numbers, a.b().Scalar(DType::kInt32, static_cast<double>(i))});
    parts.push_back(a.Op("compress", {rows, mine}, {{"axis", 0}}));
  }
  return parts;
}

// For each place the last of the indices that names it, where all are known.
constexpr int64_t kMaxSortedPlaces = int64_t{1} << 24;

absl::StatusOr<std::optional<std::vector<int64_t>>> LastOfEach(TfArgs& a, size_t count) {
  std::vector<int64_t> last;
  int64_t row = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<Tensor> known = KnownTensor(*a.in(i));
    if (!known) return std::nullopt;
    const Numbers<int64_t> indices(*known);
    for (const int64_t index : indices.span()) {
      if (index < 0) return Invalid("index ", index);
      if (index >= kMaxSortedPlaces) return std::nullopt;
      if (index >= static_cast<int64_t>(last.size())) last.resize(index + 1);
      last[index] = row++;
    }
  }
  return last;
}

// Rows written to indices; of several for one index the last wins: all rows one after another, and
// for each index the last row of it. A row without an index may have any values.
absl::StatusOr<Value*> DynamicStitch(TfArgs& a) {
  const size_t count = a.num_inputs() / 2;
  if (count == 0 || a.num_inputs() != 2 * count) return Invalid("expected indices and data each");
  X2IR_ASSIGN_OR_RETURN(const auto places, LastOfEach(a, count));
  std::vector<Value*> indices, rows;
  for (size_t i = 0; i < count; ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(i));
    indices.push_back(ReshapeTo(a.AsInt64(a.in(i)), Ints(a, {-1})));
    rows.push_back(FlattenFront(a.in(count + i), rank));
  }
  Value* at = Concat(a, indices, 0);
  Value* all = Concat(a, rows, 0);
  if (places) return Gather({a, all}, a.b().Ints(*places), 0);
  Value* with_none = a.Op("concat", {a.b().Ints({-1}), at}, {{"axis", 0}});
  Value* size = a.Op("add", {Reduce({a, with_none}, "reduce_max", {0}, true), a.b().Int(1)});
  Value* first = a.Op("expand", {a.b().Int(0), size});
  Value* last = ScatterNd({a, first}, Unsqueeze({a, at}, {1}), Iota({a, SizeAt(a, at, 0)}), "max");
  return Gather({a, all}, last, 0);
}

// TensorFlow has a row for each element, the IR a column.
absl::StatusOr<Value*> ToTfNonZero(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* rows =
      w.Tf("Where", {w.in(0)}, {}, Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})));
  return w.Op("transpose", {rows}, {{"perm", {1, 0}}});
}

absl::StatusOr<Value*> ToTfCompress(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Tf("GatherV2", {found.x, found.places, w.Int32(found.axis)}, {{"batch_dims", 0}});
}

// Along the last axis; places are int32.
absl::StatusOr<Values> ToTfTopK(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  // -1 - x of an integer has the order reversed, and no overflow.
  const bool least = w.Int("largest") == 0;
  if (least && !IsSignedInt(w.dtype())) {
    return CannotExpress("the least elements of ", Name(w.dtype()));
  }
  const auto reversed = [&](Value* x) {
    Value* minus_one = w.b().Constant(Tensor::Scalar<int64_t>(-1));
    return least ? w.Op("sub", {w.Cast(minus_one, w.dtype()), x}) : x;
  };
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  Value* x = reversed(w.Transpose(w.in(0), perm));
  const auto known = KnownInts(w.in(1));
  Value* k = known && known->size() == 1 ? w.Int32((*known)[0])
                                         : w.Cast(w.Reshape(w.in(1), {}), DType::kInt32);
  const auto of = [&](DType t) { return Type::Tensor(t, Shape::UnknownDims(rank)); };
  const Values found = w.TfAll("TopKV2", {x, k}, {{"sorted", w.Int("sorted")}},
                               {w.wants(0), w.wants(1)}, {of(w.dtype()), of(DType::kInt32)});
  Values values(w.node().num_outputs(), nullptr);
  if (found[0]) values[0] = w.Transpose(reversed(found[0]), perm);
  if (found[1]) values[1] = w.Transpose(w.Cast(found[1], DType::kInt64), perm);
  return values;
}

}  // namespace

X2IR_TF(unique).From({{"Unique", Unique},
                      {"UniqueV2", UniqueV2},
                      {"UniqueWithCounts", Unique},
                      {"UniqueWithCountsV2", UniqueV2}});
X2IR_TF(compress)
    .To("GatherV2", ToTfCompress)
    .From({{"ListDiff", ListDiff}, {"DynamicPartition", DynamicPartition}});
X2IR_TF(non_zero).To("Where", ToTfNonZero).From("Where", NonZeroPlaces);
X2IR_TF(top_k)
    .To("TopKV2", ToTfTopK)
    .From({{"TopK", TopK}, {"TopKV2", TopKV2}, {"NthElement", NthElement}});
X2IR_TF(greater).From({{"InTopK", InTopK}, {"InTopKV2", InTopKV2}});
X2IR_TF(less).From({{"LowerBound", SortedBound<false>},
                    {"UpperBound", SortedBound<true>},
                    {"Bucketize", Bucketize}});
X2IR_TF(scatter_elements).From("InvertPermutation", InvertPermutation);
X2IR_TF(gather).From({{"DynamicStitch", DynamicStitch}, {"ParallelDynamicStitch", DynamicStitch}});

}  // namespace x2ir
