// ncnn: resizing and sampling of images.

#include "x2ir/builder/layers/resize.h"

#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

// Places are (column, row, ...) from -1 to 1, in an axis after or before those of the result.
absl::StatusOr<Value*> GridSample(NcnnArgs& a) {
  static constexpr const char* kModes[] = {"linear", "nearest", "cubic"};
  static constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = a.Int(0, 1), padding = a.Int(1, 1), rank = a.RankOf();
  const bool corners = a.Flag(2, false), first = a.Flag(3, false);
  if (mode < 1 || mode > 3 || padding < 1 || padding > 3) {
    return Invalid("sample_type ", mode, ", padding_mode ", padding);
  }
  if (rank < 4 || a.RankOf(1) != rank) return Invalid("places of another rank");
  const Expr places = first ? MoveAxis(a.in(1), 1, rank - 1) : a.in(1);
  return a
      .Op("grid_sample", {a.in(0), places},
          {{"mode", kModes[mode - 1]},
           {"padding_mode", kPaddings[padding - 1]},
           {"align_corners", corners ? 1 : 0}})
      .value();
}

absl::StatusOr<Value*> Interp(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0), height = a.Int(3, 0), width = a.Int(4, 0);
  const double by_height = a.Float(1, 1), by_width = a.Float(2, 1);
  const bool corners = a.Flag(6, false);
  a.Require(!a.Has(9), "sizes that are computed");
  const bool as_other = a.Flag(5, false) || a.num_bottoms() > 1;
  if (kind < 1 || kind > 3) return Unimplemented("a resize of kind ", kind);
  Expr x = a.in(0);
  if (a.RankOf() == 2) x = Unsqueeze(x, {2, 3});
  const auto shape = x->shape();
  a.Require(shape && shape->rank() == 4, "a resize of what is no image");
  std::vector<Size> sizes = SizesAt(x, 0, 2);
  const bool given = height > 0 && width > 0;
  for (int64_t axis = 2; axis < 4; ++axis) {
    if (as_other) {
      const int64_t other = a.RankOf(1) - 4 + axis;
      sizes.push_back(SizeAt(a.in(1), other));
    } else if (given) {
      sizes.emplace_back(axis == 2 ? height : width);
    }
  }
  const Sampling sampling =
      kind == 1 ? kNearestFloor : Interpolated(kind == 2 ? "linear" : "cubic", corners);
  if (sizes.size() == 4) return ResizedTo(x, sizes, sampling).value();
  if (!(by_height > 0 && by_width > 0 && by_height < 4096 && by_width < 4096)) {
    return Invalid("a scale of ", by_height, " x ", by_width);
  }
  return ResizedBy(x, {1, 1, static_cast<float>(by_height), static_cast<float>(by_width)}, sampling)
      .value();
}

}  // namespace

X2IR_NCNN(grid_sample).From("GridSample", GridSample);
X2IR_NCNN(resize).From("Interp", Interp);

}  // namespace x2ir
