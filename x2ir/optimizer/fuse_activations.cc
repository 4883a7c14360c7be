// fuse_activations: activation functions that were spelled out become the ops that they are, where
// the target has those. The number of nodes only falls; results differ by rounding alone.
// Products are understood in any order and nesting, with numbers multiplied or divided anywhere.
//  1. x/2 * (1 + erf(x / sqrt(2))) is gelu; so is x * (1/2 + erf(x / sqrt(2)) / 2).
//  2. x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3))) is gelu, approximate = tanh; so is the
//     spelling sqrt(2/pi) * x * (1 + 0.044715 * x^2) inside of the tanh.
//  3. clip(a * x + b, 0, c) / c is hard_sigmoid; the clip may be min(max(_, 0), c) or
//     min(relu(_), c). In a product the division may be at another place: (x * clip) / c.
//  4. x * hard_sigmoid(x) of slope 1/6 and offset 1/2 is hard_swish; so is
//     x * clip(x + 3, 0, 6) / 6, in any order.
//  5. x * sigmoid(a * x) is swish.
//  6. x * tanh(softplus(x)) is mish; so is x * tanh(log(1 + exp(x))): where exp overflows, tanh is
//     1 either way.
//  7. min(relu(x), c), min(max(x, 0), c) and relu(min(x, c)) are clip(x, 0, c).
//  8. exp(d) / reduce_sum(exp(d)) with d = x - reduce_max(x), over one axis, is softmax; d -
//     log(reduce_sum(exp(d))) is log_softmax.
//  9. 1 / (1 + exp(-x)) is sigmoid: both are 0 where exp overflows.
// 10. max(x, 0) is relu.
// Numbers must equal the exact constants up to rounding in their type; an attribute is a float32,
// so that formulas with more exact float64 numbers stay. log(1 + exp(x)) alone stays: softplus does
// not overflow where it does.
#include <cmath>
#include <limits>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fuse_activations, "Activations that were spelled out become single ops.");

const double kRoot2OverPi = std::sqrt(2 / 3.14159265358979323846);

bool IsFloatAttr(double value, DType type) {
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()))) return false;
  return type != DType::kFloat64 || static_cast<double>(static_cast<float>(value)) == value;
}

// x as the whole of a product: number * x.
bool IsMultiple(const Term& p, const Value* x) {
  return p.factors.size() == 1 && p.factors[0] == x;
}

// A clip from 0 to a number, on `of`.
struct ClipFromZero {
  Value* of;
  double high;
};
std::optional<ClipFromZero> MatchClip(const Pattern& pattern, const Node* node) {
  if (node->op() == "clip") {
    const auto low = Pattern::Number(node->input(1), nullptr);
    const auto high = Pattern::Number(node->input(2), nullptr);
    if (low == 0.0 && high) return ClipFromZero{node->input(0), *high};
    return std::nullopt;
  }
  const auto high = Pattern::NumberOperand(*node);
  if (!high) return std::nullopt;
  if (const Node* relu = pattern.OnlyBy(high->other, "relu")) {
    return ClipFromZero{relu->input(0), high->number};
  }
  const Node* max = pattern.OnlyBy(high->other, "max");
  const auto low = max ? Pattern::NumberOperand(*max) : std::nullopt;
  if (!low || low->number != 0) return std::nullopt;
  return ClipFromZero{low->other, high->number};
}
std::optional<ClipFromZero> MatchClip(const Pattern& pattern, const Value* value) {
  const Node* node = pattern.OnlyBy(value, "clip");
  if (!node) node = pattern.OnlyBy(value, "min");
  return node ? MatchClip(pattern, node) : std::nullopt;
}

// --- Gelu -----------------------------------------------------------------------------------

bool IsErfOf(const Pattern& pattern, const Value* value, const Value* x, DType t) {
  const Node* erf = pattern.OnlyBy(value, "erf");
  const auto inner = erf ? pattern.TermOf(erf->input(0)) : std::nullopt;
  return inner && IsMultiple(*inner, x) && IsRounded(inner->number, std::sqrt(0.5), t);
}

bool AreAll(const std::vector<Value*>& factors, const Value* x, size_t count) {
  if (factors.size() != count) return false;
  for (const Value* factor : factors) {
    if (factor != x) return false;
  }
  return true;
}

