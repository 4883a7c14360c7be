// Operators that look for equal elements or for places among sorted ones: unique, searchsorted,
// isin, histograms, bincount.
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

// --- unique ---------------------------------------------------------------------------------

// Which slices of an axis differ from the one before; the first does.
Value* StartsOfRuns(TorchCall& c, Value* x, int64_t axis) {
  Value* differs = Not(c.Op("equal", {Slice({c, x}, axis, 1, kToEnd), Slice({c, x}, axis, 0, -1)}));
  std::vector<int64_t> others = AllAxes({c, x});
  others.erase(others.begin() + axis);
  if (!others.empty()) differs = Any({c, differs}, others, false);
  Value* yes = c.b().Constant(Tensor::Of<bool>({1}, {true}));
  Value* starts = Concat(c, {yes, differs}, 0);
  // Of no slices none starts.
  Value* size = SizeOf({c, x}, axis);
  return Slice({c, starts}, 0, Int(c, 0), size, Int(c, 1));
}

// How many slices each run has, from where they start.
Value* CountsOfRuns(TorchCall& c, Value* starts) {
  Value* places = c.Op("compress", {Iota(SizeOf({c, starts}, 0)), starts}, {{"axis", 0}});
  Value* ends = Concat(c, {places, Unsqueeze(SizeOf({c, starts}, 0), {0})}, 0);
  return c.Op("sub", {Slice({c, ends}, 0, 1, kToEnd), Slice({c, ends}, 0, 0, -1)});
}
Value* RunOfEach(TorchCall& c, Value* starts) {
  Value* numbers = CumSum(c.Cast(starts, DType::kInt64), 0);
  return c.Op("sub", {numbers, Int(c, 1)});
}

Values UniqueConsecutive(TorchCall& c) {
  Value* self = c.Tensor("self");
  const bool inverse = c.Bool("return_inverse", false), counts = c.Bool("return_counts", false);
  const bool whole = !c.Has("dim");
  if (whole) c.Ignore({"dim"});
  const int64_t axis = whole ? 0 : c.Axis("dim", self);
  Value* x = whole ? Flat({c, self}) : self;
  if (c.Rank(x) == 0) return c.Fail(Invalid("expected rank 1 or more"));
  Value* starts = StartsOfRuns(c, x, axis);
  Value* runs = inverse ? RunOfEach(c, starts) : Ints(c, {});
  if (inverse && whole) runs = ReshapeTo({c, runs}, ShapeOf({c, self}));
  return {c.Op("compress", {x, starts}, {{"axis", axis}}), runs,
          counts ? CountsOfRuns(c, starts) : Ints(c, {})};
}

// Runtimes have `unique` for int64 and float32.
Value* ForUnique(TorchCall& c, Value* x) {
  const DType wide = WideType(x->dtype());
  return c.Cast(x, wide == DType::kInt32 ? DType::kInt64 : wide);
}

// Elements in order. A NaN is like no other, which `unique` sees otherwise: floats are sorted and
// compared with their neighbours.
Values Unique(TorchCall& c) {
  c.Ignore({"sorted"});  // it always is
  Value* self = c.Tensor("self");
  RequireReal({c, self});
  const bool inverse = c.Bool("return_inverse", false), counts = c.Bool("return_counts", false);
  const auto unwanted = [&](bool wanted, Value* v) { return wanted ? v : Ints(c, {}); };
  Values result;
  const DType t = self->dtype();
  if (IsFloating(self->dtype())) {
    const Sorted sorted = Sort(Flat({c, self}), 0, false);
    Value* starts = StartsOfRuns(c, sorted.values, 0);
    Value* runs = nullptr;
    if (inverse)
      runs = ScatterElements(sorted.indices, 0, sorted.indices, {c, RunOfEach(c, starts)}, "none");
    result = {c.Op("compress", {sorted.values, starts}, {{"axis", 0}}), runs,
              counts ? CountsOfRuns(c, starts) : nullptr};
  } else {
    Values found = c.b().Ops("unique", {Flat({c, ForUnique(c, self)})}, {{"sorted", 1}},
                             std::vector<bool>{true, false, inverse, counts});
    result = {c.Cast(found[0], t), found[2], found[3]};
  }
  if (inverse) result[1] = ReshapeTo({c, result[1]}, ShapeOf({c, self}));
  result[1] = unwanted(inverse, result[1]);
  result[2] = unwanted(counts, result[2]);
  result.resize(c.num_outputs());
  return result;
}

Values UniqueDim(TorchCall& c) {
  c.Ignore({"sorted"});
  Value* self = c.Tensor("self");
  RequireReal({c, self});
  const int64_t axis = c.Axis("dim", self);
  const bool inverse = c.Bool("return_inverse", false), counts = c.Bool("return_counts", false);
  Values found = c.b().Ops("unique", {ForUnique(c, self)}, {{"sorted", 1}, {"axis", axis}},
                           std::vector<bool>{true, false, inverse, counts});
  return {c.Cast(found[0], self->dtype()), inverse ? found[2] : Ints(c, {}),
          counts ? found[3] : Ints(c, {})};
}

