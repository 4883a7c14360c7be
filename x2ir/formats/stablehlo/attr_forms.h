// What kind an attribute has in MLIR, and which attributes are fields of a struct there.
#ifndef X2IR_FORMATS_STABLEHLO_ATTR_FORMS_H_
#define X2IR_FORMATS_STABLEHLO_ATTR_FORMS_H_

#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/mlir/module.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {
namespace stablehlo {

// What the regions of an operation ("stablehlo.while") are called in the graph, in their order;
// "*": all of them are in one attribute. Empty: the operation has none that is known.
absl::Span<const std::string_view> RegionNames(std::string_view op);

// An attribute of the graph in the flat form, by its name. Unimplemented for kinds that MLIR has
// not.
absl::StatusOr<mlir::Attr> FlatAttr(Symbol name, const Attribute& value);

// The attributes of an operation as the graph has them, in the order of their names: structs are in
// pieces, defaults are left out, and so is what only a compiler needs.
using GraphAttrs = std::vector<std::pair<Symbol, Attribute>>;
absl::StatusOr<GraphAttrs> GraphAttrsOf(const mlir::Op& op);

struct StructForm {
  std::string_view op;         // "stablehlo.gather"
  std::string_view attribute;  // "dimension_numbers"
  std::string_view name;       // "stablehlo.gather"
  absl::Span<const std::string_view> fields;
};
absl::Span<const StructForm> StructForms();

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_ATTR_FORMS_H_
