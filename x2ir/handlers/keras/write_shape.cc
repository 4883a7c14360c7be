// Keras, written: shapes and parts of tensors.
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

constexpr int64_t kEndOfAxis = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostOfCondition = 1 << 16;

bool KeepsBatch(KerasWriter& w) {
  const Shape *in = w.shape(), *out = w.out_type().shape();
  return in && out && in->rank() > 0 && out->rank() > 0 && ProvablyEqual((*in)[0], (*out)[0]);
}

// Sizes of axes from `from` on; one that is not known is -1. Nothing where that does not say them.
std::optional<std::vector<int64_t>> SizesFrom(const Shape& shape, int64_t from) {
  std::vector<int64_t> sizes;
  int unknown = 0;
  bool empty = false;
  for (int64_t i = from; i < shape.rank(); ++i) {
    const bool known = shape[i].is_static();
    sizes.push_back(known ? shape[i].value() : -1);
    unknown += known ? 0 : 1;
    empty |= known && shape[i].value() == 0;
  }
  for (int64_t i = 0; i < from; ++i) empty |= shape[i].is_static() && shape[i].value() == 0;
  if (unknown > 1 || (unknown == 1 && empty)) return std::nullopt;
  return sizes;
}

// A reshape to the shape of the result.
absl::StatusOr<Value*> ToReshape(KerasWriter& w) {
  const Shape* out = w.out_type().shape();
  if (!out) return CannotExpress("a result of unknown rank");
  if (KeepsBatch(w) && out->rank() > 1 && !w.in(0)->constant()) {
    if (const auto sizes = SizesFrom(*out, 1)) {
      if (sizes->size() == 1 && w.shape()->rank() > 2) return w.Layer("Flatten", {w.in(0)});
      return w.Layer("Reshape", {w.in(0)}, {{"target_shape", *sizes}});
    }
  }
  const auto sizes = SizesFrom(*out, 0);
  if (!sizes) return CannotExpress("a shape of several sizes that are not known");
  return w.Function("Reshape", {w.in(0)}, KerasArguments({{"newshape", KerasIntegers(*sizes)}}));
}

absl::StatusOr<Value*> ToTranspose(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, PermOf(w));
  if (perm.size() > 1 && perm[0] == 0) {
    return w.Layer("Permute", {w.in(0)},
                   {{"dims", std::vector<int64_t>(perm.begin() + 1, perm.end())}});
  }
  return w.Function("Transpose", {w.in(0)}, KerasArguments({{"axes", KerasIntegers(perm)}}));
}

absl::StatusOr<Value*> ToExpandDims(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const NodeWriter::OneAxisLess rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Layer("Identity", {rest.x});
  return w.Function("ExpandDims", {rest.x}, KerasArguments({{"axis", Json(*rest.axis)}}));
}

absl::StatusOr<Value*> ToSqueeze(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  if (!given) {
    for (int64_t i = 0; i < rank; ++i) {
      if (!(*w.shape())[i].is_static()) return CannotExpress("axes that are not known");
      if ((*w.shape())[i].value() == 1) axes.push_back(i);
    }
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end(), std::greater<>());
  if (axes.empty()) return w.Layer("Identity", {w.in(0)});
  Value* x = w.in(0);
  for (size_t i = 0; i + 1 < axes.size(); ++i) x = w.Op("squeeze", {x, w.Ints({axes[i]})});
  return w.Function("Squeeze", {x}, KerasArguments({{"axis", Json(axes.back())}}));
}

// [1, .., size, .., 1] of an input of the model that has an axis of that size; null: none has.
Value* OfThatSize(KerasWriter& w, const Dim& size, int64_t axis, int64_t rank) {
  for (Value* input : w.node().graph()->inputs()) {
    const Shape* shape = input->type().is_tensor() ? input->shape() : nullptr;
    if (!shape || input->dtype() == DType::kString) continue;
    int64_t found = -1;
    bool empty = false;
    for (int64_t i = 0; i < shape->rank(); ++i) {
      if (found < 0 && ProvablyEqual((*shape)[i], size)) found = i;
      empty = empty || (*shape)[i] == Dim(0);
    }
    if (found < 0 || empty) continue;
    Expr row = {w.b(), input};
    for (int64_t i = 0; i < shape->rank(); ++i) {
      if (i != found && (*shape)[i] != Dim(1)) row = Slice(row, i, Size(0), Size(1));
    }
    std::vector<Size> sizes(static_cast<size_t>(rank), Size(1));
    sizes[static_cast<size_t>(axis)] = Size(-1);
    return ReshapeTo(row, sizes);
  }
  return nullptr;
}

