#include <filesystem>

#include "x2ir/formats/tensorflow/saved_files_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {

std::string SavedFiles::PathOf(std::string_view name) const {
  if (source_.in_memory()) return std::string(name);
  return (std::filesystem::path(source_.folder()) / name).string();
}

absl::StatusOr<BlobPtr> SavedFiles::OpenAsset(std::string_view name) const {
  if (name.empty() || name.find('/') != name.npos || name == "." || name == "..") {
    return Invalid("the model's file '", name, "' is not in its folder of assets");
  }
  if (source_.in_memory()) return source_.OpenBeside(StrCat("assets/", name));
  return source_.OpenBeside(name, PathOf("assets"));
}

}  // namespace x2ir::tf_format
