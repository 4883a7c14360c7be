// TensorFlow: TensorArrays. The flow is the list; the handle, which all ops share, only says
// whether it grows.
#include "x2ir/handlers/tf/lists.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> NewArray(TfArgs& a) {
  const DType dtype = a.Type("dtype", DType::kUndefined);
  const bool grows = a.Bool("dynamic_size", false);
  const std::optional<Shape> element = a.ShapeAttr("element_shape");
  // Refuses what is wrong, and frees memory.
  for (const char* name : {"clear_after_read", "identical_element_shapes", "tensor_array_name"}) {
    a.Ignore(name);
  }
  Value* handle = a.b().Constant(Tensor::Scalar<bool>(grows));
  X2IR_RETURN_IF_ERROR(a.b().status());
  return Values{handle, TfLists(a).New(a.in(0), dtype, element, grows)};
}

bool Grows(TfArgs& a) {
  const Tensor* handle = a.in(0)->fixed_constant();
  return !handle || handle->dtype() != DType::kBool || handle->num_elements() != 1 ||
         handle->AsInt(0) != 0;
}

Value* ArrayRead(TfArgs& a) {
  a.Ignore("dtype");
  return TfLists(a).Get(a.in(2), a.in(1));
}

Value* ArrayWrite(TfArgs& a) { return TfLists(a).Set(a.in(3), a.in(1), a.in(2), Grows(a)); }

Value* ArrayGather(TfArgs& a) {
  a.Ignore("dtype");
  return TfLists(a).Gather(a.in(2), a.in(1), a.ShapeAttr("element_shape"));
}

Value* ArrayScatter(TfArgs& a) { return TfLists(a).Scatter(a.in(3), a.in(1), a.in(2), Grows(a)); }

Values ArrayConcat(TfArgs& a) {
  for (const char* name : {"dtype", "element_shape_except0"}) a.Ignore(name);
  return TfLists(a).Concat(a.in(1), a.wants(1));
}

Value* ArraySplit(TfArgs& a) {
  a.in(3);
  return TfLists(a).Split(a.in(1), a.in(2));
}

Value* ArraySize(TfArgs& a) { return a.Cast(TfLists(a).Length(a.in(1)), DType::kInt32); }

}  // namespace

X2IR_TF(sequence_empty).From("TensorArrayV3", NewArray);
X2IR_TF(sequence_at).From("TensorArrayReadV3", ArrayRead);
X2IR_TF(sequence_insert)
    .From({{"TensorArrayWriteV3", ArrayWrite}, {"TensorArrayScatterV3", ArrayScatter}});
X2IR_TF(concat_from_sequence)
    .From({{"TensorArrayGatherV3", ArrayGather}, {"TensorArrayConcatV3", ArrayConcat}});
X2IR_TF(split_to_sequence).From("TensorArraySplitV3", ArraySplit);
X2IR_TF(sequence_length).From("TensorArraySizeV3", ArraySize);

}  // namespace x2ir
