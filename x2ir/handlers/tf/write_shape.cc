// Shapes, order of axes, parts and wholes, written as TensorFlow's.
#include <algorithm>
#include <limits>
#include <numeric>

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// A result whose shape is known needs no computed one.
Value* TfShapeOf(TfWriter& w, const Type& result) {
  const auto dims = result.shape() ? result.shape()->Static() : std::nullopt;
  return dims ? w.Ints(*dims) : nullptr;
}

// A size of 0 stands for the operand's, unless it is allowed.
absl::StatusOr<Value*> ToTfReshape(TfWriter& w) {
  if (Value* known = TfShapeOf(w, w.out_type())) return w.Tf("Reshape", {w.in(0), known});
  Value* shape = w.Known(w.in(1));
  if (w.Int("allowzero") != 0) return w.Tf("Reshape", {w.in(0), shape});
  const auto numbers = PartlyKnownInts(shape);
  if (!numbers) return CannotExpress("sizes that may be 0");
  bool zero = false;
  for (const Dim& n : *numbers) zero |= !n.is_static() || n.value() == 0;
  if (zero) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    const auto count = static_cast<int64_t>(numbers->size());
    Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", std::min(rank, count)}});
    if (count > rank) {
      std::vector<int64_t> rest(static_cast<size_t>(count - rank), 0);
      own = w.Op("concat", {own, w.Ints(rest)}, {{"axis", 0}});
    }
    Value* wide = w.Cast(shape, DType::kInt64);
    shape = w.Op("where", {w.Op("equal", {wide, w.b().Int(0)}), own, wide});
  }
  return w.Tf("Reshape", {w.in(0), shape});
}
X2IR_TF(reshape).To("Reshape", ToTfReshape);

absl::StatusOr<Value*> ToTfFlatten(TfWriter& w) {
  if (Value* known = TfShapeOf(w, w.out_type())) return w.Tf("Reshape", {w.in(0), known});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += rank;
  const auto side = [&](int64_t from, int64_t to) {
    Value* sizes = w.Op("shape", {w.in(0)}, {{"start", from}, {"end", to}});
    return w.Op("reduce_prod", {sizes, w.Ints({0})}, {{"keepdims", 1}});
  };
  return w.Tf("Reshape",
              {w.in(0), w.Op("concat", {side(0, axis), side(axis, rank)}, {{"axis", 0}})});
}
X2IR_TF(flatten).To("Reshape", ToTfFlatten);

absl::StatusOr<Value*> ToTfTranspose(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> backwards(static_cast<size_t>(rank));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  return w.Tf("Transpose", {w.in(0), w.Int32s(w.attrs().Ints("perm", backwards))});
}
X2IR_TF(transpose).To("Transpose", ToTfTranspose);

absl::StatusOr<Value*> ToTfSqueeze(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  // No axes are all of size 1.
  if (axes && axes->empty()) return w.Op("identity", {w.in(0)});
  AttributeMap attrs;
  if (axes) attrs.Set("squeeze_dims", *axes);
  return w.Tf("Squeeze", {w.in(0)}, std::move(attrs));
}
X2IR_TF(squeeze).To("Squeeze", ToTfSqueeze);

// One axis at a time.
absl::StatusOr<Value*> ToTfUnsqueeze(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Tf("ExpandDims", {rest.x, w.Int32(*rest.axis)});
}
X2IR_TF(unsqueeze).To("ExpandDims", ToTfUnsqueeze);

// --- Repeating ------------------------------------------------------------------------------

Value* ToTfExpand(TfWriter& w) {
  if (Value* known = TfShapeOf(w, w.out_type())) return w.Tf("BroadcastTo", {w.in(0), known});
  Value* own = w.Op("shape", {w.in(0)});
  Value* both = w.Tf("BroadcastArgs", {own, w.Cast(w.in(1), DType::kInt64)}, {},
                     Type::Tensor(DType::kInt64, Shape({Dim()})));
  return w.Tf("BroadcastTo", {w.in(0), both});
}
X2IR_TF(expand).To("BroadcastTo", ToTfExpand);

Value* ToTfTile(TfWriter& w) { return w.Tf("Tile", {w.in(0), w.Known(w.in(1))}); }
X2IR_TF(tile).To("Tile", ToTfTile);

// --- Parts and wholes -----------------------------------------------------------------------

