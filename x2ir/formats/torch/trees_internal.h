// The trees that a program's arguments and results are: tuples, lists and dicts of tensors and
// None, and classes that PyTorch or a program has told it of. They travel with the graph as
// annotations, where they are others than a writer makes by itself, so that a program that is read
// and written again is called as it was.
//
// Extras of the graph's annotations: "torch.in_tree" and "torch.out_tree", as
// torch.utils._pytree.treespec_dumps writes them; "torch.in_leaves" and "torch.out_leaves", a line
// for each leaf: the graph's input or output, or nothing where None is; "torch.arguments", a line
// for each argument of forward; "torch.namedtuples", a line for each class: its name and its
// fields, with tabs between.
#ifndef X2IR_FORMATS_TORCH_TREES_INTERNAL_H_
#define X2IR_FORMATS_TORCH_TREES_INTERNAL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace x2ir::torch_format {

struct Tree {
  std::string type;     // "builtins.tuple"; empty: a leaf
  std::string context;  // of a dict: the keys, as JSON
  std::vector<Tree> children;

  size_t leaves() const;
};

// nullopt: this is not a tree, or one that is unreasonably deep.
std::optional<Tree> ParseTree(std::string_view text);
std::string TreeText(const Tree& tree);

// The default structure of the arguments and results of a program: a tuple of arguments and no
// keywords; one result alone, several as a tuple.
Tree PlainArguments(size_t count);
Tree PlainResults(size_t count);

// What the annotations say, as far as it holds for these values.
struct Signature {
  Tree tree;
  std::vector<const Value*> leaves;  // null: None
};
std::optional<Signature> SignatureOf(const Graph& graph, std::string_view which,  // "in", "out"
                                     absl::Span<const Value* const> values);
// The lines of an annotation of the graph; none: there is no such annotation.
std::vector<std::string_view> LinesOf(const Graph& graph, std::string_view key);

}  // namespace x2ir::torch_format

#endif  // X2IR_FORMATS_TORCH_TREES_INTERNAL_H_
