// The graph JSON of NNVM, which MXNet's symbols are, too: nodes in an order in which each comes
// after those that it uses, with attributes as texts. Files of all ages are read: operators'
// attributes under "attrs", "attr" or "param", entries of two or three numbers.
#ifndef X2IR_FORMATS_NNVM_SYMBOL_JSON_H_
#define X2IR_FORMATS_NNVM_SYMBOL_JSON_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {
namespace nnvm {

struct SymbolGraph;

// An output of a node.
struct SymbolEntry {
  int64_t node = 0, index = 0;
};

struct SymbolNode {
  std::string op;  // "null": a variable
  std::string name{};
  std::vector<std::pair<std::string, std::string>> attrs{};
  std::vector<SymbolEntry> inputs{};
  std::vector<std::shared_ptr<SymbolGraph>> subgraphs{};

  bool is_variable() const { return op == "null"; }
  const std::string* Find(std::string_view attr) const;
};

struct SymbolGraph {
  std::vector<SymbolNode> nodes{};
  std::vector<int64_t> arg_nodes{};  // the variables, in the order of a subgraph's operands
  std::vector<SymbolEntry> heads{};  // the outputs
  std::vector<int64_t> row_ptr{};    // the number of each node's first entry in the lists below
  // Attributes of the graph: numbers ("mxnet_version"), and lists with an element an entry.
  std::map<std::string, int64_t> numbers{};
  std::vector<std::vector<int64_t>> shapes{};  // "shape"
  std::vector<std::string> dtypes{};           // "dltype": "float32"
};

// InvalidArgument or DataLoss with line and column for a text that is not such a graph. Nodes that
// an entry names are in the list, before all nodes that use them.
absl::StatusOr<SymbolGraph> ParseSymbolJson(std::string_view text);

// Whether a file starts like such a graph.
bool LooksLikeSymbolJson(std::string_view head);
// "(1, 2)" and "[1L, 2L]" as numbers; nullopt where it is not a list of numbers. "None" has none.
std::optional<std::vector<int64_t>> ParseTuple(std::string_view text);

// Puts the nodes into a graph, each with the outputs that are used, and nested graphs as attribute
// "subgraphs". `variable` makes the value of a variable of the outermost graph.
struct SymbolBuilder {
  Symbol dialect;
  std::function<absl::StatusOr<Value*>(Graph& graph, const SymbolNode& node, int64_t number)>
      variable;
  // Names of results: "NAME_output" (of several: "NAME_output0", ...), else "NAME", "NAME_1".
  bool output_suffix = false;

  absl::Status Build(const SymbolGraph& from, Graph* graph) const;
};

}  // namespace nnvm
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNVM_SYMBOL_JSON_H_
