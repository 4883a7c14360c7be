// Relay: branches and loops, as the reader makes them of functions (formats/relay/graph_maker.h).
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

// What a round gives is stacked in a tensor that grows, for which Relay has no type.
absl::StatusOr<Values> ToLoopNode(RelayWriter& w) {
  const size_t carried = w.num_inputs() < 2 ? 0 : w.num_inputs() - 2;
  if (w.num_outputs() > carried) return CannotExpress("a loop that collects its results");
  if (carried == 0) return CannotExpress("a loop that carries nothing");
  const Attribute* body = w.attrs().Find("body");
  std::vector<Value*> operands;
  for (size_t i = 0; i < w.num_inputs(); ++i) operands.push_back(w.in(i));
  return w.CallAll("loop", std::move(operands), {{"body", *body}}, w.num_outputs());
}

}  // namespace

X2IR_RELAY(if).Is("if", Same("then_branch"), Same("else_branch"));
X2IR_RELAY(loop).From("loop", Same("body")).To("loop", ToLoopNode);

}  // namespace x2ir
