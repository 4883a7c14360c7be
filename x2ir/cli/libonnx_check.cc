#include "x2ir/cli/libonnx_check.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

// Beside the library of this program, in the build folder or installed; else where a system has
// what is installed, for a program that was copied elsewhere.
constexpr const char* kModules[] = {"../lib/x2ir_libonnx_checker.so",
                                    "../" X2IR_LIBDIR "/x2ir/x2ir_libonnx_checker.so",
                                    "/usr/local/" X2IR_LIBDIR "/x2ir/x2ir_libonnx_checker.so",
                                    "/usr/" X2IR_LIBDIR "/x2ir/x2ir_libonnx_checker.so"};
// protobuf reads at most 2 GiB; the bytes are in memory twice while it checks.
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

struct Module {
  int (*knows)(long long ir_version, const char* domain, long long opset) = nullptr;
  int (*check)(const void* bytes, unsigned long long size, char* message,
               unsigned long long message_size) = nullptr;
};

// Loaded once and never unloaded: protobuf registers types that cannot be taken back.
const Module& TheModule() {
  static const Module module = [] {
    Module m;
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    for (const char* name : kModules) {
      const auto path = program.parent_path() / name;
      void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) continue;
      m.knows = reinterpret_cast<decltype(m.knows)>(dlsym(handle, "x2ir_libonnx_knows"));
      m.check = reinterpret_cast<decltype(m.check)>(dlsym(handle, "x2ir_libonnx_check"));
      break;
    }
    return m;
  }();
  return module;
}

uint64_t BytesOfWeights(const Graph& graph) {
  uint64_t bytes = 0;
  for (const Value* constant : graph.constants()) bytes += constant->constant()->nbytes();
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> CheckWithLibonnx(const Model& onnx) {
  const Module& module = TheModule();
  if (!module.knows || !module.check) return "it is not installed";
  if (onnx.ir_version == 0) return "the file does not say its version";
  for (const OpsetImport& opset : onnx.opset_imports) {
    if (!module.knows(onnx.ir_version, opset.domain.c_str(), opset.version)) {
      return StrCat("the installed one is older than opset ", opset.version,
                    opset.domain.empty() ? "" : StrCat(" of ", opset.domain), " or file version ",
                    onnx.ir_version);
    }
  }
  if (BytesOfWeights(*onnx.graph) > kMaxBytes) return "the model is too large for it";
  X2IR_ASSIGN_OR_RETURN(const std::string bytes, SerializeOnnx(onnx));
  std::string message(1 << 16, '\0');
  if (module.check(bytes.data(), bytes.size(), message.data(), message.size()) == 0) return "";
  return CannotExpress("does not pass libonnx's checker: ", message.c_str());
}

}  // namespace x2ir::cli
