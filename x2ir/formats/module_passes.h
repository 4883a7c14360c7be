// What is done to a graph before it is written as a module of PyTorch or OneFlow.
#ifndef X2IR_FORMATS_MODULE_PASSES_H_
#define X2IR_FORMATS_MODULE_PASSES_H_

#include <string>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The passes that keep the layers and the names that the source has. Weights are not computed with.
std::vector<std::string> PassesThatKeepLayers(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_FORMATS_MODULE_PASSES_H_
