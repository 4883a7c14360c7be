// TensorFlow: gradients of convolutions for their inputs, which serve as transposed convolutions.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// The window is that of the convolution whose gradient this is: from `out` elements (the result of
// the op) it made `in`.
Window TakeWindows(TfArgs& a, size_t spatial) {
  return TakeConvWindow(a, TakeLayout(a, spatial == 2 ? "NHWC" : "NDHWC"), spatial);
}

// The paddings of SAME and VALID along axis i, and whether sizes go together.
absl::Status Complete(int64_t in, int64_t out, size_t i, Window* w) {
  constexpr int64_t kMost = int64_t{1} << 31;
  for (const int64_t n : {in, out, w->kernel[i], w->strides[i], w->dilations[i]}) {
    if (n < 1 || n >= kMost) return Invalid("a size, stride or dilation of ", n);
  }
  if (IsSame(w->auto_pad)) {
    w->SplitPads(i, SamePadding(out, w->extent(i), w->strides[i]), /*odd_at_end=*/true);
  }
  const int64_t begin = w->pad_begin(i), end = w->pad_end(i);
  if (begin < 0 || end < 0 || begin >= kMost || end >= kMost) {
    return Invalid("paddings of ", begin, " and ", end);
  }
  const int64_t span = out + begin + end - w->extent(i);
  if (span < 0 || span / w->strides[i] + 1 != in) {
    return Invalid("a convolution does not make ", in, " elements of ", out);
  }
  return absl::OkStatus();
}

// Sizes of an operand and its result of one axis. Where they vary together, by a fixed number of
// elements beside the strides, paddings are the same for all: others of that kind stand for them.
struct SizesOfAxis {
  int64_t in, out;
};
std::optional<SizesOfAxis> RelatedSizes(const Dim& in, const Dim& out, int64_t stride) {
  if (in.is_static() && out.is_static()) return SizesOfAxis{in.value(), out.value()};
  constexpr int64_t kSome = int64_t{1} << 16;
  const Dim rest = out - in * Dim(stride);
  if (!rest.is_static() || rest.value() <= -kSome || rest.value() >= kSome) return std::nullopt;
  return SizesOfAxis{kSome, kSome * stride + rest.value()};
}

// The result of those sizes ([batch, spatial..., channels] or as the layout says), of which the
// spatial ones must be known, or related to the operand's. `kernel` is [in, out of a group,
// kernel...] by now, `lengths` its spatial sizes.
absl::StatusOr<Value*> Transposed(TfArgs& a, Window w, const std::vector<Dim>& sizes, Value* x,
                                  Value* kernel, const std::vector<Dim>& lengths, int64_t group) {
  const size_t spatial = lengths.size(), rank = spatial + 2;
  if (sizes.size() != rank || x->shape()->rank() != static_cast<int64_t>(rank)) {
    return Invalid(sizes.size(), " sizes of the result, and an operand of rank ",
                   x->shape()->rank());
  }
  w.kernel.resize(spatial);
  w.pads.resize(2 * spatial);
  std::vector<int64_t> extra;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t axis = w.axis(i);
    const auto related =
        RelatedSizes((*x->shape())[axis], sizes[static_cast<size_t>(axis)], w.strides[i]);
    if (!related || !lengths[i].is_static()) {
      return Unimplemented("spatial sizes of the operand, the kernel or the result are not known");
    }
    w.kernel[i] = lengths[i].value();
    X2IR_RETURN_IF_ERROR(Complete(related->in, related->out, i, &w));
    // Elements at the end that no window reached.
    const int64_t covered = (related->in - 1) * w.strides[i] + w.extent(i);
    extra.push_back(related->out + w.pad_begin(i) + w.pad_end(i) - covered);
  }
  w.auto_pad = AutoPad::kNotSet;
  if (std::all_of(extra.begin(), extra.end(), [](int64_t n) { return n == 0; })) extra.clear();
  return MakeConvTranspose({a, x}, kernel, nullptr, w, group, extra);
}

// Operands: the result's sizes (or a tensor of them), the kernel, and what is convolved.
template <size_t kSpatial, bool kSizesOfTensor>
absl::StatusOr<Value*> ConvTranspose(TfArgs& a) {
  constexpr int64_t kRank = kSpatial + 2;
  const Window w = TakeWindows(a, kSpatial);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  X2IR_RETURN_IF_ERROR(a.Rank(2).status());
  if (of_kernel != kRank) return Invalid("expected a kernel of rank ", kRank);
  std::optional<std::vector<Dim>> sizes;
  if (!kSizesOfTensor) {
    sizes = PartlyKnownInts(a.in(0));
  } else if (const Shape* shape = a.shape(0)) {
    sizes.emplace();
    for (int64_t i = 0; i < shape->rank(); ++i) sizes->push_back((*shape)[i]);
  }
  if (!sizes) return Unimplemented("operand 0 (sizes of the result) is computed");
  // Without the batch and the channels.
  if (sizes->size() == kSpatial) {
    sizes->insert(sizes->begin(), w.channels_last ? 1 : 2, Dim());
    sizes->resize(kRank);
  }
  const Shape& kernel = *a.shape(1);
  std::vector<Dim> lengths;
  for (size_t i = 0; i < kSpatial; ++i) lengths.push_back(kernel[static_cast<int64_t>(i)]);
  // A kernel for fewer channels than the result has is one for each of some groups.
  int64_t group = 1;
  const Dim of_group = kernel[kRank - 2];
  const Dim channels = sizes->size() == kRank
                           ? (*sizes)[static_cast<size_t>(ChannelAxis(w.channels_last, kRank))]
                           : Dim();
  if (channels.is_static() && of_group.is_static() && channels.value() != of_group.value()) {
    if (of_group.value() < 1 || channels.value() % of_group.value() != 0) {
      return Invalid("a kernel for ", of_group.value(), " channels of ", channels.value());
    }
    group = channels.value() / of_group.value();
  }
  return Transposed(a, w, *sizes, a.in(2), KernelToOihw(a, a.in(1)), lengths, group);
}

// The same of depthwise convolutions, whose kernel is [kernel..., channels, multiplier].
absl::StatusOr<Value*> DepthwiseTranspose(TfArgs& a) {
  const Window w = TakeWindows(a, 2);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  X2IR_RETURN_IF_ERROR(a.Rank(2).status());
  if (of_kernel != 4) return Invalid("expected a kernel of rank 4");
  const auto sizes = PartlyKnownInts(a.in(0));
  const Shape& kernel = *a.shape(1);
  if (!sizes || !kernel.is_static()) {
    return Unimplemented("sizes of the kernel or the result are not known");
  }
  const int64_t channels = kernel[2].value();
  Value* relaid =
      ReshapeTo({a, Relaid(a, a.in(1), {2, 3, 0, 1})},
                Ints(a, {channels * kernel[3].value(), 1, kernel[0].value(), kernel[1].value()}));
  return Transposed(a, w, *sizes, a.in(2), relaid, {kernel[0], kernel[1]}, channels);
}

}  // namespace

X2IR_TF(conv_transpose)
    .From("Conv2DBackpropInput", ConvTranspose<2, false>)
    .From("Conv2DBackpropInputV2", ConvTranspose<2, true>)
    .From("Conv3DBackpropInput", ConvTranspose<3, true>)
    .From("Conv3DBackpropInputV2", ConvTranspose<3, false>)
    .From("DepthwiseConv2dNativeBackpropInput", DepthwiseTranspose);

}  // namespace x2ir
