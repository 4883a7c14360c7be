// Layout: "GGUF", version, the numbers of tensors and of keys; the metadata; of each tensor its
// name, dims (innermost first), type and offset; padding; the data.
#include "x2ir/formats/checkpoint/gguf_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::gguf {
namespace {

constexpr uint64_t kMaxAxes = 4;         // ggml's
constexpr int kMaxNesting = 8;           // of lists
constexpr uint64_t kMinKey = 8 + 4 + 1;  // bytes of a key with its value
constexpr uint64_t kMinTensor = 8 + 4 + 4 + 8;
constexpr uint64_t kDefaultAlignment = 32;

struct ValueType {
  std::string_view name;
  uint64_t bytes;  // 0: it says itself how many
};
constexpr ValueType kValueTypes[] = {{"uint8", 1},  {"int8", 1},  {"uint16", 2},  {"int16", 2},
                                     {"uint32", 4}, {"int32", 4}, {"float32", 4}, {"bool", 1},
                                     {"text", 0},   {"list", 0},  {"uint64", 8},  {"int64", 8},
                                     {"float64", 8}};

template <typename T>
T Decode(const char* bytes, bool big_endian) {
  char ordered[sizeof(T)];
  std::memcpy(ordered, bytes, sizeof(T));
  if (big_endian) std::reverse(std::begin(ordered), std::end(ordered));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return value;
}

template <typename T>
void SetNumber(Value& value, const char* bytes, bool big_endian) {
  const T number = Decode<T>(bytes, big_endian);
  value.real = static_cast<double>(number);
  if constexpr (std::is_same_v<T, uint64_t>) {
    value.whole =
        static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int64_t>::max()));
  } else if constexpr (std::is_integral_v<T>) {
    value.whole = number;
  }
}

Value NumberOf(Value::Type type, const char* bytes, bool big_endian) {
  Value value;
  value.type = type;
  switch (type) {
    case Value::kUInt8:
    case Value::kBool: SetNumber<uint8_t>(value, bytes, big_endian); break;
    case Value::kInt8: SetNumber<int8_t>(value, bytes, big_endian); break;
    case Value::kUInt16: SetNumber<uint16_t>(value, bytes, big_endian); break;
    case Value::kInt16: SetNumber<int16_t>(value, bytes, big_endian); break;
    case Value::kUInt32: SetNumber<uint32_t>(value, bytes, big_endian); break;
    case Value::kInt32: SetNumber<int32_t>(value, bytes, big_endian); break;
    case Value::kFloat32: SetNumber<float>(value, bytes, big_endian); break;
    case Value::kUInt64: SetNumber<uint64_t>(value, bytes, big_endian); break;
    case Value::kInt64: SetNumber<int64_t>(value, bytes, big_endian); break;
    case Value::kFloat64: SetNumber<double>(value, bytes, big_endian); break;
    case Value::kText:
    case Value::kList: break;
  }
  return value;
}

// Errors are sticky, as in JsonReader: after the first one everything is zero.
class FileReader {
 public:
  explicit FileReader(File& file) : file_(file), bytes_(file.blob->view()) {}

  absl::Status Run() {
    where_ = "the header";
    if (!bytes_.starts_with(kMagic)) {
      return DataLoss("not a GGUF file: it does not start with 'GGUF'");
    }
    at_ = kMagic.size();
    const auto first = Number<uint32_t>();
    // The files of either byte order have versions of few bits.
    file_.big_endian = first != 0 && (first & 0xffff) == 0;
    const uint32_t version = file_.big_endian ? __builtin_bswap32(first) : first;
    if (status_.ok() && version != 2 && version != 3) {
      if (version == 1) {
        return Unimplemented("version 1 of GGUF (of August 2023) is not read; 2 and 3 are");
      }
      return DataLoss("version ", version, " of GGUF is not known");
    }
    const auto tensors = Number<uint64_t>();
    const auto keys = Number<uint64_t>();
    CheckCount(tensors, kMinTensor, "tensors");
    CheckCount(keys, kMinKey, "keys");
    for (uint64_t i = 0; status_.ok() && i < keys; ++i) ReadKey(i);
    for (uint64_t i = 0; status_.ok() && i < tensors; ++i) ReadTensor(i);
    if (status_.ok()) PlaceTensors();
    return status_;
  }

 private:
  template <typename... Args>
  void Fail(const Args&... args) {
    if (status_.ok()) status_ = DataLoss(where_, ": ", args..., " (at byte ", at_, ")");
  }
  uint64_t left() const { return bytes_.size() - at_; }

