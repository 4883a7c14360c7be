// fold_affine: constants that multiply and shift the channels of a linear op are folded into the
// constants of that op: conv, conv_transpose, gemm, matmul, and also batch_normalization and
// instance_normalization, whose scale and bias are weights of that kind.
//  1. batch_normalization (inference) after a linear op.
//  2. mul or div by a constant after it.
//  3. add or sub of a constant after it, and a constant minus it.
//  4. matmul has no bias: a shift makes a gemm of it, where both operands are matrices. The
//  constant of an add after matmul is its bias for the ops that follow.
// The constant is a scalar or one number a channel; the linear op's weights (and its bias, where
// it has one) are constants, and its result has no other user. New weights are computed in float64
// and rounded once. Large weights that others use too are not copied for the sake of a mul, only
// for that of a batch_normalization. Nothing is done where a factor is not a finite number (a
// variance of 0 without epsilon), where a weight would overflow, or, in float16, where a channel's
// largest weight would become so small that it loses digits.
#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/ops/window.h"
#include "x2ir/optimizer/linear.h"
#include "x2ir/optimizer/rules.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fold_affine,
                "Constant scales, shifts and batch norms go into linear ops' weights.");

// channel = f * channel + s.
struct Affine {
  std::vector<double> scale, shift;
  Value* bias = nullptr;  // a constant that is the shift, in the shape of a bias
};

// --- What comes after it --------------------------------------------------------------------

std::optional<std::vector<double>> PerChannel(const Value* value, const Linear& l) {
  const Tensor* t = DenseConstant(value);
  if (!t || !IsPerChannel(*t, l)) return std::nullopt;
  return SpreadOver(*t, l.channels);
}

std::optional<Affine> ReadBatchNorm(const Node& node, const Linear& l) {
  if (node.attrs().Int("training_mode") != 0 || ChannelsAt(node.attrs(), l.rank) != l.axis) {
    return std::nullopt;
  }
  std::vector<std::vector<double>> operands;
  for (size_t i = 1; i < 5; ++i) {
    const Tensor* t = DenseConstant(node.input(i));
    if (!t || !IsFloating(t->dtype()) || t->num_elements() != l.channels) return std::nullopt;
    operands.push_back(SpreadOver(*t, l.channels));
  }
  const double epsilon = node.attrs().Float("epsilon");
  Affine affine;
  for (int64_t c = 0; c < l.channels; ++c) {
    const double factor = operands[0][c] / std::sqrt(operands[3][c] + epsilon);
    affine.scale.push_back(factor);
    affine.shift.push_back(operands[1][c] - operands[2][c] * factor);
  }
  return affine;
}

std::optional<Affine> ReadArithmetic(const Node& node, size_t linear_at, const Linear& l) {
  auto numbers = PerChannel(node.input(1 - linear_at), l);
  if (!numbers) return std::nullopt;
  const std::vector<double> ones(l.channels, 1.0), zeros(l.channels, 0.0);
  if (node.Is("mul")) return Affine{*std::move(numbers), zeros};
  if (node.Is("add")) {
    Value* bias = node.input(1 - linear_at);
    const bool fits = bias->fixed_constant()->dims() == std::vector<int64_t>{l.channels};
    return Affine{ones, *std::move(numbers), fits ? bias : nullptr};
  }
  if (node.Is("div")) {
    if (linear_at != 0) return std::nullopt;
    for (double& n : *numbers) n = 1 / n;
    return Affine{*std::move(numbers), zeros};
  }
  if (linear_at == 1) return Affine{std::vector<double>(l.channels, -1.0), *std::move(numbers)};
  for (double& n : *numbers) n = -n;
  return Affine{ones, *std::move(numbers)};
}

// --- Folding --------------------------------------------------------------------------------

bool AllAre(const std::vector<double>& numbers, double number) {
  return std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n == number; });
}
bool AllFinite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double n) { return std::isfinite(n); });
}

absl::StatusOr<bool> Fold(Rewriter& r, const Linear& l, const Affine& a) {
  if (!AllFinite(a.scale) || !AllFinite(a.shift)) return false;
  std::vector<Value*> operands = l.node->inputs();
  Symbol op = l.node->op();
  AttributeMap attrs = l.node->attrs();
  const bool biased = l.bias || !AllAre(a.shift, 0);
  if (l.kind == LinearKind::kMatMul && biased && !l.sum) {
    if (!IsMatrix(operands[0]) || !IsMatrix(operands[1]) ||
        !r.context().Has("gemm", l.weight->dtype())) {
      return false;
    }
    op = "gemm";
  }
  if (!AllAre(a.scale, 1)) {
    if (!r.node().Is("batch_normalization") && IsShared(operands[1])) return false;
    auto weight = ScaleWeights(*l.weight, a.scale, ChannelsOf(l));
    if (!weight) return false;
    operands[1] = r.b().Constant(*std::move(weight), "weight");
  }
  if (biased) {
    operands.resize(std::max<size_t>(operands.size(), 3), nullptr);
    if (a.bias && !l.bias) {
      operands[2] = a.bias;
    } else {
      auto bias = ShiftedBias(l, a.scale, a.shift);
      if (!bias) return false;
      operands[2] = r.b().Constant(*std::move(bias), "bias");
    }
    if (l.kind == LinearKind::kGemm) attrs.Set("beta", 1.0f);
  }
  Value* bias = nullptr;
  if (l.sum) {
    bias = operands[2];
    operands.resize(2);
  }
  Value* y = r.b().Op(op, operands, attrs);
  if (bias) y = r.b().Op("add", {y, bias});
  return r.b().status().ok() && y->dtype() == r.out()->dtype() && r.Replace(y);
}

absl::StatusOr<bool> FoldBatchNorm(Rewriter& r) {
  const auto linear = ReadLinear(Pattern(r), r.in(0));
  const auto affine = linear ? ReadBatchNorm(r.node(), *linear) : std::nullopt;
  return affine ? Fold(r, *linear, *affine) : false;
}
X2IR_RULE(fold_affine, batch_normalization, FoldBatchNorm, LinearOps());

absl::StatusOr<bool> FoldArithmetic(Rewriter& r) {
  for (size_t i : {0, 1}) {
    if (!DenseConstant(r.in(1 - i))) continue;
    const auto linear = ReadLinear(Pattern(r), r.in(i));
    const auto affine = linear ? ReadArithmetic(r.node(), i, *linear) : std::nullopt;
    if (affine) return Fold(r, *linear, *affine);
  }
  return false;
}
X2IR_RULE(fold_affine, mul, FoldArithmetic, LinearOps());
X2IR_RULE(fold_affine, div, FoldArithmetic, LinearOps());
X2IR_RULE(fold_affine, add, FoldArithmetic, LinearOps());
X2IR_RULE(fold_affine, sub, FoldArithmetic, LinearOps());

}  // namespace
}  // namespace x2ir
