// OneFlow: convolutions. Weights have their channels where the images have them.
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/weights.h"
#include "x2ir/handlers/oneflow/windows.h"

namespace x2ir {
namespace {

// What all convolutions have; `spatial` axes. Weights say the kernel.
Window ReadConv(OneflowArgs& a, size_t spatial) {
  Window window;
  window.channels_last = TakeChannelsLast(a);
  a.Ignore("filters");
  a.Ignore("kernel_size");
  window.strides = PerAxis(a, "strides", spatial, 1);
  window.dilations = PerAxis(a, "dilation_rate", spatial, 1);
  window.pads = BothEnds(PerAxis(a, "padding_before", spatial, 0));
  return window;
}

Value* FromConv(OneflowArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const Window window = ReadConv(a, spatial);
  const Expr y = MakeConv(a.in(0), ChannelsFirst(a.in(1), window.channels_last),
                          a.has(2) ? a.in(2) : nullptr, window, a.Int("groups"));
  return a.has(3) ? y + a.in(3) : y;
}
Value* FromDeconv(OneflowArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const Window window = ReadConv(a, spatial);
  const std::vector<int64_t> more = PerAxis(a, "output_padding", spatial, 0);
  return MakeConvTranspose(a.in(0), ChannelsFirst(a.in(1), window.channels_last), nullptr, window,
                           a.Int("groups"), more);
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

AttributeMap WrittenConv(OneflowWriter& w, const Window& window, int64_t filters) {
  return {{"filters", filters},
          {"padding_before", window.begins()},
          {"data_format", LayoutName(window.channels_last)},
          {"kernel_size", window.kernel},
          {"strides", window.strides},
          {"dilation_rate", window.dilations},
          {"groups", w.Int("group")}};
}

absl::StatusOr<Value*> ToConv(OneflowWriter& w) {
  static constexpr std::string_view kOps[] = {"conv1d", "conv2d", "conv3d"};
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, w.Sizes(w.in(1)->type()));
  X2IR_ASSIGN_OR_RETURN(PlacedWindow placed, PlacedOver(w, {kernel.begin() + 2, kernel.end()}));
  if (placed.window.rank() < 1 || placed.window.rank() > 3) {
    return CannotExpress("convolutions of ", placed.window.rank(), " axes");
  }
  Value* x = PaddedEvenly(w, placed, 0);
  X2IR_ASSIGN_OR_RETURN(Value * weights, WrittenKernel(w, placed.window.channels_last));
  return w.Oneflow(kOps[placed.window.rank() - 1], {x, weights, w.in(2)},
                   WrittenConv(w, placed.window, kernel[0]));
}

absl::StatusOr<Value*> ToDeconv(OneflowWriter& w) {
  static constexpr std::string_view kOps[] = {"deconv1d", "deconv2d", "deconv3d"};
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, w.Sizes(w.in(1)->type()));
  X2IR_ASSIGN_OR_RETURN(const Window window,
                        ReadWindow(w.attrs(), {kernel.begin() + 2, kernel.end()}));
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress("convolutions of ", n, " axes");
  if (IsSame(window.auto_pad) || !w.attrs().Ints("output_shape", {}).empty()) {
    return CannotExpress("sizes from which pads follow");
  }
  if (!window.even()) return CannotExpress("pads of different sizes");
  const int64_t filters = kernel[1] * w.Int("group");
  AttributeMap attrs = WrittenConv(w, window, filters);
  attrs.Set("output_padding", w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0)));
  X2IR_ASSIGN_OR_RETURN(Value * weights, WrittenKernel(w, window.channels_last));
  Value* y = w.Oneflow(kOps[n - 1], {w.in(0), weights}, std::move(attrs),
                       w.has(2) ? w.out_type() : Type());
  if (!w.has(2)) return y;
  std::vector<int64_t> dims(window.channels_last ? 1 : n + 1, 1);
  dims[0] = filters;
  return w.Op("add", {y, ReshapedWeight(w, w.in(2), dims)});
}

absl::StatusOr<Value*> ToDeformConv(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, w.Sizes(w.in(1)->type()));
  if (kernel.size() != 4 || !w.has(4)) return CannotExpress("offsets without a mask");
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), {kernel[2], kernel[3]}));
  if (!window.even()) return CannotExpress("pads of different sizes");
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

X2IR_ONEFLOW(conv).To("conv2d", ToConv).From({"conv1d", "conv2d", "conv3d"}, FromConv);
X2IR_ONEFLOW(conv_transpose)
    .To("deconv2d", ToDeconv)
    .From({"deconv1d", "deconv2d", "deconv3d"}, FromDeconv);
X2IR_ONEFLOW(deform_conv).To("deform_conv2d", ToDeformConv).From("deform_conv2d", DeformConv);

}  // namespace x2ir
