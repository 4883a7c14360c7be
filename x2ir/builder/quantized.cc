#include "x2ir/builder/quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int64_t kMaxExact = int64_t{1} << 22;  // elements of a constant that is quantized exactly
constexpr int64_t kMaxScales = int64_t{1} << 24;

ValueBounds BoundsAt(const Value* value, int depth) {
  constexpr int kMaxDepth = 16;
  const ValueBounds unknown = value && IsInteger(value->dtype()) ? RangeOfInteger(value->dtype())
                                                                 : ValueBounds{-kNever, kNever};
  if (const Tensor* tensor = SettledTensor(value)) {
    if (!IsInteger(tensor->dtype()) && !IsFloating(tensor->dtype())) return unknown;
    ValueBounds all{kNever, -kNever};
    const Numbers<double> numbers(*tensor);
    for (const double number : numbers.span()) {
      if (std::isnan(number)) return unknown;
      all = {std::min(all.low, number), std::max(all.high, number)};
    }
    return numbers.size() == 0 ? unknown : all;
  }
  const Node* node = value ? value->producer() : nullptr;
  if (!node || !node->is_ir() || depth == kMaxDepth) return unknown;
  const std::string_view op = node->op().view();
  const auto at = [&](size_t i) {
    const bool there = i < node->num_inputs() && node->input(i);
    return there ? BoundsAt(node->input(i), depth + 1) : ValueBounds{-kNever, kNever};
  };
  ValueBounds found = unknown;
  // Formulas of the ops that models have between a scale or zero point and its use.
  if (op == "identity" || op == "reshape" || op == "squeeze" || op == "unsqueeze" ||
      op == "expand" || op == "transpose" || op == "gather" || op == "slice") {
    found = at(0);
  } else if (op == "cast") {
    // Whole parts of floats; integers that do not fit wrap around.
    const ValueBounds from = at(0);
    if (!IsInteger(value->dtype())) return IsFloating(value->dtype()) ? from : unknown;
    if (!from.Within(unknown.low, unknown.high)) return unknown;
    found = {std::trunc(from.low), std::trunc(from.high)};
  } else if (op == "round") {
    found = {std::nearbyint(at(0).low), std::nearbyint(at(0).high)};
  } else if (op == "clip") {
    const ValueBounds x = at(0), least = at(1), most = at(2);
    found = {std::max(x.low, least.low), std::min(x.high, most.high)};
    if (found.low > most.high) found.low = most.high;
    if (found.high < least.low) found.high = least.low;
  } else if (op == "where") {
    const ValueBounds a = at(1), b = at(2);
    found = {std::min(a.low, b.low), std::max(a.high, b.high)};
  } else if ((op == "min" || op == "max") && node->num_inputs() == 2) {
    const ValueBounds a = at(0), b = at(1);
    found = op == "min" ? ValueBounds{std::min(a.low, b.low), std::min(a.high, b.high)}
                        : ValueBounds{std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  return {std::max(found.low, unknown.low), std::min(found.high, unknown.high)};
}

bool IsOne(const Value* value) {
  const Shape* shape = value->shape();
  return shape && (shape->rank() == 0 || (shape->rank() == 1 && (*shape)[0] == Dim(1)));
}

// Whether zero points are known to be integers of that type.
bool FitsAs(const Value* zero_point, DType type) {
  if (!zero_point) return true;
  const ValueBounds range = RangeOfInteger(type);
  if (!BoundsOf(zero_point).Within(range.low, range.high)) return false;
  if (!IsFloating(zero_point->dtype())) return true;
  const Tensor* tensor = SettledTensor(zero_point);
  if (!tensor) return false;
  const Numbers<double> numbers(*tensor);
  return std::all_of(numbers.span().begin(), numbers.span().end(),
                     [](double number) { return number == std::trunc(number); });
}

bool IsZero(const Value* zero_point) {
  const ValueBounds bounds = BoundsOf(zero_point);
  return bounds.low == 0 && bounds.high == 0;
}

AttributeMap AttrsOf(const QuantizationParams& steps) {
  AttributeMap attrs;
  if (steps.axis) attrs.Set("axis", *steps.axis);
  if (steps.block_size != 0) attrs.Set("block_size", steps.block_size);
  return attrs;
}

// The op, with a zero point of that type where there is one.
Expr UnitOp(const Expr& x, const char* op, const Expr& scale, const Expr& zero_point, DType type,
            AttributeMap attrs) {
  std::vector<Value*> operands = {scale};
  if (zero_point.value()) operands.push_back(CastNow(zero_point, type));
  return x.Op(op, std::move(operands), std::move(attrs));
}

bool IsOfOp(DType integers) { return IsInteger(integers) && BitWidth(integers) <= 16; }

// round(x * (1 / scale)) + zero_point, in x's type.
Expr Steps(const Expr& x, const QuantizationParams& steps) {
  const Expr inverse = Reciprocal(PlacedAlong(x, steps.scale, steps)).To(x.dtype());
  const Expr rounded = Round(x * inverse);
  if (!steps.zero_point.value() || IsZero(steps.zero_point)) return rounded;
  return rounded + PlacedAlong(x, steps.zero_point, steps).To(x.dtype());
}

// Between integers, the least for NaN; what float32 makes of an int32's greatest is less than it
// would be.
Expr Bounded(const Expr& steps, const IntegerRange& range) {
  const auto low = static_cast<double>(range.low);
  double high = static_cast<double>(range.high);
  if (steps.dtype() == DType::kFloat32 && range.high > (int64_t{1} << 24)) {
    high = std::nextafter(static_cast<float>(range.high), 0.0f);
  }
  return Min(Where(steps >= low, steps, low), high);
}

// The op that made a value, apart from other shapes and names of it.
const Node* MakerOf(const Value* value) {
  const Node* node = value->producer();
  for (;;) {
    const OpDef* op = OpOf(node);
    if (!op || (op->moves() != MoveUse::kInOrder && !node->Is("identity"))) return node;
    node = node->input(0)->producer();
  }
}

// Whether numbers in the middle of two steps are to be expected, of which a division and a product
// with the reciprocal make different ones: the largest number of all, where the scale is made of it
// and zero is where it is; means of an even count of numbers that were of the same steps.
bool MeetsHalves(const Expr& x, const QuantizationParams& steps) {
  if (!IsSettled(steps.scale)) {
    if (!steps.zero_point.value()) return true;
    const ValueBounds zero = BoundsOf(steps.zero_point);
    return zero.low == zero.high;
  }
  const Node* mean = MakerOf(x);
  const OpDef* op = OpOf(mean);
  if (!op || op->gives() != ResultUse::kMeans) return false;
  const Node* before = MakerOf(mean->input(0));
  if (!before || !before->Is("dequantize_linear")) return false;
  if (mean->Is("average_pool") && mean->attrs().Has("kernel_shape")) {
    bool odd = true;
    for (const int64_t size : mean->attrs().Ints("kernel_shape")) odd = odd && size % 2 == 1;
    if (odd) return false;
  }
  const Tensor *here = SettledTensor(steps.scale), *there = SettledTensor(before->input(1));
  if (!here || !there) return true;
  return here->num_elements() == 1 && there->num_elements() == 1 &&
         static_cast<float>(here->AsDouble(0)) == static_cast<float>(there->AsDouble(0));
}

// Weights in blocks that need no more than 4 bits: the type that holds them; else undefined.
// Runtimes have kernels for products with these.
DType FourBitsOf(const Expr& q, const QuantizationParams& steps) {
  if (steps.block_size == 0 || !SettledTensor(q) || BitWidth(q.dtype()) != 8) {
    return DType::kUndefined;
  }
  const ValueBounds bounds = BoundsOf(q);
  for (const DType t : {DType::kInt4, DType::kUInt4}) {
    const ValueBounds range = RangeOfInteger(t);
    if (bounds.Within(range.low, range.high) && FitsAs(steps.zero_point, t)) return t;
  }
  return DType::kUndefined;
}

}  // namespace

const Tensor* SettledTensor(const Value* value) {
  const Value* source = WithoutIdentities(value);
  const Tensor* tensor = source ? source->fixed_constant() : nullptr;
  return tensor && !tensor->is_sparse() && !tensor->is_string() ? tensor : nullptr;
}

ValueBounds BoundsOf(const Value* value) { return BoundsAt(value, 0); }

Expr CastNow(const Expr& x, DType to) {
  if (x.dtype() == to) return x;
  if (const Tensor* tensor = SettledTensor(x)) {
    auto cast = CastTensor(*tensor, to);
    if (cast.ok()) return {x.builder(), x.builder().Constant(*std::move(cast))};
  }
  return x.To(to);
}

bool IsSettled(const Value* value) {
  constexpr size_t kMaxNodes = 256;
  const Shape* shape = value->shape();
  const Dim count = shape ? shape->NumElements() : Dim();
  if (!count.is_static() || count.value() > kMaxExact) return false;
  absl::flat_hash_set<const Node*> seen;
  std::vector<const Value*> open = {value};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!v || v->fixed_constant()) continue;
    const Node* node = v->producer();
    if (!node || !node->is_ir() || node->num_inputs() == 0 || !node->subgraphs().empty()) {
      return false;
    }
    if (!seen.insert(node).second) continue;
    if (seen.size() > kMaxNodes) return false;
    for (const Value* operand : node->inputs()) open.push_back(operand);
  }
  return true;
}

