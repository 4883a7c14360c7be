// TensorFlow: TensorLists, which are values.
#include "x2ir/handlers/tf/lists.h"

namespace x2ir {
namespace {

// What operand i says of the elements' shape: -1 is an axis of unknown size, a scalar -1 an unknown
// rank.
std::optional<Shape> ElementShape(TfArgs& a, size_t i) {
  a.in(i);
  const std::optional<std::vector<int64_t>> ints = a.Ints(i);
  if (!ints || a.rank(i) != 1) return std::nullopt;
  std::vector<Dim> dims;
  for (const int64_t dim : *ints) dims.push_back(dim < 0 ? Dim() : Dim(dim));
  return Shape(std::move(dims));
}

// What the op says of its elements follows from the list.
void IgnoreElement(TfArgs& a) {
  for (const char* name : {"element_dtype", "shape_type", "num_elements", "element_shape"}) {
    a.Ignore(name);
  }
}

// What the op says of the shape of a result, where nothing else does: TensorFlow takes it for
// granted, or compares. `axes`: before those of the element.
Value* OfElementShape(TfArgs& a, size_t i, size_t axes, Value* result) {
  const std::optional<Shape> element = ElementShape(a, i);
  if (!element || result->shape() || !result->type().is_tensor()) return result;
  std::vector<Dim> dims(axes);
  dims.insert(dims.end(), element->dims().begin(), element->dims().end());
  result->set_type(Type::Tensor(result->dtype(), Shape(std::move(dims))));
  return result;
}

// Elements that are added have that shape.
Value* EmptyList(TfArgs& a) {
  IgnoreElement(a);
  const DType dtype = a.Type("element_dtype", DType::kUndefined);
  Value* list = TfLists(a).Empty(dtype == DType::kUndefined ? DType::kFloat32 : dtype);
  if (std::optional<Shape> element = ElementShape(a, 0)) {
    const DType known = list->type().element().dtype();
    list->set_type(Type::Sequence(Type::Tensor(known, *std::move(element))));
  }
  return list;
}

absl::StatusOr<Value*> Reserve(TfArgs& a) {
  IgnoreElement(a);
  const DType dtype = a.Type("element_dtype", DType::kUndefined);
  X2IR_RETURN_IF_ERROR(a.b().status());
  return TfLists(a).New(a.in(1), dtype, ElementShape(a, 0), false);
}

// A list whose elements may get other shapes later says so by a shape of unknown rank.
Value* FromTensor(TfArgs& a) {
  IgnoreElement(a);
  a.in(1);
  if (a.rank(1) != 0) return a.Op("identity", {a.in(0)});
  return a.Op("split_to_sequence", {a.in(0)}, {{"axis", 0}, {"keepdims", 0}});
}

Value* GetItem(TfArgs& a) {
  IgnoreElement(a);
  return OfElementShape(a, 2, 0, TfLists(a).Get(a.in(0), a.in(1)));
}

Value* SetItem(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Set(a.in(0), a.in(1), a.in(2), a.Bool("resize_if_index_out_of_bounds", false));
}

Value* PushBack(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Append(a.in(0), a.in(1));
}

Values PopBack(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Pop(a.in(0));
}

Value* ListStack(TfArgs& a) {
  IgnoreElement(a);
  return OfElementShape(a, 1, 1, TfLists(a).Stack(a.in(0), ElementShape(a, 1)));
}

Value* ListLength(TfArgs& a) { return a.Cast(TfLists(a).Length(a.in(0)), DType::kInt32); }

Value* ListGather(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Gather(a.in(0), a.in(1), ElementShape(a, 2));
}

Value* ListScatter(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).ScatterNew(nullptr, a.in(1), a.in(0));
}

// -1 elements: as many as the indices need.
absl::StatusOr<Value*> ScatterV2(TfArgs& a) {
  IgnoreElement(a);
  X2IR_ASSIGN_OR_RETURN(const int64_t count, a.KnownInt(3, "num_elements"));
  return TfLists(a).ScatterNew(count < 0 ? nullptr : a.in(3), a.in(1), a.in(0));
}

Value* ScatterInto(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Scatter(a.in(0), a.in(2), a.in(1), true);
}

Values ListConcat(TfArgs& a) {
  IgnoreElement(a);
  const bool told = a.num_inputs() > 1;  // an operand of V2
  return TfLists(a).Concat(a.in(0), a.wants(1), told ? ElementShape(a, 1) : std::nullopt);
}

Value* ListSplit(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Split(a.in(0), a.in(2));
}

Value* ConcatLists(TfArgs& a) {
  IgnoreElement(a);
  return TfLists(a).Joined(a.in(0), a.in(1));
}

Value* Resize(TfArgs& a) { return TfLists(a).Resize(a.in(0), a.in(1)); }

}  // namespace

X2IR_TF(sequence_empty).From({{"EmptyTensorList", EmptyList}, {"TensorListReserve", Reserve}});
X2IR_TF(sequence_at).From("TensorListGetItem", GetItem);
X2IR_TF(sequence_insert)
    .From({{"TensorListSetItem", SetItem},
           {"TensorListConcatLists", ConcatLists},
           {"TensorListPushBack", PushBack},
           {"TensorListScatter", ListScatter},
           {"TensorListScatterV2", ScatterV2},
           {"TensorListScatterIntoExistingList", ScatterInto}});
X2IR_TF(sequence_erase).From({{"TensorListPopBack", PopBack}, {"TensorListResize", Resize}});
X2IR_TF(sequence_length).From("TensorListLength", ListLength);
X2IR_TF(concat_from_sequence)
    .From({{"TensorListStack", ListStack},
           {"TensorListGather", ListGather},
           {"TensorListConcat", ListConcat},
           {"TensorListConcatV2", ListConcat}});
X2IR_TF(split_to_sequence)
    .From({{"TensorListFromTensor", FromTensor}, {"TensorListSplit", ListSplit}});

}  // namespace x2ir
