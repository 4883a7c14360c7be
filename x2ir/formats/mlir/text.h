// Text of MLIR: modules in the generic form, which every operation has, and in the printed forms of
// StableHLO, CHLO, check, func and arith.constant (syntax.h). Locations are left out, aliases
// resolved.
#ifndef X2IR_FORMATS_MLIR_TEXT_H_
#define X2IR_FORMATS_MLIR_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/mlir/module.h"

namespace X2IR_API x2ir {
namespace mlir {

// DataLoss says line and column. Unimplemented names an operation that is in a printed form of a
// dialect that is not known.
absl::StatusOr<Module> ParseText(std::string_view text);

// One attribute or type alone ("#stablehlo.conv<...>"), as bytecode holds those of some dialects.
absl::StatusOr<Attr> ParseAttrText(std::string_view text);
absl::StatusOr<TypeRef> ParseTypeText(std::string_view text);
// The reverse of ParseAttrText.
absl::StatusOr<std::string> AttrText(const Attr& attr);

struct TextOptions {
  bool resources = false;  // tensors of many elements are resources at the end of the file
};
absl::Status WriteText(const Module& module, const TextOptions& options, const Sink& sink);

}  // namespace mlir
}  // namespace x2ir

#endif  // X2IR_FORMATS_MLIR_TEXT_H_
