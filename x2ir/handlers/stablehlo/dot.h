// Products of tensors along axes, as dot_general and convolutions have them.
#ifndef X2IR_HANDLERS_STABLEHLO_DOT_H_
#define X2IR_HANDLERS_STABLEHLO_DOT_H_

#include <cstdint>
#include <vector>

#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace X2IR_API x2ir {

struct DotSpec {
  std::vector<int64_t> lhs_batch{}, rhs_batch{}, lhs_contracting{}, rhs_contracting{};
};

// Axes of the result: the batching ones, the others of lhs, the others of rhs.
Expr DotGeneral(StablehloArgs& a, const Expr& lhs, const Expr& rhs, const DotSpec& d, DType result);

// The type that products of these are computed in: the result's, unless an operand has more digits.
DType ComputedType(DType x, DType y, DType result);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_DOT_H_
