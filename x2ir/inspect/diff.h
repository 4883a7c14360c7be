// The differences of two graphs, by structure (match.h): nodes that only one of them has, and
// differences of matched nodes. Names of values, nodes and sizes are not differences, but those of
// inputs and outputs are.
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

// The differences of two nodes in words: op, number and order of operands, constant operands with
// other numbers, attributes. Two spellings of the same thing are not a difference (spelling.h).
// Nested graphs are not compared. Either may be null: then the result is empty. Constants agree
// within `constants`.
std::vector<std::string> DifferencesOf(const Node* x, const Node* y, const GraphMatch& match,
                                       const Tolerance& constants = {0, 0});

// A node of the first model, or of the other if the first does not have it.
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

  // "- " for nodes only in the first, "+ " for nodes only in the other, "~ " for changed nodes;
  // then a summary. Only the summary for models that are the same.
  std::string ToText() const;
  std::string ToJson() const;
};

// For any dialect, the same for both. Opsets are compared if neither is IR. Weights are the same to
// the last digit, unless `weights` says otherwise.
ModelDiff DiffModels(const Model& first, const Model& other, const Tolerance& weights = {0, 0});
// For IR: both are optimized first, for the newest opset of a dialect, so that differences which
// passes remove, and roundings of folded weights, do not count. The models are changed.
absl::StatusOr<ModelDiff> DiffOptimized(Model& first, Model& other, const std::string& dialect,
                                        const ProgressFn& progress = {});

}  // namespace x2ir

#endif  // X2IR_INSPECT_DIFF_H_
