// The tables of an MLIR bytecode file: all but its operations.
#ifndef X2IR_FORMATS_MLIR_BYTECODE_FILE_INTERNAL_H_
#define X2IR_FORMATS_MLIR_BYTECODE_FILE_INTERNAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/mlir/byte_reader_internal.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace x2ir::mlir {

// Codes of the builtin dialect.
namespace builtin_attr {
enum Code : uint8_t {
  kArray,
  kDictionary,
  kString,
  kTypedString,
  kFlatSymbol,
  kSymbol,
  kType,
  kUnit,
  kInteger,
  kFloat,
  kCallSiteLoc,
  kFileLineColLoc,
  kFusedLoc,
  kFusedLocWithMetadata,
  kNameLoc,
  kUnknownLoc,
  kDenseResource,
  kDenseArray,
  kDenseElements,
  kDenseStrings,
  kSparseElements,
  kDistinct,
  kFileLineColRange,
};
}  // namespace builtin_attr
namespace builtin_type {
enum Code : uint8_t {
  kInteger,
  kIndex,
  kFunction,
  kBFloat16,
  kFloat16,
  kFloat32,
  kFloat64,
  kFloat80,
  kFloat128,
  kComplex,
  kMemRef,
  kMemRefWithSpace,
  kNone,
  kTensor,
  kEncodedTensor,
  kTuple,
  kUnrankedMemRef,
  kUnrankedMemRefWithSpace,
  kUnrankedTensor,
  kVector,
  kScalableVector,
};
}  // namespace builtin_type

struct BytecodeFile {
  struct OpName {
    Symbol name;
    bool registered = true;
  };
  struct Entry {  // an attribute or a type
    uint32_t dialect = 0;
    bool custom = false;  // encoded by its dialect; else text
    std::string_view bytes;
    uint64_t begin = 0;
  };
  struct Resource {
    std::string_view key;
    bool is_blob = false;
    std::string_view bytes;
    uint64_t begin = 0;
  };

  BlobPtr blob;
  uint64_t begin = 0, size = 0;  // of the bytecode in the blob
  int version = 0;
  std::string producer;
  std::vector<std::string_view> strings;
  std::vector<std::string> dialects;
  std::vector<OpName> op_names;
  std::vector<Entry> attrs, types;
  std::vector<Resource> resources;     // of dialects
  std::vector<ByteReader> properties;  // one reader for each entry
  ByteReader ir;

  std::string_view String(ByteReader& in) const;
};

absl::StatusOr<BytecodeFile> ReadBytecodeTables(const BlobPtr& blob, uint64_t begin, uint64_t size);

}  // namespace x2ir::mlir

#endif  // X2IR_FORMATS_MLIR_BYTECODE_FILE_INTERNAL_H_
