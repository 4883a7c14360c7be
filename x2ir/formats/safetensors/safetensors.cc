// Layout: 8 bytes header size (little-endian), the header (JSON, padded with spaces), the
// data. The header gives each tensor's dtype, shape and range, relative to the data's start.
#include "x2ir/formats/safetensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the specification's own bound
constexpr uint64_t kAlignment = 64;
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kDTypePrefix = "x2ir.dtype.";

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr DTypeName kDTypeNames[] = {
    {"F64", DType::kFloat64},
    {"F32", DType::kFloat32},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},
    {"I64", DType::kInt64},
    {"I32", DType::kInt32},
    {"I16", DType::kInt16},
    {"I8", DType::kInt8},
    {"U64", DType::kUInt64},
    {"U32", DType::kUInt32},
    {"U16", DType::kUInt16},
    {"U8", DType::kUInt8},
    {"BOOL", DType::kBool},
    {"C64", DType::kComplex64},
    {"F8_E4M3", DType::kFloat8E4M3FN},
    {"F8_E5M2", DType::kFloat8E5M2},
    {"F8_E8M0", DType::kFloat8E8M0},
    {"F4", DType::kFloat4E2M1},
};

std::optional<DType> FindDType(std::string_view name) {
  for (const DTypeName& row : kDTypeNames) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

// The format's name for the tensor's type; empty when it has none. Its F4 holds pairs, so an
// odd last dim would be read differently elsewhere.
std::string_view NameFor(const Tensor& tensor) {
  const bool pairs = tensor.rank() > 0 && tensor.dims().back() % 2 == 0;
  if (tensor.dtype() == DType::kFloat4E2M1 && !pairs) return {};
  for (const DTypeName& row : kDTypeNames) {
    if (row.dtype == tensor.dtype()) return row.name;
  }
  return {};
}

struct Entry {
  std::string_view name;
  std::string_view dtype_name;
  std::optional<DType> dtype;
  std::vector<int64_t> dims;
  uint64_t begin = 0;
  uint64_t end = 0;
};

Entry ReadEntry(JsonReader& json, std::string_view name) {
  static constexpr std::string_view kKeys[] = {"dtype", "shape", "data_offsets"};
  Entry entry;
  entry.name = name;
  const uint32_t seen = json.Members(kKeys, [&](int key) {
    if (key == 0) {
      entry.dtype_name = json.String();
      entry.dtype = FindDType(entry.dtype_name);
    } else if (key == 1) {
      json.Array([&](size_t) {
        const int64_t dim = json.Int();
        if (dim < 0) json.Fail("a negative dimension");
        entry.dims.push_back(dim);
      });
    } else {
      size_t count = 0;
      json.Array([&](size_t i) {
        (i == 0 ? entry.begin : entry.end) = json.Unsigned();
        if (++count > 2) json.Fail("expected two offsets");
      });
      if (json.ok() && count != 2) json.Fail("expected two offsets");
    }
  });
  if (json.ok() && seen != 7) json.Fail("expected dtype, shape and data_offsets");
  return entry;
}

// The size that dtype and shape ask for.
std::optional<uint64_t> SizeOf(DType dtype, absl::Span<const int64_t> dims) {
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count) return std::nullopt;
  const std::optional<int64_t> size = ByteSize(dtype, *count);
  if (!size) return std::nullopt;
  return static_cast<uint64_t>(*size);
}

// Sets `tensor` to the type that the metadata names, over the same bytes.
absl::Status Retype(const std::string& text, const Blob& file, Tensor* tensor, BlobPtr owner) {
  X2IR_ASSIGN_OR_RETURN(const Type type, Type::Parse(text));
  std::optional<std::vector<int64_t>> dims;
  if (type.is_tensor() && type.shape()) dims = type.shape()->Static();
  const std::optional<uint64_t> size = dims ? SizeOf(type.dtype(), *dims) : std::nullopt;
  if (!size || tensor->dtype() != DType::kUInt8 || *size != tensor->nbytes()) {
    return DataLoss("its ", tensor->nbytes(), " bytes of ", Name(tensor->dtype()), " are not ",
                    text);
  }
  const uint64_t offset = static_cast<uint64_t>(tensor->bytes().data() - file.data());
  X2IR_ASSIGN_OR_RETURN(*tensor, TensorOf(type.dtype(), *std::move(dims), std::move(owner),
                                          *size == 0 ? 0 : offset, *size));
  return absl::OkStatus();
}

