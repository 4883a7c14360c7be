// Bytecode of MLIR: the binary form of modules, versions 0 to 6. Attributes and types of the
// dialects builtin, func, vhlo, stablehlo and chlo; those of others are kOther.
#ifndef X2IR_FORMATS_MLIR_BYTECODE_H_
#define X2IR_FORMATS_MLIR_BYTECODE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/mlir/module.h"

namespace X2IR_API x2ir {
namespace mlir {

bool IsBytecode(std::string_view head);  // begins with "ML\xefR"

// Tensors are views of the blob. DataLoss says at which byte it is wrong.
absl::StatusOr<Module> ReadBytecode(const BlobPtr& blob);
// The bytecode in a part of a file.
absl::StatusOr<Module> ReadBytecode(const BlobPtr& blob, uint64_t begin, uint64_t size);

struct BytecodeOptions {
  int version = 6;
  std::string producer;  // "StableHLO_v1.9.0"
};
// Large tensors go from file to file.
absl::Status WriteBytecode(const Module& module, const BytecodeOptions& options, const Sink& sink);

}  // namespace mlir
}  // namespace x2ir

#endif  // X2IR_FORMATS_MLIR_BYTECODE_H_
