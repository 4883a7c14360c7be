// ONNX Runtime's own domain: attention over a cache of keys and values that grows from call to
// call (GroupQueryAttention). A sequence's keys are at the start of its row of the cache, whatever
// the length of the others; the elements after them are not read, and are zero in the results,
// as in the kernel where the buffers are not shared. SparseAttention is the same but for a layout
// of blocks that queries see, and its buffers are always shared. All of it is only read.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// --- The cache -----------------------------------------------------------------------------------

// Where the words of this call are in the sequences.
struct Steps {
  Size batch, length;  // of the call's words
  Size room;           // how many keys the cache holds after it
  Expr before;  // int64, [batch, 1]: how many keys each sequence has from earlier calls; or [1, 1]
};

// The keys (or values) of earlier calls and the new ones, [batch, heads, length, size] each:
// [batch, heads, room, size]. After the new ones the last one is repeated.
Expr Grown(const Expr& past, const Expr& now, const Steps& steps) {
  Builder& b = now.builder();
  const Expr place = Iota(Scalar(b, steps.room));  // [room]
  const Size held = SizeAt(past, 2);
  const Expr last = Scalar(b, Minus(b, Plus(b, held, steps.length), 1));
  const Expr later = Min(place - steps.before + Scalar(b, held), last);
  const Expr from = Where(place < steps.before, place, later);  // [batch, room]
  const Expr all = Concat(b, {past, now}, 2);
  if (steps.batch.number == 1) return Gather(all, Squeeze(from, {0}), 2);
  const Expr sizes = Vector(b, {steps.batch, SizeAt(now, 1), steps.room, SizeAt(now, 3)});
  return GatherElements(all, Expand(Unsqueeze(from, {1, 3}), sizes), 2);
}

// With zeros after the new ones.
Expr Present(const Expr& grown, const Steps& steps) {
  Builder& b = grown.builder();
  const Expr end = steps.before + Scalar(b, steps.length);
  return Where(Unsqueeze(Iota(Scalar(b, steps.room)) < end, {1, 3}), grown, 0.0);
}

// --- GroupQueryAttention -------------------------------------------------------------------------

struct Gqa {
  enum Operand {
    kQuery,
    kKey,
    kValue,
    kPastKey,
    kPastValue,
    kLengths,
    kTotal,
    kCos,
    kSin,
    kPositions,
    kBias,
    kSink,
    kKeyScale,
    kValueScale,
    kQueryNorm,
    kKeyNorm
  };
};

absl::Status CheckHeadsOf(const Rewrite& r) {
  const int64_t heads = r.attrs().Int("num_heads"), shared = r.attrs().Int("kv_num_heads");
  if (heads < 1 || shared < 1 || heads % shared != 0) {
    return Invalid("num_heads: ", heads, " heads cannot share kv_num_heads ", shared);
  }
  if (r.has(Gqa::kKey) != r.has(Gqa::kValue)) return Invalid("key and value go together");
  for (const size_t i : {Gqa::kQuery, Gqa::kKey, Gqa::kValue}) {
    if (r.has(i) && r.rank(i) != 3) {
      return r.rank(i) < 0 ? Unimplemented("operand ", i, ": an unknown rank")
                           : Invalid("operand ", i, ": expected rank 3, got ", r.rank(i));
    }
  }
  if (!IsFloating(r.dtype(Gqa::kQuery))) return Unimplemented("query: an unknown element type");
  return absl::OkStatus();
}

