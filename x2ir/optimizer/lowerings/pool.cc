// Lowerings of pools: ceil_mode as padding at the end, where a target lacks it or runtimes read it
// in different ways; what else a target lacks by gathering the windows.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

// x with a number around it (null: 0), as often as the window's pads say.
Value* WithPads(Builder& b, Value* x, const Window& window, bool last, Value* number = nullptr) {
  const int64_t n = static_cast<int64_t>(window.rank());
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < n; ++i) axes.push_back(SpatialAxis(last, i));
  return b.Op("pad", {x, b.Ints(window.pads, "pads"), number, b.Ints(axes, "axes")},
              {{"mode", "constant"}});
}

// A last window that lies partly beyond the input and its padding. What lies there never changes a
// maximum, nor a mean that leaves padding out, so it may be padding too, as much as the last window
// needs. How much that is depends on the input's size. A mean that counts the padding has it as
// part of the input instead; without any, ceil_mode stays for an input of unknown size. (With a Pad
// before it ONNX Runtime would put the two together again, and count wrong.)
absl::StatusOr<Values> CeilModeAsPads(Rewrite& r) {
  if (r.attrs().Int("ceil_mode") == 0) return NothingToDo();
  const bool include_pad = r.attrs().Int("count_include_pad", 0) != 0;
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), r.attrs().Ints("kernel_shape")));
  AttributeMap attrs = r.attrs();
  Value* x = r.in(0);
  const int64_t n = static_cast<int64_t>(window.rank());
  if (window.auto_pad != AutoPad::kNotSet) {  // ceil_mode changes nothing there
    attrs.Set("ceil_mode", 0);
    return r.b.Ops(r.node.op(), {x}, std::move(attrs), WantedOutputs(r.node));
  }
  const Shape* shape = x ? x->shape() : nullptr;
  if (shape == nullptr || shape->rank() != n + 2) {
    return CannotExpress("ceil_mode of an unknown shape");
  }
  std::vector<int64_t> covered(n);  // by the windows, from where the padding begins
  bool known = true;
  for (int64_t i = 0; i < n; ++i) {
    const Dim& in = (*shape)[SpatialAxis(last, i)];
    X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, in));
    known &= in.is_static() && out.is_static();
    if (out.is_static()) covered[i] = (out.value() - 1) * window.strides[i] + window.extent(i);
  }
  const bool padded = window.padded();
  if (!known && (!include_pad || padded)) {
    const FirstVersion later =
        include_pad ? FirstVersion{} : r.target.Later(Fact::Says(r.node.op(), "ceil_mode", 1));
    return CannotExpress("ceil_mode of an input of unknown size", later);
  }
  std::vector<int64_t> beyond(2 * n);  // what windows reach past the input and its padding
  for (int64_t i = 0; known && i < n; ++i) {
    const int64_t in = (*shape)[SpatialAxis(last, i)].value();
    const int64_t end = std::max<int64_t>(0, covered[i] - in - window.pad_begin(i));
    const int64_t counted = include_pad ? std::min(window.pad_end(i), end) : end;
    beyond[i + n] = end - counted;
    window.pads[i + n] = counted;
  }
  if (known) attrs.Set("ceil_mode", 0);
  if (include_pad) {
    if (padded) x = WithPads(r.b, x, window, last);
    attrs.Set("count_include_pad", 0);
    attrs.Set("pads", beyond);
  } else {
    attrs.Set("pads", window.pads);
  }
  return r.b.Ops(r.node.op(), {x}, std::move(attrs), WantedOutputs(r.node));
}

// With the padding that auto_pad SAME means.
absl::StatusOr<Window> WithSamePads(const Rewrite& r, const Window& window) {
  const auto padded = x2ir::WithPads(window, r.in(0)->shape());
  if (!padded) return CannotExpress("auto_pad of an unknown size");
  return *padded;
}

