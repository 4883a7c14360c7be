// Lists of tensors: what TensorArrays and TensorLists are here.
//
// A list whose elements all have one shape, known when it is made, is a tensor with a first axis
// for them ("stacked"), which ONNX handles better. Any other is a sequence; what was not written
// yet is an element without elements. Which of the two a value is its type says.
#ifndef X2IR_HANDLERS_TF_LISTS_H_
#define X2IR_HANDLERS_TF_LISTS_H_

#include <functional>
#include <optional>

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

class TfLists {
 public:
  explicit TfLists(TfArgs& a) : a_(a) {}

  // A list of `size` elements that are not written yet: zeros, where their shape is known.
  Value* New(Value* size, DType dtype, const std::optional<Shape>& element, bool grows);
  Value* Empty(DType dtype);
  Value* Length(Value* list);  // int64, rank 0
  Value* Get(Value* list, Value* index);
  // `grows`: the index may be the length.
  Value* Set(Value* list, Value* index, Value* item, bool grows);
  Value* Append(Value* list, Value* item);
  Values Pop(Value* list);  // the list without its last element, and that
  // `element`: the shape that the op says, which gives a list without elements its sizes.
  Value* Stack(Value* list, const std::optional<Shape>& element = std::nullopt);
  Value* Gather(Value* list, Value* indices, const std::optional<Shape>& element = std::nullopt);
  // Slices of `value` as elements at `indices`. A sequence must be new for that.
  Value* Scatter(Value* list, Value* indices, Value* value, bool grows);
  // The same as a list of that many elements, or as many as the indices need (null).
  Value* ScatterNew(Value* size, Value* indices, Value* value);
  // Elements one after another along their first axis, and how many rows each has (null where
  // that is not needed).
  Values Concat(Value* list, bool lengths, const std::optional<Shape>& element = std::nullopt);
  // Pieces of that many rows.
  Value* Split(Value* value, Value* lengths);
  Value* Joined(Value* first, Value* second);
  Value* Resize(Value* list, Value* size);

 private:
  bool IsStacked(Value* list);
  // The sequence after so many steps, none where that is negative.
  Value* Repeated(Value* list, Value* times, const std::function<Value*(Builder&, Value*)>& step);
  Value* Index(Value* v) { return a_.AsInt64(v); }
  Value* Zero(DType dtype);
  Value* OneSize(Value* v, int64_t axis);  // int64, rank 1
  Value* Count(Value* v);                  // rank 0 as rank 1
  TfArgs& a_;
};

// A file says of lists that they are variants, and no more. The types of the values that they
// become are found at import.
void ForgetTypesOfLists(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_LISTS_H_
