// See random_recipes_util.h.
#include "tests/random/random_recipes_util.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using Ints = std::vector<int64_t>;

constexpr std::array kFloatTypes = {"float32", "float32", "float32", "float32",
                                    "float32", "float16", "float64"};
constexpr std::array kNumberTypes = {"float32", "float32", "float32", "float16", "float64",
                                     "int32",   "int64",   "int8",    "uint8",   "int16"};

class Recipe {
 public:
  explicit Recipe(const RandomBelow& below) : below_(below) {}

  RandomText Make() {
    using Part = void (Recipe::*)();
    static constexpr Part kParts[] = {
        &Recipe::Conv,      &Recipe::Conv,       &Recipe::ConvTranspose, &Recipe::Pool,
        &Recipe::Pool,      &Recipe::GlobalPool, &Recipe::Norm,          &Recipe::Norm,
        &Recipe::MatMul,    &Recipe::Gemm,       &Recipe::Reduce,        &Recipe::Reduce,
        &Recipe::ArgReduce, &Recipe::Softmax,    &Recipe::Resize,        &Recipe::Quantized,
        &Recipe::Quantized, &Recipe::Einsum,     &Recipe::Gather,        &Recipe::Scatter,
        &Recipe::TopK,      &Recipe::CumSum,     &Recipe::Recurrent,     &Recipe::Pad,
        &Recipe::Slice,     &Recipe::Split,      &Recipe::OneHot,        &Recipe::Blocks,
        &Recipe::Trilu,     &Recipe::Attention,  &Recipe::Activation,    &Recipe::Concat,
        &Recipe::Broadcast, &Recipe::Compare,    &Recipe::Cast,          &Recipe::ReshapeMix};
    (this->*kParts[below_(std::size(kParts))])();
    return std::move(text_);
  }

 private:
  bool Chance(int percent) { return below_(100) < percent; }
  int64_t From(int64_t low, int64_t high) { return low + below_(high - low + 1); }
  template <typename T, size_t n>
  T Pick(const std::array<T, n>& from) {
    return from[static_cast<size_t>(below_(n))];
  }
  std::string FloatType() { return Pick(kFloatTypes); }
  std::string NumberType() { return Pick(kNumberTypes); }
  Ints Dims(int64_t rank, int64_t most = 4) {
    Ints dims;
    for (int64_t i = 0; i < rank; ++i) dims.push_back(From(1, most));
    return dims;
  }
  static std::string List(const Ints& ints) {
    std::string text;
    for (const int64_t i : ints) StrAppend(&text, text.empty() ? "" : ", ", i);
    return text;
  }
  void In(std::string_view name, std::string_view type, const Ints& dims) {
    StrAppend(&text_.inputs, text_.inputs.empty() ? "" : ", ", name, ": ", type, "[", List(dims),
              "]");
  }
  template <typename... Args>
  void Say(const Args&... args) {
    StrAppend(&text_.nodes, args...);
  }
  // "name = int64[n]{...}"
  void Constant(std::string_view name, const Ints& ints) {
    Say(name, " = int64[", static_cast<int64_t>(ints.size()), "]{", List(ints), "}\n");
  }
  // An operand whose name makes it a constant, or not.
  std::string Weight(std::string_view name, std::string_view type, const Ints& dims) {
    const std::string full = StrCat(Chance(70) ? "w" : "x", name);
    In(full, type, dims);
    return full;
  }
  int64_t Axis(int64_t rank) { return From(0, rank - 1) - (Chance(30) ? rank : 0); }
  Ints Axes(int64_t rank) {
    Ints axes;
    for (int64_t i = 0; i < rank; ++i) {
      if (Chance(50)) axes.push_back(Chance(30) ? i - rank : i);
    }
    return axes;
  }

  struct Window {
    Ints kernel, strides;
    std::string attrs;
    bool last;  // channels last
  };
  Window Windowed(int64_t spatial, bool dilated, bool ceil) {
    Window w;
    std::vector<std::string> attrs;
    Ints pads, strides, dilations;
    for (int64_t i = 0; i < spatial; ++i) {
      w.kernel.push_back(From(1, 3));
      strides.push_back(From(1, 3));
      dilations.push_back(Chance(70) ? 1 : 2);
    }
    for (int64_t i = 0; i < 2 * spatial; ++i) {
      pads.push_back(std::min(From(0, 2), w.kernel[static_cast<size_t>(i % spatial)] - 1));
    }
    if (Chance(60)) {
      attrs.push_back(StrCat("strides = [", List(strides), "]"));
      w.strides = strides;
    } else {
      w.strides.assign(static_cast<size_t>(spatial), 1);
    }
    if (dilated && Chance(30)) attrs.push_back(StrCat("dilations = [", List(dilations), "]"));
    if (Chance(25)) {
      attrs.push_back(StrCat(
          "auto_pad = \"", Pick(std::array{"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"}), "\""));
    } else if (Chance(60)) {
      attrs.push_back(StrCat("pads = [", List(pads), "]"));
    }
    if (ceil && Chance(30)) attrs.emplace_back("ceil_mode = 1");
    w.last = Chance(20);
    if (w.last) attrs.emplace_back("layout = \"channels_last\"");
    for (const std::string& attr : attrs) {
      StrAppend(&w.attrs, w.attrs.empty() ? "" : ", ", attr);
    }
    return w;
  }
  Ints ImageDims(int64_t channels, int64_t spatial, bool last) {
    Ints dims = {From(1, 2)};
    if (!last) dims.push_back(channels);
    for (int64_t i = 0; i < spatial; ++i) dims.push_back(From(3, spatial == 3 ? 4 : 7));
    if (last) dims.push_back(channels);
    return dims;
  }

