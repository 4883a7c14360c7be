// Info: the content of a model, without changing it: inputs, outputs, ops, weights, opsets, and ops
// that cannot be converted.
#ifndef X2IR_INSPECT_INFO_H_
#define X2IR_INSPECT_INFO_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct ModelInfo {
  std::string format;  // its name
  std::string graph;   // its name
  std::string producer;
  int64_t ir_version = 0;  // the file version, of formats that have one; 0: not known
  std::vector<OpsetImport> opsets;

  // As in the file; missing information is added by shape inference (only by Inspect).
  struct Port {
    std::string name;
    Type type;
    bool has_default = false;
  };
  std::vector<Port> inputs, outputs;

  // What a language model's cache of earlier steps grows by with each token; 0: it has none.
  int64_t cache_bytes_per_token = 0;

  int64_t nodes = 0;                   // nested ones too
  int64_t functions = 0;               // local ones
  std::map<std::string, int64_t> ops;  // nodes by op: "dialect.Op"; an IR op has no dialect
  struct Weights {
    int64_t tensors = 0;
    int64_t elements = 0;
    int64_t bytes = 0;
  };
  std::map<std::string, Weights> weights;  // by element type
  Weights total;

  // The result of a trial conversion to IR. `conversion` is OK if it succeeds; else `report` has
  // the ops that cannot be converted.
  absl::Status conversion;
  Report report;

  std::string ToText() const;
  std::string ToJson() const;
};

// Reads a model of any format. In ToJson, a port has `type` as text, `dtype` and `shape`: a list of
// numbers, names of sizes, and null where a size is not known; null where the rank is not known, or
// it is not a tensor.
absl::StatusOr<ModelInfo> Inspect(const Source& source, const LoadOptions& options = {});
// The parts that need no conversion.
ModelInfo DescribeModel(const Model& model);

}  // namespace x2ir

#endif  // X2IR_INSPECT_INFO_H_
