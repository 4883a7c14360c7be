// Pools as Caffe has them: sizes are rounded up unless a layer says otherwise, no window begins
// behind the image and its padding, and a mean counts the padding at both ends but nothing behind
// it. ncnn and Caffe2 kept these rules.
#ifndef X2IR_HANDLERS_CAFFE_POOL_H_
#define X2IR_HANDLERS_CAFFE_POOL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

struct CaffePool {
  std::vector<int64_t> kernel, strides, begins, ends;  // an element a spatial axis
  bool round_up = true;
  bool count_padding = true;  // in a mean
};

// x [batch, channels, spatial axes...]. Unimplemented where the size of an axis is not known and
// what its last window sees depends on it.
Expr CaffeMaxPool(NodeReader& a, const Expr& x, const CaffePool& pool);
Expr CaffeMeanPool(NodeReader& a, const Expr& x, const CaffePool& pool);
// How many elements are behind the image at the end of each axis, by the sizes of all windows.
std::vector<int64_t> CaffeEnds(NodeReader& a, const Expr& x, const CaffePool& pool);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_CAFFE_POOL_H_
