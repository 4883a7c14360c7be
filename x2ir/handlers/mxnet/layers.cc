// MXNet: convolutions, pools, dense layers, activations, and what loss layers give at inference.
#include "x2ir/handlers/nnvm/layers.h"

#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {
namespace {

// --- Windows -------------------------------------------------------------------------------------

}  // namespace

Window TakeMxnetWindow(SymbolArgs& a) {
  Window w;
  w.kernel = a.Tuple("kernel");
  const size_t n = w.kernel.size();
  a.Require(n >= 1 && n <= 3, "a window without a size");
  w.strides = a.TupleOf("stride", n, 1);
  w.dilations = a.TupleOf("dilate", n, 1);
  w.pads = BothEnds(a.TupleOf("pad", n, 0));
  w.channels_last = IsChannelsLast(a, a.Text("layout"));
  CheckWindow(a, w);
  return w;
}

Expr MxnetPool(SymbolArgs& a, const Expr& x, PoolKind kind) {
  const int64_t p = a.Integer("p_value", 2);
  if (a.Flag("global_pool", false)) {
    for (const char* name :
         {"kernel", "stride", "pad", "pooling_convention", "count_include_pad"}) {
      a.Ignore(name);
    }
    return GlobalPool(a, x, kind, IsChannelsLast(a, a.Text("layout")), p);
  }
  const std::string convention = a.Text("pooling_convention", "valid");
  a.Require(convention == "valid" || convention == "full",
            StrCat("pooling_convention ", convention));
  WindowPool pool{TakeMxnetWindow(a), kind, a.Flag("count_include_pad", true), p};
  pool.window.ceil_mode = convention == "full";
  return PoolWindows(a, x, pool);
}

namespace {

Value* BiasOf(SymbolArgs& a, size_t i, bool fallback) {
  const bool none = a.Flag("no_bias", fallback);
  return none ? nullptr : a.in(i).value();
}

Value* Convolution(SymbolArgs& a) {
  a.Ignore("num_filter");
  const Window w = TakeMxnetWindow(a);
  return Convolve(a, a.in(0), a.in(1), BiasOf(a, 2, false), w, a.Integer("num_group", 1));
}

// Weights [in, out of a group, kernel...]. target_shape says the sizes of the result, of which one
// too many is taken away at the begin.
Value* Deconvolution(SymbolArgs& a) {
  a.Ignore("num_filter");
  Window w = TakeMxnetWindow(a);
  const size_t n = w.rank();
  a.Require(!w.channels_last, "a transposed convolution with channels last");
  std::vector<int64_t> adj = a.TupleOf("adj", n, 0);
  const std::vector<int64_t> target = a.Tuple("target_shape");
  bool has_target = false;
  for (const int64_t size : target) has_target = has_target || size != 0;
  if (has_target && target.size() == n) {
    adj.assign(n, 0);
    for (size_t i = 0; i < n; ++i) {
      const Dim dim = DimAt(a.in(0), static_cast<int64_t>(i) + 2);
      a.Require(dim.is_static() && dim.value() < (int64_t{1} << 32),
                "a target shape with an operand of unknown size");
      const int64_t whole = w.strides[i] * (dim.value() - 1) + w.extent(i),
                    excess = whole - std::max<int64_t>(target[i], 0);
      if (target[i] < 1 || excess < 0) a.Fail(Invalid("a target shape that is too large"));
      w.SplitPads(i, excess, /*odd_at_end=*/false);
    }
  }
  const int64_t groups = a.Integer("num_group", 1);
  return MakeConvTranspose(a.in(0), a.in(1), BiasOf(a, 2, true), w, groups, adj);
}

PoolKind KindOfPool(SymbolArgs& a) {
  const std::string type = a.Text("pool_type", "max");
  if (type == "avg") return PoolKind::kAverage;
  if (type == "sum") return PoolKind::kSum;
  if (type == "lp") return PoolKind::kLp;
  a.Require(type == "max", StrCat("pool_type ", type));
  return PoolKind::kMax;
}
Value* Pooling(SymbolArgs& a) { return MxnetPool(a, a.in(0), KindOfPool(a)); }
// Since version 1 of the operator averages are over windows without what stands out of the padding.
Value* OldPooling(SymbolArgs& a) {
  const PoolKind kind = KindOfPool(a);
  a.Require(kind == PoolKind::kMax || a.Flag("global_pool", false) ||
                a.Text("pooling_convention", "valid") != "full",
            "averages of the first version whose sizes are rounded up");
  return MxnetPool(a, a.in(0), kind);
}

// Every cell of the result is the mean of its part of the image.
Value* AdaptiveAveragePool(SymbolArgs& a) {
  std::vector<int64_t> to = a.TupleOf("output_size", 2, 1);
  if (to[0] == 1 && to[1] == 1) return GlobalPool(a, a.in(0), PoolKind::kAverage, false);
  Expr x = a.in(0);
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t axis = 2 + i, cells = to[static_cast<size_t>(i)];
    const Dim dim = DimAt(x, axis);
    a.Require(dim.is_static() && cells > 0, "adaptive pools of images of unknown size");
    const int64_t size = dim.value();
    a.Require(size > 0 && size <= 4096 && cells <= 4096, "adaptive pools of images of this size");
    // A mean is a product with a matrix of weights.
    std::vector<double> weights(static_cast<size_t>(size * cells), 0);
    for (int64_t c = 0; c < cells; ++c) {
      const int64_t from = c * size / cells, end = ((c + 1) * size + cells - 1) / cells;
      for (int64_t k = from; k < end; ++k) {
        weights[static_cast<size_t>(k * cells + c)] = 1.0 / static_cast<double>(end - from);
      }
    }
    const Expr matrix = NumbersAs(a, x.dtype(), {size, cells}, weights, "means");
    x = axis == 3 ? MatMul(x, matrix) : SwapLast(MatMul(SwapLast(x), matrix));
  }
  return x;
}

