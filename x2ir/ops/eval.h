// Reference evaluation of IR: correctness comes before speed. Serves constant folding, `x2ir run`,
// `x2ir verify` and the tests.
#ifndef X2IR_OPS_EVAL_H_
#define X2IR_OPS_EVAL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

class Datum;
using DatumSequence = std::vector<Datum>;
using DatumMap = std::vector<std::pair<Datum, Datum>>;  // key (rank-0 tensor), value; by key

// A value at run time: a tensor, a sequence, a map, or nothing (an empty optional).
class Datum {
 public:
  Datum() = default;                     // nothing
  Datum(Tensor t) : v_(std::move(t)) {}  // NOLINT: implicit by design
  Datum(DatumSequence s) : v_(std::make_shared<const DatumSequence>(std::move(s))) {}  // NOLINT
  explicit Datum(std::shared_ptr<const DatumMap> m) : v_(std::move(m)) {}
  bool has_value() const { return v_.index() != 0; }
  const Tensor* tensor() const { return std::get_if<Tensor>(&v_); }
  const DatumSequence* sequence() const {
    auto* p = std::get_if<std::shared_ptr<const DatumSequence>>(&v_);
    return p ? p->get() : nullptr;
  }
  const DatumMap* map() const {
    auto* p = std::get_if<std::shared_ptr<const DatumMap>>(&v_);
    return p ? p->get() : nullptr;
  }

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const DatumSequence>,
               std::shared_ptr<const DatumMap>>
      v_;
};

// The context of an EvalFn. Tensor operands are dense and aligned. Operand types were checked only
// as far as inference can: an EvalFn checks shapes and values that it relies on and returns
// InvalidArgument. It must be safe on any operands.
class EvalContext {
 public:
  using Subgraph =
      std::function<absl::StatusOr<std::vector<Datum>>(const Graph&, std::vector<Datum>)>;
  EvalContext(const Node& node, std::vector<Datum> inputs, Subgraph run);

  const Node& node() const { return node_; }
  const AttributeMap& attrs() const { return node_.attrs(); }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  bool has(size_t i) const { return node_.input(i) != nullptr; }
  bool wants(size_t i) const { return node_.output(i) != nullptr; }
  const Datum& datum(size_t i) const { return inputs_[i]; }
  const Tensor& input(size_t i) const;  // must be a tensor (checked before the call)
  DType dtype(size_t i) const { return input(i).dtype(); }
  const std::vector<int64_t>& dims(size_t i) const { return input(i).dims(); }
  void Set(size_t i, Datum value);  // ignored where the node leaves the output out
  // Sets output 0 and is OK: the end of most evaluations.
  absl::Status Return(Datum value) {
    Set(0, std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<Datum>> Run(const Graph& subgraph, std::vector<Datum> inputs) {
    return run_(subgraph, std::move(inputs));
  }

 private:
  friend absl::StatusOr<std::vector<Datum>> EvalNode(const Node&, std::vector<Datum>,
                                                     const Subgraph&);
  const Node& node_;
  std::vector<Datum> inputs_;
  std::vector<Datum> outputs_;
  Subgraph run_;
};

// Evaluates one IR node. `inputs` has node.num_inputs() entries (nothing where left out).
absl::StatusOr<std::vector<Datum>> EvalNode(const Node& node, std::vector<Datum> inputs,
                                            const EvalContext::Subgraph& run);
// One node whose operands are all constants, none a graph.
absl::StatusOr<std::vector<Datum>> EvalConstantNode(const Node& node);

struct RunOptions {
  // Called before each node of the outermost graph (progress, tracing).
  std::function<void(const Node& node, size_t index, size_t total)> on_node{};
  // Called with each used result of the nodes of the outermost graph.
  std::function<void(const Value& value, const Datum& datum)> on_value{};
  // Called before each node, also those of nested graphs: whether to continue. If not, the result
  // is Cancelled.
  std::function<bool()> go_on{};
};
// Runs a sorted IR graph. `inputs` in the graph's order; an input with a default may be
// nothing. Intermediate results are freed after their last use. Errors name the node.
absl::StatusOr<std::vector<Datum>> RunGraph(const Graph& graph, std::vector<Datum> inputs,
                                            const RunOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_OPS_EVAL_H_
