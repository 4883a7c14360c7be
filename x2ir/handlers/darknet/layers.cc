// Darknet: all sections but heads.
#include "x2ir/handlers/nnvm/layers.h"

#include <algorithm>
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/images.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/formats/darknet/darknet.h"
#include "x2ir/handlers/darknet/darknet.h"

namespace x2ir {
namespace {

// --- Activations ---------------------------------------------------------------------------------

Expr Sigmoid(const Expr& x) { return x.Op("sigmoid"); }
// Darknet's stairs: whole steps at even numbers, slopes at odd ones.
Expr Stair(const Expr& x) {
  const Expr n = Floor(x), half = Floor(x / 2);
  return Where(n == half * 2.0, half, (x - n) + half);
}
// AlexeyAB's: among the channels of a pixel.
Expr NormedChannels(const Expr& x) {
  const Expr above = x.Op("relu");
  return above / (Sum(above, 1, true) + 0.0001);
}
Expr ChannelChances(const Expr& x) {
  const Expr powers = Exp(x);
  return powers / (Sum(powers, 1, true) + 0.0001);
}
Expr Leaky(const Expr& x) { return activation::LeakyRelu(x, 0.1f); }
constexpr NamedActivation kOwn[] = {
    {"linear", ""},
    {"logistic", "sigmoid"},
    {"loggy", "", [](const Expr& x) { return Sigmoid(x) * 2.0 - 1.0; }},
    {"selu", "",
     [](const Expr& x) {
       return x.Op("selu", {}, {{"alpha", 1.6732f}, {"gamma", 1.0507f}});
     }},
    {"relie", "", [](const Expr& x) { return activation::LeakyRelu(x, 0.01f); }},
    {"ramp", "", [](const Expr& x) { return x.Op("relu") + x * 0.1; }},
    {"leaky", "", Leaky},
    {"revleaky", "", Leaky},
    {"gelu", "",
     [](const Expr& x) {
       return x * 0.5 * ((x * 0.797885 + x * x * x * 0.035677).Op("tanh") + 1.0);
     }},
    {"normalize_channels", "", NormedChannels},
    {"normalize_channels_softmax", "", ChannelChances},
    {"normalize_channels_softmax_maxval", "",
     [](const Expr& x) { return ChannelChances(x - Reduce(x, "reduce_max", {1}, true)); }},
    {"hardtan", "", activation::HardTanh},
    {"lhtan", "",
     [](const Expr& x) {
       return Where(x < 0.0, x * 0.001, Where(x > 1.0, (x - 1.0) * 0.001 + 1.0, x));
     }},
    {"plse", "",
     [](const Expr& x) {
       return Where(x < -4.0, (x + 4.0) * 0.01,
                    Where(x > 4.0, (x - 4.0) * 0.01 + 1.0, x * 0.125 + 0.5));
     }},
    {"stair", "", Stair},
    {"swish", "", activation::Silu},
    {"hard_mish", "",
     [](const Expr& x) { return Where(x > 0.0, x, Where(x > -2.0, x * x / 2.0 + x, x * 0.0)); }},
};

}  // namespace

absl::StatusOr<Expr> ActivatedBy(std::string_view name, const Expr& x) {
  if (const std::optional<Expr> y = Activated("relu relu6 elu tanh mish", kOwn, name, x)) return *y;
  return Unimplemented("activation=", name);
}
absl::StatusOr<Expr> Activated(DarknetArgs& a, const Expr& x, std::string_view fallback) {
  return ActivatedBy(a.Text("activation", fallback), x);
}

namespace {

absl::StatusOr<Value*> WithActivation(DarknetArgs& a, const Expr& x, std::string_view fallback) {
  X2IR_ASSIGN_OR_RETURN(const Expr y, Activated(a, x, fallback));
  return y.value() == x.value() ? a.Op("identity", {x}).value() : y.value();
}

// --- Layers with weights -------------------------------------------------------------------------

// (x - mean) / (sqrt(variance) + 1e-6) * scale + bias.
Expr Normed(DarknetArgs& a, const Expr& x, const Expr& bias, const Expr& scales, const Expr& mean,
            const Expr& variance) {
  return BatchNormalize(a, x, scales, bias, mean, Square(Sqrt(variance) + 0.000001), 1, 0);
}

Window SquareWindow(int64_t size, std::vector<int64_t> strides, int64_t dilation, int64_t padding) {
  Window w;
  w.kernel = {size, size};
  w.strides = std::move(strides);
  w.dilations = {dilation, dilation};
  w.pads = {padding, padding, padding, padding};
  return w;
}
// `antialiasing`: what came before took steps of 1; a blur takes those that were asked for.
Expr Blurred(DarknetArgs& a, const Expr& x, int64_t kind, const std::vector<int64_t>& strides) {
  if (kind == 0) return x;
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static(), "an unknown number of channels");
  const std::vector<double> blur =
      kind == 2 ? std::vector<double>(4, 1.0 / 4)
                : std::vector<double>{1.0 / 16, 2.0 / 16, 1.0 / 16, 2.0 / 16, 4.0 / 16,
                                      2.0 / 16, 1.0 / 16, 2.0 / 16, 1.0 / 16};
  const int64_t size = kind == 2 ? 2 : 3;
  const Expr each = NumbersAs(a, x.dtype(), {1, 1, size, size}, blur)
                        .Op("tile", {a.b().Ints({channels.value(), 1, 1, 1})});
  return Convolve(a, x, each, nullptr, SquareWindow(size, strides, 1, kind == 2 ? 0 : 1),
                  channels.value());
}
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
absl::StatusOr<Value*> Connected(DarknetArgs& a) {
  const bool norm = a.Flag("batch_normalize", false);
  const bool transposed = a.NodeReader::Bool("x2ir.transposed", false);
  a.Drop({"output"});
  a.RefuseAll({"dontloadscales"});
  const Expr bias = a.weights(0);
  Expr y = Dense(FlattenedRows(a.in(0)), a.weights(1), norm ? nullptr : bias.value(), transposed);
  if (norm) y = Normed(a, y, bias, a.weights(2), a.weights(3), a.weights(4));
  return WithActivation(a, y, "logistic");
}
absl::StatusOr<Value*> BatchNormSection(DarknetArgs& a) {
  const size_t first = a.num_weights() == 4 ? 1 : 0;
  const Expr bias = first == 1 ? a.weights(0) : nullptr;
  return Normed(a, a.image(), bias, a.weights(first), a.weights(first + 1), a.weights(first + 2))
      .value();
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

// --- Recurrent layers ----------------------------------------------------------------------------

// A step from a state of zeros, as Darknet's forward pass of a network that was just loaded.

// The convolutions or connected layers that a recurrent layer is made of.
class Parts {
 public:
  Parts(DarknetArgs& a, bool images)
      : a_(a), images_(images), norm_(a.Flag("batch_normalize", false)) {
    a.Drop({"output", "hidden"});
    if (!images) return;
    a.RefuseAll({"xnor"});
    groups_ = a.Integer("groups", 1);
    const int64_t size = a.Integer("size", 3), stride = a.Integer("stride", 1),
                  dilation = a.Integer("dilation", 1);
    // Without a word about it, images keep their size.
    const bool said = a.HasAttr("pad") || a.HasAttr("padding");
    const int64_t given = a.Integer("padding", 0);
    const int64_t padding = (a.Flag("pad", false) || !said ? size / 2 : given) * dilation;
    window_ = SquareWindow(size, {stride, stride}, dilation, padding);
    a.Require(stride == 1 && 2 * padding == (size - 1) * dilation, "images that change their size");
  }
  Expr Of(size_t part, const Expr& x) {
    Value* const bias = norm_ ? nullptr : Weight(part, 0).value();
    const Expr weights = Weight(part, images_ && norm_ ? 4 : 1);
    if (images_) return Normed(part, Convolve(a_, x, weights, bias, window_, groups_));
    const bool transposed = a_.NodeReader::Bool("x2ir.transposed", false);
    return Normed(part, Dense(FlattenedRows(x), weights, bias, transposed));
  }
  // With zeros a layer is its bias: [1, channels], or [1, channels, 1, 1].
  Expr OfZeros(size_t part) {
    std::vector<int64_t> dims = {1, -1};
    if (images_) dims.insert(dims.end(), {1, 1});
    const Expr bias = Reshape(Weight(part, 0), dims);
    return Normed(part, norm_ ? bias * 0.0 : bias);
  }

 private:
  // Biases, weights and the norm; a convolution's weights are the last.
  Expr Weight(size_t part, size_t i) { return a_.weights(part * (norm_ ? 5 : 2) + i); }
  Expr Normed(size_t part, const Expr& x) {
    if (!norm_) return x;
    const size_t first = images_ ? 1 : 2;
    return x2ir::Normed(a_, x, Weight(part, 0), Weight(part, first), Weight(part, first + 1),
                        Weight(part, first + 2));
  }

  DarknetArgs& a_;
  const bool images_, norm_;
  Window window_;
  int64_t groups_ = 1;
};

// Three layers: of what comes in, of the state, and of their sum.
absl::StatusOr<Value*> Recurrent(DarknetArgs& a, bool images) {
  Parts parts(a, images);
  const int64_t logistic = images ? 0 : a.Integer("logistic", 0);
  const std::string activation = a.Text("activation", "logistic");
  const std::string of_state = logistic == 2 ? "loggy" : logistic == 1 ? "logistic" : activation;
  a.Drop({"shortcut"});
  const Expr in = parts.Of(0, images ? a.image() : a.in(0));
  X2IR_ASSIGN_OR_RETURN(const Expr fresh, ActivatedBy(activation, in));
  X2IR_ASSIGN_OR_RETURN(const Expr kept, ActivatedBy(of_state, parts.OfZeros(1)));
  const Expr out = parts.Of(2, fresh + kept);
  X2IR_ASSIGN_OR_RETURN(const Expr y, ActivatedBy(activation, out));
  return y.value();
}

// [gru], [lstm] and [conv_lstm]: each gate is the sum of a layer of what comes in ("u..."), one of
// the state ("w...") and, with peepholes, one of the cell ("v...").
class Gates {
 public:
  Gates(DarknetArgs& a, bool images)
      : a_(a),
        parts_(a, images),
        names_(a.StringList(darknet::kParts)),
        x_(images ? a.image() : a.in(0)),
        activation_(images ? a.Text("activation", "linear") : "linear") {}
  bool starts_with_state() const { return !names_.empty() && names_[0][0] == 'w'; }
  // The sum before its function. The state is zeros, and so is the cell, unless it is given.
  absl::StatusOr<Expr> Sum(char gate, const Expr& cell = nullptr) {
    Expr sum = nullptr;
    for (const char kind : {'u', 'w', 'v'}) {
      const std::string name = {kind, gate};
      const auto at = std::ranges::find(names_, name);
      if (at == names_.end() && kind == 'v') break;
      if (at == names_.end()) return Invalid("there is no part ", name);
      const auto part = static_cast<size_t>(at - names_.begin());
      const Expr of = kind == 'u' ? x_ : kind == 'v' ? cell : nullptr;
      const Expr y = of.value() ? parts_.Of(part, of) : parts_.OfZeros(part);
      X2IR_ASSIGN_OR_RETURN(const Expr term, ActivatedBy(activation_, y));
      sum = sum.value() ? sum + term : term;
    }
    return sum;
  }

 private:
  DarknetArgs& a_;
  Parts parts_;
  std::vector<std::string> names_;
  Expr x_ = nullptr;
  std::string activation_;
};
absl::StatusOr<Value*> Gru(DarknetArgs& a) {
  Gates gates(a, false);
  // An option of pjreddie's.
  const bool tanh = a.Flag("tanh", false) && gates.starts_with_state();
  X2IR_ASSIGN_OR_RETURN(const Expr z, gates.Sum('z'));
  X2IR_ASSIGN_OR_RETURN(const Expr h, gates.Sum('h'));
  return ((1.0 - Sigmoid(z)) * (tanh ? h.Op("tanh") : Sigmoid(h))).value();
}
absl::StatusOr<Value*> Lstm(DarknetArgs& a, bool images) {
  Gates gates(a, images);
  if (images) {
    a.Drop({"peephole", "bottleneck", "state_constrain", "time_normalizer"});
    a.RefuseAll({"shortcut"});
    a.Require(a.Text("lstm_activation", "tanh") == "tanh",
              "lstm_activation, which Darknet looks at on GPUs only");
  }
  X2IR_ASSIGN_OR_RETURN(const Expr i, gates.Sum('i'));
  X2IR_ASSIGN_OR_RETURN(const Expr g, gates.Sum('g'));
  const Expr cell = Sigmoid(i) * g.Op("tanh");
  X2IR_ASSIGN_OR_RETURN(const Expr o, gates.Sum('o', cell));
  return (Sigmoid(o) * cell.Op("tanh")).value();
}
// The last `history_size` images, this one first; before it there were none, which are zeros.
absl::StatusOr<Value*> History(DarknetArgs& a) {
  const Expr x = a.image();
  const int64_t size = a.Integer("history_size", 4);
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static() && size >= 1 && size <= 4096, "images of unknown size");
  return a
      .Op("pad", {x, a.b().Ints({0, 0, 0, 0, 0, (size - 1) * channels.value(), 0, 0}), x.Number(0)})
      .value();
}

// --- Pools and norms -----------------------------------------------------------------------------

// Padding is what all windows need; half of it, rounded down, stands before the image. With a blur
// behind it a pool takes steps of 1.
Window PoolOf(DarknetArgs& a, const Expr& x, std::vector<int64_t> strides) {
  const int64_t size = a.Integer("size", a.Integer("stride", 1)),
                padding = a.Integer("padding", size - 1);
  Window w = SquareWindow(size, std::move(strides), 1, padding / 2);
  CheckWindow(a, w);
  a.Require(padding / 2 < size, "padding of as much as the window");
  for (size_t i = 0; i < 2; ++i) {
    const Dim dim = DimAt(x, static_cast<int64_t>(i) + 2);
    a.Require(dim.is_static(), "a pool of an image of unknown size");
    w.pads[2 + i] = padding - padding / 2;
    a.Require(dim.value() + padding >= size, "a window larger than the image");
    const LastWindow last = LastOf(w, i, dim.value(), /*within=*/false);
    a.Require(last.begin < dim.value(), "a pool whose last window stands behind the image");
    w.pads[2 + i] = std::max<int64_t>(last.beyond, 0);
  }
  return w;
}
std::vector<int64_t> PoolSteps(DarknetArgs& a) {
  const int64_t stride = a.Integer("stride", 1), stride_x = a.Integer("stride_x", stride);
  return {a.Integer("stride_y", stride), stride_x};
}
// The greatest of each n-th channel.
Expr MaxOfDepth(DarknetArgs& a, const Expr& x, int64_t channels) {
  const auto sizes = KnownSizes(x, 1, 4);
  a.Require(sizes && channels >= 1 && (*sizes)[0] % channels == 0, "groups of different sizes");
  const Expr groups = ReshapeTo(x, {SizeAt(x, 0), Size((*sizes)[0] / channels), Size(channels),
                                    Size((*sizes)[1]), Size((*sizes)[2])});
  return Reduce(groups, "reduce_max", {1});
}
absl::StatusOr<Value*> MaxPool(DarknetArgs& a) {
  a.RefuseAll({"maxpool_zero_nonmax"});
  const int64_t blur = a.Integer("antialiasing", 0), channels = a.Integer("out_channels", 1);
  const std::vector<int64_t> strides = PoolSteps(a);
  const Expr x = a.image();
  if (a.Flag("maxpool_depth", false)) {
    a.Drop({"size", "padding"});
    return Blurred(a, MaxOfDepth(a, x, channels), blur, strides).value();
  }
  const Window window = PoolOf(a, x, blur != 0 ? std::vector<int64_t>{1, 1} : strides);
  return Blurred(a, MakePool(x, {window}), blur, strides).value();
}
absl::StatusOr<Value*> LocalAvgPool(DarknetArgs& a) {
  const Expr x = a.image();
  return MakePool(x, {PoolOf(a, x, PoolSteps(a)), PoolKind::kAverage}).value();
}
// x / (kappa + alpha * sum of squares around it)^beta. The kernel carries the sum from channel to
// channel: it begins with the channels before size / 2, takes up the one that enters the window and
// leaves out the one that left it, so that channel size / 2 never enters, and is taken off later.
absl::StatusOr<Value*> Normalization(DarknetArgs& a) {
  const int64_t size = a.Integer("size", 5);
  const double alpha = a.Number("alpha", .0001), beta = a.Number("beta", .75),
               kappa = a.Number("kappa", 1);
  const Expr x = a.image();
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static() && channels.value() <= 4096, "so many channels");
  const int64_t count = channels.value();
  if (size < 1 || size / 2 > count)
    return Invalid("a norm over ", size, " of ", count, " channels");
  std::vector<double> sum(static_cast<size_t>(count), 0), rows;
  for (int64_t k = 0; k < size / 2; ++k) sum[static_cast<size_t>(k)] = alpha;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t left = k - (size - 1) / 2 - 1, next = k + size / 2;
    if (k > 0 && left >= 0) sum[static_cast<size_t>(left)] -= alpha;
    if (k > 0 && next < count) sum[static_cast<size_t>(next)] += alpha;
    rows.insert(rows.end(), sum.begin(), sum.end());
  }
  const Expr sums = Convolve(a, Square(x), NumbersAs(a, x.dtype(), {count, count, 1, 1}, rows),
                             nullptr, SquareWindow(1, {1, 1}, 1, 0), 1);
  return (x * Pow(sums + kappa, -beta)).value();
}
absl::StatusOr<Value*> L2Norm(DarknetArgs& a) { return L2Normalized(a.image(), {1}, 0).value(); }
absl::StatusOr<Value*> SoftmaxSection(DarknetArgs& a) {
  const Expr x = a.in(0);
  const int64_t groups = a.Integer("groups", 1);
  const double temperature = a.Number("temperature", 1);
  a.Require(a.Text("tree", "").empty(), "a tree of classes");
  a.Drop({"noloss"});
  if (a.Flag("spatial", false)) {
    return Scaled(a.image(), 1 / temperature).Op("softmax", {}, {{"axis", 1}}).value();
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const auto sizes = KnownSizes(x, 1, rank);
  a.Require(sizes.has_value(), "an operand of unknown size");
  const int64_t count = *CheckedProduct(*sizes);
  if (groups < 1 || count % groups != 0) return Invalid(count, " numbers in ", groups, " groups");
  const Expr rows =
      ReshapeTo(Scaled(x, 1 / temperature), {SizeAt(x, 0), Size(groups), Size(count / groups)});
  return ReshapeTo(rows.Op("softmax", {}, {{"axis", 2}}), AllSizes(x)).value();
}

// --- What goes where -----------------------------------------------------------------------------

absl::StatusOr<Value*> Route(DarknetArgs& a) {
  const int64_t groups = a.Integer("groups", 1), group = a.Integer("group_id", 0);
  a.Drop({"layers"});
  if (groups < 1 || group < 0 || group >= groups) return Invalid("group ", group, " of ", groups);
  std::vector<Value*> parts;
  for (size_t i = 0; i < a.num_values(); ++i) {
    const Expr x = a.image(i);
    const Dim channels = DimAt(x, 1);
    a.Require(groups == 1 || channels.is_static(), "groups of an unknown number of channels");
    const int64_t part = groups == 1 ? 0 : channels.value() / groups;
    parts.push_back(groups == 1 ? x : Slice(x, 1, Size(part * group), Size(part * (group + 1))));
  }
  if (parts.size() == 1) return a.Op("identity", {parts[0]}).value();
  return Concat(a, parts, 1).value();
}
// How much of each operand of a shortcut: [operands, 1 or channels], or null.
Expr ShortcutWeights(DarknetArgs& a) {
  a.Drop({"weights_type"});
  std::string norm = a.Text("weights_normalization", "none");
  const std::string before = a.Text("weights_normalizion", "none");  // as it once was spelled
  if (norm == "none") norm = before;
  if (a.num_weights() == 0) return nullptr;
  const Expr w = a.weights(0);
  if (norm == "none") return w;
  const bool softmax = norm == "softmax";
  a.Require(softmax || norm == "relu" || norm == "avg_relu",
            StrCat("weights_normalization=", norm));
  const Expr part = softmax ? Exp(w - Reduce(w, "reduce_max", {0}, true)) : w.Op("relu");
  return part / (Sum(part, 0, true) + 0.0001);
}
// alpha, which is pjreddie's, is of the channels that the other image has as well.
Expr ScaledWhereMet(DarknetArgs& a, const Expr& x, const Expr& other, double alpha) {
  const auto own = KnownSizes(x, 1, 2), its = KnownSizes(other, 1, 2);
  a.Require(own && its, "an unknown number of channels");
  if ((*its)[0] >= (*own)[0]) return x * alpha;
  const Size met((*its)[0]);
  return Concat(a, {Slice(x, 1, Size(0), met) * alpha, Slice(x, 1, met, Size((*own)[0]))}, 1);
}
// Channels that the other one has not count as 0; those that it has more are left out.
absl::StatusOr<Value*> Shortcut(DarknetArgs& a) {
  const Expr weights = ShortcutWeights(a);
  const double alpha = a.Number("alpha", 1), beta = a.Number("beta", 1);
  a.Drop({"from"});
  const auto weighted = [&](size_t i, const Expr& x) {
    if (!weights.value()) return x;
    return x * Reshape(Gather(weights, a.b().Int(static_cast<int64_t>(i)), 0), {1, -1, 1, 1});
  };
  const Expr x = a.image(0);
  const auto own = KnownSizes(x, 1, 4);
  Expr y = weighted(0, x);
  if (alpha != 1) y = ScaledWhereMet(a, y, a.image(a.num_values() - 1), alpha);
  for (size_t i = 1; i < a.num_values(); ++i) {
    Expr other = a.image(i);
    const auto its = KnownSizes(other, 1, 4);
    a.Require(own && its && (*own)[1] == (*its)[1] && (*own)[2] == (*its)[2],
              "a shortcut between images of two sizes, on which Darknet's forks differ");
    const int64_t more = (*own)[0] - (*its)[0];
    if (more < 0) other = Slice(other, 1, Size(0), Size((*own)[0]));
    if (more > 0) {
      other = a.Op("pad", {other, a.b().Ints({0, 0, 0, 0, 0, more, 0, 0}), other.Number(0)});
    }
    y = y + weighted(i, Scaled(other, beta));
  }
  return WithActivation(a, y, "linear");
}
absl::StatusOr<Value*> ScaleChannels(DarknetArgs& a) {
  a.Drop({"from", "scale_wh"});
  return WithActivation(a, a.image(1) * a.image(0), "linear");
}
absl::StatusOr<Value*> Sam(DarknetArgs& a) {
  a.Drop({"from"});
  return WithActivation(a, a.image(1) * a.image(0), "linear");
}
absl::StatusOr<Value*> Upsample(DarknetArgs& a) {
  const int64_t stride = a.Integer("stride", 2);
  const double scale = a.Number("scale", 1);
  if (stride == 0 || std::abs(stride) > 4096) return Invalid("a stride of ", stride);
  if (stride < 0) {
    // The sum of each rectangle.
    const auto sizes = KnownSizes(a.image(), 2, 4);
    a.Require(sizes && (*sizes)[0] % stride == 0 && (*sizes)[1] % stride == 0,
              "rectangles that do not fill the image");
    const WindowPool sum{SquareWindow(-stride, {-stride, -stride}, 1, 0), PoolKind::kSum};
    return Scaled(PoolWindows(a, a.image(), sum), scale).value();
  }
  return Scaled(RepeatedPixels(a, a.image(), stride, stride), scale).value();
}
absl::StatusOr<Value*> Reorg(DarknetArgs& a) {
  a.RefuseAll({"flatten", "extra"});
  return Reorganized(a, a.image(), a.Integer("stride", 1), a.Flag("reverse", false));
}
absl::StatusOr<Value*> Reorg3d(DarknetArgs& a) {
  const int64_t stride = a.Integer("stride", 1);
  a.Require(stride >= 1, "a stride below 1");
  if (a.Flag("reverse", false)) {
    return a.Op("depth_to_space", {a.image()}, {{"blocksize", stride}, {"mode", "DCR"}}).value();
  }
  return a.Op("space_to_depth", {a.image()}, {{"blocksize", stride}}).value();
}
// The middle; colours from 0 to 1 become those from -1 to 1, unless it says noadjust.
absl::StatusOr<Value*> Crop(DarknetArgs& a) {
  const int64_t height = a.Integer("crop_height", 1), width = a.Integer("crop_width", 1);
  const bool adjust = !a.Flag("noadjust", false);
  a.Drop({"flip", "angle", "saturation", "exposure", "shift"});
  const auto sizes = KnownSizes(a.image(), 2, 4);
  a.Require(sizes && (*sizes)[0] >= height && (*sizes)[1] >= width, "a part larger than the image");
  const int64_t top = ((*sizes)[0] - height) / 2, left = ((*sizes)[1] - width) / 2;
  const Expr part =
      Slice(Slice(a.image(), 2, Size(top), Size(top + height)), 3, Size(left), Size(left + width));
  return (adjust ? part * 2.0 - 1.0 : part).value();
}

}  // namespace

