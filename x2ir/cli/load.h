// Reading a model for the verbs that look at it: any format in, IR out.
#ifndef X2IR_CLI_LOAD_H_
#define X2IR_CLI_LOAD_H_

#include <optional>
#include <string>

#include "x2ir/cli/progress.h"
#include "x2ir/cli/session.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::cli {

// The graph as the file has it. *format is its format's name; empty: it is found, and set.
absl::StatusOr<Model> LoadFile(const Session& session, const std::string& path, std::string* format,
                               const LoadOptions& wanted = {});

// What becomes of ops that cannot be converted: all are named, and that is the end; or all are
// named as a warning, and they stay in the graph as they are.
enum class Unsupported { kFail, kKeep };

// Nothing when it failed: then the failure was printed, and *code is the exit code.
std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const ImportOptions& wanted = {});

// For the verbs that only look: the graph as the file has it when `raw`, else as IR with what
// cannot be converted in it as it is.
std::optional<Model> LoadToLookAt(Session& session, Progress& progress, const std::string& path,
                                  bool raw, int* code);

// An error that does not say which file it is about says it. Lists of ops are about the one model.
absl::Status NamingModel(const absl::Status& status, const Report& report, const std::string& path);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_LOAD_H_
