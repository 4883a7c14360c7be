// --with and --runtime-library of the verbs that run models.
#ifndef X2IR_CLI_RUNTIME_FLAGS_H_
#define X2IR_CLI_RUNTIME_FLAGS_H_

#include <memory>
#include <string>

#include "x2ir/cli/program.h"
#include "x2ir/cli/session.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir::cli {

struct RuntimeFlags {
  std::string with, library;
  explicit operator bool() const { return !with.empty(); }
};
void AddRuntimeFlags(Verb& verb, RuntimeFlags& flags, const std::string& about);

// Loads the runtime, if one is requested. False on failure: the error was printed, and *code is the
// exit code.
bool LoadRuntimeFor(const RuntimeFlags& flags, Session& session,
                    std::shared_ptr<const Runtime>* runtime, int* code);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_RUNTIME_FLAGS_H_
