// Programs for several platforms: the first argument of their function "main" says which of them
// runs the program.
#ifndef X2IR_FORMATS_STABLEHLO_PLATFORMS_H_
#define X2IR_FORMATS_STABLEHLO_PLATFORMS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/mlir/module.h"

namespace X2IR_API x2ir {
namespace stablehlo {

// "main" of a module in the flat form, which has a body; Invalid where there is none.
absl::StatusOr<mlir::Op*> MainOf(mlir::Module& module);

// Makes the program one of a single platform: the CPU, if it is among them, else the first. The
// argument that says so becomes a constant. Where there are fewer than two platforms main has no
// such argument.
absl::Status ChoosePlatform(mlir::Module& module, mlir::Op& main,
                            const std::vector<std::string>& platforms);

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_PLATFORMS_H_
