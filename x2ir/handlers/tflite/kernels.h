// What LiteRT's kernels take, as rows: element types and ranks of operators. A node that none of
// them runs is never written.
#ifndef X2IR_HANDLERS_TFLITE_KERNELS_H_
#define X2IR_HANDLERS_TFLITE_KERNELS_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// What LiteRT would refuse of a node; empty: nothing.
std::vector<std::string> CheckTfliteNode(const Node& node);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_KERNELS_H_
