// A layered layout of a directed graph, in time that grows with its size: boxes are in layers below
// the boxes that they depend on, in an order that makes few edges cross.
#ifndef X2IR_INSPECT_DRAW_LAYOUT_H_
#define X2IR_INSPECT_DRAW_LAYOUT_H_

#include <cstddef>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

struct LayoutBox {
  double width = 0, height = 0;  // given
  double x = 0, y = 0;           // found: the middle of the upper side
};

struct LayoutPoint {
  double x, y_in, y_out;  // an edge passes straight down from y_in to y_out
};

struct LayoutEdge {
  size_t from, to;  // boxes
  // Found: where it passes the layers between; its ends are the lower side of one box and the upper
  // side of the other. Empty for neighbors, and where `direct`.
  std::vector<LayoutPoint> bends;
  bool direct = false;  // too long for bends, or leads back (a cycle): drawn below the boxes
};

struct Layout {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;  // no two with the same ends
  double width = 0, height = 0;   // found
};
// Units are those of the boxes' sizes.
void PlaceInLayers(Layout& layout);

}  // namespace x2ir

#endif  // X2IR_INSPECT_DRAW_LAYOUT_H_
