// TensorFlow: convolutions as it has kernels for. See conv.h.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "x2ir/builder/layers/split_conv.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/weights.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/conv.h"
#include "x2ir/handlers/tf/writer.h"

namespace x2ir {
namespace {

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

// A depthwise convolution whose steps differ as one with equal steps, of which some results are
// taken. Along an axis of one element any step is right.
absl::StatusOr<Values> WithEqualSteps(TfWriter& w, const Window& window) {
  std::optional<Window> padded = WithPads(window, w.shape());
  if (!padded) return CannotExpress("auto_pad SAME of unknown sizes, with strides that differ");
  padded->auto_pad = AutoPad::kNotSet;
  int64_t step = 0;
  std::vector<bool> one(padded->rank());
  for (size_t i = 0; i < padded->rank(); ++i) {
    const Dim& size = (*w.shape())[padded->axis(i)];
    one[i] = size == Dim(1) && padded->kernel[i] == 1 && padded->pad_begin(i) == 0 &&
             padded->pad_end(i) == 0;
    if (!one[i]) step = std::gcd(step, padded->strides[i]);
  }
  step = std::max<int64_t>(step, 1);
  std::vector<int64_t> axes, steps;
  for (size_t i = 0; i < padded->rank(); ++i) {
    const int64_t taken = padded->strides[i] / step;
    padded->strides[i] = step;
    if (one[i] || taken == 1) continue;
    axes.push_back(padded->axis(i));
    steps.push_back(taken);
  }
  AttributeMap attrs = WindowAttrs(*padded);
  attrs.Set("group", w.Int("group"));
  Value* y = w.Op("conv", w.node().inputs(), std::move(attrs));
  if (axes.empty()) return Values{y};
  const std::vector<int64_t> starts(axes.size(), 0), ends(axes.size(), kToEnd);
  return Values{w.Op("slice", {y, w.Ints(starts), w.Ints(ends), w.Ints(axes), w.Ints(steps)})};
}

// A dilated convolution as one without dilations over interleaved parts of the image, which become
// a part of the batch: along each axis the places that are one step apart. The image is padded to
// whole steps.
absl::StatusOr<Values> ConvOverBatches(TfWriter& w, Window window) {
  const auto kernel = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  std::optional<Window> plain = WithPads(std::move(window), w.shape());
  const auto is_one = [](int64_t stride) { return stride == 1; };
  if (!plain || !kernel || !std::all_of(plain->strides.begin(), plain->strides.end(), is_one)) {
    return CannotExpress("dilations");
  }
  const size_t n = plain->rank();
  std::vector<Dim> dims = w.shape()->dims();
  const std::vector<int64_t> steps = plain->dilations;
  std::vector<int32_t> pads, crops;
  for (size_t i = 0; i < n; ++i) {
    Dim& size = dims[static_cast<size_t>(plain->axis(i))];
    const int64_t begin = plain->pad_begin(i), end = plain->pad_end(i);
    if (!size.is_static() || begin < 0 || end < 0) return CannotExpress("dilations");
    const int64_t all = size.value() + begin + end, step = steps[i];
    const int64_t count = (all + step - 1) / step, windows = count - (*kernel)[i + 2] + 1;
    const int64_t results = all - plain->extent(i) + 1;
    if (results < 1 || all > std::numeric_limits<int32_t>::max()) return CannotExpress("dilations");
    for (const int64_t pad : {begin, end + count * step - all}) {
      pads.push_back(static_cast<int32_t>(pad));
    }
    crops.push_back(0);
    crops.push_back(static_cast<int32_t>(windows * step - results));
    size = Dim(count);
    dims[0] = dims[0] * Dim(step);
  }
  plain->auto_pad = AutoPad::kNotSet;
  plain->dilations.assign(n, 1);
  plain->pads.assign(2 * n, 0);
  AttributeMap attrs = WindowAttrs(*plain);
  attrs.Set("group", w.Int("group"));
  const auto pairs = [&](const std::vector<int32_t>& numbers) {
    return w.b().Constant(Tensor::Of<int32_t>({static_cast<int64_t>(n), 2}, numbers));
  };
  std::vector<Value*> operands = w.node().inputs();
  operands[0] = w.Tf("SpaceToBatchND", {w.in(0), w.Int32s(steps), pairs(pads)}, {},
                     Type::Tensor(w.dtype(), Shape(std::move(dims))));
  Value* y = w.Op("conv", std::move(operands), std::move(attrs));
  return Values{w.Tf("BatchToSpaceND", {y, w.Int32s(steps), pairs(crops)})};
}

// For kernels without dilations.
absl::StatusOr<Values> WithoutDilations(TfWriter& w, Window window) {
  absl::StatusOr<Values> batches = ConvOverBatches(w, std::move(window));
  return batches.ok() ? batches : ConvWithZerosBetween(w);
}

}  // namespace

// A kernel for each channel alone is DepthwiseConv2dNative's, whose CPU kernel takes one stride and
// does not look at dilations. Other groups are written apart: Conv2D has groups, but TensorFlow
// makes one node of it and what follows, whose CPU kernel has none. Conv3D has neither groups nor
// dilations.
absl::StatusOr<Values> ToTfConv(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  const size_t n = static_cast<size_t>(rank) - 2;
  if (w.String("auto_pad") == "SAME_LOWER" && !(w.shape(1) && w.shape(1)->is_static())) {
    return CannotExpress("auto_pad SAME_LOWER of a kernel of unknown size");
  }
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, KernelLengths(w, n)));
  if (!IsChannelsLast(w)) return ValuesOf(WithChannelsLast, w);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  const Shape* kernel_shape = w.shape(1);
  const auto kernel = kernel_shape ? kernel_shape->Static() : std::nullopt;
  const int64_t group = w.Int("group");
  if (group != 1 && !(kernel && (*w.shape())[rank - 1].is_static())) {
    return CannotExpress("groups of unknown sizes");
  }
  const bool depthwise = n == 2 && group != 1 && (*kernel)[1] == 1;
  if (group != 1 && !depthwise) return ConvOfGroups(w);
  if ((n == 3 || depthwise) && window.dilated()) return WithoutDilations(w, std::move(window));
  if (depthwise && window.strides[0] != window.strides[1]) return WithEqualSteps(w, window);
  Value* x = w.in(0);
  if (n == 3) x = PadTfApart(w, window, 0);
  AttributeMap attrs;
  SetWindow(&attrs, window, true);
  const Type result = w.has(2) ? w.out_type() : Type();
  Value* y = nullptr;
  if (depthwise) {
    const int64_t times = (*kernel)[0] / group;
    Value* own = ReshapedWeight(w, w.in(1), {group, times, (*kernel)[2], (*kernel)[3]});
    y = w.Tf("DepthwiseConv2dNative", {x, w.Transpose(own, {2, 3, 0, 1})}, std::move(attrs),
             result);
  } else {
    y = w.Tf(n == 2 ? "Conv2D" : "Conv3D", {x, w.Transpose(w.in(1), ToHwio(rank))},
             std::move(attrs), result);
  }
  return Values{w.has(2) ? WithTfBias(w, y) : y};
}