  void Conv() {
    const int64_t spatial = Pick(std::array<int64_t, 6>{1, 2, 2, 2, 2, 3});
    const int64_t group = Pick(std::array<int64_t, 4>{1, 1, 2, 3});
    const int64_t per = From(1, 3), out = group * From(1, 2);
    const std::string t = FloatType();
    const Window w = Windowed(spatial, true, false);
    In("x", t, ImageDims(group * per, spatial, w.last));
    Ints dims = {out, per};
    dims.insert(dims.end(), w.kernel.begin(), w.kernel.end());
    const std::string weight = Weight("2", t, dims);
    const std::string bias = Chance(50) ? ", " + Weight("1", t, {out}) : "";
    Say("a = conv(x, ", weight, bias, ") { group = ", group, w.attrs.empty() ? "" : ", ", w.attrs,
        " }");
    if (Chance(40)) Say("\nb = ", Pick(std::array{"relu", "sigmoid", "tanh", "hard_swish"}), "(a)");
  }

  void ConvTranspose() {
    const int64_t spatial = Pick(std::array<int64_t, 5>{1, 2, 2, 2, 3});
    const int64_t group = Pick(std::array<int64_t, 4>{1, 1, 2, 3});
    const int64_t per = From(1, 2), out = From(1, 2);
    const std::string t = FloatType();
    const Window w = Windowed(spatial, true, false);
    In("x", t, ImageDims(group * per, spatial, w.last));
    Ints dims = {group * per, out};
    dims.insert(dims.end(), w.kernel.begin(), w.kernel.end());
    const std::string weight = Weight("2", t, dims);
    const std::string bias = Chance(50) ? ", " + Weight("1", t, {group * out}) : "";
    std::string more;
    if (Chance(25)) {  // less than the steps, as frameworks want it
      Ints padding;
      for (int64_t i = 0; i < spatial; ++i) {
        padding.push_back(From(0, std::max<int64_t>(w.strides[static_cast<size_t>(i)] - 1, 0)));
      }
      more = StrCat(", output_padding = [", List(padding), "]");
    }
    Say("a = conv_transpose(x, ", weight, bias, ") { group = ", group, w.attrs.empty() ? "" : ", ",
        w.attrs, more, " }");
  }

  void Pool() {
    const int64_t spatial = Pick(std::array<int64_t, 5>{1, 2, 2, 2, 3});
    const std::string op =
        Pick(std::array{"max_pool", "average_pool", "max_pool", "average_pool", "lp_pool"});
    const Window w = Windowed(spatial, true, true);
    In("x", FloatType(), ImageDims(From(1, 3), spatial, w.last));
    const bool both = op == "max_pool" && Chance(20);
    Say(both ? "a, i" : "a", " = ", op, "(x) { kernel_shape = [", List(w.kernel), "]",
        op == "average_pool" && Chance(40) ? ", count_include_pad = 1" : "",
        w.attrs.empty() ? "" : ", ", w.attrs, " }");
  }

  void GlobalPool() {
    const std::string op =
        Pick(std::array{"global_average_pool", "global_max_pool", "global_lp_pool"});
    In("x", FloatType(), Dims(From(3, 5)));
    Say("a = ", op, "(x)");
  }

