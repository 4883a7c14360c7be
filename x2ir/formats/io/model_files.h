// A model in two files: a graph, and its parameters beside it, as MXNet, TVM, Caffe, Caffe2,
// Darknet and ncnn write it. Any of the two may be named, or a folder with one such pair.
#ifndef X2IR_FORMATS_IO_MODEL_FILES_H_
#define X2IR_FORMATS_IO_MODEL_FILES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/source.h"

namespace X2IR_API x2ir {

struct ModelFiles {
  BlobPtr graph;
  BlobPtr params;  // null: there are none
};

// What the two are called.
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

// `params`: the file of parameters that was asked for; empty: the one that is found. In memory, it
// is asked for under its name. NotFound where there is no graph, or not the parameters that were
// asked for; InvalidArgument where a folder has more than one graph.
absl::StatusOr<ModelFiles> OpenModelFiles(const Source& source, const std::string& params,
                                          const ModelFileNames& names);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_MODEL_FILES_H_
