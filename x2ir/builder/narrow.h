// Constants in the narrower element types of targets that have no wider ones.
#ifndef X2IR_BUILDER_NARROW_H_
#define X2IR_BUILDER_NARROW_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// A tensor of int64 as int32, of float64 as float32, of float32 as float16. Integers that int32
// does not have are FailedPrecondition, which names the constant; where `bounds`, they become the
// least or the largest int32. Finite floats stay finite: they become the largest of the type.
absl::StatusOr<Tensor> Narrowed(const Tensor& tensor, std::string_view name, bool bounds = false);

// Which ops of a dialect treat a number as a bound of a slice, for OnlyBounds.
struct BoundOps {
  std::string_view slice;                          // operands from the second on are bounds
  absl::Span<const std::string_view> steps{};      // what is beyond every size stays beyond it
  absl::Span<const std::string_view> questions{};  // comparisons
  std::string_view gather{};                       // operand 0 as it is
};

// Whether a value only says where slices begin and end, at most after such steps.
bool OnlyBounds(const Value& value, const BoundOps& ops);

}  // namespace x2ir

#endif  // X2IR_BUILDER_NARROW_H_