  void Norm() {
    const std::string t = FloatType();
    const int64_t rank = From(2, 4);
    const Ints dims = Dims(rank);
    In("x", t, dims);
    const int64_t channels = dims[1];
    switch (below_(7)) {
      case 0: {
        In("w0", t, {channels});
        In("w1", t, {channels});
        In("w2", t, {channels});
        In("w3", t, {channels});
        Say("a = batch_normalization(x, w0, w1, w2, w3)");
        return;
      }
      case 1: {
        const int64_t axis = Axis(rank);
        const Ints of(dims.begin() + (axis < 0 ? axis + rank : axis), dims.end());
        In("w0", t, of);
        const bool bias = Chance(60);
        if (bias) In("w1", t, of);
        Say("a = layer_normalization(x, w0", bias ? ", w1" : "", ") { axis = ", axis, " }");
        return;
      }
      case 2: {
        const int64_t axis = Axis(rank);
        In("w0", t, Ints(dims.begin() + (axis < 0 ? axis + rank : axis), dims.end()));
        Say("a = rms_normalization(x, w0) { axis = ", axis, " }");
        return;
      }
      case 3: {
        In("w0", t, {channels});
        In("w1", t, {channels});
        Say("a = instance_normalization(x, w0, w1)");
        return;
      }
      case 4: {
        In("w0", t, {channels});
        In("w1", t, {channels});
        Say("a = group_normalization(x, w0, w1) { num_groups = ",
            channels % 2 == 0 && Chance(60) ? 2
            : Chance(50)                    ? 1
                                            : channels,
            " }");
        return;
      }
      case 5:
        Say("a = lp_normalization(x) { axis = ", Axis(rank), ", p = ", From(1, 2), " }");
        return;
      default: Say("a = mean_variance_normalization(x) { axes = [", Axis(rank), "] }"); return;
    }
  }

  void MatMul() {
    const std::string t = NumberType();
    const int64_t m = From(1, 4), k = From(1, 4), n = From(1, 4);
    Ints a = Dims(From(0, 2), 3), b;
    for (const int64_t d : a) b.push_back(Chance(40) ? 1 : d);
    for (size_t i = 0; i < a.size(); ++i) {
      if (Chance(20)) a[i] = 1;
    }
    if (Chance(30)) b.clear();
    a.push_back(m);
    a.push_back(k);
    b.push_back(k);
    b.push_back(n);
    if (Chance(15)) b = {k};
    if (Chance(15)) a = {k};
    In("x", t, a);
    const std::string w = Weight("1", t, b);
    Say("a = matmul(x, ", w, ")");
  }

  void Gemm() {
    const std::string t = FloatType();
    const int64_t m = From(1, 4), k = From(1, 4), n = From(1, 4), ta = below_(2), tb = below_(2);
    In("x", t, ta ? Ints{k, m} : Ints{m, k});
    const std::string w = Weight("1", t, tb ? Ints{n, k} : Ints{k, n});
    std::string c;
    if (Chance(70)) {
      c = ", " + Weight("2", t, Pick(std::array<Ints, 5>{Ints{n}, {1, n}, {m, n}, {m, 1}, {}}));
    }
    Say("a = gemm(x, ", w, c, ") { transA = ", ta, ", transB = ", tb,
        ", alpha = ", Pick(std::array{"1.0", "0.5", "2.0"}),
        ", beta = ", Pick(std::array{"1.0", "0.5", "2.0"}), " }");
  }

  void Reduce() {
    const std::string op =
        Pick(std::array{"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
                        "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp",
                        "reduce_sum", "reduce_mean", "reduce_max"});
    const int64_t rank = From(0, 5);
    In("x", NumberType(), Dims(rank, 3));
    const bool axes = Chance(80);
    if (axes) Constant("n", Axes(rank));
    Say("a = ", op, axes ? "(x, n)" : "(x)", " { keepdims = ", below_(2), " }");
  }

  void ArgReduce() {
    const int64_t rank = From(1, 4);
    In("x", NumberType(), Dims(rank));
    Say("a = ", Pick(std::array{"arg_max", "arg_min"}), "(x) { axis = ", Axis(rank),
        ", keepdims = ", below_(2), ", select_last_index = ", Chance(20) ? 1 : 0, " }");
  }

  void Softmax() {
    const int64_t rank = From(1, 5);
    In("x", FloatType(), Dims(rank, 3));
    Say("a = ", Pick(std::array{"softmax", "log_softmax", "hardmax", "softmax"}),
        "(x) { axis = ", Axis(rank), " }");
  }

