#include "x2ir/optimizer/recurrent_step.h"

#include <algorithm>
#include <array>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"

namespace x2ir {

namespace {

// The number of columns of [batch, columns]; else -1.
int64_t ColumnsOf(const Value* value) {
  const Shape* shape = value ? value->shape() : nullptr;
  return shape && shape->rank() == 2 && (*shape)[1].is_static() ? (*shape)[1].value() : -1;
}

int64_t ElementsOf(const Value& value) {
  if (!value.shape()) return -1;
  int64_t count = 1;
  for (const Dim& dim : value.shape()->dims()) {
    if (!dim.is_static() || dim.value() < 1 || dim.value() > (int64_t{1} << 31) / count) return -1;
    count *= dim.value();
  }
  return count;
}

struct ActivationName {
  std::string_view op, name;
  bool is_gate;
};
constexpr ActivationName kActivationNames[] = {{"sigmoid", "Sigmoid", true},
                                               {"hard_sigmoid", "HardSigmoid", true},
                                               {"tanh", "Tanh", false},
                                               {"relu", "Relu", false}};

}  // namespace

// Reads the graph from its results to its operands.
class StepMatcher {
 public:
  StepMatcher(const Graph& graph, const std::vector<StepState>& states, const StepInputOf& input_of)
      : graph_(graph), states_(states), input_of_(input_of) {}

  std::optional<RecurrentStep> Run() {
    step_.units_ = ColumnsOf(states_[0].before);
    for (const StepState& state : states_) {
      if (state.before->dtype() != DType::kFloat32 || ColumnsOf(state.before) != step_.units_ ||
          ColumnsOf(state.after) != step_.units_) {
        return std::nullopt;
      }
    }
    if (step_.units_ < 1) return std::nullopt;
    const bool matches = states_.size() == 2 ? Lstm() : Gru() || Rnn();
    if (!matches || !seen_input_ || !HasAllWeights()) return std::nullopt;
    return std::move(step_);
  }

 private:
  using Gate = RecurrentStep::Gate;
  // A value after an activation, or columns of it from one on.
  struct Activated {
    const Value* sum;
    RecurrentActivation by;
    bool is_gate;
    int64_t from = 0;
    bool negative = false;  // it is of the sum's opposite
  };

  // --- Nodes ----------------------------------------------------------------------------------

  const Node* By(const Value*& value, std::string_view op) const {
    value = WithoutIdentities(value);
    const Node* node = value ? value->producer() : nullptr;
    return node && node->Is(op) && node->graph() == &graph_ ? node : nullptr;
  }
  bool IsState(size_t i, const Value* value) const {
    return WithoutIdentities(value) == states_[i].before;
  }
  // A value of the outer graphs, or a constant of this one.
  bool IsOutside(const Value* value) const {
    return value->graph() != &graph_ || value->fixed_constant();
  }

  std::optional<Activated> Activation(const Value* value) const {
    if (ColumnsOf(value) != step_.units_) return std::nullopt;  // one column would be broadcast
    int64_t from = 0;
    for (const char* op : {"slice", "split"}) {
      const int64_t columns = ColumnsOf(value);
      const Node* part = By(value, op);
      const auto start = part ? StartOf(*part, value) : std::nullopt;
      if (!start || columns < 0) continue;
      from += *start;
      value = part->input(0);
    }
    for (const auto& [op, name, is_gate] : kActivationNames) {
      const Node* node = By(value, op);
      if (!node) continue;
      Activated result{node->input(0), {std::string(name)}, is_gate, from};
      if (op == "hard_sigmoid") {
        result.by.alpha = static_cast<float>(node->attrs().Float("alpha"));
        result.by.beta = static_cast<float>(node->attrs().Float("beta"));
      }
      return result;
    }
    return std::nullopt;
  }
  std::optional<Activated> OpenGate(const Value* value) const {
    auto gate = Activation(value);
    return gate && gate->is_gate ? gate : std::nullopt;
  }
  // The x of 1 - x.
  const Value* BesideOne(const Value* value) const {
    const Node* node = By(value, "sub");
    const auto one = node ? Pattern::Number(node->input(0), node->input(1)) : std::nullopt;
    return one == 1.0 ? WithoutIdentities(node->input(1)) : nullptr;
  }

  // --- Cells ----------------------------------------------------------------------------------

