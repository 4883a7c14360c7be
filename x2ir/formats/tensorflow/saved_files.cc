#include <algorithm>
#include <filesystem>
#include <system_error>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/tensorflow/saved_files_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {

namespace fs = std::filesystem;

std::string SavedFiles::PathOf(std::string_view name) const {
  return source_ ? std::string(name) : (fs::path(folder_) / name).string();
}

absl::StatusOr<BlobPtr> SavedFiles::Open(std::string_view name) const {
  if (source_) return source_->OpenNamed(std::string(name));
  const std::string path = PathOf(name);
  std::error_code error;
  const fs::path inside = fs::canonical(folder_, error), real = fs::canonical(path, error);
  if (!error && !allow_outside_) {
    const auto [end, at] = std::mismatch(inside.begin(), inside.end(), real.begin(), real.end());
    if (end != inside.end()) {
      return Invalid("'", path, "' lies elsewhere: files outside of the model's folder must be ",
                     "allowed (", OptionText("allow_outside"), ")");
    }
  }
  return Blob::Open(path);
}

absl::StatusOr<BlobPtr> SavedFiles::OpenAsset(std::string_view name) const {
  const std::string path = PathOf(StrCat("assets/", name));
  std::error_code error;
  if (name.empty() || name.find('/') != name.npos || name == "." || name == ".." ||
      (!source_ && fs::is_symlink(path, error))) {
    return Invalid("the model's file '", name, "' is not in its folder of assets");
  }
  return source_ ? source_->OpenNamed(path) : Blob::Open(path);
}

}  // namespace x2ir::tf_format
