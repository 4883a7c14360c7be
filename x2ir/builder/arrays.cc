#include "x2ir/builder/arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

int64_t FromFront(const Value* x, int64_t axis) {
  return axis < 0 && x->shape() ? axis + x->shape()->rank() : axis;
}

}  // namespace

// --- Types and constants ------------------------------------------------------------------------

DType AtLeastFloat32(DType t) { return IsFloating(t) && BitWidth(t) < 32 ? DType::kFloat32 : t; }

DType WideType(DType t) {
  if (t == DType::kBool || (IsInteger(t) && BitWidth(t) < 32)) return DType::kInt32;
  return t == DType::kUInt32 ? DType::kInt64 : AtLeastFloat32(t);
}

void RequireReal(const Expr& x) {
  if (IsComplex(x.dtype())) x.builder().Fail(Unimplemented("complex elements are not supported"));
}

Expr IntegerOf(Builder& b, DType t, int64_t bits) {
  if (!IsInteger(t) || BitWidth(t) < 8) {
    b.Fail(Unimplemented("elements of ", Name(t)));
    return Int(b, 0);
  }
  return {b, b.Constant(FromNumbers<int64_t>(t, {}, std::vector<int64_t>{bits}))};
}

Expr Extreme(Builder& b, DType t, bool greatest) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (IsFloating(t)) return {b, b.Scalar(t, greatest ? kInf : -kInf)};
  if (t == DType::kBool) return {b, b.Constant(Tensor::Scalar<bool>(greatest))};
  return FiniteExtreme(b, t, greatest);
}
Expr FiniteExtreme(Builder& b, DType t, bool greatest) {
  const double sign = greatest ? 1 : -1;
  switch (t) {
    case DType::kFloat64: return {b, b.Scalar(t, sign * std::numeric_limits<double>::max())};
    case DType::kFloat32: return {b, b.Scalar(t, sign * std::numeric_limits<float>::max())};
    case DType::kFloat16: return {b, b.Scalar(t, sign * 65504.0)};
    case DType::kBFloat16: return {b, b.Scalar(t, sign * 0x1.FEp127)};
    default: break;
  }
  if (IsUnsignedInt(t)) return IntegerOf(b, t, greatest ? -1 : 0);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - std::max(BitWidth(t), 1));
  return IntegerOf(b, t, greatest ? most : -most - 1);
}
Expr Zeros(Builder& b, DType t, std::vector<int64_t> dims) {
  absl::Status status = CheckAllocation(t, dims);
  if (t == DType::kUndefined) status = Unimplemented("results of unknown type");
  if (!status.ok()) {
    b.Fail(std::move(status));
    return {b, b.Scalar(DType::kFloat32, 0)};
  }
  return {b, b.Constant(Tensor::Zeros(t, std::move(dims)))};
}
Expr NumbersAs(Builder& b, DType t, std::vector<int64_t> dims, const std::vector<double>& values,
               std::string_view hint) {
  const std::optional<int64_t> count = CheckedProduct(dims);
  const bool fits = std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim >= 0; });
  if (!fits || count != static_cast<int64_t>(values.size())) {
    b.Fail(Invalid(values.size(), " numbers of another shape"));
    dims = {static_cast<int64_t>(values.size())};
  }
  auto tensor = CastTensor(Tensor::Of<double>(std::move(dims), values), t);
  if (!tensor.ok()) b.Fail(tensor.status());
  return {b, b.Constant(tensor.ok() ? *std::move(tensor) : Tensor::Zeros(t, {0}), hint)};
}
Expr Doubles(Builder& b, const std::vector<double>& values) {
  return {b, b.Constant(Tensor::Of<double>({static_cast<int64_t>(values.size())}, values))};
}
Expr Iota(const Expr& n) { return Int(n.builder(), 0).Op("range", {n, Int(n.builder(), 1)}); }

// --- Selection ----------------------------------------------------------------------------------

Expr Select(const Expr& test, const Expr& x, const Expr& y) {
  if (x.dtype() != DType::kBool || y.dtype() != DType::kBool) return Where(test, x, y);
  const Expr left = test & x;
  return left | (Not(test) & y);
}
Expr IsTrue(const Expr& x) { return x.To(DType::kBool); }

// --- Reductions ---------------------------------------------------------------------------------