  bool Lstm() {
    const Value* h = states_[0].after;
    const Node* product = By(h, "mul");
    if (!product) return false;
    for (const size_t i : {0, 1}) {
      const auto output = OpenGate(product->input(i));
      const auto seen = Activation(product->input(1 - i));
      if (!output || !seen || seen->from != 0 ||
          WithoutIdentities(seen->sum) != WithoutIdentities(states_[1].after)) {
        continue;
      }
      return NextCell(*output, *seen);
    }
    return false;
  }

  bool NextCell(const Activated& output, const Activated& seen) {
    const Value* c = states_[1].after;
    const Node* sum = By(c, "add");
    for (const size_t i : {0, 1}) {
      const Value *kept = sum ? sum->input(i) : nullptr, *added = sum ? sum->input(1 - i) : nullptr;
      const Node *keeps = By(kept, "mul"), *adds = By(added, "mul");
      if (!keeps || !adds) return false;
      for (const size_t j : {0, 1}) {
        if (!IsState(1, keeps->input(j))) continue;
        const auto forget = OpenGate(keeps->input(1 - j));
        for (const size_t k : {0, 1}) {
          const auto input = OpenGate(adds->input(k));
          const auto candidate = Activation(adds->input(1 - k));
          if (!forget || !input || !candidate || input->by != forget->by ||
              input->by != output.by) {
            continue;
          }
          step_.cell_ = {"lstm", "iofg", {input->by, candidate->by, seen.by}};
          return Read('i', *input) && Read('o', output) && Read('f', *forget) &&
                 Read('g', *candidate);
        }
      }
    }
    return false;
  }

  // h' = update * h + (1 - update) * candidate.
  struct Blend {
    Activated update;
    const Value* candidate;
  };
  std::optional<Blend> MatchBlend() const {
    const Value* h = states_[0].after;
    const Node* sum = By(h, "add");
    for (const size_t i : {0, 1}) {
      if (!sum) return std::nullopt;
      const Value *one = sum->input(i), *other = sum->input(1 - i);
      const Node* product = By(one, "mul");
      for (const size_t j : {0, 1}) {
        if (!product) break;
        const Value* factor = product->input(j);
        const Value* gate = product->input(1 - j);
        if (const Node* sub = By(factor, "sub")) {
          // n + z (h - n), or h + z (n - h).
          const Value *plus = WithoutIdentities(sub->input(0)),
                      *minus = WithoutIdentities(sub->input(1));
          auto update = minus == WithoutIdentities(other) ? OpenGate(gate) : std::nullopt;
          if (update && plus == states_[0].before) return Blend{*update, minus};
          if (update && minus == states_[0].before) {
            update->negative = true;
            return Blend{*update, plus};
          }
        }
        const Node* rest = IsState(0, factor) ? By(other, "mul") : nullptr;
        for (const size_t k : {0, 1}) {
          if (!rest) break;
          const Value* beside = rest->input(k);
          if (BesideOne(beside) && BesideOne(beside) == WithoutIdentities(gate)) {
            if (const auto update = OpenGate(gate)) return Blend{*update, rest->input(1 - k)};
          }
          if (BesideOne(gate) && BesideOne(gate) == WithoutIdentities(beside)) {
            auto update = OpenGate(beside);
            if (!update) continue;
            update->negative = true;
            return Blend{*update, rest->input(1 - k)};
          }
        }
      }
    }
    return std::nullopt;
  }

  bool Gru() {
    const auto blend = MatchBlend();
    const auto candidate = blend ? Activation(blend->candidate) : std::nullopt;
    if (!candidate) return false;
    // 1 - sigmoid(x) is sigmoid(-x); of hard_sigmoid that holds for some numbers only.
    if (blend->update.negative && blend->update.by.name != "Sigmoid") return false;
    in_candidate_ = true;
    if (!Read('n', *candidate) || !reset_ || reset_->by != blend->update.by) return false;
    in_candidate_ = false;
    step_.cell_ = {"gru", "zrn", {reset_->by, candidate->by}, after_product_};
    return Read('z', blend->update) && Read('r', *reset_);
  }

  bool Rnn() {
    step_.gates_.clear();
    in_candidate_ = false;
    const auto next = Activation(states_[0].after);
    if (!next) return false;
    step_.cell_ = {"rnn", "n", {next->by}};
    return Read('n', *next);
  }

  // --- Sums -----------------------------------------------------------------------------------

  bool Read(char letter, const Activated& gate) {
    gate_ = &step_.gates_[letter];
    of_state_alone_ = false;
    nodes_left_ = kMostNodes;
    const int64_t end = gate.from + step_.units_;
    return ColumnsOf(gate.sum) >= end && Collect(gate.sum, gate.from, end, gate.negative);
  }

