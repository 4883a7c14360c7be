#include <cstring>

#include "x2ir/formats/coreml/values_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::coreml {
namespace {

constexpr int kMaxValueDepth = 32;
constexpr size_t kMaxRank = 64;
constexpr int64_t kUInt1 = 37, kUInt6 = 38, kUInt3 = 39;

// Bits of types that are no DType.
int OddBits(int64_t data_type) {
  return data_type == kUInt1 ? 1 : data_type == kUInt3 ? 3 : data_type == kUInt6 ? 6 : 0;
}

absl::Status ReadDimension(std::string_view bytes, const char* origin, MilType* type) {
  WireReader in(bytes, origin);
  Dim dim;
  while (in.Next()) {
    WireReader inner(in.Bytes(), origin);
    while (inner.Next()) {
      if (in.field() == dimension_field::kConstant &&
          inner.field() == dimension_constant_dimension_field::kSize) {
        const int64_t size = inner.Int();
        if (size < 0) return DataLoss("a size of ", size);
        dim = Dim(size);
      }
      if (in.field() == dimension_field::kUnknown &&
          inner.field() == dimension_unknown_dimension_field::kVariadic) {
        type->variadic |= inner.Int() != 0;
      }
    }
    X2IR_RETURN_IF_ERROR(inner.status());
    // Of a message without fields the size is 0.
    if (in.field() == dimension_field::kConstant && dim.is_unknown()) dim = Dim(0);
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (type->dims.size() >= kMaxRank) return DataLoss("a tensor of more than ", kMaxRank, " axes");
  type->dims.push_back(dim);
  return absl::OkStatus();
}

absl::Status ReadTensorType(std::string_view bytes, const char* origin, MilType* type) {
  type->kind = MilType::kTensor;
  int64_t rank = 0;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == tensor_type_field::kDataType) type->data_type = in.Int();
    if (in.field() == tensor_type_field::kRank) rank = in.Int();
    if (in.field() == tensor_type_field::kDimensions)
      X2IR_RETURN_IF_ERROR(ReadDimension(in.Bytes(), origin, type));
  }
  X2IR_RETURN_IF_ERROR(in.status());
  type->variadic |= rank < 0;
  if (!type->variadic && rank != static_cast<int64_t>(type->dims.size())) {
    return DataLoss("a tensor of rank ", rank, " with ", type->dims.size(), " sizes");
  }
  DType dtype = MilToDType(type->data_type);
  if (OddBits(type->data_type) != 0) dtype = DType::kUInt8;
  type->type = type->variadic ? Type::Tensor(dtype) : Type::Tensor(dtype, Shape(type->dims));
  return absl::OkStatus();
}

// The numbers of a value that is stored in the program itself.
absl::StatusOr<Tensor> ReadImmediate(std::string_view bytes, const MilType& type,
                                     const BlobPtr& file) {
  const char* const origin = file->view().data();
  std::vector<int64_t> ints, dims;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string> strings;
  std::string_view raw;
  bool has_raw = false;
  WireReader in(bytes, origin);
  while (in.Next()) {
    const uint32_t field = in.field();
    WireReader list(in.Bytes(), origin);  // all of them have one field of the same number
    while (list.Next()) {
      if (list.field() != tensor_value_repeated_floats_field::kValues) continue;
      switch (field) {
        case tensor_value_field::kFloats: list.AppendFloats(&floats); break;
        case tensor_value_field::kInts:
        case tensor_value_field::kBools:
        case tensor_value_field::kLongInts: list.AppendInts(&ints); break;
        case tensor_value_field::kStrings: strings.push_back(list.String()); break;
        case tensor_value_field::kDoubles: list.AppendDoubles(&doubles); break;
        case tensor_value_field::kBytes:
          raw = list.Bytes();
          has_raw = true;
          break;
        default: return Unimplemented("a value of field ", field);
      }
    }
    X2IR_RETURN_IF_ERROR(list.status());
    if (field == tensor_value_field::kBytes) has_raw = true;
  }
  X2IR_RETURN_IF_ERROR(in.status());
  int64_t count = 1;
  for (const Dim& dim : type.dims) {
    if (!dim.is_static()) return Invalid("a constant of unknown size");
    dims.push_back(dim.value());
    if (__builtin_mul_overflow(count, dim.value(), &count)) return DataLoss("a constant too large");
  }
  if (type.variadic) return Invalid("a constant of unknown rank");
  const DType dtype = type.type.dtype();
  const auto check = [&](size_t given) -> absl::Status {
    if (static_cast<int64_t>(given) == count) return absl::OkStatus();
    return DataLoss("a constant of ", count, " elements has ", given);
  };
  if (has_raw) {
    const absl::Span<const std::byte> data(reinterpret_cast<const std::byte*>(raw.data()),
                                           raw.size());
    if (const int bits = OddBits(type.data_type)) return UnpackLowFirst(data, bits, dims);
    if (BitWidth(dtype) == 0) return Unimplemented("elements of type ", type.data_type);
    return TensorOf(dtype, dims, file, static_cast<uint64_t>(raw.data() - origin), raw.size());
  }
  switch (dtype) {
    case DType::kString:
      X2IR_RETURN_IF_ERROR(check(strings.size()));
      return Tensor::Strings(dims, std::move(strings));
    case DType::kFloat32:
      X2IR_RETURN_IF_ERROR(check(floats.size()));
      return Tensor::Of<float>(dims, floats);
    case DType::kFloat64:
      X2IR_RETURN_IF_ERROR(check(doubles.size()));
      return Tensor::Of<double>(dims, doubles);
    default: break;
  }
  if (dtype != DType::kBool && !IsInteger(dtype)) {
    return Unimplemented("elements of type ", type.data_type);
  }
  X2IR_RETURN_IF_ERROR(check(ints.size()));
  Tensor tensor = Tensor::Zeros(dtype, dims);
  const auto out = tensor.mutable_bytes();
  const auto width = static_cast<size_t>(BitWidth(dtype) / 8);
  if (width == 0) return Unimplemented("elements of type ", type.data_type);
  for (size_t i = 0; i < ints.size(); ++i) {
    const int64_t number = dtype == DType::kBool ? ints[i] != 0 : ints[i];
    std::memcpy(out.data() + i * width, &number, width);
  }
  return tensor;
}

