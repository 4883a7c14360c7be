// TFLite: convolutions, channels last.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/split_conv.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/layers_internal.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Window TakeConv(TfliteArgs& a, bool three = false) {
  Window window = TakePadding(a);
  window.strides = TakeHw(a, "stride_", "", 0, three);
  window.dilations = TakeHw(a, "dilation_", "_factor", 1, three);
  return window;
}

// Weights [out, height, width, in of a group].
absl::StatusOr<Value*> Conv2d(TfliteArgs& a) {
  const Window window = TakeConv(a);
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!w || w->rank() != 4 || !(*w)[3].is_static())
    return Unimplemented("weights of unknown shape");
  const int64_t of_group = (*w)[3].value();
  int64_t group = 1;
  if (x && x->rank() == 4 && (*x)[3].is_static() && (*x)[3].value() != of_group) {
    const int64_t channels = (*x)[3].value();
    if (of_group < 1 || channels % of_group != 0) {
      return Invalid("weights for ", of_group, " channels of ", channels);
    }
    group = channels / of_group;
  }
  Value* weights = Relaid(a, a.in(1), {0, 3, 1, 2});
  return MakeConv(a.in(0), weights, BiasOf(a, 2), window, group);
}

// Weights [1, height, width, channels times multiplier].
absl::StatusOr<Value*> DepthwiseConv2d(TfliteArgs& a) {
  const Window window = TakeConv(a);
  const int64_t multiplier = a.Int("depth_multiplier", 0);
  const Shape *x = a.shape(0), *w = a.shape(1);
  if (!w || w->rank() != 4 || !(*w)[3].is_static())
    return Unimplemented("weights of unknown shape");
  const int64_t out = (*w)[3].value();
  int64_t channels = multiplier > 0 ? out / multiplier : 0;
  // The operand's size takes precedence: kernels ignore the multiplier.
  if (x && x->rank() == 4 && (*x)[3].is_static()) channels = (*x)[3].value();
  if (channels < 1 || out % channels != 0 || (*w)[0] != Dim(1)) {
    return Invalid("depthwise weights for ", out, " results of ", channels, " channels");
  }
  Value* weights = Relaid(a, a.in(1), {3, 0, 1, 2});
  return MakeConv(a.in(0), weights, BiasOf(a, 2), window, channels);
}

std::vector<int64_t> Strides(TfliteArgs& a, bool three) {
  std::vector<int64_t> all = {1};
  if (three) all.push_back(a.Int("stride_d", 0));
  all.push_back(a.Int("stride_h", 0));
  all.push_back(a.Int("stride_w", 0));
  all.push_back(1);
  return all;
}

std::vector<int64_t> Dilations3d(TfliteArgs& a) {
  return {1, a.Int("dilation_d_factor", 1), a.Int("dilation_h_factor", 1),
          a.Int("dilation_w_factor", 1), 1};
}

// A result whose sizes are found in the run is cut out of the whole one. What SAME adds, a
// convolution back from the result would add.
Value* OfComputedSizes(TfliteArgs& a, const std::string& padding) {
  const std::vector<int64_t> strides = TakeHw(a, "stride_", "", 0);
  Value* kernel = Relaid(a, a.in(1), {3, 0, 1, 2});
  const Expr whole{a, a.Op("conv_transpose", {a.in(2), kernel},
                           {{"layout", "channels_last"}, {"strides", strides}})};
  const Expr sizes =
      Expr(a, a.in(0)).To(DType::kInt64).Op("slice", {Ints(a, {1}), Ints(a, {3}), Ints(a, {0})});
  Expr begin = Ints(a, {0, 0});
  if (padding == "SAME") {
    const Expr all{a, a.Op("shape", {whole}, {{"start", 1}, {"end", 3}})};
    // LiteRT divides no int64.
    begin = (Max(all - sizes, 0).To(DType::kInt32) / 2).To(DType::kInt64);
  }
  // The result may have more elements at the end than the whole one: they are zeros.
  const Expr more =
      whole.Op("pad", {Ints(a, {0, 0, strides[0], strides[1]}), whole.Number(0), Ints(a, {1, 2})});
  return more.Op("slice", {begin, begin + sizes, Ints(a, {1, 2})});
}

