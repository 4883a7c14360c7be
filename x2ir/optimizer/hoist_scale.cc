// hoist_scale: a number that scales the result of a linear op, possibly after other ops, is folded
// into the weights of that op: the scale of attention scores into those of the queries.
//  1. mul or div by a number, after any of: reshape, transpose, squeeze, unsqueeze, flatten; a
//     matmul of two computed operands (one of which then takes the number); a split of the linear
//     op's channels, or of the heads that they were taken apart into (of which then one part is
//     scaled).
//  2. Where both operands of a matmul are multiplied or divided by a number, after reshape,
//     transpose, squeeze, unsqueeze or flatten, the smaller one takes both numbers.
// No value between has another user. (fold_affine handles ops directly after linear ops.) Products
// with the scaled weights are rounded elsewhere than before, no more than that: a number is hoisted
// only where it is neither large nor small, so that nothing on the way overflows or loses digits.
// Large weights are not rewritten: they go from file to file as they are, and to read, scale and
// write them costs more than all of the rest of an export.
#include <cmath>
#include <utility>

#include "x2ir/ops/infer.h"
#include "x2ir/ops/perm.h"
#include "x2ir/optimizer/linear.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(hoist_scale, "Numbers that scale what linear ops gave go into their weights.");

// Of moderate size: 1 / sqrt(d) for any size d of an attention head is.
constexpr double kSmallest = 1.0 / 256, kLargest = 256;
// What overflows first. There products may only become smaller, which the scores would be too.
constexpr double kLargestOfHalf = 1;
// Weights of more bytes stay as they are.
constexpr size_t kMaxHoistedInto = size_t{256} << 10;
// How far back to look, over both operands of a matmul too.
constexpr int kMaxSteps = 16;

// What a number may be carried across.
bool OnlyMoves(const OpDef& op) {
  return op.moves() == MoveUse::kInOrder || op.name() == "transpose";
}

// Whether a number is neither too large nor too small to be put elsewhere.
bool IsModerate(double number, DType type) {
  const double most = type == DType::kFloat16 ? kLargestOfHalf : kLargest;
  return std::abs(number) >= kSmallest && std::abs(number) <= most;
}

struct Hoisted {
  Linear linear;
  int64_t from, to;  // the channels that are scaled
};

// Follows the value back to a linear op.
class Search {
 public:
  explicit Search(const Pattern& pattern) : pattern_(pattern) {}

  std::optional<Hoisted> Find(const Value* value) {
    if (--steps_ < 0 || !value || !Rewriter::UsedOnce(value)) return std::nullopt;
    if (const auto linear = ReadLinear(pattern_, value)) {
      const bool fits =
          linear->kind != LinearKind::kNorm && linear->weight->nbytes() <= kMaxHoistedInto;
      return fits ? std::optional(Hoisted{*linear, 0, linear->channels}) : std::nullopt;
    }
    if (const Node* node = pattern_.By(value, OnlyMoves)) return Find(node->input(0));
    if (const Node* node = pattern_.By(value, "matmul")) {
      auto found = Find(node->input(0));
      return found ? found : Find(node->input(1));
    }
    if (const Node* node = pattern_.By(value, "split")) return Part(*node, value->output_index());
    return std::nullopt;
  }

 private:
  std::optional<Hoisted> Part(const Node& split, size_t index) {
    const Value* whole = split.input(0);
    const int64_t rank = RankOf(whole);
    int64_t axis = split.attrs().Int("axis"), from = 0;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const auto channels = ChannelsAlong(whole, axis);
    if (!channels) return std::nullopt;
    const auto& [linear, each] = *channels;
    if (linear.kind == LinearKind::kNorm) return std::nullopt;
    if (linear.weight->nbytes() > kMaxHoistedInto) return std::nullopt;
    for (size_t i = 0;; ++i) {
      const Value* part = split.output(i);
      const Shape* shape = part ? part->shape() : nullptr;
      if (!shape || shape->rank() != rank || !(*shape)[axis].is_static()) return std::nullopt;
      const int64_t to = from + (*shape)[axis].value() * each;
      if (to > linear.channels) return std::nullopt;
      if (i == index) return Hoisted{linear, from, to};
      from = to;
    }
  }

