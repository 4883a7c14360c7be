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
  const std::optional<Expr> empty = EmptyResult(a);
  if (empty) return *empty;
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

absl::StatusOr<Value*> FromDynamicGather(StablehloArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> known, a.KnownInts(2, "slice_sizes"));
  std::vector<Size> sizes(known.begin(), known.end());
  return GatherSlices(a, sizes);
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
    const Expr given = a.AsInt64(a.in(static_cast<size_t>(i) + 1));
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
                             {"dynamic_slice", FromDynamicSlice}});

}  // namespace x2ir
