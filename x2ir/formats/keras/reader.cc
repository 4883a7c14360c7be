// Reads a model: where its configuration and its weights are.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "x2ir/formats/hdf5/file_internal.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/network.h"
#include "x2ir/formats/keras/stores_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace keras {
namespace {

namespace fs = std::filesystem;

// No weights: a model whose layers have none.
class NoWeights : public WeightStore {
 public:
  absl::StatusOr<std::vector<StoredWeight>> Of(const LayerPlace&) override {
    return std::vector<StoredWeight>();
  }
};

// Those of a file, and the texts of the archive that it is in.
class ArchiveStore : public WeightStore {
 public:
  ArchiveStore(ZipArchive& zip, WeightStore& weights) : zip_(zip), weights_(weights) {}
  absl::StatusOr<std::vector<StoredWeight>> Of(const LayerPlace& place) override {
    return weights_.Of(place);
  }
  absl::StatusOr<std::string> Asset(const LayerPlace& place, std::string_view name) override {
    for (const char* part : {"", "_lookup_layer/", "lookup_layer/"}) {
      const ZipEntry* entry = zip_.Find(StrCat("assets/", place.path, "/", part, name));
      if (!entry) continue;
      X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes bytes, zip_.ReadText(*entry));
      return std::string(bytes.view);
    }
    return std::string();
  }

 private:
  ZipArchive& zip_;
  WeightStore& weights_;
};

// "2.4.0-tf": 2. Files of the first version said none.
int MajorVersion(std::string_view text) {
  const size_t dot = text.find('.');
  const auto number = ParseNumber<int64_t>(text.substr(0, dot));
  return number && *number >= 1 ? static_cast<int>(std::min<int64_t>(*number, 3)) : 0;
}

absl::StatusOr<Model> Built(const Json& root, const std::string& version, std::string backend,
                            WeightStore& weights) {
  int major = MajorVersion(version);
  if (major == 0) major = root.Has("module") ? 3 : version.empty() ? 1 : 2;
  Model model;
  X2IR_RETURN_IF_ERROR(BuildNetwork(
      {.model = root, .weights = weights, .version = major, .backend = std::move(backend)},
      &model));
  model.producer_version = version;
  return model;
}

// --- HDF5 ----------------------------------------------------------------------------------------

absl::StatusOr<Model> ReadHdf5(hdf5::File& file, const std::string& config_text) {
  X2IR_ASSIGN_OR_RETURN(const Json root, Json::Parse(config_text));
  std::string version, backend;
  for (const char* group : {"", "model_weights"}) {
    X2IR_ASSIGN_OR_RETURN(const auto text, file.Text(group, "keras_version"));
    if (text && version.empty()) version = *text;
    X2IR_ASSIGN_OR_RETURN(const auto name, file.Text(group, "backend"));
    if (name && backend.empty()) backend = *name;
  }
  if (version.empty()) version = root["keras_version"].text();
  X2IR_ASSIGN_OR_RETURN(const bool has_weights, HasWeights(file));
  if (!has_weights) {
    NoWeights none;
    return Built(root, version, backend, none);
  }
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<WeightStore> weights, OpenWeights(file));
  return Built(root, version, backend, *weights);
}

// --- Archives ------------------------------------------------------------------------------------

absl::StatusOr<Model> ReadArchive(const BlobPtr& blob) {
  X2IR_ASSIGN_OR_RETURN(ZipArchive zip, ZipArchive::Open(blob));
  const ZipEntry* config = zip.Find("config.json");
  const ZipEntry* stored = zip.Find("model.weights.h5");
  if (!config) return DataLoss("the archive has no 'config.json'");
  X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes text, zip.ReadText(*config));
  X2IR_ASSIGN_OR_RETURN(const Json root, Json::Parse(text.view));
  std::string version = "3";
  if (const ZipEntry* metadata = zip.Find("metadata.json")) {
    X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes bytes, zip.ReadText(*metadata));
    X2IR_ASSIGN_OR_RETURN(const Json about, Json::Parse(bytes.view));
    if (about["keras_version"].is_string()) version = about["keras_version"].text();
  }
  if (!stored) {
    for (const ZipEntry& entry : zip.entries()) {
      if (entry.name.starts_with("model.weights.")) {
        return Unimplemented("weights as '", entry.name, "'; expected 'model.weights.h5'");
      }
    }
    return DataLoss("the archive has no 'model.weights.h5'");
  }
  BlobPtr bytes = blob;
  uint64_t offset = stored->offset, size = stored->size;
  if (!stored->stored()) {
    X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes unpacked, zip.Read(*stored));
    bytes = Blob::InMemory(
        {reinterpret_cast<const std::byte*>(unpacked.view.data()), unpacked.view.size()},
        unpacked.owner, "model.weights.h5");
    offset = 0;
    size = unpacked.view.size();
  }
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<hdf5::File> file,
                        hdf5::File::Open(bytes, offset, size, {.packed = blob->size()}));
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<WeightStore> weights, OpenWeights(*file));
  ArchiveStore all(zip, *weights);
  return Built(root, version, "", all);
}

