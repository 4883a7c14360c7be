// Element types, shapes and tensors. What a file holds is not copied; what it merely says (one
// value for a million elements) is bounded.
#include <algorithm>
#include <cstring>

#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

// By number of DataType. Quantized types are the integers that they hold; further operands have the
// ranges of their floats. Four-bit types are whole bytes in a file, but not in
// memory.
constexpr DType kTypes[] = {
    DType::kUndefined,      DType::kFloat32,      DType::kFloat64,        DType::kInt32,
    DType::kUInt8,          DType::kInt16,        DType::kInt8,           DType::kString,
    DType::kComplex64,      DType::kInt64,        DType::kBool,           DType::kInt8,
    DType::kUInt8,          DType::kInt32,        DType::kBFloat16,       DType::kInt16,
    DType::kUInt16,         DType::kUInt16,       DType::kComplex128,     DType::kFloat16,
    DType::kUndefined,      DType::kUndefined,    DType::kUInt32,         DType::kUInt64,
    DType::kFloat8E5M2,     DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kUndefined,
    DType::kFloat8E5M2FNUZ, DType::kUndefined,    DType::kUndefined,      DType::kUndefined,
    DType::kUndefined,
};
constexpr int64_t kNumTypes = std::size(kTypes);
constexpr int64_t kUInt16Number = 17;

// The number without the mark of references; 0 (DT_INVALID) when there is no such type.
int64_t Plain(int64_t type) {
  if (type > kRefOffset) type -= kRefOffset;
  return type >= 0 && type < kNumTypes ? type : 0;
}

constexpr int64_t kMaxRank = 254;  // TensorFlow's own

// Values as one of the lists of a TensorProto has them, as bytes of the element type.
template <typename To, typename From>
void Append(const std::vector<From>& from, std::string* bytes) {
  for (const From value : from) {
    const To to = static_cast<To>(value);
    bytes->append(reinterpret_cast<const char*>(&to), sizeof(to));
  }
}

void AppendInts(DType dtype, WireReader& in, std::string* bytes) {
  std::vector<int64_t> values;
  in.AppendInts(&values);
  switch (BitWidth(dtype)) {
    case 8:
      if (dtype == DType::kBool) {
        for (int64_t& value : values) value = value != 0;
      }
      return Append<uint8_t>(values, bytes);
    case 16: return Append<uint16_t>(values, bytes);
    case 32: return Append<uint32_t>(values, bytes);
    default: return Append<uint64_t>(values, bytes);
  }
}

// The list that an element type is written in; 0: it is never.
uint32_t ListOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return tensor_proto_field::kFloatVal;
    case DType::kFloat64: return tensor_proto_field::kDoubleVal;
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kInt32: return tensor_proto_field::kIntVal;
    case DType::kInt64: return tensor_proto_field::kInt64Val;
    case DType::kUInt32: return tensor_proto_field::kUint32Val;
    case DType::kUInt64: return tensor_proto_field::kUint64Val;
    case DType::kBool: return tensor_proto_field::kBoolVal;
    case DType::kString: return tensor_proto_field::kStringVal;
    case DType::kFloat16:
    case DType::kBFloat16: return tensor_proto_field::kHalfVal;
    case DType::kComplex64: return tensor_proto_field::kScomplexVal;
    case DType::kComplex128: return tensor_proto_field::kDcomplexVal;
    default: return 0;
  }
}

}  // namespace

DType ToDType(int64_t type) { return kTypes[Plain(type)]; }

int64_t NumberOfDType(DType dtype) {
  // Quantized types come after the integers that they hold, but for those of 16 bits.
  if (dtype == DType::kUndefined) return 0;
  if (dtype == DType::kUInt16) return kUInt16Number;
  const auto* found = std::find(std::begin(kTypes), std::end(kTypes), dtype);
  return found == std::end(kTypes) ? 0 : found - std::begin(kTypes);
}

Type ToType(int64_t type) {
  const DType dtype = ToDType(type);
  if (dtype != DType::kUndefined) return Type::Tensor(dtype);
  return Type::Opaque(std::string(kDialect), TypeName(type));
}

absl::StatusOr<std::optional<Shape>> ReadShape(const Source& source, std::string_view bytes) {
  bool unknown_rank = false;
  std::vector<Dim> dims;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    if (in.field() == tensor_shape_proto_field::kUnknownRank) unknown_rank = in.Int() != 0;
    if (in.field() != tensor_shape_proto_field::kDim) continue;
    int64_t size = 0;
    WireReader dim = source.Fields(in.Bytes());
    while (dim.Next()) {
      if (dim.field() == tensor_shape_proto_dim_field::kSize) size = dim.Int();
    }
    X2IR_RETURN_IF_ERROR(dim.status());
    if (size < -1) return Invalid("a shape has the dim ", size);
    dims.push_back(size == -1 ? Dim() : Dim(size));
    if (dims.size() > kMaxRank) return Invalid("a shape has more than ", kMaxRank, " dims");
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (unknown_rank) return std::optional<Shape>();
  return std::optional<Shape>(Shape(std::move(dims)));
}

