// MIL: convolutions and pools, both ways.
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/windows.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

// pad is begin and end of each axis in turn.
CoremlWindow MilWindow(MilArgs& a, size_t n, std::vector<int64_t> kernel) {
  CoremlWindow window;
  window.kernel = std::move(kernel);
  window.strides = a.List("strides", std::vector<int64_t>(n, 1));
  window.padding = a.Text("pad_type");
  const std::vector<int64_t> pad = a.List("pad", std::vector<int64_t>(2 * n, 0));
  a.Require(window.strides.size() == n && pad.size() == 2 * n, "strides or pads of other axes");
  for (size_t i = 0; i < n; ++i) {
    window.begins.push_back(pad[2 * i]);
    window.ends.push_back(pad[2 * i + 1]);
  }
  return window;
}

size_t SpatialAxes(MilArgs& a) {
  const int64_t rank = a.X().rank();
  a.Require(rank >= 3 && rank <= 5, StrCat("rank ", rank));
  return static_cast<size_t>(rank - 2);
}

Expr MilConv(MilArgs& a) {
  const size_t n = SpatialAxes(a);
  CoremlWindow window = MilWindow(a, n, {});
  window.dilations = a.List("dilations", std::vector<int64_t>(n, 1));
  AttributeMap attrs = WindowAttrs(a, window);
  attrs.Set("group", a.Int("groups"));
  return a.Op("conv", {a.X(), a.X("weight"), a.Opt("bias")}, std::move(attrs));
}

Expr MilDeconv(MilArgs& a) {
  const size_t n = SpatialAxes(a);
  CoremlWindow window = MilWindow(a, n, {});
  window.dilations = a.List("dilations", std::vector<int64_t>(n, 1));
  std::vector<int64_t> sizes = a.List("output_shape");
  a.Require(sizes.empty() || sizes.size() == n + 2, "an output_shape of other axes");
  if (!sizes.empty()) sizes.erase(sizes.begin(), sizes.begin() + 2);
  return Deconvolved(a, a.X(), a.X("weight"), a.Opt("bias"), window, a.Int("groups"), sizes);
}

Expr MilPool(MilArgs& a, std::string_view kind) {
  const size_t n = SpatialAxes(a);
  const std::vector<int64_t> kernel = a.List("kernel_sizes");
  a.Require(kernel.size() == n, "kernel_sizes of other axes");
  CoremlWindow window = MilWindow(a, n, kernel);
  window.ceil_mode = a.Bool("ceil_mode");
  const bool exclude = kind == "average" && a.Bool("exclude_padding_from_average");
  return Pooled(a, a.X(), kind, window, !exclude);
}
Expr MilMaxPool(MilArgs& a) { return MilPool(a, "max"); }
Expr MilAvgPool(MilArgs& a) { return MilPool(a, "average"); }
Expr MilL2Pool(MilArgs& a) { return MilPool(a, "l2"); }

// --- Written ------------------------------------------------------------------------------------

// strides, dilations, pad_type and pad. Automatic pads of sizes that are not known stay automatic.
absl::StatusOr<AttributeMap> WrittenWindow(MilWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
  if (last) return CannotExpress("channels last");
  X2IR_ASSIGN_OR_RETURN(const AutoPad automatic, ReadAutoPad(w.attrs()));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress("windows of ", n, " axes");
  const Shape* shape = w.shape();
  std::vector<int64_t> in;
  for (size_t i = 0; shape && i < n && (*shape)[static_cast<int64_t>(i) + 2].is_static(); ++i) {
    in.push_back((*shape)[static_cast<int64_t>(i) + 2].value());
  }
  AttributeMap attrs = {{"strides", window.strides}};
  if (in.size() == n) {
    X2IR_ASSIGN_OR_RETURN(PlacedWindow placed, PlaceWindow(std::move(window), in));
    window = std::move(placed.window);
  } else if (automatic == AutoPad::kSameUpper || automatic == AutoPad::kSameLower) {
    attrs.Set("pad_type", automatic == AutoPad::kSameUpper ? "same" : "same_lower");
    return attrs;
  }
  std::vector<int64_t> pad;
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    if (window.pad_begin(i) < 0 || window.pad_end(i) < 0) return CannotExpress("negative pads");
    pad.push_back(window.pad_begin(i));
    pad.push_back(window.pad_end(i));
    any |= pad[2 * i] != 0 || pad[2 * i + 1] != 0;
  }
  attrs.Set("pad_type", any ? "custom" : "valid");
  if (any) attrs.Set("pad", std::move(pad));
  return attrs;
}

absl::StatusOr<std::vector<int64_t>> KernelOf(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(1)));
  if (dims.size() < 3) return CannotExpress("weights of rank ", dims.size());
  return std::vector<int64_t>(dims.begin() + 2, dims.end());
}

// The result with a bias that is no constant.
Value* WithBias(MilWriter& w, Value* y, size_t n) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < n; ++i) axes.push_back(static_cast<int64_t>(i) + 1);
  return w.Op("add", {y, w.Op("unsqueeze", {w.in(2), w.Ints(axes)})});
}

