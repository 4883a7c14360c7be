// Files of jax.export: a FlatBuffer around a portable artifact.
//
// The module's function "main" takes, in this order:
//   * where there is more than one platform, an integer: which of them runs the program;
//   * a token for each ordered effect;
//   * the arrays of the function's arguments (a tree, flattened) that it keeps.
// Sizes that are not known are dynamic in the types of the arrays. main asks for them and hands
// them to the function that it calls; uses_global_constants says that there are such sizes, or
// several platforms.
#ifndef X2IR_FORMATS_STABLEHLO_JAX_EXPORT_H_
#define X2IR_FORMATS_STABLEHLO_JAX_EXPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/mlir/module.h"

namespace X2IR_API x2ir {
namespace stablehlo {

struct JaxExport {
  int serialization_version = 0, calling_convention_version = 0;
  std::string function_name;
  std::vector<std::string> platforms;  // "cpu", "tpu"
  std::vector<std::string> inputs;     // of the arrays that main takes: "0.params.w"
  std::vector<std::string> outputs;    // of all: "", "loss"
  size_t num_tokens = 0;               // ordered effects
  bool uses_global_constants = false;
  uint64_t begin = 0, size = 0;  // of the module's bytecode in the file
};

// A file has no identifier: it is one if a module is where the module should be.
bool IsJaxExport(std::string_view bytes);
// Programs for more than one device are Unimplemented.
absl::StatusOr<JaxExport> ReadJaxExport(const BlobPtr& blob);

// The module in the flat form, with the names of its inputs. The program is that of the first
// platform ("cpu", if it is among them): the argument that says so becomes a constant.
absl::StatusOr<mlir::Module> ReadJaxModule(const BlobPtr& blob);

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_JAX_EXPORT_H_