// Operands: sizes of the result, weights [out, height, width, in], x, bias.
Value* TransposeConv(TfliteArgs& a) {
  if (!KnownInts(a.in(0))) {
    const std::string padding = a.String("padding", "SAME");
    a.Require(padding == "SAME" || padding == "VALID", StrCat("padding ", padding));
    return PlusBias(a, OfComputedSizes(a, padding), 3);
  }
  Value* kernel = Relaid(a, a.in(1), {1, 2, 0, 3});
  Value* y = AsTf(a, "Conv2DBackpropInput", {a.in(0), kernel, a.in(2)},
                  {{"strides", Strides(a, false)}, {"padding", a.String("padding", "SAME")}})[0];
  return PlusBias(a, y, 3);
}

// Weights [depth, height, width, in, out]; there are no groups.
Value* Conv3d(TfliteArgs& a) {
  const Window window = TakeConv(a, /*three=*/true);
  Value* weights = Relaid(a, a.in(1), {4, 3, 0, 1, 2});
  return MakeConv(a.in(0), weights, BiasOf(a, 2), window, 1);
}

Value* Conv3dTranspose(TfliteArgs& a) {
  Value* y = AsTf(a, "Conv3DBackpropInputV2", {a.in(0), a.in(1), a.in(2)},
                  {{"strides", Strides(a, true)},
                   {"dilations", Dilations3d(a)},
                   {"padding", a.String("padding", "SAME")}})[0];
  return PlusBias(a, y, 3);
}

absl::StatusOr<std::vector<int64_t>> KernelShape(TfliteWriter& w) {
  const auto known = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  if (!known) return CannotExpress("weights of unknown shape");
  return *known;
}

// A dense constant, or nothing.
const Tensor* DenseKernel(const Value* v) { return IsDense(v) ? v->fixed_constant() : nullptr; }

// One plane of a kernel of three axes: [out, in, height, width].
Value* PlaneOfKernel(TfliteWriter& w, int64_t plane) {
  const Tensor* whole = DenseKernel(w.in(1));
  if (!whole || BitWidth(whole->dtype()) < 8) {
    return w.Op("gather", {w.in(1), w.b().Int(plane)}, {{"axis", 2}});
  }
  const std::vector<int64_t>& dims = whole->dims();
  Tensor part = Tensor::Zeros(whole->dtype(), {dims[0], dims[1], dims[3], dims[4]});
  const size_t size = static_cast<size_t>(dims[3] * dims[4] * BitWidth(whole->dtype()) / 8);
  const auto from = whole->bytes();
  const auto to = part.mutable_bytes();
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) {
    std::copy_n(from.data() + static_cast<size_t>(i * dims[2] + plane) * size, size,
                to.data() + static_cast<size_t>(i) * size);
  }
  return w.b().Constant(std::move(part));
}

// CONV_3D reads outside of its operand where it is dilated, and has no groups: the sum of what each
// plane of the kernel gives of the planes that it meets, which are images of two axes.
absl::StatusOr<Values> ConvOfPlanes(TfliteWriter& w, const LiteWindow& window) {
  const Shape &in = *w.shape(), *known = w.out_type().shape();
  if (!known) return CannotExpress("a result of unknown rank");
  const Shape& out = *known;
  for (int64_t axis = 1; axis < 5; ++axis) {
    if (!in[axis].is_static() || !out[axis].is_static()) {
      return CannotExpress("groups or dilations of three axes of unknown sizes");
    }
  }
  const int64_t planes = out[1].value(), step = window.strides[0];
  if (planes < 1) return CannotExpress("a result without planes");
  Value* x = w.in(0);
  const Pads& pads = window.pads;
  if (pads[0] != 0 || pads[3] != 0) {
    x = w.Op("pad", {x, w.Ints({pads[0], pads[3]}), w.Number(w.dtype(), 0), w.Ints({1})});
  }
  const auto images = [&](const Dim& first, const Dim& count) {
    return first.is_static() ? first.value() * count.value() : -1;
  };
  const AttributeMap attrs = {{"layout", "channels_last"},
                              {"group", w.Int("group")},
                              {"strides", {window.strides[1], window.strides[2]}},
                              {"dilations", {window.dilations[1], window.dilations[2]}},
                              {"pads", {pads[1], pads[2], pads[4], pads[5]}}};
  Value* sum = nullptr;
  for (int64_t plane = 0; plane < window.kernel[0]; ++plane) {
    const int64_t begin = plane * window.dilations[0], end = begin + (planes - 1) * step + 1;
    Value* met = w.Op("slice", {x, w.Ints({begin}), w.Ints({end}), w.Ints({1}), w.Ints({step})});
    met = w.Reshape(met, {images(in[0], out[1]), in[2].value(), in[3].value(), in[4].value()});
    std::vector<Value*> operands = {met, PlaneOfKernel(w, plane)};
    if (!sum && w.has(2)) operands.push_back(w.in(2));
    Value* part = w.Op("conv", std::move(operands), attrs);
    sum = sum ? w.Op("add", {sum, part}) : part;
  }
  const int64_t batch = out[0].is_static() ? out[0].value() : -1;
  return Values{w.Reshape(sum, {batch, planes, out[2].value(), out[3].value(), out[4].value()})};
}

