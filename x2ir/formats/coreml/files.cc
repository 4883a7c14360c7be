// The files of a model: a .mlmodel, or a .mlpackage, whose manifest names it.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "x2ir/formats/coreml/reader_internal.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace coreml {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelPath = "@model_path/";

// The model's file of a package.
absl::StatusOr<BlobPtr> ModelOfManifest(const Source& source, const std::string& package) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr manifest, source.OpenBeside("Manifest.json", package));
  std::string root;
  std::vector<std::pair<std::string, std::string>> items;
  JsonReader r(manifest->view());
  r.Object([&](std::string_view key) {
    if (key == "rootModelIdentifier") {
      root = r.String();
    } else if (key == "itemInfoEntries") {
      r.Object([&](std::string_view item) {
        auto& [name, path] = items.emplace_back(item, "");
        r.Object([&, &place = path](std::string_view field) {
          if (field == "path") {
            place = r.String();
          } else {
            r.Skip();
          }
        });
      });
    } else {
      r.Skip();
    }
  });
  r.Finish();
  if (!r.ok()) return Annotate(r.status(), "Manifest.json");
  for (const auto& [name, path] : items) {
    if (name != root) continue;
    absl::StatusOr<BlobPtr> model = source.OpenBeside(StrCat("Data/", path), package);
    if (!model.ok()) return AnnotateOption(model.status(), "Manifest.json");
    return model;
  }
  return Invalid("Manifest.json names no model");
}

}  // namespace

absl::StatusOr<ModelFiles> ModelFiles::Find(const Source& source) {
  ModelFiles files(source);
  std::string path = source.name();
  if (source.is_folder()) {
    const std::string inside = OnlyModelIn(path);
    if (!inside.empty()) path = inside;
  }
  std::error_code error;
  if (!source.in_memory() && fs::is_directory(path, error)) {
    X2IR_ASSIGN_OR_RETURN(files.model_, ModelOfManifest(source, path));
    files.folder_ = fs::path(files.model_->path()).parent_path().string();
  } else {
    X2IR_ASSIGN_OR_RETURN(files.model_, source.in_memory() ? source.Open() : Blob::Open(path));
  }
  return files;
}

absl::StatusOr<BlobPtr> ModelFiles::Open(std::string_view name) {
  if (const auto it = opened_.find(name); it != opened_.end()) return it->second;
  std::string_view path = name;
  if (!path.starts_with(kModelPath)) return Unimplemented("the weights' file '", name, "'");
  path.remove_prefix(kModelPath.size());
  X2IR_ASSIGN_OR_RETURN(BlobPtr blob, source_.OpenBeside(path, folder_));
  opened_[std::string(name)] = blob;
  return blob;
}

}  // namespace coreml

// A model begins with its version, and then its description, or what is in it.
bool LooksLikeCoreml(absl::Span<const std::byte> head, uint64_t file_size) {
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  if (bytes.size() < 4 || bytes[0] != '\x08' || bytes[1] < 1 || bytes[1] > 32 ||
      bytes[2] != '\x12') {
    return false;
  }
  size_t at = 3;
  const auto length = VarintAt(bytes, &at, 9);
  if (!length || *length > file_size || at >= bytes.size() || bytes[at] != '\x0a') return false;
  // A description's first field is an input: a message, which begins with its name.
  for (++at; at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0x80) != 0;) ++at;
  return at + 1 < bytes.size() && bytes[at + 1] == '\x0a';
}

std::string OnlyModelIn(const std::string& folder) {
  if (IsMlPackage(folder)) return "";
  namespace fs = std::filesystem;
  std::error_code error;
  std::string found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    if (!path.ends_with(".mlmodel") && !path.ends_with(".mlpackage")) continue;
    if (!found.empty()) return "";
    found = path;
  }
  return found;
}

bool IsMlPackage(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::path(path) / "Manifest.json", error) &&
         std::filesystem::is_directory(std::filesystem::path(path) / "Data", error);
}

}  // namespace x2ir
