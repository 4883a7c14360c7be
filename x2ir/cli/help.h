// What --help prints. Formats have many options. If the command line names a format (by --from,
// --to or a file), only its options are explained; otherwise each option is listed with the formats
// that have it.
#ifndef X2IR_CLI_HELP_H_
#define X2IR_CLI_HELP_H_

#include <memory>

#include "x2ir/cli/session.h"

namespace CLI {
class FormatterBase;
}

namespace x2ir::cli {

// For an app and all its verbs. The session outlives it.
std::shared_ptr<CLI::FormatterBase> MakeHelp(const Session& session);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_HELP_H_