absl::StatusOr<Values> ToConv(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> weights, KernelShape(w));
  const int64_t group = w.Int("group");
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToConv);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  X2IR_ASSIGN_OR_RETURN(LiteWindow window, ReadLiteWindow(w, {weights.begin() + 2, weights.end()}));
  if (rank == 5 && (window.dilated() || group != 1)) {
    absl::StatusOr<Values> planes = ConvOfPlanes(w, window);
    return planes.ok() || group != 1 ? planes : ConvWithZerosBetween(w);
  }
  Value* x = PadLiteApart(w, window, 0);
  AttributeMap attrs = {{"padding", PaddingName(window)}};
  SetHw(&attrs, window.strides, "stride_");
  SetHw(&attrs, window.dilations, "dilation_", "_factor");
  Value* bias = w.in(2);
  if (!bias) bias = w.b().Constant(Tensor::Zeros(w.dtype(), {weights[0]}));
  if (rank == 5) {
    Value* kernel = WithOrder(w, w.in(1), {2, 3, 4, 1, 0});
    return Values{w.Tflite("CONV_3D", {x, kernel, bias}, std::move(attrs))};
  }
  // Depthwise kernels have one row of channels, even where there is but one.
  if (group > 1 && weights[1] == 1) {
    attrs.Set("depth_multiplier", weights[0] / group);
    Value* kernel = WithOrder(w, w.in(1), {1, 2, 3, 0});
    return Values{w.Tflite("DEPTHWISE_CONV_2D", {x, kernel, bias}, std::move(attrs))};
  }
  Value* kernel = WithOrder(w, w.in(1), {0, 2, 3, 1});
  return Values{w.Tflite("CONV_2D", {x, kernel, bias}, std::move(attrs))};
}

// How a transposed convolution cuts its whole result, of (n - 1) * stride + kernel places; of one
// axis. Nothing of it depends on n.
struct LiteCut {
  int64_t stride, kernel;
  int64_t begin;  // places that go at the begin
  int64_t more;   // of the result than of the whole; negative: fewer
  // Of a SAME or VALID convolution from the result back to the operand.
  bool is_same() const {
    const int64_t last = kernel + more;
    return last > 0 && last <= stride && begin == std::max<int64_t>(0, -more) / 2;
  }
  bool is_valid() const { return begin == 0 && more >= 0 && more < stride; }
  // If the pads of a VALID one are cut off, it has the whole and the places after it.
  int64_t behind() const { return std::max<int64_t>(0, begin + more); }
  bool is_cut_of_valid() const { return begin >= 0 && behind() < stride; }
  // Places of the result for n of the operand are n * stride and these.
  int64_t rest(bool whole) const { return kernel - stride + (whole ? behind() : more); }
};

absl::StatusOr<std::vector<LiteCut>> ReadLiteCuts(TfliteWriter& w, const Shape& in,
                                                  const Shape& out,
                                                  const std::vector<int64_t>& weights) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), {weights.begin() + 2, weights.end()}));
  const size_t n = window.rank();
  const std::vector<int64_t> added = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  const bool sized = w.attrs().Has("output_shape"),
             stated = window.auto_pad == AutoPad::kNotSet && !sized;
  const bool odd_at_end =
      sized ? window.auto_pad == AutoPad::kSameUpper : window.auto_pad != AutoPad::kSameLower;
  std::vector<LiteCut> cuts;
  for (size_t i = 0; i < n; ++i) {
    const Dim &places = in[static_cast<int64_t>(i) + 1], &size = out[static_cast<int64_t>(i) + 1];
    int64_t more = added[i] - window.pad_begin(i) - window.pad_end(i);
    if (!stated && !(places.is_static() && size.is_static())) {
      return CannotExpress("results of unknown sizes");
    }
    if (!stated) {
      more = size.value() - (places.value() - 1) * window.strides[i] - window.kernel[i];
      window.SplitPads(i, std::max<int64_t>(0, -more), odd_at_end);
    }
    cuts.push_back({window.strides[i], window.kernel[i], window.pad_begin(i), more});
  }
  return cuts;
}

