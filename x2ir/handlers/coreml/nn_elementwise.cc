// Layers of networks that work on each element alone.

#include "x2ir/builder/division.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/activations.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

auto Unary(Symbol op) {
  return [op](NnArgs& a) { return a.X().Op(op); };
}

using BinaryFn = Expr (*)(const Expr& x, const Expr& y);

auto Binary(BinaryFn fn) {
  return [fn](NnArgs& a) { return fn(a.X(0), a.X(1)); };
}

auto Binary(Symbol op) {
  return [op](NnArgs& a) { return a.X(0).Op(op, {a.X(1)}); };
}

// All operands in turn; one alone is taken with `alpha`, where the layer has that.
auto Folded(Symbol op, bool alpha) {
  return [op, alpha](NnArgs& a) {
    if (a.count() != 1 || !alpha) {
      a.Ignore("alpha");
      Expr y = a.X(0);
      for (size_t i = 1; i < a.count(); ++i) y = y.Op(op, {a.X(i)});
      return a.count() == 1 ? y.Op("identity") : y;
    }
    const double number = a.Number("alpha");
    return a.X().Op(op, {a.X().Number(number)});
  };
}

Expr Average(NnArgs& a) {
  Expr y = a.X(0);
  for (size_t i = 1; i < a.count(); ++i) y = y + a.X(i);
  return y / static_cast<double>(a.count());
}

auto Compared(Symbol op, bool negated = false) {
  return [op, negated](NnArgs& a) {
    const double alpha = a.Number("alpha");
    const Expr x = a.X();
    const Expr y = a.count() == 1 ? x.Number(alpha) : a.X(1);
    const Expr holds = x.Op(op, {y});
    return AsNumber(negated ? Not(holds) : holds);
  };
}

auto Logical(Symbol op) {
  return [op](NnArgs& a) { return AsNumber(a.Holds(0).Op(op, {a.Holds(1)})); };
}

Expr LogicalNot(NnArgs& a) { return AsNumber(Not(a.Holds(0))); }

// A weight of one number, or one for each channel.
Expr OfImage(NnArgs& a, const Expr& weights, const Expr& x) {
  const Expr vector = weights;
  const Dim size = DimAt(vector, 0);
  if (size.is_static() && size.value() == 1) return Reshape(vector, {});
  a.Require(x.rank() >= 3, "channels of a tensor without them");
  return Reshape(vector, {-1, 1, 1});
}

Expr Activation(NnArgs& a) {
  const Expr x = a.X();
  static constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"ReLU", "relu"},         {"tanh", "tanh"},         {"sigmoid", "sigmoid"},
      {"softsign", "softsign"}, {"softplus", "softplus"},
  };
  for (const auto& [core, ours] : kPlain) {
    if (a.Given(core)) return x.Op(ours);
  }
  if (a.Given("linear")) {
    const double alpha = a.Number("linear.alpha"), beta = a.Number("linear.beta");
    const Expr y = Shifted(Scaled(x, alpha), beta);
    return y.value() == x.value() ? x.Op("identity") : y;
  }
  if (a.Given("leakyReLU")) {
    const auto alpha = static_cast<float>(a.Number("leakyReLU.alpha"));
    return x.Op("leaky_relu", {}, {{"alpha", alpha}});
  }
  if (a.Given("thresholdedReLU")) return ThresholdedRelu(x, a.Number("thresholdedReLU.alpha"));
  if (a.Given("PReLU")) {
    return Where(x < 0, x * OfImage(a, a.NeedWeights("PReLU.alpha"), x), x);
  }
  if (a.Given("scaledTanh")) {
    const double alpha = a.Number("scaledTanh.alpha"), beta = a.Number("scaledTanh.beta");
    return Scaled(Scaled(x, beta).Op("tanh"), alpha);
  }
  if (a.Given("sigmoidHard")) {
    const auto alpha = static_cast<float>(a.Number("sigmoidHard.alpha")),
               beta = static_cast<float>(a.Number("sigmoidHard.beta"));
    return x.Op("hard_sigmoid", {}, {{"alpha", alpha}, {"beta", beta}});
  }
  if (a.Given("ELU")) {
    const auto alpha = static_cast<float>(a.Number("ELU.alpha"));
    return x.Op("elu", {}, {{"alpha", alpha}});
  }
  a.Require(a.Given("parametricSoftplus"), "an activation of another kind");
  const Expr alpha = OfImage(a, a.NeedWeights("parametricSoftplus.alpha"), x),
             beta = OfImage(a, a.NeedWeights("parametricSoftplus.beta"), x);
  return alpha * (x * beta).Op("softplus");
}

