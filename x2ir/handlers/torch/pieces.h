// Small pieces of graph that handlers of PyTorch's operators share.
#ifndef X2IR_HANDLERS_TORCH_PIECES_H_
#define X2IR_HANDLERS_TORCH_PIECES_H_

#include <cstdint>
#include <vector>

#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

// PyTorch computes float16 and bfloat16 in float32 and rounds at the end.
DType ComputeTypeOfTorch(DType t);
// A type that holds every value and that runtimes have kernels for: int32, int64, float32.
DType WideType(DType t);
// Fails for complex elements, which most of the IR's arithmetic does not know.
bool ExpectReal(TorchCall& c, const Value* x);

// A tensor of rank 0 is to most operators one of rank 1 with one element.
Value* AtLeast1d(TorchCall& c, Value* x);
// The inverse, for a result: rank 0 again where `like` has it.
Value* LikeRank(TorchCall& c, Value* x, const Value* like);

// reduce_* over axes; over none only where x has none.
Value* Reduce(TorchCall& c, Symbol op, Value* x, const std::vector<int64_t>& axes, bool keepdim);
std::vector<int64_t> AllAxes(TorchCall& c, const Value* x);
// How many elements the axes have together: int64, rank 0.
Value* CountOf(TorchCall& c, Value* x, const std::vector<int64_t>& axes);
// Whether any or every element of a bool tensor is true. Of nothing: false, true.
Value* Any(TorchCall& c, Value* x, const std::vector<int64_t>& axes, bool keepdim);
Value* All(TorchCall& c, Value* x, const std::vector<int64_t>& axes, bool keepdim);

// The least or greatest value of a type, infinities included: rank 0.
Value* Extreme(TorchCall& c, DType t, bool greatest);
// Which elements are NaN; null for types that have none.
Value* WhereNaN(TorchCall& c, Value* x);
Value* IsTrue(TorchCall& c, Value* x);  // x != 0, a bool
Value* Not(TorchCall& c, Value* x);
Value* Where(TorchCall& c, Value* condition, Value* x, Value* y);

Value* ShapeOf(TorchCall& c, Value* x);                               // int64, rank 1
Value* ShapeWith(TorchCall& c, Value* x, int64_t axis, Value* size);  // with another size there
Value* Expand(TorchCall& c, Value* x, Value* shape);                  // broadcast, both ways
Value* Flat(TorchCall& c, Value* x);
Value* ReshapeTo(TorchCall& c, Value* x, Value* shape);
Value* Concat(TorchCall& c, std::vector<Value*> parts, int64_t axis);
Value* MoveAxis(TorchCall& c, Value* x, int64_t from, int64_t to);
// 0, 1, .. n - 1: int64.
Value* Iota(TorchCall& c, Value* n);
// Rank 1 as a tensor of that rank whose axis it is.
Value* Along(TorchCall& c, Value* x, int64_t axis, int64_t rank);
Value* Slice(TorchCall& c, Value* x, int64_t axis, int64_t start, int64_t end);
Value* Slice(TorchCall& c, Value* x, int64_t axis, Value* start, Value* end, Value* step);
inline constexpr int64_t kToEnd = INT64_MAX;

// Every element in order, as PyTorch sorts: values and indices. NaN is the largest.
Values Sort(TorchCall& c, Value* x, int64_t axis, bool descending);
// The k-th smallest (from 0) of a sorted axis, which is kept.
Value* PickAt(TorchCall& c, Value* x, int64_t axis, Value* position);
Value* CumSum(TorchCall& c, Value* x, int64_t axis);

// data with updates at the indices of an axis (rank 1), combined as the reduction says.
Value* ScatterSlices(TorchCall& c, Value* data, int64_t axis, Value* index, Value* updates,
                     const char* reduction);
Value* ScatterElements(TorchCall& c, Value* data, int64_t axis, Value* index, Value* updates,
                       const char* reduction);

// sum(|x|^p)^(1/p) and its limits.
Value* VectorNorm(TorchCall& c, Value* x, double p, const std::vector<int64_t>& axes, bool keepdim);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_PIECES_H_
