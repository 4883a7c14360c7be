// TensorFlow: convolutions, in either layout.
#include "x2ir/handlers/tf/conv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/weights.h"
#include "x2ir/handlers/tf/fused.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// A dim that must be a number.
absl::StatusOr<int64_t> Known(TfArgs& a, size_t i, int64_t axis, std::string_view what) {
  const Shape* shape = a.shape(i);
  if (!shape || axis >= shape->rank() || !(*shape)[axis].is_static()) {
    return Unimplemented("the number of ", what, " is not known");
  }
  return (*shape)[axis].value();
}

absl::StatusOr<Value*> Conv(TfArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const int64_t expected = static_cast<int64_t>(spatial) + 2;
  const TfLayout layout = TakeLayout(a, spatial == 2 ? "NHWC" : "NDHWC");
  const Window window = TakeConvWindow(a, layout, spatial);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  if (rank != expected || of_kernel != expected)
    return Invalid("expected operands of rank ", expected);
  // A kernel for fewer channels is one for each of some groups. Of unknown channels there are none:
  // a convolution of others is an error when it runs.
  const Dim of_group = (*a.shape(1))[expected - 2];
  const Dim channels = (*a.shape(0))[layout.ChannelAxis(expected)];
  int64_t group = 1;
  if (of_group.is_static() && channels.is_static() && of_group.value() != channels.value()) {
    if (of_group.value() == 0 || channels.value() % of_group.value() != 0) {
      return Invalid("a kernel for ", of_group.value(), " channels over ", channels.value());
    }
    group = channels.value() / of_group.value();
  }
  return MakeConv(a.in(0), KernelToOihw(a, a.in(1)), nullptr, window, group);
}

// Output channel c * m + j is the j-th of input channel c.
absl::StatusOr<Value*> DepthwiseConv(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  const Window window = TakeConvWindow(a, layout, 2);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  if (of_kernel != 4) return Invalid("expected a kernel of rank 4");
  std::vector<int64_t> dims(4);
  for (int64_t i = 0; i < 4; ++i) {
    X2IR_ASSIGN_OR_RETURN(dims[i], Known(a, 1, i, "the kernel's elements"));
  }
  Value* kernel = Relaid(a, a.in(1), {2, 3, 0, 1});
  kernel = ReshapedWeight(a, kernel, {dims[2] * dims[3], 1, dims[0], dims[1]});
  return MakeConv(a.in(0), kernel, nullptr, window, dims[2]);
}

// With what follows, as TensorFlow's graph optimizer makes one node of it.
template <absl::StatusOr<Value*> (*kConv)(TfArgs&)>
absl::StatusOr<Value*> FusedConv(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Value * y, kConv(a));
  return FusedOps(a, y, TakeLayout(a));
}

// The window is that of the convolution whose gradient this is: from `out` elements (the result of
// the op) it made `in`.
Window TakeWindows(TfArgs& a, size_t spatial) {
  return TakeConvWindow(a, TakeLayout(a, spatial == 2 ? "NHWC" : "NDHWC"), spatial);
}

constexpr int64_t kSizeLimit = int64_t{1} << 31;

absl::Status CheckAxis(const Window& w, size_t i) {
  for (const int64_t n : {w.kernel[i], w.strides[i], w.dilations[i]}) {
    if (n < 1 || n >= kSizeLimit) return Invalid("a size, stride or dilation of ", n);
  }
  const int64_t begin = w.pad_begin(i), end = w.pad_end(i);
  if (begin < 0 || end < 0 || begin >= kSizeLimit || end >= kSizeLimit) {
    return Invalid("paddings of ", begin, " and ", end);
  }
  return absl::OkStatus();
}

// The paddings of SAME and VALID along axis i, and whether sizes go together.
absl::Status Complete(int64_t in, int64_t out, size_t i, Window* w) {
  if (std::min(in, out) < 1 || std::max(in, out) >= kSizeLimit) {
    return Invalid("sizes of ", in, " and ", out);
  }
  if (IsSame(w->auto_pad)) {
    w->SplitPads(i, SamePadding(out, w->extent(i), w->strides[i]), /*odd_at_end=*/true);
  }
  const int64_t span = out + w->pad_begin(i) + w->pad_end(i) - w->extent(i);
  if (span < 0 || span / w->strides[i] + 1 != in) {
    return Invalid("a convolution does not make ", in, " elements of ", out);
  }
  return absl::OkStatus();
}