  // The linear op whose channels are along that axis of the value, and how many channels are one
  // position there: 1, or the size of a head where the channels were taken apart.
  std::optional<std::pair<Linear, int64_t>> ChannelsAlong(const Value* value, int64_t axis) {
    if (!Rewriter::UsedOnce(value)) return std::nullopt;
    if (const auto linear = ReadLinear(pattern_, value)) {
      if (axis != linear->axis || RankOf(value) != linear->rank) return std::nullopt;
      return std::pair(*linear, int64_t{1});
    }
    if (const Node* transpose = pattern_.By(value, "transpose")) {
      const auto perm = PermOf(*transpose);
      if (!perm) return std::nullopt;
      axis = (*perm)[static_cast<size_t>(axis)];
      value = transpose->input(0);
    }
    const Node* reshape = pattern_.By(value, "reshape");
    if (!reshape || !value->shape() || !Rewriter::UsedOnce(value) ||
        !Rewriter::UsedOnce(reshape->input(0))) {
      return std::nullopt;
    }
    const auto linear = ReadLinear(pattern_, reshape->input(0));
    if (!linear || linear->axis != linear->rank - 1) return std::nullopt;
    // From that axis on there are the channels, no more and no less.
    int64_t each = 1;
    for (int64_t i = value->shape()->rank() - 1; i > axis; --i) {
      const Dim& dim = (*value->shape())[i];
      if (!dim.is_static() || dim.value() < 1 || dim.value() > linear->channels / each) {
        return std::nullopt;
      }
      each *= dim.value();
    }
    const Dim& blocks = (*value->shape())[axis];
    if (!blocks.is_static() || linear->channels % each != 0 ||
        blocks.value() != linear->channels / each) {
      return std::nullopt;
    }
    return std::pair(*linear, each);
  }

  const Pattern& pattern_;
  int steps_ = kMaxSteps;
};

absl::StatusOr<bool> HoistScale(Rewriter& r) {
  const auto with = Pattern::NumberOperand(r.node());
  if (!with || (with->first && r.node().Is("div"))) return false;
  const double number = r.node().Is("div") ? 1 / with->number : with->number;
  if (!IsModerate(number, r.out()->dtype())) return false;
  if (!SameShape(with->other, r.out())) return false;
  const Pattern pattern(r);
  const auto found = Search(pattern).Find(with->other);
  if (!found || found->linear.result() == with->other) return false;
  const Linear& l = found->linear;
  if (IsShared(l.node->input(1)) || StaysInFile(*l.weight, r.context())) return false;
  std::vector<double> scale(l.channels, 1.0), shift(l.channels, 0.0);
  for (int64_t c = found->from; c < found->to; ++c) scale[c] = number;
  auto weight = ScaleWeights(*l.weight, scale, ChannelsOf(l));
  auto bias = l.bias ? ShiftedBias(l, scale, shift) : std::nullopt;
  if (!weight || (l.bias && !bias)) return false;
  r.SetInput(*l.node, 1, r.b().Constant(*std::move(weight), "weight"));
  if (bias) {
    if (l.kind == LinearKind::kGemm) l.node->SetAttr("beta", 1.0f);
    r.SetInput(*(l.sum ? l.sum : l.node), l.bias_at, r.b().Constant(*std::move(bias), "bias"));
  }
  return r.Replace(with->other);
}
bool IsOnTheWay(const OpDef& op) {
  return OnlyMoves(op) || op.name() == "matmul" || op.name() == "split";
}
X2IR_RULE(hoist_scale, mul, HoistScale, IsOnTheWay);
X2IR_RULE(hoist_scale, div, HoistScale, IsOnTheWay);

// The mul or div by a number that the value comes from, and the factor.
struct Scaling {
  Node* node;
  double factor;
};
std::optional<Scaling> ScalingOf(const Pattern& pattern, const Value* value) {
  for (int steps = 0; steps < kMaxSteps && value && Rewriter::UsedOnce(value); ++steps) {
    for (std::string_view op : {"mul", "div"}) {
      Node* node = pattern.By(value, op);
      const auto with = node ? Pattern::NumberOperand(*node) : std::nullopt;
      if (!with || (with->first && op == "div") || !SameShape(with->other, value)) continue;
      return Scaling{node, op == "div" ? 1 / with->number : with->number};
    }
    const Node* move = pattern.By(value, OnlyMoves);
    if (!move) break;
    value = move->input(0);
  }
  return std::nullopt;
}

absl::StatusOr<bool> ScaleOnce(Rewriter& r) {
  const Pattern pattern(r);
  const auto a = ScalingOf(pattern, r.in(0)), b = ScalingOf(pattern, r.in(1));
  if (!a || !b) return false;
  const DType type = r.out()->dtype();
  const double both = a->factor * b->factor;
  for (double number : {a->factor, b->factor, both}) {
    if (!IsModerate(number, type)) return false;
  }
  const Shape *of_a = r.in(0)->shape(), *of_b = r.in(1)->shape();
  const auto size_a = of_a ? of_a->NumElements() : Dim(),
             size_b = of_b ? of_b->NumElements() : Dim();
  const bool keep_a =
      !(size_a.is_static() && size_b.is_static() && size_b.value() < size_a.value());
  Node& keep = keep_a ? *a->node : *b->node;
  Node& drop = keep_a ? *b->node : *a->node;
  const auto kept = Pattern::NumberOperand(keep), dropped = Pattern::NumberOperand(drop);
  const double number = keep.Is("div") ? 1 / both : both;
  r.SetInput(keep, kept->first ? 0 : 1, r.b().Scalar(type, number));
  r.ReplaceUses(drop.output(0), dropped->other);
  return true;
}
X2IR_RULE(hoist_scale, matmul, ScaleOnce);

}  // namespace
}  // namespace x2ir