// Pads that are neither SAME nor VALID are cut off a VALID one.
absl::StatusOr<Values> ToConvTranspose(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> weights, KernelShape(w));
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (w.Int("group") != 1) return ConvOfGroups(w);
  const std::vector<int64_t> dilations = w.attrs().Ints("dilations", {});
  for (const int64_t d : dilations) {
    if (d != 1) return ConvWithZerosBetween(w);
  }
  if (w.attrs().Has("output_shape") && rank == 3) return CannotExpress("an output_shape");
  if (!IsChannelsLast(w)) return WithChannelsLast(w, ToConvTranspose);
  if (rank == 3) return Values{WithTwoSpatialAxes(w, true)};
  const Shape *in = w.shape(), *out = w.out_type().shape();
  if (!in || !out) return CannotExpress("results of unknown sizes");
  X2IR_ASSIGN_OR_RETURN(const std::vector<LiteCut> cuts, ReadLiteCuts(w, *in, *out, weights));
  const auto all = [&](bool (LiteCut::*is)() const) {
    return std::all_of(cuts.begin(), cuts.end(), [&](const LiteCut& c) { return (c.*is)(); });
  };
  // Of three axes LiteRT puts what SAME cuts off to the wrong side.
  const bool same = rank != 5 && all(&LiteCut::is_same), cut = !same && !all(&LiteCut::is_valid);
  if (cut && !all(&LiteCut::is_cut_of_valid)) return CannotExpress("that padding");
  const int64_t channels = weights[1];
  Shape whole = Shape::UnknownDims(rank);
  whole[0] = (*in)[0];
  whole[rank - 1] = Dim(channels);
  std::vector<int64_t> factors = {1}, rests = {0}, strides, axes;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    const LiteCut& each = cuts[static_cast<size_t>(i)];
    strides.push_back(each.stride);
    axes.push_back(i + 1);
    factors.push_back(each.stride);
    rests.push_back(each.rest(cut));
    whole[i + 1] = (*in)[i + 1] * Dim(each.stride) + Dim(rests.back());
  }
  factors.push_back(0);
  rests.push_back(channels);
  Value* shape = nullptr;
  if (const auto known = whole.Static()) {
    shape = w.Int32s(*known);
  } else {
    shape = w.Tflite("SHAPE", {w.in(0)}, {{"out_type", "INT32"}},
                     Type::Tensor(DType::kInt32, Shape({Dim(rank)})));
    shape = w.Op("add", {w.Op("mul", {shape, w.Int32s(factors)}), w.Int32s(rests)});
  }
  AttributeMap attrs = {{"padding", same ? "SAME" : "VALID"}};
  SetHw(&attrs, strides, "stride_");
  const std::vector<int64_t> order =
      rank == 5 ? std::vector<int64_t>{2, 3, 4, 1, 0} : std::vector<int64_t>{1, 2, 3, 0};
  std::vector<Value*> operands = {shape, WithOrder(w, w.in(1), order), w.in(0)};
  if (w.has(2)) operands.push_back(w.in(2));
  Value* y = w.Tflite(rank == 5 ? "CONV_3D_TRANSPOSE" : "TRANSPOSE_CONV", std::move(operands),
                      std::move(attrs), Type::Tensor(w.dtype(), std::move(whole)));
  if (!cut) return Values{y};
  std::vector<int64_t> begins, ends;
  for (const LiteCut& each : cuts) {
    const int64_t goes = std::max<int64_t>(0, -(each.begin + each.more));
    begins.push_back(each.begin);
    ends.push_back(goes == 0 ? std::numeric_limits<int64_t>::max() : -goes);
  }
  return Values{w.Op("slice", {y, w.Ints(begins), w.Ints(ends), w.Ints(axes)})};
}

}  // namespace

X2IR_TFLITE(conv)
    .To("CONV_2D", ToConv)
    .From({{"CONV_2D", Conv2d}, {"CONV_3D", Conv3d}, {"DEPTHWISE_CONV_2D", DepthwiseConv2d}});
X2IR_TFLITE(conv_transpose)
    .To("TRANSPOSE_CONV", ToConvTranspose)
    .From({{"TRANSPOSE_CONV", TransposeConv}, {"CONV_3D_TRANSPOSE", Conv3dTranspose}});

}  // namespace x2ir