absl::StatusOr<Value*> ToConv(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelOf(w));
  const size_t n = kernel.size();
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenWindow(w, std::move(kernel)));
  attrs.Set("dilations", w.attrs().Ints("dilations", std::vector<int64_t>(n, 1)));
  attrs.Set("groups", w.Int("group"));
  const bool fixed = w.has(2) && w.in(2)->fixed_constant();
  Value* y = w.Mil("conv", {w.in(0), w.in(1), fixed ? w.in(2) : nullptr}, std::move(attrs),
                   fixed || !w.has(2) ? Type() : w.out_type());
  return fixed || !w.has(2) ? y : WithBias(w, y, n);
}

absl::StatusOr<Value*> ToDeconv(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelOf(w));
  const size_t n = kernel.size();
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
  if (last) return CannotExpress("channels last");
  X2IR_ASSIGN_OR_RETURN(const AutoPad automatic, ReadAutoPad(w.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), kernel));
  if (n > 3) return CannotExpress("convolutions of ", n, " axes");
  std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  std::vector<int64_t> pads = window.pads;
  AttributeMap attrs = {
      {"strides", window.strides}, {"dilations", window.dilations}, {"groups", w.Int("group")}};
  const bool given = !w.attrs().Ints("output_shape", {}).empty();
  const bool plain = automatic == AutoPad::kNotSet && !given &&
                     std::all_of(more.begin(), more.end(), [](int64_t m) { return m == 0; });
  if (!plain) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> in, w.Sizes(w.in(0)));
    const Shape* out = w.out_type().shape();
    const auto sizes = out ? out->Static() : std::nullopt;
    if (!sizes) return CannotExpress("sizes that are not known");
    if (automatic != AutoPad::kNotSet || given) {
      for (size_t i = 0; i < n; ++i) {
        const int64_t whole = (in[i + 2] - 1) * window.strides[i] + window.extent(i) + more[i];
        const int64_t total = std::max<int64_t>(0, whole - (*sizes)[i + 2]);
        if (whole < (*sizes)[i + 2]) return CannotExpress("a result larger than its windows");
        const int64_t half = total / 2;
        const bool upper = automatic == AutoPad::kSameUpper;
        pads[i] = upper ? half : total - half;
        pads[i + n] = total - pads[i];
        if (automatic == AutoPad::kValid && total != 0) return CannotExpress("that padding");
      }
    }
    attrs.Set("output_shape", *sizes);
  }
  std::vector<int64_t> pad;
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    // What is added at the end is less to cut there.
    int64_t begin = pads[i], end = pads[i + n];
    if (begin < 0 || end < 0) return CannotExpress("negative pads");
    pad.push_back(begin);
    pad.push_back(end);
    any |= begin != 0 || end != 0;
  }
  attrs.Set("pad_type", any ? "custom" : "valid");
  if (any) attrs.Set("pad", std::move(pad));
  const bool fixed = w.has(2) && w.in(2)->fixed_constant();
  if (!w.in(1)->fixed_constant()) return CannotExpress("computed weights");
  Value* y = w.Mil("conv_transpose", {w.in(0), w.in(1), fixed ? w.in(2) : nullptr},
                   std::move(attrs), fixed || !w.has(2) ? Type() : w.out_type());
  return fixed || !w.has(2) ? y : WithBias(w, y, n);
}

auto ToPool(std::string_view op) {
  return [op](MilWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("ceil_mode") != 0) return CannotExpress("sizes that are rounded up");
    if (op == "max_pool" && w.wants(1)) return CannotExpress("places of maxima");
    if (op == "l2_pool" && w.Int("p") != 2) return CannotExpress("norms other than the second");
    for (const int64_t dilation : w.attrs().Ints("dilations", {})) {
      if (dilation != 1) return CannotExpress("windows with gaps");
    }
    const std::vector<int64_t> kernel = w.attrs().Ints("kernel_shape");
    X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenWindow(w, kernel));
    attrs.Set("kernel_sizes", kernel);
    if (op == "avg_pool") {
      attrs.Set("exclude_padding_from_average", w.Int("count_include_pad") == 0 ? 1 : 0);
    }
    return w.Mil(op, {w.in(0)}, std::move(attrs));
  };
}

auto ToGlobalPool(Symbol op) {
  return [op](MilWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
    std::vector<int64_t> axes;
    for (int64_t i = 0; i + 2 < rank; ++i) axes.push_back(SpatialAxis(last, i));
    if (axes.empty()) return w.Op("identity", {w.in(0)});
    return w.Op(op, {w.in(0), w.Ints(axes)}, {{"keepdims", 1}});
  };
}

}  // namespace

X2IR_MIL(conv).To("conv", ToConv).From("conv", MilConv);
X2IR_MIL(conv_transpose).To("conv_transpose", ToDeconv).From("conv_transpose", MilDeconv);
X2IR_MIL(average_pool).To("avg_pool", ToPool("avg_pool")).From("avg_pool", MilAvgPool);
X2IR_MIL(max_pool).To("max_pool", ToPool("max_pool")).From("max_pool", MilMaxPool);
X2IR_MIL(lp_pool).To("l2_pool", ToPool("l2_pool")).From("l2_pool", MilL2Pool);
X2IR_MIL(global_average_pool).To("reduce_mean", ToGlobalPool("reduce_mean"));
X2IR_MIL(global_max_pool).To("reduce_max", ToGlobalPool("reduce_max"));

}  // namespace x2ir
