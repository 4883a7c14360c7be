// OneFlow: convolutions. Weights have their channels where the images have them.
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/windows.h"

namespace x2ir {
namespace {

struct ConvAttrs {
  bool channels_last;
  AttributeMap attrs;
};
// What all convolutions have; `spatial` axes.
ConvAttrs ReadConv(OneflowArgs& a, size_t spatial) {
  ConvAttrs conv{TakeChannelsLast(a), {}};
  a.Ignore("filters");  // the weights say it
  a.Ignore("kernel_size");
  conv.attrs.Set("layout", conv.channels_last ? "channels_last" : "channels_first");
  conv.attrs.Set("group", a.Int("groups"));
  conv.attrs.Set("strides", PerAxis(a, "strides", spatial, 1));
  conv.attrs.Set("dilations", PerAxis(a, "dilation_rate", spatial, 1));
  conv.attrs.Set("pads", BothEnds(PerAxis(a, "padding_before", spatial, 0)));
  return conv;
}

template <size_t spatial>
Value* FromConv(OneflowArgs& a) {
  ConvAttrs conv = ReadConv(a, spatial);
  const Expr y = a.Op(
      "conv", {a.in(0), ChannelsFirst(a.in(1), conv.channels_last), a.has(2) ? a.in(2) : nullptr},
      std::move(conv.attrs));
  return a.has(3) ? y + a.in(3) : y;
}
template <size_t spatial>
Value* FromDeconv(OneflowArgs& a) {
  ConvAttrs conv = ReadConv(a, spatial);
  conv.attrs.Set("output_padding", PerAxis(a, "output_padding", spatial, 0));
  return a.Op("conv_transpose", {a.in(0), ChannelsFirst(a.in(1), conv.channels_last)},
              std::move(conv.attrs));
}

// Offsets and masks as PyTorch has them.
Value* DeformConv(OneflowArgs& a) {
  const int64_t stride_h = a.Int("stride_h"), stride_w = a.Int("stride_w");
  const int64_t pad_h = a.Int("pad_h"), pad_w = a.Int("pad_w");
  const int64_t dilation_h = a.Int("dilation_h"), dilation_w = a.Int("dilation_w");
  const int64_t groups = a.Int("groups"), offset_groups = a.Int("offset_groups");
  const bool use_mask = a.Bool("use_mask");
  return a.Op(
      "deform_conv",
      {a.in(0), a.in(2), a.in(1), a.has(3) ? a.in(3) : nullptr, use_mask ? a.in(4) : nullptr},
      {{"strides", {stride_h, stride_w}},
       {"pads", {pad_h, pad_w, pad_h, pad_w}},
       {"dilations", {dilation_h, dilation_w}},
       {"group", groups},
       {"offset_group", offset_groups}});
}

// The kernel with its channels where the images have them.
absl::StatusOr<Value*> WrittenKernel(OneflowWriter& w, bool channels_last) {
  if (!channels_last) return w.in(1);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.RankOf(w.in(1)));
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return w.Op("transpose", {w.in(1)}, {{"perm", perm}});
}

absl::StatusOr<AttributeMap> WrittenConv(OneflowWriter& w, const PlacedWindow& placed,
                                         bool channels_last, int64_t filters) {
  const Window& window = placed.window;
  const std::vector<int64_t> before(window.pads.begin(),
                                    window.pads.begin() + static_cast<ptrdiff_t>(window.rank()));
  return AttributeMap{{"filters", filters},
                      {"padding_before", before},
                      {"data_format", channels_last ? "channels_last" : "channels_first"},
                      {"kernel_size", window.kernel},
                      {"strides", window.strides},
                      {"dilation_rate", window.dilations},
                      {"groups", w.Int("group")}};
}

absl::StatusOr<Value*> ToConv(OneflowWriter& w) {
  static constexpr std::string_view kOps[] = {"conv1d", "conv2d", "conv3d"};
  X2IR_ASSIGN_OR_RETURN(const bool channels_last, ChannelsLast(w.attrs()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, w.Sizes(w.in(1)->type()));
  X2IR_ASSIGN_OR_RETURN(PlacedWindow placed,
                        PlacedOver(w, channels_last, {kernel.begin() + 2, kernel.end()}));
  if (placed.window.rank() < 1 || placed.window.rank() > 3) {
    return CannotExpress("convolutions of ", placed.window.rank(), " axes");
  }
  X2IR_ASSIGN_OR_RETURN(Value * x, PaddedEvenly(w, placed, channels_last, 0));
  X2IR_ASSIGN_OR_RETURN(Value * weights, WrittenKernel(w, channels_last));
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenConv(w, placed, channels_last, kernel[0]));
  return w.Oneflow(kOps[placed.window.rank() - 1], {x, weights, w.in(2)}, std::move(attrs));
}

absl::StatusOr<Value*> ToDeconv(OneflowWriter& w) {
  static constexpr std::string_view kOps[] = {"deconv1d", "deconv2d", "deconv3d"};
  X2IR_ASSIGN_OR_RETURN(const bool channels_last, ChannelsLast(w.attrs()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, w.Sizes(w.in(1)->type()));
  X2IR_ASSIGN_OR_RETURN(const AutoPad auto_pad, ReadAutoPad(w.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Window window,
                        ReadWindow(w.attrs(), {kernel.begin() + 2, kernel.end()}));
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress("convolutions of ", n, " axes");
  if (auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower ||
      !w.attrs().Ints("output_shape", {}).empty()) {
    return CannotExpress("sizes from which pads follow");
  }
  for (size_t i = 0; i < n; ++i) {
    if (window.pad_begin(i) != window.pad_end(i)) return CannotExpress("pads of different sizes");
  }
  const int64_t filters = kernel[1] * w.Int("group");
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs,
                        WrittenConv(w, {window, {}, {}}, channels_last, filters));
  attrs.Set("output_padding", w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0)));
  X2IR_ASSIGN_OR_RETURN(Value * weights, WrittenKernel(w, channels_last));
  Value* y = w.Oneflow(kOps[n - 1], {w.in(0), weights}, std::move(attrs),
                       w.has(2) ? w.out_type() : Type());
  if (!w.has(2)) return y;
  std::vector<int64_t> dims(channels_last ? 1 : n + 1, 1);
  dims[0] = filters;
  return w.Op("add", {y, w.Resized(w.in(2), dims)});
}