  void Resize() {
    const int64_t spatial = From(1, 2);
    const Ints dims = ImageDims(From(1, 2), spatial, false);
    In("x", Chance(80) ? FloatType() : NumberType(), dims);
    const std::string mode = Pick(std::array{"nearest", "linear", "cubic", "nearest", "linear"});
    const bool scales = Chance(50);
    if (scales) {
      Say("s = float32[", spatial + 2, "]{1, 1");
      for (int64_t i = 0; i < spatial; ++i)
        Say(", ", Pick(std::array{"0.5", "1", "2", "1.5", "3"}));
      Say("}\n");
    } else {
      Ints sizes = {dims[0], dims[1]};
      for (int64_t i = 0; i < spatial; ++i) sizes.push_back(From(1, 9));
      Constant("s", sizes);
    }
    Say("a = resize(x, _, ", scales ? "s" : "_, s", ") { mode = \"", mode,
        "\", coordinate_transformation_mode = \"",
        Pick(std::array{"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                        "half_pixel_symmetric"}),
        "\"",
        mode == "nearest"
            ? StrCat(", nearest_mode = \"",
                     Pick(std::array{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}),
                     "\"")
            : "",
        mode == "cubic" ? StrCat(", cubic_coeff_a = ", Pick(std::array{"-0.75", "-0.5"})) : "",
        mode != "nearest" && Chance(20) ? ", antialias = 1" : "", " }");
  }

  void Quantized() {
    const std::string q = Pick(std::array{"int8", "uint8", "int8", "uint8", "int16", "uint16"});
    const int64_t rank = From(1, 4), axis = Axis(rank);
    const Ints dims = Dims(rank);
    const bool each = Chance(40);
    const int64_t n = each ? dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)] : 1;
    In("x", "float32", dims);
    const auto params = [&](const char* scale, const char* zero, bool vector) {
      Say(scale, " = float32[", vector ? StrCat("", n) : "", "]{");
      for (int64_t i = 0; i < (vector ? n : 1); ++i) {
        Say(i ? ", " : "", Pick(std::array{"0.25", "0.5", "0.125", "0.1"}));
      }
      Say("}\n", zero, " = ", q, "[", vector ? StrCat("", n) : "", "]{");
      for (int64_t i = 0; i < (vector ? n : 1); ++i) Say(i ? ", " : "", From(0, 9));
      Say("}\n");
    };
    params("s", "z", each);
    const std::string attrs = each ? StrCat(" { axis = ", axis, " }") : "";
    Say("q = quantize_linear(x, s, z)", attrs, "\nd = dequantize_linear(q, s, z)", attrs, "\n");
    if (Chance(50)) {
      params("s1", "z1", false);
      Say("r = ",
          Pick(std::array{"relu(d)", "sigmoid(d)", "add(d, d)", "mul(d, d)", "tanh(d)",
                          "softmax(d)", "neg(d)", "concat(d, d) { axis = 0 }", "identity(d)",
                          "leaky_relu(d)", "hard_swish(d)", "abs(d)"}),
          "\np = quantize_linear(r, s1, z1)\na = dequantize_linear(p, s1, z1)");
    }
  }

  void Einsum() {
    const std::string t = FloatType();
    const int64_t i = From(1, 3), j = From(1, 3), k = From(1, 3), b = From(1, 2);
    switch (below_(6)) {
      case 0:
        In("x", t, {i, j});
        In("x1", t, {j, k});
        Say("a = einsum(x, x1) { equation = \"ij,jk->ik\" }");
        return;
      case 1:
        In("x", t, {b, i, j});
        In("x1", t, {b, k, j});
        Say("a = einsum(x, x1) { equation = \"bij,bkj->bik\" }");
        return;
      case 2:
        In("x", t, {i, j});
        Say("a = einsum(x) { equation = \"ij->ji\" }");
        return;
      case 3:
        In("x", t, {i, i});
        Say("a = einsum(x) { equation = \"ii->i\" }");
        return;
      case 4:
        In("x", t, {b, i, j});
        In("x1", t, {j});
        Say("a = einsum(x, x1) { equation = \"...j,j->...\" }");
        return;
      default:
        In("x", t, {i, j});
        In("x1", t, {k});
        Say("a = einsum(x, x1) { equation = \"ij,k->kij\" }");
        return;
    }
  }

  void Gather() {
    const int64_t rank = From(1, 4), axis = Axis(rank);
    const Ints dims = Dims(rank);
    const int64_t n = dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    In("x", NumberType(), dims);
    const bool elements = Chance(40);
    Ints shape = elements ? dims : Dims(From(0, 2), 3);
    Ints indices;
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    for (int64_t i = 0; i < count; ++i) indices.push_back(From(-n, n - 1));
    Say("i = ", Pick(std::array{"int64", "int64", "int32"}), "[", List(shape), "]{", List(indices),
        "}\na = ", elements ? "gather_elements" : "gather", "(x, i) { axis = ", axis, " }");
  }

  void Scatter() {
    const std::string t = NumberType();
    const std::string how = Pick(std::array{"none", "none", "add", "mul", "max", "min"});
    const int64_t n = From(2, 4), m = From(1, 3);
    In("x", t, {n, m});
    if (Chance(50)) {
      const std::string u = Weight("1", t, {2, m});
      Say("i = int64[2,1]{0, ", how == "none" ? From(1, n - 1) : From(-n, n - 1),
          "}\na = scatter_nd(x, i, ", u, ") { reduction = \"", how, "\" }");
      return;
    }
    const std::string u = Weight("1", t, {1, m});
    Ints indices;
    for (int64_t i = 0; i < m; ++i) indices.push_back(From(-n, n - 1));
    Say("i = int64[1,", m, "]{", List(indices), "}\na = scatter_elements(x, i, ", u,
        ") { axis = 0, reduction = \"", how, "\" }");
  }

