// TensorFlow: gradients of convolutions for their inputs, which serve as transposed convolutions.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// One spatial axis of the convolution whose gradient this is: from `out` elements (the result of
// the op) it made `in`.
struct Axis {
  int64_t in, out, kernel, stride, dilation;
  int64_t begin, end;  // paddings

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// ceil(a / b), of a > 0.
int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// strides, dilations and padding of the convolution, as the attributes say.
struct Windows {
  TfLayout layout;
  std::vector<int64_t> strides, dilations;
  std::string padding;
  std::vector<int64_t> pads;  // explicit ones
};
Windows TakeWindows(TfArgs& a, size_t spatial) {
  Windows w;
  w.layout = TakeLayout(a, spatial == 2 ? "NHWC" : "NDHWC");
  w.strides = TakeSpatial(a, "strides", w.layout, spatial);
  w.dilations = TakeSpatial(a, "dilations", w.layout, spatial);
  w.padding = a.String("padding", "");
  AttributeMap attrs;
  TakePadding(a, w.layout, spatial, &attrs);
  w.pads = attrs.Ints("pads", {});
  return w;
}

// The paddings of SAME and VALID, and whether sizes go together.
absl::Status Complete(const std::string& padding, Axis* axis) {
  constexpr int64_t kMost = int64_t{1} << 31;
  for (const int64_t n : {axis->in, axis->out, axis->kernel, axis->stride, axis->dilation}) {
    if (n < 1 || n >= kMost) return Invalid("a size, stride or dilation of ", n);
  }
  if (padding == "SAME") {
    const int64_t windows = CeilDiv(axis->out, axis->stride);
    const int64_t covered = (windows - 1) * axis->stride + axis->extent();
    const int64_t total = std::max<int64_t>(covered - axis->out, 0);
    axis->begin = total / 2;
    axis->end = total - axis->begin;
  }
  if (axis->begin < 0 || axis->end < 0 || axis->begin >= kMost || axis->end >= kMost) {
    return Invalid("paddings of ", axis->begin, " and ", axis->end);
  }
  const int64_t span = axis->out + axis->begin + axis->end - axis->extent();
  if (span < 0 || span / axis->stride + 1 != axis->in) {
    return Invalid("a convolution does not make ", axis->in, " elements of ", axis->out);
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
absl::StatusOr<Value*> Transposed(TfArgs& a, const Windows& w, const std::vector<Dim>& sizes,
                                  Value* x, Value* kernel, const std::vector<Dim>& lengths,
                                  int64_t group) {
  const size_t spatial = lengths.size(), rank = spatial + 2;
  if (sizes.size() != rank || x->shape()->rank() != static_cast<int64_t>(rank)) {
    return Invalid(sizes.size(), " sizes of the result, and an operand of rank ",
                   x->shape()->rank());
  }
  const size_t first = w.layout.channels_last ? 1 : 2;
  std::vector<int64_t> pads(2 * spatial), extra(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const auto related = RelatedSizes((*x->shape())[static_cast<int64_t>(first + i)],
                                      sizes[first + i], w.strides[i]);
    if (!related || !lengths[i].is_static()) {
      return Unimplemented("spatial sizes of the operand, the kernel or the result are not known");
    }
    Axis axis{related->in, related->out, lengths[i].value(), w.strides[i], w.dilations[i], 0, 0};
    if (!w.pads.empty()) {
      axis.begin = w.pads[i];
      axis.end = w.pads[spatial + i];
    }
    X2IR_RETURN_IF_ERROR(Complete(w.padding, &axis));
    pads[i] = axis.begin;
    pads[spatial + i] = axis.end;
    // Elements at the end that no window reached.
    const int64_t covered = (axis.in - 1) * axis.stride + axis.extent();
    extra[i] = axis.out + axis.begin + axis.end - covered;
  }
  AttributeMap attrs = {{"layout", w.layout.name()}, {"group", group}};
  attrs.Set("strides", w.strides);
  attrs.Set("dilations", w.dilations);
  attrs.Set("pads", std::move(pads));
  const bool any = std::any_of(extra.begin(), extra.end(), [](int64_t n) { return n != 0; });
  if (any) attrs.Set("output_padding", std::move(extra));
  return a.Op("conv_transpose", {x, kernel}, std::move(attrs));
}

// Operands: the result's sizes (or a tensor of them), the kernel, and what is convolved.
template <size_t kSpatial, bool kSizesOfTensor>
absl::StatusOr<Value*> ConvTranspose(TfArgs& a) {
  constexpr int64_t kRank = kSpatial + 2;
  const Windows w = TakeWindows(a, kSpatial);
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
    sizes->insert(sizes->begin(), w.layout.channels_last ? 1 : 2, Dim());
    sizes->resize(kRank);
  }
  const Shape& kernel = *a.shape(1);
  std::vector<Dim> lengths;
  for (size_t i = 0; i < kSpatial; ++i) lengths.push_back(kernel[static_cast<int64_t>(i)]);
  // A kernel for fewer channels than the result has is one for each of some groups.
  int64_t group = 1;
  const Dim of_group = kernel[kRank - 2];
  const Dim channels =
      sizes->size() == kRank ? (*sizes)[static_cast<size_t>(w.layout.ChannelAxis(kRank))] : Dim();
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
  const Windows w = TakeWindows(a, 2);
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
