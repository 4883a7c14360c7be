#include "x2ir/handlers/stablehlo/slices.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

bool IsIn(const std::vector<int64_t>& list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

void CheckAxes(StablehloArgs& a, const std::vector<int64_t>& axes, int64_t rank) {
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= rank) a.Fail(Invalid("axis ", axis, " of a tensor of rank ", rank));
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    a.Fail(Invalid("an axis is named twice in its dimension numbers"));
  }
}

bool SameSize(const Size& x, const Size& y) {
  return x.number && y.number ? *x.number == *y.number : x.value && x.value == y.value;
}

// Whether component k of the indices is known, and between 0 and `last` everywhere.
bool IsKnownInside(const Value* indices, int64_t vector_dim, int64_t k, const Size& last) {
  if (!last.number) return false;
  const std::optional<Tensor> known = KnownTensor(*indices);
  if (!known || !IsInteger(known->dtype()) || BitWidth(known->dtype()) < 8) return false;
  const std::vector<int64_t>& dims = known->dims();
  int64_t inner = 1, count = 1;
  for (size_t i = static_cast<size_t>(vector_dim) + 1; i < dims.size(); ++i) inner *= dims[i];
  if (vector_dim < known->rank()) count = dims[static_cast<size_t>(vector_dim)];
  for (int64_t i = 0; i < known->num_elements(); ++i) {
    if (i / inner % count != k) continue;
    if (known->AsInt(i) < 0 || known->AsInt(i) > *last.number) return false;
  }
  return true;
}

// Component k of each index.
Expr ComponentOf(const Expr& indices, int64_t vector_dim, int64_t k, int64_t count) {
  if (vector_dim == indices.rank()) return indices;
  if (count == 1) return Squeeze(indices, {vector_dim});
  return Gather(indices, Int(indices.builder(), k), vector_dim);
}

// Along which axis of the indices a batching axis goes, without the components' axis.
int64_t WithoutVector(int64_t axis, int64_t vector_dim) {
  return axis > vector_dim ? axis - 1 : axis;
}

}  // namespace

std::vector<int64_t> Slices::Axes(bool whole) const {
  std::vector<int64_t> found;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].whole == whole) found.push_back(static_cast<int64_t>(i));
  }
  return found;
}
std::vector<int64_t> Slices::Windows() const {
  std::vector<int64_t> found;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].whole && !axes[i].dropped) found.push_back(static_cast<int64_t>(i));
  }
  return found;
}

Expr ClampedStart(const Expr& given, const Size& last) {
  Builder& b = given.builder();
  const bool may_be_larger = given.dtype() == DType::kUInt64;  // than all of int64
  const Expr start = (may_be_larger ? Min(given, IntegerOf(b, DType::kUInt64, INT64_MAX)) : given)
                         .To(DType::kInt64);
  if (last.number) {
    if (*last.number <= 0) return start * 0.0;
    if (const auto known = KnownInts(start.value()); known && known->size() == 1) {
      const int64_t at = std::clamp<int64_t>((*known)[0], 0, *last.number);
      if (at == (*known)[0]) return start;
    }
  }
  return Min(Max(start, Int(b, 0)), Scalar(b, last));
}