absl::StatusOr<TensorProto> ReadTensorProto(const Source& source, std::string_view bytes) {
  int64_t type = 0;
  std::optional<Shape> shape = Shape();
  WireReader head = source.Fields(bytes);
  while (head.Next()) {
    if (head.field() == tensor_proto_field::kDtype) type = head.Int();
    if (head.field() == tensor_proto_field::kTensorShape) {
      X2IR_ASSIGN_OR_RETURN(shape, ReadShape(source, head.Bytes()));
    }
  }
  X2IR_RETURN_IF_ERROR(head.status());
  const DType dtype = ToDType(type);
  if (dtype == DType::kUndefined) {
    return Unimplemented("a tensor of ", TypeName(type), ", which x2ir does not have");
  }
  const auto dims = shape ? shape->Static() : std::nullopt;
  if (!dims) return Invalid("a tensor whose shape is not known");
  const std::optional<int64_t> count = CheckedProduct(*dims);
  const auto nbytes = !count                    ? std::nullopt
                      : dtype == DType::kString ? std::optional<int64_t>(0)
                                                : ByteSize(dtype, *count);
  if (!nbytes) return Invalid("a tensor of shape [", shape->ToString(), "] is too large");

  // Either the elements, or lists of values of which the last one fills what is left.
  TensorProto result{dtype, *dims, *count, {}, false};
  std::string values;
  std::vector<std::string> strings;
  const uint32_t list = ListOf(dtype);
  WireReader in = source.Fields(bytes);
  std::string_view content;
  while (in.Next()) {
    if (in.field() == tensor_proto_field::kTensorContent) content = in.Bytes();
    if (list == 0 || in.field() != list) continue;
    switch (list) {
      case tensor_proto_field::kFloatVal:
      case tensor_proto_field::kScomplexVal: {
        std::vector<float> floats;
        in.AppendFloats(&floats);
        Append<float>(floats, &values);
        break;
      }
      case tensor_proto_field::kDoubleVal:
      case tensor_proto_field::kDcomplexVal: {
        std::vector<double> doubles;
        in.AppendDoubles(&doubles);
        Append<double>(doubles, &values);
        break;
      }
      case tensor_proto_field::kStringVal: strings.push_back(in.String()); break;
      default: AppendInts(dtype, in, &values);
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (dtype == DType::kString) {
    if (!content.empty()) return Unimplemented("a tensor of strings as tensor_content");
    if (static_cast<int64_t>(strings.size()) > *count) strings.resize(*count);
    if (strings.empty() && *count != 0) strings.emplace_back();
    result.repeats = static_cast<int64_t>(strings.size()) < *count;
    const int64_t given = static_cast<int64_t>(strings.size());
    result.values = Tensor::Strings({given}, std::move(strings));
  } else if (!content.empty()) {
    if (static_cast<int64_t>(content.size()) != *nbytes) {
      return Invalid("a tensor of ", Name(dtype), "[", shape->ToString(), "] has ", content.size(),
                     " bytes; expected ", *nbytes);
    }
    const auto offset = static_cast<uint64_t>(content.data() - source.origin());
    X2IR_ASSIGN_OR_RETURN(result.values,
                          TensorOf(dtype, {*count}, source.file, offset, content.size()));
  } else {
    const size_t size = static_cast<size_t>(BitWidth(dtype) / 8);
    if (values.size() % size != 0) return Invalid("an incomplete complex number");
    if (values.empty() && *count != 0) values.resize(size);  // zero
    values.resize(std::min(values.size(), static_cast<size_t>(*nbytes)));
    const auto given = static_cast<int64_t>(values.size() / size);
    result.repeats = given < *count;
    result.values = Tensor::Zeros(dtype, {given});
    if (!values.empty()) {
      std::memcpy(result.values.mutable_bytes().data(), values.data(), values.size());
    }
  }
  return result;
}

absl::StatusOr<Tensor> ReadTensor(const Source& source, std::string_view bytes) {
  X2IR_ASSIGN_OR_RETURN(TensorProto proto, ReadTensorProto(source, bytes));
  if (!proto.repeats) return proto.values.Reshaped(std::move(proto.dims));
  const int64_t given = proto.values.num_elements();
  const int64_t size =
      proto.dtype == DType::kString ? sizeof(std::string) : BitWidth(proto.dtype) / 8;
  if (proto.count > source.budget->repeated / size) {
    return Unimplemented("a tensor of ", proto.count, " elements of which the file has ", given,
                         "; it is too large to be filled with the last one");
  }
  source.budget->repeated -= proto.count * size;
  if (proto.dtype == DType::kString) {
    std::vector<std::string> strings = proto.values.strings();
    // The strings themselves may be long.
    const int64_t length = static_cast<int64_t>(strings.back().size());
    if (length != 0 && proto.count > source.budget->repeated / length) {
      return Unimplemented("a tensor of ", proto.count, " times one string is too large");
    }
    source.budget->repeated -= proto.count * length;
    strings.resize(proto.count, std::string(strings.back()));
    return Tensor::Strings(std::move(proto.dims), std::move(strings));
  }
  Tensor tensor = Tensor::Zeros(proto.dtype, std::move(proto.dims));
  const absl::Span<std::byte> out = tensor.mutable_bytes();
  const absl::Span<const std::byte> in = proto.values.bytes();
  std::memcpy(out.data(), in.data(), in.size());
  for (size_t done = in.size(); done < out.size(); done += size) {
    std::memcpy(out.data() + done, in.data() + in.size() - size, size);
  }
  return tensor;
}

}  // namespace x2ir::tf_format
