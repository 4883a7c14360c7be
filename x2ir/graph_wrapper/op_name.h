// What a node's op is called beside ops of other dialects: "dialect.Op"; an IR op has no dialect.
#ifndef X2IR_GRAPH_WRAPPER_OP_NAME_H_
#define X2IR_GRAPH_WRAPPER_OP_NAME_H_

#include <string>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

inline std::string QualifiedOp(const Node& node) {
  return node.is_ir() ? node.op().str() : StrCat(node.dialect().str(), ".", node.op().str());
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_OP_NAME_H_
