// Relay: convolutions.
#include <algorithm>

#include "x2ir/builder/shapes.h"
#include "x2ir/core/read_through.h"
#include "x2ir/handlers/relay/windows_internal.h"

namespace x2ir {
namespace {

// The result has the operand's type unless another one is asked for.
Value* InOutType(SymbolArgs& a, const Expr& y) {
  const std::string out = a.Text("out_dtype", "");
  if (out.empty() || out == "void" || out == "same") return y;
  return y.To(a.ElementType("out_dtype", y.dtype()));
}
// Integers are multiplied in the type of the result.
Expr Wide(SymbolArgs& a, const Expr& x) {
  if (!IsInteger(x.dtype())) return x;
  return x.To(a.ElementType("out_dtype", x.dtype()));
}

std::vector<int64_t> KernelSizes(SymbolArgs& a, const Expr& weights, size_t spatial) {
  const auto sizes = KnownSizes(weights, 2, 2 + static_cast<int64_t>(spatial));
  std::vector<int64_t> kernel = a.Tuple("kernel_size");
  if (kernel.empty() && sizes) kernel = *sizes;
  a.Require(kernel.size() == spatial, "a kernel of unknown size");
  return kernel;
}

// IR's convolutions are of floats. Sums of products of small integers are exact in float64.
Value* Convolved(SymbolArgs& a, const Expr& x, const Expr& w, const Window& window,
                 int64_t groups) {
  const DType t = x.dtype();
  if (!IsInteger(t)) return MakeConv(x, w, nullptr, window, groups);
  a.Require(BitWidth(t) <= 32, "convolutions of int64");
  return MakeConv(x.To(DType::kFloat64), w.To(DType::kFloat64), nullptr, window, groups).To(t);
}

Value* ConvRow(SymbolArgs& a) {
  const size_t n = a.op().find("contrib") == std::string_view::npos ? a.SpatialAxes() : 2;
  a.Ignore("channels");
  const DataLayouts layouts = TakeLayouts(a, "data_layout", n);
  const std::string usual = RelayLayout("OI", n);
  Expr w = InLayout(a, a.in(1), a.Text("kernel_layout", usual), usual);
  const Expr x = InLayout(a, a.in(0), layouts.in, layouts.computed);
  const int64_t groups = a.Integer("groups", 1);
  Window window = TakeRelayWindow(a, KernelSizes(a, w, n));
  window.channels_last = layouts.channels_last;
  CheckWindow(a, window);
  // Of depthwise convolutions: [channels, results of each, kernel...].
  const Dim channels = DimAt(x, layouts.channels_last ? static_cast<int64_t>(n) + 1 : 1);
  const Dim each = DimAt(w, 1);
  if (groups > 1 && channels == Dim(groups) && each.is_static() && each.value() > 1) {
    std::vector<int64_t> sizes = {-1, 1};
    sizes.insert(sizes.end(), window.kernel.begin(), window.kernel.end());
    w = Reshape(w, sizes);
  }
  const Expr y(a, Convolved(a, Wide(a, x), Wide(a, w), window, groups));
  return InOutType(a, InLayout(a, y, layouts.computed, layouts.out));
}

Value* ConvTransposeRow(SymbolArgs& a) {
  const size_t n = a.SpatialAxes();
  a.Ignore("channels");
  DataLayouts layouts = TakeLayouts(a, "data_layout", n);
  layouts.computed = RelayLayout("NC", n);
  const std::string usual = RelayLayout("IO", n);
  const Expr w = InLayout(a, a.in(1), a.Text("kernel_layout", usual), usual);
  const Expr x = InLayout(a, a.in(0), layouts.in, layouts.computed);
  const Window window = TakeRelayWindow(a, KernelSizes(a, w, n));
  CheckWindow(a, window);
  const std::vector<int64_t> more = a.TupleOf("output_padding", n, 0);
  a.Require(!IsInteger(x.dtype()), "transposed convolutions of integers");
  const Expr y = MakeConvTranspose(x, w, nullptr, window, a.Integer("groups", 1), more);
  return InOutType(a, InLayout(a, y, layouts.computed, layouts.out));
}

// Its offsets and weights are those of MXNet's operator.
absl::StatusOr<Value*> DeformableConv(SymbolArgs& a) {
  const DataLayouts layouts = TakeLayouts(a, "data_layout", 2);
  const std::string kernel_layout = a.Text("kernel_layout", "OIHW");
  a.Require(layouts.in == "NCHW" && layouts.out == "NCHW" && kernel_layout == "OIHW",
            "another layout than NCHW");
  const Window window = TakeRelayWindow(a, KernelSizes(a, a.in(2), 2));
  a.Require(window.even(), "pads whose ends differ");
  a.Ignore("channels"), a.Ignore("out_dtype");
  const Dim filters = DimAt(a.in(2), 0);
  a.Require(filters.is_static(), "weights of unknown size");
  return ReadThrough(a, "mxnet", 1, "_contrib_DeformableConvolution", {a.in(0), a.in(1), a.in(2)},
                     {{"kernel", TupleText(window.kernel)},
                      {"stride", TupleText(window.strides)},
                      {"dilate", TupleText(window.dilations)},
                      {"pad", TupleText(window.begins())},
                      {"num_filter", StrCat(filters.value())},
                      {"num_group", StrCat(a.Integer("groups", 1))},
                      {"num_deformable_group", StrCat(a.Integer("deformable_groups", 1))},
                      {"no_bias", "True"}},
                     {{}})[0];
}

// --- Written -------------------------------------------------------------------------------------

struct KernelShape {
  std::vector<int64_t> dims;  // of the weights
  std::vector<int64_t> spatial() const { return {dims.begin() + 2, dims.end()}; }
};
absl::StatusOr<KernelShape> KernelOf(RelayWriter& w) {
  const Shape* shape = w.shape(1);
  const auto dims = shape ? shape->Static() : std::nullopt;
  if (!dims || dims->size() < 3 || dims->size() > 5) {
    return CannotExpress("weights of unknown size, or of more than three spatial axes");
  }
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return KernelShape{*dims};
}

Value* WithBias(RelayWriter& w, Value* y) {
  return w.in(2) ? w.Call("nn.bias_add", {y, w.in(2)}, {{"axis", "1"}}) : y;
}

absl::StatusOr<Value*> ToConvOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const KernelShape kernel, KernelOf(w));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), kernel.spatial()));
  const auto padded = WithPads(std::move(window), w.shape(0));
  if (!padded) return CannotExpress("pads that depend on the size");
  Value* y = w.Call(StrCat("nn.conv", padded->rank(), "d"), {w.in(0), w.in(1)},
                    {{"strides", TupleText(padded->strides)},
                     {"padding", TupleText(padded->pads)},
                     {"dilation", TupleText(padded->dilations)},
                     {"groups", StrCat(w.Int("group"))},
                     {"channels", StrCat(kernel.dims[0])},
                     {"kernel_size", TupleText(padded->kernel)}});
  return WithBias(w, y);
}

