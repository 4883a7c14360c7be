// fuse_attention: what programs write around attention becomes part of it, where the target has the
// op.
// The rules of rotary embeddings (1, 2) are in fuse_rotary.cc, that of the formula of attention (6)
// in fuse_attention_formula.cc.
//  3. Keys and values that are repeated for runs of heads (unsqueeze, expand, reshape) are shared.
//  4. A constant mask that lets each query see what is before it, and itself, is `is_causal`; one
//     that lets them see everything goes.
//  5. Heads that were taken out of [batch, length, heads * size] by a transpose are left where they
//     are: attention and rotary_embedding take them so, by how many there are. Of attention
//     queries, keys, values and results are all so.
// Numbers are those of before, but for the order of two products in a sum.
#include <algorithm>
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

X2IR_RULES_PASS(fuse_attention, "What programs write around attention becomes part of it.");

const std::vector<int64_t> kHeadsAside = {0, 2, 1, 3};

}  // namespace

bool TakesRows(const Rewriter& r) {
  const Target* target = r.context().target;
  return target && target->Says("attention", "q_num_heads", Attribute(int64_t{2}));
}

bool TargetHas(const Rewriter& r, Symbol op) {
  return r.context().target && r.context().target->Has(op);
}

Values OperandsOf(const Node& node) {
  Values operands;
  for (size_t i = 0; i < node.num_inputs(); ++i) operands.push_back(node.input(i));
  return operands;
}

// The size of that axis of a value of rank 4, where it is known; else -1.
int64_t SizeOf4(const Value* value, int64_t axis) {
  const Shape* s = value ? value->shape() : nullptr;
  return s && s->rank() == 4 && (*s)[axis].is_static() ? (*s)[axis].value() : -1;
}

bool HasKnownHeads(const Value* x) { return SizeOf4(x, 1) > 0 && SizeOf4(x, 3) > 0; }

