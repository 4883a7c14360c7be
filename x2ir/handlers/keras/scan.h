// Recurrent layers step by step, with masks and any activations.
#ifndef X2IR_HANDLERS_KERAS_SCAN_H_
#define X2IR_HANDLERS_KERAS_SCAN_H_

#include <functional>
#include <vector>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/keras/keras.h"

namespace X2IR_API x2ir {

// What a layer says of the order of its steps and of what it gives.
struct RecurrentSettings {
  bool sequences = false;    // results of all steps
  bool states = false;       // the last states, too
  bool backwards = false;    // from the last step on
  bool reversed = false;     // results of all steps the other way round than they were made
  bool zero_masked = false;  // the result of a step that does not count is 0, not the one before
};
RecurrentSettings TakeRecurrentSettings(KerasArgs& a);
// States that the layer is given; none: they are zeros.
std::vector<Expr> GivenStates(KerasArgs& a);

// The states after a step, the first one is its result. x: what of the step was computed before.
using RecurrentStep =
    std::function<std::vector<Expr>(const Expr& x, const std::vector<Expr>& states)>;

// One step of an LSTM: z are the sums of its gates, c the cell before. Gives what it puts out, and
// its cell.
std::vector<Expr> KerasLstmStep(KerasArgs& a, const GateSlices& z, const Json& gate_activation,
                                const Json& activation, const Expr& c);

// x [batch, steps, ...], states [batch, ...]; mask [batch, steps] or null. Gives the result (all of
// them, or the last one), then the last states.
std::vector<Expr> ScanSteps(KerasArgs& a, const Expr& x, const std::vector<Expr>& states,
                            const Expr& mask, const RecurrentSettings& settings,
                            const RecurrentStep& step);

// The elements of an axis the other way round.
Expr Reversed(const Expr& x, int64_t axis);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_SCAN_H_