absl::Status CheckGroupQuery(const Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckHeadsOf(r));
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    const std::string type = r.attrs().String(name, "NONE");
    if (type != "NONE") return Unimplemented(name, " '", type, "': a quantized cache");
  }
  if (r.has(Gqa::kKeyScale) || r.has(Gqa::kValueScale)) {
    return Unimplemented(r.has(Gqa::kKeyScale) ? "k_scale" : "v_scale", ": a quantized cache");
  }
  if (r.attrs().Int("sliding_window_cache", 0) != 0) return Unimplemented("sliding_window_cache");
  for (const size_t i : {Gqa::kPastKey, Gqa::kPastValue}) {
    if (r.has(i) && r.dtype(i) != r.dtype(Gqa::kQuery)) {
      return Unimplemented(i == Gqa::kPastKey ? "past_key" : "past_value", " of ", Name(r.dtype(i)),
                           ": a quantized cache");
    }
  }
  if (r.has(Gqa::kPastKey) != r.has(Gqa::kPastValue))
    return Invalid("past_key and past_value go together");
  if (r.has(Gqa::kQueryNorm) != r.has(Gqa::kKeyNorm)) {
    return Invalid("q_norm_weight and k_norm_weight go together");
  }
  if (r.attrs().Int("do_rotary", 0) != 0 && (!r.has(Gqa::kCos) || !r.has(Gqa::kSin))) {
    return Invalid("do_rotary needs cos_cache and sin_cache");
  }
  const int64_t output = r.attrs().Int("qk_output", 0);
  if (output < 0 || output > 2) return Invalid("qk_output: expected 0, 1 or 2, got ", output);
  return absl::OkStatus();
}

// [batch, length, heads * size] as [batch, heads, length, size].
Expr ByHead(const Expr& x, int64_t heads) {
  Builder& b = x.builder();
  return Transpose(x.Op("reshape", {b.Ints({0, 0, heads, -1})}), {0, 2, 1, 3});
}

// Queries, keys and values, each [batch, heads, length, size].
struct Heads {
  Expr q, k, v;
};

// Queries, keys and values may be one operand.
absl::StatusOr<Heads> HeadsOf(Rewrite& r) {
  Builder& b = r.b;
  const int64_t heads = r.attrs().Int("num_heads"), shared = r.attrs().Int("kv_num_heads");
  if (r.has(Gqa::kKey)) {
    return Heads{ByHead({b, r.in(Gqa::kQuery)}, heads), ByHead({b, r.in(Gqa::kKey)}, shared),
                 ByHead({b, r.in(Gqa::kValue)}, shared)};
  }
  const Dim width = DimAt(r.in(Gqa::kQuery), 2);
  if (!width.is_static() || width.value() % (heads + 2 * shared) != 0) {
    return Unimplemented("query: ", width.ToString(), " numbers are not the heads of queries, ",
                         "keys and values together");
  }
  const int64_t size = width.value() / (heads + 2 * shared);
  Value* sizes = b.Ints({heads * size, shared * size, shared * size}, "sizes");
  const Values parts = b.Ops("split", {r.in(Gqa::kQuery), sizes}, {{"axis", -1}}, 3);
  return Heads{ByHead({b, parts[0]}, heads), ByHead({b, parts[1]}, shared),
               ByHead({b, parts[2]}, shared)};
}

// Turns queries and keys by their positions, [batch, length] or what broadcasts to it.
absl::Status Turn(Rewrite& r, Value* cos, Value* sin, const Expr& positions, const Steps& steps,
                  Heads* heads) {
  const Dim half = DimAt(cos, 1);
  if (!half.is_static()) return Unimplemented("cos_cache: an unknown width");
  const Expr each = Expand(positions, Vector(r.b, {steps.batch, steps.length}));
  const AttributeMap attrs = {{"interleaved", r.attrs().Int("rotary_interleaved", 0)},
                              {"rotary_embedding_dim", 2 * half.value()}};
  for (Expr* x : {&heads->q, &heads->k}) *x = x->Op("rotary_embedding", {cos, sin, each}, attrs);
  return absl::OkStatus();
}

// With `more` zeros at the end of an axis of four.
Expr PaddedAt(const Expr& x, int64_t axis, const Size& more) {
  Builder& b = x.builder();
  std::vector<Size> pads(8, 0);
  pads[4 + axis] = more;
  return x.Op("pad", {Vector(b, pads)}, {{"mode", "constant"}});
}

