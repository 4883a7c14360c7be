// ONNX Runtime's own domain: attention, as far as ONNX's attention says the same. All of it is only
// read.
#include "x2ir/handlers/onnx/contrib_attention.h"

#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// --- Masks ---------------------------------------------------------------------------------------

// The size of an axis, at run time: int64 of shape [1].
Value* LengthAt(Builder& b, Value* x, int64_t axis) {
  return b.Op("shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

// How many keys there are in all. `keys` is [batch, length, ...], `past` [batch, heads, length,
// size] or null.
Value* TotalLength(Builder& b, Value* keys, int64_t axis, Value* past) {
  Value* length = LengthAt(b, keys, axis);
  return past ? b.Op("add", {length, LengthAt(b, past, 2)}) : length;
}

Value* Count(Builder& b, Value* length) {
  return b.Op("range", {b.Int(0), b.Op("squeeze", {length, b.Ints({0})}), b.Int(1)});
}

// Which keys of each sequence count, from where they end and, perhaps, begin: [batch, total].
absl::StatusOr<Value*> CountsOfEnds(Builder& b, Value* mask, Value* queries, Value* total) {
  const Dim batch = DimAt(queries, 0), length = (*mask->shape())[0];
  const Expr places = Expr(b, Count(b, total)).To(DType::kInt32);
  const Expr all{b, mask};
  if (!batch.is_unknown() && length == batch) return (places < Unsqueeze(all, {1})).value();
  if (length.is_static() && batch.is_static() && length.value() == 3 * batch.value() + 2) {
    return (places < Unsqueeze(Slice(all, 0, Size(0), Size(batch.value())), {1})).value();
  }
  if (length.is_static() && batch.is_static() && length.value() != 2 * batch.value()) {
    return Unimplemented("a mask of ", length.value(), " numbers for a batch of ", batch.value());
  }
  // [1 or 2, batch]; without the second row all keys count from the first on.
  const Expr rows = ReshapeTo(all, {Size(-1), SizeAt({b, queries}, 0)});
  const Expr none = Slice(rows, 0, Size(0), Size(1)) * 0;
  const Expr both = Concat(b, {rows, none}, 0);
  const auto row = [&](int64_t i) { return Unsqueeze(Gather(both, b.Int(i), 0), {1}); };
  return ((places < row(0)) & (places >= row(1))).value();
}

// What a mask of integers adds to the scores: nothing where a key counts, else `filter`.
//   [batch, total], [batch, length, total]  1 where a key counts
//   [batch, 1, most, most]                  the same for all places that a sequence may have
//   [batch]                                 how many keys count
//   [2 * batch]                             the end and the start of the keys that count
//   [3 * batch + 2]                         how many keys count, and then other sums of them
absl::StatusOr<Value*> MaskAsBias(Rewrite& r, Value* mask, Value* queries, Value* total,
                                  float filter) {
  if (!mask) return nullptr;
  Builder& b = r.b;
  const Shape* shape = mask->shape();
  if (!shape) return Unimplemented("a mask of unknown rank");
  const DType dtype = queries->dtype();
  if (!IsFloating(dtype)) return Unimplemented("operands of unknown element type");
  Value* counts = nullptr;
  if (shape->rank() == 1) {
    X2IR_ASSIGN_OR_RETURN(counts, CountsOfEnds(b, mask, queries, total));
  } else if (shape->rank() == 4) {
    const Size keys = total, length = SizeAt({b, queries}, 1);
    const Expr rows = Slice({b, mask}, 2, Minus(b, keys, length), keys);
    counts = Slice(rows, 3, Size(0), keys) > 0;
  } else if (shape->rank() == 2 || shape->rank() == 3) {
    counts = b.Op("greater", {mask, b.Scalar(DType::kInt32, 0)});
  } else {
    return Invalid("mask: expected rank 1 to 4, got ", shape->rank());
  }
  Value* bias = b.Op("where", {counts, b.Scalar(dtype, 0), b.Scalar(dtype, filter)});
  if (shape->rank() == 4) return bias;
  return b.Op("unsqueeze", {bias, shape->rank() == 3 ? b.Ints({1}) : b.Ints({1, 2})});
}

Value* SumOrOne(Builder& b, Value* x, Value* y) {
  if (!x || !y) return x ? x : y;
  return b.Op("add", {x, y});
}

// A query sees no key that is later than itself. The first query follows the past.
Value* CausalBias(Builder& b, Value* queries, Value* past, Value* total) {
  Value* places = Count(b, LengthAt(b, queries, 1));
  if (past) places = b.Op("add", {places, LengthAt(b, past, 2)});
  places = b.Op("unsqueeze", {places, b.Ints({1})});
  Value* later = b.Op("greater", {Count(b, total), places});
  const DType dtype = queries->dtype();
  const double lowest = dtype == DType::kFloat16 ? -65504.0 : -3.4028234663852886e38;
  return b.Op("where", {later, b.Scalar(dtype, lowest), b.Scalar(dtype, 0)});
}

AttributeMap AttentionAttrs(const Rewrite& r, bool heads) {
  AttributeMap attrs;
  if (heads) {
    attrs.Set("q_num_heads", r.attrs().Int("num_heads"));
    attrs.Set("kv_num_heads", r.attrs().Int("num_heads"));
  }
  // 0 means the usual one, too.
  if (const double scale = r.attrs().Float("scale", 0); scale != 0) {
    attrs.Set("scale", static_cast<float>(scale));
  }
  return attrs;
}

}  // namespace

absl::Status CheckHeads(const Rewrite& r) {
  if (r.attrs().Int("num_heads") < 1) {
    return Invalid("num_heads: expected 1 or more, got ", r.attrs().Int("num_heads"));
  }
  return absl::OkStatus();
}

void AddBias(const Expr& bias, bool by_head, Value*& q, Value*& k, Value*& v) {
  Builder& b = bias.builder();
  Size from = 0;
  for (Value** x : {&q, &k, &v}) {
    if (by_head && x != &q) break;
    const Size to = Plus(b, from, SizeAt({b, *x}, 2));
    *x = Expr(b, *x) + Slice(bias, 0, from, to);
    from = to;
  }
}

absl::StatusOr<Values> Attend(Rewrite& r, const AttentionCall& call) {
  Builder& b = r.b;
  const int64_t heads = r.attrs().Int("num_heads");
  const bool by_head = call.k->shape() && call.k->shape()->rank() == 4;
  const Dim queries = DimAt(call.q, 1), keys = DimAt(call.k, by_head ? 2 : 1);
  // A single query sees all keys there are.
  const bool causal = r.attrs().Int("unidirectional", 0) != 0 && queries != Dim(1);
  if (causal && (queries.is_unknown() || queries != keys)) {
    return Unimplemented("unidirectional with other lengths of queries (", queries.ToString(),
                         ") and keys (", keys.ToString(), ")");
  }
  Value* total =
      call.mask || causal ? TotalLength(b, call.k, by_head ? 2 : 1, call.past_key) : nullptr;
  const float filter = static_cast<float>(r.attrs().Float("mask_filter_value", -10000.0));
  X2IR_ASSIGN_OR_RETURN(Value * bias, MaskAsBias(r, call.mask, call.q, total, filter));
  if (causal) bias = SumOrOne(b, bias, CausalBias(b, call.q, call.past_key, total));
  bias = SumOrOne(b, bias, call.bias);
  Value* q = call.q;
  if (by_head) {
    q = b.Op("reshape", {q, b.Ints({0, 0, heads, -1})});
    q = b.Op("transpose", {q}, {{"perm", Attribute::Ints{0, 2, 1, 3}}});
  }
  AttributeMap attrs = AttentionAttrs(r, !by_head);
  if (call.wants_scores) attrs.Set("qk_matmul_output_mode", 2);
  // Outputs after the last wanted one are dropped.
  std::vector<bool> wanted = {true, call.wants_key, call.wants_value, call.wants_scores};
  while (!wanted.back()) wanted.pop_back();
  Values y = b.Ops("attention", {q, call.k, call.v, bias, call.past_key, call.past_value},
                   std::move(attrs), wanted);
  y.resize(4);  // the others are left out
  if (by_head) {
    Value* rows = b.Op("transpose", {y[0]}, {{"perm", Attribute::Ints{0, 2, 1, 3}}});
    y[0] = b.Op("reshape", {rows, b.Ints({0, 0, -1})});
  }
  return y;
}

namespace {

// --- Attention -----------------------------------------------------------------------------------

// The widths of queries, keys and values within the product with the weights; none: they are the
// same, and not known.
absl::StatusOr<std::vector<int64_t>> Widths(const Rewrite& r) {
  const Shape* weights = r.in(1)->shape();
  if (weights && weights->rank() != 2) {
    return Invalid("weights: expected rank 2, got ", weights->rank());
  }
  std::vector<int64_t> widths = r.attrs().Ints("qkv_hidden_sizes", {});
  if (!weights || !(*weights)[1].is_static()) return widths;  // what there is is a third each
  const int64_t all = (*weights)[1].value();
  if (widths.empty()) widths.assign(3, all / 3);
  if (widths.size() != 3 || widths[0] != widths[1]) {
    return Invalid("qkv_hidden_sizes: expected three, the first two the same");
  }
  int64_t left = all;
  for (const int64_t width : widths) {
    if (width < 1 || width > left || width % r.attrs().Int("num_heads") != 0) {
      return Invalid("a width of ", width, " for ", r.attrs().Int("num_heads"), " heads");
    }
    left -= width;
  }
  if (left != 0) return Invalid("weights of ", all, " columns");
  return widths;
}

// Queries, keys and values side by side in `product`; past keys and values as one operand.
absl::StatusOr<Values> AttendedProduct(Rewrite& r, Value* product, AttentionCall call,
                                       Value* past) {
  X2IR_RETURN_IF_ERROR(CheckHeads(r));
  if (r.attrs().Int("do_rotary", 0) != 0) return Unimplemented("do_rotary");
  if (r.attrs().Int("past_present_share_buffer", 0) != 0) {
    return Unimplemented("past_present_share_buffer");
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> widths, Widths(r));
  if (r.rank(0) >= 0 && r.rank(0) != 3) return Invalid("input: expected rank 3, got ", r.rank(0));
  Builder& b = r.b;
  const Values qkv =
      b.Ops("split", {product, widths.empty() ? nullptr : b.Ints(widths)}, {{"axis", -1}}, 3);
  call.q = qkv[0], call.k = qkv[1], call.v = qkv[2];
  if (past) {
    call.past_key = Gather({b, past}, b.Int(0), 0);
    call.past_value = Gather({b, past}, b.Int(1), 0);
  }
  call.wants_key = call.wants_value = r.node.output(1) != nullptr;
  X2IR_ASSIGN_OR_RETURN(const Values y, Attend(r, call));
  if (!call.wants_key) return Values{y[0]};
  return Values{y[0], Stack(b, {y[1], y[2]}, 0)};
}

absl::StatusOr<Values> FromAttention(Rewrite& r) {
  enum { kX, kWeights, kBias, kMask, kPast, kScores };
  // past_sequence_length is read of a shared buffer alone.
  Value* product = r.b.Op("matmul", {r.in(kX), r.in(kWeights)});
  if (r.has(kBias)) product = r.b.Op("add", {product, r.in(kBias)});
  return AttendedProduct(r, product, {.mask = r.in(kMask), .bias = r.in(kScores)}, r.in(kPast));
}

absl::StatusOr<Values> FromQAttention(Rewrite& r) {
  enum { kX, kWeights, kBias, kScaleX, kScaleWeights, kMask, kZeroX, kZeroWeights, kPast };
  if (!IsFloating(r.dtype(kBias))) return Unimplemented("bias: an unknown element type");
  const Expr sums{
      r.b, r.b.Op("matmul_integer", {r.in(kX), r.in(kWeights), r.in(kZeroX), r.in(kZeroWeights)})};
  const Expr scale = Expr(r.b, r.in(kScaleX)) * Expr(r.b, r.in(kScaleWeights));
  const Expr product = sums.To(r.dtype(kBias)) * scale + Expr(r.b, r.in(kBias));
  return AttendedProduct(r, product, {.mask = r.in(kMask)}, r.in(kPast));
}

// --- MultiHeadAttention --------------------------------------------------------------------------

// Queries, keys and values in one operand, [batch, length, heads, 3, size], or keys and values in
// the second one, with 2.
absl::Status Unpack(Rewrite& r, int64_t heads, Value*& q, Value*& k, Value*& v) {
  Builder& b = r.b;
  Value* packed = k ? k : q;
  const int64_t parts = k ? 2 : 3;
  const Shape* s = packed->shape();
  if (!s) return Unimplemented(k ? "key" : "query", ": packed, and of unknown rank");
  if (s->rank() != 5 || ProvablyDifferent((*s)[3], Dim(parts)) ||
      ProvablyDifferent((*s)[2], Dim(heads))) {
    return Invalid(k ? "key" : "query", ": without a value, expected [batch, length, ", heads, ", ",
                   parts, ", size], got ", packed->type().ToString());
  }
  const Size width = Times(b, Size(heads), SizeAt({b, packed}, 4));
  const auto part = [&](int64_t i) -> Value* {
    const Expr x = Gather({b, packed}, b.Int(i), 3);
    return ReshapeTo(x, {SizeAt(x, 0), SizeAt(x, 1), width});
  };
  if (!k) q = part(0);
  k = part(parts - 2);
  v = part(parts - 1);
  return absl::OkStatus();
}

absl::StatusOr<Values> FromMultiHeadAttention(Rewrite& r) {
  enum { kQ, kK, kV, kBias, kMask, kScores, kPastKey, kPastValue, kPastLength, kIndirection };
  X2IR_RETURN_IF_ERROR(CheckHeads(r));
  if (r.has(kPastLength) || r.has(kIndirection)) return Unimplemented("a shared buffer of keys");
  const int64_t heads = r.attrs().Int("num_heads");
  Value *q = r.in(kQ), *k = r.in(kK), *v = r.in(kV);
  if (!v) X2IR_RETURN_IF_ERROR(Unpack(r, heads, q, k, v));
  const auto rank = [](const Value* x) { return x->shape() ? x->shape()->rank() : -1; };
  if (rank(q) != 3) {
    return rank(q) < 0 ? Unimplemented("query: an unknown rank")
                       : Invalid("query: expected rank 3, got ", rank(q));
  }
  if (r.has(kPastKey) != r.has(kPastValue)) return Invalid("past keys and values go together");
  const bool by_head = rank(k) == 4;  // [batch, heads, length, size] already
  if (rank(k) < 3 || rank(k) > 4 || rank(v) != rank(k)) {
    return Unimplemented("key and value: expected rank 3 or 4, got ", k->type().ToString(), " and ",
                         v->type().ToString());
  }
  if (r.has(kBias)) AddBias({r.b, r.in(kBias)}, by_head, q, k, v);
  AttentionCall call{q, k, v, r.in(kMask), r.in(kScores), r.in(kPastKey), r.in(kPastValue)};
  call.wants_key = r.node.output(1) != nullptr;
  call.wants_value = r.node.output(2) != nullptr;
  call.wants_scores = r.node.output(3) != nullptr;
  return Attend(r, call);
}

// One word a sequence. In a shared buffer it is written after the words that are there.
absl::StatusOr<Values> FromDecoderMaskedMultiHeadAttention(Rewrite& r) {
  enum {
    kQ,
    kK,
    kV,
    kMask,
    kScores,
    kPastKey,
    kPastValue,
    kPastLength,
    kBeams,
    kIndirection,
    kBias
  };
  X2IR_RETURN_IF_ERROR(CheckHeads(r));
  if (r.has(kIndirection)) return Unimplemented("cache_indirection: words of other beams");
  if (r.rank(kQ) != 3) return Unimplemented("query: expected rank 3, got ", r.rank(kQ));
  if (r.has(kPastKey) != r.has(kPastValue)) return Invalid("past keys and values go together");
  if (r.has(kK) != r.has(kV)) return Invalid("key and value go together");
  Builder& b = r.b;
  Value *q = r.in(kQ), *k = r.in(kK), *v = r.in(kV);
  if (!k) {
    const Values parts = b.Ops("split", {q, nullptr}, {{"axis", -1}}, 3);
    q = parts[0], k = parts[1], v = parts[2];
  }
  const bool by_head = k->shape() && k->shape()->rank() == 4;
  if (r.has(kBias)) AddBias({b, r.in(kBias)}, by_head, q, k, v);
  AttentionCall call{q, k, v, r.in(kMask), r.in(kScores)};
  call.wants_scores = r.node.output(3) != nullptr;
  const bool shared = !by_head && r.attrs().Int("past_present_share_buffer", 0) != 0;
  if (!by_head) {
    call.wants_key = r.node.output(1) != nullptr;
    call.wants_value = r.node.output(2) != nullptr;
    call.past_key = r.in(kPastKey);
    call.past_value = r.in(kPastValue);
  }
  if (!shared) return Attend(r, call);
  if (!r.has(kPastKey) || !r.has(kPastLength)) {
    return Invalid("past_present_share_buffer needs past_key, past_value and past_sequence_length");
  }
  const Expr length = Reshape({b, r.in(kPastLength)}, {}).To(DType::kInt64);
  call.past_key = Slice({b, r.in(kPastKey)}, 2, Size(0), length);
  call.past_value = Slice({b, r.in(kPastValue)}, 2, Size(0), length);
  X2IR_ASSIGN_OR_RETURN(Values y, Attend(r, call));
  for (const size_t i : {1, 2}) {
    if (!y[i]) continue;
    const Expr rest = Slice({b, r.in(i == 1 ? kPastKey : kPastValue)}, 2, length + 1, Size(kToEnd));
    y[i] = Concat(b, {y[i], rest}, 2);
  }
  return y;
}

X2IR_ONNX(linear_attention)
    .Is("com.microsoft::LinearAttention", Since(1), ForeignFixed("state_window", 0), ImportOnly());
X2IR_ONNX(causal_conv_with_state)
    .Is("com.microsoft::CausalConvWithState", Since(1), ForeignFixed("channels_last", 0),
        ForeignFixed("dilation", 1), ForeignFixed("ndim", 1), ForeignFixed("state_window", 0),
        ImportOnly());
X2IR_ONNX(attention)
    .Is("com.microsoft::Attention", Since(1), Code{FromAttention, nullptr})
    .Is("com.microsoft::QAttention", Since(1), Code{FromQAttention, nullptr})
    .Is("com.microsoft::DecoderMaskedMultiHeadAttention", Since(1),
        Code{FromDecoderMaskedMultiHeadAttention, nullptr})
    .Is("com.microsoft::MultiHeadAttention", Since(1), Code{FromMultiHeadAttention, nullptr});

}  // namespace
}  // namespace x2ir
