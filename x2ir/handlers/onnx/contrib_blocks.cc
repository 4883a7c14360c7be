// ONNX Runtime's own domain: weights of few bits, quantized block by block. All of it is only read.
// In these files bytes hold two numbers of 4 bits, the low half first, and each row begins at a
// byte; ONNX has types of 4 bits, whose rows follow one another without a gap.
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Rows of `count` numbers of 4 or 8 bits.
absl::StatusOr<Tensor> Unpacked(const Tensor& bytes, int64_t rows, int64_t count, int64_t bits) {
  if (bytes.is_sparse() || bytes.dtype() != DType::kUInt8) return Unimplemented("expected bytes");
  const int64_t row = bits == 8 ? count : count / 2 + count % 2;
  if (bytes.num_elements() != rows * row) {
    return Invalid("expected ", rows * row, " bytes, got ", bytes.num_elements());
  }
  if (bits == 8) return bytes.Reshaped({rows, count});
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.bytes().data());
  auto packed = std::make_shared<std::vector<uint8_t>>((rows * count + 1) / 2);
  for (int64_t i = 0, to = 0; i < rows; ++i) {
    for (int64_t k = 0; k < count; ++k, ++to) {
      const int half = from[i * row + k / 2] >> (k % 2 * 4) & 15;
      (*packed)[to / 2] |= static_cast<uint8_t>(half << (to % 2 * 4));
    }
  }
  const absl::Span<const std::byte> view(reinterpret_cast<const std::byte*>(packed->data()),
                                         packed->size());
  return Tensor::View(DType::kUInt4, {rows, count}, view, packed);
}

// Zero points: what the operand says, else the middle of the range.
absl::StatusOr<Tensor> ZeroPoints(const Rewrite& r, size_t operand, int64_t rows, int64_t count,
                                  int64_t bits) {
  if (r.has(operand)) {
    const Tensor* given = r.in(operand)->fixed_constant();
    if (!given) return Unimplemented("zero points that are computed");
    absl::StatusOr<Tensor> zeros = Unpacked(*given, rows, count, bits);
    if (!zeros.ok()) return Annotate(zeros.status(), "zero_points");
    return zeros;
  }
  const std::vector<uint8_t> middle(rows * (bits == 8 ? count : count / 2 + count % 2),
                                    bits == 8 ? 128 : 0x88);
  return Unpacked(Tensor::Of<uint8_t>({static_cast<int64_t>(middle.size())}, middle), rows, count,
                  bits);
}

constexpr int64_t kMaxSize = int64_t{1} << 30;  // of an axis: products of two fit

absl::Status CheckBlocks(int64_t bits, int64_t block) {
  if (bits != 4 && bits != 8) return Unimplemented("numbers of ", bits, " bits");
  if (block < 16 || block > kMaxSize || (block & (block - 1)) != 0) {
    return Invalid("block_size: expected a power of two from 16 on, got ", block);
  }
  return absl::OkStatus();
}

// --- Weights that are computed ------------------------------------------------------------------

// Rows of `count` numbers of 4 or 8 bits, as int32.
Expr NumbersOf(const Expr& bytes, int64_t rows, int64_t count, int64_t bits) {
  const Expr all = bytes.To(DType::kInt32);
  if (bits == 8) return Reshape(all, {rows, count});
  const int64_t half = count / 2 + count % 2;
  const Expr pairs = Reshape(all, {rows, half, 1});
  const Expr numbers =
      Reshape(Concat(bytes.builder(), {Mod(pairs, 16), pairs / 16}, 2), {rows, half * 2});
  return half * 2 == count ? numbers : Slice(numbers, 1, Size(0), Size(count));
}

// (weight - zero point) * scale, [n, blocks * block].
absl::StatusOr<Expr> ComputedWeights(Rewrite& r, Value* weights, Value* scales, Value* zeros,
                                     int64_t n, int64_t blocks, int64_t block, int64_t bits) {
  Builder& b = r.b;
  const DType type = scales->dtype();
  if (!IsFloating(type)) return Unimplemented("scales of unknown element type");
  if (weights->dtype() != DType::kUInt8) return Unimplemented("weights that are no bytes");
  const Expr numbers = NumbersOf({b, weights}, n, blocks * block, bits);
  Expr w = Reshape(numbers.To(type), {n, blocks, block});
  if (!zeros) {
    w = w - (bits == 8 ? 128 : 8);
  } else if (zeros->dtype() == DType::kUInt8) {
    w = w - Reshape(NumbersOf({b, zeros}, n, blocks, bits).To(type), {n, blocks, 1});
  } else if (IsFloating(zeros->dtype())) {
    w = w - Reshape(Expr(b, zeros).To(type), {n, blocks, 1});
  } else {
    return Unimplemented("zero_points of ", Name(zeros->dtype()));
  }
  return Reshape(w * Reshape({b, scales}, {n, blocks, 1}), {n, blocks * block});
}

// --- MatMulNBits --------------------------------------------------------------------------------

