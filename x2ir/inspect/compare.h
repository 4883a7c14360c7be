// Finds where two models of one network start to differ: both run on the same inputs, and every
// value that they both have is compared: values with equal elements (number_match.h), and values at
// the same place of the structure (match.h). The first value that differs is a result of the node
// that differs.
#ifndef X2IR_INSPECT_COMPARE_H_
#define X2IR_INSPECT_COMPARE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/inspect/match.h"
#include "x2ir/inspect/verify.h"

namespace X2IR_API x2ir {

// The error of rounding of float32 in one node, relative to the largest number.
inline constexpr double kRounding = 1e-5;

// One value that both models have, over all cases.
struct ValueVerdict {
  std::string name, other_name;  // in the two models
  std::string op, node;          // what computes it in the first one; empty: an input of it
  std::string type;       // in the first model; "float32[2], there float16" where they differ
  Comparison comparison;  // of the worst case; numbers of other types are compared as numbers
  double cosine = 1;      // of the worst case
  // The error relative to the largest number of the value; infinite if shapes differ, or values
  // that are not floats.
  double error = 0;
  double rounding = kRounding;  // the part of rounding; more if one side has fewer bits
  bool differs() const { return error > rounding; }
  // False if it differs although all values computed from it agree: an optimizer gave its name to
  // another value, for example one that a scale was moved out of.
  bool matters = true;
};

// The first node whose result differs although its operands agree.
struct Divergence {
  size_t value;               // of `values`
  const Value *here, *there;  // of the two models, which must still be there to look at it
  // The differences of the two nodes: constant operands, attributes, the order of operands. Empty:
  // none.
  std::vector<std::string> reasons;
  // The nodes between values that agree and this one, in each model, in the order of computation:
  // several nodes if one model uses one node where the other uses more.
  std::vector<const Node*> nodes_here, nodes_there;
  GraphMatch match;
};

struct ModelComparison {
  Tolerance tolerance;
  std::optional<Criterion> criterion;
  std::string note;  // what random inputs were used; else empty
  size_t values_of_first = 0, values_of_other = 0;
  std::vector<ValueVerdict> values;  // in the order in which the first model computes them
  // The limit above which an error is not rounding: at most one in 100,000 of the largest number is
  // (eight times what half precision rounds by, where one side has it), or twenty times what the
  // operands have.
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

// The same model, computed by other code: `theirs` gives the known values of `ir` for a case,
// including its outputs. Both sides of a divergence are the node of `ir`, so that CutDifference(ir,
// ir, ...) cuts it out.
using ValuesFn =
    std::function<absl::StatusOr<absl::flat_hash_map<const Value*, Datum>>(const IoCase& io)>;
absl::StatusOr<ModelComparison> CompareValues(const Model& ir, const ValuesFn& theirs,
                                              absl::Span<const IoCase> cases,
                                              const VerifyOptions& options = {});

// The part of `other` between values that agree and the first that differs, with a case: the values
// of the first model as inputs and as expected output. Of several cases it is the first in which
// the part differs.
struct DifferingPart {
  Model model;
  IoCase io;
};
absl::StatusOr<DifferingPart> CutDifference(const Model& ir, const Model& other,
                                            const Divergence& first, absl::Span<const IoCase> cases,
                                            const VerifyOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_INSPECT_COMPARE_H_