X2IR_DARKNET(conv).From("convolutional", Convolutional).From("local", Local);
X2IR_DARKNET(conv_transpose).From("deconvolutional", Deconvolutional);
X2IR_DARKNET(gemm).From("connected", Connected);
X2IR_DARKNET(batch_normalization).From("batchnorm", BatchNormSection);
X2IR_DARKNET(rnn).From("rnn", [](DarknetArgs& a) { return Recurrent(a, false); });
X2IR_DARKNET(rnn).From("crnn", [](DarknetArgs& a) { return Recurrent(a, true); });
X2IR_DARKNET(gru).From("gru", Gru);
X2IR_DARKNET(lstm)
    .From("lstm", [](DarknetArgs& a) { return Lstm(a, false); })
    .From("conv_lstm", [](DarknetArgs& a) { return Lstm(a, true); });
X2IR_DARKNET(pad).From("history", History);
X2IR_DARKNET(max_pool).From("maxpool", MaxPool);
X2IR_DARKNET(average_pool).From("local_avgpool", LocalAvgPool);
X2IR_DARKNET(global_average_pool).From("avgpool", [](DarknetArgs& a) -> absl::StatusOr<Value*> {
  return a.Op("global_average_pool", {a.image()}).value();
});
X2IR_DARKNET(mul).From("normalization", Normalization);
X2IR_DARKNET(div).From("l2norm", L2Norm);
X2IR_DARKNET(softmax).From("softmax", SoftmaxSection);
X2IR_DARKNET(concat).From("route", Route);
X2IR_DARKNET(add).From("shortcut", Shortcut);
X2IR_DARKNET(mul).From("scale_channels", ScaleChannels).From("sam", Sam);
X2IR_DARKNET(resize).From("upsample", Upsample);
X2IR_DARKNET(space_to_depth).From("reorg", Reorg).From("reorg3d", Reorg3d);
X2IR_DARKNET(slice).From("crop", Crop);
X2IR_DARKNET(sigmoid).From("logistic", [](DarknetArgs& a) -> absl::StatusOr<Value*> {
  return a.Op("sigmoid", {a.in(0)}).value();
});
X2IR_DARKNET(identity)
    .From("dropout",
          [](DarknetArgs& a) -> absl::StatusOr<Value*> {
            a.Drop({"probability", "dropblock", "dropblock_size_rel", "dropblock_size_abs"});
            return a.Op("identity", {a.in(0)}).value();
          })
    .From("implicit",
          [](DarknetArgs& a) -> absl::StatusOr<Value*> {
            a.Drop({"filters", "atoms", "mean", "std"});
            return a.Op("identity", {a.weights(0)}).value();
          })
    .From("empty",
          [](DarknetArgs& a) -> absl::StatusOr<Value*> {
            return a.Op("identity", {a.in(0)}).value();
          })
    .From("activation", [](DarknetArgs& a) { return WithActivation(a, a.in(0), "linear"); });

}  // namespace x2ir
