// StableHLO: tensors under other sizes, and elements moved. The writers are in
// shape_ops.cc, slice.cc and space.cc.
#include <algorithm>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/elementwise.h"

namespace x2ir {
namespace {

// --- Made of nothing -----------------------------------------------------------------------------

Value* SplatConstant(StablehloArgs& a) {
  const Attribute* value = a.attrs().Find("value");
  a.Ignore("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor) return a.Fail(Invalid("attribute 'value' is no tensor"))[0];
  Value* constant = a.b().Constant(*tensor);
  if (tensor->rank() != 0) return a.Op("identity", {constant});
  return Expand({a, constant}, Ints(a, a.OutSizes()));
}

// 0, 1, ... along an axis of a result of these sizes.
Expr Counted(StablehloArgs& a, const std::vector<Size>& sizes, const Expr& shape) {
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t axis = a.AxisOf(a.Int("iota_dimension", 0), rank);
  const DType t = a.out_dtype();
  const Size& size = sizes[static_cast<size_t>(axis)];
  const Expr numbers = Iota(Scalar(a, size));
  const Expr typed = t == DType::kInt64 ? numbers : CastNow(numbers, t);
  return rank == 1 ? typed : Expand(AlongAxis(typed, axis, rank), shape);
}
Value* FromIota(StablehloArgs& a) {
  const std::vector<int64_t> sizes = a.OutSizes();
  a.Require(!sizes.empty(), "a result without axes");
  return Counted(a, {sizes.begin(), sizes.end()}, Ints(a, sizes));
}

// Elements of a shape that is an operand.
std::vector<Size> SizesIn(StablehloArgs& a, size_t i) {
  if (const auto known = a.Ints(i)) return {known->begin(), known->end()};
  const Expr shape = a.AsInt64(a.in(i));
  const Dim count = DimAt(shape, 0);
  a.Require(count.is_static(), "a shape of a rank that is not known");
  std::vector<Size> sizes;
  for (int64_t k = 0; k < (count.is_static() ? count.value() : 0); ++k) {
    sizes.emplace_back(ElementAt(shape, 0, k));
  }
  return sizes;
}
Value* DynamicIota(StablehloArgs& a) { return Counted(a, SizesIn(a, 0), a.AsInt64(a.in(0))); }

// --- Broadcast -----------------------------------------------------------------------------------

// Axis i of x is axis dimensions[i] of a result of that rank; the others have size 1.
Expr Placed(StablehloArgs& a, const Expr& x, const std::vector<int64_t>& dimensions, int64_t rank) {
  const auto own = static_cast<int64_t>(dimensions.size());
  a.Require(x.rank() == own, StrCat("broadcast_dimensions for ", own, " axes, not ", x.rank()));
  std::vector<int64_t> order = CountedFrom(0, own), others;
  std::sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
    return dimensions[static_cast<size_t>(p)] < dimensions[static_cast<size_t>(q)];
  });
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(dimensions.begin(), dimensions.end(), axis) == dimensions.end()) {
      others.push_back(axis);
    }
  }
  a.Require(static_cast<int64_t>(others.size()) + own == rank,
            "broadcast_dimensions that are not different axes of the result");
  const bool sorted = std::is_sorted(order.begin(), order.end());
  return Unsqueeze(sorted ? x : Transpose(x, order), others);
}

Value* BroadcastInDim(StablehloArgs& a) {
  const std::vector<int64_t> sizes = a.OutSizes();
  const Expr x =
      Placed(a, a.in(0), a.Ints("broadcast_dimensions"), static_cast<int64_t>(sizes.size()));
  const auto known = KnownSizes(x);
  if (known && *known == sizes) return x.value() == a.in(0).value() ? x.Op("identity") : x;
  return Expand(x, Ints(a, sizes));
}
Value* BroadcastFront(StablehloArgs& a) {
  const Expr x = a.in(0);
  const std::vector<int64_t> front = a.Ints("broadcast_sizes");
  std::vector<Size> sizes(front.begin(), front.end());
  for (const Size& size : AllSizes(x)) sizes.push_back(size);
  return Expand(x, Vector(a, sizes));
}
Value* DynamicBroadcastInDim(StablehloArgs& a) {
  a.Ignore("known_expanding_dimensions");
  a.Ignore("known_nonexpanding_dimensions");
  const Expr shape = a.AsInt64(a.in(1));
  const Dim rank = DimAt(shape, 0);
  a.Require(rank.is_static(), "a shape of a rank that is not known");
  const Expr x =
      Placed(a, a.in(0), a.Ints("broadcast_dimensions"), rank.is_static() ? rank.value() : 0);
  return Expand(x, shape);
}

