// A Reshape that was traced with numbers, solved for sizes that have names (core/traced_sizes.h).
#ifndef X2IR_CORE_TRACING_RESHAPE_SIZES_H_
#define X2IR_CORE_TRACING_RESHAPE_SIZES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/shape.h"

namespace X2IR_API x2ir {

// Of a size that is a name times a number: which of them counts blocks of the other.
enum class SizeOrder : uint8_t { kNameFirst, kNameLast };

// A factor of the operand's sizes, from the outermost in: a name, or a number.
struct SizeFactor {
  Dim dim;
  int64_t number;  // in the trace, over 0
};

struct SolvedSize {
  Dim dim;
  std::optional<SizeOrder> order;  // where it is a name times a number
};

// The sizes of the result, which were `to` in the trace (each over 0): the factors put together in
// their order. A name is never divided. A name that was 1 in the trace goes to a size of 1, else to
// the size before it, unless the size after it is only a part of the factor that followed the name
// (heads, for example). FailedPrecondition if the sizes are not products of whole factors.
absl::StatusOr<std::vector<SolvedSize>> SolveReshape(std::vector<SizeFactor> factors,
                                                     absl::Span<const int64_t> to);

}  // namespace x2ir

#endif  // X2IR_CORE_TRACING_RESHAPE_SIZES_H_