// --- Windows as columns: [batch, channels of each place of the window, windows] ------------------

Value* ImageToColumns(SymbolArgs& a) {
  const Window w = TakeMxnetWindow(a);
  const size_t n = w.rank();
  a.Require(n <= 2, "windows of three axes");
  const auto both = [&](std::vector<int64_t> numbers, int64_t other) {
    numbers.resize(n);
    if (n == 1) numbers.insert(numbers.begin(), other);
    return numbers;
  };
  const Expr x = n == 1 ? Unsqueeze(a.in(0), {2}) : a.in(0);
  return AsTorch(a, "aten::im2col.default",
                 {{"self", x},
                  {"kernel_size", both(w.kernel, 1)},
                  {"dilation", both(w.dilations, 1)},
                  {"padding", both(w.pads, 0)},
                  {"stride", both(w.strides, 1)}})[0];
}
// What meets at a pixel is summed.
Value* ColumnsToImage(SymbolArgs& a) {
  const std::vector<int64_t> size = a.Tuple("output_size");
  const Window w = TakeMxnetWindow(a);
  a.Require(size.size() == w.rank(), "a size of other axes");
  return a.Op("col2im", {a.in(0), a.b().Ints(size), a.b().Ints(w.kernel)},
              {{"dilations", w.dilations}, {"pads", w.pads}, {"strides", w.strides}});
}

// --- Dense ---------------------------------------------------------------------------------------

Value* FullyConnected(SymbolArgs& a) {
  a.Ignore("num_hidden");
  Value* bias = BiasOf(a, 2, false);
  const Expr x = a.Flag("flatten", true) ? FlattenedRows(a.in(0)) : a.in(0);
  a.Require(x->shape() != nullptr, "a dense layer with an operand of unknown rank");
  return Dense(x, a.in(1), bias);
}

// Rows of the weights. Numbers that are out of range are those of the nearest row.
Value* Embedding(SymbolArgs& a) {
  a.Ignore("output_dim");
  a.ElementType("dtype", DType::kFloat32);
  const int64_t count = a.Integer("input_dim", 0);
  Expr index = a.AsInt64(a.in(0));
  if (count > 0) index = Clip(index, Int(a, 0), Int(a, count - 1));
  return Gather(a.in(1), index, 0);
}

// --- Activations ---------------------------------------------------------------------------------

Value* ActivationLayer(SymbolArgs& a) {
  const std::string type = a.Text("act_type", "");
  static constexpr NamedActivation kOwn[] = {{"softrelu", "softplus"}};
  const std::optional<Expr> y =
      Activated("relu sigmoid tanh softsign mish log_sigmoid", kOwn, type, a.in(0));
  a.Require(y.has_value(), StrCat("act_type ", type));
  return *y;
}

Value* LeakyRelu(SymbolArgs& a) {
  const std::string type = a.Text("act_type", "leaky");
  const double slope = a.Number("slope", 0.25), low = a.Number("lower_bound", 0.125),
               high = a.Number("upper_bound", 0.334);
  const Expr x = a.in(0);
  const auto leaky = [&](double alpha) {
    return activation::LeakyRelu(x, static_cast<float>(alpha));
  };
  if (type == "leaky") return leaky(slope);
  // At inference the slope is the mean of those that training draws.
  if (type == "rrelu") return leaky((low + high) / 2);
  if (type == "elu") return a.Op("elu", {x}, {{"alpha", static_cast<float>(slope)}});
  if (type == "selu") return a.Op("selu", {x});
  if (type == "gelu" || type == "gelu_erf") return a.Op("gelu", {x}, {{"approximate", "none"}});
  if (type == "gelu_tanh") return activation::GeluTanh(x);
  a.Require(type == "prelu", StrCat("act_type ", type));
  return PreluAlong(x, a.in(1), 1);
}

