// Reading a model for the verbs that look at it: any format in, IR out.
#ifndef X2IR_CLI_LOAD_H_
#define X2IR_CLI_LOAD_H_

#include <optional>
#include <string>

#include "x2ir/cli/progress.h"
#include "x2ir/cli/session.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::cli {

// The graph as the file has it. *format is the name of its format; empty: it is detected, and set.
absl::StatusOr<Model> LoadFile(const Session& session, const std::string& path, std::string* format,
                               const LoadOptions& wanted = {});

// The handling of ops that cannot be converted: an error that names all of them; or a warning that
// names all of them, and they stay in the graph unchanged.
enum class Unsupported { kFail, kKeep };

// Nothing when it failed: then the failure was printed, and *code is the exit code.
std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const ImportOptions& wanted = {});

// For the verbs that only look: the graph as the file has it when `raw`, else as IR in which ops
// that cannot be converted are unchanged.
std::optional<Model> LoadToLookAt(Session& session, Progress& progress, const std::string& path,
                                  bool raw, int* code);

// Adds the file name to an error without one. An error about an option does not depend on the file.
absl::Status NamingModel(const absl::Status& status, const std::string& path);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_LOAD_H_
