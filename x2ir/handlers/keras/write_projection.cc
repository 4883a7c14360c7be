// Keras, written: projections of attention.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/write_attention_parts.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"

namespace x2ir {
namespace {

const std::vector<int64_t> kAsTheyAre = {0, 1, 2, 3}, kHeadsBeforeLength = {0, 2, 1, 3};
constexpr int kMostMoves = 8;  // between a projection and a product

// A constant of these dims, after dims of 1.
std::optional<Tensor> AddedBias(const Value* value, const std::vector<int64_t>& dims) {
  auto tensor = ConstantAfterMoves(value);
  if (!tensor) return std::nullopt;
  std::vector<int64_t> own = tensor->dims();
  while (own.size() > dims.size() && own[0] == 1) own.erase(own.begin());
  return own == dims ? std::optional(tensor->Reshaped(dims)) : std::nullopt;
}

// [batch, heads, ..] of which `value` has each head several times over, one after the other.
struct RepeatedHead {
  Value* of;
  int64_t times;
};
std::optional<RepeatedHead> RepeatedHeadsOf(const Value* value) {
  const Node* reshape = MadeBy(value, "reshape");
  if (!reshape || !IsOfRank(value, 4) || !IsOfRank(reshape->input(0), 5)) return std::nullopt;
  const Value* apart = reshape->input(0);
  const Value* one = nullptr;
  if (const Node* concat = MadeBy(apart, "concat")) {
    const int64_t axis = concat->attrs().Int("axis");
    if (axis != 2 && axis != -3) return std::nullopt;
    for (size_t i = 0; i < concat->num_inputs(); ++i) {
      const Node *first = MadeBy(concat->input(0), "unsqueeze"),
                 *other = MadeBy(concat->input(i), "unsqueeze");
      if (!first || !other || first->input(0) != other->input(0)) return std::nullopt;
      if (DimAt(concat->input(i), 2) != Dim(1)) return std::nullopt;
    }
    one = concat->input(0);
  } else if (const Node* expand = MadeBy(apart, "expand")) {
    one = expand->input(0);
  }
  const Node* unsqueeze = MadeBy(one, "unsqueeze");
  if (!unsqueeze || !IsOfRank(one, 5) || !IsOfRank(unsqueeze->input(0), 4)) return std::nullopt;
  Value* of = unsqueeze->input(0);
  const Dim times = DimAt(apart, 2), heads = DimAt(of, 1);
  if (!times.is_static() || !heads.is_static() || DimAt(one, 2) != Dim(1) ||
      DimAt(one, 1) != heads || DimAt(apart, 1) != heads ||
      DimAt(value, 1) != Dim(heads.value() * times.value())) {
    return std::nullopt;
  }
  for (const int64_t i : {0, 2, 3}) {
    if (!ProvablyEqual(DimAt(value, i), DimAt(of, i))) return std::nullopt;
  }
  return RepeatedHead{of, times.value()};
}

}  // namespace

Node* MadeBy(const Value* value, std::string_view op) {
  Node* node = value ? value->producer() : nullptr;
  return node && node->Is(op) && node->graph() == value->graph() ? node : nullptr;
}
Node* UserOf(const Value* value) {
  Node* only = nullptr;
  if (!value || value->is_graph_output()) return nullptr;
  for (const Use& use : value->uses()) {
    if (use.node->Is("shape")) continue;
    if (only) return nullptr;
    only = use.node;
  }
  return only && only->graph() == value->graph() ? only : nullptr;
}
Node* OnlyUser(const Value* value, std::string_view op) {
  Node* node = UserOf(value);
  return node && node->Is(op) ? node : nullptr;
}

bool IsOfRank(const Value* x, int64_t rank) {
  return x && x->shape() && x->shape()->rank() == rank;
}

std::optional<Tensor> ConstantAfterMoves(const Value* value, int depth) {
  if (const Tensor* tensor = DenseConstant(value)) {
    return tensor->is_string() ? std::nullopt : std::optional(*tensor);
  }
  const Node *reshape = MadeBy(value, "reshape"), *transpose = MadeBy(value, "transpose");
  if ((!reshape && !transpose) || depth > 2) return std::nullopt;
  const Node& move = reshape ? *reshape : *transpose;
  auto inner = ConstantAfterMoves(move.input(0), depth + 1);
  if (!inner) return std::nullopt;
  if (transpose) {
    const std::vector<int64_t> perm = transpose->attrs().Ints("perm", {});
    if (static_cast<int64_t>(perm.size()) != inner->rank()) return std::nullopt;
    return TransposeWeight(*inner, perm);
  }
  const auto dims = value->shape() ? value->shape()->Static() : std::nullopt;
  return dims ? std::optional(inner->Reshaped(*dims)) : std::nullopt;
}

AndBias TakeAddedBias(Value* value, const std::vector<int64_t>& dims) {
  if (const Node* add = MadeBy(value, "add")) {
    for (const size_t i : {0, 1}) {
      Value* x = add->input(i);
      if (!IsOfRank(x, value->shape() ? value->shape()->rank() : -1)) continue;
      if (auto bias = AddedBias(add->input(1 - i), dims)) return {x, std::move(bias)};
    }
  }
  return {value, std::nullopt};
}

std::optional<Projection> ProjectionOf(Value* value, const std::vector<int64_t>& order) {
  Projection p;
  std::vector<int64_t> perm = kAsTheyAre, after_repeats;
  for (int step = 0; step < kMostMoves; ++step) {
    // What something else uses stays, and its weights would be there twice.
    if (!UserOf(value) && (after_repeats.empty() || perm != kAsTheyAre)) return std::nullopt;
    if (const Node* transpose = MadeBy(value, "transpose")) {
      const std::vector<int64_t> moves = transpose->attrs().Ints("perm", {});
      if (moves.size() != 4) return std::nullopt;
      for (int64_t& axis : perm) axis = moves[static_cast<size_t>(axis)];
      value = transpose->input(0);
    } else if (const Node* mul = MadeBy(value, "mul"), *div = MadeBy(value, "div"); mul || div) {
      const auto number = Pattern::NumberOperand(mul ? *mul : *div);
      if (!number || (div && number->first)) break;
      p.factor = div ? p.factor / number->number : p.factor * number->number;
      value = number->other;
    } else if (const auto repeated = RepeatedHeadsOf(value); repeated && p.times == 1) {
      p.times = repeated->times;
      after_repeats = std::exchange(perm, kAsTheyAre);
      value = repeated->of;
    } else {
      break;
    }
  }
  if (!after_repeats.empty()) {
    if (perm != kHeadsBeforeLength) return std::nullopt;
    for (size_t i = 0; i < 4; ++i)
      perm[i] = kHeadsBeforeLength[static_cast<size_t>(after_repeats[i])];
  }
  if (perm != order || !IsOfRank(value, 4)) return std::nullopt;
  const Dim heads = DimAt(value, 2), size = DimAt(value, 3);
  if (!heads.is_static() || !size.is_static()) return std::nullopt;
  p.heads = heads.value(), p.size = size.value();
  AndBias own = TakeAddedBias(value, {p.heads, p.size});
  const Node* reshape = MadeBy(own.x, "reshape");
  Value* flat = reshape ? reshape->input(0) : nullptr;
  const int64_t width = p.heads * p.size;
  if (!IsOfRank(flat, 3) || DimAt(flat, 2) != Dim(width) ||
      !ProvablyEqual(DimAt(flat, 0), DimAt(value, 0)) ||
      !ProvablyEqual(DimAt(flat, 1), DimAt(value, 1))) {
    return std::nullopt;
  }
  if (!UserOf(own.x) || !UserOf(flat)) return std::nullopt;
  if (own.bias) {
    own.x = flat;
  } else {
    own = TakeAddedBias(flat, {width});
  }
  if (own.bias) p.bias = own.bias->Reshaped({p.heads, p.size});
  const Node* product = MadeBy(own.x, "matmul");
  if (!product || !UserOf(own.x) || !IsOfRank(product->input(0), 3)) return std::nullopt;
  p.x = product->input(0);
  const auto kernel = ConstantAfterMoves(product->input(1));
  if (!kernel || kernel->rank() != 2 || kernel->dim(1) != width) return std::nullopt;
  p.kernel = kernel->Reshaped({kernel->dim(0), p.heads, p.size});
  return p;
}

}  // namespace x2ir
