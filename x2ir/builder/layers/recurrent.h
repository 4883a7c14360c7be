// Recurrent layers, as frameworks describe them: what their cells are, and their weights as the
// IR's ops have them (ops/rnn.cc says what these compute).
//
// A gate is a letter: of an LSTM i (input), f (forget), o (output) and g (the candidate), of a GRU
// z (update), r (reset) and n (the candidate), of a plain layer n. An order of gates is a word of
// them. The IR's are "iofg", of peepholes "iof", "zrn" and "n".
#ifndef X2IR_BUILDER_LAYERS_RECURRENT_H_
#define X2IR_BUILDER_LAYERS_RECURRENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// A function by the IR's name, with its numbers where it has any.
struct RecurrentActivation {
  std::string name;
  std::optional<float> alpha{}, beta{};
  bool operator==(const RecurrentActivation&) const = default;
};

struct RecurrentCell {
  std::string_view op;     // "lstm", "gru" or "rnn"
  std::string_view gates;  // as the framework's weights have them
  // Of one direction: of the gates (not of "rnn"), of the candidate, and of the cell ("lstm").
  std::vector<RecurrentActivation> activations;
  // "gru": the reset gate scales the product with the state, with its bias, and not the state.
  bool linear_before_reset = false;

  bool lstm() const { return op == "lstm"; }
  size_t states() const { return lstm() ? 2 : 1; }
};
// An LSTM of sigmoid and tanh.
RecurrentCell UsualLstm(std::string_view gates);
// As cuDNN has them, and who runs it: "lstm", "gru", "rnn_tanh" and "rnn_relu". Null: another name.
const RecurrentCell* CudnnCell(std::string_view mode);

// --- Weights ------------------------------------------------------------------------------------

// The place in the order `from` of each gate of the order `to`.
std::vector<int64_t> GatePlaces(std::string_view from, std::string_view to);
// Equal parts of an axis, one for each gate; rows in another order. Null stays null.
Values GateParts(Builder& b, Value* all, size_t count, int64_t axis = 0);
Value* GatesInOrder(Builder& b, Value* rows, std::string_view from, std::string_view to);
// The IR's order of an op, and rows of gates in it.
std::string_view IrOrder(std::string_view op);
Value* IrGates(Builder& b, Value* rows, const RecurrentCell& cell);
// Gates side by side along an axis, `width` numbers of each: weights of them, or their sums, which
// is what they are before their functions. Each is a slice.
struct GateSlices {
  Expr all;
  std::string_view order;
  int64_t axis, width;
  Expr operator[](char gate) const;
  Expr InOrder(std::string_view to) const;
  // After its function: tanh of candidates, sigmoid of others.
  Expr Open(char gate) const;
};
// The operand "b" of one direction, of biases that are added to the products with x and with the
// state. Null: zeros; both of them: null.
Value* BothBiases(Builder& b, Value* of_input, Value* of_state);
// Weights of each direction along a new first axis. Null where one is missing, or there are none.
Value* EachDirection(Builder& b, const std::vector<Value*>& weights);

// --- Layers -------------------------------------------------------------------------------------

// Of one or two directions, the steps first. Operands are those of the IR's op; null: left out.
struct RecurrentLayer {
  RecurrentCell cell;
  std::string_view direction = "forward";  // or "reverse", "bidirectional"
  Value *x = nullptr, *w = nullptr, *r = nullptr, *biases = nullptr, *lengths = nullptr;
  Value *h = nullptr, *c = nullptr, *peepholes = nullptr;
  AttributeMap attrs{};  // others of the op
};
// "activations" and their numbers, "direction", "linear_before_reset" of "gru", and the layer's.
AttributeMap RecurrentAttributes(const RecurrentLayer& layer);
// y, h and, of an LSTM, c, as the IR has them. `wanted`: which of them; empty: all.
Values RunRecurrent(Builder& b, const RecurrentLayer& layer, std::vector<bool> wanted = {});

// --- Networks in one buffer ---------------------------------------------------------------------

// A network as cuDNN runs it (TensorFlow's CudnnRNN, MXNet's RNN), with all parameters in one
// buffer: the matrices, layer by layer and direction by direction, those of the input before those
// of the state, gate by gate; and after all of them the biases in the same order.
struct CudnnNet {
  const RecurrentCell* cell;
  int64_t directions = 1, layers = 0, units = 0, features = 0;

  int64_t gates() const { return static_cast<int64_t>(cell->gates.size()); }
  int64_t width(int64_t layer) const { return layer == 0 ? features : units * directions; }
  int64_t biases() const { return 2 * gates() * units * layers * directions; }
  int64_t matrices() const;
};
// Invalid for sizes below 1, and for so large ones that a product of them overflows.
absl::Status CheckSizes(const CudnnNet& net);
// Invalid for a buffer that is no vector, Unimplemented for one of another length. `operand`: its
// number, for messages.
absl::Status CheckBuffer(const CudnnNet& net, const Value* buffer, size_t operand);
// Hands out pieces of the buffer, from the first to the last.
class CudnnParams {
 public:
  CudnnParams(const Expr& buffer, int64_t begin) : buffer_(buffer), at_(begin) {}
  Value* Next(std::vector<int64_t> dims);

 private:
  Expr buffer_;
  int64_t at_;
};
// The result and the last states, from `in`: x, lengths, the buffer as w, states [layers *
// directions, batch, units]. Without `time_major` the first two axes of x and of the states are the
// other way round. The operands say the sizes: Unimplemented where they are not known.
absl::StatusOr<Values> RunCudnn(Builder& b, CudnnNet net, const RecurrentLayer& in,
                                bool time_major = true);

// --- Steps --------------------------------------------------------------------------------------

struct LstmState {
  Expr h = nullptr, c = nullptr;
};
// One step: c' = f c + i g, h' = o tanh(c'). `gate`: each of them after its function.
LstmState LstmStep(const std::function<Expr(char gate)>& gate, const Expr& c);
// One step of a GRU with linear_before_reset: what x and what h give to the gates r, z and n.
Expr GruStep(const Values& of_x, const Values& of_h, const Expr& h);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_RECURRENT_H_