namespace {

// A transposed convolution as TensorFlow has it, by what it makes of its operand.
struct TransposedSizes {
  Window window;                // with the pads that auto_pad or an output_shape stands for
  std::vector<int64_t> more;    // elements of each axis beyond its stride times the operand's
  std::vector<int64_t> beyond;  // elements at the end, which are the bias: as many as no
                                // convolution of that stride would leave out
};

// The size of the operand counts only if there is an output_shape; it must be known then.
absl::StatusOr<TransposedSizes> ReadTransposedSizes(TfWriter& w, size_t n) {
  if (!w.shape(1) || !w.shape(1)->is_static()) return CannotExpress("a kernel of unknown size");
  TransposedSizes t;
  X2IR_ASSIGN_OR_RETURN(t.window, ReadWindow(w.attrs(), KernelLengths(w, n)));
  Window& window = t.window;
  const std::vector<int64_t> sizes = w.attrs().Ints("output_shape", {});
  std::vector<int64_t> extra = w.attrs().Ints("output_padding", {});
  extra.resize(n);
  const bool same = IsSame(window.auto_pad), upper = window.auto_pad == AutoPad::kSameUpper;
  window.auto_pad = AutoPad::kNotSet;
  for (size_t i = 0; i < n; ++i) {
    // Of all that windows cover, beyond the stride times the operand.
    const int64_t covered = window.extent(i) - window.strides[i];
    if (sizes.empty() && !same) {
      t.more.push_back(covered + extra[i] - window.pad_begin(i) - window.pad_end(i));
    } else {
      const Dim& size = (*w.shape())[window.axis(i)];
      if (!sizes.empty() && !size.is_static()) {
        return CannotExpress("an output_shape of an operand of unknown size");
      }
      const Dim more = sizes.empty() ? Dim(0) : Dim(sizes[i]) - size * Dim(window.strides[i]);
      if (!more.is_static()) return CannotExpress("sizes that are too large");
      t.more.push_back(more.value());
      window.SplitPads(i, std::max<int64_t>(0, covered + extra[i] - t.more[i]), upper);
    }
    const int64_t cut = covered - window.pad_begin(i) - t.more[i];
    window.pads[i + n] = std::max<int64_t>(0, cut);
    t.beyond.push_back(-cut >= window.strides[i] ? -cut : 0);
  }
  return t;
}

}  // namespace

