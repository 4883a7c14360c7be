// A model in two files: a graph, and its parameters beside it, as MXNet, TVM, Caffe, Caffe2,
// Darknet and ncnn write it. Either of the two may be named, or a folder with one such pair.
#ifndef X2IR_FORMATS_IO_MODEL_FILES_H_
#define X2IR_FORMATS_IO_MODEL_FILES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct ModelFiles {
  BlobPtr graph;
  BlobPtr params;  // null: there are none
};

// The names of the two files.
struct ModelFileNames {
  // Of a graph without its extension ("net" of "net-symbol.json"): the names that its parameters
  // may have, best first, among the files of its folder.
  std::function<std::vector<std::string>(const std::string& stem,
                                         const std::vector<std::string>& folder)>
      params;
  // Of a file of parameters: the names that its graph may have.
  std::function<std::vector<std::string>(const std::string& params)> graphs;
  std::vector<std::string> graph_endings;  // "-symbol.json", ".json"
  std::function<bool(const Blob& file)> is_params;
  std::function<bool(const Blob& file)> is_graph;
};

// `params`: the requested file of parameters; empty: it is searched. In memory, it is requested by
// its name. NotFound if there is no graph, or no requested file of parameters; InvalidArgument
// where a folder has more than one graph.
absl::StatusOr<ModelFiles> OpenModelFiles(const Source& source, const std::string& params,
                                          const ModelFileNames& names);
// What `read` makes of these files. Errors, also of opening them, begin with the source's name.
absl::StatusOr<Model> ReadModelFiles(
    const Source& source, const std::string& params, const ModelFileNames& names,
    const std::function<absl::StatusOr<Model>(const ModelFiles& files)>& read);
// Whether a folder has a graph, or more than one.
bool HasModelFiles(const std::string& folder, const ModelFileNames& names);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_MODEL_FILES_H_