// --- Other sizes ---------------------------------------------------------------------------------

Value* FromReshape(StablehloArgs& a) { return Reshape(a.in(0), a.OutSizes()); }
Value* DynamicReshape(StablehloArgs& a) {
  const auto known = a.out_type().shape() ? a.out_type().shape()->Static() : std::nullopt;
  return known ? Reshape(a.in(0), *known) : ReshapeTo(a.in(0), a.AsInt64(a.in(1)));
}
Value* FromTranspose(StablehloArgs& a) { return Transpose(a.in(0), a.Ints("permutation")); }
Value* Concatenate(StablehloArgs& a) {
  const std::vector<Value*> parts = a.inputs();
  const int64_t axis = a.AxisOf(a.Int("dimension", 0));
  return parts.size() == 1 ? a.Op("identity", {parts[0]}) : Concat(a, parts, axis).value();
}
Value* DimensionSize(StablehloArgs& a) {
  return SizeOf(a.in(0), a.AxisOf(a.Int("dimension", 0))).To(DType::kInt32);
}
// What is behind that size is cut off; sizes are the greatest ones until then.
Value* SetDimensionSize(StablehloArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("dimension", 0));
  const auto known = a.Ints(1);
  const Dim own = DimAt(a.in(0), axis);
  if (known && known->size() == 1 && own == Dim((*known)[0])) return a.Op("identity", {a.in(0)});
  const Size end = known && known->size() == 1 ? Size((*known)[0]) : Size(a.AsInt64(a.in(1)));
  return Slice(a.in(0), axis, 0, end);
}

// --- Parts ---------------------------------------------------------------------------------------

