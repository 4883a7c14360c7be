// Rules of simplify for operands that were broadcast before an op that broadcasts (see
// simplify.cc). Programs of compilers do so for every bias.
// 27. An operand that is an `expand` to the shape that another operand has is what was expanded.
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

bool BroadcastsOperands(const OpDef& op) {
  static constexpr std::string_view kOps[] = {
      "add",           "and",   "bitwise_and", "bitwise_or", "bitwise_xor",
      "div",           "equal", "greater",     "less",       "greater_or_equal",
      "less_or_equal", "max",   "min",         "mul",        "or",
      "pow",           "sub",   "where",       "xor"};
  for (const std::string_view name : kOps) {
    if (op.name() == Symbol(name)) return true;
  }
  return false;
}

absl::StatusOr<bool> TakeBroadcastOperand(Rewriter& r) {
  Node& node = r.node();
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Node* expand = r.Producer(i, "expand");
    if (!expand || !expand->input(0)->shape() || !r.in(i)->shape()) continue;
    if (expand->input(0)->shape()->rank() > r.in(i)->shape()->rank()) continue;
    for (size_t k = 0; k < node.num_inputs(); ++k) {
      // One that is an `expand` itself may go another time, so it does not count.
      if (k == i || !r.in(k) || r.Producer(k, "expand")) continue;
      if (!r.in(k)->shape() || !SameShape(r.in(k)->shape(), r.in(i)->shape())) continue;
      r.SetInput(node, i, expand->input(0));
      return true;
    }
  }
  return false;
}
X2IR_RULE_OF_OPS(simplify, BroadcastsOperands, TakeBroadcastOperand, {"expand"});

}  // namespace
}  // namespace x2ir
