// MIL: convolutions, both ways.
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

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

}  // namespace

X2IR_MIL(conv).To("conv", ToConv).From("conv", MilConv);
X2IR_MIL(conv_transpose).To("conv_transpose", ToDeconv).From("conv_transpose", MilDeconv);

}  // namespace x2ir