// --- Places among sorted numbers ------------------------------------------------------------

// How many of the sorted ones come before each value: those less than it, or not greater. A NaN
// comes after all of them, as !(sorted >= value) says.
Value* PlacesAmong(TorchCall& c, Value* sorted, Value* values, bool right) {
  const DType t = c.ResultTypeOf({sorted, values});
  sorted = c.Cast(sorted, t);
  values = c.Cast(values, t);
  const int64_t rank = c.Rank(values);
  // Either one row of sorted numbers for all, or one for each row of values.
  if (c.Rank(sorted) != 1) sorted = Unsqueeze({c, sorted}, {c.Rank(sorted) - 1});
  Value* before =
      Not(c.Op(right ? "greater" : "greater_or_equal", {sorted, Unsqueeze({c, values}, {rank})}));
  return Reduce(c.Cast(before, DType::kInt64), "reduce_sum", {rank}, false);
}

// A number as a tensor of rank 0, in the type that it shares with the sorted ones.
Value* NumberLike(TorchCall& c, std::string_view name, const Value* like) {
  const TorchNumber number = c.Number(name);
  const bool as_is = number.is_integral() || IsFloating(like->dtype());
  return c.Constant(as_is ? like->dtype() : DType::kFloat32, number);
}

Values SearchSorted(TorchCall& c, std::string_view sorted_name, bool number) {
  Value* sorted = c.Tensor(sorted_name);
  Value* values = number ? NumberLike(c, "self", sorted) : c.Tensor("self");
  bool right = c.Bool("right", false);
  if (c.Has("side")) right = c.String("side") == "right";
  const bool small = c.Bool("out_int32", false);
  if (Value* sorter = c.OptTensor("sorter")) {
    sorted = c.Op("gather_elements", {sorted, sorter}, {{"axis", c.Rank(sorted) - 1}});
  }
  RequireReal({c, sorted});
  RequireReal({c, values});
  Value* places = PlacesAmong(c, sorted, values, right);
  return {c.Cast(places, small ? DType::kInt32 : DType::kInt64)};
}

Values IsIn(TorchCall& c, bool elements_number, bool test_number) {
  c.Ignore({"assume_unique"});
  const std::string_view elements = elements_number ? "element" : "elements";
  const std::string_view test = test_number ? "test_element" : "test_elements";
  const bool invert = c.Bool("invert", false);
  const DType t = c.ResultType({elements, test});
  Value *x = c.Operand(elements, t), *among = c.Operand(test, t);
  const int64_t rank = c.Rank(x);
  Value* same = c.Op("equal", {Unsqueeze({c, x}, {rank}), Flat({c, among})});
  Value* found = Any({c, same}, {rank}, false);
  return {invert ? Not(Expr(c, found)) : found};
}

// --- Counting -------------------------------------------------------------------------------

// For every bin how many elements (or how much weight) have its number; others are not counted.
Value* CountBins(TorchCall& c, Value* bins, Value* bin_of_each, Value* weights, DType t) {
  Value* same = c.Op("equal", {Unsqueeze({c, bins}, {1}), bin_of_each});
  Value* amount =
      weights ? Select({c, same}, c.Cast(weights, t), c.Constant(t, 0)) : c.Cast(same, t);
  return Reduce({c, amount}, "reduce_sum", {1}, false);
}

Values BinCount(TorchCall& c) {
  Value* x = c.Cast(c.Tensor("self"), DType::kInt64);
  Value* weights = c.OptTensor("weights");
  Value* least = c.Op("sub", {c.SymInt("minlength", 0), Int(c, 1)});
  Value* most = Reduce(Concat(c, {x, Unsqueeze({c, least}, {0})}, 0), "reduce_max", {0}, false);
  Value* bins = Iota(c.Op("add", {most, Int(c, 1)}));
  return {CountBins(c, bins, x, weights, c.out_dtype())};
}

// The ends of the bins: as given, or those of the data, moved apart where they are equal.
struct Range {
  Value *low, *high;
};
Range RangeOf(TorchCall& c, Value* x, double low, double high, bool from_data, double apart) {
  const DType t = x->dtype();
  if (!from_data) return {c.Constant(t, low), c.Constant(t, high)};
  Range range{Reduce({c, x}, "reduce_min", {0}, false), Reduce({c, x}, "reduce_max", {0}, false)};
  Value* same = c.Op("equal", {range.low, range.high});
  Value *by = c.Constant(t, apart), *zero = c.Constant(t, 0);
  Value* move = Select({c, same}, {c, by}, {c, zero});
  return {c.Op("sub", {range.low, move}), c.Op("add", {range.high, move})};
}

