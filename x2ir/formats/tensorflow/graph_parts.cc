// Parts of nodes as they are written: attributes, tensors, shapes, names.
#include <algorithm>
#include <cctype>
#include <iterator>

#include "x2ir/formats/tensorflow/attributes.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

// Attributes that are truth values; the graph has them as integers.
constexpr std::string_view kTruthValues[] = {
    "Truncate",
    "adj_x",
    "adj_y",
    "adjoint",
    "adjoint_a",
    "adjoint_b",
    "align_corners",
    "antialias",
    "binary_output",
    "case_sensitive",
    "clip_boxes",
    "compute_uv",
    "compute_v",
    "deterministic",
    "exclusive",
    "full_matrices",
    "half_pixel_centers",
    "ignore_longer_outputs_than_inputs",
    "include_batch_in_index",
    "incompatible_shape_error",
    "invert",
    "is_training",
    "keep_dims",
    "lower",
    "magnitude_squared",
    "narrow_range",
    "nearest_rounding",
    "pad_per_class",
    "pad_to_max_output_size",
    "partial_pivoting",
    "perturb_singular",
    "range_given",
    "replace_global",
    "resize_if_index_out_of_bounds",
    "reverse",
    "signed_input",
    "skip_empty",
    "sorted",
    "sparse_gradient",
    "transpose_a",
    "transpose_b",
    "upper",
    "use_cudnn_on_gpu",
    "use_locking",
    "use_peephole",
    "validate_indices",
    "validate_shape",
};
// Those that are integers.
constexpr std::string_view kIntegers[] = {
    "N",
    "axis",
    "batch_dim",
    "batch_dims",
    "begin_mask",
    "block_size",
    "blank",
    "bits",
    "depth_radius",
    "ellipsis_mask",
    "end_mask",
    "k",
    "key_index",
    "max_length",
    "new_axis_mask",
    "num",
    "num_elements",
    "num_bits",
    "num_split",
    "max_num_elements",
    "parallel_iterations",
    "seed",
    "seed2",
    "seq_dim",
    "shrink_axis_mask",
    "value_index",
    "vocab_size",
    "width",
    "dct_coefficient_count",
    "filterbank_channel_count",
    "num_partitions",
    "stride",
    "window_size",
};

template <size_t kSize>
bool IsIn(const std::string_view (&table)[kSize], std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

// The one value of an AttrValue, or an element of its list.
absl::Status WriteAttrType(WireWriter& out, uint32_t type_field, uint32_t shape_field,
                           const Type& type) {
  if (type.is_tensor() && type.dtype() == DType::kUndefined) {
    WriteShapeProto(out, shape_field, type.shape());
    return absl::OkStatus();
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t number, NumberOfType(type));
  out.Int(type_field, number);
  return absl::OkStatus();
}

absl::Status WriteAttrList(WireWriter& out, const Attribute& value) {
  out.Begin(attr_value_field::kList);
  if (const auto* ints = value.get<Attribute::Ints>()) {
    for (const int64_t i : *ints) out.Int(attr_value_list_value_field::kI, i);
  } else if (const auto* floats = value.get<Attribute::Floats>()) {
    for (const float f : *floats) out.Float(attr_value_list_value_field::kF, f);
  } else if (const auto* strings = value.get<Attribute::Strings>()) {
    for (const std::string& s : *strings) out.Bytes(attr_value_list_value_field::kS, s);
  } else if (const auto* types = value.get<std::vector<Type>>()) {
    for (const Type& type : *types) {
      X2IR_RETURN_IF_ERROR(WriteAttrType(out, attr_value_list_value_field::kType,
                                         attr_value_list_value_field::kShape, type));
    }
  } else if (const auto* tensors = value.get<std::vector<Tensor>>()) {
    for (const Tensor& tensor : *tensors) {
      X2IR_RETURN_IF_ERROR(WriteTensorProto(out, attr_value_list_value_field::kTensor, tensor));
    }
  } else {
    return CannotExpress("an attribute of a kind that TensorFlow does not have");
  }
  out.End();
  return absl::OkStatus();
}

bool IsFirst(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; }

}  // namespace

std::string AddedNodes::Add(std::string_view base, std::string_view op,
                            const std::vector<std::string>& inputs, Attrs attrs) {
  std::string name = graph_.UniqueNode(StrCat(prefix_, base));
  out_.Begin(graph_def_field::kNode);
  out_.Bytes(node_def_field::kName, name);
  out_.Bytes(node_def_field::kOp, op);
  for (const std::string& input : inputs) out_.Bytes(node_def_field::kInput, input);
  for (const auto& [key, value] : attrs) status_.Update(WriteNodeAttr(out_, key, value));
  out_.End();
  return name;
}

