// What the writers of both forms share: the names of ops, what the attributes of a node are in a
// file, and the folders of variables.
#ifndef X2IR_FORMATS_ONEFLOW_WRITER_INTERNAL_H_
#define X2IR_FORMATS_ONEFLOW_WRITER_INTERNAL_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/oneflow/schema.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::oneflow {

// An attribute as the table has it: with its default where the node leaves it out.
struct WrittenAttr {
  const AttrSpec* spec;
  Attribute value;
};

struct WrittenNode {
  const Node* node;
  const OpSpec* spec;
  std::string name;
  std::vector<int64_t> inputs, outputs;  // the number of values of each name of the table
  std::vector<WrittenAttr> attrs;        // by name
};

// A graph with what a file needs to know of it. Every op has a name of its own.
struct Written {
  std::string job;
  std::vector<std::pair<const Value*, std::string>> inputs, variables, outputs;  // names of ops
  std::vector<WrittenNode> nodes;
  absl::flat_hash_map<const Value*, std::string> lbns;  // "op/out_0"
};
// FailedPrecondition for what no job can hold.
absl::StatusOr<Written> PlanOf(const Model& model);

// The known sizes of a value that crosses the border of the graph.
absl::StatusOr<std::vector<int64_t>> DimsOf(const Value& value);

// Writes the variables' folders beside the file, whose text or bytes `put` appends.
absl::Status WriteFiles(const Written& plan, const Sink& sink, bool force,
                        const std::function<absl::Status(AtomicFile&)>& put);

}  // namespace x2ir::oneflow

#endif  // X2IR_FORMATS_ONEFLOW_WRITER_INTERNAL_H_
