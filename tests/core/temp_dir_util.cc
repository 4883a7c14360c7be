#include "tests/core/temp_dir_util.h"

#include <cstdlib>
#include <system_error>

#include "tests/core/host_util.h"

namespace x2ir {

namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = fs::temp_directory_path() / "x2ir_test_XXXXXX";
  if (::mkdtemp(pattern.data())) {
    path_ = pattern;
  } else {
    ADD_FAILURE() << "cannot make " << pattern;
  }
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string TempDir::Put(const fs::path& name, std::string_view bytes) const {
  const fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  WriteFile(path, bytes);
  return path.string();
}

}  // namespace x2ir
