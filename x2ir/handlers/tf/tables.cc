// TensorFlow: lookup tables. Where it is known what a table holds, its handle is a constant: two
// rows of strings, keys and values, numbers as their bytes (formats/tensorflow/table_contents.h).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/tensorflow/table_contents.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/identities.h"

namespace x2ir {
namespace {

// The handle's contents.
absl::StatusOr<Tensor> TableOf(TfArgs& a) {
  const Tensor* table = WithoutIdentities(a.in(0))->fixed_constant();
  if (!table) return Unimplemented("which table it is depends on the run");
  if (!table->is_string() || table->rank() != 2 || table->dim(0) != 2) {
    return Invalid("operand 0 is no table");
  }
  return *table;
}

// Small integers as int64, which every version of the target has.
DType Wide(DType t) { return t == DType::kInt32 || t == DType::kBool ? DType::kInt64 : t; }

absl::StatusOr<Tensor> WideRow(const Tensor& table, int64_t row, DType dtype) {
  X2IR_ASSIGN_OR_RETURN(const Tensor narrow, TfTableRow(table, row, dtype));
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

// Whether TensorFlow has tables of these types.
bool IsTableOf(DType key, DType value) {
  switch (value) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kInt32:
    case DType::kString:
      return key == DType::kString || key == DType::kInt64 || key == DType::kInt32;
    case DType::kInt64: return key == DType::kString || key == DType::kInt64;
    case DType::kBool: return key == DType::kString;
    default: return false;
  }
}

absl::StatusOr<Value*> ToLookup(TfWriter& w) {
  const auto tensor = [&](const char* attr) {
    return w.attrs().Find(attr)->get<Tensor>()->ToDense();
  };
  X2IR_ASSIGN_OR_RETURN(const Tensor keys, tensor("keys"));
  X2IR_ASSIGN_OR_RETURN(const Tensor values, tensor("values"));
  X2IR_ASSIGN_OR_RETURN(const Tensor otherwise, tensor("default"));
  if (!IsTableOf(keys.dtype(), values.dtype())) {
    return CannotExpress("a table of ", Name(keys.dtype()), " and ", Name(values.dtype()));
  }
  X2IR_ASSIGN_OR_RETURN(Tensor table, PackTfTable(keys, values, /*first_counts=*/true));
  return w.Tf("LookupTableFindV2", {w.b().Constant(std::move(table), "table"), w.in(0),
                                    w.b().Constant(otherwise.Reshaped({}), "default")});
}

}  // namespace

X2IR_TF(label_encoder)
    .To("LookupTableFindV2", ToLookup)
    .From({{"LookupTableFind", Find}, {"LookupTableFindV2", Find}});
X2IR_TF(identity).From({{"HashTable", Unknown},
                        {"HashTableV2", Unknown},
                        {"LookupTableSize", TableSize},
                        {"LookupTableSizeV2", TableSize},
                        {"MutableHashTable", Unknown},
                        {"MutableHashTableV2", Unknown}});

}  // namespace x2ir
