// Resampling of one axis: every result is a sum of a few elements, each times a number.
#ifndef X2IR_HANDLERS_TF_TAPS_H_
#define X2IR_HANDLERS_TF_TAPS_H_

#include <cstdint>
#include <vector>

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// Elements and weights of each result, `each` of them; without weights they are 1.
struct Taps {
  std::vector<int64_t> picks;
  std::vector<float> weights;
  int64_t each = 1;
};
Value* ApplyTaps(TfArgs& a, Value* x, int64_t axis, const Taps& taps);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_TAPS_H_
