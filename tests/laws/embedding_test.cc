// What a library that others embed must keep to (graph_wrapper/api.h): installed headers say who
// sees their names, and nothing lies in thread-local storage, which a library that is loaded late
// may not get.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

// Files of the library as paths below the root, with those that are not installed or without.
std::vector<std::string> LibraryFiles(bool installed_only) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(X2IR_SOURCE_DIR) / "x2ir")) {
    const std::string path = fs::relative(entry.path(), X2IR_SOURCE_DIR).generic_string();
    if (!entry.is_regular_file() || path.starts_with("x2ir/cli/")) continue;
    if (installed_only && (!path.ends_with(".h") || path.ends_with("_internal.h"))) continue;
    files.push_back(path);
  }
  return files;
}

std::string TextOf(const std::string& path) {
  std::ifstream in(fs::path(X2IR_SOURCE_DIR) / path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Embedding, InstalledHeadersSayWhoSeesTheirNames) {
  std::vector<std::string> wrong;
  for (const std::string& path : LibraryFiles(/*installed_only=*/true)) {
    if (path == "x2ir/graph_wrapper/api.h" || path == "x2ir/c/x2ir.h") continue;  // macros; C
    const std::string text = TextOf(path);
    const bool marked = text.find("\nnamespace X2IR_API x2ir {") != std::string::npos;
    if (!marked || text.find("\nnamespace x2ir") != std::string::npos) wrong.push_back(path);
  }
  EXPECT_THAT(wrong, IsEmpty()) << "a header opens its namespace with: namespace X2IR_API x2ir {";
}

TEST(Embedding, NothingIsThreadLocal) {
  std::vector<std::string> wrong;
  for (const std::string& path : LibraryFiles(/*installed_only=*/false)) {
    for (std::string_view word : {"thread_local", "__thread", "tls_model"}) {
      if (TextOf(path).find(word) != std::string::npos) wrong.push_back(path);
    }
  }
  EXPECT_THAT(wrong, IsEmpty());
}

}  // namespace
}  // namespace x2ir
