// MIL: convolutions and pools, both ways.
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

// pad is begin and end of each axis in turn.
Window MilWindow(MilArgs& a, size_t n, std::vector<int64_t> kernel) {
  Window window;
  window.kernel = std::move(kernel);
  window.strides = a.List("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pad = a.List("pad", std::vector<int64_t>(2 * n, 0));
  a.Require(window.strides.size() == n && pad.size() == 2 * n, "strides or pads of other axes");
  SetPadding(a, a.Text("pad_type"), PadsOfPairs(pad), &window);
  return window;
}

size_t SpatialAxes(MilArgs& a) {
  const int64_t rank = a.X().rank();
  a.Require(rank >= 3 && rank <= 5, StrCat("rank ", rank));
  return static_cast<size_t>(rank - 2);
}

Expr MilConv(MilArgs& a) {
  const size_t n = SpatialAxes(a);
  Window window = MilWindow(a, n, {});
  window.dilations = a.List("dilations", std::vector<int64_t>(n, 1));
  const Expr x = a.X(), weight = a.X("weight"), bias = a.Opt("bias");
  return MakeConv(x, weight, bias, window, a.Int("groups"));
}

Expr MilDeconv(MilArgs& a) {
  const size_t n = SpatialAxes(a);
  Window window = MilWindow(a, n, {});
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
  Window window = MilWindow(a, n, kernel);
  window.ceil_mode = a.Bool("ceil_mode");
  const bool exclude = kind == "average" && a.Bool("exclude_padding_from_average");
  return Pooled(a, a.X(), kind, window, !exclude);
}
Expr MilMaxPool(MilArgs& a) { return MilPool(a, "max"); }
Expr MilAvgPool(MilArgs& a) { return MilPool(a, "average"); }
Expr MilL2Pool(MilArgs& a) { return MilPool(a, "l2"); }

// --- Written ------------------------------------------------------------------------------------

// pad is begin and end of each axis in turn.
void SetPad(const Window& window, AttributeMap* attrs) {
  attrs->Set("pad_type", window.padded() ? "custom" : "valid");
  if (window.padded()) attrs->Set("pad", PairsOfPads(window.pads));
}

// strides, pad_type and pad. Automatic pads of sizes that are not known stay automatic.
absl::StatusOr<AttributeMap> WrittenWindow(MilWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.channels_last) return CannotExpress("channels last");
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress("windows of ", n, " axes");
  AttributeMap attrs = {{"strides", window.strides}};
  if (IsSame(window.auto_pad) && !KnownSizes(w.in(0), 2, 2 + static_cast<int64_t>(n))) {
    attrs.Set("pad_type", window.auto_pad == AutoPad::kSameUpper ? "same" : "same_lower");
  } else {
    SetPad(*WithPads(window, w.shape()), &attrs);
  }
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
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), kernel));
  if (window.channels_last) return CannotExpress("channels last");
  if (n > 3) return CannotExpress("convolutions of ", n, " axes");
  const std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  AttributeMap attrs = {
      {"strides", window.strides}, {"dilations", window.dilations}, {"groups", w.Int("group")}};
  const bool fitted =
      window.auto_pad != AutoPad::kNotSet || !w.attrs().Ints("output_shape", {}).empty();
  if (fitted || std::any_of(more.begin(), more.end(), [](int64_t m) { return m != 0; })) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> in, w.Sizes(w.in(0)));
    const Shape* out = w.out_type().shape();
    const auto sizes = out ? out->Static() : std::nullopt;
    if (!sizes) return CannotExpress("sizes that are not known");
    for (size_t i = 0; fitted && i < n; ++i) {
      const int64_t whole = (in[i + 2] - 1) * window.strides[i] + window.extent(i) + more[i];
      const int64_t total = whole - (*sizes)[i + 2];
      if (total < 0) return CannotExpress("a result larger than its windows");
      window.SplitPads(i, total, window.auto_pad == AutoPad::kSameUpper);
      if (window.auto_pad == AutoPad::kValid && total != 0) return CannotExpress("that padding");
    }
    attrs.Set("output_shape", *sizes);
  }
  SetPad(window, &attrs);
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
  return [op](MilWriter& w) { return ReduceSpatial(w, op); };
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