  void TopK() {
    const int64_t rank = From(1, 3), axis = Axis(rank);
    const Ints dims = Dims(rank);
    In("x", NumberType(), dims);
    Constant("k", {From(1, dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)])});
    Say(Chance(70) ? "v, i" : "v", " = top_k(x, k) { axis = ", axis, ", largest = ", below_(2),
        " }");
  }

  void CumSum() {
    const int64_t rank = From(1, 4);
    In("x", NumberType(), Dims(rank));
    Say("n = int64[]{", Axis(rank), "}\na = cum_sum(x, n) { exclusive = ", below_(2),
        ", reverse = ", below_(2), " }");
  }

  void Recurrent() {
    const int64_t steps = From(1, 3), batch = From(1, 2), in = From(1, 3), hidden = From(1, 3);
    const std::string op = Pick(std::array{"lstm", "gru", "rnn"});
    const std::string direction = Pick(std::array{"forward", "reverse", "bidirectional"});
    const int64_t d = direction == "bidirectional" ? 2 : 1;
    const int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1;
    In("x", "float32", {steps, batch, in});
    In("w0", "float32", {d, gates * hidden, in});
    In("w1", "float32", {d, gates * hidden, hidden});
    const bool bias = Chance(50);
    if (bias) In("w2", "float32", {d, 2 * gates * hidden});
    const bool lengths = Chance(25), state = Chance(30), cell = op == "lstm" && Chance(30),
               peepholes = op == "lstm" && Chance(20);
    if (lengths) {
      Ints given;
      for (int64_t i = 0; i < batch; ++i) given.push_back(From(1, steps));
      Say("l = int32[", batch, "]{", List(given), "}\n");
    }
    if (state) In("x3", "float32", {d, batch, hidden});
    if (cell) In("x4", "float32", {d, batch, hidden});
    if (peepholes) In("w5", "float32", {d, 3 * hidden});
    std::string functions;
    for (int64_t i = 0; i < d; ++i) {
      StrAppend(&functions, i ? ", " : "",
                op == "lstm"  ? "\"Sigmoid\", \"Tanh\", \"Tanh\""
                : op == "gru" ? "\"Sigmoid\", \"Tanh\""
                              : "\"Tanh\"");
    }
    std::string more;
    if (op == "gru" && Chance(50)) StrAppend(&more, ", linear_before_reset = 1");
    if (op == "lstm" && Chance(15)) StrAppend(&more, ", input_forget = 1");
    if (Chance(20)) StrAppend(&more, ", clip = ", Pick(std::array{"0.5", "2.0"}));
    Say(Chance(50) ? "a" : "a, h", " = ", op, "(x, w0, w1, ", bias ? "w2" : "_", ", ",
        lengths ? "l" : "_", ", ", state ? "x3" : "_");
    if (op == "lstm") Say(", ", cell ? "x4" : "_", ", ", peepholes ? "w5" : "_");
    Say(") { hidden_size = ", hidden, ", direction = \"", direction, "\", activations = [",
        functions, "]", more, " }");
  }

  void Pad() {
    const int64_t rank = From(1, 5);
    const Ints dims = Dims(rank);
    const std::string t = NumberType();
    In("x", t, dims);
    const std::string mode =
        Pick(std::array{"constant", "constant", "constant", "edge", "reflect", "wrap"});
    Ints pads;
    for (int64_t i = 0; i < 2 * rank; ++i) {
      pads.push_back(mode == "constant" && Chance(10)
                         ? -1
                         : From(0, std::min<int64_t>(2, dims[static_cast<size_t>(i % rank)] -
                                                            (mode == "constant" ? 0 : 1))));
    }
    Constant("p", pads);
    const bool value = mode == "constant" && Chance(40);
    if (value) Say("v = ", t, "[]{", From(0, 3), "}\n");
    Say("a = pad(x, p", value ? ", v" : "", ") { mode = \"", mode, "\" }");
  }

  void Slice() {
    const int64_t rank = From(1, 5);
    const Ints dims = Dims(rank);
    In("x", NumberType(), dims);
    Ints starts, ends, axes, steps;
    for (int64_t i = 0; i < rank; ++i) {
      if (Chance(40)) continue;
      const int64_t step = Pick(std::array<int64_t, 5>{1, 1, 1, 2, -1});
      axes.push_back(Chance(30) ? i - rank : i);
      steps.push_back(step);
      starts.push_back(step < 0 ? -1 : From(-2, 2));
      ends.push_back(step < 0 ? Pick(std::array<int64_t, 2>{-100, 0})
                              : Pick(std::array<int64_t, 4>{1000, -1, 3, INT64_MAX}));
    }
    Constant("s", starts);
    Constant("e", ends);
    Constant("n", axes);
    Constant("t", steps);
    Say("a = slice(x, s, e, n, t)");
  }

  void Split() {
    const int64_t rank = From(1, 4), axis = From(0, rank - 1), n = From(2, 3);
    Ints dims = Dims(rank), sizes;
    for (int64_t i = 0; i < n; ++i) sizes.push_back(From(1, 3));
    dims[static_cast<size_t>(axis)] = sizes[0] + sizes[1] + (n > 2 ? sizes[2] : 0);
    In("x", NumberType(), dims);
    Constant("s", sizes);
    Say(n > 2 ? "a, b, c" : "a, b", " = split(x, s) { axis = ", axis - (Chance(30) ? rank : 0),
        " }");
  }

  void OneHot() {
    const Ints dims = Dims(From(0, 3), 3);
    const int64_t rank = static_cast<int64_t>(dims.size());
    const int64_t depth = From(1, 4);
    Ints indices;
    int64_t count = 1;
    for (const int64_t d : dims) count *= d;
    for (int64_t i = 0; i < count; ++i) indices.push_back(From(-depth, depth));
    Say("i = int64[", List(dims), "]{", List(indices), "}\n");
    In("x", "int64", dims);
    Say("j = add(x, i)\nd = int64[]{", depth, "}\nv = ", NumberType(), "[2]{", From(0, 1), ", ",
        From(1, 3), "}\na = one_hot(", Chance(50) ? "i" : "j",
        ", d, v) { axis = ", From(0, rank) - (Chance(40) ? rank + 1 : 0), " }");
  }

  void Blocks() {
    const bool last = Chance(30), up = Chance(50);
    const int64_t c = From(1, 2), h = From(1, 3), w = From(1, 3);
    const Ints dims = up ? (last ? Ints{1, h, w, 4 * c} : Ints{1, 4 * c, h, w})
                         : (last ? Ints{1, 2 * h, 2 * w, c} : Ints{1, c, 2 * h, 2 * w});
    In("x", NumberType(), dims);
    Say("a = ", up ? "depth_to_space" : "space_to_depth", "(x) { blocksize = 2",
        up && Chance(40) ? ", mode = \"CRD\"" : "", last ? ", layout = \"channels_last\"" : "",
        " }");
  }

  void Trilu() {
    In("x", NumberType(), Dims(From(2, 4)));
    if (Chance(50)) {
      Say("k = int64[]{", From(-2, 2), "}\na = trilu(x, k) { upper = ", below_(2), " }");
    } else {
      Say("a = trilu(x) { upper = ", below_(2), " }");
    }
  }

  void Attention() {
    const int64_t b = From(1, 2), h = From(1, 2), s = From(1, 3), t = From(1, 3), e = From(1, 3);
    const std::string type = FloatType();
    In("x", type, {b, h, s, e});
    In("x1", type, {b, h, t, e});
    In("x2", type, {b, h, t, e});
    const bool mask = Chance(30);
    if (mask) In("x3", type, {s, t});
    Say("a = attention(x, x1, x2", mask ? ", x3" : "", ") { is_causal = ", Chance(30) ? 1 : 0,
        " }");
  }

  void Activation() {
    In("x", FloatType(), Dims(From(0, 4)));
    Say("a = ", Pick(std::array{"relu",       "elu",
                                "selu",       "celu",
                                "gelu",       "hard_sigmoid",
                                "hard_swish", "leaky_relu",
                                "mish",       "sigmoid",
                                "softplus",   "softsign",
                                "tanh",       "thresholded_relu",
                                "erf",        "exp",
                                "sin",        "cos",
                                "atan",       "sinh",
                                "asinh",      "ceil",
                                "floor",      "round",
                                "sign",       "reciprocal",
                                "sqrt",       "log",
                                "swish"}),
        "(x)");
  }

  void Concat() {
    const std::string t = NumberType();
    const int64_t rank = From(1, 4), axis = From(0, rank - 1), n = From(1, 3);
    const Ints dims = Dims(rank);
    std::string operands;
    for (int64_t i = 0; i < n; ++i) {
      Ints own = dims;
      own[static_cast<size_t>(axis)] = From(0, 3);
      StrAppend(&operands, i ? ", " : "", Weight(StrCat(i), t, own));
    }
    Say("a = concat(", operands, ") { axis = ", axis - (Chance(30) ? rank : 0), " }");
  }

  void Broadcast() {
    const std::string t = NumberType();
    const Ints dims = Dims(From(0, 4), 3);
    Ints other(dims.begin() + below_(static_cast<int64_t>(dims.size()) + 1), dims.end());
    for (int64_t& d : other) d = Chance(40) ? 1 : d;
    In("x", t, dims);
    const std::string w = Weight("1", t, other);
    const bool swap = Chance(40);
    Say("a = ",
        Pick(std::array{"add", "sub", "mul", "max", "min", "add", "mul", "sub", "div", "mod",
                        "pow"}),
        "(", swap ? w : "x", ", ", swap ? "x" : w, ")");
  }

  void Compare() {
    const std::string t = NumberType();
    const Ints dims = Dims(From(0, 4), 3);
    In("x", t, dims);
    const std::string w = Weight("1", t, Chance(50) ? dims : Ints{});
    Say("a = ", Pick(std::array{"equal", "less", "greater", "less_or_equal", "greater_or_equal"}),
        "(x, ", w, ")\nb = where(a, x, ", w, ")\nc = not(a)");
  }

  void Cast() {
    In("x", NumberType(), Dims(From(0, 3)));
    Say("a = cast(x) { to = \"",
        Pick(std::array{"float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool",
                        "int16", "uint16", "uint32", "uint64", "bfloat16"}),
        "\" }\nb = cast(a) { to = \"float32\" }");
  }

  void ReshapeMix() {
    const int64_t a = From(1, 3), b = From(1, 3), c = From(1, 4);
    In("x", NumberType(), {a, b, c});
    switch (below_(5)) {
      case 0: Say("s = int64[2]{", a * b, ", -1}\na = reshape(x, s)"); return;
      case 1: Say("s = int64[4]{0, 0, 1, -1}\na = reshape(x, s)"); return;
      case 2: Say("a = flatten(x) { axis = ", From(-3, 3), " }"); return;
      case 3:
        Say("s = shape(x)\nr = int64[1]{1}\nt = concat(r, s) { axis = 0 }\na = reshape(x, t)\n"
            "u = transpose(a) { perm = [3, 0, 2, 1] }");
        return;
      default: Say("r = int64[3]{1, 2, 1}\na = tile(x, r)"); return;
    }
  }

  const RandomBelow& below_;
  RandomText text_;
};

