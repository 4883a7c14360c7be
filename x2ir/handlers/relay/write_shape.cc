// Relay: shapes, parts and movement of elements, written.
#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> ToReshapeOp(RelayWriter& w) {
  const bool allows = w.Int("allowzero") != 0;
  const auto sizes = KnownTensor(*w.in(1));
  if (!sizes) {
    const Shape* to = w.shape(1);
    if (!to || !to->is_static()) return CannotExpress("a reshape to an unknown number of axes");
    if (allows) return CannotExpress("sizes that are computed, of which 0 is one");
    return w.Call("dyn.reshape", {w.in(0), w.in(1)});
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> to, sizes->ToInts());
  AttributeMap attrs = {{"newshape", TupleText(to)}};
  if (std::find(to.begin(), to.end(), 0) != to.end() && allows) {
    const Shape* out = w.out_type().shape();
    const auto dims = out ? out->Static() : std::nullopt;
    if (!dims) return CannotExpress("sizes of 0");
    attrs = {{"newshape", TupleText(*dims)}, {"allowzero", "True"}};
  }
  return w.Call("reshape", {w.in(0)}, std::move(attrs));
}

absl::StatusOr<Value*> ToFlattenOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const int64_t axis = w.Int("axis") + (w.Int("axis") < 0 ? rank : 0);
  if (axis == 1 && rank > 1) return w.Call("nn.batch_flatten", {w.in(0)});
  const Shape* out = w.out_type().shape();
  const auto dims = out ? out->Static() : std::nullopt;
  if (!dims) return CannotExpress("rows of unknown number");
  return w.Op("reshape", {w.in(0), w.Ints(*dims)}, {{"allowzero", 1}});
}

absl::StatusOr<Value*> ToExpandDimsOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto less, w.UnsqueezedButLast());
  if (!less.axis) return w.Call("copy", {w.in(0)});
  return w.Call("expand_dims", {less.x}, {{"axis", StrCat(*less.axis)}});
}

absl::StatusOr<Value*> ToSqueezeOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  AttributeMap attrs;
  if (axes && axes->empty()) return w.Call("copy", {w.in(0)});
  if (axes) attrs.Set("axis", TupleText(*axes));
  return w.Call("squeeze", {w.in(0)}, std::move(attrs));
}

absl::StatusOr<Value*> ToBroadcastOp(RelayWriter& w) {
  const Shape* out = w.out_type().shape();
  if (!out) return CannotExpress("a result of an unknown number of axes");
  if (const auto dims = out->Static()) {
    return w.Call("broadcast_to", {w.in(0)}, {{"shape", TupleText(*dims)}});
  }
  // Its sizes are those of the result there, and not a shape that is broadcast with the operand.
  const Shape* x = w.shape(0);
  if (!x || x->rank() > out->rank()) return CannotExpress("sizes that are not known");
  const int64_t lead = out->rank() - x->rank();
  const Dim count = DimAt(w.in(1), 0);
  if (count != Dim(out->rank())) return CannotExpress("sizes of fewer axes than the operand's");
  Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}});
  if (lead > 0) {
    own = w.Op("concat", {w.Ints(std::vector<int64_t>(static_cast<size_t>(lead), 1)), own},
               {{"axis", 0}});
  }
  // Where one is 1 the other counts.
  Value* sizes = w.Cast(w.in(1), DType::kInt64);
  Value* one = w.Op("equal", {sizes, w.b().Int(1)});
  return w.Call("dyn.broadcast_to", {w.in(0), w.Op("where", {one, own, sizes})});
}

absl::StatusOr<Values> ToSplitOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto sizes, w.KnownInts(1, "sizes"));
  const size_t count = w.num_outputs();
  const Dim dim = DimAt(w.in(0), axis);
  std::vector<int64_t> ends;
  int64_t at = 0;
  if (sizes) {
    for (size_t i = 0; i + 1 < sizes->size(); ++i) ends.push_back(at += (*sizes)[i]);
  } else {
    if (!dim.is_static()) return CannotExpress("parts of unknown sizes");
    // The last part may be smaller.
    const auto parts = static_cast<int64_t>(count);
    const int64_t each = (dim.value() + parts - 1) / parts;
    for (size_t i = 0; i + 1 < count; ++i) ends.push_back(std::min(at += each, dim.value()));
  }
  return w.CallAll("split", {w.in(0)},
                   {{"indices_or_sections", TupleText(ends)}, {"axis", StrCat(axis)}}, count);
}

