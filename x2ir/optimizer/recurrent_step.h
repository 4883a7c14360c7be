// One step of a recurrent layer, recognized in a graph that computes it: the body of a loop.
//
// Gates are sums of products of the step's input and of the state with weights from outside of the
// graph, and of biases; products may be one for all gates, of which slices are taken, one of input
// and state side by side, or one for each. The input is the slice of one tensor, [batch, features];
// states are [batch, units]. Gates are after sigmoid or hard_sigmoid, all of them after the same;
// candidates and cells after tanh, relu or sigmoid.
//   lstm: c' = f c + i g, h' = o act(c')
//   gru:  h' = (1 - z) n + z h, also as n + z (h - n), where n is of (r h) U or of r (h U + b);
//         what multiplies h may also be 1 - z
//   rnn:  h' = act(x W + h U + b)
#ifndef X2IR_OPTIMIZER_RECURRENT_STEP_H_
#define X2IR_OPTIMIZER_RECURRENT_STEP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The tensor of which each step takes one slice.
struct StepInput {
  Value* all = nullptr;
  int64_t axis = 0;        // of the steps
  bool backwards = false;  // the last slice is that of the first step
  bool operator==(const StepInput&) const = default;
};
// Whether a value of the graph, [batch, features], is the step's slice, and of what.
using StepInputOf = std::function<std::optional<StepInput>(const Value* value)>;

struct StepState {
  const Value *before, *after;
};

class RecurrentStep {
 public:
  // `states`: the hidden one, and the cell of an LSTM. nullopt where the graph computes another
  // step.
  static std::optional<RecurrentStep> Match(const Graph& graph,
                                            const std::vector<StepState>& states,
                                            const StepInputOf& input_of);

  std::string_view op() const { return cell_.op; }
  const StepInput& input() const { return input_; }
  // The layer of such steps, with its weights, made outside of the graph: all but x, the direction
  // and the first states.
  RecurrentLayer Layer(Builder& b) const;

 private:
  friend class StepMatcher;
  // Columns [from, to) of rows [first, last) of a matrix by which something is multiplied.
  struct Weights {
    Value* matrix = nullptr;
    bool transposed = false;  // the matrix is [columns, rows]
    int64_t first = 0, last = 0, from = 0, to = 0;
    bool negative = false;
  };
  // Numbers [from, to) of a vector; both 0: the one that there is.
  struct Bias {
    Value* vector = nullptr;
    int64_t from = 0, to = 0;
    bool negative = false;
  };
  struct Gate {
    std::vector<Weights> of_input, of_state, of_reset_state;
    std::vector<Bias> biases, state_biases;
  };

  Value* Matrix(Builder& b, bool of_input) const;
  Value* Biases(Builder& b, bool of_input) const;

  RecurrentCell cell_;
  StepInput input_;
  int64_t units_ = 0;
  std::map<char, Gate> gates_;  // by letter
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_RECURRENT_STEP_H_
