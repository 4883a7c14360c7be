// Writes a model.json and its weights.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/formats/tfjs/tfjs.h"
#include "x2ir/formats/tfjs/tfjs_internal.h"
#include "x2ir/formats/tfjs/writer_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tfjs {
namespace {

namespace fs = std::filesystem;
using TfGraphWriter = tf_format::GraphWriter;

constexpr std::string_view kExtension = ".tfjs.json";
constexpr std::string_view kModelFile = "model.json";

// Where a model's files are: its own, and those of its weights, whose names begin with `prefix`.
struct Places {
  fs::path folder;
  std::string file, prefix;

  std::string model() const { return (folder / file).string(); }
};

bool IsFolderTarget(const std::string& path) { return !path.ends_with(".json"); }

Places PlacesOf(const std::string& path) {
  if (IsFolderTarget(path)) return {path, std::string(kModelFile), ""};
  const fs::path file(path);
  const std::string name = file.filename().string();
  std::string prefix;
  if (name != kModelFile) {
    const std::string_view end = name.ends_with(kExtension) ? kExtension : ".json";
    prefix = StrCat(name.substr(0, name.size() - end.size()), ".");
  }
  return {file.parent_path(), name, prefix};
}

// The model that is at a path already; nothing where there is none. It does not count as a file
// that the program reads (files_read.h), so that it may be replaced.
std::optional<std::string> ModelThere(const std::string& path) {
  constexpr std::streamsize kHead = 4096;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text(kHead, '\0');
  file.read(text.data(), kHead);
  text.resize(static_cast<size_t>(file.gcount()));
  if (!LooksLikeTfjs(text)) return std::nullopt;
  text.append(std::istreambuf_iterator<char>(file), {});
  return text;
}

// The files of weights that the model at a path names.
std::vector<std::string> WeightFilesOf(const std::string& path) {
  std::vector<std::string> names;
  const std::optional<std::string> text = ModelThere(path);
  if (!text) return names;
  const auto root = Json::Parse(*text);
  if (!root.ok()) return names;
  for (const Json& group : (*root)["weightsManifest"].items()) {
    for (const Json& name : group["paths"].items()) {
      if (name.text().find_first_of("/\\") == std::string::npos) names.push_back(name.text());
    }
  }
  return names;
}

Json SignatureShape(const Type& type) {
  Json shape = Json::Object();
  if (!type.shape()) {
    shape.Set("unknownRank", Json::Bool(true));
    return shape;
  }
  std::vector<Json> dims;
  for (int64_t i = 0; i < type.shape()->rank(); ++i) {
    const Dim& size = (*type.shape())[i];
    Json dim = Json::Object();
    dim.Set("size", Json(StrCat(size.is_static() ? size.value() : -1)));
    dims.push_back(std::move(dim));
  }
  shape.Set("dim", Json::Array(std::move(dims)));
  return shape;
}

absl::StatusOr<Json> SignaturePorts(const std::vector<TfGraphWriter::Port>& ports) {
  Json all = Json::Object();
  for (const TfGraphWriter::Port& port : ports) {
    X2IR_ASSIGN_OR_RETURN(const int64_t number, tf_format::NumberOfType(port.type));
    Json json = Json::Object();
    json.Set("name", Json(StrCat(port.node, ":0")));
    json.Set("dtype", Json(tf_format::TypeName(number)));
    json.Set("tensorShape", SignatureShape(port.type));
    all.Set(port.name, std::move(json));
  }
  return all;
}

struct Written {
  std::string signature, topology;
  std::vector<NamedWeight> weights;
};

// TensorFlow.js wants a list of arguments of every function, which protobuf leaves out where it is
// empty.
absl::Status ListArguments(std::string* topology) {
  if (topology->find("\"library\"") == topology->npos) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(Json graph, Json::Parse(*topology));
  std::vector<Json> functions = graph["library"]["function"].items();
  if (functions.empty()) return absl::OkStatus();
  for (Json& function : functions) {
    if (function["signature"].Has("inputArg")) continue;
    Json signature = function["signature"];
    signature.Set("inputArg", Json::Array({}));
    function.Set("signature", std::move(signature));
  }
  Json library = graph["library"];
  library.Set("function", Json::Array(std::move(functions)));
  graph.Set("library", std::move(library));
  *topology = graph.ToString();
  return absl::OkStatus();
}

absl::StatusOr<Written> WriteGraph(const Model& model) {
  X2IR_RETURN_IF_ERROR(model.graph->CheckNames());
  TfGraphWriter graph(model, [](const Tensor&) { return tf_format::ConstantPlace::kApart; });
  WireWriter message;
  X2IR_RETURN_IF_ERROR(graph.Write(message));
  if (!graph.tables().empty()) {
    return CannotExpress("table '", graph.tables()[0].node, "': lookup tables in TensorFlow.js");
  }
  Written written;
  X2IR_RETURN_IF_ERROR(WireToProtoJson(
      message.ToString(), tf_format::GraphMessage(),
      [&](std::string_view text) {
        written.topology += text;
        return absl::OkStatus();
      },
      ProtoJsonStyle::kCompact));
  X2IR_RETURN_IF_ERROR(ListArguments(&written.topology));
  Json signature = Json::Object();
  X2IR_ASSIGN_OR_RETURN(Json inputs, SignaturePorts(graph.inputs()));
  X2IR_ASSIGN_OR_RETURN(Json outputs, SignaturePorts(graph.outputs()));
  signature.Set("inputs", std::move(inputs));
  signature.Set("outputs", std::move(outputs));
  written.signature = signature.ToString();
  for (const TfGraphWriter::Apart& apart : graph.apart()) {
    written.weights.push_back({apart.node, apart.tensor});
  }
  return written;
}

// `folder`: a new one that has the files, or null.
absl::Status WriteFiles(const Written& written, const Places& at, const Sink& sink,
                        const TfjsWriteOptions& options, AtomicFolder* folder) {
  const std::string own = at.model();
  const std::vector<std::string> before =
      sink.is_path() ? WeightFilesOf(own) : std::vector<std::string>();
  const auto create = [&](const std::string& name) -> absl::StatusOr<AtomicFile> {
    const std::string path = (at.folder / name).string();
    if (sink.is_path() && !options.force) {
      X2IR_RETURN_IF_ERROR(CheckSideFile(
          path, [&] { return std::find(before.begin(), before.end(), name) != before.end(); }));
    }
    if (folder) folder->AddFile(path);
    return sink.Create(path);
  };
  X2IR_ASSIGN_OR_RETURN(WrittenShards shards,
                        WriteShards(written.weights, at.prefix, options.quantize, create));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(own));
  for (const std::string_view part :
       {std::string_view(R"({"format":"graph-model","generatedBy":"x2ir","convertedBy":null,)"),
        std::string_view(R"("signature":)"), std::string_view(written.signature),
        std::string_view(R"(,"modelTopology":)"), std::string_view(written.topology),
        std::string_view(R"(,"weightsManifest":)")}) {
    X2IR_RETURN_IF_ERROR(file.Append(part));
  }
  X2IR_RETURN_IF_ERROR(file.Append(std::string_view(shards.manifest.ToString())));
  X2IR_RETURN_IF_ERROR(file.Append(std::string_view("}\n")));
  std::vector<AtomicFile*> files;
  for (AtomicFile& shard : shards.files) files.push_back(&shard);
  files.push_back(&file);
  X2IR_RETURN_IF_ERROR(AtomicFile::CommitAll(files));
  // Weights of the model that was there before.
  for (const std::string& name : before) {
    const std::vector<std::string>& now = shards.names;
    if (!name.starts_with(StrCat(at.prefix, "group1-shard"))) continue;
    std::error_code ignored;
    if (std::find(now.begin(), now.end(), name) == now.end()) fs::remove(at.folder / name, ignored);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tfjs

std::vector<std::string> TfjsFiles(const std::string& path) {
  const tfjs::Places at = tfjs::PlacesOf(path);
  std::vector<std::string> files;
  if (tfjs::IsFolderTarget(path)) files.push_back(at.model());
  for (const std::string& name : tfjs::WeightFilesOf(at.model())) {
    files.push_back((at.folder / name).string());
  }
  files.push_back((at.folder / StrCat(at.prefix, "group1-shard1of1.bin")).string());
  return files;
}

absl::Status WriteTfjs(const Model& model, const Sink& sink, const TfjsWriteOptions& options) {
  using namespace tfjs;  // NOLINT
  X2IR_ASSIGN_OR_RETURN(const Written written, WriteGraph(model));
  const Places at = PlacesOf(sink.name());
  std::error_code error;
  if (!sink.is_path() || !IsFolderTarget(sink.name())) {
    return WriteFiles(written, at, sink, options, nullptr);
  }
  if (fs::exists(at.folder, error) && !fs::is_empty(at.folder, error)) {
    if (!ModelThere(at.model()) && !options.force) {
      return absl::AlreadyExistsError(
          StrCat("'", sink.name(), "' exists and is not a folder of a TensorFlow.js model; choose ",
                 "another name for the output, or write into it with ", OptionText("force")));
    }
    return WriteFiles(written, at, sink, options, nullptr);
  }
  // A new folder is complete when it gets its name.
  X2IR_ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(at.folder.string()));
  const Places inside{folder.path(), at.file, at.prefix};
  folder.AddFile(inside.model());
  X2IR_RETURN_IF_ERROR(WriteFiles(written, inside, sink, options, &folder));
  return folder.Commit();
}

}  // namespace x2ir
