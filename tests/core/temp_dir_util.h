// Folders for the files of a test.
#ifndef X2IR_TESTS_CORE_TEMP_DIR_UTIL_H_
#define X2IR_TESTS_CORE_TEMP_DIR_UTIL_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace x2ir {

// A new folder below the system's folder for temporary files (TMPDIR), removed with all that is in
// it when this object is destroyed. Where it cannot be made, the test fails and the path is empty.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The path of a file in the folder.
  std::string Path(const std::filesystem::path& name) const { return (path_ / name).string(); }
  // Writes a file, and makes the folders that its name has; gives its path.
  std::string Put(const std::filesystem::path& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

// Tests that have such a folder each.
class TempDirTest : public testing::Test {
 private:
  const TempDir dir_;

 protected:
  std::string Path(const std::filesystem::path& name) const { return dir_.Path(name); }
  std::string Put(const std::filesystem::path& name, std::string_view bytes) const {
    return dir_.Put(name, bytes);
  }
  const std::filesystem::path& folder_ = dir_.path();
};

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_TEMP_DIR_UTIL_H_
