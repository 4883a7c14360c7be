// Window: how a kernel slides over spatial axes, for convolutions and pools: the axis of the
// channels, the number of positions, and the padding that auto_pad means.
#ifndef X2IR_OPS_WINDOW_H_
#define X2IR_OPS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

class OpDef;
// The attributes that all convolutions have.
void ConvAttrs(OpDef& op);

// --- Layout ---------------------------------------------------------------------------------

// Whether attribute `layout` is "channels_last"; InvalidArgument unless it is one of the two.
// An absent attribute is channels_first.
absl::StatusOr<bool> ChannelsLast(const AttributeMap& attrs);
// Axis of the channels, and of spatial axis i, of a tensor of that rank (>= 2).
inline int64_t ChannelAxis(bool channels_last, int64_t rank) {
  return channels_last ? rank - 1 : 1;
}
inline int64_t SpatialAxis(bool channels_last, int64_t i) { return channels_last ? 1 + i : 2 + i; }
// batch, channels and spatial dims put together in the given layout.
Shape LayoutShape(bool channels_last, Dim batch, Dim channels, std::vector<Dim> spatial);
// channels_last <-> channels_first. The tensor's rank must be at least 2.
Tensor ToChannelsFirst(const Tensor& t);
Tensor ToChannelsLast(const Tensor& t);

// --- Window ---------------------------------------------------------------------------------

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };
absl::StatusOr<AutoPad> ReadAutoPad(const AttributeMap& attrs);
inline bool IsSame(AutoPad p) { return p == AutoPad::kSameUpper || p == AutoPad::kSameLower; }

struct Window {
  std::vector<int64_t> kernel = {};  // one number per spatial axis, as the next two
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilations = {};
  std::vector<int64_t> pads = {};  // all begins, then all ends; zeros unless auto_pad is NOTSET
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  bool channels_last = false;

  size_t rank() const { return kernel.size(); }
  // What the kernel covers, gaps of dilation included.
  int64_t extent(size_t i) const {
    return (kernel[i] - 1) * (dilations.empty() ? 1 : dilations[i]) + 1;
  }
  int64_t pad_begin(size_t i) const { return pads[i]; }
  int64_t pad_end(size_t i) const { return pads[i + rank()]; }
  std::vector<int64_t> begins() const;
  std::vector<int64_t> ends() const;
  int64_t axis(size_t i) const { return SpatialAxis(channels_last, static_cast<int64_t>(i)); }

  bool padded() const;   // whether a pad is not 0
  bool even() const;     // whether both ends of each axis have the same pads
  bool dilated() const;  // whether a dilation is not 1
  // Gives axis i `total` elements of padding, of which an odd one is at the end, or at the begin.
  void SplitPads(size_t i, int64_t total, bool odd_at_end);
};

// What SAME adds to an axis of `in` elements: as much as gives a window for each step.
int64_t SamePadding(int64_t in, int64_t extent, int64_t stride);

// Reads strides, dilations, pads, auto_pad, ceil_mode and layout (absent or empty: 1, 1, 0, NOTSET,
// 0, channels_first) for that kernel, and checks lengths and ranges (InvalidArgument).
absl::StatusOr<Window> ReadWindow(const AttributeMap& attrs, std::vector<int64_t> kernel);

// Positions along spatial axis i over `in` elements. InvalidArgument when the kernel is
// certainly larger than the padded input.
absl::StatusOr<Dim> OutputDim(const Window& window, size_t i, const Dim& in);

// The window over an input of known size: output sizes, and `pads` as auto_pad resolves them.
struct PlacedWindow {
  Window window;
  std::vector<int64_t> in, out;
};
absl::StatusOr<PlacedWindow> PlaceWindow(Window window, absl::Span<const int64_t> in);

// Positions o in [0, n) for which o * stride + offset lies in [0, size): a range [lo, hi).
struct IndexRange {
  int64_t lo, hi;
  bool empty() const { return lo >= hi; }
};
IndexRange InsideRange(int64_t n, int64_t stride, int64_t offset, int64_t size);

// Product of sizes. Wraps where only an empty tensor could have such sizes.
inline int64_t Product(absl::Span<const int64_t> dims) {
  uint64_t n = 1;
  for (int64_t d : dims) n *= static_cast<uint64_t>(d);
  return static_cast<int64_t>(n);
}

// Counts `index` through `dims` in row-major order; false when it wrapped around to zeros.
inline bool NextIndex(absl::Span<const int64_t> dims, std::vector<int64_t>& index) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace x2ir

#endif  // X2IR_OPS_WINDOW_H_
