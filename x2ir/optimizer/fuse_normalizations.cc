// fuse_normalizations: normalizations that were spelled out become the ops that they are, where
// the target has those. Results differ by rounding alone. Rules 3 and 4 are in fuse_norm_types.cc.
//  1. d / sqrt(mean(d^2) + epsilon) with d = x - mean(x) over the last axes, all of known size, is
//     layer_normalization of scale 1. d^2 is a mul or a pow; the division may be a mul by a
//     reciprocal or by a power of -1/2.
//     x * g + (bias - mean(x) * g) with g = scale / sqrt(...) is the same with scale and bias.
//     So is the same with max(mean(x^2) - mean(x)^2, 0) for the variance, as flax has it: that is
//     the mean of d^2, but for rounding. The factor may be scale / sqrt(...), multiplied by d then.
//  2. The same with x itself for d is rms_normalization of scale 1.
//  5. A mul after one of these of scale 1 and without bias is its scale, an add its bias, where
//     they are of the shape that ONNX Runtime takes there: all axes that are normalized over, or
//     one number a channel.
// layer_norm_as_instance_norm: where the target lacks layer_normalization,
//  1. a spelled out one (see 1 above) over axis 2 and on, with a known number of rows on axis 1, is
//     instance_normalization of scale 1 and bias 0; what is multiplied and added after it stays.
// Only float32 is fused where nothing casts: in 16 bits the squares overflow early, which the
// op's own float32 does not, and float64 would lose digits to it.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "x2ir/ops/infer.h"
#include "x2ir/ops/window.h"
#include "x2ir/optimizer/lowering_util.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fuse_normalizations, "Normalizations that were spelled out become single ops.");

// --- Statistics -----------------------------------------------------------------------------

// The first of the last axes of that rank that a constant names, in any order; -1: others.
int64_t FirstOfLastAxes(const Value* axes, int64_t rank) {
  const Tensor* tensor = DenseConstant(axes);
  if (!tensor) return -1;
  auto numbers = tensor->ToInts();
  if (!numbers.ok() || numbers->empty()) return -1;
  auto normal = NormalizeAxes(*std::move(numbers), rank);
  if (!normal.ok()) return -1;
  std::sort(normal->begin(), normal->end());
  const auto count = static_cast<int64_t>(normal->size());
  for (int64_t i = 0; i < count; ++i) {
    if ((*normal)[i] != rank - count + i) return -1;
  }
  return rank - count;
}

// A mean over the last axes.
struct Mean {
  Value* of;
  int64_t axis;  // the first of them
};
std::optional<Mean> MatchMean(const Node* mean, bool keeps_dims = true) {
  if (!mean || (mean->attrs().Int("keepdims") != 0) != keeps_dims) return std::nullopt;
  const Shape* shape = mean->input(0)->shape();
  const int64_t axis = shape ? FirstOfLastAxes(mean->input(1), shape->rank()) : -1;
  return axis < 0 ? std::nullopt : std::optional(Mean{mean->input(0), axis});
}

// What an unsqueeze gives its last axes, from that one on; null where it gives others.
Value* WithoutLastAxes(const Node* unsqueeze, int64_t axis) {
  const Shape* shape = unsqueeze ? unsqueeze->output(0)->shape() : nullptr;
  const bool fits = shape && FirstOfLastAxes(unsqueeze->input(1), shape->rank()) == axis;
  return fits ? unsqueeze->input(0) : nullptr;
}

// The same, where the axes may have been dropped and put back, too.
std::optional<Mean> MatchMeanOf(const Pattern& pattern, const Value* value) {
  if (const auto mean = MatchMean(pattern.By(value, "reduce_mean"))) return mean;
  const Node* unsqueeze = pattern.By(value, "unsqueeze");
  const auto mean =
      unsqueeze ? MatchMean(pattern.By(unsqueeze->input(0), "reduce_mean"), false) : std::nullopt;
  return mean && WithoutLastAxes(unsqueeze, mean->axis) ? mean : std::nullopt;
}

