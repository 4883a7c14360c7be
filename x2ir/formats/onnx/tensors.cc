// Reads TensorProto in all its storage forms. Raw bytes, packed floats and external data
// become views of the mapped file; only varints and unpacked numbers are decoded.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::onnx_format {
namespace {

// The typed field that holds elements of a type (onnx.proto, at TensorProto), and how.
struct Storage {
  uint32_t field;
  const char* name;
};
Storage StorageOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64: return {tensor_field::kFloatData, "float_data"};
    case DType::kFloat64:
    case DType::kComplex128: return {tensor_field::kDoubleData, "double_data"};
    case DType::kInt64: return {tensor_field::kInt64Data, "int64_data"};
    case DType::kUInt32:
    case DType::kUInt64: return {tensor_field::kUInt64Data, "uint64_data"};
    case DType::kString: return {tensor_field::kStringData, "string_data"};
    default: return {tensor_field::kInt32Data, "int32_data"};
  }
}

// All of a message, sorted by what it is for.
struct Parts {
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  bool external = false;
  std::string_view location, offset, length;
  bool has_raw = false;
  std::string_view raw;
  // Typed data: which fields had any. Fixed-size numbers as bytes: in place where they are
  // in one piece, else gathered.
  std::vector<uint32_t> fields;
  std::string_view fixed;
  std::shared_ptr<std::string> gathered;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;

  void Saw(uint32_t field) {
    if (fields.empty() || fields.back() != field) fields.push_back(field);
  }
};

void ReadFixed(WireReader& in, size_t width, Parts* parts) {
  std::string_view piece;
  if (in.type() == WireType::kBytes) {
    piece = in.Bytes();
    if (piece.size() % width != 0) {
      return in.Fail(StrCat("packed numbers of ", piece.size(), " bytes"));
    }
  } else if (in.type() == (width == 4 ? WireType::kFixed32 : WireType::kFixed64)) {
    piece = in.raw().substr(in.raw().size() - width);
  } else {
    return in.Fail("numbers of the wrong wire type");
  }
  if (parts->fixed.empty()) {
    parts->fixed = piece;
    return;
  }
  if (!parts->gathered) parts->gathered = std::make_shared<std::string>(parts->fixed);
  parts->gathered->append(piece);
  parts->fixed = *parts->gathered;
}

absl::Status ReadParts(Source& source, std::string_view bytes, Parts* parts, TensorProto* out) {
  WireReader in(bytes, source.origin());
  while (in.Next()) {
    switch (in.field()) {
      case tensor_field::kDims: in.AppendInts(&parts->dims); break;
      case tensor_field::kDataType: parts->data_type = in.Int(); break;
      case tensor_field::kName: out->name = in.Bytes(); break;
      case tensor_field::kRawData:
        parts->raw = in.Bytes();
        parts->has_raw = true;
        break;
      case tensor_field::kFloatData:
        parts->Saw(in.field());
        ReadFixed(in, 4, parts);
        break;
      case tensor_field::kDoubleData:
        parts->Saw(in.field());
        ReadFixed(in, 8, parts);
        break;
      case tensor_field::kInt32Data:
      case tensor_field::kInt64Data:
      case tensor_field::kUInt64Data:
        parts->Saw(in.field());
        in.AppendInts(&parts->ints);
        break;
      case tensor_field::kStringData:
        parts->Saw(in.field());
        parts->strings.emplace_back(in.Bytes());
        break;
      case tensor_field::kExternalData: {
        std::string_view key, value;
        if (!ReadEntry(in, &key, &value)) break;
        if (key == "location") parts->location = value;
        if (key == "offset") parts->offset = value;
        if (key == "length") parts->length = value;
        break;
      }
      case tensor_field::kDataLocation: parts->external = in.Int() == 1; break;
      default: out->notes.append(in.raw());
    }
  }
  return in.status();
}

absl::Status ParseBytes(std::string_view what, std::string_view text, uint64_t* number) {
  if (const auto parsed = ParseNumber<uint64_t>(text)) {
    *number = *parsed;
    return absl::OkStatus();
  }
  return Invalid("external data has ", what, " '", text, "', which is not a number of bytes");
}

absl::StatusOr<BlobPtr> OpenExternal(Source& source, std::string_view location) {
  if (auto it = source.external.find(location); it != source.external.end()) return it->second;
  const auto opened = [&]() -> absl::StatusOr<BlobPtr> {
    if (location.empty()) return Invalid("names no file");
    if (!source.model)
      return Invalid("cannot be found: a tensor without a model has no folder for external data");
    return source.model->OpenBeside(location);
  };
  absl::StatusOr<BlobPtr> file = opened();
  if (!file.ok()) return AnnotateOption(file.status(), "external data");
  source.external[std::string(location)] = *file;
  return file;
}

