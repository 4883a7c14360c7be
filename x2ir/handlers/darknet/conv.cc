// Darknet: convolutions.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// 1 above 0, else -1, as a float.
Expr Signs(const Expr& x) { return (x > 0.0).To(x.dtype()) * 2.0 - 1.0; }

Window WindowOf(DarknetArgs& a) {
  const int64_t size = a.Integer("size", 1), stride = a.Integer("stride", 1),
                dilation = a.Integer("dilation", 1), stride_x = a.Integer("stride_x", -1),
                stride_y = a.Integer("stride_y", -1), given = a.Integer("padding", 0);
  const int64_t padding = a.Flag("pad", false) ? size / 2 : given, step = size == 1 ? 1 : dilation;
  a.Require(step == 1 || 2 * padding == size - 1, "dilated windows that change the image's size");
  return SquareWindow(size, {stride_y > 0 ? stride_y : stride, stride_x > 0 ? stride_x : stride},
                      step, padding * step);
}

absl::StatusOr<Value*> Convolutional(DarknetArgs& a) {
  Window window = WindowOf(a);
  const bool norm = a.Flag("batch_normalize", false) || a.Flag("cbn", false);
  const int64_t blur = a.Integer("antialiasing", 0);
  a.Drop({"filters", "share_index", "angle", "cbn"});
  a.RefuseAll({"bin_output", "deform", "sway", "rotate", "stretch", "stretch_sway", "reverse",
               "dontloadscales", "use_bin_output", "coordconv"});
  const bool signs = a.Flag("xnor", false);
  a.Require(!a.Flag("binary", false) || signs,
            "binary=1, which Darknet computes on GPUs and leaves on CPUs");
  const Expr bias = a.weights(0);
  Expr x = a.image(), kernel = a.weights(norm ? 4 : 1);
  if (a.Flag("flipped", false)) {
    const auto dims = KnownSizes(kernel, 0, 4);
    kernel = Reshape(Transpose(Reshape(kernel, {-1, (*dims)[0]}), {1, 0}), *dims);
  }
  if (signs) {
    // Signs of the operand by signs of weights, which have the mean size of their filter's.
    x = Signs(x);
    kernel = Signs(kernel) * Reduce(Abs(kernel), "reduce_mean", {1, 2, 3}, true);
  }
  const std::vector<int64_t> strides = window.strides;
  if (blur != 0) window.strides = {1, 1};
  Expr y = Convolve(a, x, kernel, norm ? nullptr : bias.value(), window, a.Integer("groups", 1));
  if (norm) y = Normed(a, y, bias, a.weights(1), a.weights(2), a.weights(3));
  X2IR_ASSIGN_OR_RETURN(y, Activated(a, y, "logistic"));
  return Blurred(a, y, blur, strides).value();
}

absl::StatusOr<Value*> Deconvolutional(DarknetArgs& a) {
  const Window window = WindowOf(a);
  CheckWindow(a, window);
  const bool norm = a.Flag("batch_normalize", false);
  a.Drop({"filters"});
  const Expr bias = a.weights(0), kernel = a.weights(norm ? 4 : 1);
  Expr y = MakeConvTranspose(a.image(), kernel, norm ? nullptr : bias.value(), window, 1);
  if (norm) y = Normed(a, y, bias, a.weights(1), a.weights(2), a.weights(3));
  return WithActivation(a, y, "logistic");
}

// Every place of the result has weights of its own: [places, filters, channels * window].
absl::StatusOr<Value*> Local(DarknetArgs& a) {
  const int64_t size = a.Integer("size", 1), stride = a.Integer("stride", 1),
                filters = a.Integer("filters", 1);
  const int64_t pad = a.Flag("pad", false) ? 1 : 0;
  const Expr x = a.image(), bias = a.weights(0), kernels = a.weights(1);
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static() && size >= 1 && size <= 64, "windows of this size");
  // The windows as channels: one convolution a place of the window.
  const int64_t window = size * size;
  std::vector<double> ones(static_cast<size_t>(window * window), 0);
  for (int64_t i = 0; i < window; ++i) ones[static_cast<size_t>(i * window + i)] = 1;
  const Expr each = NumbersAs(a, x.dtype(), {window, 1, size, size}, ones)
                        .Op("tile", {a.b().Ints({channels.value(), 1, 1, 1})});
  const Window w = SquareWindow(size, {stride, stride}, 1, pad);
  const Expr columns = Convolve(a, x, each, nullptr, w, channels.value());
  const auto places = KnownSizes(columns, 2, 4), wanted = KnownSizes(bias, 1, 3);
  if (!places || places != wanted) return Unimplemented("windows at other places than weights");
  const Size batch = SizeAt(x, 0);
  const Expr rows = ReshapeTo(columns, {batch, Size(channels.value() * window), Size(-1)});
  // [places, filters, inner] by [places, inner, batch].
  const Expr product = MatMul(kernels, Transpose(rows, {2, 1, 0}));
  const Expr y = ReshapeTo(Transpose(product, {2, 1, 0}),
                           {batch, Size(filters), Size((*places)[0]), Size((*places)[1])});
  return WithActivation(a, y + bias, "logistic");
}

}  // namespace

X2IR_DARKNET(conv).From({{"convolutional", Convolutional}, {"local", Local}});
X2IR_DARKNET(conv_transpose).From("deconvolutional", Deconvolutional);

}  // namespace x2ir
