// TensorFlow: layers on integers that represent floats of a range, whose ends are operands too.
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/quantize.h"
#include "x2ir/handlers/tf/windows.h"

namespace x2ir {
namespace {

// --- What hands its range on ----------------------------------------------------------------

Values WithRange(TfArgs& a, Value* y, size_t least, size_t greatest) {
  return {y, a.Op("identity", {a.in(least)}), a.Op("identity", {a.in(greatest)})};
}

Values QuantizedReshape(TfArgs& a) {
  return WithRange(a, ReshapeTo(a.in(0), a.AsInt64(a.in(1))), 2, 3);
}

// No number below 0, and none above 6 if there is a `last`.
Values Rectified(TfArgs& a, bool bounded) {
  const Expr q(a.b(), a.in(0));
  const QuantizedLimits limits = LimitsOf(a, q.dtype());
  a.Require(a.Type("out_type", DType::kUInt8) == q.dtype(), "a result of another type");
  const QuantizedRange range = RangeAt(a, 1, 2);
  const auto bound = [&](double number) {
    const Expr steps = QuantizedNumber(number, range, limits);
    return Min(Max(steps, limits.least), limits.greatest).To(q.dtype());
  };
  const Expr y = Max(q, bound(0));
  return WithRange(a, (bounded ? Min(y, bound(6)) : y).value(), 1, 2);
}
Values QuantizedRelu(TfArgs& a) { return Rectified(a, false); }
Values QuantizedRelu6(TfArgs& a) { return Rectified(a, true); }

Values QuantizedMaxPool(TfArgs& a) {
  const Window window = TakePoolWindow(a, TfLayout(), 2);
  return WithRange(a, a.Op("max_pool", {a.in(0)}, PoolAttrs(window)), 1, 2);
}

// Operands: the axis, tensors, their lower ends, their upper ends. The common range holds all of
// them, and on both sides of zero as far where numbers have signs; a tensor of that range stays.
absl::StatusOr<Values> QuantizedConcat(TfArgs& a) {
  if (a.num_inputs() < 4 || a.num_inputs() % 3 != 1) {
    return Invalid("expected an axis, tensors and as many ranges, got ", a.num_inputs(),
                   " operands");
  }
  const size_t count = (a.num_inputs() - 1) / 3;
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, a.KnownInt(0, "axis"));
  const DType t = a.dtype(1);
  const QuantizedLimits limits = LimitsOf(a, t);
  std::vector<QuantizedRange> ranges;
  for (size_t i = 1; i <= count; ++i) ranges.push_back(RangeAt(a, i + count, i + 2 * count));
  QuantizedRange all = ranges[0];
  for (const QuantizedRange& range : ranges) {
    all = {Min(all.least, range.least), Max(all.greatest, range.greatest)};
  }
  if (limits.is_signed()) {
    const Expr largest = Max(Abs(all.least), Abs(all.greatest));
    all = {-largest, largest};
  }
  std::vector<Value*> parts;
  for (size_t i = 0; i < count; ++i) {
    const Expr q(a.b(), a.in(i + 1));
    const Expr same = (ranges[i].least == all.least) & (ranges[i].greatest == all.greatest);
    const Expr moved = QuantizedMinFirst(DequantizedMinFirst(q, ranges[i], limits), all, limits, t);
    parts.push_back(Where(same, q, moved).value());
  }
  return Values{a.Op("concat", std::move(parts), {{"axis", axis}}), all.least.value(),
                all.greatest.value()};
}

// --- Sums of products: int32 ----------------------------------------------------------------

// Subtracts the integer that represents 0.
Value* FromZero(TfArgs& a, size_t i, const QuantizedRange& range) {
  const Expr q(a.b(), a.in(i));
  const Expr zero = QuantizedNumber(0, range, LimitsOf(a, q.dtype()));
  return (q.To(DType::kInt32) - zero.To(DType::kInt32)).value();
}
// The range of int32 by the steps of both operands.
QuantizedRange RangeOfProducts(TfArgs& a, const QuantizedRange& x, const QuantizedRange& y) {
  const auto step = [&](size_t i, const QuantizedRange& range) {
    return (range.greatest - range.least) / (LimitsOf(a, a.dtype(i)).steps() - 1);
  };
  const Expr both = step(0, x) * step(1, y);
  return {both * -2147483648.0, both * 2147483647.0};
}
Values QuantizedMatMul(TfArgs& a) {
  a.Type("Tactivation", DType::kUInt8);
  a.Require(a.Type("Toutput", DType::kInt32) == DType::kInt32, "sums of other types than int32");
  const QuantizedRange x = RangeAt(a, 2, 3), y = RangeAt(a, 4, 5);
  const auto turned = [&](Value* v, Symbol attr) {
    return a.Bool(attr, false) ? Transpose({a, v}, {1, 0}) : v;
  };
  Value* left = turned(FromZero(a, 0, x), "transpose_a");
  Value* right = turned(FromZero(a, 1, y), "transpose_b");
  const QuantizedRange range = RangeOfProducts(a, x, y);
  return {a.Op("matmul", {left, right}), range.least.value(), range.greatest.value()};
}

// Windows as rows of a matrix.
absl::StatusOr<Values> QuantizedConv2D(TfArgs& a) {
  a.Require(a.Type("out_type", DType::kInt32) == DType::kInt32, "sums of other types than int32");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank != 4) return Invalid("expected a kernel of rank 4, got ", rank);
  std::vector<int64_t> kernel;
  for (const Dim& dim : *a.shape(1)) {
    if (!dim.is_static()) return Unimplemented("the kernel's size is not known");
    kernel.push_back(dim.value());
  }
  Window w = TakeConvWindow(a, TfLayout(), 2);
  w.kernel = {kernel[0], kernel[1]};
  a.IntList("padding_list", {});
  const QuantizedRange x = RangeAt(a, 2, 3), y = RangeAt(a, 4, 5);
  X2IR_ASSIGN_OR_RETURN(Value * patches, Patches(a, FromZero(a, 0, x), w, nullptr));
  const std::optional<int64_t> count = CheckedProduct({kernel[0], kernel[1], kernel[2]});
  if (!count || *count == 0) return Invalid("a kernel of no or too many elements");
  Value* sizes = ShapeOf({a, patches}, 0, 3);
  Value* rows = ReshapeTo({a, patches}, Concat(a, {sizes, a.b().Ints({*count})}, 0));
  Value* columns = ReshapeTo({a, FromZero(a, 1, y)}, Ints(a, {*count, kernel[3]}));
  const QuantizedRange range = RangeOfProducts(a, x, y);
  return Values{a.Op("matmul", {rows, columns}), range.least.value(), range.greatest.value()};
}