// Whether the target has pads, and not this auto_pad.
bool WantsPads(const Rewrite& r) {
  const std::string now = r.attrs().String("auto_pad", "NOTSET");
  return now != "NOTSET" && !r.target.Says(r.node.op(), "auto_pad", now) &&
         r.target.Says(r.node.op(), "auto_pad", "NOTSET");
}

// The window of a convolution is its weight's.
absl::StatusOr<std::vector<int64_t>> KernelOfWeight(const Rewrite& r) {
  const auto dims = r.in(1)->shape() ? r.in(1)->shape()->Static() : std::nullopt;
  if (!dims || dims->size() < 2) return CannotExpress("auto_pad of a weight of unknown size");
  return std::vector<int64_t>(dims->begin() + 2, dims->end());
}

// The pads themselves, for a target that has no auto_pad.
absl::StatusOr<Values> AutoPadAsPads(Rewrite& r) {
  if (!WantsPads(r)) return NothingToDo();
  std::vector<int64_t> kernel;
  if (r.node.op() != "conv") {
    kernel = r.attrs().Ints("kernel_shape");
  } else {
    X2IR_ASSIGN_OR_RETURN(kernel, KernelOfWeight(r));
  }
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), std::move(kernel)));
  if (window.auto_pad != AutoPad::kValid) {
    X2IR_ASSIGN_OR_RETURN(window, WithSamePads(r, window));
  }
  AttributeMap attrs = r.attrs();
  attrs.Set("auto_pad", "NOTSET");
  attrs.Set("pads", window.pads);
  if (attrs.Has("ceil_mode")) attrs.Set("ceil_mode", 0);  // it changes nothing with auto_pad
  return r.b.Ops(r.node.op(), r.node.inputs(), std::move(attrs), WantedOutputs(r.node));
}
X2IR_LOWERING(conv, AutoPadAsPads);
X2IR_LOWERING(max_pool, AutoPadAsPads);
X2IR_LOWERING(average_pool, AutoPadAsPads);
X2IR_LOWERING(lp_pool, AutoPadAsPads);

// The same. Pads cut what the windows cover here, down to the size that is wanted: with SAME the
// steps times the operand, whatever size that has.
absl::StatusOr<Values> TransposedAutoPadAsPads(Rewrite& r) {
  if (!WantsPads(r)) return NothingToDo();
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelOfWeight(r));
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(r.attrs(), std::move(kernel)));
  const size_t n = window.rank();
  const std::vector<int64_t> sizes = r.attrs().Ints("output_shape", {});
  std::vector<int64_t> more = r.attrs().Ints("output_padding", {});
  more.resize(n);
  std::vector<int64_t> pads(2 * n);
  for (size_t i = 0; i < n; ++i) {
    if (sizes.empty() && window.auto_pad == AutoPad::kValid) continue;
    // What there is more than is wanted.
    int64_t over = window.extent(i) + more[i] - window.strides[i];
    if (!sizes.empty()) {
      const int64_t axis = SpatialAxis(last, static_cast<int64_t>(i));
      const Shape* shape = r.in(0)->shape();
      const Dim size = shape && axis < shape->rank() ? (*shape)[axis] : Dim::Unknown();
      if (!size.is_static()) return CannotExpress("output_shape of an operand of unknown size");
      over += window.strides[i] * size.value() - sizes[i];
    }
    // Elements that no window reaches are the bias.
    if (over < 0) more[i] -= over;
    over = std::max<int64_t>(over, 0);
    const int64_t small = over / 2;
    const bool upper = window.auto_pad == AutoPad::kSameUpper;
    pads[i] = upper ? small : over - small;
    pads[i + n] = over - pads[i];
  }
  AttributeMap attrs = r.attrs();
  attrs.Set("auto_pad", "NOTSET");
  attrs.Set("pads", pads);
  (void)attrs.Take("output_shape");
  if (std::any_of(more.begin(), more.end(), [](int64_t m) { return m != 0; })) {
    attrs.Set("output_padding", more);
  }
  return r.b.Ops(r.node.op(), r.node.inputs(), std::move(attrs), WantedOutputs(r.node));
}
X2IR_LOWERING(conv_transpose, TransposedAutoPadAsPads);