Expr Reduce(const Expr& x, Symbol op, const std::vector<int64_t>& axes, bool keepdims) {
  if (op != "reduce_sum" && op != "reduce_mean") RequireReal(x);
  // Of no axes too: a square root or logarithm may be part of the op.
  if (axes.empty()) return x.Op(op, {}, {{"keepdims", keepdims}});
  return x.Op(op, {Ints(x.builder(), axes)}, {{"keepdims", keepdims}});
}
Expr Sum(const Expr& x, int64_t axis, bool keepdims) {
  return Reduce(x, "reduce_sum", {FromFront(x, axis)}, keepdims);
}
Expr SumAll(const Expr& x) { return x.rank() == 0 ? x : Reduce(x, "reduce_sum", {}); }
Expr Any(const Expr& x, const std::vector<int64_t>& axes, bool keepdims) {
  return IsTrue(Reduce(x.To(DType::kInt64), "reduce_sum", axes, keepdims));
}
Expr All(const Expr& x, const std::vector<int64_t>& axes, bool keepdims) {
  return Not(Any(Not(x), axes, keepdims));
}
Expr CountOf(const Expr& x, const std::vector<int64_t>& axes) {
  Expr count = Int(x.builder(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const Expr size = SizeOf(x, axes[i]);
    count = i == 0 ? size : count * size;
  }
  return count;
}
Expr VectorNorm(const Expr& x, double p, const std::vector<int64_t>& axes, bool keepdims) {
  RequireReal(x);
  const DType t = x.dtype(), computed = AtLeastFloat32(t);
  const Expr y = x.To(computed);
  const auto reduce = [&](Symbol op, const Expr& of) {
    return Reduce(of, op, axes, keepdims).To(t);
  };
  if (p == 0) return reduce("reduce_sum", IsTrue(y).To(computed));
  if (p == 1) return reduce("reduce_l1", y);
  if (p == 2) return reduce("reduce_l2", y);
  const Expr size = Abs(y);
  if (std::isinf(p)) return reduce(p > 0 ? "reduce_max" : "reduce_min", size);
  return Pow(Reduce(Pow(size, p), "reduce_sum", axes, keepdims), 1 / p).To(t);
}
Expr MatMul(const Expr& x, const Expr& y) {
  const DType t = x.dtype();
  if (!IsInteger(t) || BitWidth(t) >= 32) return x.Op("matmul", {y});
  return x.To(DType::kInt32).Op("matmul", {y.To(DType::kInt32)}).To(t);
}

// --- In order -----------------------------------------------------------------------------------

Expr CumSum(const Expr& x, int64_t axis) { return x.Op("cum_sum", {Int(x.builder(), axis)}); }
Sorted Sort(const Expr& x, int64_t axis, bool descending) {
  RequireReal(x);
  if (const DType t = x.dtype(), wide = WideType(t); wide != t) {
    const Sorted sorted = Sort(x.To(wide), axis, descending);
    return {sorted.values.To(t), sorted.indices};
  }
  return TopOf(x, Unsqueeze(SizeOf(x, axis), {0}), axis, descending);
}
Sorted TopOf(const Expr& x, Value* k, int64_t axis, bool largest) {
  Builder& b = x.builder();
  const std::vector<Value*> top =
      b.Ops("top_k", {x, k}, {{"axis", axis}, {"largest", largest}, {"sorted", 1}}, 2);
  return {{b, top[0]}, {b, top[1]}};
}

// --- Picked and put -----------------------------------------------------------------------------

Expr Gather(const Expr& x, Value* index, int64_t axis) {
  return x.Op("gather", {index}, {{"axis", FromFront(x, axis)}});
}
Expr GatherElements(const Expr& x, Value* index, int64_t axis) {
  return x.Op("gather_elements", {index}, {{"axis", FromFront(x, axis)}});
}
Expr ScatterElements(const Expr& data, int64_t axis, const Expr& index, const Expr& updates,
                     std::string_view reduction) {
  const Expr places = index.To(DType::kInt64);
  if (reduction != "none" && reduction != "add") RequireReal(data);
  if (data.dtype() == DType::kBool && reduction != "none") {
    // A sum of bools is "or", a product "and": what is not zero of integers.
    const Expr changes = updates.To(DType::kInt32), numbers = data.To(DType::kInt32);
    return IsTrue(ScatterElements(numbers, axis, places, changes, reduction));
  }
  return data.Op("scatter_elements", {places, updates},
                 {{"axis", axis}, {"reduction", std::string(reduction)}});
}
Expr ScatterSlices(const Expr& data, int64_t axis, const Expr& index, const Expr& updates,
                   std::string_view reduction) {
  const Expr along = AlongAxis(index.To(DType::kInt64), axis, data.rank());
  return ScatterElements(data, axis, Expand(along, ShapeOf(updates)), updates, reduction);
}
Expr ScatterNd(const Expr& data, const Expr& indices, Value* updates, std::string_view reduction) {
  const bool sums = reduction == "add" && IsComplex(data.dtype());
  if (reduction != "none" && !IsFloating(data.dtype()) && !IsInteger(data.dtype()) && !sums) {
    data.builder().Fail(Unimplemented("updates that are combined, but are no real numbers"));
  }
  return data.Op("scatter_nd", {indices.To(DType::kInt64), updates},
                 {{"reduction", std::string(reduction)}});
}
Expr CombineRows(const Expr& rows, const Expr& numbers, const Expr& count,
                 std::string_view reduction, const Expr& first) {
  Builder& b = rows.builder();
  const Expr place = numbers.To(DType::kInt64), end = count.To(DType::kInt64);
  // Rows whose index is out of range go to one more row, which is cut off.
  const Expr from_front = place >= 0, before_end = place < end;
  const Expr index = Where(from_front & before_end, place, end);
  const Expr more = Unsqueeze(end + 1, {0});
  const Expr start = Expand(first, Concat(b, {more, ShapeOf(rows, 1)}, 0));
  const Expr all = ScatterNd(start, Unsqueeze(index, {1}), rows, reduction);
  return Slice(all, 0, Int(b, 0), end);
}
std::vector<Value*> Unraveled(const Expr& places, const std::vector<Value*>& sizes) {
  Builder& b = places.builder();
  std::vector<Value*> indices(sizes.size());
  Expr left = places;
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = i == 0 ? left.value() : b.Op("mod", {left, sizes[i]});
    if (i > 0) left = Expr(b, b.Op("div", {left, sizes[i]}));
  }
  return indices;
}

}  // namespace x2ir