Values Histc(TorchCall& c) {
  Value* self = c.Tensor("self");
  if (!IsFloating(self->dtype())) return c.Fail(Unimplemented("of floats only"));
  const DType t = AtLeastFloat32(self->dtype());
  const int64_t count = c.Int("bins", 100);
  if (count <= 0 || count > 1 << 24) return c.Fail(Invalid("bins: ", count));
  const double min = c.Float("min", 0), max = c.Float("max", 0);
  Value* x = Flat(c.Cast(self, t));
  const Range range = RangeOf(c, x, min == max ? min - 1 : min, min == max ? max + 1 : max,
                              min == max && min == 0, 1);
  if (min == max && min != 0) return c.Fail(Unimplemented("min and max are the same"));
  Value* bins = c.Constant(t, static_cast<double>(count));
  Value* scaled = c.Op("div", {c.Op("mul", {c.Op("sub", {x, range.low}), bins}),
                               c.Op("sub", {range.high, range.low})});
  Value* inside = c.Op(
      "and", {c.Op("greater_or_equal", {x, range.low}), c.Op("less_or_equal", {x, range.high})});
  Value* safe = Select({c, inside}, {c, scaled}, c.Constant(t, -1));
  Value* bin = c.Op("min", {c.Cast(safe, DType::kInt64), Int(c, count - 1)});
  return {c.Cast(CountBins(c, Iota(Int(c, count)), bin, nullptr, t), self->dtype())};
}

Values Histogram(TorchCall& c, bool counted) {
  Value* self = c.Tensor("self");
  const DType t = self->dtype();
  if (t != DType::kFloat32 && t != DType::kFloat64) return c.Fail(Invalid("expected floats"));
  Value* x = Flat({c, self});
  Value* weight = c.OptTensor("weight");
  const bool density = c.Bool("density", false);
  Value* edges = nullptr;
  if (counted) {
    const int64_t count = c.Int("bins", 100);
    if (count <= 0 || count > 1 << 24) return c.Fail(Invalid("bins: ", count));
    const auto given = c.OptFloats("range");
    if (given && given->size() != 2) return c.Fail(Invalid("range: expected two numbers"));
    const double low = given ? (*given)[0] : 0, high = given ? (*given)[1] : 0;
    if (given && low == high) return c.Fail(Unimplemented("range: both ends are the same"));
    const Range range = RangeOf(c, x, low, high, !given, 0.5);
    // From both ends to the middle, so that both come out exactly.
    Value* n = c.Constant(t, static_cast<double>(count));
    Value* step = c.Op("div", {c.Op("sub", {range.high, range.low}), n});
    Value* places = c.Cast(Iota(Int(c, count + 1)), t);
    Value* up = c.Op("add", {range.low, c.Op("mul", {step, places})});
    Value* down = c.Op("sub", {range.high, c.Op("mul", {step, c.Op("sub", {n, places})})});
    Value* half = c.Constant(t, static_cast<double>((count + 1) / 2));
    edges = Select(c.Op("less", {places, half}), {c, up}, {c, down});
  } else {
    edges = c.Tensor("bins");
  }
  // The last bin holds its upper end too.
  Value* last = Slice({c, edges}, 0, -1, kToEnd);
  Value* place = c.Op("sub", {PlacesAmong(c, edges, x, true), Int(c, 1)});
  place = Select(c.Op("equal", {x, last}), c.Op("sub", {place, Int(c, 1)}), {c, place});
  Value* bins = Iota(c.Op("sub", {SizeOf({c, edges}, 0), Int(c, 1)}));
  Value* hist = CountBins(c, bins, place, weight ? Flat({c, weight}) : nullptr, t);
  if (density) {
    Value* widths = c.Op("sub", {Slice({c, edges}, 0, 1, kToEnd), Slice({c, edges}, 0, 0, -1)});
    hist = c.Op("div", {hist, c.Op("mul", {Reduce({c, hist}, "reduce_sum", {0}, false), widths})});
  }
  return {hist, counted ? edges : c.Op("identity", {edges})};
}

X2IR_TORCH(unique)
    .From({"aten::_unique2.default", "aten::_unique.default"}, Unique)
    .From("aten::unique_dim.default", UniqueDim)
    .From({"aten::unique_consecutive.default", "aten::unique_dim_consecutive.default"},
          UniqueConsecutive);
X2IR_TORCH(greater_or_equal)
    .From("aten::searchsorted.Tensor",
          [](TorchCall& c) { return SearchSorted(c, "sorted_sequence", false); })
    .From("aten::searchsorted.Scalar",
          [](TorchCall& c) { return SearchSorted(c, "sorted_sequence", true); })
    .From("aten::bucketize.Tensor",
          [](TorchCall& c) { return SearchSorted(c, "boundaries", false); })
    .From("aten::bucketize.Scalar",
          [](TorchCall& c) { return SearchSorted(c, "boundaries", true); });
X2IR_TORCH(equal)
    .From("aten::isin.Tensor_Tensor", [](TorchCall& c) { return IsIn(c, false, false); })
    .From("aten::isin.Tensor_Scalar", [](TorchCall& c) { return IsIn(c, false, true); })
    .From("aten::isin.Scalar_Tensor", [](TorchCall& c) { return IsIn(c, true, false); })
    .From("aten::bincount.default", BinCount)
    .From("aten::histc.default", Histc)
    .From("aten::histogram.bin_ct", [](TorchCall& c) { return Histogram(c, true); })
    .From("aten::histogram.bins_tensor", [](TorchCall& c) { return Histogram(c, false); });

}  // namespace
}  // namespace x2ir