// x + 0.044715 * x^3
bool IsCubic(const Pattern& pattern, const Value* value, const Value* x, DType t) {
  const Node* add = pattern.OnlyBy(value, "add");
  if (!add) return false;
  for (size_t i : {0, 1}) {
    if (add->input(i) != x) continue;
    const auto cube = pattern.TermOf(add->input(1 - i));
    if (cube && AreAll(cube->factors, x, 3) && IsRounded(cube->number, 0.044715, t)) return true;
  }
  return false;
}

bool IsTanhOf(const Pattern& pattern, const Value* value, const Value* x, DType t) {
  const Node* tanh = pattern.OnlyBy(value, "tanh");
  const auto inner = tanh ? pattern.TermOf(tanh->input(0)) : std::nullopt;
  if (!inner || !IsRounded(inner->number, kRoot2OverPi, t)) return false;
  if (inner->factors.size() == 1) return IsCubic(pattern, inner->factors[0], x, t);
  if (inner->factors.size() != 2) return false;
  for (size_t i : {0, 1}) {
    if (inner->factors[i] != x) continue;
    const auto sum = pattern.ShiftedTermOf(inner->factors[1 - i]);
    if (sum && sum->constant == 1 && AreAll(sum->term.factors, x, 2) &&
        IsRounded(sum->term.number, 0.044715, t)) {
      return true;
    }
  }
  return false;
}

// number * x * gate.
Value* AsGelu(Rewriter& r, const Pattern& pattern, double number, Value* x, Value* gate) {
  const DType t = x->dtype();
  const auto sum = pattern.ShiftedTermOf(gate);
  if (!sum || sum->term.factors.size() != 1 || !IsRounded(number * sum->constant, 0.5, t) ||
      !IsRounded(number * sum->term.number, 0.5, t)) {
    return nullptr;
  }
  const char* approximate = nullptr;
  if (IsErfOf(pattern, sum->term.factors[0], x, t)) approximate = "none";
  if (IsTanhOf(pattern, sum->term.factors[0], x, t)) approximate = "tanh";
  if (!approximate || !r.context().Has("gelu", t)) return nullptr;
  return r.b().Op("gelu", {x}, {{"approximate", approximate}});
}

// --- Others ---------------------------------------------------------------------------------

Value* AsHardSwish(Rewriter& r, const Pattern& pattern, double number, Value* x, Value* gate) {
  const DType t = x->dtype();
  bool fits = false;
  if (const Node* gated = pattern.OnlyBy(gate, "hard_sigmoid")) {
    fits = number == 1 && gated->input(0) == x &&
           gated->attrs().Float("alpha") == static_cast<double>(1.0f / 6) &&
           gated->attrs().Float("beta") == 0.5;
  } else if (const auto clip = MatchClip(pattern, gate)) {
    const auto sum = pattern.ShiftedTermOf(clip->of);
    fits = sum && clip->high == 6 && sum->constant == 3 && sum->term.number == 1 &&
           IsMultiple(sum->term, x) && IsRounded(number, 1.0 / 6, t);
  }
  if (!fits || !r.context().Has("hard_swish", t)) return nullptr;
  return r.b().Op("hard_swish", {x});
}

Value* AsSwish(Rewriter& r, const Pattern& pattern, double number, Value* x, Value* gate) {
  const DType t = x->dtype();
  const Node* sigmoid = number == 1 ? pattern.OnlyBy(gate, "sigmoid") : nullptr;
  if (!sigmoid || !r.context().Has("swish", t)) return nullptr;
  if (sigmoid->input(0) == x) return r.b().Op("swish", {x}, {{"alpha", 1.0f}});
  const auto inner = pattern.TermOf(sigmoid->input(0));
  if (!inner || !IsMultiple(*inner, x) || !IsFloatAttr(inner->number, t)) return nullptr;
  return r.b().Op("swish", {x}, {{"alpha", static_cast<float>(inner->number)}});
}

Value* AsMish(Rewriter& r, const Pattern& pattern, double number, Value* x, Value* gate) {
  const Node* tanh = number == 1 ? pattern.OnlyBy(gate, "tanh") : nullptr;
  if (!tanh) return nullptr;
  const Node* inner = pattern.OnlyBy(tanh->input(0), "softplus");
  if (!inner) {
    const Node* log = pattern.OnlyBy(tanh->input(0), "log");
    const auto sum = log ? pattern.ShiftedTermOf(log->input(0)) : std::nullopt;
    if (!sum || sum->constant != 1 || sum->term.number != 1 || sum->term.factors.size() != 1) {
      return nullptr;
    }
    inner = pattern.OnlyBy(sum->term.factors[0], "exp");
  }
  if (!inner || inner->input(0) != x || !r.context().Has("mish", x->dtype())) return nullptr;
  return r.b().Op("mish", {x});
}

