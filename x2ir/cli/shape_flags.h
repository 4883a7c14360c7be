// --shape, --dynamic and --dtype of the verbs that look at a model, as conversions have it.
#ifndef X2IR_CLI_SHAPE_FLAGS_H_
#define X2IR_CLI_SHAPE_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "x2ir/cli/load.h"
#include "x2ir/cli/option_flags.h"

namespace x2ir::cli {

void AddShapeFlags(Verb& verb, OptionFlags& flags);
// LoadAsIr (load.h), with these shapes of inputs. `io`: an io file whose inputs say the types that
// the model does not; empty: none. `cases`: only those of it; empty: all.
std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const OptionFlags& shapes,
                              const std::string& io = "",
                              const std::vector<std::string>& cases = {});

}  // namespace x2ir::cli

#endif  // X2IR_CLI_SHAPE_FLAGS_H_
