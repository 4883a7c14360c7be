// Lowerings of ops that change or read shapes.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// A triangle's mask is made as a constant up to this many elements.
constexpr int64_t kMaxMask = int64_t{1} << 24;

// --- reshape --------------------------------------------------------------------------------

// allowzero makes no difference where no size is 0: a tensor that has elements has none.
absl::StatusOr<Values> ReshapeWithoutZeros(Rewrite& r) {
  if (r.attrs().Int("allowzero") == 0) return NothingToDo();
  const auto sizes = r.ConstInts(1);
  const bool no_zeros = sizes && std::find(sizes->begin(), sizes->end(), 0) == sizes->end();
  const Shape* in = r.in(0)->shape();
  const auto is_zero = [](const Dim& d) { return d == Dim(0); };
  if (!no_zeros && in && std::any_of(in->begin(), in->end(), is_zero)) {
    // Nothing has but a shape. A size that is left open, among others, is 0.
    const DType t = r.dtype(0);
    if (!IsFloating(t) && !IsInteger(t) && t != DType::kBool) {
      return CannotExpress("an empty tensor of ", Name(t), " cannot be made");
    }
    IntegerMath math(r);
    Value* shape = math.Get(math.Max(math.Read(r.in(1)), math.Of({0})), "sizes");
    return Values{r.b.Op("constant_of_shape", {shape}, {{"value", Tensor::Zeros(t, {1})}})};
  }
  if (no_zeros || (in && in->is_static())) {
    return Values{r.b.Op("reshape", {r.in(0), r.in(1)}, {{"allowzero", 0}})};
  }
  // A size of 0 is that of the operand: all of them are 0 if it has no elements, on as many axes
  // as the result has. Otherwise no size is 0.
  const auto count = StaticDims(r, 1);
  if (!count || count->size() != 1 || (*count)[0] < 1) return CannotExpress("sizes may be 0");
  const int64_t rank = (*count)[0];
  std::vector<int64_t> row(static_cast<size_t>(rank), 1);
  row.back() = -1;
  Value* spread = r.b.Op("reshape", {r.in(0), r.b.Ints(row, "row")}, {{"allowzero", 0}});
  Value* any = r.b.Op("min", {r.b.Op("size", {r.in(0)}), r.b.Int(1, "one")});
  spread = r.b.Op("expand", {spread, r.b.Op("expand", {any, r.b.Ints({rank}, "axes")})});
  return Values{r.b.Op("reshape", {spread, r.in(1)}, {{"allowzero", 0}})};
}
X2IR_LOWERING(reshape, ReshapeWithoutZeros);

// --- shape ----------------------------------------------------------------------------------

// A slice of the whole shape: bounds are clamped and count from the end in the same way.
absl::StatusOr<Values> ShapeAsSlice(Rewrite& r) {
  const int64_t start = r.attrs().Int("start");
  const int64_t end = r.attrs().Int("end", std::numeric_limits<int64_t>::max());
  if (start == 0 && !r.attrs().Has("end")) return NothingToDo();
  Value* whole = r.b.Op("shape", {r.in(0)});
  return Values{r.b.Op(
      "slice", {whole, r.b.Ints({start}, "start"), r.b.Ints({end}, "end"), r.b.Ints({0}, "axes")})};
}
X2IR_LOWERING(shape, ShapeAsSlice);

// --- expand, constant_of_shape --------------------------------------------------------------

absl::StatusOr<Values> ExpandAsTile(Rewrite& r) {
  const Shape* in = r.in(0)->shape();
  const auto sizes = r.ConstInts(1);
  const auto dims = in ? in->Static() : std::nullopt;
  if (!dims || !sizes) return CannotExpress("as Tile, it needs shapes that are known");
  X2IR_ASSIGN_OR_RETURN(const Shape out, BroadcastShapes(*in, Shape::FromInts(*sizes)));
  const size_t added = out.rank() - dims->size();
  std::vector<int64_t> from(out.rank(), 1), repeats;
  std::copy(dims->begin(), dims->end(), from.begin() + added);
  for (int64_t i = 0; i < out.rank(); ++i) {
    repeats.push_back(from[i] == 1 ? out[i].value() : 1);
    if (from[i] == 0) return CannotExpress("as Tile, it needs a tensor with elements");
  }
  Value* value = r.in(0);
  if (added > 0) value = r.b.Op("reshape", {value, r.b.Ints(from, "shape")});
  return Values{r.b.Op("tile", {value, r.b.Ints(repeats, "repeats")})};
}
X2IR_LOWERING(expand, ExpandAsTile);

