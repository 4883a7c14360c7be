// TensorFlow.js: blocks of images, for which it has DepthToSpace of floats alone.
#include <vector>

#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

struct Image {
  int64_t batch, rows, columns, channels;  // -1: a batch of unknown size
};
absl::StatusOr<Image> ImageOf(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 4) return CannotExpress("rank ", rank);
  const Shape& shape = *w.in(0)->shape();
  for (int64_t axis = 1; axis < 4; ++axis) {
    if (!shape[axis].is_static()) return CannotExpress("an image of unknown size");
  }
  return Image{shape[0].is_static() ? shape[0].value() : -1, shape[1].value(), shape[2].value(),
               shape[3].value()};
}

// [batch, rows, columns, b * b * channels] to [batch, rows * b, columns * b, channels].
absl::StatusOr<Value*> ToTfjsDepthToSpace(TfWriter& w) {
  if (w.String("mode") != "DCR") return CannotExpress("mode CRD");
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  const int64_t block = w.Int("blocksize");
  if (IsFloating(w.dtype())) {
    return w.Tf("DepthToSpace", {w.in(0)}, {{"block_size", block}, {"data_format", "NHWC"}});
  }
  X2IR_ASSIGN_OR_RETURN(const Image image, ImageOf(w));
  const int64_t channels = image.channels / (block * block);
  Value* apart =
      w.Reshape(w.in(0), {image.batch, image.rows, image.columns, block, block, channels});
  Value* moved = w.Op("transpose", {apart}, {{"perm", Attribute::Ints{0, 1, 3, 2, 4, 5}}});
  return w.Reshape(moved, {image.batch, image.rows * block, image.columns * block, channels});
}

// [batch, rows, columns, channels] to [batch, rows / b, columns / b, b * b * channels].
absl::StatusOr<Value*> ToTfjsSpaceToDepth(TfWriter& w) {
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  X2IR_ASSIGN_OR_RETURN(const Image image, ImageOf(w));
  const int64_t block = w.Int("blocksize"), channels = image.channels;
  const int64_t rows = image.rows / block, columns = image.columns / block;
  Value* apart = w.Reshape(w.in(0), {image.batch, rows, block, columns, block, channels});
  Value* moved = w.Op("transpose", {apart}, {{"perm", Attribute::Ints{0, 1, 3, 2, 4, 5}}});
  return w.Reshape(moved, {image.batch, rows, columns, block * block * channels});
}

}  // namespace

X2IR_TFJS(depth_to_space).To("DepthToSpace", ToTfjsDepthToSpace);
X2IR_TFJS(space_to_depth).To("Reshape", ToTfjsSpaceToDepth);

}  // namespace x2ir
