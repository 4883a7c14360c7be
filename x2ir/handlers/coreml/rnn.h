// Recurrent layers, as MIL and networks have them: weights of each gate, in MIL's or the layer's
// order, as the IR has them.
#ifndef X2IR_HANDLERS_COREML_RNN_H_
#define X2IR_HANDLERS_COREML_RNN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

// The weights of one direction, rows of gates in the IR's order.
struct DirectionWeights {
  Value *w = nullptr, *r = nullptr;
  Value* bias = nullptr;  // null: none
  // Of the state alone, where it is apart; null: none.
  Value* state_bias = nullptr;
  Value* peephole = nullptr;  // in the IR's order; null: none
};
struct MilLayer {
  RecurrentCell cell;
  Value* x = nullptr;  // [length, batch, features]
  std::vector<DirectionWeights> directions{};
  // [batch, directions * hidden]; null: zeros.
  Value *h = nullptr, *c = nullptr;
  std::string direction = "forward";
  AttributeMap attrs{};  // others of the IR's op
  // Of "lstm": the cell is held between -clip and clip.
  std::optional<double> clip{};
};
// Results as MIL has them: [length, batch, directions * hidden], and states [batch, directions *
// hidden]. What runs from the end gives its results in the order in which it makes them.
struct RecurrentResults {
  Expr y, h, c;
};
RecurrentResults RunMilLayer(NodeReader& a, const MilLayer& layer);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_RNN_H_
