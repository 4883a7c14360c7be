// What is wrong with the rows of a dialect, without running them. For a test of whoever writes one:
//
//   EXPECT_THAT(x2ir::ValidateDialect("toy"), IsEmpty());
#ifndef X2IR_CORE_VALIDATE_H_
#define X2IR_CORE_VALIDATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/core/spec.h"

namespace X2IR_API x2ir {

// Everything that is wrong with what is registered for a dialect, and with registrations at all, by
// the places where they stand: IR ops that do not exist, attributes and operands that a lens names
// and the op has not, forms that overlap, duplicates. Empty when all is well.
std::vector<std::string> ValidateDialect(std::string_view name);
// The same of one form, whether it is registered or not.
std::vector<std::string> ValidateForm(const Form& form);

// Whether anybody registered a form for the dialect.
bool HasForms(Symbol dialect);

}  // namespace x2ir

#endif  // X2IR_CORE_VALIDATE_H_
