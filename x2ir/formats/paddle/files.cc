// Which files a model has, whichever of them was named; how they are told from others.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "x2ir/formats/paddle/paddle_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace paddle {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The model in a folder: one of the usual names, or the only one of its kind.
std::string ModelIn(const fs::path& folder) {
  for (const char* name :
       {"inference.pdmodel", "model.pdmodel", "__model__", "inference.json", "model.json"}) {
    if (IsFile(folder / name)) return name;
  }
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".pdmodel") found.push_back(entry.path().filename().string());
  }
  return found.size() == 1 ? found[0] : "";
}

std::string Stem(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == path.npos || path.find('/', dot) != path.npos ? path : path.substr(0, dot);
}

// The parameters' file that goes with a model.
std::string ParametersOf(const std::string& model) {
  const fs::path path(model);
  if (path.filename() == "__model__") return (path.parent_path() / "__params__").string();
  if (path.filename() == "model") return (path.parent_path() / "params").string();
  return Stem(model) + ".pdiparams";
}

// The other way round; empty where there is none.
std::string ModelOf(const std::string& params) {
  const fs::path path(params);
  std::vector<std::string> names = {Stem(params) + ".pdmodel", Stem(params) + ".json"};
  if (path.filename() == "__params__") names = {(path.parent_path() / "__model__").string()};
  for (const std::string& name : names) {
    if (IsFile(name)) return name;
  }
  return "";
}

bool IsParametersName(const std::string& path) {
  return path.ends_with(".pdiparams") || fs::path(path).filename() == "__params__";
}

}  // namespace

absl::StatusOr<ModelFiles> ModelFiles::Find(const Source& source, const std::string& params) {
  ModelFiles files(source);
  if (source.in_memory()) {
    files.model_name_ = source.name();
  } else if (source.is_folder()) {
    const std::string name = ModelIn(source.name());
    if (name.empty()) return NotFound("the folder has no model of Paddle");
    files.model_name_ = (fs::path(source.name()) / name).string();
  } else if (IsParametersName(source.name())) {
    files.model_name_ = ModelOf(source.name());
    files.combined_ = source.name();
    files.combined_is_chosen_ = true;
    if (files.model_name_.empty()) {
      return NotFound("these are parameters; their model '", Stem(source.name()),
                      ".pdmodel' or '.json' is not beside them");
    }
  } else {
    files.model_name_ = source.name();
  }
  if (files.combined_.empty()) files.combined_ = ParametersOf(files.model_name_);
  if (!params.empty()) {
    files.combined_ = params;
    files.combined_is_chosen_ = true;
  }
  X2IR_ASSIGN_OR_RETURN(files.model_,
                        source.in_memory() ? source.Open() : Blob::Open(files.model_name_));
  return files;
}

absl::StatusOr<BlobPtr> ModelFiles::OpenCombined() const {
  if (combined_is_chosen_) return source_.OpenGiven(combined_);
  return source_.FindBeside(source_.in_memory() ? combined_
                                                : fs::path(combined_).filename().string());
}

absl::StatusOr<BlobPtr> ModelFiles::FindParameter(const std::string& name) const {
  if (name == "." || name == ".." || name.find('/') != name.npos) return BlobPtr();
  return source_.FindBeside(name);
}

Shape ShapeOf(const std::vector<int64_t>& sizes, std::string_view name) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    dims.push_back(sizes[i] >= 0 ? Dim(sizes[i]) : Dim::Symbol(StrCat(name, "_", i)));
  }
  return Shape(std::move(dims));
}

Value* Assigned(Graph& graph, Value* value, std::string_view name) {
  Node* node = graph.AppendNode(kDialect, "assign", {&value, 1});
  node->SetAttr(kOperandSlots, std::vector<std::string>{"X"});
  node->SetAttr(kResultSlots, std::vector<std::string>{"Out"});
  return graph.AddNodeOutput(node, graph.UniqueName(name));
}

void AddOwnOutput(Graph& graph, Value* value) {
  const bool own = value->producer() && value->producer()->graph() == &graph;
  graph.AddOutput(own && !value->is_graph_output() ? value : Assigned(graph, value, value->name()));
}

void DropUnusedResults(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) DropUnusedResults(*inner);
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      Value* value = node->output(i);
      if (value && value->uses().empty() && !value->is_graph_output()) {
        graph.RemoveUnusedOutput(node, i);
      }
    }
  }
}

}  // namespace paddle

absl::StatusOr<Model> ReadPaddle(const Source& source, const PaddleReadOptions& options) {
  const auto read = [&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(const paddle::ModelFiles files,
                          paddle::ModelFiles::Find(source, options.params));
    const std::string_view bytes = files.model()->view();
    const size_t start = bytes.find_first_not_of(" \t\r\n");
    const bool json = start != bytes.npos && bytes[start] == '{';
    return json ? paddle::ReadPir(files) : paddle::ReadProgram(files);
  };
  absl::StatusOr<Model> model = read();
  if (!model.ok()) return Annotate(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

// A program begins with its first block, and that with its own number and its parent's.
bool LooksLikePaddleProgram(absl::Span<const std::byte> head, uint64_t file_size) {
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  if (bytes.empty() || bytes[0] != '\x0a') return false;
  size_t at = 1;
  const auto length = VarintAt(bytes, &at, 9);
  return length && *length <= file_size &&
         bytes.substr(at).starts_with(std::string_view("\x08\x00\x10", 3));
}

bool LooksLikePaddlePir(absl::Span<const std::byte> head) {
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == bytes.npos || bytes[start] != '{') return false;
  const size_t magic = bytes.find("\"magic\"");
  const size_t value = magic == bytes.npos ? magic : bytes.find_first_not_of(" \t\r\n:", magic + 7);
  return bytes.find("\"base_code\"") != bytes.npos && value != bytes.npos &&
         bytes.substr(value).starts_with("\"pir\"");
}

bool IsPaddleFolder(const std::string& path) {
  const std::string name = paddle::ModelIn(path);
  // Others have models called so as well: the content counts.
  if (!name.ends_with(".json")) return !name.empty();
  const auto blob = Blob::Open((std::filesystem::path(path) / name).string());
  return blob.ok() &&
         LooksLikePaddlePir({(*blob)->data(), std::min<size_t>((*blob)->size(), 4096)});
}

}  // namespace x2ir