// The value whose square this is.
Value* SquareOf(const Pattern& pattern, const Value* value) {
  if (const Node* mul = pattern.OnlyBy(value, "mul")) {
    return mul->input(0) == mul->input(1) ? mul->input(0) : nullptr;
  }
  const Node* pow = pattern.OnlyBy(value, "pow");
  const auto with = pow ? Pattern::NumberOperand(*pow) : std::nullopt;
  return with && !with->first && with->number == 2 ? with->other : nullptr;
}

// 1 / sqrt(v); gives v.
Value* MatchInverse(const Pattern& pattern, const Value* inverse) {
  const Node* root = nullptr;
  if (const Node* reciprocal = pattern.By(inverse, "reciprocal")) {
    root = pattern.OnlyBy(reciprocal->input(0), "sqrt");
  } else if (const Node* div = pattern.By(inverse, "div")) {
    const auto with = Pattern::NumberOperand(*div);
    if (with && with->first && with->number == 1) root = pattern.OnlyBy(with->other, "sqrt");
  } else if (const Node* pow = pattern.By(inverse, "pow")) {
    const auto with = Pattern::NumberOperand(*pow);
    if (with && !with->first && with->number == -0.5) root = pow;
  }
  return root ? root->input(0) : nullptr;
}

// What is divided by a standard deviation: x * y where y is 1 / sqrt(v), or x / sqrt(v).
struct Quotient {
  Value* dividend;
  Value* variance;         // with epsilon
  Value* scale = nullptr;  // what 1 / sqrt(v) was multiplied by first
};
std::optional<Quotient> MatchQuotient(const Pattern& pattern, const Node& node) {
  if (node.op() == "div") {
    const Node* root = pattern.OnlyBy(node.input(1), "sqrt");
    return root ? std::optional(Quotient{node.input(0), root->input(0)}) : std::nullopt;
  }
  for (size_t i : {1, 0}) {
    if (Rewriter::UsedOnce(node.input(i))) {
      Value* variance = MatchInverse(pattern, node.input(i));
      if (variance) return Quotient{node.input(1 - i), variance};
      const Node* scaled = pattern.By(node.input(i), "mul");
      for (size_t k = 0; scaled && k < 2; ++k) {
        variance = Rewriter::UsedOnce(scaled->input(k)) ? MatchInverse(pattern, scaled->input(k))
                                                        : nullptr;
        if (variance) return Quotient{node.input(1 - i), variance, scaled->input(1 - k)};
      }
    }
  }
  return std::nullopt;
}

// x - mean(x) over the axes from `axis` on; gives x.
Value* MatchDeviation(const Pattern& pattern, const Value* value, int64_t axis) {
  const Node* sub = pattern.By(value, "sub");
  const auto mean = sub ? MatchMeanOf(pattern, sub->input(1)) : std::nullopt;
  return mean && mean->of == sub->input(0) && mean->axis == axis ? mean->of : nullptr;
}

// The sizes of all axes from `axis` on, if they are known.
std::optional<std::vector<int64_t>> SizesFrom(const Value* x, int64_t axis) {
  const Shape* shape = x->shape();
  if (!shape || axis < 0 || axis > shape->rank()) return std::nullopt;
  return Shape(std::vector<Dim>(shape->begin() + axis, shape->end())).Static();
}

// A norm without scale and bias, over the axes from `axis` on.
struct PlainNorm {
  const char* op;
  Value* x;
  int64_t axis;
  float epsilon;
  Value* scale;  // what the result is multiplied by; null: nothing
};
// mean(d^2) + epsilon
struct Variance {
  Value* squared;
  int64_t axis;
  float epsilon;
};
std::optional<Variance> MatchVariance(const Pattern& pattern, const Value* value) {
  const Node* add = pattern.OnlyBy(value, "add");
  const auto epsilon = add ? Pattern::NumberOperand(*add) : std::nullopt;
  if (!epsilon || !(epsilon->number >= 0)) return std::nullopt;
  const auto mean = MatchMean(pattern.OnlyBy(epsilon->other, "reduce_mean"));
  Value* squared = mean ? SquareOf(pattern, mean->of) : nullptr;
  if (!squared) return std::nullopt;
  return Variance{squared, mean->axis, static_cast<float>(epsilon->number)};
}