// Of a prompt the first position counts alone, and the others follow it.
Expr GivenPositions(Rewrite& r, const Steps& steps, const Expr& total) {
  Builder& b = r.b;
  const Expr given{b, r.in(Gqa::kPositions)};
  const Expr length = Scalar(b, steps.length);
  const Expr counted = Reshape(Slice(Flat(given), 0, Size(0), Size(1)), {1, 1}) + Iota(length);
  return Where(total == length, counted, given);
}

absl::StatusOr<Values> FromGroupQueryAttention(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckGroupQuery(r));
  Builder& b = r.b;
  X2IR_ASSIGN_OR_RETURN(Heads of, HeadsOf(r));
  Expr &q = of.q, &k = of.k, &v = of.v;
  if (r.has(Gqa::kQueryNorm)) {
    const AttributeMap attrs = {
        {"axis", -1}, {"epsilon", static_cast<float>(r.attrs().Float("qk_norm_epsilon", 1e-6))}};
    q = q.Op("rms_normalization", {r.in(Gqa::kQueryNorm)}, attrs);
    k = k.Op("rms_normalization", {r.in(Gqa::kKeyNorm)}, attrs);
  }

  const Expr query{b, r.in(Gqa::kQuery)};
  Steps steps{SizeAt(query, 0), SizeAt(query, 1), {}, nullptr};
  const Expr total = Reshape({b, r.in(Gqa::kTotal)}, {}).To(DType::kInt64);
  const Expr lengths = Reshape({b, r.in(Gqa::kLengths)}, {-1, 1}).To(DType::kInt64) + 1;
  const bool causal = r.attrs().Int("causal", 1) != 0;
  const bool past = r.has(Gqa::kPastKey) && DimAt(r.in(Gqa::kPastKey), 2) != Dim(0);
  if (past) {
    steps.before = Max(lengths - Scalar(b, steps.length), Int(b, 0));
    steps.room = Larger(b, total, SizeAt({b, r.in(Gqa::kPastKey)}, 2));
  } else {
    steps.before = Ints(b, {0}).Op("unsqueeze", {b.Ints({0})});
    steps.room = steps.length;
  }

  const Expr places = steps.before + Iota(Scalar(b, steps.length));  // [batch, length]
  if (r.attrs().Int("do_rotary", 0) != 0) {
    const Expr positions = r.has(Gqa::kPositions) ? GivenPositions(r, steps, total) : places;
    X2IR_RETURN_IF_ERROR(Turn(r, r.in(Gqa::kCos), r.in(Gqa::kSin), positions, steps, &of));
  }
  if (past) {
    k = Grown({b, r.in(Gqa::kPastKey)}, k, steps);
    v = Grown({b, r.in(Gqa::kPastValue)}, v, steps);
  }

  // Which keys each query sees: [batch or 1, 1, length or 1, room].
  const Expr keys = Iota(Scalar(b, steps.room)), at = Unsqueeze(places, {1, 3});
  Expr seen = causal ? keys <= at : keys < Unsqueeze(lengths, {1, 3});
  const int64_t window = r.attrs().Int("local_window_size", -1);
  if (window >= 0) seen = seen & (keys > at - static_cast<double>(window));
  const bool sink = r.has(Gqa::kSink) || r.attrs().Int("smooth_softmax", -1) == 1;
  Expr mask = seen;
  if (sink || r.has(Gqa::kBias)) {
    Expr bias = q.Number(0);
    if (r.has(Gqa::kBias)) bias = {b, r.in(Gqa::kBias)};
    if (r.has(Gqa::kBias) && past) bias = PaddedAt(bias, 3, Minus(b, steps.room, total));
    mask = Where(seen, bias, q.Number(-std::numeric_limits<double>::infinity()));
  }
  // A sink is one more term of the softmax's denominator: that of a key and a value of zeros, whose
  // score is the sink.
  Expr all_keys = k, all_values = v;
  if (sink) {
    all_keys = PaddedAt(k, 2, 1);
    all_values = PaddedAt(v, 2, 1);
    Expr term = q.Number(0);
    if (r.has(Gqa::kSink)) term = Reshape({b, r.in(Gqa::kSink)}, {1, -1, 1, 1});
    const auto whole = [&](const Expr& x, const Size& columns) {
      const int64_t heads = r.attrs().Int("num_heads");
      return Expand(x, Vector(b, {steps.batch, heads, steps.length, columns}));
    };
    mask = Concat(b, {whole(mask, steps.room), whole(term, 1)}, 3);
  }
  AttributeMap attrs = {{"softcap", static_cast<float>(r.attrs().Float("softcap", 0))}};
  if (const double scale = r.attrs().Float("scale", 0); scale != 0) {
    attrs.Set("scale", static_cast<float>(scale));
  }
  const int64_t stage = r.node.output(3) ? r.attrs().Int("qk_output", 0) : 0;
  if (stage != 0) attrs.Set("qk_matmul_output_mode", stage == 1 ? 2 : 3);
  const Values y = b.Ops("attention", {q, all_keys, all_values, mask}, attrs,
                         std::vector<bool>{true, false, false, stage != 0});
  const Expr rows = Transpose({b, y[0]}, {0, 2, 1, 3});
  Value* scores = nullptr;
  if (stage != 0) {
    Expr x{b, y[3]};
    if (sink) x = Slice(x, 3, Size(0), steps.room);
    if (stage == 1) x = Where(seen, x, 0.0);
    scores = past ? Slice(x, 3, Size(0), total) : x;
  }
  if (past) k = Present(k, steps), v = Present(v, steps);
  return Values{rows.Op("reshape", {b.Ints({0, 0, -1})}), k, v, scores};
}

