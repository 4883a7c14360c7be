#include "x2ir/formats/safetensors/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/safetensors/index.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSafetensors = ".safetensors";

// What is to be opened in a folder: the usual names first, else the only file that it can be.
absl::StatusOr<std::string> FileIn(const std::string& folder) {
  for (const std::string_view extension : {kSafetensorsIndexExtension, kSafetensors}) {
    const fs::path usual = fs::path(folder) / StrCat("model", extension);
    std::error_code error;
    if (fs::exists(usual, error)) return usual.string();
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(extension)) found.push_back(name);
    }
    if (error) return NotFound("cannot list folder '", folder, "': ", error.message());
    std::sort(found.begin(), found.end());
    if (found.size() > 1) {
      return Invalid("folder '", folder, "' has several files ", extension, " ('", found[0], "', '",
                     found[1], "', ...), and none of them is model", extension);
    }
    if (!found.empty()) return (fs::path(folder) / found[0]).string();
  }
  return NotFound("folder '", folder, "' has no .safetensors.index.json and no .safetensors");
}

class CheckpointReader {
 public:
  absl::StatusOr<Checkpoint> Run(const std::string& path) {
    if (!path.ends_with(kSafetensorsIndexExtension)) {
      X2IR_RETURN_IF_ERROR(ReadFile(path, nullptr));
      return std::move(checkpoint_);
    }
    X2IR_ASSIGN_OR_RETURN(const BlobPtr index, Blob::Open(path));
    X2IR_ASSIGN_OR_RETURN(const std::vector<SafetensorsShard> shards, ReadSafetensorsIndex(*index));
    for (const SafetensorsShard& shard : shards) {
      if (shard.file.empty() || shard.file[0] == '.' ||
          shard.file.find_first_of("/\\") != shard.file.npos) {
        return DataLoss(path, ": '", shard.file, "' is not a file beside the index");
      }
      X2IR_RETURN_IF_ERROR(
          ReadFile((fs::path(path).parent_path() / shard.file).string(), &shard.tensors));
    }
    return std::move(checkpoint_);
  }

 private:
  // All tensors of a file, or those that an index says it has.
  absl::Status ReadFile(const std::string& path, const std::vector<std::string>* wanted) {
    X2IR_ASSIGN_OR_RETURN(Safetensors file, ReadSafetensors(path));
    StringSet missing;
    if (wanted) missing.insert(wanted->begin(), wanted->end());
    for (NamedTensor& entry : file.tensors) {
      if (wanted && missing.erase(entry.name) == 0) continue;
      checkpoint_.tensors.try_emplace(std::move(entry.name), std::move(entry.tensor));
    }
    if (!missing.empty()) {
      return DataLoss("the index says that tensor '",
                      *std::min_element(missing.begin(), missing.end()), "' is in '", path,
                      "', but it is not");
    }
    for (auto& [key, value] : file.metadata) {
      if (checkpoint_.tensors.contains(value)) {
        checkpoint_.aliases.try_emplace(std::move(key), std::move(value));
      }
    }
    return absl::OkStatus();
  }

  Checkpoint checkpoint_;
};

}  // namespace

const Tensor* Checkpoint::Find(std::string_view name) const {
  auto it = tensors.find(name);
  if (it == tensors.end()) {
    const auto alias = aliases.find(name);
    if (alias == aliases.end()) return nullptr;
    it = tensors.find(alias->second);
  }
  return it == tensors.end() ? nullptr : &it->second;
}

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return CheckpointReader().Run(path);
  X2IR_ASSIGN_OR_RETURN(const std::string file, FileIn(path));
  return CheckpointReader().Run(file);
}

}  // namespace x2ir
