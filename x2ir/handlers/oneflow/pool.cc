// OneFlow: pools. Most are PyTorch's, with the channels anywhere.
#include <limits>

#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/windows.h"

namespace x2ir {
namespace {

// TensorFlow's way: pads are "SAME", "VALID", or said for each side ("customized").
Window TensorFlowWindow(OneflowArgs& a) {
  const size_t spatial = a.SpatialAxes();
  Window window;
  window.channels_last = TakeChannelsLast(a);
  window.kernel = PerAxis(a, "pool_size", spatial, 1);
  window.strides = PerAxis(a, "strides", spatial, 1);
  const std::string padding = a.String("padding");
  const std::vector<int64_t> before = PerAxis(a, "padding_before", spatial, 0);
  const std::vector<int64_t> after = PerAxis(a, "padding_after", spatial, 0);
  a.Require(!a.Bool("ceil_mode"), "sizes that are rounded up");
  if (padding == "SAME" || padding == "same" || padding == "same_upper") {
    window.auto_pad = AutoPad::kSameUpper;
  } else if (padding == "same_lower") {
    window.auto_pad = AutoPad::kSameLower;
  } else if (padding == "customized") {
    window.pads = JoinPads(before, after);
  } else {
    a.Require(padding == "VALID" || padding == "valid", StrCat("padding ", padding));
  }
  return window;
}

Value* TfMaxPool(OneflowArgs& a) { return MakePool(a.in(0), {TensorFlowWindow(a)}); }

Value* TfAvgPool(OneflowArgs& a) {
  return MakePool(a.in(0), {TensorFlowWindow(a), PoolKind::kAverage});
}

std::string Numbered(std::string_view before, size_t spatial, std::string_view after) {
  return StrCat(before, spatial, after);
}

Values FromMaxPool(OneflowArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const bool last = TakeChannelsLast(a);
  a.Ignore("return_indices");
  const std::vector<int64_t> kernel = PerAxis(a, "kernel_size", spatial, 1);
  const std::vector<int64_t> stride = PerAxis(a, "stride", spatial, 1);
  const std::vector<int64_t> padding = PerAxis(a, "padding", spatial, 0);
  const std::vector<int64_t> dilation = PerAxis(a, "dilation", spatial, 1);
  const bool ceil_mode = a.Bool("ceil_mode");
  const bool wants = a.wants(1);
  a.Require(!wants || !last, "places of maxima with channels last");
  std::vector<AsTorchArgument> args = {{"self", ChannelsFirst(a.in(0), last)},
                                       {"kernel_size", kernel},
                                       {"stride", stride},
                                       {"padding", padding},
                                       {"dilation", dilation},
                                       {"ceil_mode", ceil_mode}};
  if (!wants) {
    const Values y = AsTorch(a, Numbered("aten::max_pool", spatial, "d.default"), args);
    return {ChannelsBack({a, y[0]}, last), nullptr};
  }
  return AsTorch(a, Numbered("aten::max_pool", spatial, "d_with_indices.default"), args,
                 {a.dtype(), DType::kInt64});
}

Value* FromAvgPool(OneflowArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const bool last = TakeChannelsLast(a);
  const std::vector<int64_t> kernel = PerAxis(a, "kernel_size", spatial, 1);
  const std::vector<int64_t> stride = PerAxis(a, "stride", spatial, 1);
  const std::vector<int64_t> padding = PerAxis(a, "padding", spatial, 0);
  const bool ceil_mode = a.Bool("ceil_mode"), count = a.Bool("count_include_pad");
  const int64_t divisor = a.Int("divisor_override");
  std::vector<AsTorchArgument> args = {{"self", ChannelsFirst(a.in(0), last)},
                                       {"kernel_size", kernel},
                                       {"stride", stride},
                                       {"padding", padding},
                                       {"ceil_mode", ceil_mode},
                                       {"count_include_pad", count}};
  if (divisor != 0) {
    a.Require(spatial > 1, "a divisor");
    args.push_back({"divisor_override", divisor});
  }
  const Values y = AsTorch(a, Numbered("aten::avg_pool", spatial, "d.default"), args);
  return ChannelsBack({a, y[0]}, last);
}

Value* AdaptiveAvgPool(OneflowArgs& a) {
  const bool last = TakeChannelsLast(a);
  const std::vector<int64_t> size = PerAxis(a, "output_size", a.SpatialAxes(), 1);
  const std::vector<Size> sizes(size.begin(), size.end());
  return ChannelsBack(AdaptiveAverage(a, ChannelsFirst(a.in(0), last), sizes), last);
}

Values AdaptiveMaxPool(OneflowArgs& a) {
  const bool last = TakeChannelsLast(a);
  a.Require(!a.wants(1) || !last, "places of maxima with channels last");
  const std::vector<int64_t> size = PerAxis(a, "output_size", a.SpatialAxes(), 1);
  const std::vector<Size> sizes(size.begin(), size.end());
  const auto [most, places] = AdaptiveMax(a, ChannelsFirst(a.in(0), last), sizes, true, a.wants(1));
  return {ChannelsBack(most, last), places};
}

// Places count within each plane of the result.
Value* MaxUnpool(OneflowArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const std::vector<int64_t> kernel = PerAxis(a, "kernel_size", spatial, 1);
  const std::vector<int64_t> stride = PerAxis(a, "stride", spatial, 1);
  const std::vector<int64_t> padding = PerAxis(a, "padding", spatial, 0);
  const bool has_size = a.Bool("has_output_size");
  std::vector<int64_t> size = a.Ints("output_size");
  const Expr x = a.in(0), places = a.AsInt64(a.in(1));
  const int64_t before = x.rank() - static_cast<int64_t>(spatial);
  a.Require(before > 0, "an operand of other axes");
  if (has_size) {
    a.Require(size.size() >= spatial, "a size of other axes");
    size.erase(size.begin(), size.end() - static_cast<ptrdiff_t>(spatial));
  } else {
    size.clear();
    for (size_t i = 0; i < spatial; ++i) {
      const Dim dim = DimAt(x, before + static_cast<int64_t>(i));
      a.Require(
          dim.is_static() && dim.value() < (int64_t{1} << 24) && stride[i] < (int64_t{1} << 24),
          "operands of unknown sizes");
      size.push_back((dim.value() - 1) * stride[i] - 2 * padding[i] + kernel[i]);
    }
  }
  if (spatial == 1) size.insert(size.begin(), 1);
  const auto planes = [&](const Expr& v) { return spatial == 1 ? Unsqueeze(v, {before}) : v; };
  const Expr y(
      a, AsTorch(a, spatial == 3 ? "aten::max_unpool3d.default" : "aten::max_unpool2d.default",
                 {{"self", planes(x)}, {"indices", planes(places)}, {"output_size", size}})[0]);
  return spatial == 1 ? Squeeze(y, {before}) : y;
}

// Whether the size is that of PyTorch's pools where sizes are rounded up: no window begins after
// the operand.
bool RoundsUpAlike(const PlacedWindow& placed) {
  const Window& window = placed.window;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t last = (placed.out[i] - 1) * window.strides[i];
    if (window.ceil_mode && last >= placed.in[i] + window.pad_begin(i)) return false;
    if (2 * window.pad_begin(i) > window.kernel[i]) return false;
  }
  return true;
}

absl::StatusOr<Values> ToPool(OneflowWriter& w, bool maximum) {
  static constexpr std::string_view kMax[] = {"max_pool_1d", "max_pool_2d", "max_pool_3d"};
  static constexpr std::string_view kAvg[] = {"avg_pool_1d", "avg_pool_2d", "avg_pool_3d"};
  X2IR_ASSIGN_OR_RETURN(const bool channels_last, ChannelsLast(w.attrs()));
  if (!IsFloating(w.dtype())) return CannotExpress("pools of ", Name(w.dtype()));
  X2IR_ASSIGN_OR_RETURN(PlacedWindow placed, PlacedOver(w, w.attrs().Ints("kernel_shape")));
  const size_t n = placed.window.rank();
  if (n < 1 || n > 3) return CannotExpress("pools of ", n, " axes");
  const bool count = !maximum && w.Int("count_include_pad") != 0;
  if (!placed.window.even() &&
      ((!maximum && !count) || (maximum && w.wants(1)) || placed.window.ceil_mode)) {
    return CannotExpress("pads of different sizes");
  }
  Value* x = PaddedEvenly(w, placed, maximum ? -std::numeric_limits<double>::infinity() : 0);
  if (!RoundsUpAlike(placed)) return CannotExpress("windows that begin in the pads");
  if (!maximum && placed.window.ceil_mode && count) {
    return CannotExpress("means that count pads, with sizes that are rounded up");
  }
  if (!maximum && placed.window.dilated()) return CannotExpress("means of elements apart");
  AttributeMap attrs = {{"padding", placed.window.begins()},
                        {"data_format", LayoutName(channels_last)},
                        {"kernel_size", placed.window.kernel},
                        {"stride", placed.window.strides},
                        {"ceil_mode", placed.window.ceil_mode}};
  if (!maximum) {
    attrs.Set("count_include_pad", count);
    return Values{w.Oneflow(kAvg[n - 1], {x}, std::move(attrs))};
  }
  if (w.wants(1) && (w.Int("storage_order") != 0 || channels_last)) {
    return CannotExpress("places in another order");
  }
  const Shape* dims = w.shape();
  if (w.wants(1) && ((*dims)[0] != Dim(1) || (*dims)[1] != Dim(1))) {
    return CannotExpress("places that count through all images");
  }
  attrs.Set("dilation", placed.window.dilations);
  attrs.Set("return_indices", w.wants(1));
  const Type& y = w.out_type();
  Type indices = y.shape() ? Type::Tensor(DType::kInt64, *y.shape()) : Type::Tensor(DType::kInt64);
  Values both = w.OneflowAll(kMax[n - 1], {x}, std::move(attrs), {true, true}, {y, indices});
  if (!w.wants(1)) both.resize(1);
  return both;
}

absl::StatusOr<Values> ToMaxPool(OneflowWriter& w) { return ToPool(w, true); }
absl::StatusOr<Values> ToAvgPool(OneflowWriter& w) { return ToPool(w, false); }

absl::StatusOr<Value*> ToGlobalPool(OneflowWriter& w, std::string_view reduction) {
  X2IR_ASSIGN_OR_RETURN(const bool channels_last, ChannelsLast(w.attrs()));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  static constexpr std::string_view kOps[] = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                              "adaptive_avg_pool3d"};
  if (reduction == "reduce_mean" && !channels_last && rank >= 3 && rank <= 5) {
    return w.Oneflow(kOps[rank - 3], {w.in(0)},
                     {{"data_format", "channels_first"},
                      {"output_size", std::vector<int64_t>(static_cast<size_t>(rank - 2), 1)}});
  }
  return ReduceSpatial(w, Symbol(reduction));
}

