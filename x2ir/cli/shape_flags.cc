#include "x2ir/cli/shape_flags.h"

#include <utility>

#include "x2ir/cli/program.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

void AddShapeFlags(Verb& verb, OptionFlags& flags) {
  for (const ConversionOption& option : ConversionOptions()) {
    if (option.def.name == "shapes") flags.Add(verb, option.def, option.switches);
  }
}

absl::StatusOr<ImportOptions> ShapesOf(const OptionFlags& flags) {
  ConversionValues values;
  X2IR_ASSIGN_OR_RETURN(values.conversion, ParseConversionOptions(flags.Texts()));
  X2IR_ASSIGN_OR_RETURN(ConvertOptions options, ConversionOf(values, nullptr));
  return std::move(options.from);
}

}  // namespace x2ir::cli
