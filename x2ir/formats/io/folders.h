// Folders that a writer makes for the files of a model.
#ifndef X2IR_FORMATS_IO_FOLDERS_H_
#define X2IR_FORMATS_IO_FOLDERS_H_

#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/io/temporaries.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Created folders and their content are removed again unless the work is completed.
class Folders {
 public:
  Folders() = default;
  Folders(const Folders&) = delete;
  ~Folders();
  // An existing folder stays.
  absl::Status Make(const std::filesystem::path& path);
  // A file in one of them, which is removed with it.
  void AddFile(const std::filesystem::path& path);
  void Keep() {
    made_.clear();
    temporaries_.clear();
  }

 private:
  std::vector<std::filesystem::path> made_;
  std::vector<Temporary> temporaries_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_FOLDERS_H_
