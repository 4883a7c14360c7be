// The evaluator: one node, and whole graphs.
#include "x2ir/ops/eval.h"

#include "x2ir/graph_wrapper/out_of_memory.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

const Tensor& NoTensor() {
  static const Tensor* tensor = new Tensor;
  return *tensor;
}

// How often nested graphs may run in one run of the model: loops need not end.
constexpr int64_t kMaxNestedRuns = int64_t{1} << 22;

// One run of one graph; nested graphs see the scopes around them. `nested_runs` counts those of
// the whole run.
class Scope {
 public:
  Scope(const Graph& graph, const Scope* outer, int64_t* nested_runs)
      : graph_(graph), outer_(outer), nested_runs_(nested_runs) {}

  absl::StatusOr<std::vector<Datum>> Run(std::vector<Datum> inputs, const RunOptions& options) {
    if (inputs.size() != graph_.inputs().size()) {
      return Invalid("expected ", graph_.inputs().size(), " inputs, got ", inputs.size());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value* input = graph_.inputs()[i];
      if (!inputs[i].has_value() && input->constant()) inputs[i] = *input->constant();
      values_[input] = std::move(inputs[i]);
    }
    size_t index = 0;
    const auto run_inner = [this, &go_on = options.go_on](
                               const Graph& inner,
                               std::vector<Datum> args) -> absl::StatusOr<std::vector<Datum>> {
      if (++*nested_runs_ > kMaxNestedRuns) {
        return Unimplemented("nested graphs ran ", kMaxNestedRuns,
                             " times; evaluation stops there, since a loop might never end");
      }
      Scope scope(inner, this, nested_runs_);
      return scope.Run(std::move(args), {.go_on = go_on});
    };
    for (const Node* node : graph_.nodes()) {
      if (options.go_on && !options.go_on()) return absl::CancelledError("cancelled");
      if (options.on_node) options.on_node(*node, index++, graph_.num_nodes());
      std::vector<Datum> operands;
      operands.reserve(node->num_inputs());
      for (size_t i = 0; i < node->num_inputs(); ++i) {
        X2IR_ASSIGN_OR_RETURN(Datum operand, Get(node->input(i)));
        operands.push_back(std::move(operand));
      }
      Release(*node);
      auto results = EvalNode(*node, std::move(operands), run_inner);
      if (!results.ok()) return Annotate(results.status(), Describe(*node));
      for (size_t i = 0; i < node->num_outputs(); ++i) {
        const Value* output = node->output(i);
        if (output && !output->is_unused()) values_[output] = std::move((*results)[i]);
      }
    }
    std::vector<Datum> outputs;
    for (const Value* output : graph_.outputs()) {
      X2IR_ASSIGN_OR_RETURN(Datum value, Get(output));
      outputs.push_back(std::move(value));
    }
    return outputs;
  }

 private:
  absl::StatusOr<Datum> Get(const Value* value) const {
    if (!value) return Datum();
    if (const Tensor* constant = value->fixed_constant()) {
      X2IR_ASSIGN_OR_RETURN(Tensor dense, constant->ToDense());
      return Datum(std::move(dense));
    }
    for (const Scope* scope = this; scope; scope = scope->outer_) {
      if (&scope->graph_ != value->graph()) continue;
      auto it = scope->values_.find(value);
      if (it != scope->values_.end()) return it->second;
      break;
    }
    return Invalid("value '", value->name(), "' is used before it is computed");
  }

  // Forgets operands whose last use this node is, so that memory follows what is live.
  void Release(const Node& node) {
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* value = node.input(i);
      if (!value || value->graph() != &graph_ || value->is_graph_output()) continue;
      auto it = uses_left_.find(value);
      if (it == uses_left_.end()) {
        int64_t uses = 0;
        for (const Use& use : value->uses()) {
          if (use.node->graph() != &graph_) {
            uses = -1;  // a nested graph uses it, perhaps many times: kept
            break;
          }
          ++uses;
        }
        it = uses_left_.emplace(value, uses).first;
      }
      if (it->second > 0 && --it->second == 0) values_.erase(value);
    }
  }

  const Graph& graph_;
  const Scope* outer_;
  int64_t* nested_runs_;
  absl::flat_hash_map<const Value*, Datum> values_;
  absl::flat_hash_map<const Value*, int64_t> uses_left_;
};

}  // namespace

EvalContext::EvalContext(const Node& node, std::vector<Datum> inputs, Subgraph run)
    : node_(node), inputs_(std::move(inputs)), outputs_(node.num_outputs()), run_(std::move(run)) {}

const Tensor& EvalContext::input(size_t i) const {
  const Tensor* tensor = i < inputs_.size() ? inputs_[i].tensor() : nullptr;
  return tensor ? *tensor : NoTensor();
}

void EvalContext::Set(size_t i, Datum value) {
  if (i < outputs_.size()) outputs_[i] = std::move(value);
}

absl::StatusOr<std::vector<Datum>> EvalNode(const Node& node, std::vector<Datum> inputs,
                                            const EvalContext::Subgraph& run) {
  if (!node.is_ir()) {
    return Unimplemented("a foreign op (", node.dialect().str(), ") has no evaluation");
  }
  const OpDef* def = FindOp(node.op());
  if (!def) return NoSuchOp(node.op());
  if (!def->eval()) return Unimplemented("op '", node.op().str(), "' has no evaluation");
  for (size_t i = 0; i < inputs.size(); ++i) {
    Datum& input = inputs[i];
    const Tensor* tensor = input.tensor();
    if (!def->any_kind() && node.input(i) && (input.sequence() || !input.has_value())) {
      return Invalid("operand ", i, " is ", input.has_value() ? "a sequence" : "an empty optional",
                     "; expected a tensor");
    }
    if (!tensor) continue;
    if (tensor->is_sparse()) {
      X2IR_ASSIGN_OR_RETURN(input, tensor->ToDense());
      tensor = input.tensor();
    }
    input = tensor->AlignedCopyIfNeeded();
  }
  EvalContext ctx(node, std::move(inputs), run);
  X2IR_RETURN_IF_ERROR(WithinMemory([&] { return def->eval()(ctx); }));
  return std::move(ctx.outputs_);
}

absl::StatusOr<std::vector<Datum>> EvalConstantNode(const Node& node) {
  std::vector<Datum> operands;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* value = node.input(i);
    if (!value) {
      operands.emplace_back();
    } else if (value->fixed_constant()) {
      operands.emplace_back(*value->fixed_constant());
    } else {
      return CannotExpress("operand '", value->name(), "' is no constant");
    }
  }
  return EvalNode(node, std::move(operands), nullptr);
}

absl::StatusOr<std::vector<Datum>> RunGraph(const Graph& graph, std::vector<Datum> inputs,
                                            const RunOptions& options) {
  int64_t nested_runs = 0;
  Scope scope(graph, nullptr, &nested_runs);
  return WithinMemory([&] { return scope.Run(std::move(inputs), options); });
}

}  // namespace x2ir