  // Columns [from, to) of a summand.
  bool Collect(const Value* value, int64_t from, int64_t to, bool negative) {
    value = WithoutIdentities(value);
    if (--nodes_left_ < 0 || value->dtype() != DType::kFloat32) return false;
    if (Value* vector = VectorOf(value, to)) {
      const bool is_number = ElementsOf(*vector) == 1;
      (of_state_alone_ ? gate_->state_biases : gate_->biases)
          .push_back({vector, is_number ? 0 : from, is_number ? 0 : to, negative});
      return true;
    }
    const Node* node = value->producer();
    if (!node || node->graph() != &graph_ || !node->is_ir() || ColumnsOf(value) < to) return false;
    if (node->Is("add") || node->Is("sub")) {
      // What has one row, or one column, is broadcast: only a vector may.
      for (const size_t i : {0, 1}) {
        const Value* part = WithoutIdentities(node->input(i));
        if (!VectorOf(part, ColumnsOf(value)) &&
            (ColumnsOf(part) != ColumnsOf(value) ||
             !ProvablyEqual((*part->shape())[0], (*value->shape())[0]))) {
          return false;
        }
        if (!Collect(part, from, to, negative != (i == 1 && node->Is("sub")))) return false;
      }
      return true;
    }
    if (node->Is("neg")) return Collect(node->input(0), from, to, !negative);
    if (node->Is("slice") || node->Is("split")) {
      const auto start = StartOf(*node, value);
      return start && Collect(node->input(0), *start + from, *start + to, negative);
    }
    if (node->Is("matmul") || node->Is("gemm")) return CollectProduct(*node, from, to, negative);
    if (node->Is("mul")) return CollectReset(*node, from, to, negative);
    return false;
  }

  // The vector of so many columns, or of one element, from outside, that a value is; null where it
  // is none.
  Value* VectorOf(const Value* value, int64_t columns) const {
    const Shape* wide = value->shape();
    if (!wide) return nullptr;
    const int64_t last = wide->rank() == 0 ? 1
                         : DimAt(value, wide->rank() - 1).is_static()
                             ? (*wide)[wide->rank() - 1].value()
                             : -1;
    while (!IsOutside(value)) {
      const Node* node = value->producer();
      if (!node || !(node->Is("reshape") || node->Is("unsqueeze") || node->Is("squeeze") ||
                     node->Is("expand") || node->Is("identity"))) {
        return nullptr;
      }
      value = node->input(0);
    }
    const int64_t count = ElementsOf(*value);
    return count == 1 || (count == last && count >= columns && last >= columns)
               ? const_cast<Value*>(value)
               : nullptr;
  }

  // The first column of the operand that a slice, or the part of a split, has; nullopt where it is
  // not of columns alone, one after the other.
  static std::optional<int64_t> StartOf(const Node& node, const Value* part) {
    const int64_t columns = ColumnsOf(node.input(0));
    if (columns < 1 || ColumnsOf(part) < 0 ||
        !ProvablyEqual((*node.input(0)->shape())[0], (*part->shape())[0])) {
      return std::nullopt;
    }
    if (node.Is("split")) {
      const int64_t axis = node.attrs().Int("axis");
      int64_t start = 0;
      for (const Value* output : node.outputs()) {
        if ((axis != 1 && axis != -1) || output == part) break;
        if (ColumnsOf(output) < 0) return std::nullopt;
        start += ColumnsOf(output);
      }
      return axis == 1 || axis == -1 ? std::optional(start) : std::nullopt;
    }
    const auto starts = KnownInts(node.input(1));
    const auto axes = node.input(3) ? KnownInts(node.input(3)) : std::vector<int64_t>{0, 1};
    const auto steps = node.input(4) ? KnownInts(node.input(4)) : std::vector<int64_t>(2, 1);
    if (!starts || !axes || !steps || axes->size() < starts->size() ||
        steps->size() < starts->size()) {
      return std::nullopt;
    }
    int64_t first = 0;
    for (size_t i = 0; i < starts->size(); ++i) {
      if ((*steps)[i] != 1) return std::nullopt;
      if ((*axes)[i] == 0 || (*axes)[i] == -2) continue;
      first = (*starts)[i] < 0 ? (*starts)[i] + columns : (*starts)[i];
    }
    return first >= 0 && first + ColumnsOf(part) <= columns ? std::optional(first) : std::nullopt;
  }