// Padding that is part of the input: what is less than all else for a maximum, 0 for a sum.
absl::StatusOr<Values> PadsAsPad(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), r.attrs().Ints("kernel_shape")));
  const bool same = IsSame(window.auto_pad);
  if (same) {
    X2IR_ASSIGN_OR_RETURN(window, WithSamePads(r, window));
  } else if (window.ceil_mode) {
    return NothingToDo();
  }
  if (!window.padded() && !same) return NothingToDo();
  Value* least = nullptr;
  if (!window.padded()) {
    // SAME adds nothing.
  } else if (r.node.op() == "max_pool") {
    if (r.num_outputs() > 1 && r.node.output(1)) return CannotExpress("the indices of the maxima");
    if (!IsFloating(r.dtype(0))) return CannotExpress("padding of ", Name(r.dtype(0)));
    least = r.b.Scalar(r.dtype(0), -std::numeric_limits<double>::infinity());
  } else if (r.node.op() == "average_pool" && r.attrs().Int("count_include_pad") == 0) {
    return CannotExpress("padding that is not counted");
  }
  AttributeMap attrs = r.attrs();
  attrs.Set("pads", std::vector<int64_t>(window.pads.size(), 0));
  attrs.Set("auto_pad", "NOTSET");
  attrs.Set("ceil_mode", 0);
  if (attrs.Has("count_include_pad")) attrs.Set("count_include_pad", 0);
  Value* x = window.padded() ? WithPads(r.b, r.in(0), window, last, least) : r.in(0);
  return r.b.Ops(r.node.op(), {x}, std::move(attrs), WantedOutputs(r.node));
}

// With a node between a pad and the pool that changes nothing, for runtimes that join the two and
// should not.
absl::StatusOr<Values> ApartFromPad(Rewrite& r) {
  const Node* pad = r.in(0)->producer();
  if (!pad || (pad->op() != "pad" && pad->op() != "Pad")) return NothingToDo();
  Value* same = r.b.Op("max", {r.in(0)});
  return r.b.Ops(r.node.op(), {same}, r.attrs(), WantedOutputs(r.node));
}
// A norm over the spatial axes.
absl::StatusOr<Values> GlobalLpPoolAsNorm(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  const int64_t rank = r.rank(0), p = r.attrs().Int("p");
  if (rank < 3) return CannotExpress("as a norm, it needs spatial axes");
  std::vector<int64_t> spatial;
  for (int64_t i = 0; i < rank - 2; ++i) spatial.push_back(last ? i + 1 : i + 2);
  Value* axes = r.b.Ints(spatial, "axes");
  if (p == 1 || p == 2) {
    return Values{r.b.Op(p == 1 ? "reduce_l1" : "reduce_l2", {r.in(0), axes})};
  }
  if (!IsFloating(r.dtype(0)) || p < 1) return CannotExpress("as a norm, p is a positive number");
  const auto power = [&](Value* x, double to) {
    return r.b.Op("pow", {x, r.b.Scalar(r.dtype(0), to)});
  };
  Value* sum =
      r.b.Op("reduce_sum", {power(r.b.Op("abs", {r.in(0)}), static_cast<double>(p)), axes});
  return Values{power(sum, 1.0 / static_cast<double>(p))};
}
X2IR_LOWERING(global_lp_pool, GlobalLpPoolAsNorm);

X2IR_LOWERING(max_pool, ApartFromPad);

X2IR_LOWERING(max_pool, CeilModeAsPads);
X2IR_LOWERING(average_pool, CeilModeAsPads);
X2IR_LOWERING(lp_pool, CeilModeAsPads);
X2IR_LOWERING(max_pool, PadsAsPad);
X2IR_LOWERING(average_pool, PadsAsPad);
X2IR_LOWERING(lp_pool, PadsAsPad);

