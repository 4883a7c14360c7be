// How a call of an operator is spelled in Python: a table of signatures (call_text.cc), and few
// that have a form of their own (slices, ...). Entries of a framework take precedence over both.
#ifndef X2IR_FORMATS_PYTHON_CALL_TEXT_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_CALL_TEXT_INTERNAL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "x2ir/formats/python/calls_internal.h"
#include "x2ir/formats/python/text_internal.h"

namespace x2ir::python {

struct Framework;

// A row is an operator and what is written for it:
//
//   "{self} + {other}"           an expression; arguments in braces
//   "F.elu(self, alpha=1.0)"     a function, or with "self." a method: those without a default are
//                                positional, the others are named, and left out where they are
//                                what the default says
//   "self.permute(*dims)"        a list as so many arguments
//   "F.pad(self, pad, mode='constant', value=:0.0)"
//   ""                           the framework has nothing for it
//
// "dim:axis" is the argument `axis` under the name `dim`; "stride~=1": a list of equal numbers may
// be one number; "dtype!": it is named though it has no default; "alpha+=1.0": it is written
// without a name even if it equals the default. After " ; " come arguments that change nothing. "@"
// means the device of newly created tensors; "torch." for the framework's package.
struct CallText {
  std::string_view op;
  std::string_view text;
  int precedence = kAtom;
};

struct CallContext {
  const Framework* framework;
  // A value as an expression. `number_allowed`: where it is a constant, it may be a Python number.
  std::function<Expr(const Operand&, bool number_allowed)> operand;
  std::function<Expr(const Dim&)> size;
  std::string device;  // ", device=x.device" for what is made from nothing; may be empty
  bool exact = false;  // numbers keep all their digits (of float64 tensors)
};

// What no row can say.
using CallTextFn = absl::StatusOr<Expr> (*)(const Call&, const CallContext&);
struct CallForm {
  std::string_view op;
  CallTextFn spell;
};

// Unimplemented, with the operator's name, where it cannot be spelled; FailedPrecondition where the
// framework lacks it.
absl::StatusOr<Expr> TextOfCall(const Call& call, const CallContext& context);
// As all frameworks have it.
absl::StatusOr<Expr> TextOfUsualCall(const Call& call, const CallContext& context);
absl::StatusOr<Expr> TextOfRow(const CallText& row, const Call& call, const CallContext& context);
// One argument as text.
Expr TextOfArgument(const Argument& argument, const CallContext& context, bool one_for_all = false);

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_CALL_TEXT_INTERNAL_H_