  bool CollectProduct(const Node& node, int64_t from, int64_t to, bool negative) {
    const AttributeMap& attrs = node.attrs();
    const bool gemm = node.Is("gemm");
    if (gemm && (attrs.Float("alpha") != 1 || attrs.Float("beta") != 1 || attrs.Int("transA"))) {
      return false;
    }
    Value* matrix = node.input(1);
    if (!IsOutside(matrix) || !IsMatrix(matrix) || ElementsOf(*matrix) < 0) return false;
    const bool transposed = gemm && attrs.Int("transB");
    const int64_t rows = (*matrix->shape())[transposed ? 1 : 0].value();
    RecurrentStep::Weights weights{matrix, transposed, 0, rows, from, to, negative};
    const Value* left = WithoutIdentities(node.input(0));
    if (ColumnsOf(left) != rows) return false;
    const Value* added = gemm ? node.input(2) : nullptr;
    if (added && !VectorOf(WithoutIdentities(added), ColumnsOf(node.output(0))) &&
        ColumnsOf(added) != ColumnsOf(node.output(0))) {
      return false;
    }
    if (const Node* both = By(left, "concat")) {
      const int64_t axis = both->attrs().Int("axis");
      if (axis != 1 && axis != -1) return false;
      weights.last = 0;
      for (size_t i = 0; i < both->num_inputs(); ++i) {
        weights.first = weights.last;
        weights.last += std::max<int64_t>(ColumnsOf(both->input(i)), 0);
        if (!Multiplied(both->input(i), weights)) return false;
      }
    } else if (!Multiplied(left, weights)) {
      return false;
    }
    return !added || Collect(added, from, to, negative);
  }

  // What is multiplied by the weights.
  bool Multiplied(const Value* left, const RecurrentStep::Weights& weights) {
    if (IsState(0, left)) {
      gate_->of_state.push_back(weights);
      return true;
    }
    if (const Node* product = in_candidate_ ? By(left, "mul") : nullptr) {
      for (const size_t i : {0, 1}) {
        if (!IsState(0, product->input(i)) || reset_) continue;
        reset_ = OpenGate(product->input(1 - i));
        after_product_ = false;
        gate_->of_reset_state.push_back(weights);
        return reset_.has_value();
      }
    }
    const auto input = of_state_alone_ ? std::nullopt : input_of_(WithoutIdentities(left));
    if (!input || (seen_input_ && !(step_.input_ == *input))) return false;
    seen_input_ = true;
    step_.input_ = *input;
    gate_->of_input.push_back(weights);
    return true;
  }

  // The reset gate times what the state gives to the candidate.
  bool CollectReset(const Node& node, int64_t from, int64_t to, bool negative) {
    if (!in_candidate_ || of_state_alone_ || reset_ || from != 0 || to != step_.units_)
      return false;
    for (const size_t i : {0, 1}) {
      const auto gate = OpenGate(node.input(i));
      if (!gate || ColumnsOf(node.input(1 - i)) != to) continue;
      reset_ = gate;
      after_product_ = true;
      of_state_alone_ = true;
      const bool done = Collect(node.input(1 - i), from, to, negative);
      of_state_alone_ = false;
      return done;
    }
    return false;
  }

  // One matrix for the input and one for the state, for each gate.
  bool HasAllWeights() const {
    for (const auto& [letter, gate] : step_.gates_) {
      const bool reset = step_.cell_.op == "gru" && letter == 'n' && !after_product_;
      if (gate.of_input.size() != 1 || gate.of_state.size() != (reset ? 0 : 1) ||
          gate.of_reset_state.size() != (reset ? 1 : 0)) {
        return false;
      }
      const Weights &one = gate.of_input[0], &first = step_.gates_.begin()->second.of_input[0];
      if (one.last - one.first != first.last - first.first) return false;
    }
    return true;
  }
  using Weights = RecurrentStep::Weights;

  static constexpr int kMostNodes = 64;  // of one gate

  const Graph& graph_;
  const std::vector<StepState>& states_;
  const StepInputOf& input_of_;
  RecurrentStep step_;
  bool seen_input_ = false;
  Gate* gate_ = nullptr;
  int nodes_left_ = 0;
  bool in_candidate_ = false;    // of a GRU
  bool of_state_alone_ = false;  // inside of what the reset gate multiplies
  std::optional<Activated> reset_;
  bool after_product_ = false;  // the reset gate multiplies h U + b, and not h
};

std::optional<RecurrentStep> RecurrentStep::Match(const Graph& graph,
                                                  const std::vector<StepState>& states,
                                                  const StepInputOf& input_of) {
  return StepMatcher(graph, states, input_of).Run();
}

}  // namespace x2ir
