// How a call of an operator is spelled in Python: a table of signatures (spelling.cc), and few that
// have a form of their own (slices, ...).
#ifndef X2IR_FORMATS_PYTHON_SPELLING_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_SPELLING_INTERNAL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "x2ir/formats/python/calls_internal.h"
#include "x2ir/formats/python/text_internal.h"

namespace x2ir::python {

struct Speller {
  // A value as an expression. `number_allowed`: where it is a constant, it may be a Python number.
  std::function<Expr(const Operand&, bool number_allowed)> operand;
  std::function<Expr(const Dim&)> size;
  std::string device;  // ", device=x.device" for what is made from nothing; may be empty
  bool exact = false;  // numbers keep all their digits (of float64 tensors)
};

// Unimplemented, with the operator's name, where it cannot be spelled.
absl::StatusOr<Expr> Spell(const Call& call, const Speller& speller);
// One argument as text.
Expr SpellArgument(const Argument& argument, const Speller& speller, bool one_for_all = false);

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_SPELLING_INTERNAL_H_