// --- Windows by gathering -------------------------------------------------------------------

// Which elements along one axis each window has.
struct AxisWindows {
  std::vector<int64_t> picks;  // [out, kernel]; of what lies outside some element that does not
  std::vector<double> inside;  // [out, kernel]: 1 where the window meets the input, else 0
  std::vector<double> counts;  // [out]: what meets the input, or its padding where that counts
  bool all_inside = true, some_empty = false;
};

AxisWindows WindowsAlong(const PlacedWindow& p, size_t axis, bool include_pad) {
  const Window& w = p.window;
  AxisWindows all;
  for (int64_t o = 0; o < p.out[axis]; ++o) {
    const int64_t start = o * w.strides[axis];
    const IndexRange range =
        InsideRange(w.kernel[axis], w.dilations[axis], start - w.pad_begin(axis), p.in[axis]);
    const int64_t padded_size = p.in[axis] + w.pad_begin(axis) + w.pad_end(axis);
    const IndexRange padded = InsideRange(w.kernel[axis], w.dilations[axis], start, padded_size);
    const int64_t count = include_pad ? padded.hi : range.hi - range.lo;
    all.counts.push_back(static_cast<double>(std::max<int64_t>(count, 1)));
    all.some_empty |= range.empty();
    for (int64_t k = 0; k < w.kernel[axis]; ++k) {
      const bool inside = k >= range.lo && k < range.hi;
      const int64_t nearest = std::clamp(k, range.lo, std::max(range.lo, range.hi - 1));
      all.picks.push_back(range.empty() ? 0
                                        : start - w.pad_begin(axis) + nearest * w.dilations[axis]);
      all.inside.push_back(inside ? 1 : 0);
      all.all_inside &= inside;
    }
  }
  return all;
}

absl::StatusOr<PlacedWindow> KnownWindow(Rewrite& r, bool last) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), r.attrs().Ints("kernel_shape")));
  const Shape* x = r.in(0)->shape();
  const size_t n = window.rank();
  if (!x || x->rank() != static_cast<int64_t>(n) + 2) return CannotExpress("an unknown shape");
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < n; ++i) {
    const Dim& size = (*x)[SpatialAxis(last, static_cast<int64_t>(i))];
    if (!size.is_static() || size.value() < 1) return CannotExpress("an input of unknown size");
    if (size.value() > kMaxLoweringElements / window.kernel[i]) {
      return CannotExpress("an input of size ", size.value());
    }
    sizes.push_back(size.value());
  }
  X2IR_ASSIGN_OR_RETURN(PlacedWindow p, PlaceWindow(std::move(window), sizes));
  for (size_t i = 0; i < n; ++i) {
    if (p.out[i] > kMaxLoweringElements / p.window.kernel[i]) {
      return CannotExpress(p.out[i], " windows of ", p.window.kernel[i]);
    }
  }
  return p;
}

// x with the elements of each window along an axis as a new axis after it.
Value* Gathered(Builder& b, Value* x, int64_t axis, const PlacedWindow& p, size_t i,
                const AxisWindows& windows) {
  const Tensor picks = Tensor::Of<int64_t>({p.out[i], p.window.kernel[i]}, windows.picks);
  return b.Op("gather", {x, b.Constant(picks, "windows")}, {{"axis", axis}});
}

// One axis after the other: a maximum of maxima. Outside the input the window sees an element
// that it has anyway.
absl::StatusOr<Values> MaxPoolAsGather(Rewrite& r) {
  if (r.num_outputs() > 1 && r.node.output(1)) return CannotExpress("the indices of the maxima");
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow p, KnownWindow(r, last));
  Value* y = r.in(0);
  for (size_t i = 0; i < p.in.size(); ++i) {
    const AxisWindows windows = WindowsAlong(p, i, false);
    if (windows.some_empty) return CannotExpress("a window that lies wholly in padding");
    const int64_t axis = SpatialAxis(last, static_cast<int64_t>(i));
    y = r.b.Op("reduce_max", {Gathered(r.b, y, axis, p, i, windows), r.b.Ints({axis + 1}, "axes")},
               {{"keepdims", 0}});
  }
  return Values{y};
}
X2IR_LOWERING(max_pool, MaxPoolAsGather);

