#include "x2ir/formats/io/model_files.h"

#include <algorithm>

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

bool HasFile(const std::vector<std::string>& files, const std::string& name) {
  return std::binary_search(files.begin(), files.end(), name);
}

std::string StemOf(const std::string& graph, const std::vector<std::string>& endings) {
  for (const std::string& ending : endings) {
    if (graph.size() > ending.size() && graph.ends_with(ending)) {
      return graph.substr(0, graph.size() - ending.size());
    }
  }
  return graph;
}

}  // namespace

absl::StatusOr<ModelFiles> OpenModelFiles(const Source& source, const std::string& params,
                                          const ModelFileNames& names) {
  ModelFiles found;
  std::vector<std::string> files;  // none in memory
  if (params.empty() || source.is_folder()) files = source.FilesBeside();
  std::string graph = source.name();
  if (source.is_folder()) {
    std::vector<std::string> graphs;
    for (const std::string& name : files) {
      if (!name.ends_with(names.graph_endings[0])) continue;
      X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.OpenBeside(name));
      if (names.is_graph(*file)) graphs.push_back(name);
    }
    if (graphs.empty()) return NotFound("'", source.name(), "' has no graph");
    if (graphs.size() > 1) {
      return Invalid("'", source.name(), "' has ", graphs.size(), " graphs ('", graphs[0], "', '",
                     graphs[1], "'); name one of them");
    }
    graph = graphs[0];
    X2IR_ASSIGN_OR_RETURN(found.graph, source.OpenBeside(graph));
  } else {
    X2IR_ASSIGN_OR_RETURN(found.graph, source.Open());
    graph = graph.substr(graph.rfind('/') + 1);
  }
  if (names.is_params(*found.graph)) {
    if (source.in_memory()) {
      return Invalid("'", source.name(), "' has only parameters; name the file of the graph");
    }
    if (!params.empty()) return Invalid("'", source.name(), "' already has parameters");
    found.params = std::move(found.graph);
    const std::vector<std::string> may_be = names.graphs(graph);
    const auto own = std::find_if(may_be.begin(), may_be.end(),
                                  [&](const std::string& name) { return HasFile(files, name); });
    if (own == may_be.end()) {
      return NotFound("'", source.name(), "' has only parameters, and there is no file '",
                      may_be[0], "' beside it");
    }
    X2IR_ASSIGN_OR_RETURN(found.graph, source.OpenBeside(*own));
    return found;
  }
  if (!params.empty()) {
    X2IR_ASSIGN_OR_RETURN(found.params, source.OpenGiven(params));
    return found;
  }
  for (const std::string& name : names.params(StemOf(graph, names.graph_endings), files)) {
    X2IR_ASSIGN_OR_RETURN(found.params, source.FindBeside(name));
    if (found.params) break;
  }
  return found;
}

absl::StatusOr<Model> ReadModelFiles(
    const Source& source, const std::string& params, const ModelFileNames& names,
    const std::function<absl::StatusOr<Model>(const ModelFiles& files)>& read) {
  const absl::StatusOr<ModelFiles> files = OpenModelFiles(source, params, names);
  absl::StatusOr<Model> model = files.ok() ? read(*files) : files.status();
  if (!model.ok()) return AnnotateOption(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

bool HasModelFiles(const std::string& folder, const ModelFileNames& names) {
  const auto files = OpenModelFiles(Source(folder), "", names);
  return files.ok() || absl::IsInvalidArgument(files.status());
}

}  // namespace x2ir
