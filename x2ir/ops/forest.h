// Decision trees as the evaluator walks them, made from the attributes of the ops tree_ensemble,
// tree_ensemble_regressor and tree_ensemble_classifier, and checked: a forest has no cycles, and
// all its indices are valid.
#ifndef X2IR_OPS_FOREST_H_
#define X2IR_OPS_FOREST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {

struct Forest {
  enum class Mode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };
  struct Node {
    Mode mode = Mode::kLeaf;
    bool missing_is_true = false;  // where a NaN goes, comparisons aside
    double split = 0;
    int64_t feature = 0;
    int64_t on_true = 0, on_false = 0;  // nodes; of kMember `set` besides
    size_t set = 0;
    size_t first_vote = 0, end_votes = 0;  // of a leaf
  };
  struct Vote {
    int64_t target;
    double weight;
  };
  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  std::vector<Vote> votes;                // grouped by leaf
  std::vector<std::vector<double>> sets;  // sorted
  int64_t max_feature = -1;               // -1: no node tests a feature
  int64_t max_target = -1;

  // The leaf that a row of features leads to. `x` is float or double; splits are compared in it.
  template <typename T>
  const Node& Leaf(int64_t root, const T* x) const;
};

// For the old form, where inner nodes and leaves are in one list and are named by tree and id.
// `vote` is "target" or "class": the start of the names of the attributes about votes.
absl::StatusOr<Forest> ForestById(const AttributeMap& attrs, const std::string& vote);
// For tree_ensemble, where inner nodes and leaves are in two lists and are named by position.
absl::StatusOr<Forest> ForestByPosition(const AttributeMap& attrs);

}  // namespace x2ir

#endif  // X2IR_OPS_FOREST_H_