ValueBounds RangeOfInteger(DType type) {
  const int bits = BitWidth(type);
  if (IsSignedInt(type)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {0, std::ldexp(1.0, bits) - 1};
}

Expr PlacedAlong(const Expr& x, const Expr& numbers, const QuantizationParams& steps) {
  if (IsOne(numbers)) return numbers.rank() == 0 ? numbers : Squeeze(numbers, {0});
  if (!steps.axis) return numbers;
  const int64_t rank = x.rank(), axis = *steps.axis < 0 ? *steps.axis + rank : *steps.axis;
  if (steps.block_size == 0) return AlongAxis(numbers, axis, rank);
  const Dim size = DimAt(x, axis);
  if (!size.is_static() || size.value() > kMaxScales) {
    x.builder().Fail(Unimplemented("blocks of an axis whose size is not known"));
    return numbers;
  }
  if (DimAt(numbers, axis) == Dim(1)) return numbers;
  std::vector<int64_t> picks(static_cast<size_t>(size.value()));
  for (size_t i = 0; i < picks.size(); ++i) picks[i] = static_cast<int64_t>(i) / steps.block_size;
  return Gather(numbers, Ints(x.builder(), picks), axis);
}

Expr Quantized(const Expr& x, const QuantizationParams& steps, const IntegerRange& range) {
  if (x.dtype() != DType::kFloat32 || !IsOfOp(range.type) ||
      !FitsAs(steps.zero_point, range.type) || IsSettled(x) || MeetsHalves(x, steps)) {
    return CastNow(Bounded(Steps(x, steps), range), range.type);
  }
  AttributeMap attrs = AttrsOf(steps);
  if (!steps.zero_point.value()) attrs.Set("output_dtype", Name(range.type));
  const Expr q = UnitOp(x, "quantize_linear", CastNow(steps.scale, DType::kFloat32),
                        steps.zero_point, range.type, std::move(attrs));
  const ValueBounds all = RangeOfInteger(range.type);
  if (all.Within(static_cast<double>(range.low), static_cast<double>(range.high))) return q;
  return q.Op("clip", {IntegerOf(x.builder(), range.type, range.low),
                       IntegerOf(x.builder(), range.type, range.high)});
}

Expr Dequantized(const Expr& q, const QuantizationParams& steps, DType to) {
  if (const DType narrow = FourBitsOf(q, steps); narrow != DType::kUndefined) {
    return Dequantized(CastNow(q, narrow), steps, to);
  }
  if (steps.block_size != 0 && steps.zero_point.value() && IsZero(steps.zero_point)) {
    QuantizationParams without = steps;
    without.zero_point = nullptr;
    return Dequantized(q, without, to);
  }
  const DType t = q.dtype();
  // An int32 has no zero point there.
  const bool fits =
      IsOfOp(t) ? FitsAs(steps.zero_point, t)
                : t == DType::kInt32 && (!steps.zero_point.value() || IsZero(steps.zero_point));
  const bool real = to == DType::kFloat32 || to == DType::kFloat16 || to == DType::kBFloat16;
  if (!fits || !real) {
    const DType wide = to == DType::kFloat64 ? to : AtLeastFloat32(to);
    Expr y = q.To(wide);
    if (steps.zero_point.value()) y = y - PlacedAlong(q, steps.zero_point, steps).To(wide);
    return (y * PlacedAlong(q, steps.scale, steps).To(wide)).To(to);
  }
  AttributeMap attrs = AttrsOf(steps);
  Expr scale = steps.scale;
  if (scale.dtype() == DType::kFloat64 || scale.dtype() == DType::kBFloat16) {
    scale = CastNow(scale, DType::kFloat32);
  }
  // Few runtimes have the op for bfloat16; the product is exact in float32.
  if (to == DType::kBFloat16) return Dequantized(q, steps, DType::kFloat32).To(to);
  if (scale.dtype() != to) attrs.Set("output_dtype", Name(to));
  const Expr zero_point = IsOfOp(t) ? steps.zero_point : Expr(nullptr);
  return UnitOp(q, "dequantize_linear", scale, zero_point, t, std::move(attrs));
}

Expr FakeQuantized(const Expr& x, const QuantizationParams& steps, int64_t low, int64_t high) {
  constexpr DType kTypes[] = {DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16};
  const Expr wide = x.To(AtLeastFloat32(x.dtype()));
  for (const DType t : kTypes) {
    const ValueBounds range = RangeOfInteger(t);
    if (wide.dtype() != DType::kFloat32 || static_cast<double>(low) < range.low ||
        static_cast<double>(high) > range.high || !FitsAs(steps.zero_point, t)) {
      continue;
    }
    return Dequantized(Quantized(wide, steps, {t, low, high}), steps, DType::kFloat32)
        .To(x.dtype());
  }
  // NaN is below every bound.
  const Expr q = Steps(wide, steps);
  const Expr bounded = Where(q >= static_cast<double>(low), q, static_cast<double>(low));
  Expr y = Min(bounded, static_cast<double>(high));
  if (steps.zero_point.value()) {
    y = y - PlacedAlong(x, steps.zero_point, steps).To(wide.dtype());
  }
  return (y * PlacedAlong(x, steps.scale, steps).To(wide.dtype())).To(x.dtype());
}

}  // namespace x2ir
