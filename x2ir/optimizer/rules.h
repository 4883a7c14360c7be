// Rules: rewrites that look at one node and what stands around it. A pass made of rules runs a
// worklist: a node is looked at once, and again when something around it changed; no rule scans.
//
//   X2IR_RULES_PASS(reshapes, "Chains of reshapes become one.");
//   X2IR_RULE(reshapes, reshape, MergeReshapes, {"reshape", "squeeze"});
//   // absl::StatusOr<bool> MergeReshapes(Rewriter&)
//
// The list says behind what the rule can do something: one of these IR ops makes an operand of the
// node (kKnownOperand: an operand is known). Other nodes are not looked at for its sake, which is
// most of what a pass does in a graph where it has nothing to do. Without a list, all are.
//
// A rule that changes nothing returns false and leaves nothing behind: what its builder made is
// taken back. It keeps what the graph computes, the names of the graph's inputs and outputs, and
// never makes two nodes that some rule of the pass would turn back into the first.
#ifndef X2IR_OPTIMIZER_RULES_H_
#define X2IR_OPTIMIZER_RULES_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/rewrite.h"
#include "x2ir/optimizer/node_index.h"
#include "x2ir/optimizer/pass.h"

namespace X2IR_API x2ir {

class Worklist;

class Rewriter {
 public:
  Rewriter(Node& node, Worklist& work, const PassContext& context);

  Node& node() { return node_; }
  Graph& graph() { return *node_.graph(); }
  Builder& b();  // new nodes stand before the node
  const PassContext& context() const { return context_; }
  Value* in(size_t i) const { return node_.input(i); }
  Value* out(size_t i = 0) const { return node_.output(i); }
  const AttributeMap& attrs() const { return node_.attrs(); }
  // The IR node that makes operand i, if it is of that op, stands in the same graph; else null.
  Node* Producer(size_t i, Symbol op) const;
  // Whether this node alone uses the value, once, and it is no output of its graph.
  static bool UsedOnce(const Value* value);

  // The values (new or old) take the place of the node's outputs, and the node goes, and so does
  // what nobody uses then. Call it last. Gives true.
  bool Replace(const Values& results);
  bool Replace(Value* result) { return Replace(Values{result}); }
  // Another node of the neighbourhood gets another operand.
  void SetInput(Node& node, size_t i, Value* value);
  // All uses of a value become uses of another; the names of graph outputs stay.
  void ReplaceUses(Value* from, Value* to);
  // The node changed in place (its attributes, say): its types are found anew, it and its
  // neighbours are looked at again.
  void Touch(Node& node);

 private:
  friend absl::StatusOr<int64_t> RunRules(std::string_view, Graph&, const PassContext&);
  // Names what was made where the node stays.
  void Finish();
  // Takes back what was made; whether there was anything.
  bool TakeBack();
  Node& node_;
  Worklist& work_;
  const PassContext& context_;
  Builder builder_;
  bool hinted_ = false;  // whether the builder was asked for
  bool finished_ = false;
};

using RuleFn = absl::StatusOr<bool> (*)(Rewriter&);

// Whether the pass has rules for the op.
bool HasRules(std::string_view pass, Symbol op);
bool RegisterRule(std::string_view pass, std::string_view op, RuleFn rule,
                  const std::vector<std::string_view>& behind = {},
                  SourcePlace place = SourcePlace::Here());
// Runs the rules of a pass until none changes anything (bounded by the size of the graph). Without
// an index in the context, what rules say they stand behind does not count: for tests.
absl::StatusOr<int64_t> RunRules(std::string_view pass, Graph& graph, const PassContext& context);

#define X2IR_RULE(pass, op, ...)                                             \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_rule_, __COUNTER__) = \
      ::x2ir::RegisterRule(#pass, #op, __VA_ARGS__)
#define X2IR_RULES_PASS(name, doc)                                                    \
  X2IR_PASS(name, doc, [](::x2ir::Graph& graph, const ::x2ir::PassContext& context) { \
    return ::x2ir::RunRules(#name, graph, context);                                   \
  })

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_RULES_H_
