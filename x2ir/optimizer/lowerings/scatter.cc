// Lowerings of ops that put elements in places.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/axis_masks.h"
#include "x2ir/optimizer/lowerings/integer_math.h"
#include "x2ir/optimizer/retype.h"

namespace x2ir {
namespace {

// Index tuples as indices into the data with its indexed axes flattened into one.
absl::StatusOr<Values> ScatterNdAsScatterElements(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0), q = r.rank(1);
  const Dim depth = q > 0 ? (*r.in(1)->shape())[q - 1] : Dim();
  if (rank < 0 || !depth.is_static() || depth.value() < 1) {
    return CannotExpress("by elements, it needs data of known rank and indices of known depth");
  }
  const int64_t k = depth.value();
  if (k > rank) return Invalid("indices do not fit the data");
  // A 0 in a shape that means another thing does no harm where the flattened data has it too.
  const bool zeros = r.target.Holds(ReshapesToZero());
  for (int64_t i = 1; i < rank && !zeros; ++i) {
    const Dim& size = (*r.in(0)->shape())[i];
    if (!size.is_static() || size.value() == 0) {
      return CannotExpress("by elements, it needs sizes that are known not to be 0",
                           r.target.Later(ReshapesToZero()));
    }
  }
  Value* tuples = math.FromFront(r.in(1), math.Sizes(r.in(0), 0, k));
  Integers strides = math.Of({});
  for (int64_t i = 0; i < k; ++i) {
    strides = math.Concat(strides, math.Product(math.Sizes(r.in(0), i + 1, k)));
  }
  Value* index = b.Op(
      "reduce_sum", {b.Op("mul", {tuples, math.Get(strides, "strides")}), b.Ints({q - 1}, "axis")},
      {{"keepdims", 0}});
  index = b.Op("reshape", {index, b.Ints({-1, 1}, "column")});
  Value* updates = b.Op("flatten", {r.in(2)}, {{"axis", q - 1}});
  index = b.Op("expand", {index, b.Op("shape", {updates})});
  Value* flat = b.Op("flatten", {r.in(0)}, {{"axis", k}});
  Value* y = b.Op("scatter_elements", {flat, index, updates},
                  {{"axis", 0}, {"reduction", r.attrs().String("reduction")}});
  return Values{ReshapeTo(r, y, math.Get(math.Sizes(r.in(0), 0, rank), "sizes"))};
}
X2IR_LOWERING(scatter_nd, ScatterNdAsScatterElements);

struct Reduction {
  std::string_view name, reduce, combine;
  const char* compare = nullptr;  // which of two is the result, for targets without `combine`
};
constexpr Reduction kReductions[] = {{"add", "reduce_sum", "add"},
                                     {"mul", "reduce_prod", "mul"},
                                     {"min", "reduce_min", "min", "less"},
                                     {"max", "reduce_max", "max", "greater"}};

// What a reduction over nothing gives; nullptr: not known for that element type.
Value* Identity(Builder& b, std::string_view reduction, DType t) {
  if (reduction == "add") return b.Scalar(t, 0, "nothing");
  if (reduction == "mul") return b.Scalar(t, 1, "nothing");
  const bool min = reduction == "min";
  if (IsFloating(t)) {
    const double inf = std::numeric_limits<double>::infinity();
    return b.Scalar(t, min ? inf : -inf, "nothing");
  }
  const auto limit = [&](auto zero) {
    using T = std::numeric_limits<decltype(zero)>;
    return b.Constant(Tensor::Scalar(min ? T::max() : T::min()), "nothing");
  };
  switch (t) {
    case DType::kInt8: return limit(int8_t{});
    case DType::kInt16: return limit(int16_t{});
    case DType::kInt32: return limit(int32_t{});
    case DType::kInt64: return limit(int64_t{});
    case DType::kUInt8: return limit(uint8_t{});
    case DType::kUInt16: return limit(uint16_t{});
    case DType::kUInt32: return limit(uint32_t{});
    case DType::kUInt64: return limit(uint64_t{});
    default: return nullptr;
  }
}

// Sums and products are rounded once.
absl::StatusOr<Values> ReductionInFloat32(Rewrite& r) {
  if (r.attrs().String("reduction", "none") == "none" || !IsFloating(r.dtype(0)) ||
      BitWidth(r.dtype(0)) > 16) {
    return CannotExpress("it is computed in its own type");
  }
  return InStandInType(r, DType::kFloat32);
}
X2IR_LOWERING(scatter_elements, ReductionInFloat32);
X2IR_LOWERING(scatter_nd, ReductionInFloat32);

// For each place along the axis, the updates that go there, all others being masked; an index may
// repeat. It takes as much room as there are updates times places.
absl::StatusOr<Values> ScatterReducedByMask(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const Reduction* reduction = nullptr;
  for (const Reduction& known : kReductions) {
    if (known.name == r.attrs().String("reduction")) reduction = &known;
  }
  if (!reduction) return CannotExpress("only updates that are combined have a formula");
  const int64_t rank = r.rank(0);
  if (rank < 1 || r.rank(1) != rank) return CannotExpress("the rank is not known");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  const std::vector<Dim>& sizes = r.in(1)->shape()->dims();
  if (std::any_of(sizes.begin(), sizes.end(),
                  [](const Dim& size) { return size.is_static() && size.value() == 0; })) {
    return Values{b.Op("identity", {r.in(0)})};  // no updates
  }
  // Where the indices do not reach all elements of the other axes, they are filled up.
  std::vector<int64_t> missing(static_cast<size_t>(2 * rank), 0);
  bool short_of = false;
  for (int64_t i = 0; i < rank; ++i) {
    const Dim data = (*r.in(0)->shape())[i], index = (*r.in(1)->shape())[i];
    if (i == axis || ProvablyEqual(data, index)) continue;
    if (!data.is_static() || !index.is_static() || index.value() > data.value()) {
      return CannotExpress("indices may not reach all elements along axis ", i);
    }
    missing[static_cast<size_t>(rank + i)] = data.value() - index.value();
    short_of = true;
  }
  const DType t = r.dtype(0);
  Value* nothing = IsFloating(t) || IsInteger(t) ? Identity(b, reduction->name, t) : nullptr;
  if (!nothing) return CannotExpress("no mask of ", Name(t), " does it");
  Value* axes = b.Ints({axis}, "axis");
  Value* added = b.Ints({axis + 1}, "places");
  Value *index = math.FromFront(r.in(1), math.Size(r.in(0), axis)), *source = r.in(2);
  if (short_of) {
    Value* pads = b.Ints(missing, "missing");
    index = b.Op("pad", {index, pads, b.Scalar(index->dtype(), -1)});  // which is no place
    source = b.Op("pad", {source, pads});
  }
  index = b.Op("unsqueeze", {index, added});
  Value* places = math.Get(math.Positions(math.Size(r.in(0), axis)), "positions");
  Value* here = b.Op("equal", {index, AlongAxis({b, places}, axis + 1, rank + 1, "axes")});
  Value* updates = b.Op("where", {here, b.Op("unsqueeze", {source, added}), nothing});
  const AttributeMap drop = {{"keepdims", 0}};
  Value* all = b.Op(reduction->reduce, {updates, axes}, drop);
  Value* count = b.Op("reduce_sum", {Expr(b, here).To(DType::kInt32), axes}, drop);
  Value* combined;
  if (IsInteger(t) && reduction->compare && !r.target.Takes(reduction->combine, 0, t)) {
    combined = b.Op("where", {b.Op(reduction->compare, {r.in(0), all}), r.in(0), all});
  } else {
    combined = b.Op(reduction->combine, {r.in(0), all});
  }
  return Values{b.Op("where", {Expr(b, count).To(DType::kBool), combined, r.in(0)})};
}
X2IR_LOWERING(scatter_elements, ScatterReducedByMask);

// The positions of the cache that the update covers take it, the others stay.
absl::StatusOr<Values> TensorScatterAsWhere(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0);
  if (rank < 2 || r.rank(1) != rank) return CannotExpress("the rank is not known");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  if (axis == 0) return Invalid("axis 0 is the batch");
  const Dim& length = (*r.in(1)->shape())[axis];
  if (!length.is_static() || length.value() == 0) {
    return CannotExpress("the length of the update is not known to be from 1");
  }
  const Integers size = math.Size(r.in(0), axis);
  Value* zero = b.Int(0, "zero");
  Value* place = AlongAxis({b, math.Get(math.Positions(size), "positions")}, axis, rank, "axes");
  if (r.has(2)) {
    Value* start = AlongAxis({b, Expr(b, r.in(2)).To(DType::kInt64)}, 0, rank, "axes");
    place = b.Op("sub", {place, start});
    if (r.attrs().String("mode") == "circular") {
      place = b.Op("mod", {place, math.Get(size, "size")}, {{"fmod", 0}});
    }
  }
  Value* before = b.Op("less", {place, zero});
  Value* in_range = b.Op(
      "and",
      {b.Op("not", {before}), b.Op("less", {place, math.Get(math.Size(r.in(1), axis), "length")})});
  Value* index = b.Op("where", {in_range, place, zero});
  index = b.Op("expand", {index, b.Op("shape", {r.in(0)})});
  Value* update = b.Op("gather_elements", {r.in(1), index}, {{"axis", axis}});
  return Values{b.Op("where", {in_range, update, r.in(0)})};
}
X2IR_LOWERING(tensor_scatter, TensorScatterAsWhere);

}  // namespace
}  // namespace x2ir
