// TensorFlow: convolutions, in either layout.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/layers/split_conv.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/fused.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"
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
  // A kernel for fewer channels is one for each of some groups.
  X2IR_ASSIGN_OR_RETURN(const int64_t of_group, Known(a, 1, expected - 2, "the kernel's channels"));
  X2IR_ASSIGN_OR_RETURN(const int64_t channels,
                        Known(a, 0, layout.ChannelAxis(expected), "channels"));
  if (of_group != channels) {
    if (of_group == 0 || channels % of_group != 0) {
      return Invalid("a kernel for ", of_group, " channels over ", channels);
    }
  }
  const int64_t group = of_group == channels ? 1 : channels / of_group;
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
  const std::vector<int64_t> to = {dims[2] * dims[3], 1, dims[0], dims[1]};
  if (const Tensor* constant = kernel->fixed_constant()) {
    kernel = a.b().Constant(constant->Reshaped(to), a.in(1)->name());
  } else {
    kernel = ReshapeTo({a, kernel}, Ints(a, to));
  }
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

// The paddings of SAME and VALID along axis i, and whether sizes go together.
absl::Status Complete(int64_t in, int64_t out, size_t i, Window* w) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  for (const int64_t n : {in, out, w->kernel[i], w->strides[i], w->dilations[i]}) {
    if (n < 1 || n >= kLimit) return Invalid("a size, stride or dilation of ", n);
  }
  if (IsSame(w->auto_pad)) {
    w->SplitPads(i, SamePadding(out, w->extent(i), w->strides[i]), /*odd_at_end=*/true);
  }
  const int64_t begin = w->pad_begin(i), end = w->pad_end(i);
  if (begin < 0 || end < 0 || begin >= kLimit || end >= kLimit) {
    return Invalid("paddings of ", begin, " and ", end);
  }
  const int64_t span = out + begin + end - w->extent(i);
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
template <bool kSizesOfTensor>
absl::StatusOr<Value*> ConvTranspose(TfArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const int64_t rank = static_cast<int64_t>(spatial) + 2;
  const Window w = TakeWindows(a, spatial);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  X2IR_RETURN_IF_ERROR(a.Rank(2).status());
  if (of_kernel != rank) return Invalid("expected a kernel of rank ", rank);
  std::optional<std::vector<Dim>> sizes;
  if (!kSizesOfTensor) {
    sizes = PartlyKnownInts(a.in(0));
  } else if (const Shape* shape = a.shape(0)) {
    sizes.emplace();
    for (int64_t i = 0; i < shape->rank(); ++i) sizes->push_back((*shape)[i]);
  }
  if (!sizes) return Unimplemented("operand 0 (sizes of the result) is computed");
  // Without the batch and the channels.
  if (sizes->size() == spatial) {
    sizes->insert(sizes->begin(), w.channels_last ? 1 : 2, Dim());
    sizes->resize(spatial + 2);
  }
  const Shape& kernel = *a.shape(1);
  std::vector<Dim> lengths;
  for (size_t i = 0; i < spatial; ++i) lengths.push_back(kernel[static_cast<int64_t>(i)]);
  // A kernel for fewer channels than the result has is one for each of some groups.
  int64_t group = 1;
  const Dim of_group = kernel[rank - 2];
  const Dim channels = sizes->size() == spatial + 2
                           ? (*sizes)[static_cast<size_t>(ChannelAxis(w.channels_last, rank))]
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

// Where the kernel's axes go: [out, in, kernel...] to [kernel..., in, out].
std::vector<int64_t> ToHwio(int64_t rank) {
  std::vector<int64_t> perm;
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  perm.push_back(0);
  return perm;
}

Value* WithTfBias(TfWriter& w, Value* y) {
  return w.Tf("BiasAdd", {y, w.in(2)}, {{"data_format", "NHWC"}});
}

// Spatial sizes of the kernel; ones where they are not known.
std::vector<int64_t> KernelLengths(TfWriter& w, size_t n) {
  const auto kernel = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  if (!kernel || kernel->size() != n + 2) return std::vector<int64_t>(n, 1);
  return {kernel->begin() + 2, kernel->end()};
}

// A kernel for each group alone is DepthwiseConv2dNative's, whose CPU kernel takes one stride and
// does not look at dilations; else Conv2D's, which has groups. Conv3D has neither groups nor
// dilations.
absl::StatusOr<Values> ToTfConv(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  const size_t n = static_cast<size_t>(rank) - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, KernelLengths(w, n)));
  if (!IsChannelsLast(w)) return ValuesOf(WithChannelsLast, w);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  const Shape* kernel_shape = w.shape(1);
  const auto kernel = kernel_shape ? kernel_shape->Static() : std::nullopt;
  const int64_t group = w.Int("group");
  if (n == 3 && group != 1) return ConvOfGroups(w);
  if (n == 3 && window.dilated()) return ConvWithZerosBetween(w);
  const bool depthwise = n == 2 && group > 1 && kernel && (*kernel)[1] == 1 && !window.dilated() &&
                         window.strides[0] == window.strides[1];
  if (group != 1 && !depthwise && !(kernel && (*w.shape())[rank - 1].is_static())) {
    return CannotExpress("groups of unknown sizes");
  }
  Value* x = w.in(0);
  if (n == 3) x = PadTfApart(w, window, 0);
  AttributeMap attrs;
  SetWindow(&attrs, window, true);
  const Type result = w.has(2) ? w.out_type() : Type();
  Value* y = nullptr;
  if (depthwise) {
    const int64_t times = (*kernel)[0] / group;
    Value* own = w.in(1);
    if (const Tensor* constant = own->fixed_constant(); constant && !constant->is_sparse()) {
      own = w.b().Constant(constant->Reshaped({group, times, (*kernel)[2], (*kernel)[3]}),
                           own->name());
    } else {
      own = w.Reshape(own, {group, times, (*kernel)[2], (*kernel)[3]});
    }
    y = w.Tf("DepthwiseConv2dNative", {x, w.Transpose(own, {2, 3, 0, 1})}, std::move(attrs),
             result);
  } else {
    y = w.Tf(n == 2 ? "Conv2D" : "Conv3D", {x, w.Transpose(w.in(1), ToHwio(rank))},
             std::move(attrs), result);
  }
  return Values{w.has(2) ? WithTfBias(w, y) : y};
}