// Sizes of an operand and its result along one axis. If both vary together, by the stride and a
// fixed number of elements, the paddings do not depend on the size: any such size is used here.
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

// What a transposed convolution is to give.
struct ResultSizes {
  std::vector<Dim> dims;      // [batch, spatial..., channels], or as the layout says
  Value* computed = nullptr;  // the spatial ones as a tensor of int64; null where they are not
};

// The paddings must be known, or follow from the sizes. `kernel` is [in, out of a group, kernel...]
// by now, `lengths` its spatial sizes.
absl::StatusOr<Value*> Transposed(TfArgs& a, Window w, const ResultSizes& sizes, Value* x,
                                  Value* kernel, const std::vector<Dim>& lengths, int64_t group) {
  const size_t spatial = lengths.size(), rank = spatial + 2;
  if (sizes.dims.size() != rank || x->shape()->rank() != static_cast<int64_t>(rank)) {
    return Invalid(sizes.dims.size(), " sizes of the result, and an operand of rank ",
                   x->shape()->rank());
  }
  w.kernel.resize(spatial);
  w.pads.resize(2 * spatial);
  std::vector<int64_t> extra, cut;
  std::vector<Value*> ends;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t axis = w.axis(i), stride = w.strides[i];
    const auto related =
        RelatedSizes((*x->shape())[axis], sizes.dims[static_cast<size_t>(axis)], stride);
    const bool fixed = !IsSame(w.auto_pad) || stride == 1;
    if (!lengths[i].is_static() || (!related && !(sizes.computed && fixed))) {
      return Unimplemented("spatial sizes of the operand, the kernel or the result are not known");
    }
    w.kernel[i] = lengths[i].value();
    X2IR_RETURN_IF_ERROR(CheckAxis(w, i));
    if (related) {
      X2IR_RETURN_IF_ERROR(Complete(related->in, related->out, i, &w));
      // Elements at the end that no window reached.
      const int64_t covered = (related->in - 1) * stride + w.extent(i);
      extra.push_back(related->out + w.pad_begin(i) + w.pad_end(i) - covered);
      continue;
    }
    // As many as a convolution may leave out, of which those are taken that the sizes say.
    if (IsSame(w.auto_pad)) w.SplitPads(i, w.extent(i) - 1, /*odd_at_end=*/true);
    w.pads[i + spatial] = 0;
    extra.push_back(stride - 1);
    cut.push_back(axis);
    ends.push_back(SliceAt({a, sizes.computed}, 0, static_cast<int64_t>(i)));
  }
  w.auto_pad = AutoPad::kNotSet;
  if (std::all_of(extra.begin(), extra.end(), [](int64_t n) { return n == 0; })) extra.clear();
  Value* y = MakeConvTranspose({a, x}, kernel, nullptr, w, group, extra);
  if (cut.empty()) return y;
  return a.Op("slice",
              {y, Ints(a, std::vector<int64_t>(cut.size(), 0)), Concat(a, ends, 0), Ints(a, cut)});
}

// Operand 0: the sizes, of which the batch and the channels may be left out, or a tensor of them.
absl::StatusOr<ResultSizes> TakeSizes(TfArgs& a, bool of_tensor, const Window& w, size_t spatial) {
  ResultSizes sizes;
  std::optional<std::vector<Dim>> dims;
  const Shape* shape = a.shape(0);
  const int64_t first = SpatialAxis(w.channels_last, 0), n = static_cast<int64_t>(spatial);
  if (of_tensor) {
    if (!shape) return Unimplemented("operand 0 (of the result's sizes) has no known rank");
    dims.emplace();
    for (int64_t i = 0; i < shape->rank(); ++i) dims->push_back((*shape)[i]);
    if (shape->rank() == n + 2) sizes.computed = ShapeOf({a, a.in(0)}, first, first + n);
  } else {
    dims = PartlyKnownInts(a.in(0));
    if (!dims && shape && shape->rank() == 1 && (*shape)[0].is_static()) {
      constexpr int64_t kMost = 8;
      dims.emplace(static_cast<size_t>(std::min((*shape)[0].value(), kMost)));
    }
    if (!dims) return Unimplemented("operand 0 (sizes of the result) is computed");
    const bool all = dims->size() == spatial + 2;
    sizes.computed = a.AsInt64(a.in(0));
    if (all) sizes.computed = Slice({a, sizes.computed}, 0, first, first + n);
  }
  if (dims->size() == spatial) {
    dims->insert(dims->begin(), static_cast<size_t>(first), Dim());
    dims->resize(spatial + 2);
  }
  sizes.dims = *std::move(dims);
  return sizes;
}

