// Rules on the operators of a target, as they are written: one operator in place of several, where
// the target has one that no op of the IR stands for.
#ifndef X2IR_CORE_WRITTEN_OPS_H_
#define X2IR_CORE_WRITTEN_OPS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/perm.h"

namespace X2IR_API x2ir {

class WrittenOps {
 public:
  // `only_computes`: whether a node of the dialect may be erased when nothing uses its results;
  // null: all may.
  explicit constexpr WrittenOps(std::string_view dialect,
                                bool (*only_computes)(const Node&) = nullptr)
      : dialect_(dialect), only_computes_(only_computes) {}

  // Whether it is that operator; false for null.
  bool Is(const Node* node, std::string_view op) const;
  // The operator that makes the value, where the value is used only there, `uses` times; else null.
  Node* MakerFor(const Graph& graph, const Value* v, std::string_view op, size_t uses = 1) const;

  // A new operator before `node`, without results.
  Node* Make(Graph& graph, Node* node, std::string_view op, std::vector<Value*> operands,
             const AttributeMap& attrs) const;
  // `made` makes the value, as its next result; what made it is left without that use.
  static void TakeResult(Graph& graph, Node* made, Value* result);
  // A new operator makes the only result of `node`, which is left without uses.
  Node* Replace(Graph& graph, Node* node, std::string_view op, std::vector<Value*> operands,
                const AttributeMap& attrs) const;
  // Erases a node without uses, and the nodes that only it used.
  void EraseWithOperands(Graph& graph, Node* node) const;
  // The users of the result of `node` use `x` instead. If the result is an output of the graph, `x`
  // takes its name. Returns false if that is not possible.
  bool PassOn(Graph& graph, Node* node, Value* x) const;

  // Small constants that are equal become one, the first, in nested graphs too; those of text stay.
  // Passes merge those of the IR, which has an attribute where the dialect may have a constant.
  static void MergeConstants(Graph& graph);

 private:
  bool MayBeErased(const Node& node) const;

  std::string_view dialect_;
  bool (*only_computes_)(const Node&);
};

// The order that a transpose makes whose operand 1 says it; nullopt where that is no constant, or
// no order.
std::optional<Perm> PermOperand(const Node& node);
// That operand, of int32: "<base>_perm".
Value* AddPermOperand(Graph& graph, std::string_view base, const Perm& p);

}  // namespace x2ir

#endif  // X2IR_CORE_WRITTEN_OPS_H_
