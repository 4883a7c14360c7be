#include "tests/core/host_util.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace x2ir {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::filesystem::path Unpacked(const std::string& archive, const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path from = fs::path(X2IR_SOURCE_DIR) / "tests/data/cases" / archive,
                 to = fs::path(X2IR_BUILD_DIR) / folder;
  if (fs::exists(to / ".complete")) return to;
  fs::remove_all(to);
  fs::create_directories(to);
  const std::string command = "tar -xJf '" + from.string() + "' -C '" + to.string() + "'";
  if (std::system(command.c_str()) != 0) {
    ADD_FAILURE() << "cannot unpack " << from;
    return {};
  }
  WriteFile(to / ".complete", "");
  return to;
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