// --- weight.bin
// -----------------------------------------------------------------------------------

struct BlobRecord {
  uint32_t sentinel, data_type;
  uint64_t size, offset;
};
constexpr uint32_t kBlobSentinel = 0xDEADBEEF;
constexpr uint64_t kBlobHeader = 64;

// The numbers that MILBlob has for element types.
int64_t MilTypeOfBlob(uint32_t data_type) {
  static constexpr int64_t kTypes[] = {0,  10, 11, 31, 21, 13, 22, 32, 25,
                                       37, 36, 35, 39, 38, 23, 33, 40, 41};
  return data_type < std::size(kTypes) ? kTypes[data_type] : 0;
}

absl::StatusOr<Tensor> ReadBlobFile(std::string_view bytes, const MilType& type,
                                    ModelFiles& files) {
  std::string_view name;
  uint64_t offset = 0;
  WireReader in(bytes, files.model()->view().data());
  while (in.Next()) {
    if (in.field() == value_blob_file_value_field::kFileName) name = in.Bytes();
    if (in.field() == value_blob_file_value_field::kOffset) offset = in.Varint();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, files.Open(name));
  const auto fail = [&](const auto&... what) {
    return DataLoss("'", blob->path(), "': ", what...);
  };
  if (blob->size() < kBlobHeader) return fail("not a file of weights: it is too short");
  const auto version = LoadNumber<uint32_t>(blob->data() + 4);
  if (version != 2) return Unimplemented("'", blob->path(), "': version ", version, " of MILBlob");
  if (offset > blob->size() || blob->size() - offset < kBlobHeader) {
    return fail("there is no weight at byte ", offset);
  }
  BlobRecord record;
  record.sentinel = LoadNumber<uint32_t>(blob->data() + offset);
  record.data_type = LoadNumber<uint32_t>(blob->data() + offset + 4);
  record.size = LoadNumber<uint64_t>(blob->data() + offset + 8);
  record.offset = LoadNumber<uint64_t>(blob->data() + offset + 16);
  if (record.sentinel != kBlobSentinel) return fail("there is no weight at byte ", offset);
  if (MilTypeOfBlob(record.data_type) != type.data_type) {
    return fail("the weight at byte ", offset, " is of type ", record.data_type,
                ", but the program expects type ", type.data_type);
  }
  if (record.offset > blob->size() || blob->size() - record.offset < record.size) {
    return fail("the weight at byte ", offset, " lies outside of the file");
  }
  const auto dims = type.variadic ? std::nullopt : Shape(type.dims).Static();
  if (!dims) return Invalid("a weight of unknown size");
  if (const int bits = OddBits(type.data_type)) {
    return UnpackLowFirst({blob->data() + record.offset, static_cast<size_t>(record.size)}, bits,
                          *dims);
  }
  const DType dtype = type.type.dtype();
  if (BitWidth(dtype) == 0) return Unimplemented("elements of type ", type.data_type);
  return TensorOf(dtype, *dims, blob, record.offset, record.size);
}

