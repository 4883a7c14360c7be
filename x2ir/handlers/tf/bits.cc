// TensorFlow: ops on the bits of elements.
#include <memory>
#include <numeric>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

DType BitsOf(DType t) {
  switch (BitWidth(t)) {
    case 8: return DType::kUInt8;
    case 16: return DType::kUInt16;
    case 32: return DType::kUInt32;
    default: return DType::kUInt64;
  }
}

Value* SameWidth(TfArgs& a, Value* v, DType to) {
  return v->dtype() == to ? v : a.Op("bit_cast", {v}, {{"to", Name(to)}});
}

// By how far each of the narrow elements is shifted in a wide one, the first not at all.
Value* Places(TfArgs& a, DType wide, DType narrow) {
  std::vector<int64_t> places;
  for (int64_t at = 0; at < BitWidth(wide); at += BitWidth(narrow)) places.push_back(at);
  return a.Cast(a.b().Ints(places), wide);
}

// The same bytes with another last axis. Few opsets can say it, so it is done here.
absl::StatusOr<Value*> BitcastConstant(TfArgs& a, const Tensor& x, DType to) {
  std::vector<int64_t> dims = x.dims();
  const int64_t from = BitWidth(x.dtype()), bits = BitWidth(to);
  if (from > bits) dims.push_back(from / bits);
  if (from < bits) {
    if (dims.empty() || dims.back() != bits / from) {
      return Invalid("the last axis: expected ", bits / from, " elements for one of ", Name(to));
    }
    dims.pop_back();
  }
  const auto keep = std::make_shared<Tensor>(x);
  X2IR_ASSIGN_OR_RETURN(const Tensor seen, Tensor::View(to, std::move(dims), keep->bytes(), keep));
  return a.Op("identity", {a.b().Constant(seen.AlignedCopyIfNeeded())});
}

// The same bits as elements of another type. Narrower elements are a new last axis, wider ones
// take it away; little-endian, as files are.
absl::StatusOr<Value*> Bitcast(TfArgs& a) {
  Value* x = a.in(0);
  const DType from = x->dtype(), to = a.Type("type", DType::kUndefined);
  const auto fits = [](DType t) {
    return (IsFloating(t) || IsInteger(t)) && BitWidth(t) >= 8 && BitWidth(t) <= 64;
  };
  if (from == to && from != DType::kUndefined) return a.Op("identity", {x});
  if (!fits(from) || !fits(to)) {
    return Unimplemented("a bitcast from ", Name(from), " to ", Name(to));
  }
  if (const Tensor* constant = ConstantBehind(x)) return BitcastConstant(a, *constant, to);
  if (BitWidth(from) == BitWidth(to)) return SameWidth(a, x, to);
  const DType bits_of_x = BitsOf(from), bits = BitsOf(to);
  x = SameWidth(a, x, bits_of_x);
  if (BitWidth(from) > BitWidth(to)) {
    Value* shifted = a.Op("bit_shift", {Unsqueeze({a, x}, {-1}), Places(a, bits_of_x, bits)},
                          {{"direction", "RIGHT"}});
    // A cast to fewer bits takes the lower ones.
    return SameWidth(a, a.Cast(shifted, bits), to);
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const int64_t ratio = BitWidth(to) / BitWidth(from);
  const Dim size = rank > 0 ? (*a.shape(0))[rank - 1] : Dim(0);
  if (!size.is_static()) return Unimplemented("the size of the last axis is not known");
  if (size.value() != ratio) {
    return Invalid("the last axis: expected ", ratio, " elements for one of ", Name(to));
  }
  // By a product of matrices: runtimes have no kernels of sums of unsigned integers, nor of
  // products of less than 32 bits.
  const DType wide = BitWidth(bits) < 32 ? DType::kUInt32 : bits;
  std::vector<uint64_t> powers;
  for (int64_t i = 0; i < ratio; ++i) powers.push_back(uint64_t{1} << (i * BitWidth(from)));
  Value* column = a.Cast(a.b().Constant(Tensor::Of<uint64_t>({ratio, 1}, powers)), wide);
  Value* sum = Squeeze({a, a.Op("matmul", {a.Cast(x, wide), column})}, {rank - 1});
  return SameWidth(a, a.Cast(sum, bits), to);
}

// Eight comparisons a byte, the first the highest bit. Bools are packed as they are: TensorFlow's
// kernel ignores their threshold.
absl::StatusOr<Value*> CompareAndBitpack(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 1) return Invalid("expected rank 1 or more");
  Value* x = a.in(0);
  Value* above = x->dtype() == DType::kBool ? x : a.Op("greater", {x, a.in(1)});
  Value* eight = a.b().Ints({8});
  Value* bytes = a.Op("div", {ShapeOf({a, x}, rank - 1), eight});
  std::vector<Value*> sizes;
  if (rank > 1) sizes.push_back(ShapeOf({a, x}, 0, rank - 1));
  sizes.push_back(bytes);
  sizes.push_back(eight);
  above = ReshapeTo({a, above}, Concat(a, sizes, 0));
  Value* values = a.Cast(a.b().Ints({128, 64, 32, 16, 8, 4, 2, 1}), DType::kInt32);
  Value* bits = a.Op("mul", {a.Cast(above, DType::kInt32), values});
  return a.Cast(Reduce({a, bits}, "reduce_sum", {-1}), DType::kUInt8);
}

