// Modules of MLIR as text that shows all that they hold but the names of values, to compare them.
#ifndef X2IR_TESTS_FORMATS_MLIR_MODULE_TEXT_UTIL_H_
#define X2IR_TESTS_FORMATS_MLIR_MODULE_TEXT_UTIL_H_

#include <string>

#include "x2ir/formats/mlir/module.h"

namespace x2ir {

std::string ModuleText(const mlir::Module& module);

}  // namespace x2ir

#endif  // X2IR_TESTS_FORMATS_MLIR_MODULE_TEXT_UTIL_H_