absl::StatusOr<Safetensors> Parse(const BlobPtr& file) {
  const std::string_view bytes = file->view();
  if (bytes.size() < 8) return DataLoss("not a safetensors file: only ", bytes.size(), " bytes");
  uint64_t header_size;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  if (header_size > kMaxHeader || header_size > bytes.size() - 8) {
    return DataLoss("not a safetensors file: a header of ", header_size, " bytes in a file of ",
                    bytes.size());
  }
  const uint64_t data_start = 8 + header_size;
  const uint64_t data_size = bytes.size() - data_start;
  const std::string_view header = bytes.substr(8, header_size);
  if (header.empty() || header[0] != '{') {
    return DataLoss("not a safetensors file: its header does not start with '{'");
  }

  Safetensors result;
  std::vector<Entry> entries;
  StringMap<std::string> dtypes;  // of "x2ir.dtype.*"
  absl::flat_hash_set<std::string_view> names;
  JsonReader json(header);
  json.Object([&](std::string_view name) {
    if (!names.insert(name).second) return json.Fail("this name occurs twice");
    if (name != kMetadata) return entries.push_back(ReadEntry(json, name));
    absl::flat_hash_set<std::string_view> keys;
    json.Object([&](std::string_view key) {
      if (!keys.insert(key).second) return json.Fail("this key occurs twice");
      const std::string_view value = json.String();
      if (key.starts_with(kDTypePrefix)) {
        dtypes.emplace(key.substr(kDTypePrefix.size()), value);
      } else {
        result.metadata.emplace_back(key, value);
      }
    });
  });
  json.Finish();
  if (!json.ok()) {
    // Whatever is wrong with it, the header is what the file is unreadable without.
    return DataLoss("not a safetensors file: header ", json.status().message());
  }

  result.tensors.reserve(entries.size());
  std::vector<const Entry*> by_offset;
  by_offset.reserve(entries.size());
  for (Entry& entry : entries) {
    by_offset.push_back(&entry);
    const auto error = [&](const auto&... what) {
      return DataLoss("tensor '", entry.name, "': ", what...);
    };
    if (!entry.dtype) {
      return Unimplemented("tensor '", entry.name, "': element type ", entry.dtype_name,
                           " is not known");
    }
    if (entry.begin > entry.end || entry.end > data_size) {
      return error("its range [", entry.begin, ", ", entry.end, ") is not within the ", data_size,
                   " bytes of data");
    }
    const uint64_t size = entry.end - entry.begin;
    const std::optional<uint64_t> want = SizeOf(*entry.dtype, entry.dims);
    if (!want || *want != size) {
      return error(entry.dtype_name, "[", Shape::FromInts(entry.dims).ToString(), "] takes ",
                   want ? StrCat(*want) : std::string("too many"), " bytes, its range has ", size);
    }
    // An empty tensor is at no place in particular: past the end of an empty file, even.
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(*entry.dtype, entry.dims, file,
                                                  size == 0 ? 0 : data_start + entry.begin, size));
    if (const auto it = dtypes.find(entry.name); it != dtypes.end()) {
      const absl::Status status = Retype(it->second, *file, &tensor, file);
      if (!status.ok()) return error(status.message());
    }
    result.tensors.push_back({std::string(entry.name), std::move(tensor)});
  }
  std::sort(by_offset.begin(), by_offset.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t at = 0;
  for (const Entry* entry : by_offset) {
    if (entry->begin != at) {
      return DataLoss(
          "tensor '", entry->name, "': it starts at ", entry->begin, ", ",
          entry->begin < at ? "inside another tensor that ends at " : "after a gap that starts at ",
          at);
    }
    at = entry->end;
  }
  if (at != data_size) {
    return DataLoss(data_size - at, " bytes after the last tensor belong to no tensor");
  }
  return result;
}

// The largest power of two that divides the size, at most kAlignment; empty ones fit anywhere.
uint64_t AlignmentOf(const Tensor& tensor) {
  const uint64_t size = tensor.nbytes();
  return size == 0 ? kAlignment : std::min(kAlignment, uint64_t{1} << std::countr_zero(size));
}

}  // namespace

absl::StatusOr<Safetensors> ReadSafetensors(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, Blob::Open(path));
  return ReadSafetensors(std::move(file));
}

