#include "x2ir/builder/layers/window.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

// --- Pads ----------------------------------------------------------------------------------------

std::vector<int64_t> JoinPads(std::vector<int64_t> begins, const std::vector<int64_t>& ends) {
  begins.insert(begins.end(), ends.begin(), ends.end());
  return begins;
}

std::vector<int64_t> PadsOfPairs(absl::Span<const int64_t> pairs) {
  const size_t n = pairs.size() / 2;
  std::vector<int64_t> pads(2 * n);
  for (size_t i = 0; i < 2 * n; ++i) pads[i % 2 * n + i / 2] = pairs[i];
  return pads;
}
std::vector<int64_t> PairsOfPads(absl::Span<const int64_t> pads) {
  const size_t n = pads.size() / 2;
  std::vector<int64_t> pairs(2 * n);
  for (size_t i = 0; i < 2 * n; ++i) pairs[i] = pads[i % 2 * n + i / 2];
  return pairs;
}

std::vector<int64_t> TensorPads(const Window& window) {
  const size_t rank = window.rank() + 2;
  std::vector<int64_t> all(2 * rank, 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<size_t>(window.axis(i));
    all[axis] = window.pad_begin(i);
    all[rank + axis] = window.pad_end(i);
  }
  return all;
}

// --- Read ----------------------------------------------------------------------------------------

AttributeMap WindowAttrs(const Window& window) {
  static constexpr const char* kAutoPads[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  AttributeMap attrs = {{"layout", LayoutName(window.channels_last)},
                        {"auto_pad", kAutoPads[static_cast<size_t>(window.auto_pad)]}};
  if (!window.strides.empty()) attrs.Set("strides", window.strides);
  if (!window.dilations.empty()) attrs.Set("dilations", window.dilations);
  if (!window.pads.empty()) attrs.Set("pads", window.pads);
  return attrs;
}
AttributeMap PoolAttrs(const Window& window) {
  AttributeMap attrs = WindowAttrs(window);
  attrs.Set("kernel_shape", window.kernel);
  attrs.Set("ceil_mode", window.ceil_mode ? 1 : 0);
  return attrs;
}

void CheckWindow(NodeReader& a, const Window& window) {
  constexpr int64_t kLimit = int64_t{1} << 24;
  const auto within = [](const std::vector<int64_t>& numbers, int64_t least) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t n) { return n >= least && n <= kLimit; });
  };
  if (!within(window.kernel, 1) || !within(window.strides, 1) || !within(window.dilations, 1) ||
      !within(window.pads, 0)) {
    a.Fail(Invalid("a window without a size or a step, or one that is too large"));
  }
}

Expr MakeConv(const Expr& x, Value* weights, Value* bias, const Window& window, int64_t groups) {
  AttributeMap attrs = WindowAttrs(window);
  attrs.Set("group", groups);
  return x.Op("conv", {weights, bias}, std::move(attrs));
}
Expr MakeConvTranspose(const Expr& x, Value* weights, Value* bias, const Window& window,
                       int64_t groups, const std::vector<int64_t>& output_padding) {
  AttributeMap attrs = WindowAttrs(window);
  attrs.Set("group", groups);
  if (!output_padding.empty()) attrs.Set("output_padding", output_padding);
  return x.Op("conv_transpose", {weights, bias}, std::move(attrs));
}

// --- Where sizes are rounded up ------------------------------------------------------------------

LastWindow LastOf(const Window& window, size_t i, int64_t in, bool within) {
  const int64_t extent = window.extent(i), stride = window.strides[i];
  const int64_t room = in + window.pad_begin(i) + window.pad_end(i) - extent;
  const int64_t steps = (window.ceil_mode ? room + stride - 1 : room) / stride;
  int64_t begin = steps * stride - window.pad_begin(i);
  if (within && begin >= in) begin -= stride;
  return {begin, begin + extent - in};
}
bool LastBeginsInside(const Window& window, size_t i, const Dim& in) {
  if (window.pad_end(i) + window.strides[i] <= window.extent(i)) return true;
  return in.is_static() && LastOf(window, i, in.value(), false).begin < in.value();
}

// --- Written -------------------------------------------------------------------------------------

std::optional<Window> WithPads(Window window, const Shape* x) {
  const bool odd_at_end = window.auto_pad == AutoPad::kSameUpper;
  for (size_t i = 0; IsSame(window.auto_pad) && i < window.rank(); ++i) {
    const Dim in = x && window.axis(i) < x->rank() ? (*x)[window.axis(i)] : Dim();
    // With steps of 1 it is as much for any size.
    if (!in.is_static() && window.strides[i] != 1) return std::nullopt;
    const int64_t size = in.is_static() ? in.value() : 1;
    window.SplitPads(i, SamePadding(size, window.extent(i), window.strides[i]), odd_at_end);
  }
  return window;
}

Value* PadApart(NodeWriter& w, Window& window, double number) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < window.rank(); ++i) axes.push_back(window.axis(i));
  const std::vector<int64_t> pads =
      std::exchange(window.pads, std::vector<int64_t>(2 * axes.size()));
  return w.Op("pad", {w.in(0), w.Ints(pads), w.Number(w.dtype(), number), w.Ints(axes)});
}

absl::StatusOr<Value*> ReduceSpatial(NodeWriter& w, Symbol reduction) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
  if (rank < 3) return w.Op("identity", {w.in(0)});
  return w.Op(reduction, {w.in(0), w.Ints(CountedFrom(SpatialAxis(last, 0), rank - 2))},
              {{"keepdims", 1}});
}

}  // namespace x2ir
