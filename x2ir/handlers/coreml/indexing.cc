// MIL: slices, elements picked and put, both ways.
#include "x2ir/handlers/coreml/indexing.h"

#include <algorithm>

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

Expr MilSliceByIndex(MilArgs& a) {
  const std::vector<int64_t> stride = a.List("stride"), begin_mask = a.List("begin_mask"),
                             end_mask = a.List("end_mask"), squeeze = a.List("squeeze_mask");
  return SlicedByIndex(a, a.X(), a.X("begin"), a.X("end"), stride, begin_mask, end_mask, squeeze);
}

Value* MilSliceBySize(MilArgs& a) {
  return AsTf(a, "Slice", {a.X(), a.AsInt64(a.X("begin")), a.AsInt64(a.X("size"))})[0];
}

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

Expr MilOneHot(MilArgs& a) {
  const int64_t axis = a.Int("axis");
  const Attribute* on = a.attrs().Find("on_value");
  const Tensor* value = on ? on->get<Tensor>() : nullptr;
  const DType type = value ? value->dtype() : DType::kInt32;
  // Runtimes have it for these two types of values.
  const DType wide = IsFloating(type) ? DType::kFloat32 : DType::kInt64;
  const Expr off = a.Scalar("off_value", type, 0), lit = a.Scalar("on_value", type, 1);
  const Expr values = Concat(a.b(), {AtLeast1d(off.To(wide)), AtLeast1d(lit.To(wide))}, 0);
  return a
      .Op("one_hot", {a.AsInt64(a.X("indices")), a.AsInt64(a.X("one_hot_vector_size")), values},
          {{"axis", axis}})
      .To(type);
}

// --- Written ------------------------------------------------------------------------------------

// From iOS17 on an index that counts from the end is none.
Value* FromFront(MilWriter& w, Value* index, int64_t axis) {
  if (MilWriter::CountsFromTheFront(*index)) return index;
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

// What MIL makes of an index outside of 0 .. depth - 1 is not said: each place asks whether it is
// meant.
absl::StatusOr<Value*> OneHotByQuestion(MilWriter& w, Value* index, double depth) {
  const Shape* shape = index->shape();
  constexpr double kMost = 1 << 24;
  if (!shape || depth < 1 || depth > kMost) return CannotExpress("indices of unknown rank");
  const auto size = static_cast<int64_t>(depth);
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += shape->rank() + 1;
  std::vector<int64_t> dims(static_cast<size_t>(shape->rank() + 1), 1);
  dims[static_cast<size_t>(axis)] = size;
  std::vector<double> places;
  for (int64_t i = 0; i < size; ++i) places.push_back(static_cast<double>(i));
  const Expr all = NumbersAs(w.b(), DType::kInt64, std::move(dims), places);
  const Expr meant = Unsqueeze({w.b(), w.FromTheFront(index, w.b().Int(size))}, {axis});
  return Where(meant.Op("equal", {all}), Gather(w.X(2), w.b().Int(1), 0),
               Gather(w.X(2), w.b().Int(0), 0))
      .value();
}

absl::StatusOr<Value*> ToOneHot(MilWriter& w) {
  const auto depth = MilWriter::NumberOf(w.in(1));
  const auto values = KnownTensor(*w.in(2));
  if (!depth) return CannotExpress("a computed size");
  Value* index = w.in(0);
  if (!IsInteger(index->dtype())) index = w.Cast(index, DType::kInt64);
  if (!MilWriter::CountsFromTheFront(*index)) return OneHotByQuestion(w, index, *depth);
  if (!values || values->num_elements() != 2) {
    Type type = w.out_type();
    type.set_dtype(DType::kInt32);
    Value* hot = w.Mil("one_hot", {index, w.Int32(static_cast<int64_t>(*depth))},
                       {{"axis", w.Int("axis")},
                        {"on_value", Tensor::Scalar<int32_t>(1)},
                        {"off_value", Tensor::Scalar<int32_t>(0)}},
                       std::move(type));
    return Where({w.b(), w.Cast(hot, DType::kBool)}, Gather(w.X(2), w.b().Int(1), 0),
                 Gather(w.X(2), w.b().Int(0), 0))
        .value();
  }
  const auto number = [&](int64_t i) {
    return values->dtype() == DType::kBool ? Tensor::Scalar<bool>(values->AsInt(i) != 0)
                                           : Tensor::ScalarOf(values->dtype(), values->AsDouble(i));
  };
  return w.Mil("one_hot", {index, w.Int32(static_cast<int64_t>(*depth))},
               {{"axis", w.Int("axis")}, {"on_value", number(1)}, {"off_value", number(0)}});
}

}  // namespace

X2IR_MIL(slice).From("slice_by_index", MilSliceByIndex).From("slice_by_size", MilSliceBySize);
X2IR_MIL(gather).To("gather", ToGather).From("gather", MilGather);
X2IR_MIL(gather_elements)
    .To("gather_along_axis", ToGatherElements)
    .From("gather_along_axis", MilGatherAlongAxis);
X2IR_MIL(gather_nd).To("gather_nd", ToGatherNd).From("gather_nd", MilGatherNd);
X2IR_MIL(scatter_elements)
    .To("scatter_along_axis", ToScatterElements)
    .From("scatter_along_axis", MilScatterAlongAxis)
    .From("scatter", MilScatter)
    .From("slice_update", MilSliceUpdate);
X2IR_MIL(scatter_nd).To("scatter_nd", ToScatterNd).From("scatter_nd", MilScatterNd);
X2IR_MIL(non_zero).To("non_zero", ToNonZero).From("non_zero", MilNonZero);
X2IR_MIL(compress).To("gather", ToCompress);
X2IR_MIL(one_hot).To("one_hot", ToOneHot).From("one_hot", MilOneHot);

}  // namespace x2ir
