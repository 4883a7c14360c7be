// Outline: a graph as a tree that a person can take in: modules, blocks that repeat as one, long
// lists in parts, nested graphs below their nodes. Every group has at most kMaxChildren children,
// whatever the graph.
#ifndef X2IR_VIEW_OUTLINE_H_
#define X2IR_VIEW_OUTLINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct Outline {
  static constexpr size_t kMaxChildren = 64;

  enum class Kind : uint8_t {
    kModel,   // the root: group 0
    kModule,  // by the names of nodes (formats/module_path.h)
    kRepeat,  // `count` children that do the same one after the other
    kBlock,   // one of these where it is not a module
    kPart,    // of a list that is too long
    kOwner,   // a node with nested graphs, which are its children
    kGraph,   // a nested graph
  };
  struct Group {
    Kind kind = Kind::kModule;
    std::string name;
    std::string type;  // the class of a module, where it is known
    int parent = -1;   // a group; its number is smaller than that of this one
    int count = 0;     // of a repeat
    int item = -1;     // the node of an owner
  };
  // What is drawn: an input, a node or an output of some graph.
  enum class ItemKind : uint8_t { kInput, kNode, kOutput };
  struct Item {
    ItemKind kind;
    const Node* node = nullptr;
    const Value* value = nullptr;  // of an input or output
    int group = 0;                 // that it is in; for an owner's node, the owner
  };

  std::vector<Group> groups;
  std::vector<Item> items;  // in the order of each graph: inputs, nodes, outputs
  absl::flat_hash_map<const Node*, int> item_of;
};

// In time that grows with the graph.
Outline OutlineOf(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_VIEW_OUTLINE_H_