  std::string_view Take(uint64_t count) {
    if (status_.ok() && count > left()) {
      Fail("the file ends after ", left(), " of ", count, " bytes");
    }
    if (!status_.ok()) return {};
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  template <typename T>
  T Number() {
    const std::string_view bytes = Take(sizeof(T));
    return bytes.empty() ? T{} : Decode<T>(bytes.data(), file_.big_endian);
  }
  std::string_view Text() { return Take(Number<uint64_t>()); }

  // `count` things of at least `least` bytes each are still to come.
  void CheckCount(uint64_t count, uint64_t least, std::string_view what) {
    if (status_.ok() && count > left() / least) {
      Fail(count, " ", what, " do not fit into the ", left(), " bytes that are left");
    }
  }

  Value::Type ReadValueType() {
    const auto number = Number<uint32_t>();
    if (number >= std::size(kValueTypes)) Fail("unknown type ", number, " of a value");
    return status_.ok() ? static_cast<Value::Type>(number) : Value::kUInt8;
  }

  Value ReadValue(Value::Type type, int depth) {
    Value value;
    value.type = type;
    value.big_endian = file_.big_endian;
    if (type == Value::kText) {
      value.text = Text();
    } else if (type == Value::kList) {
      value.items = ReadValueType();
      value.count = Number<uint64_t>();
      if (const uint64_t size = kValueTypes[value.items].bytes) {
        CheckCount(value.count, size, "items");
        value.bytes = Take(value.count * size);
      } else {
        if (depth >= kMaxNesting) Fail("lists are nested more than ", kMaxNesting, " deep");
        CheckCount(value.count, 8, "items");
        for (uint64_t i = 0; status_.ok() && i < value.count; ++i) {
          ReadValue(value.items, depth + 1);
        }
      }
    } else {
      const std::string_view bytes = Take(kValueTypes[type].bytes);
      if (!bytes.empty()) value = NumberOf(type, bytes.data(), file_.big_endian);
      if (type == Value::kBool && value.whole > 1) Fail("a bool of ", value.whole);
    }
    return value;
  }

  void ReadKey(uint64_t number) {
    where_ = StrCat("key ", number);
    const std::string_view key = Text();
    if (!status_.ok()) return;
    where_ = StrCat("key '", key.substr(0, 200), "'");
    if (!file_.keys.try_emplace(key, file_.metadata.size()).second) return Fail("it occurs twice");
    const Value::Type type = ReadValueType();
    Value value = ReadValue(type, 0);
    file_.metadata.emplace_back(key, value);
  }

  void ReadTensor(uint64_t number) {
    where_ = StrCat("tensor ", number);
    TensorInfo tensor;
    tensor.name = Text();
    if (!status_.ok()) return;
    where_ = StrCat("tensor '", tensor.name.substr(0, 200), "'");
    if (!names_.emplace(tensor.name).second) return Fail("it occurs twice");
    const auto axes = Number<uint32_t>();
    if (axes > kMaxAxes) return Fail("it has ", axes, " axes; ", kMaxAxes, " is the most");
    for (uint32_t i = 0; i < axes; ++i) {
      const auto dim = Number<uint64_t>();
      if (status_.ok() && (dim == 0 || dim > uint64_t{1} << 62)) {
        return Fail("an axis of ", dim, " elements");
      }
      tensor.dims.insert(tensor.dims.begin(), static_cast<int64_t>(dim));
    }
    const auto type = Number<uint32_t>();
    tensor.offset = Number<uint64_t>();
    if (!status_.ok()) return;
    tensor.type = ggml::FindType(type);
    if (!tensor.type) return Fail("unknown type ", type);
    SetSize(tensor);
    file_.tensors.push_back(std::move(tensor));
  }

  void SetSize(TensorInfo& tensor) {
    const ggml::Type& type = *tensor.type;
    const int64_t row = tensor.dims.empty() ? 1 : tensor.dims.back();
    if (row % type.block != 0) {
      return Fail("rows of ", row, " elements are not blocks of ", type.block, " (", type.name,
                  ")");
    }
    const std::optional<int64_t> count = CheckedProduct(tensor.dims);
    // The product with the size of a block must fit, too.
    if (!count || *count / type.block > std::numeric_limits<int64_t>::max() / type.bytes) {
      return Fail("it has too many elements");
    }
    tensor.nbytes = static_cast<uint64_t>(*count / type.block * type.bytes);
  }

  // Tensors lie one after another, as ggml demands it, so that none of them shares bytes.
  void PlaceTensors() {
    where_ = "key 'general.alignment'";
    uint64_t alignment = kDefaultAlignment;
    if (const Value* value = file_.Find("general.alignment")) {
      if (value->type != Value::kUInt32 ||
          !std::has_single_bit(static_cast<uint64_t>(value->whole))) {
        return Fail("it is ", value->ToString(), ", not a power of two of type uint32");
      }
      alignment = static_cast<uint64_t>(value->whole);
    }
    if (file_.tensors.empty()) return;
    const uint64_t start = (at_ + alignment - 1) / alignment * alignment;
    const uint64_t size = bytes_.size() < start ? 0 : bytes_.size() - start;
    uint64_t end = 0;  // of the tensors so far
    for (TensorInfo& tensor : file_.tensors) {
      where_ = StrCat("tensor '", tensor.name.substr(0, 200), "'");
      if (tensor.offset % alignment != 0) {
        return Fail("offset ", tensor.offset, " is not a multiple of ", alignment);
      }
      if (tensor.offset < end) {
        return Fail("offset ", tensor.offset, " is inside of the tensor before it, which ends at ",
                    end);
      }
      if (tensor.offset > size || tensor.nbytes > size - tensor.offset) {
        return Fail("its ", tensor.nbytes, " bytes at offset ", tensor.offset,
                    " are not within the ", size, " bytes of data");
      }
      end = tensor.offset + tensor.nbytes;
      tensor.offset += start;
    }
  }

  File& file_;
  std::string_view bytes_;
  uint64_t at_ = 0;
  std::string where_;
  absl::Status status_;
  absl::flat_hash_set<std::string_view> names_;
};

}  // namespace

Value Value::At(uint64_t i) const {
  return NumberOf(items, bytes.data() + i * kValueTypes[items].bytes, big_endian);
}

std::string Value::ToString() const {
  if (type == kText) return StrCat("'", text.substr(0, 100), "'");
  if (type == kList) return StrCat("a list of ", count, " of ", kValueTypes[items].name);
  if (type == kBool) return whole ? "true" : "false";
  return is_integer() ? StrCat(whole) : StrCat(real);
}

const Value* File::Find(std::string_view key) const {
  const auto it = keys.find(key);
  return it == keys.end() ? nullptr : &metadata[it->second].second;
}

absl::StatusOr<File> ReadFile(BlobPtr blob) {
  File file;
  file.blob = std::move(blob);
  X2IR_RETURN_IF_ERROR(FileReader(file).Run());
  return file;
}

}  // namespace x2ir::gguf