absl::StatusOr<Safetensors> ReadSafetensors(BlobPtr file) {
  absl::StatusOr<Safetensors> result = Parse(file);
  if (!result.ok()) return Annotate(result.status(), file->path());
  return result;
}

absl::Status AppendSafetensors(AtomicFile& file, absl::Span<const NamedTensor> tensors,
                               const SafetensorsMetadata& metadata) {
  const auto error = [&](std::string_view name, const auto&... what) {
    return Invalid(file.path(), ": tensor '", name, "': ", what...);
  };
  std::vector<const NamedTensor*> order;
  order.reserve(tensors.size());
  SafetensorsMetadata all_metadata = metadata;
  for (const NamedTensor& entry : tensors) {
    order.push_back(&entry);
    const Tensor& tensor = entry.tensor;
    if (tensor.is_string() || tensor.is_sparse() || tensor.dtype() == DType::kUndefined) {
      return error(entry.name, "safetensors holds no ", tensor.is_sparse() ? "sparse " : "",
                   Name(tensor.dtype()), " tensors");
    }
    if (!IsValidUtf8(entry.name)) return error(entry.name, "its name is not UTF-8");
    if (entry.name == kMetadata) return error(entry.name, "the format reserves this name");
    if (NameFor(tensor).empty()) {
      all_metadata.emplace_back(StrCat(kDTypePrefix, entry.name), tensor.type().ToString());
    }
  }
  for (const auto& [key, value] : all_metadata) {
    if (!IsValidUtf8(key) || !IsValidUtf8(value)) {
      return Invalid(file.path(), ": metadata '", key, "' is not UTF-8");
    }
  }
  std::sort(all_metadata.begin(), all_metadata.end());
  const auto twice =
      std::adjacent_find(all_metadata.begin(), all_metadata.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != all_metadata.end()) {
    return Invalid(file.path(), ": metadata '", twice->first, "' occurs twice");
  }

  // Sizes are multiples of their alignment, so falling alignment keeps every start aligned.
  std::sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    const uint64_t left = AlignmentOf(a->tensor), right = AlignmentOf(b->tensor);
    return left != right ? left > right : a->name < b->name;
  });

  std::string header(8, '\0');
  header.push_back('{');
  if (!all_metadata.empty()) {
    AppendJsonString(&header, kMetadata);
    char separator = ':';
    for (const auto& [key, value] : all_metadata) {
      header.push_back(separator);
      if (separator == ':') header.push_back('{');
      separator = ',';
      AppendJsonString(&header, key);
      header.push_back(':');
      AppendJsonString(&header, value);
    }
    header.push_back('}');
  }
  absl::flat_hash_set<std::string_view> names;
  names.reserve(order.size());
  uint64_t at = 0;
  for (const NamedTensor* entry : order) {
    if (!names.insert(entry->name).second) return error(entry->name, "this name occurs twice");
    const Tensor& tensor = entry->tensor;
    const std::string_view dtype = NameFor(tensor);
    if (header.size() > 9) header.push_back(',');
    AppendJsonString(&header, entry->name);
    StrAppend(&header, ":{\"dtype\":\"", dtype.empty() ? "U8" : dtype, "\",\"shape\":[",
              dtype.empty() ? StrCat(tensor.nbytes()) : tensor.shape().ToString(),
              "],\"data_offsets\":[", at, ",", at + tensor.nbytes(), "]}");
    at += tensor.nbytes();
  }
  header.push_back('}');
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t size = header.size() - 8;
  if (size > kMaxHeader) {
    return Invalid(file.path(), ": ", tensors.size(), " tensors need a header of ", size,
                   " bytes, and safetensors allows ", kMaxHeader);
  }
  std::memcpy(header.data(), &size, sizeof(size));

  X2IR_RETURN_IF_ERROR(file.Append(header));
  for (const NamedTensor* entry : order) X2IR_RETURN_IF_ERROR(file.Append(entry->tensor));
  return absl::OkStatus();
}

absl::Status WriteSafetensors(const std::string& path, absl::Span<const NamedTensor> tensors,
                              const SafetensorsMetadata& metadata) {
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  X2IR_RETURN_IF_ERROR(AppendSafetensors(file, tensors, metadata));
  return file.Commit();
}

}  // namespace x2ir
