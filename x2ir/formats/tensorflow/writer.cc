// Files: a frozen graph, or the folder of a SavedModel.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <optional>

#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/folders.h"
#include "x2ir/formats/tensorflow/checkpoint_writer_internal.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/saved_model_writer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tf_format {
namespace {

namespace fs = std::filesystem;

// What protobuf reads.
constexpr uint64_t kMaxMessage = std::numeric_limits<int32_t>::max();
constexpr std::string_view kModelFile = "saved_model.pb";
// Files of a SavedModel that was replaced which would contradict the new one.
constexpr const char* kStaleFiles[] = {"saved_model.pbtxt", "fingerprint.pb", "keras_metadata.pb"};

bool EndsInAnyCase(std::string_view name, std::string_view end) {
  return name.size() >= end.size() &&
         std::equal(
             end.begin(), end.end(), name.end() - static_cast<ptrdiff_t>(end.size()),
             [](char want, char c) { return std::tolower(static_cast<unsigned char>(c)) == want; });
}
bool IsTextGraph(std::string_view name) { return EndsInAnyCase(name, ".pbtxt"); }
bool IsFrozenGraph(std::string_view name) {
  return EndsInAnyCase(name, ".pb") || IsTextGraph(name);
}

std::string InFolder(const std::string& folder, std::string_view file) {
  return (fs::path(folder) / std::string(file)).string();
}

std::string PathOfAsset(const TableFiller::Asset& asset) {
  return StrCat(kAssetsFolder, "/", asset.file);
}

absl::Status CheckSize(const WireWriter& message, const Sink& sink, std::string_view instead) {
  if (message.size() <= kMaxMessage) return absl::OkStatus();
  return CannotExpress("cannot write '", sink.name(), "': the graph takes ", message.size(),
                       " bytes, and protobuf reads at most ", kMaxMessage, "; ", instead);
}

absl::Status PutMessage(const WireWriter& message, AtomicFile& file) {
  return message.Emit([&](std::string_view bytes) { return file.Append(bytes); },
                      [&](const Tensor& tensor) { return file.Append(tensor); });
}

absl::Status WriteFrozen(const Model& model, const Sink& sink) {
  WireWriter message;
  GraphWriter graph(model);
  X2IR_RETURN_IF_ERROR(graph.Write(message));
  X2IR_RETURN_IF_ERROR(TableFiller(message, graph).Write());
  X2IR_RETURN_IF_ERROR(CheckSize(message, sink,
                                 "a SavedModel, which has its weights in a file of their own, can "
                                 "hold it: give a name that does not end in .pb"));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  if (IsTextGraph(sink.name())) {
    X2IR_RETURN_IF_ERROR(
        Annotate(WireToText(message.ToString(), "GraphDef",
                            [&](std::string_view text) { return file.Append(text); }),
                 StrCat("cannot write '", sink.name(), "'")));
  } else {
    X2IR_RETURN_IF_ERROR(PutMessage(message, file));
  }
  return file.Commit();
}

// All files of a SavedModel into a folder that exists.
absl::Status WriteFiles(const SavedModelMessage& model, const Sink& sink,
                        const std::string& folder) {
  std::vector<AtomicFile> files;
  if (!model.variables.empty()) {
    X2IR_ASSIGN_OR_RETURN(AtomicFile data, sink.Create(InFolder(folder, kDataFile)));
    CheckpointWriter checkpoint;
    for (const GraphWriter::Apart& variable : model.variables) {
      X2IR_RETURN_IF_ERROR(checkpoint.Add(variable.node, variable.tensor, data));
    }
    X2IR_ASSIGN_OR_RETURN(AtomicFile index, sink.Create(InFolder(folder, kIndexFile)));
    X2IR_RETURN_IF_ERROR(index.Append(std::string_view(checkpoint.Index())));
    files.push_back(std::move(data));
    files.push_back(std::move(index));
  }
  for (const TableFiller::Asset& asset : model.assets) {
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(InFolder(folder, PathOfAsset(asset))));
    X2IR_RETURN_IF_ERROR(file.Append(std::string_view(asset.text)));
    files.push_back(std::move(file));
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(InFolder(folder, kModelFile)));
  X2IR_RETURN_IF_ERROR(PutMessage(model.message, file));
  files.push_back(std::move(file));
  std::vector<AtomicFile*> group;
  for (AtomicFile& each : files) group.push_back(&each);
  return AtomicFile::CommitAll(group);
}