// Sizes that are not known come from inputs that have them: a choice between x and x is broadcast
// with its condition.
absl::StatusOr<Value*> BroadcastByChoice(KerasWriter& w, const Shape& out) {
  const Shape* in = w.shape();
  if (!in) return CannotExpress("an operand of unknown rank");
  const int64_t rank = out.rank(), more = rank - in->rank();
  std::vector<int64_t> known(static_cast<size_t>(rank), 1);
  std::vector<Value*> conditions;
  bool any = false;
  int64_t count = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis >= more && ProvablyEqual((*in)[axis - more], out[axis])) continue;
    if (out[axis].is_static()) {
      known[static_cast<size_t>(axis)] = out[axis].value();
      count *= std::max<int64_t>(out[axis].value(), 1);
      any = any || out[axis].value() != 1 || axis < more;
      if (count > kMostOfCondition) return CannotExpress("a shape that is not known");
      continue;
    }
    Value* row = OfThatSize(w, out[axis], axis, rank);
    if (!row) return CannotExpress("a shape that is not known");
    conditions.push_back(w.Op("equal", {row, row}));
  }
  if (any) {
    Tensor all = Tensor::Zeros(DType::kBool, known);
    std::ranges::fill(all.mutable_bytes(), std::byte{1});
    conditions.insert(conditions.begin(), w.b().Constant(std::move(all)));
  }
  Value* y = w.in(0);
  for (Value* condition : conditions) y = w.Op("where", {condition, y, y});
  return conditions.empty() ? w.Layer("Identity", {y}) : y;
}

absl::StatusOr<Value*> ToBroadcast(KerasWriter& w) {
  const Shape* out = w.out_type().shape();
  if (!out) return CannotExpress("a shape that is not known");
  const auto dims = out->Static();
  if (!dims) return BroadcastByChoice(w, *out);
  return w.Function("BroadcastTo", {w.in(0)}, KerasArguments({{"shape", KerasIntegers(*dims)}}));
}

// As many numbers as an input has elements along an axis: sums of ones.
absl::StatusOr<Value*> ToRange(KerasWriter& w) {
  const Shape* out = w.out_type().shape();
  Value* row = out && !(*out)[0].is_static() ? OfThatSize(w, (*out)[0], 0, 1) : nullptr;
  if (!row || (!IsFloating(w.dtype()) && !IsInteger(w.dtype()))) {
    return CannotExpress("a number of elements that is not known");
  }
  const Expr one = {w.b(), w.Number(w.dtype(), 1)}, same = {w.b(), w.Op("equal", {row, row})};
  const Expr start = {w.b(), w.in(0)}, step = {w.b(), w.in(2)};
  return ((CumSum(Where(same, one, one), 0) - 1) * step + start).value();
}

absl::StatusOr<Value*> ToTile(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto times, w.KnownInts(1, "repeats"));
  if (!times) return CannotExpress("repeats that are left out");
  return w.Function("Tile", {w.in(0)}, KerasArguments({{"repeats", KerasIntegers(*times)}}));
}

// --- Parts ---------------------------------------------------------------------------------------

Json SliceJson(const Json& start, const Json& stop, const Json& step) {
  return KerasArguments(
      {{"class_name", Json("__slice__")},
       {"config", KerasArguments({{"start", start}, {"stop", stop}, {"step", step}})}});
}

absl::StatusOr<Value*> ToGetItem(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto starts, w.KnownInts(1, "starts"));
  X2IR_ASSIGN_OR_RETURN(const auto ends, w.KnownInts(2, "ends"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto steps, w.KnownInts(4, "steps"));
  if (!starts || !ends) return CannotExpress("bounds that are left out");
  std::vector<Json> key(static_cast<size_t>(rank), SliceJson({}, {}, {}));
  std::vector<int64_t> turned;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    axis += axis < 0 ? rank : 0;
    const int64_t step = steps ? (*steps)[i] : 1, start = (*starts)[i], end = (*ends)[i];
    if (step < 0) {
      const Dim size = (*w.shape())[axis];
      const bool whole =
          step == -1 &&
          (start == -1 || start >= kEndOfAxis || (size.is_static() && start >= size.value() - 1)) &&
          (end <= -kEndOfAxis || (size.is_static() && end < -size.value()));
      if (!whole) return CannotExpress("a slice backwards of a part of an axis");
      turned.push_back(axis);
      continue;
    }
    key[static_cast<size_t>(axis)] =
        SliceJson(start == 0 ? Json() : Json(std::clamp(start, -kEndOfAxis, kEndOfAxis)),
                  end >= kEndOfAxis ? Json() : Json(std::max(end, -kEndOfAxis)),
                  step == 1 ? Json() : Json(std::min(step, kEndOfAxis)));
  }
  if (turned.size() == starts->size() && !turned.empty()) {
    return w.Function("Flip", {w.in(0)}, KerasArguments({{"axis", KerasIntegers(turned)}}));
  }
  if (!turned.empty()) return CannotExpress("slices in both directions");
  return w.Function("GetItem", {w.in(0)},
                    KerasArguments({{"key", KerasArguments({{"class_name", Json("__tuple__")},
                                                            {"items", Json::Array(key)}})}}));
}