Expr UnaryFunction(NnArgs& a) {
  const std::string type = a.Enum("type", "SQRT");
  const double alpha = a.Number("alpha"), epsilon = a.Number("epsilon", 1e-6),
               shift = a.Number("shift"), scale = a.Number("scale", 1);
  const Expr x = Shifted(Scaled(a.X(), scale), shift);
  if (type == "SQRT") return Sqrt(x);
  if (type == "RSQRT") return Reciprocal(Sqrt(x + epsilon));
  if (type == "INVERSE") return Reciprocal(x + epsilon);
  if (type == "POWER") return Pow(x, alpha);
  if (type == "EXP") return Exp(x);
  if (type == "LOG") return Log(x);
  if (type == "ABS") return Abs(x);
  a.Require(type == "THRESHOLD", StrCat("the function ", type));
  return Max(x, alpha);
}

Expr Exp2(NnArgs& a) { return Pow(2.0, a.X()); }
Expr Copy(NnArgs& a) { return a.X().Op("identity"); }
Expr FloorDivided(const Expr& x, const Expr& y) { return Floor(x / y); }
Expr Chosen(NnArgs& a) { return Where(a.Holds(0), a.X(1), a.X(2)); }

// Weights of the last three axes, or of channels.
Expr Placed(NnArgs& a, std::string_view weights, Symbol shape, const Expr& x) {
  const std::vector<int64_t> dims = a.List(shape, {1});
  const Expr vector = a.NeedWeights(weights, dims);
  if (dims.size() > 1) return vector;
  return OfImage(a, vector, x);
}

Expr ScaledBy(NnArgs& a) {
  const Expr x = a.X();
  const Expr y = x * Placed(a, "scale", "shapeScale", x);
  const bool biased = a.Flag("hasBias");
  if (!biased) {
    a.Ignore("shapeBias");
    return y;
  }
  return y + Placed(a, "bias", "shapeBias", x);
}

Expr Biased(NnArgs& a) {
  const Expr x = a.X();
  return x + Placed(a, "bias", "shape", x);
}

Expr LoadedImage(NnArgs& a) {
  std::vector<int64_t> dims = a.List("shape");
  a.Require(dims.size() == 3, "a constant of other axes");
  dims.insert(dims.begin(), 2, 1);
  return a.NeedWeights("data", dims).Op("identity");
}

Expr Loaded(NnArgs& a) { return a.NeedWeights("data", a.List("shape", {1})).Op("identity"); }

}  // namespace

X2IR_NN(identity).From({{"activation", Activation}, {"copy", Copy}, {"unary", UnaryFunction}});
X2IR_NN(add).From({{"add", Folded("add", true)},
                   {"addBroadcastable", Binary("add")},
                   {"bias", Biased}});
X2IR_NN(mul).From({{"multiply", Folded("mul", true)},
                   {"multiplyBroadcastable", Binary("mul")},
                   {"scale", ScaledBy}});
X2IR_NN(sub).From("subtractBroadcastable", Binary("sub"));
X2IR_NN(div)
    .From("divideBroadcastable", Binary("div"))
    .From("floorDivBroadcastable", Binary(FloorDivided))
    .From("average", Average);
X2IR_NN(mod).From("modBroadcastable", Binary(FloorMod));
X2IR_NN(pow).From({{"powBroadcastable", Binary("pow")}, {"exp2", Exp2}});
X2IR_NN(max).From({{"max", Folded("max", false)}, {"maxBroadcastable", Binary("max")}});
X2IR_NN(min).From({{"min", Folded("min", false)}, {"minBroadcastable", Binary("min")}});
X2IR_NN(equal).From({{"equal", Compared("equal")}, {"notEqual", Compared("equal", true)}});
X2IR_NN(less).From("lessThan", Compared("less"));
X2IR_NN(less_or_equal).From("lessEqual", Compared("less_or_equal"));
X2IR_NN(greater).From("greaterThan", Compared("greater"));
X2IR_NN(greater_or_equal).From("greaterEqual", Compared("greater_or_equal"));
X2IR_NN(or).From("logicalOr", Logical("or"));
X2IR_NN(xor).From("logicalXor", Logical("xor"));
X2IR_NN(and).From("logicalAnd", Logical("and"));
X2IR_NN(not ).From("logicalNot", LogicalNot);
X2IR_NN(where).From("whereBroadcastable", Chosen);
#define X2IR_NN_UNARY(op) X2IR_NN(op).From(#op, Unary(#op))

X2IR_NN_UNARY(ceil);
X2IR_NN_UNARY(floor);
X2IR_NN_UNARY(sign);
X2IR_NN_UNARY(round);
X2IR_NN_UNARY(sin);
X2IR_NN_UNARY(cos);
X2IR_NN_UNARY(tan);
X2IR_NN_UNARY(asin);
X2IR_NN_UNARY(acos);
X2IR_NN_UNARY(atan);
X2IR_NN_UNARY(sinh);
X2IR_NN_UNARY(cosh);
X2IR_NN_UNARY(tanh);
X2IR_NN_UNARY(asinh);
X2IR_NN_UNARY(acosh);
X2IR_NN_UNARY(atanh);
X2IR_NN_UNARY(erf);
X2IR_NN(identity).From({{"loadConstant", LoadedImage}, {"loadConstantND", Loaded}});
#undef X2IR_NN_UNARY

}  // namespace x2ir
