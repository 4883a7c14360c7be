// Attention as ONNX Runtime's own ops (contrib_fusions.h): MultiHeadAttention, and
// GroupQueryAttention, which is causal, whose heads may share keys, and which appends new keys to
// those of a cache. The kernels want queries, keys and values as [batch, length, width].
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/onnx/contrib_fusion_util.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

enum AttentionOperand { kQ, kK, kV, kMask, kPastKey, kPastValue };

Dim SizeAtAxis(const Value* x, int64_t axis) {
  return x->shape() && x->shape()->rank() > axis ? (*x->shape())[axis] : Dim();
}

bool PutsHeadsAside(const Node& node) {
  return node.Is("transpose") && node.attrs().Ints("perm", {}) == std::vector<int64_t>{0, 2, 1, 3};
}

// [batch, length, width], of which these heads were taken; else null. Of one word no transpose is
// needed.
Value* RowsOf(const Value* heads, const Graph& graph) {
  const Shape* to = heads->shape();
  const Node* transpose = MadeByIr(heads, "transpose", graph);
  const bool aside = transpose && PutsHeadsAside(*transpose);
  const Node* reshape = MadeByIr(aside ? transpose->input(0) : heads, "reshape", graph);
  if (!aside && (*to)[2] != Dim(1)) return nullptr;
  const Shape* from = reshape ? reshape->input(0)->shape() : nullptr;
  if (!from || from->rank() != 3 || !(*to)[1].is_static() || !(*to)[3].is_static() ||
      !ProvablyEqual((*from)[0], (*to)[0]) || !ProvablyEqual((*from)[1], (*to)[2]) ||
      (*from)[2] != Dim((*to)[1].value() * (*to)[3].value())) {
    return nullptr;
  }
  return reshape->input(0);
}

// What the only use of the value makes of it, with heads and length changed; else null.
Value* AsideOf(const Value& heads) {
  if (!IsUsedOnce(heads)) return nullptr;
  const Node& user = *heads.uses()[0].node;
  Value* y = user.is_ir() && PutsHeadsAside(user) ? user.output(0) : nullptr;
  return y && y->shape() && (*y->shape())[3].is_static() ? y : nullptr;
}

// --- Masks ---------------------------------------------------------------------------------------

// first, first + 1, ... along one axis, of all axes that have more than one element.
struct Progression {
  Dim first, count;
};
std::optional<Progression> ProgressionOf(const Value* x) {
  for (int depth = 0; depth < 16; ++depth) {
    if (const auto elements = KnownElements(x); elements && !elements->empty()) {
      for (size_t i = 1; i < elements->size(); ++i) {
        if ((*elements)[i] != (*elements)[0] + Dim(static_cast<int64_t>(i))) return std::nullopt;
      }
      return Progression{(*elements)[0], Dim(static_cast<int64_t>(elements->size()))};
    }
    if (const Tensor* tensor = x->fixed_constant(); tensor && IsInteger(tensor->dtype())) {
      const int64_t n = tensor->num_elements();
      if (n < 1 || n > 4096 || tensor->is_sparse()) return std::nullopt;
      for (int64_t i = 1; i < n; ++i) {
        if (tensor->AsInt(i) != tensor->AsInt(0) + i) return std::nullopt;
      }
      return Progression{Dim(tensor->AsInt(0)), Dim(n)};
    }
    const Node* node = x->producer();
    if (!node || !node->is_ir()) return std::nullopt;
    if (node->Is("range")) {
      const auto first = KnownElements(node->input(0)), end = KnownElements(node->input(1)),
                 step = KnownElements(node->input(2));
      if (!first || !end || !step || (*step)[0] != Dim(1)) return std::nullopt;
      return Progression{(*first)[0], (*end)[0] - (*first)[0]};
    }
    if (!node->Is("reshape") && !node->Is("unsqueeze") && !node->Is("squeeze") &&
        !node->Is("identity") && !node->Is("cast")) {
      return std::nullopt;
    }
    x = node->input(0);
  }
  return std::nullopt;
}