// number * clip(a * x + b, 0, 1 / number)
Value* AsHardSigmoid(Rewriter& r, const Pattern& pattern, double number,
                     const std::optional<ClipFromZero>& clip) {
  if (!clip || !(clip->high > 0)) return nullptr;
  const auto sum = pattern.ShiftedTermOf(clip->of);
  if (!sum || sum->term.factors.size() != 1) return nullptr;
  if (number == 1 && sum->term.factors[0] == clip->of) return nullptr;  // just a clip
  Value* x = sum->term.factors[0];
  const DType t = x->dtype();
  const double alpha = sum->term.number * number, beta = sum->constant * number;
  if (!IsRounded(number * clip->high, 1, t) || !IsFloatAttr(alpha, t) || !IsFloatAttr(beta, t) ||
      !r.context().Has("hard_sigmoid", t)) {
    return nullptr;
  }
  return r.b().Op("hard_sigmoid", {x},
                  {{"alpha", static_cast<float>(alpha)}, {"beta", static_cast<float>(beta)}});
}

// number * x * clip(...), where the clip is a hard_sigmoid with the number.
Value* AsGate(Rewriter& r, const Pattern& pattern, double number, Value* x, Value* gate) {
  if (number == 1) return nullptr;
  Value* y = AsHardSigmoid(r, pattern, number, MatchClip(pattern, gate));
  return y ? r.b().Op("mul", {x, y}) : nullptr;
}

absl::StatusOr<bool> FuseProduct(Rewriter& r) {
  if (!IsFloating(r.out()->dtype())) return false;
  const Pattern pattern(r);
  const auto product = pattern.TermOf(r.node());
  if (!product) return false;
  const std::vector<Value*>& factors = product->factors;
  Value* result = nullptr;
  if (factors.size() == 1) {
    result = AsHardSigmoid(r, pattern, product->number, MatchClip(pattern, factors[0]));
  }
  for (size_t i = 0; i < 2 && factors.size() == 2 && !result; ++i) {
    for (const auto fuse : {AsGelu, AsHardSwish, AsSwish, AsMish, AsGate}) {
      result = fuse(r, pattern, product->number, factors[i], factors[1 - i]);
      if (result) break;
    }
  }
  if (!result) return false;
  return r.Replace(result);
}
// What makes a gate, or a product with one in it.
const std::vector<std::string_view> kGates = {"add", "clip", "div",     "hard_sigmoid", "min",
                                              "mul", "pow",  "sigmoid", "sub",          "tanh"};
X2IR_RULE(fuse_activations, mul, FuseProduct, kGates);
X2IR_RULE(fuse_activations, div, FuseProduct, kGates);

Value* AsClip(Rewriter& r, const ClipFromZero& clip) {
  const DType t = clip.of->dtype();
  if (!(clip.high >= 0) || !r.context().Has("clip", t)) return nullptr;
  return r.b().Op("clip", {clip.of, r.b().Scalar(t, 0, "low"), r.b().Scalar(t, clip.high, "high")});
}

absl::StatusOr<bool> FuseClip(Rewriter& r) {
  if (!IsFloating(r.out()->dtype())) return false;
  const Pattern pattern(r);
  const auto clip = MatchClip(pattern, &r.node());
  Value* result = AsHardSigmoid(r, pattern, 1, clip);
  if (!result && clip && !r.node().Is("clip")) result = AsClip(r, *clip);
  return result && r.Replace(result);
}
X2IR_RULE(fuse_activations, clip, FuseClip, {"add", "sub", "mul", "div", "pow"});
X2IR_RULE(fuse_activations, min, FuseClip, {"relu", "max"});

absl::StatusOr<bool> FuseRelu(Rewriter& r) {
  const Node* min = IsFloating(r.out()->dtype()) ? Pattern(r).OnlyBy(r.in(0), "min") : nullptr;
  const auto high = min ? Pattern::NumberOperand(*min) : std::nullopt;
  Value* result = high ? AsClip(r, {high->other, high->number}) : nullptr;
  return result && r.Replace(result);
}
X2IR_RULE(fuse_activations, relu, FuseRelu, {"min"});

