// Convolutions, of every spelling.
#include <algorithm>
#include <utility>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/windows_internal.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

struct Conv {
  Value *x, *w, *bias;
  Window window;  // its kernel is known only where the sizes of w are
  std::vector<int64_t> output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

// --- By other ops ---------------------------------------------------------------------------

// ONNX convolves floats only; PyTorch integers too, wrapping around. Products of matrices: weights
// of each group times what the windows hold.
Value* AsMatMul(TorchCall& c, const Conv& conv, Value* padded, Value* w) {
  const int64_t n = static_cast<int64_t>(conv.window.rank());
  Value* patches = Patches({c, padded}, conv.window);  // N, C, K, positions
  const std::vector<Size> positions = SizesAt({c, patches}, 3, 3 + n);
  const Size g{conv.groups};
  const Size per_group =
      DividedBy(c, Times(c, SizeAt({c, patches}, 1), SizeAt({c, patches}, 2)), conv.groups);
  const Size batch = SizeAt({c, patches}, 0), out = SizeAt({c, w}, 0);
  Value* columns = ReshapeTo({c, patches}, {batch, g, per_group, Product(c, positions)});
  Value* rows = ReshapeTo({c, w}, {g, DividedBy(c, out, conv.groups), per_group});
  std::vector<Size> dims = {batch, out};
  dims.insert(dims.end(), positions.begin(), positions.end());
  return ReshapeTo(c.Op("matmul", {rows, columns}), dims);
}

// Zeros between the elements of each spatial axis.
Value* SpreadCall(TorchCall& c, Value* x, const std::vector<int64_t>& stride) {
  Value* zero = c.Constant(x->dtype(), 0);
  for (size_t i = 0; i < stride.size(); ++i) {
    if (stride[i] == 1) continue;
    const int64_t axis = 2 + static_cast<int64_t>(i);
    std::vector<Size> dims = SizesAt({c, x}, 0, c.Rank(x));
    Value* apart = Unsqueeze({c, x}, {axis + 1});
    apart = c.Op("pad", {apart, Ints(c, {0, stride[i] - 1}), zero, Ints(c, {axis + 1})});
    dims[static_cast<size_t>(axis)] = Times(c, dims[static_cast<size_t>(axis)], stride[i]);
    x = ReshapeTo({c, apart}, dims);
    // The zeros after the last element are removed.
    x = c.Op("slice", {x, Ints(c, {0}), Ints(c, {-(stride[i] - 1)}), Ints(c, {axis})});
  }
  return x;
}

// Weights [in, out/groups, K...] as those of the convolution that gives the same of spread input:
// [out, in/groups, K...], back to front.
Value* Mirrored(TorchCall& c, const Conv& conv) {
  const int64_t n = static_cast<int64_t>(conv.window.rank());
  const std::vector<Size> kernel = SizesAt({c, conv.w}, 2, 2 + n);
  const Size g{conv.groups}, all = Product(c, kernel);
  const Size in = DividedBy(c, SizeAt({c, conv.w}, 0), conv.groups);
  const Size out = SizeAt({c, conv.w}, 1);
  Value* w = Transpose(ReshapeTo({c, conv.w}, {g, in, out, all}), {0, 2, 1, 3});
  w = c.Op("slice", {w, Ints(c, {-1}), Ints(c, {INT64_MIN}), Ints(c, {3}), Ints(c, {-1})});
  std::vector<Size> dims = {Times(c, g, out), in};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  return ReshapeTo({c, w}, dims);
}

// A transposed convolution as one of spread input, its padding done.
Conv Straightened(TorchCall& c, Conv conv) {
  const size_t n = conv.window.rank();
  for (size_t i = 0; i < n; ++i) {
    const int64_t reach = conv.window.extent(i) - 1;
    conv.window.pads[i] = reach - conv.window.pads[i];
    conv.window.pads[n + i] = reach - conv.window.pads[n + i] + conv.output_padding[i];
  }
  conv.x = SpreadCall(c, conv.x, conv.window.strides);
  conv.w = Mirrored(c, conv);
  conv.window.strides.assign(n, 1);
  conv.transposed = false;
  return conv;
}

Value* Build(TorchCall& c, Conv conv);

Value* OfIntegers(TorchCall& c, const Conv& conv) {
  const size_t n = conv.window.rank();
  if (conv.transposed) return Build(c, Straightened(c, conv));
  Value* zero = c.Constant(conv.x->dtype(), 0);
  Value* y = AsMatMul(c, conv, PadEnds({c, conv.x}, conv.window.pads, zero), conv.w);
  if (!conv.bias) return y;
  return c.Op("add", {y, AlongChannels({c, conv.bias}, static_cast<int64_t>(n) + 2)});
}

// --- All of them ----------------------------------------------------------------------------

Value* Build(TorchCall& c, Conv conv) {
  const bool integers = IsInteger(conv.x->dtype());
  if (!integers) RequireFloat(c, conv.x);
  if (conv.groups < 1) c.Fail(Invalid("groups: expected 1 or more, got ", conv.groups));
  // More of it than a stride is what runtimes refuse.
  bool far = false;
  for (size_t i = 0; conv.transposed && i < conv.window.rank(); ++i) {
    far |= conv.output_padding[i] >= conv.window.strides[i];
  }
  if ((integers || far) && !KnownSizes(conv.w, 2, c.Rank(conv.w))) {
    c.Fail(Unimplemented("weights of unknown sizes"));
  }
  if (!c.b().status().ok()) return conv.x;
  if (integers) return OfIntegers(c, conv);
  if (far && conv.transposed) {
    conv = Straightened(c, conv);
    conv.x = PadEnds({c, conv.x}, conv.window.pads, c.Constant(conv.x->dtype(), 0));
    conv.window.pads.assign(conv.window.pads.size(), 0);
  }
  const Expr x(c, conv.x);
  return conv.transposed ? MakeConvTranspose(x, conv.w, conv.bias, conv.window, conv.groups,
                                             conv.output_padding)
                         : MakeConv(x, conv.w, conv.bias, conv.window, conv.groups);
}

// "same": as many outputs as inputs, the odd one of padding at the end.
void SetPadding(TorchCall& c, const std::string& padding, Window* window) {
  window->pads.assign(2 * window->rank(), 0);
  if (padding == "valid") return;
  if (padding != "same") c.Fail(Invalid("padding: expected same or valid, got '", padding, "'"));
  for (size_t i = 0; i < window->rank(); ++i) {
    if (window->strides[i] != 1) c.Fail(Invalid("padding='same' with strides"));
    window->SplitPads(i, window->extent(i) - 1, /*odd_at_end=*/true);
  }
}

enum class ConvPadding { kNumbers, kName };

Values Convolution(TorchCall& c, std::string_view input, ConvPadding padding, bool transposed) {
  Conv conv;
  conv.x = c.Tensor(input);
  conv.w = c.Tensor("weight");
  conv.bias = c.OptTensor("bias");
  conv.transposed = transposed;
  c.Ignore({"benchmark", "deterministic", "cudnn_enabled", "allow_tf32"});
  const int64_t spatial = c.Rank(conv.w) - 2;
  if (spatial < 1) return c.Fail(Invalid("weight: expected rank 3 or more"));
  const size_t n = static_cast<size_t>(spatial);
  const auto kernel = KnownSizes(conv.w, 2, 2 + spatial);
  const auto ones = [&] { return std::vector<int64_t>(n, 1); };
  const auto zeros = [&] { return std::vector<int64_t>(n, 0); };
  conv.window.kernel = kernel.value_or(ones());
  conv.window.strides = c.IntsOf("stride", n, ones());
  conv.window.dilations = c.IntsOf("dilation", n, ones());
  conv.groups = c.Int("groups", 1);
  conv.output_padding = c.IntsOf("output_padding", n, zeros());
  if (padding == ConvPadding::kName) {
    const std::string name = c.String("padding", "valid");
    if (!kernel && name != "valid") return c.Fail(Unimplemented("weights of unknown sizes"));
    SetPadding(c, name, &conv.window);
  } else {
    conv.window.pads = BothEnds(c.IntsOf("padding", n, zeros()));
  }
  const Batched batched = AddBatch({c, conv.x}, spatial);
  conv.x = batched.x;
  return {DropBatch({c, Build(c, conv)}, batched)};
}

TorchHandler ConvHandler(std::string_view input, ConvPadding padding, bool transposed) {
  return [=](TorchCall& c) { return Convolution(c, input, padding, transposed); };
}

X2IR_TORCH(conv)
    .From({"aten::conv1d.default", "aten::conv2d.default", "aten::conv3d.default"},
          ConvHandler("input", ConvPadding::kNumbers, false))
    .From({"aten::conv1d.padding", "aten::conv2d.padding", "aten::conv3d.padding",
           "aten::_convolution_mode.default"},
          ConvHandler("input", ConvPadding::kName, false))
    .From({"aten::mkldnn_convolution.default", "aten::cudnn_convolution.default"},
          ConvHandler("self", ConvPadding::kNumbers, false));
X2IR_TORCH(conv_transpose)
    .From({"aten::conv_transpose1d.default", "aten::conv_transpose2d.input",
           "aten::conv_transpose3d.input"},
          ConvHandler("input", ConvPadding::kNumbers, true))
    .From("aten::cudnn_convolution_transpose.default",
          ConvHandler("self", ConvPadding::kNumbers, true));
// The operators with an argument `transposed`.
X2IR_TORCH(conv).From({"aten::convolution.default", "aten::convolution_overrideable.default",
                       "aten::_convolution.default", "aten::_convolution.deprecated"},
                      [](TorchCall& c) {
                        const bool transposed = c.Bool("transposed");
                        return Convolution(c, "input", ConvPadding::kNumbers, transposed);
                      });
// Kernel sizes are given beside the weights.
X2IR_TORCH(conv).From({"aten::_conv_depthwise2d.default", "aten::conv_depthwise3d.default"},
                      [](TorchCall& c) -> Values {
                        c.Ignore({"kernel_size"});
                        Conv conv;
                        conv.x = c.Tensor("self");
                        conv.w = c.Tensor("weight");
                        conv.bias = c.OptTensor("bias");
                        const size_t n =
                            static_cast<size_t>(std::max<int64_t>(c.Rank(conv.w) - 2, 1));
                        conv.window.strides = c.IntsOf("stride", n, {});
                        conv.window.dilations = c.IntsOf("dilation", n, {});
                        conv.window.pads = BothEnds(c.IntsOf("padding", n, {}));
                        const auto channels = KnownSizes(conv.x, 1, 2);
                        if (!channels) return c.Fail(Unimplemented("channels of unknown number"));
                        conv.groups = (*channels)[0];
                        RequireFloat(c, conv.x);
                        return {Build(c, conv)};
                      });
// Time, batch, channels; weights [time, in, out].
X2IR_TORCH(conv).From("aten::conv_tbc.default", [](TorchCall& c) -> Values {
  Conv conv;
  conv.x = Transpose(c.Tensor("self"), {1, 2, 0});
  conv.w = Transpose(c.Tensor("weight"), {2, 1, 0});
  conv.bias = c.Tensor("bias");
  conv.window.strides = conv.window.dilations = {1};
  conv.window.pads = BothEnds({c.Int("pad", 0)});
  RequireFloat(c, conv.x);
  return {Transpose({c, Build(c, conv)}, {2, 0, 1})};
});

std::optional<std::vector<int64_t>> SpatialSizes(const Value* weights) {
  const auto dims = weights->shape() ? weights->shape()->Static() : std::nullopt;
  if (!dims || dims->size() < 3) return std::nullopt;
  return std::vector<int64_t>(dims->begin() + 2, dims->end());
}

absl::StatusOr<Value*> WriteConv(TorchWriter& w) {
  const auto kernel = SpatialSizes(w.in(1));
  if (!kernel) return CannotExpress("weights of unknown sizes");
  X2IR_ASSIGN_OR_RETURN(Window window, WrittenWindow(w, *kernel));
  Value* x = window.even() ? w.in(0) : PadApart(w, window, 0);
  return w.Call(OfRank(window.rank(),
                       {"aten::conv1d.default", "aten::conv2d.default", "aten::conv3d.default"}),
                {{"input", x},
                 {"weight", w.in(1)},
                 {"bias", w.in(2)},
                 {"stride", window.strides},
                 {"padding", window.begins()},
                 {"dilation", window.dilations},
                 {"groups", w.Int("group")}});
}

// The padding of a transposed convolution whose result's size is given.
absl::StatusOr<Window> FittedWindow(TorchWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.channels_last) return CannotExpress("channels last");
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress(n, " spatial axes");
  const std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  const std::vector<int64_t> wanted = w.attrs().Ints("output_shape", {});
  for (size_t i = 0; i < n; ++i) {
    const Dim size = w.shape() ? (*w.shape())[window.axis(i)] : Dim();
    if (!size.is_static()) return CannotExpress("a result of a given size, of an unknown one");
    const int64_t out =
        wanted.empty() ? size.value() * window.strides[i] : wanted[wanted.size() - n + i];
    const int64_t total = (size.value() - 1) * window.strides[i] + more[i] + window.extent(i) - out;
    window.SplitPads(i, std::max<int64_t>(total, 0), window.auto_pad == AutoPad::kSameUpper);
    // A negative total extends the result at the end: that pad is negative.
    window.pads[n + i] += std::min<int64_t>(total, 0);
  }
  return window;
}