absl::StatusOr<Values> ConstantOfShapeAsExpand(Rewrite& r) {
  const Tensor* value = r.attrs().Find("value")->get<Tensor>();
  if (!value || value->num_elements() != 1) return Invalid("value: expected one element");
  return Values{r.b.Op("expand", {r.b.Constant(value->Reshaped({}), "value"), r.in(0)})};
}
X2IR_LOWERING(constant_of_shape, ConstantOfShapeAsExpand);

// --- split ----------------------------------------------------------------------------------

// Parts rounded up: their sizes as numbers, or computed.
absl::StatusOr<Values> SplitBySizes(Rewrite& r) {
  const int64_t n = static_cast<int64_t>(r.num_outputs());
  if (r.has(1) || !r.attrs().Has("num_outputs") || r.rank(0) < 0) {
    return CannotExpress("its sizes are not known");
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), r.rank(0)));
  IntegerMath math(r);
  const Integers whole = math.Size(r.in(0), axis), count = math.Of({n});
  const Integers part = math.Div(math.Add(whole, math.Of({n - 1})), count);
  const Integers left = math.Sub(whole, math.Mul(part, math.Positions(count)));
  Value* sizes = math.Get(math.Max(math.Min(left, part), math.Of({0})), "split");
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("split", {r.in(0), sizes}, {{"axis", axis}}, wanted);
}
X2IR_LOWERING(split, SplitBySizes);

// --- trilu ----------------------------------------------------------------------------------

absl::StatusOr<Value*> Zero(Rewrite& r) {
  const DType dtype = r.dtype(0);
  if (dtype == DType::kBool) return r.b.Constant(Tensor::Scalar(false), "zero");
  if (IsFloating(dtype) || IsInteger(dtype)) return r.b.Scalar(dtype, 0, "zero");
  return CannotExpress("a zero of ", Name(dtype), " is not known");
}

// Which elements stay: a constant, or compared at run time.
absl::StatusOr<Values> TriluAsWhere(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Value * zero, Zero(r));
  const int64_t rank = r.rank(0);
  const bool upper = r.attrs().Int("upper") != 0;
  const Shape* in = r.in(0)->shape();
  const auto k = r.has(1) ? r.ConstInts(1) : std::optional(std::vector<int64_t>{0});
  const Dim rows = in && rank >= 2 ? (*in)[rank - 2] : Dim();
  const Dim columns = in && rank >= 2 ? (*in)[rank - 1] : Dim();
  const Dim count = rows * columns;
  if (k && k->size() == 1 && rows.is_static() && columns.is_static() && count.is_static() &&
      count.value() <= kMaxMask) {
    std::vector<uint8_t> keep;
    for (int64_t i = 0; i < rows.value(); ++i) {
      for (int64_t j = 0; j < columns.value(); ++j) {
        keep.push_back(upper ? j - i >= (*k)[0] : j - i <= (*k)[0]);
      }
    }
    const Tensor bytes = Tensor::Of<uint8_t>({rows.value(), columns.value()}, keep);
    Value* mask = r.b.Constant(bytes.Reinterpreted(DType::kBool), "mask");
    return Values{r.b.Op("where", {mask, r.in(0), zero})};
  }
  if (rank < 2) return CannotExpress("the rank is not known");
  IntegerMath math(r);
  const auto positions = [&](int64_t axis) {
    return math.Get(math.Positions(math.Size(r.in(0), axis)), "positions");
  };
  Value* row = r.b.Op("unsqueeze", {positions(rank - 2), r.b.Ints({1}, "axes")});
  Value* column = positions(rank - 1);
  // k is an operand of its own: added to a row, a k near the end of its range would wrap.
  Value* drop = r.has(1)
                    ? r.b.Op(upper ? "less" : "greater", {r.b.Op("sub", {column, row}), r.in(1)})
                    : r.b.Op(upper ? "less" : "greater", {column, row});
  return Values{r.b.Op("where", {drop, zero, r.in(0)})};
}
X2IR_LOWERING(trilu, TriluAsWhere);

}  // namespace
}  // namespace x2ir