// Whether all sizes but that of an axis, counted from the end, are 1.
bool LiesAlong(const Value& x, int64_t from_end) {
  const Shape* s = x.shape();
  if (!s) return false;
  for (int64_t i = 0; i < s->rank(); ++i) {
    if (s->rank() - i != from_end && (*s)[i] != Dim(1)) return false;
  }
  return true;
}

// Whether a query sees a key, by element i of the mask; nullopt for other numbers.
std::optional<bool> Looks(const Tensor& mask, int64_t i) {
  if (mask.dtype() == DType::kBool) return mask.AsInt(i) != 0;
  const double x = mask.AsDouble(i);
  constexpr double kNever = -1e30;  // a weight of 0, of float32
  return x == 0 ? std::optional(true) : x <= kNever ? std::optional(false) : std::nullopt;
}

// Whether query i sees keys 0 to past + i, in every run.
bool IsCausal(const Value* mask, const Dim& past, const Dim& queries, const Dim& keys) {
  if (!mask) return queries == Dim(1);
  if (const Tensor* tensor = mask->fixed_constant()) {
    if (tensor->is_sparse() || tensor->rank() < 2 || !past.is_static()) return false;
    const int64_t columns = tensor->dim(tensor->rank() - 1), rows = tensor->dim(tensor->rank() - 2);
    if (Dim(columns) != keys || (Dim(rows) != queries && rows != 1)) return false;
    if (rows == 1 && queries != Dim(1)) return false;
    for (int64_t i = 0; i < tensor->num_elements(); ++i) {
      if (Looks(*tensor, i) != (i % columns <= past.value() + i / columns % rows)) return false;
    }
    return true;
  }
  const Node* node = mask->producer();
  for (int depth = 0; node && node->Is("expand") && depth < 8; ++depth) {
    node = node->input(0)->producer();
  }
  if (!node || (!node->Is("less_or_equal") && !node->Is("greater_or_equal"))) return false;
  const size_t key = node->Is("less_or_equal") ? 0 : 1;
  const Value *k = node->input(key), *q = node->input(1 - key);
  const auto at = ProgressionOf(k), to = ProgressionOf(q);
  return at && to && LiesAlong(*k, 1) && LiesAlong(*q, 2) && at->first == Dim(0) &&
         ProvablyEqual(at->count, keys) && ProvablyEqual(to->first, past) &&
         ProvablyEqual(to->count, queries);
}

// Whether an addend of scores hides, from every query, the keys after it: somewhere in its sum is
// where(test & ..., x, never), and the test is causal.
bool ImpliesCausal(const Value* mask, const Dim& past, const Dim& queries, const Dim& keys,
                   int depth = 0) {
  const Node* node = mask->producer();
  if (!node || !node->is_ir() || depth > 8) return false;
  const auto either = [&](auto&& holds) { return holds(node->input(0)) || holds(node->input(1)); };
  if (node->Is("add") || node->Is("and")) {
    return either([&](const Value* x) { return ImpliesCausal(x, past, queries, keys, depth + 1); });
  }
  if (node->Is("where")) {
    const Tensor* never = node->input(2)->fixed_constant();
    if (!never || never->is_sparse() || never->num_elements() != 1) return false;
    return Looks(*never, 0) == false &&
           ImpliesCausal(node->input(0), past, queries, keys, depth + 1);
  }
  if (node->Is("unsqueeze")) return ImpliesCausal(node->input(0), past, queries, keys, depth + 1);
  return mask->dtype() == DType::kBool && IsCausal(mask, past, queries, keys);
}

// Whether it can be added to the scores: each size is the score's, and batch and heads may be 1,
// rows too, which are written out then.
bool IsBias(const Value& mask, DType dtype, const std::vector<Dim>& scores) {
  const Shape* shape = mask.shape();
  if (mask.dtype() != dtype || !shape || shape->rank() != 4) return false;
  for (int64_t i = 0; i < 4; ++i) {
    const bool one = i < 3 && (*shape)[i] == Dim(1);
    if (!one && !ProvablyEqual((*shape)[i], scores[static_cast<size_t>(i)])) return false;
  }
  return true;
}

// What a mask of "yes" and "no" adds to the scores.
Expr BiasOf(Expr mask, DType dtype) {
  Builder& b = mask.builder();
  Value* no = b.Scalar(dtype, -std::numeric_limits<double>::infinity());
  return Where(mask, Expr(b, b.Scalar(dtype, 0)), Expr(b, no));
}