// --- SparseAttention -----------------------------------------------------------------------------

// Operands 0 to 4 are those of GroupQueryAttention.
struct Sparse {
  enum Operand { kPastKey = 3, kPastValue, kRows, kColumns, kTotal, kLengths, kCos, kSin };
};

// Which blocks of keys a block of queries sees, bool of [layouts, blocks, blocks]. The columns of
// each row are listed as in a compressed sparse matrix: row i of a layout has those from rows[i] to
// rows[i + 1].
Expr BlocksSeen(Rewrite& r) {
  Builder& b = r.b;
  const Expr ends{b, r.in(Sparse::kRows)}, columns{b, r.in(Sparse::kColumns)};
  const Size blocks = Minus(b, SizeAt(ends, 1), 1);
  const Expr place = Iota(Scalar(b, SizeAt(columns, 1))).To(DType::kInt32);
  const Expr from = Unsqueeze(Slice(ends, 1, Size(0), blocks), {2});
  const Expr to = Unsqueeze(Slice(ends, 1, Size(1), Size(kToEnd)), {2});
  const Expr listed = (place >= from) & (place < to);  // [layouts, blocks, places]
  const Expr column = Iota(Scalar(b, blocks)).To(DType::kInt32);
  const Expr is = Unsqueeze(columns, {2}) == column;  // [layouts, places, blocks]
  return listed.To(DType::kFloat32).Op("matmul", {is.To(DType::kFloat32)}) > 0.0;
}