absl::StatusOr<Value*> ToConvTransposeOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const KernelShape kernel, KernelOf(w));
  if (w.String("auto_pad") != "NOTSET" || w.attrs().Has("output_shape")) {
    return CannotExpress("pads that follow from the result");
  }
  const size_t n = kernel.dims.size() - 2;
  const std::vector<int64_t> ones(n, 1);
  Value* y = w.Call(
      StrCat("nn.conv", n, "d_transpose"), {w.in(0), w.in(1)},
      {{"channels", StrCat(kernel.dims[1] * w.Int("group"))},
       {"kernel_size", TupleText(kernel.spatial())},
       {"strides", TupleText(w.attrs().Ints("strides", ones))},
       {"padding", TupleText(w.attrs().Ints("pads", std::vector<int64_t>(2 * n, 0)))},
       {"output_padding", TupleText(w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0)))},
       {"dilation", TupleText(w.attrs().Ints("dilations", ones))},
       {"groups", StrCat(w.Int("group"))}});
  return WithBias(w, y);
}

}  // namespace

X2IR_RELAY(conv)
    .From({"nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.contrib_conv2d_NCHWc",
           "nn.contrib_depthwise_conv2d_NCHWc"},
          ConvRow)
    .To("nn.conv2d", ToConvOp);
X2IR_RELAY(conv_transpose)
    .From({"nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"}, ConvTransposeRow)
    .To("nn.conv2d_transpose", ToConvTransposeOp);
X2IR_RELAY(deform_conv).From("nn.deformable_conv2d", DeformableConv);

}  // namespace x2ir
