// StableHLO: slices at computed places.
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/slices.h"
#include "x2ir/handlers/stablehlo/windows.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Expr PermutedTo(const Expr& x, const std::vector<int64_t>& perm) {
  return std::is_sorted(perm.begin(), perm.end()) ? x : Transpose(x, perm);
}

// Whether each index picks one element, along one axis, at its own place along all others.
bool IsAlongOneAxis(const Slices& s, const SliceNumbers& n, int64_t rank) {
  if (n.index_map.size() != 1 || s.indices_rank != rank || !s.offset_dims.empty()) return false;
  const int64_t axis = n.index_map[0];
  if (!s.axes[static_cast<size_t>(axis)].start) return false;
  for (size_t i = 0; i < n.batching.size(); ++i) {
    const int64_t along = n.indices_batching[i] - (n.indices_batching[i] > n.vector_dim ? 1 : 0);
    if (along != n.batching[i]) return false;
  }
  return static_cast<int64_t>(n.batching.size()) == rank - 1;
}

absl::StatusOr<Value*> GatherSlices(StablehloArgs& a, const std::vector<Size>& sizes) {
  a.Ignore("indices_are_sorted");
  const SliceNumbers n = {a.Ints("offset_dims"),           a.Ints("collapsed_slice_dims"),
                          a.Ints("operand_batching_dims"), a.Ints("start_indices_batching_dims"),
                          a.Ints("start_index_map"),       a.Int("index_vector_dim", 0)};
  const Expr x = a.in(0), indices = a.in(1);
  const int64_t rank = x.rank();
  if (static_cast<int64_t>(sizes.size()) != rank) {
    return Invalid(sizes.size(), " sizes of a slice of a tensor of rank ", rank);
  }
  for (int64_t i = 0; i < rank; ++i) {
    const Size& size = sizes[static_cast<size_t>(i)];
    const Dim dim = DimAt(x, i);
    if (size.number && (*size.number < 0 || (dim.is_static() && *size.number > dim.value()))) {
      return Invalid("a slice of ", *size.number, " elements of axis ", i, ", which has ",
                     dim.is_static() ? StrCat(dim.value()) : "an unknown number");
    }
  }
  if (const Shape* shape = a.out_type().shape(); shape && shape->is_static()) {
    if (const std::optional<Expr> empty = EmptyResult(a)) return *empty;
  }
  const Slices s = SlicesOf(a, x, indices, n, sizes, true);
  if (IsAlongOneAxis(s, n, rank)) {
    return GatherElements(x, *s.axes[static_cast<size_t>(n.index_map[0])].start, n.index_map[0]);
  }
  const std::vector<int64_t> indexed = s.Axes(false), whole = s.Axes(true), windows = s.Windows();
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < s.indices_rank; ++i) picked.push_back(-1 - i);
  picked.insert(picked.end(), windows.begin(), windows.end());
  const Expr numbers = RowNumbersOf(x, s);
  if (indexed.size() == 1) {
    std::vector<int64_t> source;
    for (int64_t i = 0; i < rank; ++i) {
      if (i == indexed[0]) {
        source.insert(source.end(), picked.begin(), picked.end());
      } else {
        source.push_back(i);
      }
    }
    return PermutedTo(Gather(x, numbers, indexed[0]), ResultOrder(a, s, source));
  }
  picked.insert(picked.end(), whole.begin(), whole.end());
  return PermutedTo(Gather(AsRows(x, s), numbers, 0), ResultOrder(a, s, picked));
}

absl::StatusOr<Value*> FromGather(StablehloArgs& a) {
  std::vector<Size> sizes;
  for (const int64_t size : a.Ints("slice_sizes")) sizes.emplace_back(size);
  return GatherSlices(a, sizes);
}