// Sums are of float64, as in evaluation, where the target has these.
DType SumType(const Rewrite& r) {
  const bool wide =
      r.dtype(0) == DType::kFloat64 || r.target.Takes("reduce_sum", 0, DType::kFloat64);
  return wide ? DType::kFloat64 : DType::kFloat32;
}

// Sums of sums, zeros outside the input; how many elements each window counts.
struct WindowSums {
  Value *sums, *counts;
};

absl::StatusOr<WindowSums> SumWindows(Rewrite& r, Value* x, bool include_pad) {
  Builder& b = r.b;
  const DType t = x->dtype();
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  X2IR_ASSIGN_OR_RETURN(const PlacedWindow p, KnownWindow(r, last));
  Value* sum = x;
  std::vector<double> counts = {1};
  for (size_t i = 0; i < p.in.size(); ++i) {
    const AxisWindows windows = WindowsAlong(p, i, include_pad);
    const int64_t axis = SpatialAxis(last, static_cast<int64_t>(i));
    sum = Gathered(b, sum, axis, p, i, windows);
    if (!windows.all_inside) {
      std::vector<int64_t> dims = {p.out[i], p.window.kernel[i]};
      dims.resize(r.rank(0) + 1 - axis, 1);
      Value* inside = NumbersAs(b, DType::kBool, dims, windows.inside, "inside");
      sum = b.Op("where", {inside, sum, b.Scalar(t, 0, "zero")});
    }
    sum = b.Op("reduce_sum", {sum, b.Ints({axis + 1}, "axes")}, {{"keepdims", 0}});
    if (static_cast<int64_t>(counts.size()) >
        kMaxLoweringElements / std::max<int64_t>(1, p.out[i])) {
      return CannotExpress("too many windows");
    }
    std::vector<double> product;
    for (const double c : counts) {
      for (const double d : windows.counts) product.push_back(c * d);
    }
    counts = std::move(product);
  }
  std::vector<int64_t> dims = p.out;
  if (last) dims.push_back(1);
  return WindowSums{sum, NumbersAs(b, t, dims, counts, "counts")};
}

absl::StatusOr<Values> AveragePoolAsGather(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(FloatComputeType(r.dtype(0)).status());
  const bool include_pad = r.attrs().Int("count_include_pad") != 0;
  Value* x = Expr(r.b, r.in(0)).To(SumType(r));
  X2IR_ASSIGN_OR_RETURN(const WindowSums w, SumWindows(r, x, include_pad));
  return Values{Expr(r.b, r.b.Op("div", {w.sums, w.counts})).To(r.dtype(0))};
}
X2IR_LOWERING(average_pool, AveragePoolAsGather);

absl::StatusOr<Values> LpPoolAsGather(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(FloatComputeType(r.dtype(0)).status());
  Builder& b = r.b;
  const auto p = static_cast<double>(r.attrs().Int("p"));
  const DType t = SumType(r);
  const auto number = [&](double v) { return b.Scalar(t, v); };
  Value* x = Expr(b, r.in(0)).To(t);
  Value* size = b.Op("abs", {x});
  Value* power = p == 1 ? size : p == 2 ? b.Op("mul", {x, x}) : b.Op("pow", {size, number(p)});
  X2IR_ASSIGN_OR_RETURN(const WindowSums w, SumWindows(r, power, false));
  Value* y = p == 1   ? w.sums
             : p == 2 ? b.Op("sqrt", {w.sums})
                      : b.Op("pow", {w.sums, number(1 / p)});
  return Values{Expr(b, y).To(r.dtype(0))};
}
X2IR_LOWERING(lp_pool, LpPoolAsGather);

}  // namespace
}  // namespace x2ir