Value* FromSlice(StablehloArgs& a) {
  const std::vector<int64_t> starts = a.Ints("start_indices"), ends = a.Ints("limit_indices");
  std::vector<int64_t> steps = a.Ints("strides");
  if (steps.empty()) steps.assign(starts.size(), 1);
  std::vector<int64_t> s, e, at, axes;
  const auto rank = static_cast<size_t>(a.RankOf());
  a.Require(starts.size() == rank && ends.size() == rank && steps.size() == rank,
            "bounds that are not one for each axis");
  for (size_t i = 0; i < rank; ++i) {
    if (starts[i] == 0 && steps[i] == 1 &&
        DimAt(a.in(0), static_cast<int64_t>(i)) == Dim(ends[i])) {
      continue;
    }
    if (starts[i] < 0 || ends[i] < starts[i] || steps[i] < 1) {
      return a.Fail(Invalid("bounds ", starts[i], ":", ends[i], ":", steps[i]))[0];
    }
    s.push_back(starts[i]);
    e.push_back(ends[i]);
    at.push_back(steps[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return a.Op("identity", {a.in(0)});
  return a.Op("slice", {a.in(0), Ints(a, s), Ints(a, e), Ints(a, axes), Ints(a, at)});
}
Value* RealDynamicSlice(StablehloArgs& a) {
  const Expr axes = Ints(a, AllAxes(a.in(0)));
  return a.Op("slice", {a.in(0), a.AsInt64(a.in(1)), a.AsInt64(a.in(2)), axes, a.AsInt64(a.in(3))});
}

Value* FromReverse(StablehloArgs& a) {
  const std::vector<int64_t> axes = a.Ints("dimensions");
  if (axes.empty()) return a.Op("identity", {a.in(0)});
  const auto each = [&](int64_t n) { return Ints(a, std::vector<int64_t>(axes.size(), n)); };
  return a.Op("slice", {a.in(0), each(-1), each(INT64_MIN), Ints(a, axes), each(-1)});
}

// --- Padding -------------------------------------------------------------------------------------

// `count` numbers between every two neighbors of an axis: after each of them, and then not after
// the last one.
Expr PaddedInside(const Expr& x, const Expr& number, int64_t axis, const Size& count) {
  if (count.number == 0) return x;
  Builder& b = x.builder();
  const int64_t rank = x.rank();
  const Size size = SizeAt(x, axis), step = Plus(b, count, 1);
  std::vector<Size> pads(static_cast<size_t>(2 * (rank + 1)), Size(0));
  pads.back() = 0;
  pads[static_cast<size_t>(rank + 1 + axis + 1)] = count;
  const Expr apart = Unsqueeze(x, {axis + 1}).Op("pad", {Vector(b, pads), number});
  std::vector<Size> sizes = AllSizes(x);
  sizes[static_cast<size_t>(axis)] = Times(b, size, step);
  const Expr joined = ReshapeTo(apart, sizes);
  // Of no elements there are none, and none after them.
  const Size end = Larger(b, Minus(b, Times(b, size, step), count), 0);
  return Slice(joined, axis, 0, end);
}

// Elements that are added at both ends, and then those that negative numbers cut off.
Expr PaddedOutside(const Expr& x, const Expr& number, const std::vector<Size>& low,
                   const std::vector<Size>& high) {
  Builder& b = x.builder();
  std::vector<Size> pads;
  bool any = false;
  for (const std::vector<Size>* sizes : {&low, &high}) {
    for (const Size& size : *sizes) {
      pads.push_back(Larger(b, size, 0));
      any |= pads.back().number != 0;
    }
  }
  Expr y = any ? x.Op("pad", {Vector(b, pads), number}) : x;
  for (size_t i = 0; i < low.size(); ++i) {
    const auto may_cut = [](const Size& size) { return !size.number || *size.number < 0; };
    if (!may_cut(low[i]) && !may_cut(high[i])) continue;
    const auto axis = static_cast<int64_t>(i);
    const Size start = Larger(b, Minus(b, 0, low[i]), 0);
    const Size cut = Larger(b, Minus(b, 0, high[i]), 0);
    y = Slice(y, axis, start, Minus(b, SizeAt(y, axis), cut));
  }
  return y;
}

Value* Padded(StablehloArgs& a, const std::vector<Size>& low, const std::vector<Size>& high,
              const std::vector<Size>& interior) {
  const auto rank = static_cast<size_t>(a.RankOf());
  a.Require(low.size() == rank && high.size() == rank && interior.size() == rank,
            "padding that is not of every axis");
  Expr y = a.in(0);
  for (size_t i = 0; i < rank; ++i) {
    if (interior[i].number && *interior[i].number < 0) {
      return a.Fail(Invalid("interior_padding is negative"))[0];
    }
    y = PaddedInside(y, a.in(1), static_cast<int64_t>(i), interior[i]);
  }
  y = PaddedOutside(y, a.in(1), low, high);
  return y.value() == a.in(0).value() ? a.Op("identity", {y}) : y.value();
}
Value* FromPad(StablehloArgs& a) {
  const auto sizes = [&](Symbol name) {
    const std::vector<int64_t> numbers = a.Ints(name);
    return std::vector<Size>(numbers.begin(), numbers.end());
  };
  return Padded(a, sizes("edge_padding_low"), sizes("edge_padding_high"),
                sizes("interior_padding"));
}
Value* DynamicPad(StablehloArgs& a) {
  return Padded(a, SizesIn(a, 2), SizesIn(a, 3), SizesIn(a, 4));
}

}  // namespace

X2IR_STABLEHLO(concat).From("concatenate", Concatenate);
X2IR_STABLEHLO(expand).From({{"constant", SplatConstant},
                             {"broadcast", BroadcastFront},
                             {"broadcast_in_dim", BroadcastInDim},
                             {"dynamic_broadcast_in_dim", DynamicBroadcastInDim}});
X2IR_STABLEHLO(pad).From({{"pad", FromPad}, {"dynamic_pad", DynamicPad}});
X2IR_STABLEHLO(range).From({{"iota", FromIota}, {"dynamic_iota", DynamicIota}});
X2IR_STABLEHLO(reshape).From({{"reshape", FromReshape}, {"dynamic_reshape", DynamicReshape}});
X2IR_STABLEHLO(shape).From("get_dimension_size", DimensionSize);
X2IR_STABLEHLO(slice).From({{"slice", FromSlice},
                            {"real_dynamic_slice", RealDynamicSlice},
                            {"set_dimension_size", SetDimensionSize},
                            {"reverse", FromReverse}});
X2IR_STABLEHLO(transpose).From("transpose", FromTranspose);

}  // namespace x2ir