// Operands: the result's sizes (or a tensor of them), the kernel, and what is convolved.
template <bool kSizesOfTensor>
absl::StatusOr<Value*> ConvTranspose(TfArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const int64_t rank = static_cast<int64_t>(spatial) + 2;
  const Window w = TakeWindows(a, spatial);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  X2IR_RETURN_IF_ERROR(a.Rank(2).status());
  if (of_kernel != rank) return Invalid("expected a kernel of rank ", rank);
  X2IR_ASSIGN_OR_RETURN(const ResultSizes sizes, TakeSizes(a, kSizesOfTensor, w, spatial));
  const Shape& kernel = *a.shape(1);
  std::vector<Dim> lengths;
  for (size_t i = 0; i < spatial; ++i) lengths.push_back(kernel[static_cast<int64_t>(i)]);
  // A kernel for fewer channels than the result has is one for each of some groups.
  int64_t group = 1;
  const Dim of_group = kernel[rank - 2];
  const Dim channels = sizes.dims.size() == spatial + 2
                           ? sizes.dims[static_cast<size_t>(ChannelAxis(w.channels_last, rank))]
                           : Dim();
  if (channels.is_static() && of_group.is_static() && channels.value() != of_group.value()) {
    if (of_group.value() < 1 || channels.value() % of_group.value() != 0) {
      return Invalid("a kernel for ", of_group.value(), " channels of ", channels.value());
    }
    group = channels.value() / of_group.value();
  }
  return Transposed(a, w, sizes, a.in(2), KernelToOihw(a, a.in(1)), lengths, group);
}

// The same of depthwise convolutions, whose kernel is [kernel..., channels, multiplier].
absl::StatusOr<Value*> DepthwiseTranspose(TfArgs& a) {
  const Window w = TakeWindows(a, 2);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  X2IR_RETURN_IF_ERROR(a.Rank(2).status());
  if (of_kernel != 4) return Invalid("expected a kernel of rank 4");
  X2IR_ASSIGN_OR_RETURN(const ResultSizes sizes, TakeSizes(a, false, w, 2));
  const Shape& kernel = *a.shape(1);
  if (!kernel.is_static()) return Unimplemented("sizes of the kernel are not known");
  const int64_t channels = kernel[2].value();
  Value* relaid =
      ReshapeTo({a, Relaid(a, a.in(1), {2, 3, 0, 1})},
                Ints(a, {channels * kernel[3].value(), 1, kernel[0].value(), kernel[1].value()}));
  return Transposed(a, w, sizes, a.in(2), relaid, {kernel[0], kernel[1]}, channels);
}

}  // namespace

X2IR_TF(conv)
    .To("Conv2D", ToTfConv)
    .From({{"_FusedConv2D", FusedConv<Conv>},
           {"_FusedDepthwiseConv2dNative", FusedConv<DepthwiseConv>}})
    .From({"Conv2D", "Conv3D"}, Conv)
    .From("DepthwiseConv2dNative", DepthwiseConv);
X2IR_TF(conv_transpose)
    .To("Conv2DBackpropInput", ToTfConvTranspose)
    .From("Conv2DBackpropInput", ConvTranspose<false>)
    .From({"Conv2DBackpropInputV2", "Conv3DBackpropInput"}, ConvTranspose<true>)
    .From({{"Conv3DBackpropInputV2", ConvTranspose<false>},
           {"DepthwiseConv2dNativeBackpropInput", DepthwiseTranspose}});

}  // namespace x2ir