absl::StatusOr<Value*> ToConcat(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const std::vector<Value*>& parts = w.node().inputs();
  if (parts.size() == 1) return w.Layer("Identity", {parts[0]});
  const bool computed = std::ranges::none_of(parts, [](Value* v) { return v->constant(); });
  if (computed && axis > 0) return w.Layer("Concatenate", parts, {{"axis", axis}});
  return w.FunctionOfList("Concatenate", parts, KerasArguments({{"axis", Json(axis)}}));
}

absl::StatusOr<Values> ToSplit(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto sizes, w.KnownInts(1, "sizes"));
  if (!w.shape()) return CannotExpress("an operand of unknown rank");
  std::vector<int64_t> places;
  std::vector<bool> wanted(w.num_outputs(), true);
  std::vector<Type> types;
  int64_t at = 0;
  for (size_t i = 0; i < w.num_outputs(); ++i) {
    // Results that are left out have no types.
    const Shape* known = w.wants(i) ? w.out_type(i).shape() : nullptr;
    Shape part = known ? *known : *w.shape();
    if (!known && sizes && i < sizes->size()) part[axis] = Dim((*sizes)[i]);
    if ((!known && !sizes) || !part[axis].is_static()) {
      return CannotExpress("parts of sizes that are not known");
    }
    at += part[axis].value();
    places.push_back(at);
    types.push_back(Type::Tensor(w.dtype(), std::move(part)));
  }
  places.pop_back();
  return w.FunctionAll(
      "Split", {w.in(0)},
      KerasArguments({{"indices_or_sections", KerasIntegers(places)}, {"axis", Json(axis)}}),
      wanted, types);
}

// Zeros around the places of an image are a layer's.
absl::StatusOr<Value*> ToPad(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, PadPairsOf(w, {"constant", "reflect"}));
  if (rank == 0) return w.Layer("Identity", {w.in(0)});
  const std::string& mode = w.String("mode");
  const Tensor* number = w.Weight(2);
  const bool zeros =
      !w.has(2) || (number && number->num_elements() == 1 && number->AsDouble(0) == 0);
  const bool places = rank >= 3 && rank <= 5 && pads[0] == 0 && pads[1] == 0 &&
                      pads[pads.size() - 2] == 0 && pads.back() == 0;
  if (mode == "constant" && zeros && places && IsFloating(w.dtype())) {
    const std::vector<int64_t> inner(pads.begin() + 2, pads.end() - 2);
    AttributeMap config = {{"padding", inner}};
    if (rank > 3) config.Set("data_format", "channels_last");
    return w.Layer(StrCat("ZeroPadding", rank - 2, "D"), {w.in(0)}, std::move(config), {},
                   w.out_type());
  }
  std::vector<Json> pairs;
  for (size_t i = 0; i < pads.size(); i += 2)
    pairs.push_back(KerasIntegers({pads[i], pads[i + 1]}));
  const Json arguments =
      KerasArguments({{"pad_width", Json::Array(std::move(pairs))}, {"mode", Json(mode)}});
  if (mode != "constant" || !w.has(2)) return w.Function("Pad", {w.in(0)}, arguments);
  return w.Function("Pad", {w.in(0), w.in(2)}, arguments);
}

absl::StatusOr<Value*> ToTriangle(KerasWriter& w) {
  int64_t k = 0;
  if (w.has(1)) {
    X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "k"));
    k = given->at(0);
  }
  return w.Function(w.Int("upper") != 0 ? "Triu" : "Tril", {w.in(0)},
                    KerasArguments({{"k", Json(k)}}));
}

}  // namespace

X2IR_KERAS(reshape).To("Reshape", ToReshape);
X2IR_KERAS(flatten).To("Flatten", ToReshape);
X2IR_KERAS(transpose).To("Permute", ToTranspose);
X2IR_KERAS(unsqueeze).To("ops.ExpandDims", ToExpandDims);
X2IR_KERAS(squeeze).To("ops.Squeeze", ToSqueeze);
X2IR_KERAS(range).To("ops.Cumsum", ToRange);
X2IR_KERAS(expand).To("ops.BroadcastTo", ToBroadcast);
X2IR_KERAS(tile).To("ops.Tile", ToTile);
X2IR_KERAS(slice).To("ops.GetItem", ToGetItem);
X2IR_KERAS(concat).To("Concatenate", ToConcat);
X2IR_KERAS(split).To("ops.Split", ToSplit);
X2IR_KERAS(pad).To("ZeroPadding2D", ToPad);
X2IR_KERAS(trilu).To("ops.Triu", ToTriangle);

}  // namespace x2ir
