// The container of GGUF: metadata, and the places of tensors (docs/gguf.md of ggml). Nothing here
// knows what keys or tensors mean.
//
// Versions 2 and 3, of either byte order. Whatever the bytes are, memory stays below a small
// multiple of the header's size: counts and lengths are checked against the bytes that are left,
// texts and lists are views of the file.
#ifndef X2IR_FORMATS_CHECKPOINT_GGUF_FILE_H_
#define X2IR_FORMATS_CHECKPOINT_GGUF_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/checkpoint/ggml_types.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace gguf {

inline constexpr std::string_view kMagic = "GGUF";

struct Value {
  // Numbers of types in files.
  enum Type : uint32_t {
    kUInt8,
    kInt8,
    kUInt16,
    kInt16,
    kUInt32,
    kInt32,
    kFloat32,
    kBool,
    kText,
    kList,
    kUInt64,
    kInt64,
    kFloat64,
  };
  Type type = kUInt8;
  int64_t whole = 0;  // of integers (uint64 beyond int64: the largest int64) and bool
  double real = 0;    // of all numbers
  std::string_view text;
  // Of a list. Its numbers are decoded when they are asked for; other lists are skipped.
  Type items = kUInt8;
  uint64_t count = 0;
  std::string_view bytes;
  bool big_endian = false;

  bool is_integer() const { return type <= kInt32 || type == kUInt64 || type == kInt64; }
  bool is_number() const { return is_integer() || type == kFloat32 || type == kFloat64; }
  // The items of a list of numbers or of flags: `count` of them are there.
  Value At(uint64_t i) const;
  bool is_list_of_numbers() const { return type == kList && items != kText && items != kList; }
  std::string ToString() const;  // for messages
};

struct TensorInfo {
  std::string_view name;
  const ggml::Type* type = nullptr;
  std::vector<int64_t> dims;  // outermost first
  uint64_t offset = 0;        // in the file
  uint64_t nbytes = 0;
};

struct File {
  BlobPtr blob;
  bool big_endian = false;
  std::vector<std::pair<std::string_view, Value>> metadata;  // in the file's order
  std::vector<TensorInfo> tensors;

  const Value* Find(std::string_view key) const;  // null: there is none

  StringMap<size_t> keys;  // positions in `metadata`
};

// DataLoss: not a GGUF file, or a broken one; the message says where. Unimplemented: version 1, or
// a type of tensors that is not known.
absl::StatusOr<File> ReadFile(BlobPtr blob);

}  // namespace gguf
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GGUF_FILE_H_
