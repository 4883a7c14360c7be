// What the readers of both forms, text of MLIR and jobs, share: they make a list of ops, of which a
// graph is made.
#ifndef X2IR_FORMATS_ONEFLOW_READER_INTERNAL_H_
#define X2IR_FORMATS_ONEFLOW_READER_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/formats/oneflow/oneflow.h"
#include "x2ir/formats/oneflow/schema.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::oneflow {

struct RawResult {
  std::string key;  // what operands say for it; empty: it is left out
  std::string name;
  Type type{};
};
struct RawOp {
  std::string type;  // "conv2d"; of jobs "input", "variable", "output" too
  std::string name;
  std::vector<std::string> operands;  // keys; empty: left out
  std::vector<RawResult> results;
  AttributeMap attrs{};
  // Of inputs and variables.
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims{};
};

// The variables of a model, each in a folder of its own. What is wrong is collected, so that it is
// said of all at once.
class Variables {
 public:
  // `folder`: empty for that of the source.
  Variables(const Source& source, const std::string& folder);
  // Zeros of no bytes where something is wrong.
  Tensor Read(const std::string& name, DType dtype, const std::vector<int64_t>& dims);
  absl::Status status() const;

 private:
  absl::StatusOr<BlobPtr> Open(const std::string& name, std::string_view file) const;
  absl::StatusOr<Tensor> ReadOne(const std::string& name, DType dtype,
                                 const std::vector<int64_t>& dims) const;
  const Source& source_;
  std::string folder_;
  std::vector<std::string> missing_;
  absl::Status first_;  // that is not about a missing one
  size_t wrong_ = 0;
};

// `outputs`: keys of the graph's outputs, in order; nullopt: what ops of type "output" get.
absl::StatusOr<Model> MakeModel(const std::vector<RawOp>& ops,
                                const std::optional<std::vector<std::string>>& outputs,
                                std::string_view job_name, Variables& variables);

// The operands of an op (null: the table does not have it), counts[i] of each name, as RawOp has
// them: those that are left out are empty, and `attrs` gets kSegments where the op has it.
absl::StatusOr<std::vector<std::string>> PlaceOperands(const OpSpec& spec,
                                                       const std::vector<std::string>& keys,
                                                       std::vector<int64_t> counts,
                                                       AttributeMap* attrs);
// The number of operands of each name, if the file does not have it.
absl::StatusOr<std::vector<int64_t>> GuessCounts(const std::vector<OperandSpec>& operands,
                                                 size_t given, std::string_view what);
// What says where an op runs, or is said otherwise.
bool IsSystemAttr(std::string_view name);

}  // namespace x2ir::oneflow

#endif  // X2IR_FORMATS_ONEFLOW_READER_INTERNAL_H_