// Whether each row of a constant mask lets a query see something.
bool IsOpen(const Tensor& mask) {
  const int64_t columns = mask.dim(3);
  if (mask.is_sparse()) return false;
  const std::byte* x = mask.bytes().data();
  for (int64_t i = 0; i < mask.num_elements(); i += columns) {
    if (!std::any_of(x + i, x + i + columns, [](std::byte b) { return b != std::byte{0}; })) {
      return false;
    }
  }
  return true;
}

// Which queries see any key, [batch, length, 1], of a mask [batch, 1, length, keys].
Expr OpenRows(const Expr& mask, const Target& target) {
  Builder& b = mask.builder();
  const bool has = target.Takes("reduce_max", 0, DType::kBool);
  const Expr any = has ? mask.Op("reduce_max", {b.Ints({3})}, {{"keepdims", 0}}) : Any(mask, {3});
  return Transpose(any, {0, 2, 1});
}

// --- The past ------------------------------------------------------------------------------------

// Keys or values appended to a cache: concat(past, now) along the length. Its only uses are the
// attention and the graph's outputs.
struct Grown {
  Value *past, *now, *all;
};
std::optional<Grown> AsGrown(Value* x, const Node& attention) {
  Node* concat = MadeByIr(x, "concat", *attention.graph());
  const int64_t axis = concat ? concat->attrs().Int("axis") : 0;
  if (!concat || concat->num_inputs() != 2 || (axis != 2 && axis != -2)) return std::nullopt;
  for (const Use& use : x->uses()) {
    if (use.node != &attention) return std::nullopt;
  }
  for (size_t i : {0, 1}) {
    const Shape* s = concat->input(i)->shape();
    if (!s || s->rank() != 4) return std::nullopt;
  }
  return Grown{concat->input(0), concat->input(1), x};
}

// --- Attention -----------------------------------------------------------------------------------

class AttentionFusion {
 public:
  AttentionFusion(FusionSite& site, Node& node, MaskForms& masks)
      : site_(site), node_(node), masks_(masks), b_(site.graph(), &node) {}

  bool Run() {
    if (!Understood()) return false;
    shared_ = heads_ != kv_heads_;
    const bool group = shared_ || key_;
    return group ? MayGroup() && (Write(true), true) : MayBeMulti() && (Write(false), true);
  }

 private:
  // Reads the node; whether it is one that these ops may say.
  bool Understood() {
    const AttributeMap& attrs = node_.attrs();
    for (size_t i = 0; i < node_.num_inputs(); ++i) {
      const Value* x = node_.input(i);
      if (x && i > kMask) return false;
      if (i <= kV && (!x || !HasKernels(*x) || !x->shape())) return false;
    }
    for (size_t i = 1; i < node_.num_outputs(); ++i) {
      if (node_.output(i) && !node_.output(i)->is_unused()) return false;
    }
    softcap_ = attrs.Float("softcap", 0);
    if (attrs.Has("softmax_precision") || attrs.Int("left_window_size", -1) >= 0 ||
        attrs.Int("right_window_size", -1) >= 0) {
      return false;
    }
    causal_ = attrs.Int("is_causal", 0) != 0;
    mask_ = node_.input(kMask);
    rows_ = {node_.input(kQ), node_.input(kK), node_.input(kV)};
    dtype_ = rows_[kQ]->dtype();
    by_head_ = rows_[kQ]->shape()->rank() == 4;
    const int64_t length = by_head_ ? 2 : 1;
    batch_ = SizeAtAxis(rows_[kQ], 0), queries_ = SizeAtAxis(rows_[kQ], length);
    keys_ = SizeAtAxis(rows_[kK], length);
    if (!by_head_) {
      heads_ = attrs.Int("q_num_heads", 0), kv_heads_ = attrs.Int("kv_num_heads", 0);
      return heads_ > 0 && kv_heads_ > 0 && softcap_ == 0;
    }
    if (rows_[kK]->shape()->rank() != 4 || rows_[kV]->shape()->rank() != 4) return false;
    heads_ = SizeAtAxis(rows_[kQ], 1).is_static() ? SizeAtAxis(rows_[kQ], 1).value() : 0;
    key_ = AsGrown(rows_[kK], node_), value_ = AsGrown(rows_[kV], node_);
    if (!key_ || !value_ || !IsLikePast()) key_ = value_ = std::nullopt;
    if (!key_ && softcap_ != 0) return false;
    if (key_) rows_[kK] = key_->now, rows_[kV] = value_->now;
    for (const Value* x : rows_) {
      if (!SizeAtAxis(x, 1).is_static() || !SizeAtAxis(x, 3).is_static()) return false;
    }
    heads_ = SizeAtAxis(rows_[kQ], 1).value(), kv_heads_ = SizeAtAxis(rows_[kK], 1).value();
    // Where the target says it as it is, nothing is moved for it.
    for (size_t i = 0; i < 3 && !key_ && site_.target().Has("attention"); ++i) {
      if (!RowsOf(rows_[i], site_.graph())) return false;
    }
    if (!key_ && site_.target().Has("attention") && !AsideOf(*node_.output(0))) return false;
    return heads_ > 0 && kv_heads_ > 0 && heads_ % kv_heads_ == 0;
  }

