// What two graphs do not have in common, by structure (match.h): which nodes one of them has alone,
// and what of those that are the same differs. Names of values, nodes and sizes are no difference,
// but those of inputs and outputs are.
#ifndef X2IR_INSPECT_DIFF_H_
#define X2IR_INSPECT_DIFF_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/inspect/match.h"
#include "x2ir/inspect/verify.h"

namespace X2IR_API x2ir {

// In words what one node has and the other has not: op, number and order of operands, operands that
// are constants of other numbers, attributes. Two spellings of one thing are no difference
// (spelling.h). Nested graphs are not looked into. Either may be null: then there is nothing to
// say. Constants agree within `constants`.
std::vector<std::string> DifferencesOf(const Node* x, const Node* y, const GraphMatch& match,
                                       const Tolerance& constants = {0, 0});

// A node, as the first model has it, or the other where the first has it not.
struct NodeDiff {
  enum Kind { kOnlyInFirst, kOnlyInOther, kChanged };
  Kind kind;
  std::string graph;  // the nested graph that it is in: "if \"choice\".then_branch"; or empty
  std::string op, node, value;           // value: its first result
  std::string text;                      // "y: float32[2] = relu(x)", without large constants
  std::vector<std::string> differences;  // of kChanged
};

struct ModelDiff {
  size_t same = 0;                     // nodes that both have alike
  std::vector<std::string> of_models;  // inputs, outputs, opsets
  std::vector<NodeDiff> nodes;         // in the order of the first model
  bool empty() const { return of_models.empty() && nodes.empty(); }

  // "- " what the first has alone, "+ " what the other has alone, "~ " what changed; then a sum.
  // Empty for models that are the same, but for the sum.
  std::string ToText() const;
  std::string ToJson() const;
};

// Of any dialect, both of the same. Opsets count where neither is IR. Weights are the same to the
// last digit, unless `weights` says otherwise.
ModelDiff DiffModels(const Model& first, const Model& other, const Tolerance& weights = {0, 0});
// Of IR, both optimized first, for the newest opset of a dialect: what passes make the same is no
// difference, nor is how the weights are rounded that they fold. The models are changed.
absl::StatusOr<ModelDiff> DiffOptimized(Model& first, Model& other, const std::string& dialect,
                                        const ProgressFn& progress = {});

}  // namespace x2ir

#endif  // X2IR_INSPECT_DIFF_H_
