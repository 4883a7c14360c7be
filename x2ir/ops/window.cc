// Window geometry, see window.h.
#include "x2ir/ops/window.h"

#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// No real kernel, stride or padding comes near; keeps every product below inside int64.
constexpr int64_t kMaxWindowInt = int64_t{1} << 31;

// The list of that name, or `n` times `fill` when it is absent or empty.
absl::StatusOr<std::vector<int64_t>> ReadInts(const AttributeMap& attrs, Symbol name, size_t n,
                                              int64_t fill, int64_t least) {
  std::vector<int64_t> values = attrs.Ints(name, {});
  if (values.empty()) values.assign(n, fill);
  if (values.size() != n) {
    return Invalid(name.view(), ": expected ", n, " numbers, got ", values.size());
  }
  for (int64_t v : values) {
    if (v < least || v >= kMaxWindowInt) {
      return Invalid(name.view(), ": expected numbers from ", least, ", got ", v);
    }
  }
  return values;
}

int64_t CeilDivide(int64_t a, int64_t b) {  // b > 0
  return a / b + (a % b > 0 ? 1 : 0);
}
int64_t FloorDivide(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

void ConvAttrs(OpDef& op) {
  op.Attrs(
      "layout = 'channels_first', auto_pad = 'NOTSET', group = 1, strides: ints?, "
      "dilations: ints?, pads: ints?");
}

absl::StatusOr<bool> ChannelsLast(const AttributeMap& attrs) {
  return ChoiceOf<bool>("layout", attrs.String("layout", "channels_first"),
                        {"channels_first", "channels_last"});
}

Shape LayoutShape(bool channels_last, Dim batch, Dim channels, std::vector<Dim> spatial) {
  std::vector<Dim> dims;
  dims.reserve(spatial.size() + 2);
  dims.push_back(std::move(batch));
  if (!channels_last) dims.push_back(channels);
  for (Dim& d : spatial) dims.push_back(std::move(d));
  if (channels_last) dims.push_back(channels);
  return Shape(std::move(dims));
}

Tensor ToChannelsFirst(const Tensor& t) {
  std::vector<int64_t> perm = {0, t.rank() - 1};
  for (int64_t i = 1; i + 1 < t.rank(); ++i) perm.push_back(i);
  return TransposeTensor(t, perm);
}

Tensor ToChannelsLast(const Tensor& t) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < t.rank(); ++i) perm.push_back(i);
  perm.push_back(1);
  return TransposeTensor(t, perm);
}

absl::StatusOr<AutoPad> ReadAutoPad(const AttributeMap& attrs) {
  const std::string name = attrs.String("auto_pad", "NOTSET");
  if (name.empty()) return AutoPad::kNotSet;
  return ChoiceOf<AutoPad>("auto_pad", name, {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}

std::vector<int64_t> Window::begins() const {
  return {pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank())};
}
std::vector<int64_t> Window::ends() const {
  return {pads.begin() + static_cast<ptrdiff_t>(rank()), pads.end()};
}
bool Window::padded() const {
  return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
}
bool Window::even() const { return begins() == ends(); }
bool Window::dilated() const {
  return std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; });
}
void Window::SplitPads(size_t i, int64_t total, bool odd_at_end) {
  const int64_t half = total / 2;
  pads[i] = odd_at_end ? half : total - half;
  pads[i + rank()] = total - pads[i];
}

int64_t SamePadding(int64_t in, int64_t extent, int64_t stride) {
  const int64_t last = (CeilDivide(in, stride) - 1) * stride;
  return std::max<int64_t>(0, last + extent - in);
}

absl::StatusOr<Window> ReadWindow(const AttributeMap& attrs, std::vector<int64_t> kernel) {
  Window w;
  const size_t n = kernel.size();
  for (int64_t k : kernel) {
    if (k < 1 || k >= kMaxWindowInt) return Invalid("kernel: expected sizes from 1, got ", k);
  }
  w.kernel = std::move(kernel);
  X2IR_ASSIGN_OR_RETURN(w.strides, ReadInts(attrs, "strides", n, 1, 1));
  X2IR_ASSIGN_OR_RETURN(w.dilations, ReadInts(attrs, "dilations", n, 1, 1));
  X2IR_ASSIGN_OR_RETURN(w.auto_pad, ReadAutoPad(attrs));
  X2IR_ASSIGN_OR_RETURN(w.pads, ReadInts(attrs, "pads", 2 * n, 0, 0));
  // "pads cannot be used simultaneously with auto_pad": the latter says it all.
  if (w.auto_pad != AutoPad::kNotSet) w.pads.assign(2 * n, 0);
  w.ceil_mode = attrs.Int("ceil_mode", 0) != 0;
  X2IR_ASSIGN_OR_RETURN(w.channels_last, ChannelsLast(attrs));
  return w;
}

absl::StatusOr<Dim> OutputDim(const Window& w, size_t i, const Dim& in) {
  const int64_t stride = w.strides[i];
  if (IsSame(w.auto_pad)) return CeilDiv(in, stride);
  // VALID gives the same number with and without ceil_mode, by ONNX's formula.
  const bool ceil_mode = w.ceil_mode && w.auto_pad == AutoPad::kNotSet;
  const int64_t slack = w.pad_begin(i) + w.pad_end(i) - w.extent(i);
  if (!in.is_static()) {
    const Dim room = in + Dim(slack);
    if (!ceil_mode || stride == 1) return FloorDiv(room, stride) + 1;
    // A last window that would start past the input and its padding in front is left out.
    // That cannot happen where strides are small.
    const Dim all = CeilDiv(room, stride) + 1;
    if (stride <= w.extent(i) - w.pad_end(i)) return all;
    if (w.pad_end(i) > w.extent(i)) return Dim::Unknown();
    return Min(all, CeilDiv(in + Dim(w.pad_begin(i)), stride));
  }
  int64_t room;
  if (__builtin_add_overflow(in.value(), slack, &room)) return Invalid("size overflows");
  if (room < 0) {
    return Invalid("kernel covers ", w.extent(i), " elements of spatial axis ", i,
                   ", which has only ", in.value(), " and ", w.pad_begin(i) + w.pad_end(i),
                   " of padding");
  }
  if (!ceil_mode) return Dim(room / stride + 1);
  int64_t out = CeilDivide(room, stride) + 1;
  if ((out - 1) * stride >= in.value() + w.pad_begin(i)) --out;
  return Dim(out);
}

absl::StatusOr<PlacedWindow> PlaceWindow(Window window, absl::Span<const int64_t> in) {
  PlacedWindow placed;
  const size_t n = window.rank();
  for (size_t i = 0; i < n; ++i) {
    X2IR_ASSIGN_OR_RETURN(Dim out, OutputDim(window, i, Dim(in[i])));
    placed.in.push_back(in[i]);
    placed.out.push_back(out.value());
  }
  if (IsSame(window.auto_pad)) {
    for (size_t i = 0; i < n; ++i) {
      window.SplitPads(i, SamePadding(in[i], window.extent(i), window.strides[i]),
                       window.auto_pad == AutoPad::kSameUpper);
    }
  }
  placed.window = std::move(window);
  return placed;
}

IndexRange InsideRange(int64_t n, int64_t stride, int64_t offset, int64_t size) {
  // Smallest o with o*stride + offset >= 0; smallest with o*stride + offset >= size.
  const int64_t lo = offset >= 0 ? 0 : -FloorDivide(offset, stride);
  const int64_t hi = size <= offset ? 0 : CeilDivide(size - offset, stride);
  return {std::min(lo, n), std::min(hi, n)};
}

}  // namespace x2ir