absl::Status WriteFolder(const Model& model, const Sink& sink,
                         const TensorFlowWriteOptions& options) {
  const std::string& folder = sink.name();
  std::error_code error;
  const bool exists = sink.is_path() && fs::exists(folder, error);
  if (exists && !options.force && !IsSavedModelFolder(folder) && !fs::is_empty(folder, error)) {
    return absl::AlreadyExistsError(
        StrCat("'", folder, "' exists and is no SavedModel; choose another name for the output, ",
               "or write into it with ", OptionText("force")));
  }
  SavedModelMessage message;
  X2IR_RETURN_IF_ERROR(
      MakeSavedModel(model, {.signature = options.signature, .freeze = options.freeze}, message));
  X2IR_RETURN_IF_ERROR(CheckSize(message.message, sink,
                                 options.freeze ? "write its weights as variables, without freeze"
                                                : "its constants are too large"));
  if (!sink.is_path()) return WriteFiles(message, sink, folder);
  const bool has_variables = !message.variables.empty();
  if (!exists) {
    // A new one is complete when it gets its name.
    X2IR_ASSIGN_OR_RETURN(AtomicFolder fresh, AtomicFolder::Create(folder));
    if (has_variables) X2IR_RETURN_IF_ERROR(fresh.MakeFolder(InFolder(fresh.path(), "variables")));
    for (const std::string& file : SavedModelFiles(fresh.path())) fresh.AddFile(file);
    if (!message.assets.empty()) {
      X2IR_RETURN_IF_ERROR(fresh.MakeFolder(InFolder(fresh.path(), kAssetsFolder)));
    }
    for (const TableFiller::Asset& asset : message.assets) {
      fresh.AddFile(InFolder(fresh.path(), PathOfAsset(asset)));
    }
    X2IR_RETURN_IF_ERROR(WriteFiles(message, sink, fresh.path()));
    return fresh.Commit();
  }
  Folders folders;
  if (has_variables) X2IR_RETURN_IF_ERROR(folders.Make(InFolder(folder, "variables")));
  if (!message.assets.empty()) X2IR_RETURN_IF_ERROR(folders.Make(InFolder(folder, kAssetsFolder)));
  X2IR_RETURN_IF_ERROR(WriteFiles(message, sink, folder));
  folders.Keep();
  for (const char* stale : kStaleFiles) fs::remove(InFolder(folder, stale), error);
  if (!has_variables) {
    for (const std::string_view stale : {kIndexFile, kDataFile}) {
      fs::remove(InFolder(folder, stale), error);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tf_format

absl::Status WriteTensorFlow(const Model& model, const Sink& sink,
                             const TensorFlowWriteOptions& options) {
  X2IR_RETURN_IF_ERROR(model.graph->CheckNames());
  if (tf_format::IsFrozenGraph(sink.name())) return tf_format::WriteFrozen(model, sink);
  return tf_format::WriteFolder(model, sink, options);
}

std::vector<std::string> SavedModelFiles(const std::string& path) {
  if (tf_format::IsFrozenGraph(path)) return {};
  std::vector<std::string> files;
  for (const std::string_view file :
       {tf_format::kModelFile, tf_format::kIndexFile, tf_format::kDataFile}) {
    files.push_back(tf_format::InFolder(path, file));
  }
  return files;
}

}  // namespace x2ir
