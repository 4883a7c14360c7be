// The module of a node in its model, as exporters record it: in the metadata of the node, in an
// annotation of the graph, or in names.
//
// The metadata of ONNX's nodes that come from PyTorch have two lists, as Python prints them, from
// the model inwards:
//
//   pkg.torch.onnx.name_scopes      ['', 'encoder.layer.0', 'encoder.layer.0.fc', 'linear_3']
//   pkg.torch.onnx.class_hierarchy  ['net.Model', 'net.Layer', 'torch.nn...Linear', 'aten...']
//
// Of a program of torch.export nodes have the paths as names, and the graph's annotation
// "torch.classes" has a line for each module of a class that is not PyTorch's own: its path, a tab,
// the class. Elsewhere names have slashes between modules.
#ifndef X2IR_FORMATS_MODULE_PATH_H_
#define X2IR_FORMATS_MODULE_PATH_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// {"encoder", "layer", "0"}. Parts are at most 200 bytes long, and there are at most some 65 of
// them.
using ModulePath = std::vector<std::string>;

// A name of a node or a value as a path: "/m/layer/layer.0/Add" is {"m", "layer", "0", "Add"}.
ModulePath SplitName(std::string_view name);

// The modules around a node, from the outermost to the innermost, and their classes; empty if the
// node's metadata do not have them.
struct NamedScope {
  ModulePath path;
  std::string type;  // "net.Layer"
};
std::vector<NamedScope> ScopesOf(const Node& node);
// Modules whose classes the graph tells; nullopt where it is none of torch.export's.
std::optional<std::vector<NamedScope>> ModulesOf(const Graph& graph);

// The module that a node's name, or that of its first result, says; empty: none. An operator of
// TFLite may be called after all nodes that it was made of, "m/relu/Relu;m/conv/Conv2D".
// `of_torch`: names are those of torch.export.
ModulePath ModuleInName(const Node& node, bool of_torch);

}  // namespace x2ir

#endif  // X2IR_FORMATS_MODULE_PATH_H_
