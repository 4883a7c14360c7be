// Report: what a conversion did, and everything that went wrong in it, all at once.
#ifndef X2IR_CORE_REPORT_H_
#define X2IR_CORE_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "x2ir/core/edit/interface.h"
#include "x2ir/optimizer/pass.h"

namespace X2IR_API x2ir {

// An op that could not be converted, for one reason.
struct Failure {
  std::string op;  // "onnx.com.acme::Foo"
  absl::StatusCode code;
  std::string reason;
  int64_t count = 0;
  std::vector<std::string> nodes;  // their names, the first 100,000 at most
  std::string hint;                // what to do: an option, ...
  std::vector<std::string> tried;  // forms that were tried in its place, and why they do not apply
  int64_t since_opset = 0;         // of the target: the least that can express it; 0: not known
};

struct OpCount {
  int64_t mapped = 0;   // became ops of the other dialect
  int64_t foreign = 0;  // kept as they were
  int64_t lowered = 0;  // expressed by other IR ops first
};

// Nodes by op, nested ones too: "dialect.Op"; an IR op has no dialect.
std::map<std::string, int64_t> CountOps(const Graph& graph);

struct Report {
  int64_t nodes_read = 0;
  int64_t nodes_written = 0;
  int64_t opset = 0;                   // of the default domain, where the target counts opsets
  int64_t transposes = -1;             // of the optimized IR, nested graphs aside; -1: not counted
  std::map<std::string, OpCount> ops;  // by source op
  // Nodes by op, nested graphs too: of the model as it was read, and of the one that was written,
  // each in its own dialect ("onnx.Conv"; an IR op has no dialect).
  std::map<std::string, int64_t> ops_read, ops_written;
  std::vector<Failure> failures;
  std::vector<std::string> warnings;
  std::vector<PassResult> passes;
  // Changes that counts of ops do not show, such as the weights that came from a checkpoint.
  std::vector<std::string> notes;
  std::vector<std::string> checks;  // what the result was checked by, with --check
  Interface interface;              // the changes of the source's inputs and outputs

  // The part of an import's report that also holds for the export that follows.
  Report OfBoth() &&;

  int64_t mapped() const;
  int64_t foreign() const;
  void AddFailure(const std::string& op, const std::string& node, const absl::Status& status,
                  const std::string& hint, std::vector<std::string> tried = {});
  // Removes the failures, after they were reported elsewhere.
  void ClearFailures();
  // OK without failures; else one status that lists them all, in the worst one's code.
  absl::Status ToStatus(std::string_view what) const;
  // The oldest opset at which all failed ops can be expressed; 0: it is not known for all of them.
  int64_t LeastSufficientOpset() const;
  // For people: the failures as a table of lines, each with so many nodes at most. Empty without
  // failures. `with_tried`: and what was tried in their place.
  static constexpr size_t kFewNodes = 5;
  std::string FailuresText(size_t most_nodes = kFewNodes, bool with_tried = false) const;
  std::string ToJson() const;

 private:
  // The index in `failures` of an op and a reason, and the number of reasons of an op.
  absl::flat_hash_map<std::string, size_t> failure_of_;
  absl::flat_hash_map<std::string, int> reasons_of_;
};

}  // namespace x2ir

#endif  // X2IR_CORE_REPORT_H_
