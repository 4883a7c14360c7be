#include "x2ir/cli/runtime_flags.h"

#include <utility>

namespace x2ir::cli {

void AddRuntimeFlags(Verb& verb, RuntimeFlags& flags, const std::string& about) {
  verb.Text("--with", flags.with, "RUNTIME", about).OneOf(RuntimeNames());
  verb.Text("--runtime-library", flags.library, "FILE.so",
            "With --with: the runtime's library; by default one that the system finds")
      .Needs("--with");
}

bool LoadRuntimeFor(const RuntimeFlags& flags, Session& session,
                    std::shared_ptr<const Runtime>* runtime, int* code) {
  if (!flags) return true;
  auto loaded = LoadRuntime(flags.with, flags.library);
  if (!loaded.ok()) {
    *code = session.Fail(loaded.status(), Phase::kReading);
    return false;
  }
  *runtime = *std::move(loaded);
  return true;
}

}  // namespace x2ir::cli