  // Whether the kernel takes that cache. Of several words at once it does for one sequence alone,
  // or where there is no past: in other calls it says so.
  bool IsLikePast() {
    const Dim past = SizeAtAxis(key_->past, 2), size = SizeAtAxis(rows_[kQ], 3);
    if (SizeAtAxis(rows_[kK], 3) != size || SizeAtAxis(rows_[kV], 3) != size || !size.is_static() ||
        (queries_.is_static() && queries_ != Dim(1) && batch_.is_static() && batch_ != Dim(1)) ||
        !ProvablyEqual(SizeAtAxis(key_->now, 2), queries_) ||
        !ProvablyEqual(SizeAtAxis(value_->now, 2), queries_) || causal_) {
      return false;
    }
    if (IsCausal(mask_, past, queries_, keys_)) return queries_ == Dim(1) || batch_ == Dim(1);
    // The kernel hides later keys itself; the mask is added, too.
    constexpr int64_t kHeadUnit = 8;
    biased_ = mask_ && size.value() % kHeadUnit == 0 &&
              ImpliesCausal(mask_, past, queries_, keys_) &&
              IsBias(*mask_, dtype_, {batch_, SizeAtAxis(rows_[kQ], 1), queries_, keys_});
    return biased_;
  }

  // GroupQueryAttention is always causal, and wants to know how long sequences are.
  bool MayGroup() const {
    if (key_) return true;
    return causal_ && !mask_ && ProvablyEqual(queries_, keys_);
  }

  bool MayBeMulti() {
    if (causal_ && (mask_ || !ProvablyEqual(queries_, keys_))) return false;
    if (!mask_) return true;
    yes_no_ = mask_->dtype() == DType::kBool;
    if (yes_no_ && SizeAtAxis(mask_, 1) != Dim(1)) return false;
    return IsBias(*mask_, yes_no_ ? DType::kBool : dtype_, {batch_, Dim(heads_), queries_, keys_});
  }

  // [batch, length, width] of heads.
  Value* Rows(Value* heads) {
    if (Value* rows = RowsOf(heads, site_.graph())) return rows;
    const int64_t count = SizeAtAxis(heads, 1).value(),
                  width = count * SizeAtAxis(heads, 3).value();
    const Node* turn = MadeByIr(heads, "rotary_embedding", site_.graph());
    if (turn && turn->num_inputs() == 3 && IsUsedOnce(*heads)) {
      AttributeMap attrs = turn->attrs();
      attrs.Set("num_heads", count);
      return b_.Op("rotary_embedding", {Rows(turn->input(0)), turn->input(1), turn->input(2)},
                   std::move(attrs));
    }
    const Node* transpose = MadeByIr(heads, "transpose", site_.graph());
    if (!transpose || !PutsHeadsAside(*transpose)) {
      return b_.Op("reshape", {Transpose({b_, heads}, {0, 2, 1, 3}), b_.Ints({0, 0, width})});
    }
    // Of [tokens, width], whose tokens become [batch, length, ...].
    const Node* apart = MadeByIr(transpose->input(0), "reshape", site_.graph());
    const Shape* from = apart ? apart->input(0)->shape() : nullptr;
    const Node* sizes = apart ? MadeByIr(apart->input(1), "concat", site_.graph()) : nullptr;
    if (from && from->rank() == 2 && (*from)[1] == Dim(width) && sizes &&
        sizes->num_inputs() == 3) {
      const std::vector<Value*> parts = {sizes->input(0), sizes->input(1), b_.Ints({width})};
      return b_.Op("reshape", {apart->input(0), b_.Op("concat", parts, {{"axis", int64_t{0}}})},
                   {{"allowzero", int64_t{1}}});
    }
    return b_.Op("reshape", {transpose->input(0), b_.Ints({0, 0, width})});
  }