absl::StatusOr<Value*> ToTfConcat(TfWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  std::vector<Value*> operands = w.node().inputs();
  operands.push_back(w.Int32(axis));
  return w.Tf("ConcatV2", std::move(operands));
}
X2IR_TF(concat).To("ConcatV2", ToTfConcat);

absl::StatusOr<Values> ToTfSplit(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* sizes = w.has(1) ? w.Known(w.in(1)) : nullptr;
  std::vector<bool> wanted;
  std::vector<int64_t> parts;
  for (const Value* part : w.node().outputs()) {
    wanted.push_back(part != nullptr);
    const Shape* shape = part ? part->shape() : nullptr;
    if (sizes) continue;
    if (!shape || !(*shape)[axis].is_static()) return CannotExpress("parts of unknown sizes");
    parts.push_back((*shape)[axis].value());
  }
  if (!sizes) sizes = w.Ints(parts);
  return w.TfAll("SplitV", {w.in(0), sizes, w.Int32(axis)},
                 {{"num_split", static_cast<int64_t>(wanted.size())}}, wanted);
}
X2IR_TF(split).To("SplitV", ToTfSplit);

absl::StatusOr<Value*> ToTfSlice(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank == 0) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const StridedBounds bounds, StridedBoundsOf(w));
  return w.Tf("StridedSlice", {w.in(0), bounds.begin, bounds.end, bounds.strides},
              {{"begin_mask", bounds.begin_mask},
               {"end_mask", bounds.end_mask},
               {"ellipsis_mask", 0},
               {"new_axis_mask", 0},
               {"shrink_axis_mask", 0}});
}
X2IR_TF(slice).To("StridedSlice", ToTfSlice);

// A row an axis: what is before it, and behind it.
absl::StatusOr<Value*> ToTfPad(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto pads, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  const std::string& mode = w.String("mode");
  if (mode != "constant" && mode != "reflect") return CannotExpress("mode ", mode);
  if (AnyNegative(*pads)) return CannotExpress("negative pads");
  const std::vector<int64_t> rows = PadPairs(*pads, given, rank);
  Value* table = w.b().Constant(Tensor::Of<int64_t>({rank, 2}, rows));
  if (mode == "reflect") return w.Tf("MirrorPad", {w.in(0), table}, {{"mode", "REFLECT"}});
  if (w.dtype() == DType::kString || (w.dtype() == DType::kBool && !w.has(2))) {
    return CannotExpress("elements of ", Name(w.dtype()));
  }
  Value* value = w.has(2) ? w.in(2) : w.Number(w.dtype(), 0);
  if (value->shape() && value->shape()->rank() != 0) value = w.Reshape(value, {});
  return w.Tf("PadV2", {w.in(0), table, value});
}
X2IR_TF(pad).To("PadV2", ToTfPad);

// --- Sizes ----------------------------------------------------------------------------------

absl::StatusOr<Value*> ToTfShape(TfWriter& w) {
  const auto wide = [] { return AttributeMap{{"out_type", Type::Tensor(DType::kInt64)}}; };
  const int64_t start = w.Int("start");
  if (start == 0 && !w.attrs().Has("end")) return w.Tf("Shape", {w.in(0)}, wide());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* all = w.Tf("Shape", {w.in(0)}, wide(), Type::Tensor(DType::kInt64, Shape({Dim(rank)})));
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t from = bound(start), to = bound(w.attrs().Int("end", rank));
  return w.Op("slice", {all, w.Ints({from}), w.Ints({std::max(from, to)}), w.Ints({0})});
}
X2IR_TF(shape).To("Shape", ToTfShape);

Value* ToTfSize(TfWriter& w) {
  return w.Tf("Size", {w.in(0)}, {{"out_type", Type::Tensor(DType::kInt64)}});
}
X2IR_TF(size).To("Size", ToTfSize);

// --- From nothing ---------------------------------------------------------------------------

absl::StatusOr<Value*> ToTfFill(TfWriter& w) {
  const Attribute* value = w.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor) return CannotExpress("no value");
  Value* one = w.b().Constant(tensor->Reshaped({}));
  return w.Tf("Fill", {w.Known(w.in(0)), one});
}
X2IR_TF(constant_of_shape).To("Fill", ToTfFill);

Value* ToTfRange(TfWriter& w) { return w.Tf("Range", {w.in(0), w.in(1), w.in(2)}); }
X2IR_TF(range).To("Range", ToTfRange);

}  // namespace
}  // namespace x2ir
