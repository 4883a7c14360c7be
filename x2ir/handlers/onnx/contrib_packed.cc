// ONNX Runtime's own domain: attention over sequences without their padding. token_offset,
// [batch, length], gives the rows of the padded form that the packed one has, and then those that
// are padding. Rows are put there, and taken from there in the end. All of it is only read.
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/contrib_attention.h"

namespace x2ir {
namespace {

absl::Status CheckRank(const Rewrite& r, size_t i, const char* name, int64_t rank) {
  if (r.rank(i) == rank) return absl::OkStatus();
  if (r.rank(i) < 0) return Unimplemented(name, ": an unknown rank");
  return Invalid(name, ": expected rank ", rank, ", got ", r.rank(i));
}

// The rows of x, [rows, width], at their places among [batch, length, width], the others zeros.
Expr Padded(const Expr& x, const Expr& offsets) {
  Builder& b = x.builder();
  const Size batch = SizeAt(offsets, 0), length = SizeAt(offsets, 1), width = SizeAt(x, 1);
  const Expr all = Filled(b, x.dtype(), {Times(b, batch, length), width}, 0);
  const Expr places = Slice(Flat(offsets), 0, Size(0), SizeAt(x, 0)).To(DType::kInt64);
  return ReshapeTo(ScatterNd(all, Unsqueeze(places, {1}), x, "none"), {batch, length, width});
}

// The way back: as many rows as there are of `like`.
Expr Packed(const Expr& x, const Expr& offsets, const Expr& like) {
  const Expr places = Slice(Flat(offsets), 0, Size(0), SizeAt(like, 0)).To(DType::kInt64);
  return Gather(FlattenFront(x, 2), places, 0);
}

// The scores' bias, minus infinity for keys that are padding: those after a sequence's end.
// `ends`, [batch + 1], counts the rows of all sequences before each.
Value* BiasOfPadding(const Expr& ends, const Expr& offsets, Value* bias, DType type) {
  Builder& b = offsets.builder();
  const Expr counts = Slice(ends, 0, Size(1), Size(kToEnd)) - Slice(ends, 0, Size(0), Size(-1));
  const Expr places = Iota(Scalar(b, SizeAt(offsets, 1))).To(ends.dtype());
  const Expr there = places < Unsqueeze(counts, {1, 2, 3});
  const Expr no{b, b.Scalar(type, -std::numeric_limits<double>::infinity())};
  return Where(there, bias ? Expr(b, bias) : no.Number(0), no);
}

absl::StatusOr<Values> FromPackedAttention(Rewrite& r) {
  enum { kX, kWeights, kBias, kOffsets, kEnds, kScores };
  X2IR_RETURN_IF_ERROR(CheckHeads(r));
  X2IR_RETURN_IF_ERROR(CheckRank(r, kX, "input", 2));
  X2IR_RETURN_IF_ERROR(CheckRank(r, kOffsets, "token_offset", 2));
  if (!IsFloating(r.dtype(kX))) return Unimplemented("input: an unknown element type");
  Builder& b = r.b;
  const Expr offsets{b, r.in(kOffsets)}, x{b, r.in(kX)};
  const Expr product = MatMul(x, {b, r.in(kWeights)}) + Expr(b, r.in(kBias));
  const std::vector<int64_t> widths = r.attrs().Ints("qkv_hidden_sizes", {});
  const Values qkv =
      b.Ops("split", {Padded(product, offsets), widths.empty() ? nullptr : b.Ints(widths)},
            {{"axis", -1}}, 3);
  AttentionCall call{qkv[0], qkv[1], qkv[2]};
  call.bias = BiasOfPadding({b, r.in(kEnds)}, offsets, r.in(kScores), x.dtype());
  X2IR_ASSIGN_OR_RETURN(const Values y, Attend(r, call));
  return Values{Packed({b, y[0]}, offsets, x)};
}

absl::StatusOr<Values> FromPackedMultiHeadAttention(Rewrite& r) {
  enum { kQ, kK, kV, kBias, kOffsets, kEnds, kScores };
  X2IR_RETURN_IF_ERROR(CheckHeads(r));
  X2IR_RETURN_IF_ERROR(CheckRank(r, kOffsets, "token_offset", 2));
  if (r.has(kK) != r.has(kV)) return Invalid("key and value go together");
  X2IR_RETURN_IF_ERROR(CheckRank(r, kQ, "query", r.has(kK) ? 2 : 4));
  if (!IsFloating(r.dtype(kQ))) return Unimplemented("query: an unknown element type");
  Builder& b = r.b;
  const Expr offsets{b, r.in(kOffsets)}, query{b, r.in(kQ)};
  std::vector<Value*> parts = {r.in(kQ), r.in(kK), r.in(kV)};
  if (!r.has(kK)) {  // [rows, heads, 3, size]
    const Size width = Times(b, SizeAt(query, 1), SizeAt(query, 3));
    for (int64_t i = 0; i < 3; ++i) {
      parts[i] = ReshapeTo(Gather(query, b.Int(i), 2), {SizeAt(query, 0), width});
    }
  }
  for (Value*& part : parts) part = Padded({b, part}, offsets);
  AttentionCall call{parts[0], parts[1], parts[2]};
  if (r.has(kBias)) AddBias({b, r.in(kBias)}, false, call.q, call.k, call.v);
  call.bias = BiasOfPadding({b, r.in(kEnds)}, offsets, r.in(kScores), query.dtype());
  X2IR_ASSIGN_OR_RETURN(const Values y, Attend(r, call));
  return Values{Packed({b, y[0]}, offsets, query)};
}

absl::StatusOr<Values> FromRestorePadding(Rewrite& r) {
  enum { kX, kOffsets };
  X2IR_RETURN_IF_ERROR(CheckRank(r, kX, "input", 2));
  X2IR_RETURN_IF_ERROR(CheckRank(r, kOffsets, "token_offset", 2));
  if (!IsFloating(r.dtype(kX))) return Unimplemented("input: an unknown element type");
  return Values{Padded({r.b, r.in(kX)}, {r.b, r.in(kOffsets)})};
}

// Padding is at the end of each sequence.
absl::StatusOr<Values> FromRemovePadding(Rewrite& r) {
  enum { kX, kCounts };
  X2IR_RETURN_IF_ERROR(CheckRank(r, kX, "input", 3));
  Builder& b = r.b;
  const Expr x{b, r.in(kX)}, counts{b, r.in(kCounts)};
  const Size batch = SizeAt(x, 0), length = SizeAt(x, 1);
  const Expr there = Flat(Iota(Scalar(b, length)).To(DType::kInt32) < Unsqueeze(counts, {1}));
  const auto where = [](const Expr& is) { return Squeeze(is.Op("non_zero"), {0}); };
  const Expr rows = where(there);
  const Expr offsets = ReshapeTo(Concat(b, {rows, where(Not(there))}, 0), {batch, length});
  const Expr none{b, b.Constant(Tensor::Zeros(DType::kInt32, {1}), "zero")};
  return Values{Gather(FlattenFront(x, 2), rows, 0), offsets.To(DType::kInt32),
                Concat(b, {none, CumSum(counts, 0)}, 0), Reduce(counts, "reduce_max", {0}, true)};
}

X2IR_ONNX(attention)
    .Is("com.microsoft::PackedAttention", Since(1), Code{FromPackedAttention, nullptr})
    .Is("com.microsoft::PackedMultiHeadAttention", Since(1),
        Code{FromPackedMultiHeadAttention, nullptr});
X2IR_ONNX(scatter_nd)
    .Is("com.microsoft::RestorePadding", Since(1), Code{FromRestorePadding, nullptr});
X2IR_ONNX(non_zero).Is("com.microsoft::RemovePadding", Since(1), Code{FromRemovePadding, nullptr});

}  // namespace
}  // namespace x2ir
