// Rules of fuse_attention for rotary embeddings (see fuse_attention.cc).
//  1. x * cos + concat(-b, a) * sin, where a and b are the halves of each head x, is
//     rotary_embedding: of cosines and sines whose halves are provably the same, for all heads. The
//     caches have a row for each position, of one sequence or of all, and positions number them.
//     So is concat(a * cos - b * sin, b * cos + a * sin). Heads are before the length or after it.
//  2. concat(rotary_embedding(x[:n]), x[n:]) along a head turns its first n numbers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/optimizer/fuse_attention_internal.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

// --- Rotary embeddings ----------------------------------------------------------------------

// x[from:to] along the last axis of four.
struct Range {
  Value* of;
  int64_t from, to;
};
std::optional<Range> RangeOf(const Pattern& pattern, const Value* value) {
  const Node* slice = pattern.By(value, "slice");
  const int64_t size = slice ? SizeOf4(slice->input(0), 3) : -1;
  if (size < 0) return std::nullopt;
  const auto number = [&](size_t i) -> std::optional<int64_t> {
    const auto all = i < slice->num_inputs() ? KnownElements(slice->input(i)) : std::nullopt;
    if (!all || all->size() != 1 || !(*all)[0].is_static()) return std::nullopt;
    return (*all)[0].value();
  };
  const auto axis = number(3), from = number(1);
  const bool steps = slice->num_inputs() > 4 && slice->input(4);
  if (!axis || (*axis != 3 && *axis != -1) || (steps && number(4) != 1) || !from) {
    return std::nullopt;
  }
  const int64_t start = *from < 0 ? *from + size : *from, length = SizeOf4(value, 3);
  if (start < 0 || length < 0 || start + length > size) return std::nullopt;
  return Range{slice->input(0), start, start + length};
}

// Whether the second half of the last axis is the first one again, in every run.
bool HasEqualHalves(const Value* value, int64_t size, int depth = 0) {
  constexpr int kDeepest = 16;
  const Shape* s = value ? value->shape() : nullptr;
  if (!s || s->rank() < 1 || s->dims().back() != Dim(size) || size < 2 || size % 2 != 0) {
    return false;
  }
  if (const Tensor* tensor = DenseConstant(value)) {
    const size_t row = tensor->nbytes() * static_cast<size_t>(size) /
                       static_cast<size_t>(std::max<int64_t>(tensor->num_elements(), 1));
    const std::byte* x = tensor->bytes().data();
    for (size_t at = 0; at + row <= tensor->nbytes(); at += row) {
      if (std::memcmp(x + at, x + at + row / 2, row / 2) != 0) return false;
    }
    return BitWidth(tensor->dtype()) >= 8;
  }
  const Node* node = value->producer();
  if (!node || !node->is_ir() || depth == kDeepest) return false;
  const auto is = [&](std::string_view op) { return node->op() == op; };
  if (is("concat")) {
    const int64_t axis = node->attrs().Int("axis");
    return (axis == -1 || axis == s->rank() - 1) && node->num_inputs() == 2 &&
           node->input(0) == node->input(1);
  }
  // What models have between the halves and the product, of all ops that keep halves equal.
  if (is("cos") || is("sin") || is("cast") || is("unsqueeze") || is("neg") || is("identity")) {
    return HasEqualHalves(node->input(0), size, depth + 1);
  }
  if (is("mul")) {
    for (size_t i : {0, 1}) {
      const Shape* other = node->input(1 - i)->shape();
      const bool one = other && (other->rank() == 0 || other->dims().back() == Dim(1));
      if (one && HasEqualHalves(node->input(i), size, depth + 1)) return true;
    }
  }
  return false;
}

// Cosines and sines of the angles: of one number for each two of a head, or of both halves.
struct Angles {
  Value *cos, *sin;
  int64_t heads_at;  // the axis of the heads: 1 of [batch, heads, length, size], or 2
};