// By the sizes of the result, which are computed where they are not known. CPU kernels have no
// groups and no dilations here.
absl::StatusOr<Values> ToTfConvTranspose(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  const size_t n = static_cast<size_t>(rank) - 2;
  // Not later: what is refused stays as it is, for lowerings and messages.
  X2IR_ASSIGN_OR_RETURN(TransposedSizes t, ReadTransposedSizes(w, n));
  if (w.Int("group") != 1) return ConvOfGroups(w);
  if (t.window.dilated()) return ConvWithZerosBetween(w);
  if (!IsChannelsLast(w)) return ValuesOf(WithChannelsLast, w);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  Window& window = t.window;
  const Expr x = {w.b(), w.in(0)};
  std::vector<Size> sizes = {SizeAt(x, 0)};
  std::vector<Dim> dims = {(*w.shape())[0]};
  std::vector<int64_t> starts, ends, after(2 * n, 0);
  const bool cut = n == 3 && window.padded();  // kernels of three axes have no pads
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis = window.axis(i), begin = window.pad_begin(i), end = window.pad_end(i);
    const int64_t more = t.more[i] - t.beyond[i] + (cut ? begin + end : 0);
    starts.push_back(begin);
    ends.push_back(end == 0 ? kToEnd : -end);
    after[i + n] = t.beyond[i];
    dims.push_back((*w.shape())[axis] * Dim(window.strides[i]) + Dim(more));
    sizes.push_back(dims.back().is_static()
                        ? Size(dims.back().value())
                        : Plus(w.b(), Times(w.b(), SizeAt(x, axis), window.strides[i]), more));
  }
  dims.push_back((*w.shape(1))[1]);
  sizes.push_back(dims.back().value());
  if (cut) window.pads.assign(2 * n, 0);
  const bool padded = std::any_of(after.begin(), after.end(), [](int64_t p) { return p != 0; });
  AttributeMap attrs;
  SetWindow(&attrs, window, true);
  const Type type = Type::Tensor(w.dtype(), Shape(std::move(dims)));
  Value* shape = w.Known(w.Cast(Vector(w.b(), sizes), DType::kInt32));
  Value* y = w.Tf(n == 2 ? "Conv2DBackpropInput" : "Conv3DBackpropInputV2",
                  {shape, w.Transpose(w.in(1), ToHwio(rank)), x}, std::move(attrs),
                  w.has(2) || cut || padded ? type : Type());
  const std::vector<int64_t> axes = CountedFrom(1, static_cast<int64_t>(n));
  if (cut) y = w.Op("slice", {y, w.Ints(starts), w.Ints(ends), w.Ints(axes)});
  if (padded) y = w.Op("pad", {y, w.Ints(after), w.Number(w.dtype(), 0), w.Ints(axes)});
  return Values{w.has(2) ? WithTfBias(w, y) : y};
}

}  // namespace x2ir