// max(mean(x^2) - mean(x)^2, 0) + epsilon; `squared` is x. Without the max a rounded variance may
// be negative, and the root of it NaN.
std::optional<Variance> MatchFastVariance(const Pattern& pattern, const Value* value) {
  const Node* add = pattern.OnlyBy(value, "add");
  const auto epsilon = add ? Pattern::NumberOperand(*add) : std::nullopt;
  if (!epsilon || !(epsilon->number >= 0)) return std::nullopt;
  const Node* unsqueeze = pattern.OnlyBy(epsilon->other, "unsqueeze");
  const Value* kept = unsqueeze ? unsqueeze->input(0) : epsilon->other;
  const Node* max = pattern.OnlyBy(kept, "max");
  const auto low = max ? Pattern::NumberOperand(*max) : std::nullopt;
  const Node* relu = pattern.OnlyBy(kept, "relu");
  if (!relu && !(low && low->number == 0)) return std::nullopt;
  const Node* sub = pattern.OnlyBy(relu ? relu->input(0) : low->other, "sub");
  if (!sub) return std::nullopt;
  const bool keeps_dims = !unsqueeze;
  const auto of_squares = MatchMean(pattern.OnlyBy(sub->input(0), "reduce_mean"), keeps_dims);
  const Value* mean_of = SquareOf(pattern, sub->input(1));
  const auto mean =
      mean_of ? MatchMean(pattern.By(mean_of, "reduce_mean"), keeps_dims) : std::nullopt;
  if (!of_squares || !mean || mean->axis != of_squares->axis ||
      SquareOf(pattern, of_squares->of) != mean->of ||
      (unsqueeze && !WithoutLastAxes(unsqueeze, mean->axis))) {
    return std::nullopt;
  }
  return Variance{mean->of, mean->axis, static_cast<float>(epsilon->number)};
}

std::optional<PlainNorm> MatchPlainNorm(Rewriter& r) {
  if (r.out()->dtype() != DType::kFloat32) return std::nullopt;
  const Pattern pattern(r);
  const auto quotient = MatchQuotient(pattern, r.node());
  if (!quotient) return std::nullopt;
  if (const auto fast = MatchFastVariance(pattern, quotient->variance)) {
    if (MatchDeviation(pattern, quotient->dividend, fast->axis) != fast->squared) {
      return std::nullopt;
    }
    return PlainNorm{"layer_normalization", fast->squared, fast->axis, fast->epsilon,
                     quotient->scale};
  }
  const auto variance = MatchVariance(pattern, quotient->variance);
  if (!variance) return std::nullopt;
  const auto& [squared, axis, epsilon] = *variance;
  Value* x = MatchDeviation(pattern, squared, axis);
  if (x && MatchDeviation(pattern, quotient->dividend, axis) == x) {
    return PlainNorm{"layer_normalization", x, axis, epsilon, quotient->scale};
  }
  if (squared != quotient->dividend) return std::nullopt;
  return PlainNorm{"rms_normalization", squared, axis, epsilon, quotient->scale};
}

bool ReplaceByNorm(Rewriter& r, const PlainNorm& norm, Value* y) {
  if (norm.scale) y = r.b().Op("mul", {y, norm.scale});
  return r.b().status().ok() && SameShape(y, r.out()) && r.Replace(y);
}

absl::StatusOr<bool> FuseQuotient(Rewriter& r) {
  const auto norm = MatchPlainNorm(r);
  const auto sizes = norm ? SizesFrom(norm->x, norm->axis) : std::nullopt;
  if (!sizes || !r.context().Has(norm->op, DType::kFloat32)) return false;
  Value* y = r.b().Op(norm->op, {norm->x, FilledConstant(r.b(), DType::kFloat32, *sizes, 1)},
                      {{"axis", norm->axis - norm->x->shape()->rank()},
                       {"epsilon", norm->epsilon},
                       {"stash_type", "float32"}});
  return ReplaceByNorm(r, *norm, y);
}
X2IR_RULE(fuse_normalizations, div, FuseQuotient, {"sqrt"});
X2IR_RULE(fuse_normalizations, mul, FuseQuotient, {"reciprocal", "div", "mul", "pow"});

