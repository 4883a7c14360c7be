// What both directions between VHLO and the flat form share.
#ifndef X2IR_FORMATS_STABLEHLO_VHLO_INTERNAL_H_
#define X2IR_FORMATS_STABLEHLO_VHLO_INTERNAL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/mlir/dialects_internal.h"
#include "x2ir/formats/mlir/module.h"

namespace x2ir::stablehlo {

// "scatter" and "scatter_v1", ...: all forms that VHLO has of an operation, oldest first.
std::vector<const mlir::OpFact*> FormsOf(std::string_view base);
const mlir::AttrFact* FindAttr(const mlir::OpFact& op, std::string_view name);

mlir::Attr IntAttr(int64_t value, std::string_view type);
mlir::Attr BoolAttr(bool value);
mlir::Attr IntsAttr(std::vector<int64_t> values, std::string_view element);
mlir::Attr StringAttr(mlir::Attr::Kind kind, std::string text);
// No type, which stands in VHLO for an attribute that is not there.
mlir::Attr NoneAttr();
bool IsNone(const mlir::Attr& attr);
// "stablehlo.comparison_type" of "compare_type"; "" if it is no enum.
std::string_view EnumOf(std::string_view attribute);
// What an operation has that does not say it. Nullopt: it must.
std::optional<mlir::Attr> DefaultOf(const mlir::Module& module, const mlir::Op& op,
                                    std::string_view base, const mlir::AttrFact& fact);

}  // namespace x2ir::stablehlo

#endif  // X2IR_FORMATS_STABLEHLO_VHLO_INTERNAL_H_
