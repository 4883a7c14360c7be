#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/ort/ort_internal.h"
#include "x2ir/formats/ort/tables_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::ort_format {
namespace {

using flat::FlatRef;
using flat::FlatTable;

// ONNX Runtime can use weights where they lie in the file; its kernels read them aligned.
constexpr uint32_t kWeightAlignment = 64, kSmallAlignment = 16;
constexpr size_t kSmall = 1024;  // bytes

}  // namespace

int32_t Tables::Number(DType dtype) {
  const auto number = static_cast<int32_t>(dtype);
  needs_version_6_ |= number > kNewestOfVersion5;
  return number;
}

FlatRef Tables::Strings(absl::Span<const std::string> texts) {
  std::vector<FlatRef> refs;
  for (const std::string& text : texts) refs.push_back(file_.String(text));
  return file_.Vector(refs);
}

FlatRef Tables::Shape(const x2ir::Shape& shape) {
  std::vector<FlatRef> dims;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const Dim& dim = shape[i];
    FlatTable value, table;
    if (dim.is_static()) {
      value.Add(fb::DimensionValue::VT_DIM_TYPE, fb::DimensionValueType::VALUE);
      value.Add(fb::DimensionValue::VT_DIM_VALUE, int64_t{dim.value()});
    } else if (dim.is_symbolic()) {
      value.Add(fb::DimensionValue::VT_DIM_TYPE, fb::DimensionValueType::PARAM);
      value.Add(fb::DimensionValue::VT_DIM_PARAM, file_.String(dim.ToString()));
    }
    table.Add(fb::Dimension::VT_VALUE, file_.Table(std::move(value)));
    dims.push_back(file_.Table(std::move(table)));
  }
  FlatTable table;
  table.Add(fb::Shape::VT_DIM, file_.Vector(dims));
  return file_.Table(std::move(table));
}

absl::StatusOr<FlatRef> Tables::Type(const x2ir::Type& type, std::string_view denotation) {
  FlatTable own;
  fb::TypeInfoValue kind = fb::TypeInfoValue::TensorTypeAndShape;
  switch (type.kind()) {
    case x2ir::Type::kTensor:
      own.Add(fb::TensorTypeAndShape::VT_ELEM_TYPE, Number(type.dtype()));
      if (const x2ir::Shape* shape = type.shape()) {
        own.Add(fb::TensorTypeAndShape::VT_SHAPE, Shape(*shape));
      }
      break;
    case x2ir::Type::kSequence: {
      kind = fb::TypeInfoValue::SequenceType;
      X2IR_ASSIGN_OR_RETURN(const FlatRef element, Type(type.element()));
      own.Add(fb::SequenceType::VT_ELEM_TYPE, element);
      break;
    }
    case x2ir::Type::kMap: {
      kind = fb::TypeInfoValue::MapType;
      X2IR_ASSIGN_OR_RETURN(const FlatRef element, Type(type.element()));
      own.Add(fb::MapType::VT_KEY_TYPE, Number(type.dtype()));
      own.Add(fb::MapType::VT_VALUE_TYPE, element);
      break;
    }
    default:
      return CannotExpress("files of ONNX Runtime hold tensors, sequences and maps; this is ",
                           type.ToString());
  }
  FlatTable table;
  if (!denotation.empty()) table.Add(fb::TypeInfo::VT_DENOTATION, file_.String(denotation));
  table.Add(fb::TypeInfo::VT_VALUE_TYPE, kind);
  table.Add(fb::TypeInfo::VT_VALUE, file_.Table(std::move(own)));
  return file_.Table(std::move(table));
}

absl::StatusOr<FlatRef> Tables::Info(const Value* value) {
  FlatTable table;
  table.Add(fb::ValueInfo::VT_NAME, file_.String(value ? std::string_view(value->name()) : ""));
  if (!value) return file_.Table(std::move(table));
  if (const Annotations* notes = value->annotations().get();
      notes && !notes->doc_string.empty() && !value->constant()) {
    table.Add(fb::ValueInfo::VT_DOC_STRING, file_.String(notes->doc_string));
  }
  // Runtimes use a sparse initializer as the dense tensor that it is.
  const x2ir::Type type = value->constant() && value->constant()->is_sparse()
                              ? x2ir::Type::Tensor(value->dtype(), value->constant()->shape())
                              : value->type();
  if (!onnx_format::IsWritable(type)) {
    return CannotExpress("a file of ONNX Runtime has the types of all values, and that of '",
                         value->name(), "' is not known");
  }
  const std::string* denotation =
      onnx_format::FindExtra(value->annotations(), onnx_format::kDenotationKey);
  absl::StatusOr<FlatRef> info = Type(type, denotation ? std::string_view(*denotation) : "");
  if (!info.ok()) return Annotate(info.status(), StrCat("value '", value->name(), "'"));
  table.Add(fb::ValueInfo::VT_TYPE, *info);
  return file_.Table(std::move(table));
}

// It counts the bytes of a tensor by a table of types that lacks those of less than a byte and
// complex ones (ONNX Runtime 1.23).
absl::Status Tables::CheckConstant(const x2ir::Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (tensor.is_string() || (BitWidth(dtype) >= 8 && !IsComplex(dtype))) return absl::OkStatus();
  return CannotExpress("ONNX Runtime does not load constants of ", x2ir::Name(dtype),
                       " from files of its own format; an .onnx file can hold them");
}

FlatRef Tables::Dense(const x2ir::Tensor& tensor, std::string_view name,
                      std::string_view doc_string) {
  FlatTable table;
  table.Add(fb::Tensor::VT_NAME, file_.String(name));
  if (!doc_string.empty()) table.Add(fb::Tensor::VT_DOC_STRING, file_.String(doc_string));
  table.Add(fb::Tensor::VT_DIMS, file_.Vector(tensor.dims()));
  table.Add(fb::Tensor::VT_DATA_TYPE, Number(tensor.dtype()));
  if (tensor.is_string()) {
    table.Add(fb::Tensor::VT_STRING_DATA, Strings(tensor.strings()));
  } else {
    const uint32_t alignment = tensor.nbytes() < kSmall ? kSmallAlignment : kWeightAlignment;
    bytes_of_tensors_ += tensor.nbytes() + alignment + sizeof(flatbuffers::uoffset_t);
    table.Add(fb::Tensor::VT_RAW_DATA, file_.Data(tensor, alignment));
  }
  return file_.Table(std::move(table));
}

FlatRef Tables::Sparse(const x2ir::Tensor& tensor, std::string_view name) {
  FlatTable table;
  table.Add(fb::SparseTensor::VT_VALUES, Dense(tensor.sparse().values, name));
  table.Add(fb::SparseTensor::VT_INDICES, Dense(tensor.sparse().indices, ""));
  table.Add(fb::SparseTensor::VT_DIMS, file_.Vector(tensor.dims()));
  return file_.Table(std::move(table));
}

}  // namespace x2ir::ort_format
