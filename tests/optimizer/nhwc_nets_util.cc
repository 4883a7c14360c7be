#include "tests/optimizer/nhwc_nets_util.h"

#include <utility>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// Writes lines; values are named v1, v2, ...
class Writer {
 public:
  const std::string& lines() const { return lines_; }
  std::string Line(const std::string& call) {
    const std::string name = StrCat("v", ++count_);
    StrAppend(&lines_, name, " = ", call, "\n");
    return name;
  }
  std::string Weight(const std::string& type) {
    const std::string name = StrCat("w", ++count_);
    StrAppend(&lines_, name, ": ", type, "\n");
    return name;
  }
  std::string Ints(const std::string& values, int count) {
    const std::string name = StrCat("c", ++count_);
    StrAppend(&lines_, name, " = int64[", count, "]{", values, "}\n");
    return name;
  }
  std::string Number(double value) {
    const std::string name = StrCat("c", ++count_);
    StrAppend(&lines_, name, " = float32[]{", value, "}\n");
    return name;
  }
  std::string First(const std::string& x) {
    return Line(StrCat("transpose(", x, ") { perm = [0, 3, 1, 2] }"));
  }
  std::string Last(const std::string& x) {
    return Line(StrCat("transpose(", x, ") { perm = [0, 2, 3, 1] }"));
  }

  std::string Conv(const std::string& x, int in, int out, int kernel, int stride = 1,
                   int group = 1) {
    const std::string hwio =
        StrCat("float32[", kernel, ",", kernel, ",", in / group, ",", out, "]");
    const std::string w = Line(StrCat("transpose(", Weight(hwio), ") { perm = [3, 2, 0, 1] }"));
    const std::string y =
        Line(StrCat("conv(", First(x), ", ", w, ") { auto_pad = \"SAME_UPPER\", group = ", group,
                    ", strides = [", stride, ", ", stride, "], ", kWindow));
    return Last(y);
  }
  std::string Bias(const std::string& x, int channels) {
    return Line(StrCat("add(", x, ", ", Weight(StrCat("float32[", channels, "]")), ")"));
  }
  std::string BatchNorm(const std::string& x, int channels) {
    std::string operands = First(x);
    for (int i = 0; i < 4; ++i) {
      StrAppend(&operands, ", ", Weight(StrCat("float32[", channels, "]")));
    }
    return Last(Line(StrCat("batch_normalization(", operands, ")")));
  }
  std::string Pool(const std::string& x, int kernel, int stride) {
    return Last(Line(StrCat("max_pool(", First(x), ") { kernel_shape = [", kernel, ", ", kernel,
                            "], strides = [", stride, ", ", stride, "], ", kWindow)));
  }
  std::string Relu(const std::string& x) { return Line(StrCat("relu(", x, ")")); }
  std::string Add(const std::string& x, const std::string& y) {
    return Line(StrCat("add(", x, ", ", y, ")"));
  }
  std::string Mul(const std::string& x, const std::string& y) {
    return Line(StrCat("mul(", x, ", ", y, ")"));
  }
  std::string ConvBnRelu(const std::string& x, int in, int out, int kernel, int stride = 1) {
    return Relu(BatchNorm(Conv(x, in, out, kernel, stride), out));
  }
  std::pair<std::string, std::string> Halves(const std::string& x, int channels) {
    const std::string sizes = Ints(StrCat(channels, ", ", channels), 2);
    const std::string a = StrCat("v", ++count_), b = StrCat("v", ++count_);
    StrAppend(&lines_, a, ", ", b, " = split(", x, ", ", sizes, ") { axis = 3 }\n");
    return {a, b};
  }
  // Means over places, then classes.
  void Classify(const std::string& x, int channels, int classes) {
    const std::string mean =
        Line(StrCat("reduce_mean(", x, ", ", Ints("1, 2", 2), ") { keepdims = 0 }"));
    const std::string product = Line(StrCat(
        "matmul(", mean, ", ", Weight(StrCat("float32[", channels, ",", classes, "]")), ")"));
    StrAppend(&lines_, "y = softmax(", Bias(product, classes), ")\n");
  }
  void Output(const std::string& call) { StrAppend(&lines_, "y = ", call, "\n"); }

 private:
  static constexpr const char* kWindow = "dilations = [1, 1], pads = [0, 0, 0, 0] }";
  std::string lines_;
  int count_ = 0;
};

