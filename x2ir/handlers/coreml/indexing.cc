// MIL: slices, elements picked and put, both ways.
#include "x2ir/handlers/coreml/indexing.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/layout.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

Expr CombinedAt(NodeReader& a, const Expr& data, const Expr& indices, const Expr& updates,
                const std::string& mode, const PutFn& put) {
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"update", "none"}, {"add", "add"}, {"mul", "mul"}, {"max", "max"}, {"min", "min"}};
  for (const auto& [mil, reduction] : kModes) {
    if (mil == mode) return put(data, indices, updates, reduction);
  }
  if (mode == "sub") return put(data, indices, -updates, "add");
  a.Require(mode == "div" && IsFloating(data.dtype()), StrCat("mode ", mode));
  // By the product of all that go there.
  const Expr ones = Expand(data.Number(1), ShapeOf(data));
  return data / put(ones, indices, updates, "mul");
}

namespace {

// The elements of a slice by their numbers, which the update takes the places of.
Expr MilSliceUpdate(MilArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> stride = a.List("stride"), begin_mask = a.List("begin_mask"),
                             end_mask = a.List("end_mask"), squeeze = a.List("squeeze_mask");
  const Expr numbers = ReshapeTo(Iota(a.Op("size", {x})), ShapeOf(x));
  const Expr at =
      SlicedByIndex(a, numbers, a.X("begin"), a.X("end"), stride, begin_mask, end_mask, squeeze);
  const Expr flat = ScatterElements(Flat(x), 0, Flat(at), Flat(a.X("update")), "none");
  return ReshapeTo(flat, ShapeOf(x));
}

Value* MilGather(MilArgs& a) {
  const int64_t axis = a.Int("axis"), batch = a.Int("batch_dims");
  a.Ignore("validate_indices");
  const Expr indices = a.X("indices");
  const bool wide = indices.dtype() == DType::kInt32 || indices.dtype() == DType::kInt64;
  if (batch == 0) return Gather(a.X(), wide ? indices : indices.To(DType::kInt64), axis);
  return AsTf(a, "GatherV2", {a.X(), indices.To(DType::kInt64), a.b().Int(axis)},
              {{"batch_dims", batch}})[0];
}

Expr MilGatherAlongAxis(MilArgs& a) {
  a.Ignore("validate_indices");
  return GatherElements(a.X(), a.AsInt64(a.X("indices")), a.Int("axis"));
}

Expr MilGatherNd(MilArgs& a) {
  a.Ignore("validate_indices");
  const int64_t batch = a.Int("batch_dims");
  return a.X().Op("gather_nd", {a.AsInt64(a.X("indices"))}, {{"batch_dims", batch}});
}

Expr MilPut(MilArgs& a, const PutFn& put) {
  a.Ignore("validate_indices");
  const std::string mode = a.Text("mode");
  return CombinedAt(a, a.X("data"), a.AsInt64(a.X("indices")), a.X("updates"), mode, put);
}

Expr MilScatter(MilArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis"), a.X("data").rank());
  return MilPut(a, [axis](const Expr& data, const Expr& index, const Expr& updates,
                          std::string_view reduction) {
    return ScatterSlices(data, axis, index, updates, reduction);
  });
}

Expr MilScatterAlongAxis(MilArgs& a) {
  const int64_t axis = a.Int("axis");
  return MilPut(a, [axis](const Expr& data, const Expr& index, const Expr& updates,
                          std::string_view reduction) {
    return ScatterElements(data, axis, index, updates, reduction);
  });
}

Expr MilScatterNd(MilArgs& a) {
  return MilPut(
      a, [](const Expr& data, const Expr& index, const Expr& updates, std::string_view reduction) {
        return ScatterNd(data, index, updates, reduction);
      });
}

// A row for each element there, the IR has a column.
Expr MilNonZero(MilArgs& a) { return Transpose(a.X().Op("non_zero"), {1, 0}).To(DType::kInt32); }

// From iOS17 on an index that counts from the end is none.
Value* FromFront(MilWriter& w, Value* index, int64_t axis) {
  if (w.CountsFromTheFront(*index)) return index;
  Value* size = w.Op("shape", {w.in(0)}, {{"start", axis}, {"end", axis + 1}});
  return w.FromTheFront(index, w.Op("squeeze", {size, w.Ints({0})}));
}

absl::StatusOr<Value*> ToGather(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Mil("gather", {w.in(0), FromFront(w, w.in(1), axis)}, {{"axis", axis}});
}

// Whether two tensors have the same sizes but for one axis.
bool SameButFor(const Shape* a, const Shape* b, int64_t axis) {
  if (!a || !b || a->rank() != b->rank()) return false;
  for (int64_t i = 0; i < a->rank(); ++i) {
    if (i != axis && !ProvablyEqual((*a)[i], (*b)[i])) return false;
  }
  return true;
}

absl::StatusOr<Value*> ToGatherElements(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (!SameButFor(w.shape(0), w.shape(1), axis)) return CannotExpress("indices of other sizes");
  return w.Mil("gather_along_axis", {w.in(0), FromFront(w, w.in(1), axis)}, {{"axis", axis}});
}

absl::StatusOr<Value*> ToGatherNd(MilWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batch axes");
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Mil("gather_nd", {w.in(0), tuples});
}

std::string WrittenMode(MilWriter& w) {
  const std::string& reduction = w.String("reduction");
  return reduction == "none" ? "update" : reduction;
}

absl::StatusOr<Value*> ToScatterElements(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (!SameButFor(w.shape(0), w.shape(1), axis)) return CannotExpress("indices of other sizes");
  return w.Mil("scatter_along_axis", {w.in(0), FromFront(w, w.in(1), axis), w.in(2)},
               {{"axis", axis}, {"mode", WrittenMode(w)}});
}

absl::StatusOr<Value*> ToScatterNd(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  return w.Mil("scatter_nd", {w.in(0), tuples, w.in(2)}, {{"mode", WrittenMode(w)}});
}

absl::StatusOr<Value*> ToNonZero(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Expr rows = {w.b(), w.Mil("non_zero", {w.in(0)}, {},
                                  Type::Tensor(DType::kInt64, Shape({Dim(), Dim(rank)})))};
  return Transpose(rows, {1, 0}).value();
}

absl::StatusOr<Value*> ToCompress(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const PlacesThatHold found, CompressByGather(w));
  return w.Mil("gather", {found.x, found.places}, {{"axis", found.axis}});
}

}  // namespace

X2IR_MIL(gather).To("gather", ToGather).From("gather", MilGather);
X2IR_MIL(gather_elements)
    .To("gather_along_axis", ToGatherElements)
    .From("gather_along_axis", MilGatherAlongAxis);
X2IR_MIL(gather_nd).To("gather_nd", ToGatherNd).From("gather_nd", MilGatherNd);
X2IR_MIL(scatter_elements)
    .To("scatter_along_axis", ToScatterElements)
    .From({{"scatter_along_axis", MilScatterAlongAxis},
           {"scatter", MilScatter},
           {"slice_update", MilSliceUpdate}});
X2IR_MIL(scatter_nd).To("scatter_nd", ToScatterNd).From("scatter_nd", MilScatterNd);
X2IR_MIL(non_zero).To("non_zero", ToNonZero).From("non_zero", MilNonZero);
X2IR_MIL(compress).To("gather", ToCompress);

}  // namespace x2ir
