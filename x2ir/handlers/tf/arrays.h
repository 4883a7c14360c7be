// Small pieces of graph that handlers of TensorFlow's array ops share.
#ifndef X2IR_HANDLERS_TF_ARRAYS_H_
#define X2IR_HANDLERS_TF_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// What a constant is, also one that was handed on; null where it is none.
const Tensor* ConstantBehind(const Value* v);

// -1 (and failed) where it is not known.
int64_t RankOf(TfArgs& a, const Value* v);

// Sizes: int64, rank 1; of axes [from, to) (to < 0: all behind too).
Value* Sizes(TfArgs& a, Value* v, int64_t from = 0, int64_t to = -1);
Value* SizeAt(TfArgs& a, Value* v, int64_t axis);  // int64, rank 0
Value* JoinSizes(TfArgs& a, std::vector<Value*> parts);
Value* ReshapeTo(TfArgs& a, Value* v, Value* sizes);  // 0 is a size of 0
// The first `count` axes as one: [n, rest...].
Value* FlattenFront(TfArgs& a, Value* v, int64_t count);

Value* Unsqueeze(TfArgs& a, Value* v, std::vector<int64_t> axes);
Value* Squeeze(TfArgs& a, Value* v, std::vector<int64_t> axes);
Value* Along(TfArgs& a, Value* v, Value* indices, int64_t axis);  // gather
Value* Part(TfArgs& a, Value* v, int64_t axis, Value* from, Value* to);
Value* Where(TfArgs& a, Value* condition, Value* x, Value* y);
Value* Not(TfArgs& a, Value* v);
Value* ReduceAxis(TfArgs& a, Symbol op, Value* v, int64_t axis, bool keep = false);
// Whether any is true along an axis; of nothing none is.
Value* AnyAlong(TfArgs& a, Value* v, int64_t axis);
Value* Iota(TfArgs& a, Value* n);  // 0, 1, .. n - 1: int64

// The least or greatest finite number of a type: rank 0.
Value* Limit(TfArgs& a, DType t, bool greatest);
// What rounds sums of a type once, at the end: float32 for narrower floats, else the type.
DType SumType(DType t);

// data with updates put in (or combined: add, mul, min, max) at index tuples.
Value* ScatterNd(TfArgs& a, Value* data, Value* indices, Value* updates, Symbol reduction);
// [count, row...]: every row combined with those of its number, beginning with `first` (rank 0).
// Rows whose number is none of 0 .. count - 1 are left out.
Value* CombineRows(TfArgs& a, Value* rows, Value* numbers, Value* count, Symbol reduction,
                   Value* first);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_ARRAYS_H_