// Both as int32 of a range of 2^17 times what either may be; zero is where it would be.
Values QuantizedBiasAdd(TfArgs& a) {
  a.Require(a.Type("out_type", DType::kInt32) == DType::kInt32, "sums of other types than int32");
  const QuantizedRange x = RangeAt(a, 2, 3), y = RangeAt(a, 4, 5);
  const Expr most =
      Max(Max(x.greatest, -x.least), Max(y.greatest, -y.least)) * static_cast<double>(1 << 17);
  const QuantizedRange range{-most, most};
  const QuantizedLimits limits = LimitsOf(a, DType::kInt32);
  const auto wide = [&](size_t i, const QuantizedRange& own) {
    const Expr q(a.b(), a.in(i));
    return QuantizedMinFirst(DequantizedMinFirst(q, own, LimitsOf(a, q.dtype())), range, limits,
                             DType::kInt32);
  };
  const Expr zero = QuantizedNumber(0, range, limits);
  const Expr offset = Max(Min(zero, limits.greatest), limits.least).To(DType::kInt32);
  const Expr sum = wide(0, x) + (wide(1, y) + offset);
  return {sum.value(), range.least.value(), range.greatest.value()};
}

// Over the elements that a window has; the remainder of the division is dropped.
absl::StatusOr<Values> QuantizedAvgPool(TfArgs& a) {
  Window w = TakePoolWindow(a, TfLayout(), 2);
  w.dilations = {1, 1};
  const DType t = a.in(0)->dtype();
  LimitsOf(a, t);
  const auto sums = [&](Value* v) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(Value * patches, Patches(a, v, w, nullptr));
    return a.Op("reduce_sum", {patches, a.b().Ints({3, 4})}, {{"keepdims", 0}});
  };
  Value* x = a.Cast(a.in(0), DType::kInt32);
  Value* ones = a.Op("expand", {a.b().Scalar(DType::kInt32, 1), a.Op("shape", {x})});
  X2IR_ASSIGN_OR_RETURN(Value * sum, sums(x));
  X2IR_ASSIGN_OR_RETURN(Value * count, sums(ones));
  return WithRange(a, a.Cast(a.Op("div", {sum, count}), t), 1, 2);
}

}  // namespace

X2IR_TF(reshape).From("QuantizedReshape", QuantizedReshape);
X2IR_TF(max).From({{"QuantizedRelu", QuantizedRelu}, {"QuantizedRelu6", QuantizedRelu6}});
X2IR_TF(max_pool).From("QuantizedMaxPool", QuantizedMaxPool);
X2IR_TF(concat).From("QuantizedConcat", QuantizedConcat);
X2IR_TF(matmul).From({{"QuantizedMatMul", QuantizedMatMul}, {"QuantizedConv2D", QuantizedConv2D}});
X2IR_TF(add).From("QuantizedBiasAdd", QuantizedBiasAdd);
X2IR_TF(div).From("QuantizedAvgPool", QuantizedAvgPool);

}  // namespace x2ir
