// A node of lstm, gru or rnn as layers of Keras: what each direction is configured by, and its
// weights.
#ifndef X2IR_HANDLERS_KERAS_WRITE_RECURRENT_H_
#define X2IR_HANDLERS_KERAS_WRITE_RECURRENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/handlers/keras/keras.h"

namespace X2IR_API x2ir {

struct WrittenCell {
  std::string_view op, layer;  // of the IR, of Keras
  // The gates of Keras in its order, as places among those of the IR.
  std::vector<int64_t> gates;
  size_t states;
};
// Null for other ops.
const WrittenCell* WrittenCellOf(Symbol op);

// One of Keras's functions. What it is applied to is scaled and shifted first, which weights do.
struct WrittenActivation {
  std::string name;
  double scale = 1, shift = 0;
  bool changes() const { return scale != 1 || shift != 0; }
  bool operator==(const WrittenActivation&) const = default;
};

class RecurrentWriter {
 public:
  RecurrentWriter(KerasWriter& w, const WrittenCell& cell) : w_(w), cell_(cell) {}

  // FailedPrecondition for what no layer of Keras says. Must be OK before anything else is asked.
  absl::Status Check();

  struct Layer {
    AttributeMap config;
    std::vector<Value*> weights;
    std::vector<Value*> states;  // the first ones; none: zeros
  };
  // `sequences`: all steps are returned; `states`: the last states, too.
  absl::StatusOr<Layer> Direction(int64_t d, bool backwards, bool sequences, bool states);
  // Of a layer's results: the steps (or the last one), and the states if they are returned.
  std::vector<Type> ResultTypes(bool sequences, bool states) const;

 private:
  Value* Kernel(size_t operand, int64_t direction, const std::vector<WrittenActivation>& of_gates);
  Value* Bias(int64_t direction, bool apart, const std::vector<WrittenActivation>& of_gates);

  KerasWriter& w_;
  const WrittenCell& cell_;
  int64_t units_ = 0;
  std::vector<WrittenActivation> activations_;
};

// x with the batch first, of one with the steps first. A transpose that puts it second is left out.
Value* BatchFirst(Builder& b, Value* x);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_WRITE_RECURRENT_H_
