// TensorFlow: borders of boxes, drawn into images. What TensorFlow's kernel does: corners are cut
// to whole pixels, a border lies on the first and last row and column of its box, later boxes hide
// earlier ones, and colours are taken in turn.
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// The colours of a call that gives none: of an image with one channel white.
Expr UsualColors(TfArgs& a, int64_t channels) {
  constexpr double kColors[][4] = {
      {1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
      {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};
  std::vector<double> numbers;
  for (const auto& color : kColors) {
    for (int64_t c = 0; c < channels; ++c) numbers.push_back(channels == 1 ? 1 : color[c]);
  }
  return NumbersAs(a, DType::kFloat32, {std::size(kColors), channels}, numbers, "colors");
}

// `x` [batch, height, width, channels], boxes [batch, n, 4]: first row, first column, last row and
// last column, each as a share of the last pixel's place.
absl::StatusOr<Value*> DrawBoxes(TfArgs& a, bool with_colors) {
  const Expr x(a, a.in(0)), boxes = Expr(a, a.in(1)).To(DType::kFloat32);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t box_rank, a.Rank(1));
  if (rank != 4 || box_rank != 3) {
    return Invalid("expected images of rank 4 and boxes of rank 3, got ", rank, " and ", box_rank);
  }
  const Size channels = SizeAt(x, 3);
  Expr colors = nullptr;
  if (with_colors) {
    colors = Expr(a, a.in(2));
    X2IR_ASSIGN_OR_RETURN(const int64_t color_rank, a.Rank(2));
    if (color_rank != 2) return Invalid("expected colors of rank 2, got ", color_rank);
    const auto count = KnownSizes(colors, 0, 1);
    if (!count) return Unimplemented("a number of colours that is not known");
    colors = (*count)[0] == 0 ? Expr(nullptr) : Slice(colors, 1, 0, channels);
  }
  if (!colors.value()) {
    if (!channels.number || *channels.number < 1 || *channels.number > 4) {
      return Unimplemented("the usual colours, of images without 1 to 4 channels");
    }
    colors = UsualColors(a, *channels.number);
  }
  // [batch, n, 1, 1] beside the places of rows [height, 1] and of columns [width].
  struct Along {
    Expr within, border;
  };
  const auto along = [&](int64_t axis) {
    const Expr size = Scalar(a, SizeAt(x, axis)), last = (size - 1).To(DType::kFloat32);
    const auto corner = [&](int64_t i) {
      return Unsqueeze((Slice(boxes, 2, i, i + 1) * last).To(DType::kInt64), {3});
    };
    const Expr first = corner(axis - 1), end = corner(axis + 1);
    const Expr place = axis == 1 ? Unsqueeze(Iota(size), {1}) : Iota(size);
    return Along{(place >= first) & (place <= end), (place == first) | (place == end)};
  };
  const Along rows = along(1), columns = along(2);
  const Expr drawn = rows.within & columns.within & (rows.border | columns.border);
  // Of each pixel the last box that is drawn there, counted from 1.
  const Expr number = Iota(Scalar(a, SizeAt(boxes, 1))) + 1;
  const Expr box = Reduce(Where(drawn, Unsqueeze(number, {1, 2}), Int(a, 0)), "reduce_max", {1});
  const Expr color = Mod(Max(box - 1, 0), Expr(Scalar(a, SizeAt(colors, 0))));
  const Expr painted = colors.To(x.dtype()).Op("gather", {color}, {{"axis", 0}});
  return Where(Unsqueeze(box > 0, {3}), painted, x).value();
}

X2IR_TF(where)
    .From("DrawBoundingBoxes", [](TfArgs& a) { return DrawBoxes(a, false); })
    .From("DrawBoundingBoxesV2", [](TfArgs& a) { return DrawBoxes(a, true); });

}  // namespace
}  // namespace x2ir