absl::StatusOr<MilValue> ReadList(std::string_view bytes, ModelFiles& files, int depth) {
  MilValue value;
  WireReader in(bytes, files.model()->view().data());
  while (in.Next()) {
    if (in.field() != list_value_field::kValues) continue;
    X2IR_ASSIGN_OR_RETURN(value.list.emplace_back(), ReadMilValue(in.Bytes(), files, depth + 1));
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return value;
}

}  // namespace

absl::StatusOr<Tensor> UnpackLowFirst(absl::Span<const std::byte> bytes, int bits,
                                      std::vector<int64_t> dims) {
  int64_t count = 1, total = 0;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return DataLoss("a size of ", dim);
  }
  if (__builtin_mul_overflow(count, int64_t{bits}, &total) ||
      (total + 7) / 8 > static_cast<int64_t>(bytes.size())) {
    return DataLoss(count, " elements of ", bits, " bits in ", bytes.size(), " bytes");
  }
  Tensor tensor = Tensor::Zeros(DType::kUInt8, std::move(dims));
  const absl::Span<uint8_t> out = tensor.mutable_span<uint8_t>();
  uint32_t held = 0;
  int have = 0;
  size_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    while (have < bits) {
      held |= static_cast<uint32_t>(bytes[next++]) << have;
      have += 8;
    }
    out[static_cast<size_t>(i)] = static_cast<uint8_t>(held & ((1u << bits) - 1));
    held >>= bits;
    have -= bits;
  }
  return tensor;
}

absl::StatusOr<MilType> ReadMilType(std::string_view bytes, const char* origin, int depth) {
  if (depth > kMaxValueDepth) return DataLoss("types are nested too deeply");
  MilType type;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case value_type_field::kTensorType:
        X2IR_RETURN_IF_ERROR(ReadTensorType(in.Bytes(), origin, &type));
        break;
      case value_type_field::kListType:
      case value_type_field::kStateType: {
        const bool list = in.field() == value_type_field::kListType;
        WireReader inner(in.Bytes(), origin);
        while (inner.Next()) {
          if (inner.field() != list_type_field::kType) continue;
          X2IR_ASSIGN_OR_RETURN(type, ReadMilType(inner.Bytes(), origin, depth + 1));
        }
        X2IR_RETURN_IF_ERROR(inner.status());
        if (type.kind != MilType::kTensor)
          return Unimplemented("a list or state of something that is not a tensor");
        type.kind = list ? MilType::kList : MilType::kState;
        break;
      }
      default: type.kind = MilType::kOther;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return type;
}

absl::StatusOr<NamedType> ReadNamedType(std::string_view bytes, const char* origin) {
  NamedType named;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == named_value_type_field::kName) named.name = in.String();
    if (in.field() == named_value_type_field::kType) {
      X2IR_ASSIGN_OR_RETURN(named.type, ReadMilType(in.Bytes(), origin));
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return named;
}

absl::StatusOr<MilValue> ReadMilValue(std::string_view bytes, ModelFiles& files, int depth) {
  if (depth > kMaxValueDepth) return DataLoss("values are nested too deeply");
  const char* const origin = files.model()->view().data();
  MilType type;
  std::string_view immediate, blob;
  bool has_immediate = false, has_blob = false;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case value_field::kType: {
        X2IR_ASSIGN_OR_RETURN(type, ReadMilType(in.Bytes(), origin));
        break;
      }
      case value_field::kImmediateValue:
        immediate = in.Bytes();
        has_immediate = true;
        break;
      case value_field::kBlobFileValue:
        blob = in.Bytes();
        has_blob = true;
        break;
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (has_blob) {
    MilValue value;
    X2IR_ASSIGN_OR_RETURN(value.tensor, ReadBlobFile(blob, type, files));
    value.is_tensor = true;
    return value;
  }
  if (!has_immediate) return Invalid("a value without content");
  MilValue value;
  bool found = false;
  WireReader fields(immediate, origin);
  while (fields.Next()) {
    found = true;
    if (fields.field() == value_immediate_value_field::kTensor) {
      X2IR_ASSIGN_OR_RETURN(value.tensor, ReadImmediate(fields.Bytes(), type, files.model()));
      value.is_tensor = true;
    } else if (fields.field() == value_immediate_value_field::kTuple ||
               fields.field() == value_immediate_value_field::kList) {
      X2IR_ASSIGN_OR_RETURN(value, ReadList(fields.Bytes(), files, depth));
    }  // dictionaries are notes
  }
  X2IR_RETURN_IF_ERROR(fields.status());
  if (!found) {
    // A message without fields: nothing of no elements.
    X2IR_ASSIGN_OR_RETURN(value.tensor, ReadImmediate({}, type, files.model()));
    value.is_tensor = true;
  }
  return value;
}

}  // namespace x2ir::coreml