NhwcNet ResNet50() {
  Writer w;
  std::string x = w.Line(StrCat("pad(x, ", w.Ints("0, 3, 3, 0, 0, 3, 3, 0", 8), ")"));
  x = w.ConvBnRelu(x, 3, 4, 7, 2);
  x = w.Pool(w.Line(StrCat("pad(", x, ", ", w.Ints("0, 1, 1, 0, 0, 1, 1, 0", 8), ")")), 3, 2);
  int in = 4, width = 2;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int i = 0; i < blocks; ++i) {
      const int stride = i == 0 && width > 2 ? 2 : 1, out = 4 * width;
      std::string inner = w.ConvBnRelu(x, in, width, 1, stride);
      inner = w.ConvBnRelu(inner, width, width, 3);
      inner = w.BatchNorm(w.Conv(inner, width, out, 1), out);
      if (i == 0) x = w.BatchNorm(w.Conv(x, in, out, 1, stride), out);
      x = w.Relu(w.Add(inner, x));
      in = out;
    }
    width *= 2;
  }
  w.Classify(x, in, 5);
  return {"ResNet-50", w.lines(), 32};
}

NhwcNet SqueezeExcite() {
  Writer w;
  const std::string three = w.Number(3), zero = w.Number(0), six = w.Number(6);
  const std::string sixth = w.Number(1.0 / 6);
  const auto hard_sigmoid = [&](const std::string& x) {
    return w.Mul(w.Line(StrCat("clip(", w.Add(x, three), ", ", zero, ", ", six, ")")), sixth);
  };
  const auto hard_swish = [&](const std::string& x) { return w.Mul(x, hard_sigmoid(x)); };
  std::string x = hard_swish(w.BatchNorm(w.Conv("x", 3, 4, 3, 2), 4));
  for (int i = 0; i < 6; ++i) {
    const int wide = 8, out = 4;
    std::string inner = hard_swish(w.BatchNorm(w.Conv(x, 4, wide, 1), wide));
    inner = hard_swish(w.BatchNorm(w.Conv(inner, wide, wide, 3, 1, wide), wide));
    std::string gate = w.Line(StrCat("reduce_mean(", inner, ", ", w.Ints("1, 2", 2), ")"));
    gate = w.Relu(w.Bias(w.Conv(gate, wide, 2, 1), 2));
    gate = hard_sigmoid(w.Bias(w.Conv(gate, 2, wide, 1), wide));
    inner = w.Mul(inner, gate);
    x = w.Add(x, w.BatchNorm(w.Conv(inner, wide, out, 1), out));
  }
  w.Classify(x, 4, 5);
  return {"squeeze-excite", w.lines(), 16};
}

NhwcNet UNet() {
  Writer w;
  const auto twice = [&](std::string x, int in, int out) {
    return w.ConvBnRelu(w.ConvBnRelu(x, in, out, 3), out, out, 3);
  };
  std::string x = "x";
  std::vector<std::string> skipped;
  int channels = 3, next = 2;
  for (int i = 0; i < 3; ++i) {
    skipped.push_back(twice(x, channels, next));
    x = w.Pool(skipped.back(), 2, 2);
    channels = next;
    next *= 2;
  }
  x = twice(x, channels, next);
  channels = next;
  for (int i = 3; i-- > 0;) {
    x = w.Line(StrCat("resize(", x, ", _, ", "c_up", ")"));
    const int skip = 2 << i;
    x = w.Line(StrCat("concat(", x, ", ", skipped[i], ") { axis = 3 }"));
    x = twice(x, channels + skip, skip);
    channels = skip;
  }
  w.Output(StrCat("sigmoid(", w.Bias(w.Conv(x, channels, 1, 1), 1), ")"));
  return {"U-Net", StrCat("c_up = float32[4]{1, 2, 2, 1}\n", w.lines()), 16};
}

NhwcNet ShuffleNet() {
  Writer w;
  std::string x = w.ConvBnRelu("x", 3, 8, 3, 2);
  for (int i = 0; i < 4; ++i) {
    const int side = 8;
    const auto [half, other] = w.Halves(x, 4);
    std::string inner = w.ConvBnRelu(half, 4, 4, 1);
    inner = w.BatchNorm(w.Conv(inner, 4, 4, 3, 1, 4), 4);
    inner = w.ConvBnRelu(inner, 4, 4, 1);
    x = w.Line(StrCat("concat(", other, ", ", inner, ") { axis = -1 }"));
    x = w.Line(
        StrCat("reshape(", x, ", ", w.Ints(StrCat("-1, ", side, ", ", side, ", 2, 4"), 5), ")"));
    x = w.Line(StrCat("transpose(", x, ") { perm = [0, 1, 2, 4, 3] }"));
    x = w.Line(
        StrCat("reshape(", x, ", ", w.Ints(StrCat("-1, ", side, ", ", side, ", 8"), 4), ")"));
  }
  w.Classify(x, 8, 5);
  return {"channel shuffle", w.lines(), 16};
}

}  // namespace

std::vector<NhwcNet> NhwcNets() { return {ResNet50(), SqueezeExcite(), UNet(), ShuffleNet()}; }

}  // namespace x2ir