// A larger padding before than after becomes output_padding; otherwise the result is cut.
absl::StatusOr<Value*> WriteConvTranspose(TorchWriter& w) {
  const auto kernel = SpatialSizes(w.in(1));
  if (!kernel) return CannotExpress("weights of unknown sizes");
  const std::string& automatic = w.String("auto_pad");
  const bool fitted = w.attrs().Has("output_shape") || automatic.starts_with("SAME");
  X2IR_ASSIGN_OR_RETURN(const Window window,
                        fitted ? FittedWindow(w, *kernel) : WrittenWindow(w, *kernel));
  const size_t n = window.rank();
  std::vector<int64_t> more = w.attrs().Ints("output_padding", std::vector<int64_t>(n, 0));
  bool cut = false;
  for (size_t i = 0; i < n; ++i) {
    const int64_t own = more[i] + window.pad_begin(i) - window.pad_end(i);
    cut |= own < 0 || own >= std::max(window.strides[i], window.dilations[i]);
  }
  const Type type = w.out_type();
  std::vector<int64_t> starts, ends, axes;
  for (size_t i = 0; i < n; ++i) {
    const int64_t end = window.pad_end(i);
    if (!cut) more[i] += window.pad_begin(i) - end;
    if (!cut) continue;
    if (end < 0) return CannotExpress("negative padding");
    starts.push_back(window.pad_begin(i));
    ends.push_back(end > 0 ? -end : INT64_MAX);
    axes.push_back(window.axis(i));
  }
  Type result = type;
  if (cut) result = Type::Tensor(w.dtype(), Shape::UnknownDims(static_cast<int64_t>(n) + 2));
  Value* y = w.Call(OfRank(n, {"aten::conv_transpose1d.default", "aten::conv_transpose2d.input",
                               "aten::conv_transpose3d.input"}),
                    {{"input", w.in(0)},
                     {"weight", w.in(1)},
                     {"bias", w.in(2)},
                     {"stride", window.strides},
                     {"padding", cut ? std::vector<int64_t>(n, 0) : window.begins()},
                     {"output_padding", more},
                     {"groups", w.Int("group")},
                     {"dilation", window.dilations}},
                    result);
  if (!cut) return y;
  return w.Op("slice", {y, w.b().Ints(starts), w.b().Ints(ends), w.b().Ints(axes)});
}

}  // namespace

X2IR_TORCH(conv).To("aten::conv2d.default", WriteConv);
X2IR_TORCH(conv_transpose).To("aten::conv_transpose2d.input", WriteConvTranspose);

}  // namespace x2ir
