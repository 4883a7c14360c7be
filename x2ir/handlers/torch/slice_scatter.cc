// A tensor with a part of it replaced: select_scatter, slice_scatter, diagonal_scatter,
// as_strided_scatter.
#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/strides.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

Values SelectScatter(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self);
  Value* src = Unsqueeze(c.Cast(c.Tensor("src"), self->dtype()), {axis});
  Value* index = Unsqueeze(c.SymInt("index"), {0});
  return {ScatterSlices({c, self}, axis, {c, index}, {c, src}, "none")};
}

Values SliceScatter(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self, 0);
  Value* src = c.Cast(c.Tensor("src"), self->dtype());
  // The same slice of the indices has the indices of src.
  Value *start = c.SymInt("start", 0), *end = c.SymInt("end", kToEnd);
  Value* index = Slice(Iota(SizeOf({c, self}, axis)), 0, start, end, c.SymInt("step", 1));
  return {ScatterSlices({c, self}, axis, {c, index}, {c, src}, "none")};
}

// src, element by element, at these places of the flat tensor.
Values PutAt(TorchCall& c, Value* self, Value* src, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& places) {
  const auto dims = KnownSizes(self, 0, c.Rank(self));
  if (!dims) return c.Fail(Unimplemented("needs sizes that are known"));
  Value* flat = Reshape({c, self}, {-1});
  Value* updates = Reshape(Expand(c.Cast(src, self->dtype()), Ints(c, sizes)),
                           {static_cast<int64_t>(places.size())});
  Value* result = ScatterElements({c, flat}, 0, Ints(c, places), {c, updates}, "none");
  return {Reshape({c, result}, *dims)};
}

Values DiagonalScatter(TorchCall& c) {
  Value *self = c.Tensor("self"), *src = c.Tensor("src");
  const int64_t offset = c.Int("offset", 0);
  const int64_t dim1 = c.Axis("dim1", self, 0), dim2 = c.Axis("dim2", self, 1);
  const auto dims = KnownSizes(self, 0, c.Rank(self));
  if (!dims) return c.Fail(Unimplemented("needs sizes that are known"));
  if (dims->size() < 2 || dim1 == dim2) return c.Fail(Invalid("expected two different axes"));
  const std::vector<int64_t> strides = ContiguousStrides(*dims);
  std::vector<int64_t> sizes, steps;
  for (size_t i = 0; i < dims->size(); ++i) {
    if (static_cast<int64_t>(i) == dim1 || static_cast<int64_t>(i) == dim2) continue;
    sizes.push_back((*dims)[i]);
    steps.push_back(strides[i]);
  }
  const int64_t rows = (*dims)[dim1], columns = (*dims)[dim2];
  if (offset < -rows || offset > columns) {
    return c.Fail(Invalid("offset ", offset, " is out of range"));
  }
  const int64_t length =
      offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
  sizes.push_back(std::max<int64_t>(length, 0));
  steps.push_back(strides[dim1] + strides[dim2]);
  const int64_t start = offset >= 0 ? offset * strides[dim2] : -offset * strides[dim1];
  return PutAt(c, self, src, sizes, PlacesOf(c, sizes, steps, length > 0 ? start : 0));
}

Values AsStridedScatter(TorchCall& c) {
  Value *self = c.Tensor("self"), *src = c.Tensor("src");
  const std::vector<int64_t> sizes = c.Ints("size"), strides = c.Ints("stride");
  return PutAt(c, self, src, sizes, ElementsAt(c, self, sizes, strides));
}

X2IR_TORCH(scatter_elements)
    .From("aten::select_scatter.default", SelectScatter)
    .From("aten::slice_scatter.default", SliceScatter)
    .From("aten::diagonal_scatter.default", DiagonalScatter)
    .From("aten::as_strided_scatter.default", AsStridedScatter);

}  // namespace
}  // namespace x2ir