// --- Softmax -------------------------------------------------------------------------------------

Expr SoftmaxOf(const Expr& x, Symbol op, int64_t axis) { return x.Op(op, {}, {{"axis", axis}}); }

// Of rows: all axes but the first one together.
Expr SoftmaxOfRows(const Expr& x) {
  if (x->shape() && x->shape()->rank() == 2) return SoftmaxOf(x, "softmax", -1);
  return ReshapeTo(SoftmaxOf(FlattenedRows(x), "softmax", -1), ShapeOf(x));
}

absl::StatusOr<Value*> SoftmaxWith(SymbolArgs& a, Symbol op, bool negative) {
  const int64_t axis = a.Integer("axis", -1);
  const double temperature = a.Number("temperature", 1);
  const DType to = a.ElementType("dtype", DType::kUndefined);
  const bool lengths = a.Flag("use_length", false);
  Expr x = a.in(0);
  if (to != DType::kUndefined) x = x.To(to);
  if (negative) x = -x;
  if (temperature != 1) x = x / temperature;
  if (!lengths) return SoftmaxOf(x, op, axis);
  // Elements behind the length count for nothing, and are 0.
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({axis}));
  const int64_t rank = a.rank(0);
  const Expr places = AlongAxis(Iota(SizeOf(x, axes[0])), axes[0], rank);
  const Expr inside = places < Unsqueeze(a.AsInt64(a.in(1)), {axes[0]});
  const Expr y = SoftmaxOf(Where(inside, x, Extreme(a, x.dtype(), false)), op, axis);
  return Where(inside, y, y.Number(0)).value();
}
absl::StatusOr<Value*> Softmax(SymbolArgs& a) { return SoftmaxWith(a, "softmax", false); }
absl::StatusOr<Value*> LogSoftmax(SymbolArgs& a) { return SoftmaxWith(a, "log_softmax", false); }
absl::StatusOr<Value*> Softmin(SymbolArgs& a) { return SoftmaxWith(a, "softmax", true); }

// Elements whose mask is 0 count for nothing.
template <bool kLog>
Value* MaskedSoftmax(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", -1);
  a.Ignore("normalize");
  const Expr x = a.in(0) / a.Number("temperature", 1), mask = IsTrue(a.in(1));
  const Expr low = Extreme(a, x.dtype(), false);
  const Expr y = SoftmaxOf(Where(mask, x, low), kLog ? "log_softmax" : "softmax", axis);
  return Where(mask, y, kLog ? low : y.Number(0));
}

Value* SoftmaxActivation(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "instance");
  a.Require(mode == "instance" || mode == "channel", StrCat("mode ", mode));
  return mode == "channel" ? SoftmaxOf(a.in(0), "softmax", 1) : SoftmaxOfRows(a.in(0));
}

// --- Loss layers, which at inference give what they compare with the labels ----------------------

void IgnoreTraining(SymbolArgs& a) {
  for (const char* name : {"grad_scale", "ignore_label", "use_ignore", "normalization", "out_grad",
                           "smooth_alpha", "valid_thresh", "margin", "regularization_coefficient",
                           "use_linear", "sparseness_target", "penalty", "momentum"}) {
    a.Ignore(name);
  }
}
Value* SoftmaxOutput(SymbolArgs& a) {
  IgnoreTraining(a);
  const bool channels = a.Flag("multi_output", false), last = a.Flag("preserve_shape", false);
  if (last) return SoftmaxOf(a.in(0), "softmax", -1);
  return channels ? SoftmaxOf(a.in(0), "softmax", 1) : SoftmaxOfRows(a.in(0));
}
Value* RegressionOutput(SymbolArgs& a) {
  IgnoreTraining(a);
  return SameValue(a);
}
Value* LogisticOutput(SymbolArgs& a) {
  IgnoreTraining(a);
  return a.Op("sigmoid", {a.in(0)});
}
// The sum of minus the logarithms of the labels' probabilities.
Value* SoftmaxCrossEntropy(SymbolArgs& a) {
  const Expr log = SoftmaxOf(a.in(0), "log_softmax", 1);
  const Expr picked = GatherElements(log, Unsqueeze(a.AsInt64(a.in(1)), {1}), 1);
  return Reshape(-Reduce(picked, "reduce_sum", {}), {1});
}

