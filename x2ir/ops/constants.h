// Numbers used in formulas, in float64.
#ifndef X2IR_OPS_CONSTANTS_H_
#define X2IR_OPS_CONSTANTS_H_

#include <limits>
#include <numbers>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = std::numbers::pi;

}  // namespace x2ir

#endif  // X2IR_OPS_CONSTANTS_H_
