// ONNX Runtime's own domain: rotary embeddings. All of it is only read.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// --- RotaryEmbedding
// --------------------------------------------------------------------------------

struct Rotary {
  enum Operand { kX, kPositions, kCos, kSin };
};

// How many heads [batch, length, heads * size] holds: a head is as wide as the caches say where the
// node does not.
absl::StatusOr<int64_t> HeadsOf(const Rewrite& r, int64_t turned, const Dim& half) {
  const int64_t heads = r.attrs().Int("num_heads", 0);
  if (heads > 0) return heads;
  const Dim width = DimAt(r.in(Rotary::kX), 2);
  if (turned != 0) return Invalid("num_heads must be given with rotary_embedding_dim");
  if (!half.is_static() || !width.is_static() || half.value() < 1) {
    return Unimplemented("num_heads is not given, and heads are of unknown width");
  }
  if (width.value() % (2 * half.value()) != 0) {
    return Invalid("input: ", width.ToString(), " numbers are not heads of ", 2 * half.value());
  }
  return width.value() / (2 * half.value());
}

// Positions are given one by one, or as that of the first word, the same for all sequences. No
// kernel heeds the scale. Of a packed batch there may be more words than the caches have rows,
// which runtimes refuse of ONNX's op unless the rows are picked for it.
absl::StatusOr<Values> FromRotaryEmbedding(Rewrite& r) {
  const int64_t rank = r.rank(Rotary::kX);
  if (rank != 3 && rank != 4) return Unimplemented("input: expected rank 3 or 4, got ", rank);
  Builder& b = r.b;
  const int64_t turned = r.attrs().Int("rotary_embedding_dim", 0);
  const Dim half = DimAt(r.in(Rotary::kCos), 1);
  AttributeMap attrs = {{"interleaved", r.attrs().Int("interleaved", 0)},
                        {"rotary_embedding_dim", turned}};
  Dim size = DimAt(r.in(Rotary::kX), 3);
  if (rank == 3) {
    X2IR_ASSIGN_OR_RETURN(const int64_t heads, HeadsOf(r, turned, half));
    attrs.Set("num_heads", heads);
    size = FloorDiv(DimAt(r.in(Rotary::kX), 2), heads);
  }
  if (turned != 0) size = turned;
  if (half.is_static() && size.is_static() && 2 * half.value() != size.value()) {
    return Invalid("cos_cache: expected rows of ", size.value() / 2, " numbers, got ",
                   half.value());
  }
  const Expr x{b, r.in(Rotary::kX)};
  Expr positions{b, r.in(Rotary::kPositions)};
  const int64_t rank_of_positions = r.rank(Rotary::kPositions);
  if (rank_of_positions == 0 || rank_of_positions == 1) {
    const Size length = SizeAt(x, rank == 3 ? 1 : 2);
    positions = Reshape(positions, {1}).To(DType::kInt64) + Iota(Scalar(b, length));
    positions = Expand(positions, Vector(b, {SizeAt(x, 0), length}));
  } else if (rank_of_positions != 2) {
    return Unimplemented("position_ids: expected rank 0 to 2, got ", rank_of_positions);
  }
  Value *cos = r.in(Rotary::kCos), *sin = r.in(Rotary::kSin);
  if (r.attrs().Int("is_packed_batching", 0) != 0) {
    return Values{x.Op("rotary_embedding",
                       {Gather({b, cos}, positions, 0), Gather({b, sin}, positions, 0)}, attrs)};
  }
  return Values{x.Op("rotary_embedding", {cos, sin, positions}, attrs)};
}

// --- GemmaRotaryEmbedding
// ---------------------------------------------------------------------------

// Queries and keys, both also rotated by a right angle, and the angles of the embedding.
absl::StatusOr<Values> FromGemmaRotaryEmbedding(Rewrite& r) {
  enum { kAngles, kQ, kTurnedQ, kK, kTurnedK };
  if (!IsFloating(r.dtype(kQ))) return Unimplemented("q: an unknown element type");
  const Expr angles{r.b, r.in(kAngles)};
  const Expr cos = Unsqueeze(Cos(angles).To(r.dtype(kQ)), {1});
  const Expr sin = Unsqueeze(Sin(angles).To(r.dtype(kQ)), {1});
  const auto turned = [&](size_t x, size_t across) {
    return Expr(r.b, r.in(x)) * cos + Expr(r.b, r.in(across)) * sin;
  };
  return Values{turned(kQ, kTurnedQ), turned(kK, kTurnedK)};
}

X2IR_ONNX(rotary_embedding)
    .Is("com.microsoft::RotaryEmbedding", Since(1), Code{FromRotaryEmbedding, nullptr});
X2IR_ONNX(mul).Is("com.microsoft::GemmaRotaryEmbedding", Since(1),
                  Code{FromGemmaRotaryEmbedding, nullptr});

}  // namespace
}  // namespace x2ir