absl::StatusOr<Tensor> FromExternal(Source& source, DType dtype, std::vector<int64_t> dims,
                                    uint64_t nbytes, const Parts& parts) {
  uint64_t offset = 0, length = nbytes;
  if (!parts.offset.empty()) {
    X2IR_RETURN_IF_ERROR(ParseBytes("offset", parts.offset, &offset));
  }
  if (!parts.length.empty()) {
    X2IR_RETURN_IF_ERROR(ParseBytes("length", parts.length, &length));
  }
  if (length != nbytes) {
    return Invalid("external data has ", length, " bytes, expected ", nbytes, " for ",
                   Type::Tensor(dtype, Shape::FromInts(dims)).ToString());
  }
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, OpenExternal(source, parts.location));
  if (offset > file->size() || length > file->size() - offset) {
    return DataLoss("external data file '", parts.location, "' has ", file->size(),
                    " bytes; the tensor lies at ", offset, " and needs ", length);
  }
  return TensorOf(dtype, std::move(dims), std::move(file), offset, nbytes);
}

// A view of bytes of the model, or of `gathered` ones.
absl::StatusOr<Tensor> FromBytes(Source& source, DType dtype, std::vector<int64_t> dims,
                                 std::string_view bytes, std::shared_ptr<std::string> gathered) {
  if (gathered) {
    const absl::Span<const std::byte> span(reinterpret_cast<const std::byte*>(bytes.data()),
                                           bytes.size());
    return Tensor::View(dtype, std::move(dims), span, std::move(gathered));
  }
  const uint64_t offset = bytes.empty() ? 0 : bytes.data() - source.origin();
  return TensorOf(dtype, std::move(dims), source.file, offset, bytes.size());
}

// Elements that came as varints: one in each, or as many as fit into 8 bits.
absl::StatusOr<Tensor> FromInts(DType dtype, std::vector<int64_t> dims, int64_t nbytes,
                                const std::vector<int64_t>& ints) {
  const int bits = std::max(BitWidth(dtype), 8);
  const int64_t bytes_each = bits / 8;
  const int64_t count = nbytes / bytes_each;
  if (static_cast<int64_t>(ints.size()) != count) {
    return Invalid(StorageOf(dtype).name, " has ", ints.size(), " entries, expected ", count,
                   " for ", Type::Tensor(dtype, Shape::FromInts(dims)).ToString());
  }
  Tensor tensor = Tensor::Zeros(dtype, std::move(dims));
  std::byte* out = tensor.mutable_bytes().data();
  const bool wide = StorageOf(dtype).field != tensor_field::kInt32Data;
  for (int64_t i = 0; i < count; ++i) {
    // An int32 is written with 32 or with 64 bits.
    int64_t value = wide ? ints[i] : static_cast<int32_t>(ints[i]);
    if (dtype == DType::kBool) {
      value = value != 0;
    } else if (dtype == DType::kUInt32) {
      if (static_cast<uint64_t>(value) > 0xffffffff) {
        return Invalid("uint64_data[", i, "] = ", static_cast<uint64_t>(value),
                       " does not fit uint32");
      }
    } else if (bits < 32 && (value < -(int64_t{1} << (bits - 1)) || value >= int64_t{1} << bits)) {
      // Signed and unsigned both occur: for bit patterns, neither is more right.
      return Invalid("int32_data[", i, "] = ", value, " does not fit ", Name(dtype));
    }
    std::memcpy(out + i * bytes_each, &value, bytes_each);
  }
  return tensor;
}

