// The content of the boxes of a drawing, for all kinds of drawings.
#ifndef X2IR_INSPECT_DRAW_INTERNAL_H_
#define X2IR_INSPECT_DRAW_INTERNAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace x2ir::draw {

struct Box {
  std::vector<std::string> lines;  // the first one is the title
  std::vector<std::string> types;  // of its results
  std::string_view color;
  std::string tooltip;
  bool is_port = false;  // an input or an output of a graph
};

enum class Port { kInput, kOutput };

Box BoxOf(const Node& node);
Box BoxOf(const Value& port, Port which);

// The graphs in a node's attributes, each with the attribute's name and its own.
struct Frame {
  std::string title;
  const Graph* graph;
};
std::vector<Frame> FramesOf(const Node& node);

}  // namespace x2ir::draw

#endif  // X2IR_INSPECT_DRAW_INTERNAL_H_
