// Report: what a conversion did, and everything that went wrong in it, all at once.
#ifndef X2IR_CORE_REPORT_H_
#define X2IR_CORE_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {

// One op that could not be converted, with every reason met.
struct Failure {
  std::string op;         // "onnx.com.acme::Foo"
  absl::StatusCode code;  // of the first one
  std::string reason;     // of the first one
  int64_t count = 0;
  std::vector<std::string> nodes;  // the first few names
  std::string hint;                // "available from opset 20", ...
};

struct OpCount {
  int64_t mapped = 0;   // became ops of the other dialect
  int64_t foreign = 0;  // kept as they were
  int64_t lowered = 0;  // expressed by other IR ops first
};

struct Report {
  int64_t nodes_read = 0;
  int64_t nodes_written = 0;
  std::map<std::string, OpCount> ops;  // by source op
  std::vector<Failure> failures;
  std::vector<std::string> warnings;
  std::vector<PassResult> passes;
  std::vector<std::string> checks;  // what the result was checked by, with --check

  int64_t mapped() const;
  int64_t foreign() const;
  void AddFailure(const std::string& op, const std::string& node, const absl::Status& status,
                  const std::string& hint);
  // OK without failures; else one status that lists them all, in the worst one's code.
  absl::Status ToStatus(std::string_view what) const;
  // For people: the failures as a table of lines. Empty without failures.
  std::string FailuresText() const;
  std::string ToJson() const;
};

}  // namespace x2ir

#endif  // X2IR_CORE_REPORT_H_