absl::StatusOr<Tensor> Build(Source& source, Parts parts) {
  if (!IsKnownDType(parts.data_type) || parts.data_type == 0) {
    return Invalid(parts.data_type == 0 ? "no element type"
                                        : StrCat("unknown element type ", parts.data_type));
  }
  const DType dtype = static_cast<DType>(parts.data_type);
  const std::optional<int64_t> count = CheckedProduct(parts.dims);
  const std::optional<int64_t> nbytes =
      count && dtype != DType::kString ? ByteSize(dtype, *count) : count;
  const auto type = [&parts, dtype] {
    return Type::Tensor(dtype, Shape::FromInts(parts.dims)).ToString();
  };
  if (!nbytes) return Invalid("impossible shape ", type());

  const Storage storage = StorageOf(dtype);
  for (uint32_t field : parts.fields) {
    if (field != storage.field) {
      return Invalid("elements of ", type(), " must be in ", storage.name, ", not in field ",
                     field);
    }
  }
  // Writers that set every field leave an empty raw_data beside the typed one.
  const bool raw = parts.has_raw && (!parts.raw.empty() || parts.fields.empty());
  if (raw + !parts.fields.empty() + parts.external > 1) {
    return Invalid("elements of ", type(), " are stored in two ways");
  }
  if (dtype == DType::kString) {
    if (raw || parts.external) return Invalid("strings must be in string_data");
    if (static_cast<int64_t>(parts.strings.size()) != *count) {
      return Invalid("string_data has ", parts.strings.size(), " entries, expected ", *count,
                     " for ", type());
    }
    return Tensor::Strings(std::move(parts.dims), std::move(parts.strings));
  }
  if (parts.external) {
    return FromExternal(source, dtype, std::move(parts.dims), *nbytes, parts);
  }
  if (!raw &&
      (storage.field == tensor_field::kInt32Data || storage.field == tensor_field::kInt64Data ||
       storage.field == tensor_field::kUInt64Data)) {
    return FromInts(dtype, std::move(parts.dims), *nbytes, parts.ints);
  }
  const std::string_view bytes = raw ? parts.raw : parts.fixed;
  if (static_cast<int64_t>(bytes.size()) != *nbytes) {
    return Invalid(raw ? "raw_data" : storage.name, " has ", bytes.size(), " bytes, expected ",
                   *nbytes, " for ", type());
  }
  return FromBytes(source, dtype, std::move(parts.dims), bytes,
                   raw ? nullptr : std::move(parts.gathered));
}

}  // namespace

absl::Status ReadTensor(Source& source, std::string_view bytes, TensorProto* out) {
  Parts parts;
  X2IR_RETURN_IF_ERROR(ReadParts(source, bytes, &parts, out));
  X2IR_ASSIGN_OR_RETURN(out->tensor, Build(source, std::move(parts)));
  return absl::OkStatus();
}

absl::Status ReadSparseTensor(Source& source, std::string_view bytes, TensorProto* out) {
  std::vector<int64_t> dims;
  std::string_view values_bytes, indices_bytes;
  std::string unknown;
  WireReader in(bytes, source.origin());
  while (in.Next()) {
    switch (in.field()) {
      case sparse_field::kValues: values_bytes = in.Bytes(); break;
      case sparse_field::kIndices: indices_bytes = in.Bytes(); break;
      case sparse_field::kDims: in.AppendInts(&dims); break;
      default: unknown.append(in.raw());
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  TensorProto values, indices;
  const absl::Status values_status = ReadTensor(source, values_bytes, &values);
  out->name = values.name;
  X2IR_RETURN_IF_ERROR(Annotate(values_status, "sparse values"));
  X2IR_RETURN_IF_ERROR(Annotate(ReadTensor(source, indices_bytes, &indices), "sparse indices"));

  const std::vector<int64_t>& shape = indices.tensor.dims();
  const int64_t nnz = values.tensor.num_elements();
  const bool fits = shape.size() == 1 ? shape[0] == nnz
                                      : shape.size() == 2 && shape[0] == nnz &&
                                            shape[1] == static_cast<int64_t>(dims.size());
  if (!CheckedProduct(dims)) return Invalid("a sparse tensor of impossible shape");
  if (values.tensor.rank() != 1 || indices.tensor.dtype() != DType::kInt64 || !fits) {
    return Invalid("a sparse tensor of rank ", dims.size(), " with values ",
                   values.tensor.type().ToString(), " and indices ",
                   indices.tensor.type().ToString());
  }
  // Names and doc strings of the two parts: the name of the values is the tensor's own.
  if (!indices.name.empty() || !indices.notes.empty() || !values.notes.empty() ||
      !unknown.empty()) {
    WireWriter notes;
    notes.BytesUnlessEmpty(sparse_field::kValues, values.notes);
    notes.Begin(sparse_field::kIndices);
    notes.BytesUnlessEmpty(tensor_field::kName, indices.name);
    notes.Raw(indices.notes);
    notes.End();
    notes.Raw(unknown);
    out->notes = notes.ToString();
  }
  out->tensor =
      Tensor::Sparse(std::move(dims), std::move(values.tensor), std::move(indices.tensor));
  return absl::OkStatus();
}

}  // namespace x2ir::onnx_format