// Operands: x [time, batch, labels] before softmax, labels [batch, most], and how many there are of
// each where that is said. Else labels end before the first blank (or, with the blank last, -1).
absl::StatusOr<Value*> CtcLoss(SymbolArgs& a) {
  const bool times = a.Flag("use_data_lengths", false), counts = a.Flag("use_label_lengths", false);
  const std::string blank = a.Text("blank_label", "first");
  if (blank != "first" && blank != "last") return Invalid("blank_label ", blank);
  const Expr x = a.in(0), labels = a.AsInt64(a.in(1));
  const Dim kinds = DimAt(x, 2);
  if (!kinds.is_static() || kinds.value() < 1) return Unimplemented("an unknown number of labels");
  const Expr most = SizeOf(labels, 1), batch = SizeOf(x, 1);
  const Expr steps =
      times ? a.AsInt64(a.in(2)) : Expand(SizeOf(x, 0), ReshapeTo(batch, a.b().Ints({1})));
  Expr lengths = most;
  if (counts) {
    lengths = a.AsInt64(a.in(times ? 3 : 2));
  } else {
    const Expr ends = labels == (blank == "first" ? 0.0 : -1.0);
    lengths = Reduce(Where(ends, Iota(most), most), "reduce_min", {1});
  }
  return AsTorch(a, "aten::ctc_loss.Tensor",
                 {{"log_probs", SoftmaxOf(x, "log_softmax", 2)},
                  {"targets", Max(labels, 0.0)},
                  {"input_lengths", steps},
                  {"target_lengths", lengths},
                  {"blank", blank == "first" ? int64_t{0} : kinds.value() - 1},
                  {"reduction", int64_t{0}},
                  {"zero_infinity", false}},
                 {x.dtype()})[0];
}

Value* Dropout(SymbolArgs& a) {
  const double p = a.Number("p", 0.5);
  const std::string mode = a.Text("mode", "training");
  a.Tuple("axes");
  a.Ignore("seed");
  a.Require(mode == "training" || p == 0, "dropout at inference");
  return SameValue(a);
}

}  // namespace

X2IR_MXNET(average_pool).From("_contrib_AdaptiveAvgPooling2D", AdaptiveAveragePool);
X2IR_MXNET(col2im).From({"col2im", "_npx_col2im"}, ColumnsToImage);
X2IR_MXNET(slice).From({"im2col", "_npx_im2col"}, ImageToColumns);
X2IR_MXNET(loop).From({"CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss",
                       "_npx_ctc_loss"},
                      CtcLoss);
X2IR_MXNET(conv).From({"Convolution", "Convolution_v1", "_npx_convolution"}, Convolution);
X2IR_MXNET(conv_transpose).From({"Deconvolution", "_npx_deconvolution"}, Deconvolution);
X2IR_MXNET(dropout).From({"Dropout", "_npx_dropout"}, Dropout);
X2IR_MXNET(gather).From({"Embedding", "_contrib_SparseEmbedding", "_npx_embedding"}, Embedding);
X2IR_MXNET(gemm).From({"FullyConnected", "_npx_fully_connected"}, FullyConnected);
X2IR_MXNET(identity).From({"LinearRegressionOutput", "MAERegressionOutput", "SVMOutput", "MakeLoss",
                           "IdentityAttachKLSparseReg"},
                          RegressionOutput);
X2IR_MXNET(leaky_relu).From({"LeakyReLU", "_npx_leaky_relu"}, LeakyRelu);
X2IR_MXNET(log_softmax)
    .From({"log_softmax", "_npx_log_softmax"}, LogSoftmax)
    .From({"masked_log_softmax", "_npx_masked_log_softmax"}, MaskedSoftmax<true>)
    .From("softmax_cross_entropy", SoftmaxCrossEntropy);
X2IR_MXNET(max_pool).From({"Pooling", "_npx_pooling"}, Pooling).From("Pooling_v1", OldPooling);
X2IR_MXNET(relu).From({"Activation", "_npx_activation"}, ActivationLayer);
X2IR_MXNET(sigmoid).From("LogisticRegressionOutput", LogisticOutput);
X2IR_MXNET(softmax)
    .From({"softmax", "_npx_softmax"}, Softmax)
    .From({"masked_softmax", "_npx_masked_softmax"}, MaskedSoftmax<false>)
    .From("softmin", Softmin)
    .From("SoftmaxActivation", SoftmaxActivation)
    .From({"SoftmaxOutput", "Softmax"}, SoftmaxOutput);

}  // namespace x2ir
