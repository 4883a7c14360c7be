#include "x2ir/builder/empty_slices.h"

#include <vector>

#include "x2ir/ops/infer.h"

namespace x2ir {

void PutEmptyAt(NodeWriter& w, int64_t place, StridedBounds* bounds) {
  const Shape *result = w.out_type().shape(), *x = w.shape();
  const auto begin = KnownInts(bounds->begin), end = KnownInts(bounds->end),
             strides = KnownInts(bounds->strides);
  if (!result || !x || !begin || !end || !strides) return;
  std::vector<int64_t> begins = *begin, ends = *end, steps = *strides;
  for (int64_t axis = 0; axis < result->rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if ((*result)[axis] != Dim(0) || (*x)[axis] == Dim(0)) continue;
    begins[i] = ends[i] = place;
    steps[i] = 1;
    bounds->begin_mask &= ~(int64_t{1} << axis);
    bounds->end_mask &= ~(int64_t{1} << axis);
  }
  if (begins != *begin) bounds->begin = w.Int32s(begins);
  if (ends != *end) bounds->end = w.Int32s(ends);
  if (steps != *strides) bounds->strides = w.Int32s(steps);
}

}  // namespace x2ir
