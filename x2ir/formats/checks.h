// Checks: what a file says of its own results. A program that checks itself is read with the
// operands of its checks as further outputs of the graph, and the model says what must hold of
// them.
#ifndef X2IR_FORMATS_CHECKS_H_
#define X2IR_FORMATS_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct ResultCheck {
  enum Kind : uint8_t {
    kEqual,  // NaN equals NaN, 0 equals -0
    kNear,   // they differ by `tolerance` at most
    kClose,  // there are at least `min_ulps` and at most `max_ulps` steps between the two
  };
  Kind kind = kEqual;
  size_t actual = 0, expected = 0;  // outputs of the graph
  double tolerance = 0;
  uint64_t min_ulps = 0, max_ulps = 0;
  uint32_t line = 0;  // of the file; 0: not known
};

// An annotation of the model holds them.
void StoreChecks(Model& model, const std::vector<ResultCheck>& checks);
std::vector<ResultCheck> ChecksOf(const Model& model);  // none: the model has no such annotation

// How many checks a file has that were left out when it was read.
void StoreChecksLeftOut(Model& model, int64_t count);
int64_t ChecksLeftOut(const Model& model);

}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKS_H_
