// ONNX Runtime's own domain: weights of few bits, quantized block by block. All of it is only read.
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/block_weights.h"

namespace x2ir {
namespace {

// Zero points: what the operand says, else the middle of the range.
absl::StatusOr<Tensor> ZeroPoints(const Rewrite& r, size_t operand, int64_t rows, int64_t count,
                                  int64_t bits) {
  if (!r.has(operand)) return MiddleZeroPoints(rows, count, bits);
  const Tensor* given = r.in(operand)->fixed_constant();
  if (!given) return Unimplemented("zero points that are computed");
  absl::StatusOr<Tensor> zeros = UnpackedRows(*given, rows, count, bits);
  if (!zeros.ok()) return Annotate(zeros.status(), "zero_points");
  return zeros;
}

constexpr int64_t kMaxSize = int64_t{1} << 30;  // of an axis: products of two fit

absl::Status CheckBlocks(int64_t bits, int64_t block) {
  X2IR_RETURN_IF_ERROR(CheckBits("bits", bits));
  if (block < 16 || block > kMaxSize || (block & (block - 1)) != 0) {
    return Invalid("block_size: expected a power of two from 16 on, got ", block);
  }
  return absl::OkStatus();
}

// --- Weights as arithmetic ----------------------------------------------------------------------

// Rows of `count` numbers, unpacked: a constant, or computed from bytes that are.
absl::StatusOr<Expr> NumbersOf(Builder& b, Value* bytes, int64_t rows, int64_t count,
                               int64_t bits) {
  if (const Tensor* constant = bytes->fixed_constant()) {
    X2IR_ASSIGN_OR_RETURN(Tensor numbers, UnpackedRows(*constant, rows, count, bits));
    return CastNow({b, b.Constant(std::move(numbers), "numbers")}, DType::kUInt8);
  }
  const Expr all = Expr(b, bytes).To(DType::kInt32);
  if (bits == 8) return Reshape(all, {rows, count});
  const int64_t row = RowBytes(count, bits), in_byte = 8 / bits;
  const Expr packed = Reshape(all, {rows, row, 1});
  std::vector<Value*> parts;
  for (int64_t i = 0; i < in_byte; ++i) {
    parts.push_back(Mod(packed / static_cast<double>(1 << (i * bits)), 1 << bits));
  }
  const Expr numbers = Reshape(Concat(b, parts, 2), {rows, row * in_byte});
  return row * in_byte == count ? numbers : Slice(numbers, 1, Size(0), Size(count));
}

// --- MatMulNBits --------------------------------------------------------------------------------

struct NBits {
  enum Operand { kA, kB, kScales, kZeros, kGroups, kBias };
};

// n rows of k numbers, in blocks along k.
struct Blocks {
  int64_t n, k, size, bits;
  int64_t count() const { return (k + size - 1) / size; }
};

// The group of each number along k, where the groups are not the blocks in order.
absl::StatusOr<Value*> Groups(Rewrite& r, const Blocks& w) {
  if (!r.has(NBits::kGroups)) return nullptr;
  const Tensor* constant = r.in(NBits::kGroups)->fixed_constant();
  if (constant && constant->num_elements() >= w.k) {
    bool in_order = true;
    for (int64_t i = 0; i < w.k && in_order; ++i) in_order = constant->AsInt(i) == i / w.size;
    if (in_order) return nullptr;
  }
  return Slice(Flat({r.b, r.in(NBits::kGroups)}), 0, Size(0), Size(w.k));
}

// (weight - zero point) * scale, [n, k].
absl::StatusOr<Expr> ComputedWeights(Rewrite& r, const Blocks& w, Value* groups) {
  Builder& b = r.b;
  const DType type = r.dtype(NBits::kScales);
  if (!IsFloating(type)) return Unimplemented("scales of unknown element type");
  if (r.dtype(NBits::kB) != DType::kUInt8) return Unimplemented("B: weights that are no bytes");
  // What each block has, for each number.
  const auto spread = [&](const Expr& x) {
    const Expr blocks = Reshape(x, {w.n, w.count()});
    if (groups) return Gather(blocks, groups, 1);
    const Expr each = Expand(Unsqueeze(blocks, {2}), Ints(b, {w.n, w.count(), w.size}));
    return Slice(Reshape(each, {w.n, w.count() * w.size}), 1, Size(0), Size(w.k));
  };
  const absl::StatusOr<Expr> read = NumbersOf(b, r.in(NBits::kB), w.n, w.count() * w.size, w.bits);
  if (!read.ok()) return Annotate(read.status(), "B");
  Expr numbers = *read;
  if (w.count() * w.size != w.k) numbers = Slice(numbers, 1, Size(0), Size(w.k));
  numbers = numbers.To(type);
  if (!r.has(NBits::kZeros)) {
    numbers = numbers - (1 << (w.bits - 1));
  } else if (r.dtype(NBits::kZeros) == DType::kUInt8) {
    const absl::StatusOr<Expr> zeros = NumbersOf(b, r.in(NBits::kZeros), w.n, w.count(), w.bits);
    if (!zeros.ok()) return Annotate(zeros.status(), "zero_points");
    numbers = numbers - spread(zeros->To(type));
  } else if (IsFloating(r.dtype(NBits::kZeros))) {
    numbers = numbers - spread(Expr(b, r.in(NBits::kZeros)).To(type));
  } else {
    return Unimplemented("zero_points of ", Name(r.dtype(NBits::kZeros)));
  }
  return numbers * spread({b, r.in(NBits::kScales)});
}

// The same of constants, as one node.
absl::StatusOr<Expr> ConstantWeights(Rewrite& r, const Blocks& w) {
  Builder& b = r.b;
  absl::StatusOr<Tensor> numbers =
      UnpackedRows(*r.in(NBits::kB)->fixed_constant(), w.n, w.count() * w.size, w.bits);
  if (!numbers.ok()) return Annotate(numbers.status(), "B");
  X2IR_ASSIGN_OR_RETURN(Tensor zeros, ZeroPoints(r, NBits::kZeros, w.n, w.count(), w.bits));
  const Expr scales = Reshape({b, r.in(NBits::kScales)}, {w.n, w.count()});
  const Expr y = Expr(b, b.Constant(*std::move(numbers), "weights"))
                     .Op("dequantize_linear", {scales, b.Constant(std::move(zeros), "zero_points")},
                         {{"axis", 1}, {"block_size", w.size}});
  return w.count() * w.size == w.k ? y : Slice(y, 1, Size(0), Size(w.k));
}

absl::StatusOr<Values> FromMatMulNBits(Rewrite& r) {
  if (r.attrs().Int("weight_prepacked", 0) != 0) {
    return Unimplemented("weight_prepacked: weights in an order of the device");
  }
  const Blocks w{r.attrs().Int("N"), r.attrs().Int("K"), r.attrs().Int("block_size"),
                 r.attrs().Int("bits", 4)};
  X2IR_RETURN_IF_ERROR(CheckBlocks(w.bits, w.size));
  if (w.k < 1 || w.n < 1 || w.k > kMaxSize || w.n > kMaxSize) {
    return Invalid("K = ", w.k, ", N = ", w.n);
  }
  X2IR_ASSIGN_OR_RETURN(Value * groups, Groups(r, w));
  const bool known_zeros = !r.has(NBits::kZeros) || (r.in(NBits::kZeros)->fixed_constant() &&
                                                     r.dtype(NBits::kZeros) == DType::kUInt8);
  const bool as_node =
      r.has(NBits::kB) && r.in(NBits::kB)->fixed_constant() && known_zeros && !groups;
  X2IR_ASSIGN_OR_RETURN(const Expr weights,
                        as_node ? ConstantWeights(r, w) : ComputedWeights(r, w, groups));
  Value* y = r.b.Op("matmul", {r.in(NBits::kA), Transpose(weights, {1, 0})});
  return Values{r.has(NBits::kBias) ? r.b.Op("add", {y, r.in(NBits::kBias)}) : y};
}

// --- MatMulBnb4 ---------------------------------------------------------------------------------

// Weights, [N, K], as one row of numbers of 4 bits, the high ones first, that pick from a table;
// each block of the row has its factor.
absl::StatusOr<Values> FromMatMulBnb4(Rewrite& r) {
  enum { kX, kWeights, kFactors };
  static constexpr double kFp4[] = {0,          0.0052083333, 0.66666667, 1,
                                    0.33333333, 0.5,          0.16666667, 0.25};
  static constexpr double kNf4[] = {-1.0,        -0.69619280, -0.52507305, -0.39491749,
                                    -0.28444138, -0.18477343, -0.09105004, 0.0,
                                    0.07958030,  0.16093020,  0.24611230,  0.33791524,
                                    0.44070983,  0.56261700,  0.72295684,  1.0};
  const int64_t k = r.attrs().Int("K"), n = r.attrs().Int("N");
  const int64_t block = r.attrs().Int("block_size"), type = r.attrs().Int("quant_type");
  X2IR_RETURN_IF_ERROR(CheckBlocks(4, block));
  if (k < 1 || n < 1 || k > kMaxSize || n > kMaxSize) return Invalid("K = ", k, ", N = ", n);
  if (type != 0 && type != 1) return Invalid("quant_type: expected 0 or 1, got ", type);
  if (!IsFloating(r.dtype(kFactors))) return Unimplemented("absmax: an unknown element type");
  std::vector<double> table(kNf4, kNf4 + 16);
  for (int i = 0; type == 0 && i < 16; ++i) table[i] = i < 8 ? kFp4[i] : -kFp4[i - 8];
  Builder& b = r.b;
  const int64_t bytes = n * k / 2 + n * k % 2, blocks = n * k / block + (n * k % block != 0);
  const Expr pairs = Reshape(Expr(b, r.in(kWeights)).To(DType::kInt32), {bytes, 1});
  const Expr places = Flat(Concat(b, {pairs / 16, Mod(pairs, 16)}, 1));
  const Expr numbers = Slice(Gather(NumbersAs(b, r.dtype(kFactors), {16}, table), places, 0), 0,
                             Size(0), Size(n * k));
  const Expr each = Expand(Reshape({b, r.in(kFactors)}, {blocks, 1}), Ints(b, {blocks, block}));
  const Expr factors = Slice(Flat(each), 0, Size(0), Size(n * k));
  const Expr weights = Reshape(numbers * factors, {n, k});
  const bool turned = r.attrs().Int("transB", 1) != 0;
  return Values{MatMul({b, r.in(kX)}, turned ? Transpose(weights, {1, 0}) : weights)};
}

// --- GatherBlockQuantized -----------------------------------------------------------------------

// Blocks along one axis, elements of another. Bytes hold numbers along the last one.
absl::StatusOr<Values> FromGatherBlockQuantized(Rewrite& r) {
  enum { kData, kIndices, kDataScales, kDataZeros };
  const int64_t bits = r.attrs().Int("bits", 4), block = r.attrs().Int("block_size", 128);
  const int64_t gather_axis = r.attrs().Int("gather_axis", 0);
  int64_t axis = r.attrs().Int("quantize_axis", 1);
  X2IR_RETURN_IF_ERROR(CheckBlocks(bits, block));
  Builder& b = r.b;
  Value *data = r.in(kData), *zeros = r.in(kDataZeros);
  if (r.dtype(kData) == DType::kUInt8) {
    const Tensor* bytes = data->fixed_constant();
    const Shape* scales = r.in(kDataScales)->shape();
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
    X2IR_ASSIGN_OR_RETURN(Tensor numbers, UnpackedRows(*bytes, rows, dims.back(), bits));
    X2IR_ASSIGN_OR_RETURN(Tensor middle, ZeroPoints(r, kDataZeros, rows, blocks, bits));
    data = b.Constant(numbers.Reshaped(dims), "data");
    zeros = b.Constant(middle.Reshaped(block_dims), "zero_points");
  } else if (bits != 4) {
    return Invalid("bits: ", bits, " for ", Name(r.dtype(kData)));
  }
  Value* y = b.Op("dequantize_linear", {data, r.in(kDataScales), zeros},
                  {{"axis", axis}, {"block_size", block}});
  return Values{b.Op("gather", {y, r.in(kIndices)}, {{"axis", gather_axis}})};
}

X2IR_ONNX(matmul).Is("com.microsoft::MatMulBnb4", Since(1), Code{FromMatMulBnb4, nullptr});
X2IR_ONNX(dequantize_linear)
    .Is("com.microsoft::MatMulNBits", Since(1), Code{FromMatMulNBits, nullptr})
    .Is("com.microsoft::GatherBlockQuantized", Since(1), Code{FromGatherBlockQuantized, nullptr});

}  // namespace
}  // namespace x2ir