// How many bits are set: uint8.
Value* PopulationCount(TfArgs& a) {
  const DType t = a.in(0)->dtype();
  if (!IsInteger(t) || BitWidth(t) < 8) {
    a.b().Fail(Invalid("bits of ", Name(t)));
    return a.in(0);
  }
  const DType bits = BitsOf(t);
  std::vector<int64_t> places(BitWidth(t));
  std::iota(places.begin(), places.end(), 0);
  Value* each =
      a.Op("bit_shift",
           {Unsqueeze({a, SameWidth(a, a.in(0), bits)}, {-1}), a.Cast(a.b().Ints(places), bits)},
           {{"direction", "RIGHT"}});
  Value* lowest = a.Cast(a.Op("mod", {each, a.b().Scalar(bits, 2)}), DType::kInt32);
  return a.Cast(Reduce({a, lowest}, "reduce_sum", {-1}), DType::kUInt8);
}

// The next number of the type from x towards y. The bits of numbers of one sign are in the order of
// the numbers.
absl::StatusOr<Value*> NextAfter(TfArgs& a) {
  Value* x = a.in(0);
  Value* y = a.in(1);
  const DType t = x->dtype();
  if (t != DType::kFloat32 && t != DType::kFloat64) {
    return Unimplemented("elements of ", Name(t));
  }
  const DType bits = t == DType::kFloat32 ? DType::kInt32 : DType::kInt64;
  const auto number = [&](int64_t v) { return a.b().Scalar(bits, static_cast<double>(v)); };
  Value* zero = a.b().Scalar(t, 0);
  Value* away = a.Op("equal", {a.Op("greater", {y, x}), a.Op("greater", {x, zero})});
  Value* step = Where({a, away}, {a, number(1)}, {a, number(-1)});
  Value* moved = SameWidth(a, a.Op("add", {SameWidth(a, x, bits), step}), t);
  Value* least = SameWidth(a, number(1), t);
  Value* from_zero = Where(a.Op("greater", {y, zero}), {a, least}, a.Op("neg", {least}));
  Value* next = Where(a.Op("equal", {x, zero}), {a, from_zero}, {a, moved});
  Value* nan = a.Op("or", {a.Op("is_nan", {x}), a.Op("is_nan", {y})});
  next = Where(a.Op("equal", {x, y}), {a, y}, {a, next});
  return Where({a, nan}, a.Op("add", {x, y}), {a, next});
}

}  // namespace

X2IR_TF(bit_cast).From("Bitcast", Bitcast);
X2IR_TF(greater).From("CompareAndBitpack", CompareAndBitpack);
X2IR_TF(bit_shift).From("PopulationCount", PopulationCount);
X2IR_TF(add).From("NextAfter", NextAfter);

}  // namespace x2ir