// Weights are N rows of blocks along K, each of which has its scale and zero point.
absl::StatusOr<Values> FromMatMulNBits(Rewrite& r) {
  enum { kA, kB, kScales, kZeros, kGroups, kBias };
  if (r.has(kGroups)) return Unimplemented("blocks in another order (g_idx)");
  if (r.attrs().Int("weight_prepacked", 0) != 0) return Unimplemented("prepacked weights");
  const int64_t k = r.attrs().Int("K"), n = r.attrs().Int("N");
  const int64_t bits = r.attrs().Int("bits", 4), block = r.attrs().Int("block_size");
  X2IR_RETURN_IF_ERROR(CheckBlocks(bits, block));
  if (k < 1 || n < 1 || k > kMaxSize || n > kMaxSize) return Invalid("K = ", k, ", N = ", n);
  const int64_t blocks = (k + block - 1) / block;
  const Tensor* weights = r.has(kB) ? r.in(kB)->fixed_constant() : nullptr;
  const bool known_zeros =
      !r.has(kZeros) || (r.in(kZeros)->fixed_constant() && r.dtype(kZeros) == DType::kUInt8);
  if (!weights || !known_zeros) {
    X2IR_ASSIGN_OR_RETURN(
        Expr w, ComputedWeights(r, r.in(kB), r.in(kScales), r.in(kZeros), n, blocks, block, bits));
    if (blocks * block != k) w = Slice(w, 1, Size(0), Size(k));
    Value* product = r.b.Op("matmul", {r.in(kA), Transpose(w, {1, 0})});
    return Values{r.has(kBias) ? r.b.Op("add", {product, r.in(kBias)}) : product};
  }
  absl::StatusOr<Tensor> unpacked = Unpacked(*weights, n, blocks * block, bits);
  if (!unpacked.ok()) return Annotate(unpacked.status(), "B");
  X2IR_ASSIGN_OR_RETURN(Tensor zeros, ZeroPoints(r, kZeros, n, blocks, bits));
  Builder& b = r.b;
  Value* scales = b.Op("reshape", {r.in(kScales), b.Ints({n, blocks})});
  Value* w = b.Op("dequantize_linear",
                  {b.Constant(*std::move(unpacked), "weights"), scales,
                   b.Constant(std::move(zeros), "zero_points")},
                  {{"axis", 1}, {"block_size", block}});
  if (blocks * block != k) w = b.Op("slice", {w, b.Ints({0}), b.Ints({k}), b.Ints({1})});
  Value* y = b.Op("matmul", {r.in(kA), b.Op("transpose", {w}, {{"perm", Attribute::Ints{1, 0}}})});
  return Values{r.has(kBias) ? b.Op("add", {y, r.in(kBias)}) : y};
}

// --- GatherBlockQuantized -----------------------------------------------------------------------

// Blocks along one axis, elements of another. Bytes hold numbers along the last one.
absl::StatusOr<Values> FromGatherBlockQuantized(Rewrite& r) {
  enum { kData, kIndices, kScales, kZeros };
  const int64_t bits = r.attrs().Int("bits", 4), block = r.attrs().Int("block_size", 128);
  const int64_t gather_axis = r.attrs().Int("gather_axis", 0);
  int64_t axis = r.attrs().Int("quantize_axis", 1);
  X2IR_RETURN_IF_ERROR(CheckBlocks(bits, block));
  Builder& b = r.b;
  Value *data = r.in(kData), *zeros = r.in(kZeros);
  if (r.dtype(kData) == DType::kUInt8) {
    const Tensor* bytes = data->fixed_constant();
    const Shape* scales = r.in(kScales)->shape();
    if (!bytes || !scales || !scales->is_static()) return Unimplemented("data that is computed");
    const int64_t rank = bytes->rank();
    if (axis < 0) axis += rank;
    if (rank < 1 || axis != rank - 1 || scales->rank() != rank) {
      return Unimplemented("bytes that hold numbers along another axis than the last");
    }
    std::vector<int64_t> dims = bytes->dims();
    if (dims.back() < 1 || dims.back() > kMaxSize) return Invalid("an axis of ", dims.back());
    const int64_t rows = bytes->num_elements() / dims.back();
    dims.back() *= 8 / bits;
    const int64_t blocks = (dims.back() + block - 1) / block;
    std::vector<int64_t> block_dims = dims;
    block_dims.back() = blocks;
    if (*scales != Shape::FromInts(block_dims))
      return Invalid("scales of shape ", scales->ToString());
    X2IR_ASSIGN_OR_RETURN(Tensor numbers, Unpacked(*bytes, rows, dims.back(), bits));
    X2IR_ASSIGN_OR_RETURN(Tensor middle, ZeroPoints(r, kZeros, rows, blocks, bits));
    data = b.Constant(numbers.Reshaped(dims), "data");
    zeros = b.Constant(middle.Reshaped(block_dims), "zero_points");
  } else if (bits != 4) {
    return Invalid("bits: ", bits, " for ", Name(r.dtype(kData)));
  }
  Value* y = b.Op("dequantize_linear", {data, r.in(kScales), zeros},
                  {{"axis", axis}, {"block_size", block}});
  return Values{b.Op("gather", {y, r.in(kIndices)}, {{"axis", gather_axis}})};
}

X2IR_ONNX(dequantize_linear)
    .Is("com.microsoft::MatMulNBits", Since(1), Code{FromMatMulNBits, nullptr})
    .Is("com.microsoft::GatherBlockQuantized", Since(1), Code{FromGatherBlockQuantized, nullptr});

}  // namespace
}  // namespace x2ir
