#include "x2ir/formats/nnvm/model_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "x2ir/formats/io/file_names.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnvm {
namespace {

namespace fs = std::filesystem;

// The names of a folder's files, sorted. Of links those that may belong to `named`.
std::vector<std::string> FilesOf(const fs::path& folder, const std::string& named) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error), end;
       !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && MayBelongTo(named, it->path().string())) {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

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
  if (source.in_memory()) {
    X2IR_ASSIGN_OR_RETURN(found.graph, source.Open());
    if (names.is_params(*found.graph)) {
      return Invalid("'", source.name(), "' has parameters alone: name the graph");
    }
    if (!params.empty()) {
      X2IR_ASSIGN_OR_RETURN(found.params, source.OpenNamed(params));
    } else if (source.has_resolver()) {
      const std::string stem = StemOf(source.name(), names.graph_endings);
      for (const std::string& name : names.params(stem, {})) {
        absl::StatusOr<BlobPtr> file = source.OpenNamed(name);
        if (file.ok()) {
          found.params = *std::move(file);
          break;
        }
        if (!absl::IsNotFound(file.status())) return file.status();
      }
    }
    return found;
  }
  fs::path path = source.name();
  if (source.is_folder()) {
    std::vector<std::string> graphs;
    for (const std::string& name : FilesOf(path, path / "")) {
      if (!name.ends_with(names.graph_endings[0])) continue;
      X2IR_ASSIGN_OR_RETURN(const BlobPtr file, Blob::Open((path / name).string()));
      if (names.is_graph(*file)) graphs.push_back(name);
    }
    if (graphs.empty()) return NotFound("'", source.name(), "' has no graph in it");
    if (graphs.size() > 1) {
      return Invalid("'", source.name(), "' has ", graphs.size(), " graphs ('", graphs[0], "', '",
                     graphs[1], "'): name one");
    }
    path /= graphs[0];
  }
  X2IR_ASSIGN_OR_RETURN(found.graph, Blob::Open(path.string()));
  const fs::path folder = path.parent_path();
  if (names.is_params(*found.graph)) {
    if (!params.empty()) return Invalid("'", path.string(), "' has parameters already");
    found.params = std::move(found.graph);
    const std::vector<std::string> files = FilesOf(folder, path.string());
    const std::vector<std::string> may_be = names.graphs(path.filename().string());
    const auto graph = std::find_if(may_be.begin(), may_be.end(),
                                    [&](const std::string& name) { return HasFile(files, name); });
    if (graph == may_be.end()) {
      return NotFound("'", path.string(), "' has parameters alone, and there is no '", may_be[0],
                      "' beside it");
    }
    X2IR_ASSIGN_OR_RETURN(found.graph, Blob::Open((folder / *graph).string()));
    return found;
  }
  if (!params.empty()) {
    X2IR_ASSIGN_OR_RETURN(found.params, Blob::Open(params));
    return found;
  }
  const std::vector<std::string> files = FilesOf(folder, path.string());
  for (const std::string& name :
       names.params(StemOf(path.filename().string(), names.graph_endings), files)) {
    if (!HasFile(files, name)) continue;
    X2IR_ASSIGN_OR_RETURN(found.params, Blob::Open((folder / name).string()));
    break;
  }
  return found;
}

}  // namespace nnvm
}  // namespace x2ir