  // The only use of the result, where that makes [tokens, width] of it.
  Node* FlattenOf(const Value& moved, int64_t width) {
    if (!IsUsedOnce(moved)) return nullptr;
    Node* user = moved.uses()[0].node;
    const Value* y = user->is_ir() && user->Is("reshape") ? user->output(0) : nullptr;
    return y && y->shape() && y->shape()->rank() == 2 && (*y->shape())[1] == Dim(width) ? user
                                                                                        : nullptr;
  }

  // Of each sequence the place of its last key, and how many keys there are: int32.
  std::pair<Value*, Value*> Lengths(Value* q) {
    const int64_t axis = q->shape()->rank() == 4 ? 2 : 1;
    Size all = SizeAt({b_, q}, axis);
    // Of a mask: the cache may be longer than what is in it.
    if (biased_) {
      all = SizeAt({b_, mask_}, 3);
    } else if (key_) {
      all = Plus(b_, SizeAt({b_, key_->past}, 2), all);
    }
    if (const Size batch = SizeAt({b_, q}, 0); all.number && batch.number) {
      const auto count = static_cast<int32_t>(*all.number);
      const std::vector<int32_t> lasts(static_cast<size_t>(*batch.number), count - 1);
      return {b_.Constant(Tensor::Of<int32_t>({*batch.number}, lasts), "last"),
              b_.Constant(Tensor::Scalar<int32_t>(count), "length")};
    }
    const Expr last = Reshape(Scalar(b_, Minus(b_, all, 1)), {1}).To(DType::kInt32);
    return {Expand(last, Vector(b_, SizeAt({b_, q}, 0))), Scalar(b_, all).To(DType::kInt32)};
  }

  // The mask as what is added to the scores.
  Value* Bias() {
    if (!mask_) return nullptr;
    Value*& known = masks_.biases[mask_];
    if (known && known->dtype() == dtype_ && SizeAtAxis(known, 2) == queries_) return known;
    Expr bias{b_, mask_};
    if (SizeAtAxis(mask_, 2) == Dim(1) && queries_ != Dim(1)) {
      const Size rows = SizeAt({b_, node_.input(kQ)}, by_head_ ? 2 : 1);
      bias = Expand(bias, Vector(b_, std::vector<Size>{rows, Size(1)}));
    }
    if (yes_no_) bias = BiasOf(bias, dtype_);
    return known = bias;
  }