Slices SlicesOf(StablehloArgs& a, const Expr& x, const Expr& indices, const SliceNumbers& n,
                const std::vector<Size>& sizes, bool clamps) {
  const int64_t rank = x.rank(), indices_rank = indices.rank();
  const int64_t vector_dim = n.vector_dim;
  if (vector_dim < 0 || vector_dim > indices_rank) {
    a.Fail(Invalid("index_vector_dim ", vector_dim, " of indices of rank ", indices_rank));
  }
  for (const auto* axes : {&n.collapsed, &n.batching, &n.index_map}) CheckAxes(a, *axes, rank);
  CheckAxes(a, n.indices_batching, indices_rank);
  if (n.batching.size() != n.indices_batching.size()) {
    a.Fail(Invalid("operand and indices have different numbers of batching axes"));
  }
  const auto components = static_cast<int64_t>(n.index_map.size());
  const Dim stated = vector_dim == indices_rank ? Dim(1) : DimAt(indices, vector_dim);
  if (stated.is_static() && stated.value() != components) {
    a.Fail(Invalid("indices have ", stated.value(), " components, not ", components));
  }
  Slices s;
  s.offset_dims = n.offset_dims;
  for (int64_t i = 0; i < indices_rank; ++i) {
    if (i != vector_dim) s.indices_sizes.push_back(SizeAt(indices, i));
  }
  s.indices_rank = static_cast<int64_t>(s.indices_sizes.size());
  for (int64_t i = 0; i < rank; ++i) {
    SlicedAxis axis;
    const Size& given = sizes[static_cast<size_t>(i)];
    const Size whole = SizeAt(x, i);
    const bool is_all = !given.number && !given.value;
    axis.size = is_all ? whole : given;
    const auto component = std::find(n.index_map.begin(), n.index_map.end(), i);
    const auto batching = std::find(n.batching.begin(), n.batching.end(), i);
    axis.dropped = batching != n.batching.end() || IsIn(n.collapsed, i);
    if (batching != n.batching.end()) {
      const int64_t along = n.indices_batching[static_cast<size_t>(batching - n.batching.begin())];
      if (along == vector_dim) a.Fail(Invalid("components of indices are no batching axis"));
      axis.start =
          AlongAxis(Iota(Scalar(a, whole)), WithoutVector(along, vector_dim), s.indices_rank);
    } else if (component != n.index_map.end()) {
      const int64_t k = component - n.index_map.begin();
      const Size last = Minus(a, whole, axis.size);
      if (!clamps || !last.number || *last.number != 0) {
        const Expr start = ComponentOf(indices, vector_dim, k, components);
        const bool is_clamped = clamps && !IsKnownInside(indices, vector_dim, k, last);
        axis.start = is_clamped ? ClampedStart(start, last) : start.To(DType::kInt64);
      }
    }
    axis.whole = !axis.dropped && !axis.start && (is_all || SameSize(whole, axis.size));
    s.axes.push_back(std::move(axis));
  }
  return s;
}

Expr AsRows(const Expr& x, const Slices& s) {
  const std::vector<int64_t> indexed = s.Axes(false), whole = s.Axes(true);
  std::vector<int64_t> perm = indexed;
  perm.insert(perm.end(), whole.begin(), whole.end());
  const bool ordered = std::is_sorted(perm.begin(), perm.end());
  const Expr first = ordered ? x : Transpose(x, perm);
  if (indexed.size() == 1) return first;
  std::vector<Size> count, sizes = {1};
  for (const int64_t axis : indexed) count.push_back(SizeAt(x, axis));
  for (const int64_t axis : whole) sizes.push_back(SizeAt(x, axis));
  sizes[0] = Product(x.builder(), count);
  return ReshapeTo(first, sizes);
}

Expr FromRows(const Expr& rows, const Expr& x, const Slices& s) {
  const std::vector<int64_t> indexed = s.Axes(false), whole = s.Axes(true);
  std::vector<int64_t> perm = indexed;
  perm.insert(perm.end(), whole.begin(), whole.end());
  Expr y = rows;
  if (indexed.size() != 1) {
    std::vector<Size> sizes;
    for (const int64_t axis : perm) sizes.push_back(SizeAt(x, axis));
    y = ReshapeTo(rows, sizes);
  }
  if (std::is_sorted(perm.begin(), perm.end())) return y;
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  return Transpose(y, inverse);
}

