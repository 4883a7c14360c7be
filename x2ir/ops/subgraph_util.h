// Shared code of if, loop, scan and sequence_map: types that hold on every path, rounds of a body,
// and tensors stacked along a new axis.
#ifndef X2IR_OPS_SUBGRAPH_UTIL_H_
#define X2IR_OPS_SUBGRAPH_UTIL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace X2IR_API x2ir {

// --- Inference ------------------------------------------------------------------------------

// The type of a value that is of one type or of the other: their common kind and element type, and
// the dims in which they agree. Beside an unknown type the kind of the other stays, since both must
// be the same. A T beside an optional(T) may be either. InvalidArgument when kinds or element types
// differ.
absl::StatusOr<Type> JoinTypes(const Type& a, const Type& b);
absl::StatusOr<std::vector<Type>> JoinTypes(const std::vector<Type>& a, const std::vector<Type>& b);

// `type` without dims and ranks.
Type WithoutShape(const Type& type);

// A body whose inputs [first, first + count) are the outputs [from, from + count) of the round
// before. `inputs` are the types of the first round; on return they hold in every round. Shapes
// that a body declares are used only if its rounds keep them. Gives the outputs' types.
struct Carried {
  size_t first, from, count;
};
absl::StatusOr<std::vector<Type>> InferRounds(InferContext& ctx, Symbol body, Carried carried,
                                              std::vector<Type>& inputs);

// InvalidArgument unless the operand may be a tensor of one element of that type.
absl::Status ExpectOneElement(const InferContext& ctx, size_t i, DType dtype, const char* name);
// InvalidArgument unless the graph has that many inputs and outputs.
absl::Status ExpectSignature(const Graph& graph, size_t inputs, size_t outputs);

// --- Evaluation -----------------------------------------------------------------------------

// Whether the only element of a bool operand is true.
absl::StatusOr<bool> BoolOf(const Datum& datum, const char* name);

// Tensors of one type and shape along a new axis; reversed: the last one first. `declared` is the
// type of the tensors if there are none: its unknown dims are 0.
absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> parts, int64_t axis, bool reversed,
                             const Type& declared);

}  // namespace x2ir

#endif  // X2IR_OPS_SUBGRAPH_UTIL_H_
