#include "tests/runtimes/runtime_util.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace x2ir {

std::string OnnxRuntimeLibrary() {
  namespace fs = std::filesystem;
  const char* given = std::getenv("X2IR_ORACLE");
  const fs::path oracle = given ? given : X2IR_BUILD_DIR "/oracle";
  std::error_code error;
  for (const auto& entry :
       fs::recursive_directory_iterator(oracle / "node_modules/onnxruntime-node/bin", error)) {
    if (entry.path().filename().string().starts_with("libonnxruntime.so")) return entry.path();
  }
  return "";
}

}  // namespace x2ir