// In a target without layer_normalization: rows of x are the channels of an image of one axis.
absl::StatusOr<bool> AsInstanceNorm(Rewriter& r) {
  const auto norm = MatchPlainNorm(r);
  if (!norm || std::string_view(norm->op) != "layer_normalization" || norm->axis != 2 ||
      r.context().Has(norm->op, DType::kFloat32) ||
      !r.context().Has("instance_normalization", DType::kFloat32)) {
    return false;
  }
  const Dim& rows = (*norm->x->shape())[1];
  if (!rows.is_static() || rows.value() < 1) return false;
  const std::vector<int64_t> dims = {rows.value()};
  Value* ones = FilledConstant(r.b(), DType::kFloat32, dims, 1);
  Value* y = r.b().Op("instance_normalization",
                      {norm->x, ones, FilledConstant(r.b(), DType::kFloat32, dims, 0)},
                      {{"layout", "channels_first"}, {"epsilon", norm->epsilon}});
  return ReplaceByNorm(r, *norm, y);
}
X2IR_RULES_PASS(layer_norm_as_instance_norm,
                "Layer norms that were spelled out become instance norms in old targets.");
X2IR_RULE(layer_norm_as_instance_norm, div, AsInstanceNorm, {"sqrt"});
X2IR_RULE(layer_norm_as_instance_norm, mul, AsInstanceNorm, {"reciprocal", "div", "mul", "pow"});

// --- Scale and bias -------------------------------------------------------------------------

struct Norm {
  Node* node;
  Value* factor;  // what it is multiplied by, or what is added to it, in the norm's own shape
};

// Without leading dims of 1, and for channels without those at the end.
Value* InShapeOf(Rewriter& r, Value* value, const std::vector<int64_t>& dims, int64_t trailing) {
  const Shape* shape = value->shape();
  const auto have = shape ? shape->Static() : std::nullopt;
  if (!have) return nullptr;
  if (*have == dims && trailing == 0) return value;
  const Tensor* tensor = DenseConstant(value);
  const auto count = static_cast<int64_t>(dims.size());
  const int64_t leading = shape->rank() - count - trailing;
  if (leading < 0) return nullptr;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const bool own = i >= leading && i < leading + count;
    if ((*have)[i] != (own ? dims[i - leading] : 1)) return nullptr;
  }
  if (tensor) return r.b().Constant(tensor->Reshaped(dims));
  // Of a weight that is computed or an input: what axes of size 1 were put around.
  const auto only_shape = [](const OpDef& op) { return op.moves() == MoveUse::kInOrder; };
  const Node* put = Pattern(r).By(value, only_shape);
  const Shape* before = put ? put->input(0)->shape() : nullptr;
  return before && before->Static() == dims ? put->input(0) : nullptr;
}

// A normalization that only this node uses, and the other operand where it may be scale or bias.
std::optional<Norm> MatchNorm(Rewriter& r) {
  const Pattern pattern(r);
  for (size_t i : {0, 1}) {
    for (const char* op : {"layer_normalization", "rms_normalization", "group_normalization"}) {
      Node* node = pattern.OnlyBy(r.in(i), op);
      Value* other = r.in(1 - i);
      if (!node || other->dtype() != r.in(i)->dtype() || node->output(1) || node->output(2)) {
        continue;
      }
      const Shape* shape = r.in(i)->shape();
      if (!shape || !other->shape() || other->shape()->rank() > shape->rank()) continue;
      Value* factor = nullptr;
      if (node->Is("group_normalization")) {
        const Tensor* scale = DenseConstant(node->input(1));
        const bool first = node->attrs().String("layout") == "channels_first";
        if (scale && first) factor = InShapeOf(r, other, scale->dims(), shape->rank() - 2);
      } else if (auto axis = NormalizeAxis(node->attrs().Int("axis"), shape->rank()); axis.ok()) {
        const auto sizes = SizesFrom(r.in(i), *axis);
        if (sizes) factor = InShapeOf(r, other, *sizes, 0);
      }
      if (factor) return Norm{node, factor};
    }
  }
  return std::nullopt;
}