absl::StatusOr<Value*> ToStridedSliceOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto steps, w.KnownInts(4, "steps"));
  const auto starts = KnownTensor(*w.in(1)), ends = KnownTensor(*w.in(2));
  const Dim given = DimAt(w.in(1), 0);
  if (!given.is_static()) return CannotExpress("bounds of an unknown number of axes");
  const auto count = static_cast<size_t>(given.value());
  std::vector<int64_t> named = axes ? *axes : CountedFrom(0, given.value());
  for (int64_t& axis : named) axis += axis < 0 ? rank : 0;
  const std::vector<int64_t> by = steps ? *steps : std::vector<int64_t>(count, 1);
  if (!starts || !ends) {
    // The axes in their order, all of them up to the last.
    if (named != CountedFrom(0, given.value()))
      return CannotExpress("computed bounds of some axes");
    if (std::any_of(by.begin(), by.end(), [](int64_t step) { return step < 0; })) {
      return CannotExpress("computed bounds with a negative step");
    }
    std::vector<Value*> operands = {w.in(0), w.Cast(w.in(1), DType::kInt64),
                                    w.Cast(w.in(2), DType::kInt64), w.Ints(by)};
    return w.Call("dyn.strided_slice", std::move(operands));
  }
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  std::vector<int64_t> begin(static_cast<size_t>(rank), 0), end(static_cast<size_t>(rank), kFar),
      stride(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(named[i]);
    stride[at] = by[i];
    begin[at] = std::clamp(starts->AsInt(static_cast<int64_t>(i)), -kFar, kFar);
    end[at] = std::clamp(ends->AsInt(static_cast<int64_t>(i)), -kFar, kFar);
    const Dim dim = DimAt(w.in(0), named[i]);
    if (stride[at] < 0) {
      // The first element is the last one: no number is before it, unless it is far from the end.
      if (!dim.is_static() && begin[at] != kFar && begin[at] >= 0 && end[at] != -kFar) continue;
      if (!dim.is_static()) continue;
      const int64_t size = dim.value();
      begin[at] = std::clamp<int64_t>(begin[at] < 0 ? begin[at] + size : begin[at], -1, size - 1);
      end[at] = std::clamp<int64_t>(end[at] < 0 ? end[at] + size : end[at], -1, size - 1);
      if (end[at] < 0) end[at] = -size - 1;
      if (begin[at] < 0) begin[at] = -size - 1;
    } else if (dim.is_static()) {
      const int64_t size = dim.value();
      for (int64_t* number : {&begin[at], &end[at]}) {
        *number = std::clamp<int64_t>(*number < 0 ? *number + size : *number, 0, size);
      }
    }
  }
  for (size_t i = 0; i < end.size(); ++i) {
    const Dim dim = DimAt(w.in(0), static_cast<int64_t>(i));
    if (end[i] == kFar && dim.is_static() && stride[i] > 0) end[i] = dim.value();
  }
  if (rank == 0) return w.Call("copy", {w.in(0)});
  return w.Call(
      "strided_slice", {w.in(0)},
      {{"begin", TupleText(begin)}, {"end", TupleText(end)}, {"strides", TupleText(stride)}});
}

absl::StatusOr<Value*> ToPadOp(RelayWriter& w) {
  const std::string mode = w.String("mode");
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    return CannotExpress("mode ", mode);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const auto pads, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  if (AnyNegative(*pads)) return CannotExpress("pads below 0");
  const std::vector<int64_t> pairs = PadPairs(*pads, axes, rank);
  std::string widths = "(";
  for (size_t i = 0; i < pairs.size(); i += 2) {
    StrAppend(&widths, i == 0 ? "" : ", ", TupleText({pairs[i], pairs[i + 1]}));
  }
  Value* number = w.in(2) && mode == "constant" ? w.in(2) : w.Number(w.dtype(0), 0);
  if (number->shape() && number->shape()->rank() == 1) number = w.Reshape(number, {});
  return w.Call("nn.pad", {w.in(0), number}, {{"pad_width", widths + ")"}, {"pad_mode", mode}});
}

Value* ToArange(RelayWriter& w) {
  return w.Call("arange", {w.in(0), w.in(1), w.in(2)}, {{"dtype", std::string(Name(w.dtype(0)))}});
}

absl::StatusOr<Value*> ToShapeOf(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const bool has_end = w.attrs().Has("end");
  const int64_t start = w.Int("start"), end = has_end ? w.Int("end") : rank;
  Value* all = w.Call("shape_of", {w.in(0)}, {{"dtype", "int64"}});
  if (start == 0 && end >= rank) return all;
  const auto place = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  return w.Call("strided_slice", {all},
                {{"begin", TupleText({place(start)})},
                 {"end", TupleText({std::max(place(start), place(end))})},
                 {"strides", "(1,)"}});
}

