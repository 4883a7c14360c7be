// Which ops of the IR an operator of a framework becomes, for tables and documentation. Recorded
// from the conversions of all tests (tests/golden/produced_ops.py), so that it is what rows really
// make.
#ifndef X2IR_INSPECT_PRODUCED_OPS_H_
#define X2IR_INSPECT_PRODUCED_OPS_H_

#include <string>
#include <vector>

#include "x2ir/core/spec.h"

namespace X2IR_API x2ir {

// The ops of the IR that the form makes of its operator, nested graphs aside; the one that most
// nodes become first. A form without code makes its own IR op alone. Empty where no test converts
// it.
std::vector<std::string> ProducedOps(const Form& form);
// Whether the form makes the IR op that it is registered under, or writes that op.
bool MakesItsIrOp(const Form& form);

}  // namespace x2ir

#endif  // X2IR_INSPECT_PRODUCED_OPS_H_