// Rows of the axis `dim`; the first `batch_dims` axes of both operands go together.
absl::StatusOr<Values> FromTorchIndexSelect(StablehloArgs& a) {
  const int64_t rank = a.RankOf(0), indices_rank = a.RankOf(1);
  const int64_t dim = a.Int("dim", 0), batches = a.Int("batch_dims", 0);
  if (batches < 0 || batches > indices_rank || dim < batches || dim >= rank) {
    return Invalid("axis ", dim, " of a tensor of rank ", rank, " with ", batches,
                   " axes of batches");
  }
  std::vector<int64_t> batching, offset, sizes;
  for (int64_t i = 0; i < rank; ++i) {
    if (i < batches) batching.push_back(i);
    if (i >= batches && i != dim) offset.push_back(i < dim ? i : i - 1 + indices_rank - batches);
    const Dim size = i < batches || i == dim ? Dim(1) : (*a.in(0)->shape())[i];
    a.Require(size.is_static(), "rows of a size that is not known");
    sizes.push_back(size.is_static() ? size.value() : 0);
  }
  return AsStablehlo(a, "gather", {a.in(0), a.in(1)},
                     {{"offset_dims", offset},
                      {"collapsed_slice_dims", std::vector<int64_t>{dim}},
                      {"operand_batching_dims", batching},
                      {"start_indices_batching_dims", batching},
                      {"start_index_map", std::vector<int64_t>{dim}},
                      {"index_vector_dim", indices_rank},
                      {"slice_sizes", sizes},
                      {"indices_are_sorted", int64_t{0}}});
}

// A size that is computed is that of an axis without indices, whose slices begin at 0: a gather of
// the whole axis has them, and what is behind them is cut off.
absl::StatusOr<Value*> FromDynamicGather(StablehloArgs& a) {
  if (const auto known = a.Ints(2)) return GatherSlices(a, {known->begin(), known->end()});
  const Expr x = a.in(0), given = a.AsInt64(a.in(2));
  const int64_t rank = x.rank();
  const std::vector<int64_t> dropped = a.Ints("collapsed_slice_dims"),
                             batching = a.Ints("operand_batching_dims"),
                             indexed = a.Ints("start_index_map"), offset = a.Ints("offset_dims");
  const auto is_in = [](const std::vector<int64_t>& axes, int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  std::vector<Size> sizes, cuts;
  for (int64_t i = 0; i < rank; ++i) {
    if (is_in(dropped, i) || is_in(batching, i)) {
      sizes.emplace_back(1);
      continue;
    }
    a.Require(!is_in(indexed, i), "a computed size of slices along an axis of indices");
    sizes.emplace_back();  // the whole axis
    cuts.emplace_back(ElementAt(given, 0, i));
  }
  if (cuts.size() != offset.size()) return Invalid("offset_dims that are not one for each axis");
  X2IR_ASSIGN_OR_RETURN(Value * all, GatherSlices(a, sizes));
  Expr y(a, all);
  for (size_t i = 0; i < cuts.size(); ++i) y = Slice(y, offset[i], 0, cuts[i]);
  return y.value();
}

// --- Slices of any one place
// ----------------------------------------------------------------------

// Axis by axis: the sizes of the result are known, so they are gathered by numbers in a row.
absl::StatusOr<Value*> FromDynamicSlice(StablehloArgs& a) {
  const std::vector<int64_t> sizes = a.Ints("slice_sizes");
  const int64_t rank = a.RankOf(0);
  if (static_cast<int64_t>(sizes.size()) != rank ||
      static_cast<int64_t>(a.num_inputs()) != rank + 1) {
    return Invalid(a.num_inputs() - 1, " starts and ", sizes.size(),
                   " sizes of a slice of a tensor of rank ", rank);
  }
  Expr y = a.in(0);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    const Size whole = SizeAt(y, i);
    if (size < 0 || (whole.number && size > *whole.number)) {
      return Invalid("a slice of ", size, " elements of axis ", i);
    }
    const Expr given = a.in(static_cast<size_t>(i) + 1);
    if (whole.number == size) continue;
    const Expr start = ClampedStart(given, Minus(a, whole, size));
    if (const auto known = KnownInts(start.value()); known && known->size() == 1) {
      const int64_t last = whole.number ? *whole.number - size : INT64_MAX - size;
      const int64_t at = std::clamp<int64_t>((*known)[0], 0, last);
      if (whole.number) {
        y = Slice(y, i, at, at + size);
        continue;
      }
    }
    const Expr places = size == 1 ? Unsqueeze(start, {0}) : start + Iota(Int(a, size));
    y = Gather(y, places, i);
  }
  return y.Op("identity");
}

}  // namespace

X2IR_STABLEHLO(gather).From({{"gather", FromGather},
                             {"dynamic_gather", FromDynamicGather},
                             {"dynamic_slice", FromDynamicSlice},
                             {"torch_index_select", FromTorchIndexSelect}});

}  // namespace x2ir
