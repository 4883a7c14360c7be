#include "x2ir/formats/io/folders.h"

#include <system_error>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Folders::~Folders() {
  std::error_code error;
  for (const std::filesystem::path& path : made_) std::filesystem::remove_all(path, error);
}

absl::Status Folders::Make(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::create_directory(path, error)) {
    made_.push_back(path);
    temporaries_.emplace_back(path.string(), Temporary::kFolder);
  }
  if (error) return SystemError("cannot make '", path.string(), "': ", error.message());
  return absl::OkStatus();
}

void Folders::AddFile(const std::filesystem::path& path) {
  if (made_.empty() || made_.back() != path.parent_path()) return;  // it was there
  temporaries_.emplace_back(path.string(), Temporary::kFile);
}

}  // namespace x2ir
