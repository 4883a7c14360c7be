// --shape of the verbs that look at a model, as conversions have it.
#ifndef X2IR_CLI_SHAPE_FLAGS_H_
#define X2IR_CLI_SHAPE_FLAGS_H_

#include "absl/status/statusor.h"
#include "x2ir/cli/option_flags.h"
#include "x2ir/core/convert.h"

namespace x2ir::cli {

void AddShapeFlags(Verb& verb, OptionFlags& flags);
// Options of an import that gives inputs these shapes.
absl::StatusOr<ImportOptions> ShapesOf(const OptionFlags& flags);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_SHAPE_FLAGS_H_