// Whether they are for all heads of x alike, by sequence or for all of them.
std::optional<Angles> AnglesOf(const Value* x, Value* cos, Value* sin, int64_t width) {
  const Shape &all = *x->shape(), *c = cos->shape(), *s = sin->shape();
  if (!c || !s || c->rank() != 4 || !SameShape(c, s) || (*c)[3] != Dim(width) ||
      cos->dtype() != x->dtype() || sin->dtype() != x->dtype() ||
      ((*c)[0] != Dim(1) && !ProvablyEqual((*c)[0], all[0]))) {
    return std::nullopt;
  }
  for (const int64_t heads_at : {1, 2}) {
    const int64_t length_at = 3 - heads_at;
    if ((*c)[heads_at] == Dim(1) && ProvablyEqual((*c)[length_at], all[length_at])) {
      return Angles{cos, sin, heads_at};
    }
  }
  return std::nullopt;
}

// rotary_embedding of x, with caches of half as many numbers as a head has.
Value* Turned(Rewriter& r, Value* x, const Angles& angles) {
  const Expr in{r.b(), x};
  const int64_t size = SizeOf4(x, 3), half = size / 2;
  const bool of_one = (*angles.cos->shape())[0] == Dim(1);
  const Size batch = SizeAt(in, 0), length = SizeAt(in, 3 - angles.heads_at);
  const Size rows = of_one ? length : Times(r.b(), batch, length);
  const Expr count = Iota(Scalar(r.b(), rows));
  Value* sizes = Vector(r.b(), {batch, length});
  const Expr positions = of_one ? Expand(count, sizes) : ReshapeTo(count, sizes);
  const auto cache = [&](Value* numbers) {
    const Expr all{r.b(), numbers};
    const bool twice = SizeOf4(numbers, 3) == size;
    return Reshape(twice ? Slice(all, 3, Size(0), Size(half)) : all, {-1, half});
  };
  const Expr cos = cache(angles.cos), sin = cache(angles.sin);
  if (angles.heads_at == 1) return in.Op("rotary_embedding", {cos, sin, positions});
  const int64_t heads = SizeOf4(x, 2);
  const Expr flat = in.Op("reshape", {r.b().Ints({0, 0, heads * size}, "width")});
  const Expr y = flat.Op("rotary_embedding", {cos, sin, positions}, {{"num_heads", heads}});
  return y.Op("reshape", {r.b().Ints({0, 0, heads, size}, "heads")});
}

bool TakesTurned(const Rewriter& r, const Angles& angles, const Value* x) {
  if (!r.context().target->Takes("rotary_embedding", 0, x->dtype())) return false;
  return angles.heads_at == 1 || (TakesRows(r) && SizeOf4(x, 2) > 0);
}

// x of two halves of the last axis, one after the other.
Value* WholeOf(const std::optional<Range>& first, const std::optional<Range>& second) {
  if (!first || !second || first->of != second->of) return nullptr;
  const int64_t size = SizeOf4(first->of, 3), half = size / 2;
  const bool fits = first->from == 0 && first->to == half && second->from == half &&
                    second->to == size && size >= 2 && size % 2 == 0;
  return fits ? first->of : nullptr;
}

bool IsLastAxis(int64_t axis) { return axis == 3 || axis == -1; }

absl::StatusOr<bool> FuseRotary(Rewriter& r) {
  if (!TargetHas(r, "rotary_embedding")) return false;
  const Pattern pattern(r);
  for (size_t i : {0, 1}) {
    const Node* plain = pattern.OnlyBy(r.in(i), "mul");
    const Node* crossed = pattern.OnlyBy(r.in(1 - i), "mul");
    if (!plain || !crossed) continue;
    for (size_t j : {0, 1}) {
      const Node* halves = pattern.OnlyBy(crossed->input(j), "concat");
      const Node* neg =
          halves && halves->num_inputs() == 2 ? pattern.OnlyBy(halves->input(0), "neg") : nullptr;
      if (!neg || !IsLastAxis(halves->attrs().Int("axis"))) continue;
      Value* x = WholeOf(RangeOf(pattern, halves->input(1)), RangeOf(pattern, neg->input(0)));
      if (!x || (plain->input(0) != x && plain->input(1) != x)) continue;
      const int64_t size = SizeOf4(x, 3);
      Value* cos = plain->input(plain->input(0) == x ? 1 : 0);
      Value* sin = crossed->input(1 - j);
      const auto angles = AnglesOf(x, cos, sin, size);
      if (!angles || !TakesTurned(r, *angles, x)) continue;
      if (!HasEqualHalves(cos, size) || !HasEqualHalves(sin, size)) continue;
      return r.Replace(Turned(r, x, *angles));
    }
  }
  return false;
}
X2IR_RULE(fuse_attention, add, FuseRotary, {"mul"});

