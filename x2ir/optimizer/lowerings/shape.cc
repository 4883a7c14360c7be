// Lowerings of ops that change or read shapes.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// A triangle's mask is made as a constant up to this many elements.
constexpr int64_t kMaxMask = int64_t{1} << 24;

// --- reshape --------------------------------------------------------------------------------

// allowzero makes no difference where no size is 0.
absl::StatusOr<Values> ReshapeWithoutZeros(Rewrite& r) {
  const auto sizes = r.ConstInts(1);
  if (!sizes || std::find(sizes->begin(), sizes->end(), 0) != sizes->end()) {
    return CannotExpress("sizes may be 0");
  }
  return Values{r.b.Op("reshape", {r.in(0), r.in(1)}, {{"allowzero", 0}})};
}
X2IR_LOWERING(reshape, ReshapeWithoutZeros);

// --- shape ----------------------------------------------------------------------------------

// A slice of the whole shape: bounds are clamped and count from the end in the same way.
absl::StatusOr<Values> ShapeAsSlice(Rewrite& r) {
  const int64_t start = r.attrs().Int("start");
  const int64_t end = r.attrs().Int("end", std::numeric_limits<int64_t>::max());
  if (start == 0 && !r.attrs().Has("end")) return CannotExpress("it is the whole shape already");
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
  const Dim& size = (*r.in(0)->shape())[axis];
  Value* sizes;
  if (size.is_static()) {
    const int64_t part = (size.value() + n - 1) / n;
    std::vector<int64_t> parts;
    for (int64_t i = 0; i < n; ++i) {
      parts.push_back(std::clamp<int64_t>(size.value() - i * part, 0, part));
    }
    sizes = r.b.Ints(parts, "split");
  } else if (r.opset < 13) {
    return CannotExpress("the size of axis ", axis, " is not known");
  } else {
    Value* count = r.b.Ints({n}, "count");
    Value* whole = r.b.Op("gather", {r.b.Op("shape", {r.in(0)}), r.b.Ints({axis}, "axis")});
    Value* part = r.b.Op("div", {r.b.Op("add", {whole, r.b.Ints({n - 1}, "round")}), count});
    std::vector<int64_t> places;
    for (int64_t i = 0; i < n; ++i) places.push_back(i);
    Value* left = r.b.Op("sub", {whole, r.b.Op("mul", {part, r.b.Ints(places, "places")})});
    sizes = r.b.Op("max", {r.b.Op("min", {left, part}), r.b.Ints({0}, "zero")});
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("split", {r.in(0), sizes}, {{"axis", axis}}, wanted);
}
X2IR_LOWERING(split, SplitBySizes);

// --- pad ------------------------------------------------------------------------------------

// Pads of all axes, zeros where `axes` does not name one. The pads themselves may be computed.
absl::StatusOr<Values> PadAllAxes(Rewrite& r) {
  if (!r.has(3)) return CannotExpress("it has no axes to write out");
  auto axes = r.ConstInts(3);
  const int64_t rank = r.rank(0);
  if (!axes || rank < 0) return CannotExpress("axes and rank must be known to be written out");
  X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), rank));
  const int64_t n = static_cast<int64_t>(axes->size());
  std::vector<int64_t> from(2 * rank, 2 * n);  // 2n: the zero after the pads
  for (int64_t i = 0; i < n; ++i) {
    from[(*axes)[i]] = i;
    from[rank + (*axes)[i]] = n + i;
  }
  Value* pads;
  if (auto known = r.ConstInts(1)) {
    if (static_cast<int64_t>(known->size()) != 2 * n) return Invalid("pads: expected ", 2 * n);
    known->push_back(0);
    std::vector<int64_t> all;
    for (int64_t i : from) all.push_back((*known)[i]);
    pads = r.b.Ints(all, "pads");
  } else {
    Value* padded = r.b.Op("concat", {r.in(1), r.b.Ints({0}, "zero")}, {{"axis", 0}});
    pads = r.b.Op("gather", {padded, r.b.Ints(from, "order")});
  }
  return Values{r.b.Op("pad", {r.in(0), pads, r.in(2)}, {{"mode", r.attrs().String("mode")}})};
}
X2IR_LOWERING(pad, PadAllAxes);

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
  if (r.opset < 11) return CannotExpress("the shape is not known, and Range needs opset 11");
  Value* shape = r.b.Op("shape", {r.in(0)});
  const auto positions = [&](int64_t axis) {
    Value* size = r.b.Op("gather", {shape, r.b.Int(axis, "axis")});
    return r.b.Op("range", {r.b.Int(0, "start"), size, r.b.Int(1, "delta")});
  };
  Value* row = r.b.Op("unsqueeze", {positions(-2), r.b.Ints({1}, "axes")});
  if (r.has(1)) row = r.b.Op("add", {row, r.in(1)});
  Value* drop = r.b.Op(upper ? "less" : "greater", {positions(-1), row});
  return Values{r.b.Op("where", {drop, zero, r.in(0)})};
}
X2IR_LOWERING(trilu, TriluAsWhere);

}  // namespace
}  // namespace x2ir
