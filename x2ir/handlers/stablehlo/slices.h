// Slices of a tensor at computed places, as gathers and scatters address them.
//
// The axes of a tensor are of two kinds. Whole ones are in each slice from end to end. Along the
// others a slice begins somewhere; together they are one axis of rows, which the numbers of rows
// count through.
#ifndef X2IR_HANDLERS_STABLEHLO_SLICES_H_
#define X2IR_HANDLERS_STABLEHLO_SLICES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace X2IR_API x2ir {

// The dimension numbers of gather and scatter, in the words of gather.
struct SliceNumbers {
  std::vector<int64_t> offset_dims;  // the axes of results (or updates) that are of slices
  std::vector<int64_t> collapsed;    // the tensor's axes that are none of the slice's
  std::vector<int64_t> batching, indices_batching;
  std::vector<int64_t> index_map;  // the axis that each component of an index is of
  int64_t vector_dim;              // the axis of indices that holds the components
};

// One axis of the tensor.
struct SlicedAxis {
  bool whole = false;
  bool dropped = false;         // no axis of the slice: collapsed or batching
  Size size = 1;                // of the slice
  std::optional<Expr> start{};  // of the shape of the indices without their components; none: 0
};

struct Slices {
  std::vector<SlicedAxis> axes;
  int64_t indices_rank = 0;  // without the components
  std::vector<Size> indices_sizes{};
  std::vector<int64_t> offset_dims{};

  std::vector<int64_t> Axes(bool whole) const;
  // The axes of a slice that have an index of their own: neither whole nor dropped.
  std::vector<int64_t> Windows() const;
};

// `sizes`: of the slice along each axis of the tensor; one without a number and a value is that of
// the whole axis. `clamps`: starts are moved so that slices
// lie inside (gather); else an axis that has a start is no whole one.
Slices SlicesOf(StablehloArgs& a, const Expr& x, const Expr& indices, const SliceNumbers& n,
                const std::vector<Size>& sizes, bool clamps);

// x as [rows, whole axes...], and the reverse.
Expr AsRows(const Expr& x, const Slices& s);
Expr FromRows(const Expr& rows, const Expr& x, const Slices& s);
// The numbers of rows: [indices..., windows...].
Expr RowNumbersOf(const Expr& x, const Slices& s);
// Whether each of these lies inside the tensor; nullopt where they are all known to.
std::optional<Expr> AreInside(const Expr& x, const Slices& s);

// The order of the result's axes in terms of those of [indices..., windows..., whole axes...].
std::vector<int64_t> ResultOrder(StablehloArgs& a, const Slices& s,
                                 const std::vector<int64_t>& source_axes);

// An integer of any type as one of int64 between 0 and `last`.
Expr ClampedStart(const Expr& given, const Size& last);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_SLICES_H_