const std::vector<AttributeRange>& AttributeTable() {
  static const std::vector<const char*> kTypes = {
      "float32", "float32",  "float64", "float16", "int64",  "int32",  "int8",  "uint8",
      "bool",    "bfloat16", "int16",   "uint16",  "uint32", "uint64", "string"};
  static const auto* table = new std::vector<AttributeRange>{
      // Flags.
      {"align_corners", 0, 1},
      {"allowzero", 0, 1},
      {"antialias", 0, 1},
      {"batch_first", 0, 1},
      {"ceil_mode", 0, 1},
      {"center_point_box", 0, 1},
      {"count_include_pad", 0, 1},
      {"detect_negative", 0, 1},
      {"detect_positive", 0, 1},
      {"exclude_outside", 0, 1},
      {"exclusive", 0, 1},
      {"fmod", 0, 1},
      {"full", 0, 1},
      {"input_forget", 0, 1},
      {"interleaved", 0, 1},
      {"inverse", 0, 1},
      {"is_case_sensitive", 0, 1},
      {"is_causal", 0, 1},
      {"keepdims", 0, 1},
      {"largest", 0, 1},
      {"linear_before_reset", 0, 1},
      {"multi_class", 0, 1},
      {"new_axis", 0, 1},
      {"noop_with_empty_axes", 0, 1},
      {"one_class", 0, 1},
      {"onesided", 0, 1},
      {"periodic", 0, 1},
      {"replace_global", 0, 1},
      {"reverse", 0, 1},
      {"saturate", 0, 1},
      {"select_last_index", 0, 1},
      {"sorted", 1, 1},
      {"storage_order", 0, 1},
      {"training_mode", 0, 0},
      {"transA", 0, 1},
      {"transB", 0, 1},
      {"upper", 0, 1},
      {"zeros", 0, 1},
      // Axes.
      {.name = "axis", .axis = true},
      {.name = "batch_axis", .axis = true},
      {.name = "time_axis", .axis = true},
      {.name = "start", .axis = true},
      {.name = "end", .axis = true},
      // Counts.
      {"batch_dims", 0, 1},
      {"block_size", 0, 2},
      {"blocksize", 1, 3},
      {"buckets", 1, 9},
      {"chunk_size", 1, 64},
      {"default_int64", -1, 3},
      {"group", 1, 3},
      {"hidden_size", 1, 3},
      {"ignore_index", -1, 2},
      {"k", -2, 2},
      {"kv_num_heads", 1, 2},
      {"left_window_size", -1, 2},
      {"max_gram_length", 1, 2},
      {"max_map", 1, 4},
      {"max_skip_count", 0, 1},
      {"maxsplit", -1, 2},
      {"min_gram_length", 1, 1},
      {"n_supports", 0, 0},
      {"n_targets", 1, 2},
      {"num_groups", 1, 3},
      {"num_heads", 0, 2},
      {"num_outputs", 1, 3},
      {"num_scan_inputs", 1, 2},
      {"offset_group", 1, 2},
      {"output_height", 1, 3},
      {"output_width", 1, 3},
      {"p", 1, 2},
      {"q_num_heads", 1, 2},
      {"qk_matmul_output_mode", 0, 3},
      {"replaced_value_int64", 0, 2},
      {"right_window_size", -1, 2},
      {"rotary_embedding_dim", 0, 2},
      {"sample_size", 1, 3},
      {"sampling_ratio", 0, 2},
      {"seed", 1, 9},
      {"size", 1, 5},
      {"targets", 1, 1},
      {"width", -1, 4},
      // `unit` is a flag of one op and a text of another, `precision` and `axis` alike.
      {.name = "unit", .low = 0, .high = 1, .texts = {"BYTE", "UTF8_CHAR"}},
      {.name = "precision", .low = -1, .high = 3, .texts = {"float32"}},
      // Texts.
      {.name = "to", .texts = kTypes},
      {.name = "dtype", .texts = kTypes},
      {.name = "output_dtype", .texts = kTypes},
      {.name = "softmax_precision", .texts = {"float32"}},
      {.name = "stash_type", .texts = {"float32"}},
      {.name = "mode",
       .texts = {"constant", "edge", "reflect", "wrap", "nearest", "linear", "cubic", "DCR", "CRD",
                 "avg", "max"}},
      {.name = "direction", .texts = {"LEFT", "RIGHT", "forward", "reverse", "bidirectional"}},
      {.name = "reduction", .texts = {"none", "add", "mul", "max", "min", "sum", "mean"}},
      {.name = "layout", .texts = {"channels_first", "channels_last"}},
      {.name = "auto_pad", .texts = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}},
      {.name = "padding_mode", .texts = {"zeros", "border", "reflection"}},
      {.name = "approximate", .texts = {"none", "tanh"}},
      {.name = "coordinate_transformation_mode",
       .texts = {"half_pixel", "asymmetric", "align_corners", "output_half_pixel"}},
      {.name = "nearest_mode",
       .texts = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
      {.name = "keep_aspect_ratio_policy", .texts = {"stretch", "not_larger", "not_smaller"}},
      {.name = "round_mode", .texts = {"up", "down", "nearest"}},
      {.name = "activation", .texts = {"none", "silu"}},
      {.name = "aggregate_function", .texts = {"SUM", "AVERAGE", "MIN", "MAX"}},
      {.name = "case_change_action", .texts = {"NONE", "LOWER", "UPPER"}},
      {.name = "cast_to", .texts = {"TO_FLOAT", "TO_INT64"}},
      {.name = "default_string", .texts = {"_Unused", ""}},
      {.name = "delimiter", .texts = {"", ","}},
      {.name = "flag", .texts = {""}},
      {.name = "separator", .texts = {"", ","}},
      {.name = "locale", .texts = {"C"}},
      {.name = "kernel_type", .texts = {"LINEAR", "POLY", "RBF", "SIGMOID"}},
      {.name = "map_form", .texts = {"DENSE", "SPARSE"}},
      {.name = "method", .texts = {"farm"}},
      {.name = "norm", .texts = {"MAX", "L1", "L2"}},
      {.name = "notation", .texts = {"fixed"}},
      {.name = "pixel_format", .texts = {"RGB", "BGR", "Grayscale"}},
      {.name = "post_transform", .texts = {"NONE", "SOFTMAX", "LOGISTIC", "PROBIT"}},
      {.name = "update_rule", .texts = {"linear", "gated_delta"}},
      {.name = "equation", .texts = {"ij->ji", "ij,jk->ik", "i->", "ij->", "...i->..."}},
      {.name = "function", .texts = {"upper", "lower"}},
      {.name = "pattern", .texts = {"[0-9]+"}},
      {.name = "rewrite", .texts = {"x"}},
  };
  return *table;
}

}  // namespace

RandomText MakeRecipe(const RandomBelow& below) { return Recipe(below).Make(); }

const AttributeRange* RangeOfAttribute(std::string_view name) {
  for (const AttributeRange& row : AttributeTable()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string OddName(const RandomBelow& below) {
  static constexpr const char* kNames[] = {
      "class",  "lambda", "None",   "self",      "__x",        "_parameters", "forward", "import",
      "a/b",    "/a/b",   "a//b",   "a.b.c",     "a b",        "a:0",         "x'y",     "x\"y",
      "naïve",  "重み",   "Ünï",    "0",         "1x",         "tf.math",     "..",      ".",
      "x\\y",   "a-b",    "$x",     "%y",        "@z",         "training",    "torch",   "nn",
      "True",   "input",  "output", "x[0]",      "x{1}",       "a\tb",        "data",    "main",
      "tensor", "name",   "print",  "__class__", "state_dict", "const",       "a|b",     "a,b",
      "<x>",    "a&b",    "a;b",    "a#b",       "x?",         "~x",          "model",   "weight"};
  return kNames[below(std::size(kNames))];
}

}  // namespace x2ir