// --- Files beside each other ---------------------------------------------------------------------

std::string StemOfModel(const Source& source) {
  std::string stem = fs::path(source.name()).filename().string();
  for (const char* end : {".json", ".h5", ".hdf5", ".keras", ".weights", "_weights", "-weights"}) {
    if (stem.size() > std::string_view(end).size() && stem.ends_with(end)) {
      stem = stem.substr(0, stem.size() - std::string_view(end).size());
    }
  }
  return stem;
}

absl::StatusOr<Model> WithWeights(const Json& root, const BlobPtr& weights) {
  const auto read = [&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<hdf5::File> file,
                          hdf5::File::Open(weights, 0, weights->size()));
    X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<WeightStore> store, OpenWeights(*file));
    std::string version = root["keras_version"].text(), backend = root["backend"].text();
    for (const char* group : {"", "model_weights"}) {
      X2IR_ASSIGN_OR_RETURN(const auto text, file->Text(group, "keras_version"));
      if (text && version.empty()) version = *text;
      X2IR_ASSIGN_OR_RETURN(const auto name, file->Text(group, "backend"));
      if (name && backend.empty()) backend = *name;
    }
    return Built(root, version, backend, *store);
  };
  absl::StatusOr<Model> model = read();
  if (!model.ok()) return Annotate(model.status(), StrCat("'", weights->path(), "'"));
  return model;
}

absl::StatusOr<BlobPtr> FindWeights(const Source& source, const std::string& params) {
  if (!params.empty()) return source.OpenGiven(params);
  const std::string stem = StemOfModel(source);
  for (const char* end :
       {".weights.h5", "_weights.h5", "-weights.h5", ".h5", ".hdf5", "_weights.hdf5"}) {
    X2IR_ASSIGN_OR_RETURN(BlobPtr file, source.FindBeside(stem + end));
    if (file) return file;
  }
  return BlobPtr();
}

absl::StatusOr<Model> Read(const Source& source, const KerasOptions& options) {
  const std::string& params = options.params;
  X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, source.Open());
  const std::string_view head = blob->view().substr(0, 4096);
  if (LooksLikeZip(head)) {
    if (!params.empty()) return OptionError("params", "the archive already has weights");
    return ReadArchive(blob);
  }
  if (!hdf5::LooksLikeHdf5(blob->view())) {
    X2IR_ASSIGN_OR_RETURN(const Json root, Json::Parse(blob->view()));
    X2IR_ASSIGN_OR_RETURN(const BlobPtr weights, FindWeights(source, params));
    if (weights) return WithWeights(root, weights);
    NoWeights none;
    return Built(root, root["keras_version"].text(), root["backend"].text(), none);
  }
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<hdf5::File> file,
                        hdf5::File::Open(blob, 0, blob->size()));
  X2IR_ASSIGN_OR_RETURN(const auto config, file->Text("", "model_config"));
  if (config) {
    if (!params.empty()) return OptionError("params", "the file already has weights");
    return ReadHdf5(*file, *config);
  }
  // Weights alone: the architecture is in a file beside them.
  X2IR_ASSIGN_OR_RETURN(const BlobPtr json, source.FindBeside(StemOfModel(source) + ".json"));
  X2IR_ASSIGN_OR_RETURN(const bool has_weights, HasWeights(*file));
  if (!json || !has_weights) {
    return NotFound("it has no 'model_config', and there is no architecture '", StemOfModel(source),
                    ".json' beside it");
  }
  absl::StatusOr<Json> root = Json::Parse(json->view());
  if (!root.ok()) return Annotate(root.status(), StrCat("'", json->path(), "'"));
  return WithWeights(*root, blob);
}

}  // namespace
}  // namespace keras

bool LooksLikeKerasJson(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || head[start] != '{') return false;
  if (head.find("\"modelTopology\"") != head.npos) return false;
  return head.find("\"class_name\"") != head.npos && head.find("\"config\"") != head.npos;
}

absl::StatusOr<Model> ReadKeras(const Source& source, const KerasOptions& options) {
  absl::StatusOr<Model> model = keras::Read(source, options);
  if (!model.ok()) return AnnotateOption(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

}  // namespace x2ir
