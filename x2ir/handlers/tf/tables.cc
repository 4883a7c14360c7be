// TensorFlow: lookup tables. Where it is known what a table holds, its handle is a constant: two
// rows of strings, keys and values, numbers as their bytes (formats/tensorflow/tables_internal.h).
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

// The handle's contents.
absl::StatusOr<Tensor> TableOf(TfArgs& a) {
  const Value* handle = a.in(0);
  while (handle->producer() && handle->producer()->Is("identity")) {
    handle = handle->producer()->input(0);
  }
  const Tensor* table = handle->fixed_constant();
  if (!table) return Unimplemented("which table it is depends on the run");
  if (!table->is_string() || table->rank() != 2 || table->dim(0) != 2) {
    return Invalid("operand 0 is no table");
  }
  return *table;
}

absl::StatusOr<Tensor> Row(const Tensor& table, int64_t row, DType dtype) {
  const int64_t count = table.dim(1);
  const auto begin = table.strings().begin() + row * count;
  if (dtype == DType::kString) return Tensor::Strings({count}, {begin, begin + count});
  Tensor out = Tensor::Zeros(dtype, {count});
  const size_t width = static_cast<size_t>(BitWidth(dtype) / 8);
  std::byte* bytes = out.mutable_bytes().data();
  for (int64_t i = 0; i < count; ++i) {
    if (begin[i].size() != width) return Invalid("the table is of another type than ", Name(dtype));
    std::memcpy(bytes + i * width, begin[i].data(), width);
  }
  return out;
}

// Small integers as int64, which every version of the target has.
DType Wide(DType t) { return t == DType::kInt32 || t == DType::kBool ? DType::kInt64 : t; }

absl::StatusOr<Tensor> WideRow(const Tensor& table, int64_t row, DType dtype) {
  X2IR_ASSIGN_OR_RETURN(const Tensor narrow, Row(table, row, dtype));
  return CastTensor(narrow, Wide(dtype));
}

absl::StatusOr<Value*> Find(TfArgs& a) {
  for (const char* name : {"Tin", "Tout"}) a.Ignore(name);
  X2IR_ASSIGN_OR_RETURN(const Tensor table, TableOf(a));
  Value *x = a.in(1), *otherwise = a.in(2);
  const DType key = x->dtype(), value = otherwise->dtype();
  if (key != DType::kString && key != DType::kInt64 && key != DType::kInt32) {
    return Unimplemented("keys of ", Name(key));
  }
  if (value != DType::kString && !IsInteger(value) && value != DType::kBool &&
      value != DType::kFloat32 && value != DType::kFloat64) {
    return Unimplemented("values of ", Name(value));
  }
  X2IR_ASSIGN_OR_RETURN(Tensor keys, WideRow(table, 0, key));
  X2IR_ASSIGN_OR_RETURN(Tensor values, WideRow(table, 1, value));
  if (const Shape* shape = otherwise->shape(); shape && shape->rank() > 0) {
    otherwise = ReshapeTo({a, otherwise}, Ints(a, {}));
  }
  if (keys.num_elements() == 0) return a.Op("expand", {otherwise, ShapeOf({a, x}, 0)});
  x = a.Cast(x, Wide(key));
  const Tensor* known = otherwise->fixed_constant();
  if (known && known->num_elements() == 1) {
    X2IR_ASSIGN_OR_RETURN(Tensor rest, CastTensor(known->Reshaped({}), Wide(value)));
    Value* found = a.Op("label_encoder", {x},
                        {{"keys", std::move(keys)}, {"values", values}, {"default", rest}});
    return a.Cast(found, value);
  }
  // The index of the key, and its value, or the default that is computed.
  std::vector<int64_t> places(static_cast<size_t>(keys.num_elements()));
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  Value* place = a.Op("label_encoder", {x},
                      {{"keys", std::move(keys)},
                       {"values", Tensor::Vector(places)},
                       {"default", Tensor::Scalar<int64_t>(-1)}});
  Value* found =
      Gather({a, a.b().Constant(std::move(values))}, a.Op("max", {place, a.b().Int(0)}), 0);
  return Where(a.Op("less", {place, a.b().Int(0)}), {a, otherwise}, a.Cast(found, value));
}

absl::StatusOr<Value*> TableSize(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Tensor table, TableOf(a));
  return a.Op("identity", {a.b().Int(table.dim(1))});
}

absl::StatusOr<Value*> Unknown(TfArgs& a) {
  return Unimplemented("what the table holds is not known: ",
                       a.String("unknown", "nothing in the file fills it"));
}

}  // namespace

X2IR_TF(label_encoder).From({{"LookupTableFind", Find}, {"LookupTableFindV2", Find}});
X2IR_TF(identity).From({{"HashTable", Unknown},
                        {"HashTableV2", Unknown},
                        {"LookupTableSize", TableSize},
                        {"LookupTableSizeV2", TableSize},
                        {"MutableHashTable", Unknown},
                        {"MutableHashTableV2", Unknown}});

}  // namespace x2ir