// The pads that an auto_pad or an output_shape stands for; the sizes must be known.
absl::StatusOr<Window> ReadTransposedWindow(TfWriter& w, const Shape& out) {
  const size_t n = static_cast<size_t>(out.rank()) - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), KernelLengths(w, n)));
  const bool sized = w.attrs().Has("output_shape");
  if (!sized && !IsSame(window.auto_pad)) return window;
  const std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n));
  // What an output_shape leaves over goes to the end but for SAME_UPPER, and SAME otherwise.
  const bool odd_at_end =
      sized ? window.auto_pad == AutoPad::kSameUpper : window.auto_pad != AutoPad::kSameLower;
  for (size_t i = 0; i < n; ++i) {
    const Dim &in = (*w.shape())[window.axis(i)], &size = out[window.axis(i)];
    if (!in.is_static() || !size.is_static() || !w.shape(1)->is_static()) {
      return CannotExpress("a result of unknown sizes");
    }
    const int64_t whole = (in.value() - 1) * window.strides[i] + window.extent(i);
    window.SplitPads(i, std::max<int64_t>(0, whole + (sized ? 0 : more[i]) - size.value()),
                     odd_at_end);
  }
  window.auto_pad = AutoPad::kNotSet;
  return window;
}

// By the sizes of the result, which must be known but for the batch.
// CPU kernels have no groups and no dilations here.
absl::StatusOr<Values> ToTfConvTranspose(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (w.Int("group") != 1) return ConvOfGroups(w);
  const std::vector<int64_t> dilations = w.attrs().Ints("dilations", {});
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; })) {
    return ConvWithZerosBetween(w);
  }
  if (rank == 3 && w.attrs().Has("output_shape")) return CannotExpress("an output_shape");
  const size_t n = static_cast<size_t>(rank) - 2;
  const Shape* out = w.out_type().shape();
  std::vector<int64_t> sizes;
  for (int64_t i = 1; i < rank; ++i) {
    if (!out || out->rank() != rank || !(*out)[i].is_static()) {
      return CannotExpress("a result of unknown sizes");
    }
    sizes.push_back((*out)[i].value());
  }
  // Not before: what is refused stays as it is, for lowerings and messages.
  if (!IsChannelsLast(w)) return ValuesOf(WithChannelsLast, w);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTransposedWindow(w, *out));
  // Of three axes padding is cut off afterwards.
  std::vector<int64_t> starts, ends;
  if (n == 3 && window.padded()) {
    for (size_t i = 0; i < n; ++i) {
      starts.push_back(window.pad_begin(i));
      ends.push_back(window.pad_begin(i) + sizes[i]);
      sizes[i] += window.pad_begin(i) + window.pad_end(i);
    }
    window.pads.assign(2 * n, 0);
  }
  const DType of_sizes = DType::kInt32;
  Value* shape = nullptr;
  if ((*out)[0].is_static()) {
    sizes.insert(sizes.begin(), (*out)[0].value());
    shape = w.Int32s(sizes);
  } else {
    Value* batch = w.Cast(w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", 1}}), of_sizes);
    shape = w.Op("concat", {batch, w.Int32s(sizes)}, {{"axis", 0}});
  }
  AttributeMap attrs;
  SetWindow(&attrs, window, true);
  Value* y = w.Tf(
      n == 2 ? "Conv2DBackpropInput" : "Conv3DBackpropInputV2",
      {shape, w.Transpose(w.in(1), ToHwio(rank)), w.in(0)}, std::move(attrs),
      w.has(2) || !starts.empty() ? Type::Tensor(w.dtype(), Shape::UnknownDims(rank)) : Type());
  if (w.has(2)) y = WithTfBias(w, y);
  if (starts.empty()) return Values{y};
  if (w.has(2)) y->set_type(Type::Tensor(w.dtype(), Shape::UnknownDims(rank)));
  return Values{w.Op("slice", {y, w.Ints(starts), w.Ints(ends), w.Ints({1, 2, 3})})};
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
