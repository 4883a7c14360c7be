// Finds errors in the rows of a dialect without running them. For a test by the author of a
// dialect:
//
//   EXPECT_THAT(x2ir::ValidateDialect("toy"), IsEmpty());
#ifndef X2IR_CORE_VALIDATE_H_
#define X2IR_CORE_VALIDATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/core/spec.h"

namespace X2IR_API x2ir {

// Everything that is wrong with what is registered for a dialect, and with all registrations, each
// with its place in the source: IR ops that do not exist, attributes and operands that a lens names
// and the op does not have, forms that overlap, duplicates. Empty if there is no error.
std::vector<std::string> ValidateDialect(std::string_view name);
// The same of one form, whether it is registered or not.
std::vector<std::string> ValidateForm(const Form& form);

// Whether a form is registered for the dialect.
bool HasForms(Symbol dialect);

}  // namespace x2ir

#endif  // X2IR_CORE_VALIDATE_H_
