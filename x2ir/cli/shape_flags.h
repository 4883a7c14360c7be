// --shape and --dynamic of the verbs that look at a model, as conversions have it.
#ifndef X2IR_CLI_SHAPE_FLAGS_H_
#define X2IR_CLI_SHAPE_FLAGS_H_

#include <optional>
#include <string>

#include "x2ir/cli/load.h"
#include "x2ir/cli/option_flags.h"

namespace x2ir::cli {

void AddShapeFlags(Verb& verb, OptionFlags& flags);
// LoadAsIr (load.h), with these shapes of inputs.
std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const OptionFlags& shapes);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_SHAPE_FLAGS_H_
