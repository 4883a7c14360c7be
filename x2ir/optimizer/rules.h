// Rules: peephole rewrites, of one node and its neighbours, and the worklist that runs them.
//
//   X2IR_RULES_PASS(reshapes, "Chains of reshapes become one.");
//   X2IR_RULE(reshapes, reshape, MergeReshapes, {"reshape", "squeeze"});
//   // absl::StatusOr<bool> MergeReshapes(Rewriter&): whether it changed something
//
// A pass calls each rule for every node of the rule's op, and calls it again for a node whose
// neighbours changed. A rule therefore never walks over the graph itself.
//
// The list at the end is optional. It names the producers that the rule is about: MergeReshapes is
// called only for a reshape of whose operands one is the result of a reshape or a squeeze
// (kKnownOperand: an operand is a constant). In a graph where the pass has nothing to do, that
// saves most of its time. X2IR_RULE_OF_OPS registers a rule for all ops of a kind; the producers
// may be all ops of a kind, too.
//
// A rule that returns false must not have changed the graph; nodes that it made with its builder
// are erased by the caller. A rule keeps what the graph computes and the names of the graph's
// inputs and outputs, and no other rule of the pass may undo what it does.
#ifndef X2IR_OPTIMIZER_RULES_H_
#define X2IR_OPTIMIZER_RULES_H_

#include <initializer_list>
#include <string_view>
#include <utility>
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
  Builder& b();  // new nodes are inserted before the node
  const PassContext& context() const { return context_; }
  Value* in(size_t i) const { return node_.input(i); }
  Value* out(size_t i = 0) const { return node_.output(i); }
  const AttributeMap& attrs() const { return node_.attrs(); }
  // The IR node that produces operand i, if it has that op and is in the same graph; else null.
  Node* Producer(size_t i, Symbol op) const;
  // Whether this node is the only user of the value, once, and it is not an output of its graph.
  static bool UsedOnce(const Value* value);

  // Replaces the node's outputs by these values, new or old ones, and erases the node and all that
  // is unused then. Must be the last call. Returns true.
  bool Replace(const Values& results);
  bool Replace(Value* result) { return Replace(Values{result}); }
  // The node becomes one of another op that gives the same results, of the same types; erases what
  // is unused then. As Replace with a new node, for less. Must be the last call. Returns true.
  bool Become(Symbol op, const Values& operands, AttributeMap attrs = {});
  // Gives this node or a neighbour another operand.
  void SetInput(Node& node, size_t i, Value* value);
  // Replaces all uses of a value by another one; the names of graph outputs stay.
  void ReplaceUses(Value* from, Value* to);
  // Must be called for a node that was changed in place, in its attributes for example: infers its
  // types again, and puts it and its neighbours into the worklist.
  void Touch(Node& node);

 private:
  friend absl::StatusOr<int64_t> RunRules(std::string_view, Graph&, const PassContext&);
  // Names the new values, if the node itself was kept.
  void Finish();
  // Erases the new nodes; returns whether there were any.
  bool TakeBack();
  Node& node_;
  Worklist& work_;
  const PassContext& context_;
  Builder builder_;
  bool hinted_ = false;  // whether b() was called
  bool finished_ = false;
};

using RuleFn = absl::StatusOr<bool> (*)(Rewriter&);
using OpTest = bool (*)(const OpDef& op);

// The producers that a rule is about: ops by name, or all ops of which `which` is true. Empty: the
// rule is about all nodes of its op.
struct Producers {
  Producers() = default;
  Producers(std::initializer_list<std::string_view> ops) : names(ops) {}   // NOLINT
  Producers(std::vector<std::string_view> ops) : names(std::move(ops)) {}  // NOLINT
  Producers(OpTest test) : which(test) {}                                  // NOLINT
  std::vector<std::string_view> names;
  OpTest which = nullptr;
};

// Whether the pass has rules for the op.
bool HasRules(std::string_view pass, Symbol op);
bool RegisterRule(std::string_view pass, std::string_view op, RuleFn rule,
                  const Producers& producers = {}, SourcePlace place = SourcePlace::Here());
// A rule for every op of which `which` is true.
bool RegisterRuleOfOps(std::string_view pass, OpTest which, RuleFn rule,
                       const Producers& producers = {}, SourcePlace place = SourcePlace::Here());
// Runs the rules of a pass until none changes anything (bounded by the size of the graph), and
// returns how many changes they made. Without an index in the context the rules' lists of producers
// are ignored, and rules are called for all nodes of their ops: for tests.
absl::StatusOr<int64_t> RunRules(std::string_view pass, Graph& graph, const PassContext& context);

#define X2IR_RULE(pass, op, ...)                                             \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_rule_, __COUNTER__) = \
      ::x2ir::RegisterRule(#pass, #op, __VA_ARGS__)
#define X2IR_RULE_OF_OPS(pass, which, ...)                                   \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_rule_, __COUNTER__) = \
      ::x2ir::RegisterRuleOfOps(#pass, which, __VA_ARGS__)
#define X2IR_RULES_PASS(name, doc)                                                    \
  X2IR_PASS(name, doc, [](::x2ir::Graph& graph, const ::x2ir::PassContext& context) { \
    return ::x2ir::RunRules(#name, graph, context);                                   \
  })

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_RULES_H_