namespace {

// --- Heads that are shared ------------------------------------------------------------------

struct Repeated {
  Value* of;             // [batch, heads, 1, length, size]
  int64_t heads, times;  // each head, one after the other
};
std::optional<Repeated> RepeatedHeads(const Pattern& pattern, const Value* value) {
  const Node* reshape = pattern.By(value, "reshape");
  const Node* expand = reshape ? pattern.By(reshape->input(0), "expand") : nullptr;
  if (!expand) return std::nullopt;
  const Shape *one = expand->input(0)->shape(), *all = expand->output(0)->shape();
  const Shape* flat = value->shape();
  if (!one || !all || !flat || one->rank() != 5 || all->rank() != 5 || flat->rank() != 4 ||
      (*one)[2] != Dim(1) || !(*all)[2].is_static() || !(*one)[1].is_static()) {
    return std::nullopt;
  }
  for (const int64_t i : {0, 1, 3, 4}) {
    if (!ProvablyEqual((*one)[i], (*all)[i])) return std::nullopt;
    if (i != 1 && !ProvablyEqual((*one)[i], (*flat)[i == 0 ? 0 : i - 1])) return std::nullopt;
  }
  const int64_t heads = (*one)[1].value(), times = (*all)[2].value();
  if (heads < 1 || times < 1 || (*flat)[1] != Dim(heads * times)) return std::nullopt;
  return Repeated{expand->input(0), heads, times};
}

// [batch, heads, length, size], from where an axis was put between.
Value* WithoutRepeats(Rewriter& r, const Pattern& pattern, Value* one) {
  const Node* transpose = pattern.By(one, "transpose");
  if (transpose && transpose->attrs().Ints("perm") == std::vector<int64_t>{0, 3, 2, 1, 4}) {
    return Transpose(Squeeze({r.b(), transpose->input(0)}, {2}), kHeadsAside);
  }
  const Node* unsqueeze = pattern.By(one, "unsqueeze");
  if (unsqueeze && SizeOf4(unsqueeze->input(0), 1) >= 0) return unsqueeze->input(0);
  return Squeeze({r.b(), one}, {2});
}

absl::StatusOr<bool> ShareHeads(Rewriter& r) {
  if (!TargetHas(r, "attention") || r.node().num_inputs() > 4 || r.node().num_outputs() > 1) {
    return false;
  }
  const Pattern pattern(r);
  const auto k = RepeatedHeads(pattern, r.in(1)), v = RepeatedHeads(pattern, r.in(2));
  if (!k || !v || k->times != v->times || k->heads != v->heads || r.attrs().Has("kv_num_heads") ||
      SizeOf4(r.in(0), 1) != k->heads * k->times) {
    return false;
  }
  Values operands = OperandsOf(r.node());
  operands[1] = WithoutRepeats(r, pattern, k->of);
  operands[2] = WithoutRepeats(r, pattern, v->of);
  return r.Replace(r.b().Op("attention", operands, r.attrs()));
}
X2IR_RULE(fuse_attention, attention, ShareHeads, {"reshape"});

// --- Masks ----------------------------------------------------------------------------------

absl::StatusOr<bool> FoldMask(Rewriter& r) {
  if (!TargetHas(r, "attention") || r.node().num_inputs() != 4 || r.node().num_outputs() > 1) {
    return false;
  }
  const Value* mask = r.in(3);
  if (const Node* expand = Pattern(r).By(mask, "expand")) mask = expand->input(0);
  const Tensor* tensor = DenseConstant(mask);
  const Shape *q = r.in(0)->shape(), *k = r.in(1)->shape();
  const int64_t rank = tensor ? tensor->rank() : 0;
  if (rank < 2 || tensor->dtype() != DType::kBool || !q || !k || q->rank() < 2 || k->rank() < 2) {
    return false;
  }
  const int64_t rows = tensor->dim(rank - 2), columns = tensor->dim(rank - 1);
  const Dim queries = (*q)[q->rank() - 2], keys = (*k)[k->rank() - 2];
  if (keys != Dim(columns)) return false;
  bool all = true, lower = rows > 1 && rows == columns && queries == keys;
  const std::byte* yes = tensor->bytes().data();
  for (int64_t i = 0; i < tensor->num_elements() && (all || lower); ++i) {
    const bool sees = yes[i] != std::byte{0};
    all = all && sees;
    lower = lower && sees == (i % columns <= i / columns % rows);
  }
  if (!all && !lower) return false;
  AttributeMap attrs = r.attrs();
  if (!all) attrs.Set("is_causal", int64_t{1});
  return r.Replace(r.b().Op("attention", {r.in(0), r.in(1), r.in(2)}, attrs));
}
X2IR_RULE(fuse_attention, attention, FoldMask);

// --- Heads where they are -------------------------------------------------------------------

bool PutsHeadsAside(const Node* node) {
  return node && node->is_ir() && node->op() == "transpose" &&
         node->attrs().Ints("perm") == kHeadsAside;
}

// [batch, length, heads * size] of heads that a transpose put aside.
Value* InRows(Rewriter& r, const Value* x) {
  const int64_t width = SizeOf4(x, 1) * SizeOf4(x, 3);
  Value* words = x->producer()->input(0);  // [batch, length, heads, size]
  const Node* reshape = Pattern(r).By(words, "reshape");
  const Shape* from = reshape ? reshape->input(0)->shape() : nullptr;
  const Shape& to = *words->shape();
  if (from && from->rank() == 3 && (*from)[2] == Dim(width) && ProvablyEqual((*from)[0], to[0]) &&
      ProvablyEqual((*from)[1], to[1])) {
    return reshape->input(0);
  }
  return r.b().Op("reshape", {words, r.b().Ints({0, 0, width}, "width")});
}
Expr ByHeads(const Expr& x, int64_t heads, int64_t size) {
  return Transpose(x.Op("reshape", {x.builder().Ints({0, 0, heads, size}, "heads")}), kHeadsAside);
}

bool IsTransposedHeads(const Pattern& pattern, const Value* x) {
  return HasKnownHeads(x) && PutsHeadsAside(pattern.By(x, "transpose"));
}

bool AllUsersPutHeadsAside(const Value& value) {
  if (value.is_graph_output() || value.uses().empty()) return false;
  for (const Use& use : value.uses()) {
    if (!PutsHeadsAside(use.node)) return false;
  }
  return true;
}

absl::StatusOr<bool> RotaryInRows(Rewriter& r) {
  if (!TargetHas(r, "rotary_embedding") || !TakesRows(r)) return false;
  if (!IsTransposedHeads(Pattern(r), r.in(0))) return false;
  const int64_t heads = SizeOf4(r.in(0), 1), size = SizeOf4(r.in(0), 3);
  AttributeMap attrs = r.attrs();
  attrs.Set("num_heads", heads);
  Values operands = OperandsOf(r.node());
  operands[0] = InRows(r, r.in(0));
  const Expr y{r.b(), r.b().Op("rotary_embedding", operands, attrs)};
  return r.Replace(ByHeads(y, heads, size));
}
X2IR_RULE(fuse_attention, rotary_embedding, RotaryInRows, {"transpose"});

absl::StatusOr<bool> AttentionInRows(Rewriter& r) {
  if (!TakesRows(r) || r.node().num_outputs() > 1) return false;
  const Pattern pattern(r);
  for (size_t i = 0; i < 3; ++i) {
    if (!IsTransposedHeads(pattern, r.in(i))) return false;
  }
  // ONNX Runtime 1.23 computes nonsense of shared heads of 16 bits in this form.
  if (SizeOf4(r.in(0), 1) != SizeOf4(r.in(1), 1) && BitWidth(r.in(0)->dtype()) < 32) return false;
  if (!AllUsersPutHeadsAside(*r.out())) return false;
  const int64_t heads = SizeOf4(r.in(0), 1), shared = SizeOf4(r.in(1), 1);
  const int64_t size = SizeOf4(r.in(2), 3);
  if (SizeOf4(r.in(2), 1) != shared) return false;
  AttributeMap attrs = r.attrs();
  attrs.Set("q_num_heads", heads);
  attrs.Set("kv_num_heads", shared);
  Values operands = OperandsOf(r.node());
  for (size_t i = 0; i < 3; ++i) operands[i] = InRows(r, operands[i]);
  const Expr y{r.b(), r.b().Op("attention", operands, attrs)};
  return r.Replace(ByHeads(y, heads, size));
}
X2IR_RULE(fuse_attention, attention, AttentionInRows, {"transpose"});

}  // namespace
}  // namespace x2ir
