// identity: removes `identity` nodes.
//  1. Uses of the result become uses of the operand.
//  2. A result that is an output of the graph hands its name to the operand where the
//     operand is a node's output in the same graph and no output itself; else the node stays.
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(identity, "Removes identity nodes.");

absl::StatusOr<bool> RemoveIdentity(Rewriter& r) {
  const Value* from = r.out();
  Value* to = r.in(0);
  if (from->is_graph_output() &&
      (!to->producer() || to->graph() != &r.graph() || to->is_graph_output())) {
    return false;
  }
  return r.Replace(to);
}
X2IR_RULE(identity, identity, RemoveIdentity);

}  // namespace
}  // namespace x2ir
