// TensorFlow.js: blocks of images, for which it has DepthToSpace alone.
#include <vector>

#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

// [batch, rows, columns, channels] to [batch, rows / b, columns / b, b * b * channels].
absl::StatusOr<Value*> ToTfjsSpaceToDepth(TfWriter& w) {
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 4) return CannotExpress("rank ", rank);
  const Shape& shape = *w.in(0)->shape();
  for (int64_t axis = 1; axis < 4; ++axis) {
    if (!shape[axis].is_static()) return CannotExpress("an image of unknown size");
  }
  const int64_t block = w.Int("blocksize"), channels = shape[3].value();
  const int64_t rows = shape[1].value() / block, columns = shape[2].value() / block;
  const int64_t batch = shape[0].is_static() ? shape[0].value() : -1;
  Value* apart = w.Reshape(w.in(0), {batch, rows, block, columns, block, channels});
  Value* moved = w.Op("transpose", {apart}, {{"perm", Attribute::Ints{0, 1, 3, 2, 4, 5}}});
  return w.Reshape(moved, {batch, rows, columns, block * block * channels});
}

}  // namespace

X2IR_TFJS(space_to_depth).To("Reshape", ToTfjsSpaceToDepth);

}  // namespace x2ir
