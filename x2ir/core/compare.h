// Where two models of one network part: both run on the same inputs, and every value that they
// both have is compared: values that hold the same (number_match.h), and those that stand in the
// same place (match.h). The first one that differs is at the node that differs.
#ifndef X2IR_CORE_COMPARE_H_
#define X2IR_CORE_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/io_file.h"
#include "x2ir/core/match.h"
#include "x2ir/core/verify.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// One value that both models have, over all cases.
struct ValueVerdict {
  std::string name, other_name;  // in the two models
  std::string op, node;          // what computes it in the first one; empty: an input of it
  std::string type;
  Comparison comparison;  // of the worst case
  double cosine = 1;      // of the two as vectors; 1 of what are no floats
  // How far off, as a part of the largest number of it; infinite where types, shapes or what are no
  // floats differ.
  double error = 0;
};

// The first node whose result differs though what it reads does not.
struct Divergence {
  size_t value;               // of `values`
  const Value *here, *there;  // of the two models, which must still be there to look at it
  // What the two nodes do not have in common: operands that are constants, attributes, the order of
  // operands. Empty: nothing of their own.
  std::vector<std::string> reasons;
  // What stands between values that agree and this one, in each model, in the order of computing:
  // several nodes where one model does in one what the other does in more.
  std::vector<const Node*> nodes_here, nodes_there;
  GraphMatch match;
};

struct ModelComparison {
  Tolerance tolerance;
  std::string note;  // what random inputs were used; else empty
  size_t values_of_first = 0, values_of_other = 0;
  std::vector<ValueVerdict> values;  // in the order in which the first model computes them
  // Where an error begins that is no rounding: at most one in 100,000 of the largest number is, or
  // twenty times what the operands have.
  std::optional<Divergence> first;
  std::vector<OutputVerdict> outputs;

  // Whether all outputs are within the tolerance.
  bool agrees() const;
  // The first difference, a table of `most` values that differ most clearly, a line for outputs.
  std::string ToText(size_t most = 20) const;
  std::string ToJson() const;
};

// Models of IR. Results of the first one are kept in memory while the other one runs.
// InvalidArgument where inputs or outputs do not match.
absl::StatusOr<ModelComparison> CompareModels(const Model& ir, const Model& other,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options = {});

// The part of `other` between values that agree and the first that differs, with a case: what the
// first model has there as inputs, and as the output that is expected. Of several cases it is the
// first in which the part differs.
struct DifferingPart {
  Model model;
  IoCase io;
};
absl::StatusOr<DifferingPart> CutDifference(const Model& ir, const Model& other,
                                            const Divergence& first, absl::Span<const IoCase> cases,
                                            const VerifyOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_CORE_COMPARE_H_