  void Write(bool group) {
    Value* result = node_.output(0);
    const std::string name(result->name());
    b_.set_name_hint(name);
    std::vector<Value*> operands;
    for (Value* x : rows_) operands.push_back(by_head_ ? Rows(x) : x);
    Value* open = nullptr;
    if (group) {
      operands.push_back(key_ ? key_->past : nullptr);
      operands.push_back(key_ ? value_->past : nullptr);
      auto& [last, all] = masks_.lengths[biased_ ? mask_ : node_.input(kQ)];
      if (!last) std::tie(last, all) = Lengths(node_.input(kQ));
      operands.insert(operands.end(), {last, all});
      if (biased_) operands.insert(operands.end(), {nullptr, nullptr, nullptr, mask_});
    } else {
      operands.insert(operands.end(), {nullptr, nullptr, Bias()});
      // A query that sees no key gives zeros.
      const Tensor* fixed = yes_no_ ? mask_->fixed_constant() : nullptr;
      if (yes_no_ && !(fixed && IsOpen(*fixed))) {
        Value*& known = masks_.open[mask_];
        if (!known) known = OpenRows({b_, mask_}, site_.target());
        open = known;
      }
    }
    Node* fused = site_.MakeContrib(&node_, group ? "GroupQueryAttention" : "MultiHeadAttention",
                                    std::move(operands), nullptr);
    fused->set_name(node_.name());
    if (group) fused->SetAttr("kv_num_heads", kv_heads_);
    if (causal_ && !group) fused->SetAttr("unidirectional", int64_t{1});
    fused->SetAttr("num_heads", heads_);
    if (const auto* scale = node_.attrs().Find("scale")) fused->SetAttr("scale", *scale);
    if (softcap_ != 0) fused->SetAttr("softcap", static_cast<float>(softcap_));

    const int64_t size = by_head_ ? SizeAtAxis(node_.input(kV), 3).value() : 0;
    const Dim width = by_head_ ? Dim(heads_ * size) : SizeAtAxis(result, 2);
    Value* y = site_.graph().AddNodeOutput(fused, site_.graph().UniqueName(StrCat(name, "_rows")),
                                           Type::Tensor(dtype_, Shape{batch_, queries_, width}));
    Expr rows{b_, y};
    if (open) rows = Where({b_, open}, rows, rows.Number(0));
    Node* aside = nullptr;
    if (by_head_) {
      Value* moved = AsideOf(*result);
      const bool flat = moved && FlattenOf(*moved, heads_ * size);
      if (!flat) rows = {b_, b_.Op("reshape", {rows, b_.Ints({0, 0, heads_, size})})};
      if (moved) {
        aside = moved->producer();
        result = moved;
      } else {
        rows = Transpose(rows, {0, 2, 1, 3});
      }
    }
    if (key_) {
      for (const auto* grown : {&*key_, &*value_}) {
        Node* concat = grown->all->producer();
        site_.Take(fused, grown->all);
        DropUnused(concat);
      }
    } else if (group) {
      for (const char* what : {"_key", "_value"}) {  // its schema asks for them
        site_.graph().AddNodeOutput(fused, site_.graph().UniqueName(StrCat(name, what)),
                                    Type::Tensor(dtype_));
      }
    }
    site_.Name(b_, name);
    ReplaceUsesByOlder(site_.graph(), result, rows);
    if (aside) site_.Drop(aside);
    DropUnused(&node_);
  }

  // Erases the node and the nodes that only it uses. Erased nodes stay there during the walk.
  void DropUnused(Node* node) {
    const std::vector<Value*> operands = node->inputs();
    for (const Value* output : node->outputs()) {
      if (output && !output->is_unused()) return;
    }
    std::vector<Node*> makers;
    for (const Value* x : operands) {
      Node* maker = x ? x->producer() : nullptr;
      const bool known = std::find(makers.begin(), makers.end(), maker) != makers.end();
      if (maker && maker->graph() == node->graph() && maker->is_ir() && !known) {
        makers.push_back(maker);
      }
    }
    EraseWithConstants(node);
    for (Node* maker : makers) {
      if (maker->is_erased()) continue;
      if (maker->Is("transpose") || maker->Is("reshape") || maker->Is("expand") ||
          maker->Is("rotary_embedding")) {
        DropUnused(maker);
      } else {
        site_.Drop(maker);
      }
    }
  }

  FusionSite& site_;
  Node& node_;
  MaskForms& masks_;
  Builder b_;
  bool by_head_ = false, causal_ = false, shared_ = false, yes_no_ = false, biased_ = false;
  double softcap_ = 0;
  int64_t heads_ = 0, kv_heads_ = 0;
  Dim batch_, queries_, keys_;
  DType dtype_ = DType::kUndefined;
  Value* mask_ = nullptr;
  std::vector<Value*> rows_;  // queries, keys and values, new ones
  std::optional<Grown> key_, value_;
};

}  // namespace

bool FuseContribAttention(FusionSite& site, Node& node, MaskForms& masks) {
  return node.Is("attention") && AttentionFusion(site, node, masks).Run();
}

}  // namespace x2ir