absl::StatusOr<Value*> ToGlobalAvg(OneflowWriter& w) { return ToGlobalPool(w, "reduce_mean"); }
absl::StatusOr<Value*> ToGlobalMax(OneflowWriter& w) { return ToGlobalPool(w, "reduce_max"); }

}  // namespace

X2IR_ONEFLOW(max_pool)
    .To("max_pool_2d", ToMaxPool)
    .From({"max_pool_1d", "max_pool_2d", "max_pool_3d", "maxpool_1d", "maxpool_2d", "maxpool_3d"},
          FromMaxPool)
    .From({"tf_max_pool_1d", "tf_max_pool_2d", "tf_max_pool_3d"}, TfMaxPool)
    .From({"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"}, AdaptiveMaxPool);
X2IR_ONEFLOW(average_pool)
    .To("avg_pool_2d", ToAvgPool)
    .From({"avg_pool_1d", "avg_pool_2d", "avg_pool_3d", "avgpool_1d", "avgpool_2d", "avgpool_3d"},
          FromAvgPool)
    .From({"tf_avg_pool_1d", "tf_avg_pool_2d", "tf_avg_pool_3d"}, TfAvgPool);
X2IR_ONEFLOW(global_average_pool)
    .To("adaptive_avg_pool2d", ToGlobalAvg)
    .From({"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"}, AdaptiveAvgPool);
X2IR_ONEFLOW(global_max_pool).To("reduce_max", ToGlobalMax);
X2IR_ONEFLOW(max_unpool).From({"max_unpool_1d", "max_unpool_2d", "max_unpool_3d"}, MaxUnpool);

}  // namespace x2ir