bool HasNoBias(const Node& norm) { return !norm.input(2) || IsFilledWith(norm.input(2), 0); }

absl::StatusOr<bool> FuseScale(Rewriter& r) {
  const auto norm = MatchNorm(r);
  if (!norm || !IsFilledWith(norm->node->input(1), 1) || !HasNoBias(*norm->node)) return false;
  std::vector<Value*> operands = norm->node->inputs();
  operands[1] = norm->factor;
  return r.Replace(r.b().Op(norm->node->op(), operands, norm->node->attrs()));
}
X2IR_RULE(fuse_normalizations, mul, FuseScale,
          {"layer_normalization", "rms_normalization", "group_normalization"});

absl::StatusOr<bool> FuseBias(Rewriter& r) {
  const auto norm = MatchNorm(r);
  if (!norm || norm->node->Is("rms_normalization") || !HasNoBias(*norm->node)) return false;
  const std::vector<Value*> operands = {norm->node->input(0), norm->node->input(1), norm->factor};
  return r.Replace(r.b().Op(norm->node->op(), operands, norm->node->attrs()));
}
X2IR_RULE(fuse_normalizations, add, FuseBias,
          {"layer_normalization", "rms_normalization", "group_normalization"});

// g of mul(of, g), which only the mul at hand and maybe others use.
Value* OtherFactor(const Node& mul, const Value* of) {
  if (mul.input(0) == of) return mul.input(1);
  return mul.input(1) == of ? mul.input(0) : nullptr;
}

// x * g + (bias - mean * g) with g = scale / sqrt(variance).
absl::StatusOr<bool> FuseShifted(Rewriter& r) {
  if (r.out()->dtype() != DType::kFloat32) return false;
  const Pattern pattern(r);
  for (size_t i : {0, 1}) {
    const Node* scaled = pattern.OnlyBy(r.in(i), "mul");
    const Node* shift = pattern.OnlyBy(r.in(1 - i), "sub");
    const Node* scaled_mean = shift ? pattern.OnlyBy(shift->input(1), "mul") : nullptr;
    if (!scaled || !scaled_mean) continue;
    for (size_t k : {0, 1}) {
      const auto mean = MatchMean(pattern.By(scaled_mean->input(k), "reduce_mean"));
      Value* g = mean ? scaled_mean->input(1 - k) : nullptr;
      if (!g || OtherFactor(*scaled, mean->of) != g) continue;
      Value *x = mean->of, *inverse = g, *scale = nullptr;
      if (const Node* mul = pattern.By(g, "mul")) {
        const size_t at = MatchInverse(pattern, mul->input(0)) ? 0 : 1;
        inverse = mul->input(at);
        scale = mul->input(1 - at);
      }
      const Value* root = MatchInverse(pattern, inverse);
      const auto variance = root ? MatchVariance(pattern, root) : std::nullopt;
      const auto sizes = SizesFrom(x, mean->axis);
      if (!variance || !sizes || variance->axis != mean->axis ||
          MatchDeviation(pattern, variance->squared, mean->axis) != x ||
          !r.context().Has("layer_normalization", DType::kFloat32)) {
        continue;
      }
      scale = scale ? InShapeOf(r, scale, *sizes, 0)
                    : FilledConstant(r.b(), DType::kFloat32, *sizes, 1);
      Value* bias = InShapeOf(r, shift->input(0), *sizes, 0);
      if (!scale || !bias) continue;
      Value* y = r.b().Op("layer_normalization", {x, scale, bias},
                          {{"axis", mean->axis - x->shape()->rank()},
                           {"epsilon", variance->epsilon},
                           {"stash_type", "float32"}});
      return r.b().status().ok() && r.Replace(y);
    }
  }
  return false;
}
X2IR_RULE(fuse_normalizations, add, FuseShifted, {"sub"});

}  // namespace
}  // namespace x2ir
