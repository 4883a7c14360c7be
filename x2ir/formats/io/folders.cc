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
  if (std::filesystem::create_directory(path, error)) made_.push_back(path);
  if (error) return SystemError("cannot make '", path.string(), "': ", error.message());
  return absl::OkStatus();
}

}  // namespace x2ir
