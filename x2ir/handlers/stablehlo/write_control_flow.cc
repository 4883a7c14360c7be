// StableHLO, written: branches and loops. Their regions use outer values as they are.
#include <memory>
#include <utility>

#include "x2ir/builder/nested.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

absl::StatusOr<std::vector<Type>> TensorTypes(absl::Span<const Value* const> values) {
  std::vector<Type> types;
  for (const Value* value : values) {
    if (!value->type().is_tensor() || !value->shape()) {
      return CannotExpress("values that are no tensors of known rank");
    }
    types.push_back(value->type());
  }
  return types;
}

absl::StatusOr<Values> ToIf(StablehloWriter& w) {
  std::vector<GraphPtr> branches;
  for (const char* name : {"then_branch", "else_branch"}) {
    const Graph& branch = w.attrs().SubGraph(name);
    if (!branch.inputs().empty()) return CannotExpress("branches with inputs");
    branches.push_back(branch.Clone());
  }
  const Graph& first = *branches[0];
  X2IR_ASSIGN_OR_RETURN(std::vector<Type> types, TensorTypes(first.outputs()));
  // Both branches give results of one type.
  const Graph& second = *branches[1];
  for (size_t i = 0; i < types.size(); ++i) {
    if (second.outputs()[i]->type() == types[i]) continue;
    return CannotExpress("branches that give different shapes");
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* cond = rank == 0 ? w.in(0) : w.Reshape(w.in(0), {});
  return w.HloAll("if", {cond}, {{"true_branch", branches[0]}, {"false_branch", branches[1]}},
                  std::vector<bool>(types.size(), true), types);
}

// --- Loops
// ----------------------------------------------------------------------------------------

// A loop of the IR as one of StableHLO: its variables are the number of the round, whether to go on
// where that is asked, what the IR's loop carries, and tensors that the rounds' results are put
// into.
class WhileWriter {
 public:
  explicit WhileWriter(StablehloWriter& w)
      : w_(w),
        body_(w.attrs().SubGraph("body")),
        carried_(w.num_inputs() > 2 ? w.num_inputs() - 2 : 0),
        collected_(body_.outputs().size() - 1 - carried_),
        asks_(Asks()) {}

  absl::StatusOr<Values> Write() {
    if (w_.has(0)) rounds_ = KnownInts(w_.in(0));
    X2IR_RETURN_IF_ERROR(AddVariables());
    X2IR_ASSIGN_OR_RETURN(GraphPtr cond, Condition());
    X2IR_ASSIGN_OR_RETURN(GraphPtr step, Body());
    const Values all = w_.HloAll("while", first_, {{"cond", cond}, {"body", step}},
                                 std::vector<bool>(types_.size(), true), types_);
    return Values(all.begin() + static_cast<ptrdiff_t>(Own()), all.end());
  }

 private:
  // How many variables there are before the IR's.
  size_t Own() const { return asks_ ? 2 : 1; }

  // Whether the condition ever may be false.
  bool Asks() const {
    const auto is_true = [](const Value* v) {
      const auto known = KnownTensor(*v);
      return known && known->num_elements() == 1 && known->AsInt(0) != 0;
    };
    if (w_.has(1) && !is_true(w_.in(1))) return true;
    const Value* next = body_.outputs()[0];
    while (next->producer() && next->producer()->Is("identity")) next = next->producer()->input(0);
    return !(next == body_.inputs()[1] || is_true(next));
  }

  absl::Status AddVariables() {
    if (!w_.has(0) && !asks_) return CannotExpress("a loop without an end");
    first_.push_back(w_.b().Int(0));
    if (asks_) {
      Value* start = w_.has(1) ? w_.in(1) : w_.b().Constant(Tensor::Scalar<bool>(true));
      first_.push_back(AsScalar(start));
    }
    for (size_t i = 0; i < carried_; ++i) first_.push_back(w_.in(2 + i));
    X2IR_ASSIGN_OR_RETURN(types_, TensorTypes(absl::MakeConstSpan(first_.data(), first_.size())));
    for (size_t i = 0; i < carried_; ++i) {
      const Type& next = body_.outputs()[1 + i]->type();
      if (next.is_tensor() && next == types_[Own() + i]) continue;
      return CannotExpress("a variable whose shape changes from round to round");
    }
    if (collected_ == 0) return absl::OkStatus();
    if (!rounds_ || asks_) return CannotExpress("results of an unknown number of rounds");
    for (size_t i = 0; i < collected_; ++i) {
      const Type& each = body_.outputs()[1 + carried_ + i]->type();
      const auto sizes = each.is_tensor() && each.shape() ? each.shape()->Static() : std::nullopt;
      if (!sizes) return CannotExpress("rounds that give unknown sizes");
      std::vector<int64_t> stacked = {(*rounds_)[0]};
      stacked.insert(stacked.end(), sizes->begin(), sizes->end());
      Value* zero = w_.b().Constant(Tensor::Zeros(each.dtype(), {}));
      first_.push_back(w_.Op("expand", {zero, w_.Ints(stacked)}));
      types_.push_back(
          Type::Tensor(each.dtype(), Shape(std::vector<Dim>(stacked.begin(), stacked.end()))));
    }
    return absl::OkStatus();
  }

  Value* AsScalar(Value* v) {
    return v->shape() && v->shape()->rank() == 0 ? v : w_.Reshape(v, {});
  }

  Values AddInputs(Graph& graph) const {
    Values inputs;
    for (size_t i = 0; i < types_.size(); ++i) {
      inputs.push_back(graph.AddInput(StrCat("variable_", i), types_[i]));
    }
    return inputs;
  }
  static absl::Status Name(Builder& b, std::string_view hint) {
    X2IR_RETURN_IF_ERROR(b.status());
    for (Node* node : b.made()) b.graph().NameValues(node, hint);
    return absl::OkStatus();
  }

  absl::StatusOr<GraphPtr> Condition() {
    auto graph = std::make_shared<Graph>("cond");
    Builder b(*graph, nullptr);
    const Values inputs = AddInputs(*graph);
    Value* more = nullptr;
    if (w_.has(0)) {
      Value* end = rounds_ ? b.Int((*rounds_)[0]) : AsScalar(w_.Cast(w_.in(0), DType::kInt64));
      more = b.Op("less", {inputs[0], end});
    }
    if (asks_) more = more ? b.Op("and", {more, inputs[1]}) : b.Op("identity", {inputs[1]});
    graph->AddOutput(more);
    X2IR_RETURN_IF_ERROR(Name(b, "more"));
    return graph;
  }

  absl::StatusOr<GraphPtr> Body() {
    auto graph = std::make_shared<Graph>("body");
    Builder b(*graph, nullptr);
    const Values inputs = AddInputs(*graph);
    Values given = {inputs[0], asks_ ? inputs[1] : b.Constant(Tensor::Scalar<bool>(true))};
    for (size_t i = 0; i < carried_; ++i) given.push_back(inputs[Own() + i]);
    const Values results = InlineGraph(b, body_, given);
    graph->AddOutput(b.Op("add", {inputs[0], b.Int(1)}));
    if (asks_) graph->AddOutput(results[0]);
    for (size_t i = 0; i < carried_; ++i) graph->AddOutput(results[1 + i]);
    for (size_t i = 0; i < collected_; ++i) {
      Value* stack = inputs[Own() + carried_ + i];
      Value* slice = b.Op("unsqueeze", {results[1 + carried_ + i], b.Ints({0})});
      Values operands = {stack, slice, inputs[0]};
      for (int64_t k = 1; k < stack->shape()->rank(); ++k) operands.push_back(b.Int(0));
      Value* put = b.Node(StablehloDialect::kName, "dynamic_update_slice", operands, {}, {true})[0];
      put->set_type(stack->type());
      graph->AddOutput(put);
    }
    X2IR_RETURN_IF_ERROR(Name(b, "round"));
    return graph;
  }

  StablehloWriter& w_;
  const Graph& body_;
  const size_t carried_, collected_;
  const bool asks_;
  std::optional<std::vector<int64_t>> rounds_;
  Values first_;
  std::vector<Type> types_;
};

absl::StatusOr<Values> ToWhile(StablehloWriter& w) { return WhileWriter(w).Write(); }

}  // namespace

X2IR_STABLEHLO(if).To("if", ToIf);
X2IR_STABLEHLO(loop).To("while", ToWhile);

}  // namespace x2ir