// A half of a head by cosines or sines.
struct TurnedHalf {
  Range half;
  Value* by;
};
std::optional<TurnedHalf> TurnedHalfOf(const Pattern& pattern, const Value* value) {
  const Node* mul = pattern.OnlyBy(value, "mul");
  for (size_t i = 0; mul && i < 2; ++i) {
    if (const auto half = RangeOf(pattern, mul->input(i))) {
      return TurnedHalf{*half, mul->input(1 - i)};
    }
  }
  return std::nullopt;
}

absl::StatusOr<bool> FuseRotaryHalves(Rewriter& r) {
  if (!TargetHas(r, "rotary_embedding") || r.node().num_inputs() != 2 ||
      !IsLastAxis(r.attrs().Int("axis"))) {
    return false;
  }
  const Pattern pattern(r);
  const Node *sub = pattern.OnlyBy(r.in(0), "sub"), *add = pattern.OnlyBy(r.in(1), "add");
  if (!sub || !add) return false;
  const auto a_cos = TurnedHalfOf(pattern, sub->input(0));
  const auto b_sin = TurnedHalfOf(pattern, sub->input(1));
  for (const size_t i : {0, 1}) {
    const auto b_cos = TurnedHalfOf(pattern, add->input(i));
    const auto a_sin = TurnedHalfOf(pattern, add->input(1 - i));
    if (!a_cos || !b_sin || !b_cos || !a_sin || a_cos->by != b_cos->by || a_sin->by != b_sin->by) {
      continue;
    }
    Value* x = WholeOf(a_cos->half, b_sin->half);
    if (!x || WholeOf(a_sin->half, b_cos->half) != x) continue;
    const auto angles = AnglesOf(x, a_cos->by, a_sin->by, SizeOf4(x, 3) / 2);
    if (!angles || !TakesTurned(r, *angles, x)) continue;
    return r.Replace(Turned(r, x, *angles));
  }
  return false;
}
X2IR_RULE(fuse_attention, concat, FuseRotaryHalves, {"sub"});

absl::StatusOr<bool> FusePartialRotary(Rewriter& r) {
  const Pattern pattern(r);
  const int64_t axis = r.attrs().Int("axis");
  if (r.node().num_inputs() != 2 || (axis != 3 && axis != -1)) return false;
  const Node* rotary = pattern.OnlyBy(r.in(0), "rotary_embedding");
  if (!rotary || rotary->attrs().Int("rotary_embedding_dim") != 0) return false;
  const auto turned = RangeOf(pattern, rotary->input(0)), rest = RangeOf(pattern, r.in(1));
  if (!turned || !rest || turned->of != rest->of || turned->from != 0 || turned->to != rest->from ||
      rest->to != SizeOf4(rest->of, 3)) {
    return false;
  }
  if (!HasKnownHeads(turned->of)) return false;
  AttributeMap attrs = rotary->attrs();
  attrs.Set("num_heads", SizeOf4(turned->of, 1));  // ONNX Runtime asks for it
  attrs.Set("rotary_embedding_dim", turned->to);
  Values operands = OperandsOf(*rotary);
  operands[0] = turned->of;
  return r.Replace(r.b().Op("rotary_embedding", operands, attrs));
}
X2IR_RULE(fuse_attention, concat, FusePartialRotary, {"rotary_embedding"});

}  // namespace
}  // namespace x2ir