absl::StatusOr<Value*> ToDeformConv(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, w.Sizes(w.in(1)->type()));
  if (kernel.size() != 4 || !w.has(4)) return CannotExpress("offsets without a mask");
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), {kernel[2], kernel[3]}));
  if (window.pad_begin(0) != window.pad_end(0) || window.pad_begin(1) != window.pad_end(1)) {
    return CannotExpress("pads of different sizes");
  }
  return w.Oneflow("deform_conv2d", {w.in(0), w.in(2), w.in(1), w.in(3), w.in(4)},
                   {{"stride_h", window.strides[0]},
                    {"stride_w", window.strides[1]},
                    {"pad_h", window.pads[0]},
                    {"pad_w", window.pads[1]},
                    {"dilation_h", window.dilations[0]},
                    {"dilation_w", window.dilations[1]},
                    {"groups", w.Int("group")},
                    {"offset_groups", w.Int("offset_group")},
                    {"use_mask", 1}});
}

}  // namespace

X2IR_ONEFLOW(conv)
    .To("conv2d", ToConv)
    .From("conv1d", FromConv<1>)
    .From("conv2d", FromConv<2>)
    .From("conv3d", FromConv<3>);
X2IR_ONEFLOW(conv_transpose)
    .To("deconv2d", ToDeconv)
    .From("deconv1d", FromDeconv<1>)
    .From("deconv2d", FromDeconv<2>)
    .From("deconv3d", FromDeconv<3>);
X2IR_ONEFLOW(deform_conv).To("deform_conv2d", ToDeformConv).From("deform_conv2d", DeformConv);

}  // namespace x2ir
