// Complex numbers in handlers: a call's complex operand is taken as its parts, which are real, and
// what a handler gives is put together again. All that is between is the IR op "complex", "real" or
// "imag", and ops on tensors of a complex type, which a step of import writes as real ones
// (optimizer/complex_parts.h).
#ifndef X2IR_HANDLERS_TORCH_COMPLEX_H_
#define X2IR_HANDLERS_TORCH_COMPLEX_H_

#include "x2ir/builder/complex.h"
#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

// The parts of a complex tensor; a real one has imaginary parts of 0 (rank 0). Floats of less than
// 32 bits become float32.
Complex PartsOf(const Expr& x);
Expr ComplexOf(const Complex& z);
// The parts along a last axis of 2; of a real tensor the real parts alone, along one of 1.
Expr PairsOf(const Expr& x);
Expr ComplexOfPairs(const Expr& pairs);
Expr ConjOf(const Expr& x);  // of a real tensor it is itself

// OK where the call has no complex operands and results, or its operator is known to compute the
// same by the same graph for them. Unimplemented else.
absl::Status CheckComplexCall(const Rewrite& r);
// The same of what the call became.
absl::Status CheckComplexResult(const Rewrite& r);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_COMPLEX_H_