absl::StatusOr<Values> FromSparseAttention(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckHeadsOf(r));
  const int64_t heads = r.attrs().Int("num_heads"), block = r.attrs().Int("sparse_block_size");
  if (block < 1) return Invalid("sparse_block_size: expected 1 or more, got ", block);
  for (const size_t i : {Sparse::kRows, Sparse::kColumns}) {
    if (r.rank(i) != 2) return Unimplemented("operand ", i, ": expected rank 2, got ", r.rank(i));
  }
  const Dim layouts = DimAt(r.in(Sparse::kRows), 0);
  if (!layouts.is_static() || layouts.value() < 1 || heads % layouts.value() != 0) {
    return Unimplemented("block_row_indices: ", layouts.ToString(), " layouts for ", heads,
                         " heads");
  }
  const bool turned = r.attrs().Int("do_rotary", 0) != 0;
  if (turned && (!r.has(Sparse::kCos) || !r.has(Sparse::kSin))) {
    return Invalid("do_rotary needs cos_cache and sin_cache");
  }
  Builder& b = r.b;
  X2IR_ASSIGN_OR_RETURN(Heads of, HeadsOf(r));
  const Expr query{b, r.in(Gqa::kQuery)};
  const Expr past_key{b, r.in(Sparse::kPastKey)}, past_value{b, r.in(Sparse::kPastValue)};
  Steps steps{SizeAt(query, 0), SizeAt(query, 1), SizeAt(past_key, 2), nullptr};
  const Expr length = Scalar(b, steps.length);
  const Expr total = Reshape({b, r.in(Sparse::kTotal)}, {}).To(DType::kInt64);
  const Expr lengths = Reshape({b, r.in(Sparse::kLengths)}, {-1, 1}).To(DType::kInt64);
  // A prompt begins at the first place, however it is padded.
  steps.before = Where(total == length, Int(b, 0), Max(lengths - length, Int(b, 0)));
  const Expr places = steps.before + Iota(length);  // [batch, length]
  if (turned) {
    X2IR_RETURN_IF_ERROR(Turn(r, r.in(Sparse::kCos), r.in(Sparse::kSin), places, steps, &of));
  }
  const Expr k = Grown(past_key, of.k, steps), v = Grown(past_value, of.v, steps);

  // [layouts, batch, length, room]
  const Expr keys = Iota(Scalar(b, steps.room));
  const Expr blocks = BlocksSeen(r);
  const Expr last = Scalar(b, Minus(b, SizeAt(blocks, 1), 1));
  const auto block_of = [&](const Expr& place) {
    return Min(place.Op("div", {b.Int(block)}), last);
  };
  const Expr of_query = Gather(blocks, block_of(places), 1);
  const Expr of_key = Gather(of_query, block_of(keys), 3);
  // Heads take the layouts by turns: [batch, heads, length, room].
  const Expr by_turns = Transpose(of_key, {1, 0, 2, 3});
  const Expr seen = by_turns.Op("tile", {b.Ints({1, heads / layouts.value(), 1, 1})});
  const Expr least =
      query.Number(query.dtype() == DType::kFloat16 ? -65504.0 : -3.4028234663852886e38);
  const Expr hidden = query.Number(-std::numeric_limits<double>::infinity());
  const Expr later = keys > Unsqueeze(places, {1, 3});
  const Expr mask = Where(later, hidden, Where(seen, query.Number(0), least));

  AttributeMap attrs;
  if (const double scale = r.attrs().Float("scale", 0); scale != 0) {
    attrs.Set("scale", static_cast<float>(scale));
  }
  const Expr y = Transpose(of.q.Op("attention", {k, v, mask}, attrs), {0, 2, 1, 3});
  // The elements after the new keys stay in the buffer.
  const Expr end = steps.before + length;
  const Expr kept = Unsqueeze(keys >= end, {1, 3});
  return Values{y.Op("reshape", {b.Ints({0, 0, -1})}), Where(kept, past_key, k),
                Where(kept, past_value, v)};
}

X2IR_ONNX(attention)
    .Is("com.microsoft::GroupQueryAttention", Since(1), Code{FromGroupQueryAttention, nullptr})
    .Is("com.microsoft::SparseAttention", Since(1), Code{FromSparseAttention, nullptr});

}  // namespace
}  // namespace x2ir