absl::StatusOr<bool> MaxAsRelu(Rewriter& r) {
  const DType t = r.out()->dtype();
  const auto low = IsFloating(t) ? Pattern::NumberOperand(r.node()) : std::nullopt;
  if (!low || low->number != 0 || !r.context().Has("relu", t)) return false;
  return r.Replace(r.b().Op("relu", {low->other}));
}
X2IR_RULE(fuse_activations, max, MaxAsRelu, {kKnownOperand});

// --- Sigmoid --------------------------------------------------------------------------------

absl::StatusOr<bool> FuseSigmoid(Rewriter& r) {
  Value* divisor = r.in(0);
  if (r.node().Is("div")) {
    const auto one = Pattern::NumberOperand(r.node());
    if (!one || !one->first || one->number != 1) return false;
    divisor = one->other;
  }
  const Pattern pattern(r);
  const auto sum = pattern.ShiftedTermOf(divisor);
  if (!sum || sum->constant != 1 || sum->term.number != 1 || sum->term.factors.size() != 1) {
    return false;
  }
  const Node* exp = pattern.OnlyBy(sum->term.factors[0], "exp");
  const Node* neg = exp ? pattern.OnlyBy(exp->input(0), "neg") : nullptr;
  if (!neg || !r.context().Has("sigmoid", r.out()->dtype())) return false;
  return r.Replace(r.b().Op("sigmoid", {neg->input(0)}));
}
X2IR_RULE(fuse_activations, div, FuseSigmoid, {"add"});
X2IR_RULE(fuse_activations, reciprocal, FuseSigmoid, {"add"});

// --- Softmax --------------------------------------------------------------------------------

// A reduction over one known axis that is kept.
struct AlongAxis {
  Value* of;
  int64_t axis;
};
std::optional<AlongAxis> MatchAlongAxis(const Node* reduction) {
  if (!reduction || reduction->attrs().Int("keepdims") == 0 || !reduction->input(1)) {
    return std::nullopt;
  }
  const Shape* shape = reduction->input(0)->shape();
  const auto axes = KnownInts(reduction->input(1));
  if (!shape || !axes || axes->size() != 1) return std::nullopt;
  const auto axis = NormalizeAxis((*axes)[0], shape->rank());
  return axis.ok() ? std::optional(AlongAxis{reduction->input(0), *axis}) : std::nullopt;
}

// x of x - reduce_max(x) over that axis.
Value* BelowMax(const Pattern& pattern, const Value* value, int64_t axis) {
  const Node* sub = pattern.By(value, "sub");
  const auto max = sub ? MatchAlongAxis(pattern.By(sub->input(1), "reduce_max")) : std::nullopt;
  return max && max->of == sub->input(0) && max->axis == axis ? max->of : nullptr;
}

absl::StatusOr<bool> FuseSoftmax(Rewriter& r) {
  const Pattern pattern(r);
  const auto sum = MatchAlongAxis(pattern.OnlyBy(r.in(1), "reduce_sum"));
  const Node* exp = sum && sum->of == r.in(0) ? pattern.By(sum->of, "exp") : nullptr;
  Value* x = exp ? BelowMax(pattern, exp->input(0), sum->axis) : nullptr;
  if (!x || !IsFloating(x->dtype()) || !r.context().Has("softmax", x->dtype())) return false;
  return r.Replace(r.b().Op("softmax", {x}, {{"axis", sum->axis - x->shape()->rank()}}));
}
X2IR_RULE(fuse_activations, div, FuseSoftmax, {"reduce_sum"});

absl::StatusOr<bool> FuseLogSoftmax(Rewriter& r) {
  const Pattern pattern(r);
  const Node* log = pattern.OnlyBy(r.in(1), "log");
  const auto sum = log ? MatchAlongAxis(pattern.OnlyBy(log->input(0), "reduce_sum")) : std::nullopt;
  const Node* exp = sum ? pattern.OnlyBy(sum->of, "exp") : nullptr;
  Value* x = exp && exp->input(0) == r.in(0) ? BelowMax(pattern, r.in(0), sum->axis) : nullptr;
  if (!x || !IsFloating(x->dtype()) || !r.context().Has("log_softmax", x->dtype())) return false;
  return r.Replace(r.b().Op("log_softmax", {x}, {{"axis", sum->axis - x->shape()->rank()}}));
}
X2IR_RULE(fuse_activations, sub, FuseLogSoftmax, {"log"});

}  // namespace
}  // namespace x2ir