namespace {

// Places along an axis, as [indices..., windows...].
Expr PlacesAlong(const Expr& x, const Slices& s, int64_t axis) {
  Builder& b = x.builder();
  const SlicedAxis& sliced = s.axes[static_cast<size_t>(axis)];
  const std::vector<int64_t> windows = s.Windows();
  const auto count = static_cast<int64_t>(windows.size());
  std::optional<Expr> places;
  if (sliced.start) places = Unsqueeze(*sliced.start, CountedFrom(s.indices_rank, count));
  const auto own = std::find(windows.begin(), windows.end(), axis);
  if (own != windows.end()) {
    const Expr offsets =
        AlongAxis(Iota(Scalar(b, sliced.size)), s.indices_rank + (own - windows.begin()),
                  s.indices_rank + count);
    places = places ? *places + offsets : offsets;
  }
  return places ? *places : Int(b, 0);
}

}  // namespace

Expr RowNumbersOf(const Expr& x, const Slices& s) {
  Builder& b = x.builder();
  std::optional<Expr> numbers;
  for (const int64_t axis : s.Axes(false)) {
    const Expr places = PlacesAlong(x, s, axis);
    numbers = numbers ? *numbers * Scalar(b, SizeAt(x, axis)) + places : places;
  }
  std::vector<Size> sizes = s.indices_sizes;
  for (const int64_t axis : s.Windows()) sizes.push_back(s.axes[static_cast<size_t>(axis)].size);
  const Expr all = numbers ? *numbers : Int(b, 0);
  // The sum of all is broadcast already, unless nothing is along some axis.
  const auto known = KnownSizes(all.value());
  std::vector<int64_t> wanted;
  for (const Size& size : sizes) wanted.push_back(size.number.value_or(-1));
  return known && *known == wanted ? all : Expand(all, Vector(b, sizes));
}

std::optional<Expr> AreInside(const Expr& x, const Slices& s) {
  std::optional<Expr> inside;
  for (const int64_t axis : s.Axes(false)) {
    const SlicedAxis& sliced = s.axes[static_cast<size_t>(axis)];
    if (!sliced.start) continue;
    const Expr places = PlacesAlong(x, s, axis);
    const Size size = SizeAt(x, axis);
    if (const auto known = KnownTensor(*places.value()); known && size.number) {
      bool all = true;
      for (int64_t i = 0; i < known->num_elements(); ++i) {
        all = all && known->AsInt(i) >= 0 && known->AsInt(i) < *size.number;
      }
      if (all) continue;
    }
    const Expr from_front = places >= 0.0, before_end = places < Scalar(x.builder(), size);
    const Expr both = from_front & before_end;
    inside = inside ? *inside & both : both;
  }
  return inside;
}

std::vector<int64_t> ResultOrder(StablehloArgs& a, const Slices& s,
                                 const std::vector<int64_t>& source_axes) {
  // Axes of the tensor that are of the slice, in their order, at offset_dims; others of the
  // indices.
  std::vector<int64_t> of_slice;
  for (size_t i = 0; i < s.axes.size(); ++i) {
    if (!s.axes[i].dropped) of_slice.push_back(static_cast<int64_t>(i));
  }
  if (of_slice.size() != s.offset_dims.size() ||
      !std::is_sorted(s.offset_dims.begin(), s.offset_dims.end())) {
    a.Fail(Invalid("its slices have ", of_slice.size(), " axes, but ", s.offset_dims.size(),
                   " axes in order are named"));
  }
  const size_t rank = s.offset_dims.size() + static_cast<size_t>(s.indices_rank);
  CheckAxes(a, s.offset_dims, static_cast<int64_t>(rank));
  // In source_axes an axis of the tensor is its number, and axis i of the indices is -1 - i.
  std::vector<int64_t> order;
  size_t slice = 0;
  int64_t index = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool is_slice =
        slice < s.offset_dims.size() && s.offset_dims[slice] == static_cast<int64_t>(i);
    const int64_t label = is_slice ? of_slice[slice++] : -1 - index++;
    const auto at = std::find(source_axes.begin(), source_axes.end(), label);
    order.push_back(at - source_axes.begin());
  }
  return order;
}

}  // namespace x2ir
