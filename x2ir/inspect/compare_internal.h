// The results of a comparison with the values themselves; used by compare.h.
#ifndef X2IR_INSPECT_COMPARE_INTERNAL_H_
#define X2IR_INSPECT_COMPARE_INTERNAL_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/inspect/compare.h"
#include "x2ir/inspect/match.h"

namespace x2ir {

// The allowed ratio of a node's error to that of its operands.
inline constexpr double kGrowth = 20;

struct Compared {
  const Value *value, *other;
  ValueVerdict verdict;
};

// The results, with the values themselves.
struct FoundDifferences {
  InterfaceMatch ports;
  GraphMatch match;
  std::vector<Compared> values;
  absl::flat_hash_map<const Value*, size_t> at;
  std::vector<OutputVerdict> outputs;
  std::optional<size_t> first;
};

// The nodes of the first difference, and how many: the fewer, the better it is known.
struct DifferingNodes {
  std::vector<const Node*> here, there;
  size_t size() const { return here.size() + there.size(); }
};
DifferingNodes DifferingNodesOf(const Model& ir, const Model& other, const FoundDifferences& found);

// The same for values of `ir` that other code computed.
absl::StatusOr<FoundDifferences> FindInValues(const Model& ir, const ValuesFn& theirs,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options);
absl::StatusOr<FoundDifferences> FindDifferences(const Model& ir, const Model& other,
                                                 absl::Span<const IoCase> cases,
                                                 const VerifyOptions& options);

}  // namespace x2ir

#endif  // X2IR_INSPECT_COMPARE_INTERNAL_H_
