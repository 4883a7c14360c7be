#include "tests/core/host_util.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace x2ir {

namespace fs = std::filesystem;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::filesystem::path Unpacked(const std::string& archive, const std::string& folder) {
  const fs::path from = fs::path(X2IR_SOURCE_DIR) / "tests/data/cases" / archive,
                 to = fs::path(X2IR_BUILD_DIR) / folder;
  if (fs::exists(to)) return to;
  // Under a name of this process first: several tests may come at the same time.
  const fs::path own = to.string() + "." + std::to_string(::getpid());
  fs::remove_all(own);
  fs::create_directories(own);
  const std::string command = "tar -xJf '" + from.string() + "' -C '" + own.string() + "'";
  if (std::system(command.c_str()) != 0) {
    ADD_FAILURE() << "cannot unpack " << from;
    fs::remove_all(own);
    return {};
  }
  std::error_code other_was_first;
  fs::rename(own, to, other_was_first);
  if (other_was_first) fs::remove_all(own);
  return to;
}

std::vector<fs::path> OnnxNodeTests() {
  std::vector<fs::path> folders;
  const fs::path newer = Unpacked("onnx-node-tests-opset18plus.tar.xz", "onnx-node-tests");
  for (const fs::path& root : {newer, fs::path("/usr/share/libonnx-testdata/data/node")}) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
      if (entry.path().filename() == "model.onnx") folders.push_back(entry.path().parent_path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int64_t EnvNumber(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoll(value) : otherwise;
}

}  // namespace x2ir