std::string AddedNodes::Constant(std::string_view base, const Tensor& value) {
  return Add(base, "Const", {}, {{"dtype", Type::Tensor(value.dtype())}, {"value", value}});
}

absl::StatusOr<int64_t> NumberOfType(const Type& type) {
  if (type.kind() == Type::kOpaque && type.opaque_domain() == kDialect) {
    if (const auto number = TypeNumber(type.opaque_name())) return *number;
  }
  if (type.kind() == Type::kSequence) return *TypeNumber("DT_VARIANT");
  const int64_t number = type.is_tensor() ? NumberOfDType(type.dtype()) : 0;
  if (number == 0) return CannotExpress("TensorFlow has no values of type ", type.ToString());
  return number;
}

void WriteShapeProto(WireWriter& out, uint32_t field, const Shape* shape) {
  out.Begin(field);
  if (!shape) out.Int(tensor_shape_proto_field::kUnknownRank, 1);
  for (size_t i = 0; shape && i < shape->dims().size(); ++i) {
    const Dim& dim = shape->dims()[i];
    out.Begin(tensor_shape_proto_field::kDim);
    out.Int(tensor_shape_proto_dim_field::kSize, dim.is_static() ? dim.value() : -1);
    out.End();
  }
  out.End();
}

absl::Status WriteTensorProto(WireWriter& out, uint32_t field, const Tensor& tensor,
                              bool with_value) {
  if (tensor.is_sparse()) return CannotExpress("a sparse tensor");
  X2IR_ASSIGN_OR_RETURN(const int64_t number, NumberOfType(Type::Tensor(tensor.dtype())));
  out.Begin(field);
  out.Int(tensor_proto_field::kDtype, number);
  const Shape shape(std::vector<Dim>(tensor.dims().begin(), tensor.dims().end()));
  WriteShapeProto(out, tensor_proto_field::kTensorShape, &shape);
  if (with_value && tensor.is_string()) {
    for (const std::string& text : tensor.strings()) {
      out.Bytes(tensor_proto_field::kStringVal, text);
    }
  } else if (with_value && tensor.nbytes() != 0) {
    out.TensorBytes(tensor_proto_field::kTensorContent, tensor);
  }
  out.End();
  return absl::OkStatus();
}

absl::Status WriteNodeAttr(WireWriter& out, std::string_view name, const Attribute& value) {
  out.Begin(node_def_field::kAttr);
  out.Bytes(node_def_attr_entry_field::kKey, name);
  out.Begin(node_def_attr_entry_field::kValue);
  switch (value.kind()) {
    case AttrKind::kInt: {
      const bool is_truth = IsIn(kTruthValues, name);
      if (!is_truth && !IsIn(kIntegers, name)) {
        return CannotExpress("it is not known whether attribute '", name,
                             "' is an integer or a truth value");
      }
      out.Int(is_truth ? attr_value_field::kB : attr_value_field::kI, *value.get<int64_t>());
      break;
    }
    case AttrKind::kFloat: out.Float(attr_value_field::kF, *value.get<float>()); break;
    case AttrKind::kDouble:
      out.Float(attr_value_field::kF, static_cast<float>(*value.get<double>()));
      break;
    case AttrKind::kString: out.Bytes(attr_value_field::kS, *value.get<std::string>()); break;
    case AttrKind::kType:
      X2IR_RETURN_IF_ERROR(WriteAttrType(out, attr_value_field::kType, attr_value_field::kShape,
                                         *value.get<Type>()));
      break;
    case AttrKind::kTensor:
      X2IR_RETURN_IF_ERROR(WriteTensorProto(out, attr_value_field::kTensor, *value.get<Tensor>()));
      break;
    default: X2IR_RETURN_IF_ERROR(WriteAttrList(out, value));
  }
  out.End();
  out.End();
  return absl::OkStatus();
}

std::string LegalNodeName(std::string_view name) {
  while (!name.empty() && !IsFirst(name.front())) name.remove_prefix(1);
  std::string legal(name.empty() ? "value" : name);
  for (char& c : legal) {
    if (!IsFirst(c) && c != '_' && c != '/' && c != '-') c = '_';
  }
  return legal;
}

}  // namespace x2ir::tf_format

namespace x2ir {

bool IsTfNumberKnown(std::string_view attr) {
  return tf_format::IsIn(tf_format::kTruthValues, attr) ||
         tf_format::IsIn(tf_format::kIntegers, attr);
}

}  // namespace x2ir