Value* ToNdarraySize(RelayWriter& w) {
  return w.Call("ndarray_size", {w.in(0)}, {{"dtype", "int64"}});
}

absl::StatusOr<Value*> ToTile(RelayWriter& w) {
  const auto reps = KnownTensor(*w.in(1));
  if (!reps && !DimAt(w.in(1), 0).is_static()) return CannotExpress("repeats of unknown axes");
  if (!reps) return w.Call("dyn.tile", {w.in(0), w.in(1)});
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, reps->ToInts());
  if (numbers.empty()) return w.Call("copy", {w.in(0)});
  return w.Call("tile", {w.in(0)}, {{"reps", TupleText(numbers)}});
}

absl::StatusOr<Value*> ToFull(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Tensor number, FillOf(w));
  const std::string type(Name(number.dtype()));
  Value* fill = w.b().Constant(std::move(number));
  if (const auto sizes = KnownTensor(*w.in(0))) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, sizes->ToInts());
    return w.Call("full", {fill}, {{"shape", TupleText(dims)}, {"dtype", type}});
  }
  return w.Call("dyn.full", {fill, w.in(0)}, {{"dtype", type}});
}

absl::StatusOr<Value*> ToOneHot(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const OneHotParts parts, OneHotPartsOf(w));
  const auto depth = KnownTensor(*parts.depth);
  if (!depth || depth->num_elements() != 1) return CannotExpress("a depth that is computed");
  return w.Call("one_hot", {w.Cast(parts.index, DType::kInt32), parts.on, parts.off},
                {{"depth", StrCat(depth->AsInt(0))},
                 {"axis", StrCat(parts.axis)},
                 {"dtype", std::string(Name(w.dtype(2)))}});
}

// Rows and columns whose numbers differ by k.
absl::StatusOr<Value*> ToEye(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank != 2) return CannotExpress("a tensor that is no matrix");
  const Expr x(w, w.in(0));
  const Expr rows = Unsqueeze(Iota(SizeOf(x, 0)), {1}), columns = Iota(SizeOf(x, 1));
  const Expr moved = rows + static_cast<double>(w.Int("k"));
  return (moved == columns).To(w.out_type().dtype()).value();
}

absl::StatusOr<Value*> ToTrilu(RelayWriter& w) {
  Value* k = w.in(1) ? w.in(1) : w.b().Int(0);
  if (k->shape() && k->shape()->rank() == 1) k = w.Reshape(k, {});
  return w.Call("trilu", {w.in(0), k}, {{"upper", FlagText(w.Int("upper") != 0)}});
}

absl::StatusOr<Value*> ToDepthToSpace(RelayWriter& w) {
  const bool last = w.String("layout") == "channels_last";
  return w.Call("nn.depth_to_space", {w.in(0)},
                {{"block_size", StrCat(w.Int("blocksize"))},
                 {"layout", last ? "NHWC" : "NCHW"},
                 {"mode", w.String("mode")}});
}
absl::StatusOr<Value*> ToSpaceToDepth(RelayWriter& w) {
  const bool last = w.String("layout") == "channels_last";
  return w.Call("nn.space_to_depth", {w.in(0)},
                {{"block_size", StrCat(w.Int("blocksize"))}, {"layout", last ? "NHWC" : "NCHW"}});
}

}  // namespace

X2IR_RELAY(reshape).To("reshape", ToReshapeOp);
X2IR_RELAY(flatten).To("nn.batch_flatten", ToFlattenOp);
X2IR_RELAY(unsqueeze).To("expand_dims", ToExpandDimsOp);
X2IR_RELAY(squeeze).To("squeeze", ToSqueezeOp);
X2IR_RELAY(expand).To("broadcast_to", ToBroadcastOp);
X2IR_RELAY(split).To("split", ToSplitOp);
X2IR_RELAY(slice).To("strided_slice", ToStridedSliceOp);
X2IR_RELAY(pad).To("nn.pad", ToPadOp);
X2IR_RELAY(range).To("arange", ToArange);
X2IR_RELAY(shape).To("shape_of", ToShapeOf);
X2IR_RELAY(size).To("ndarray_size", ToNdarraySize);
X2IR_RELAY(tile).To("tile", ToTile);
X2IR_RELAY(constant_of_shape).To("full", ToFull);
X2IR_RELAY(one_hot).To("one_hot", ToOneHot);
X2IR_RELAY(eye_like).To("cast", ToEye);
X2IR_RELAY(trilu).To("trilu", ToTrilu);
X2IR_RELAY(depth_to_space).To("nn.depth_to_space", ToDepthToSpace);
X2IR_RELAY(space_to_depth).To("nn.space_to_depth", ToSpaceToDepth);

}  // namespace x2ir
