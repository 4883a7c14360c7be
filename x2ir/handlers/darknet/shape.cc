// Darknet: shapes and movement of elements.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/images.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// The last `history_size` images, this one first; before it there were none, which are zeros.
absl::StatusOr<Value*> History(DarknetArgs& a) {
  const Expr x = a.image();
  const int64_t size = a.Integer("history_size", 4);
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static() && size >= 1 && size <= 4096, "images of unknown size");
  return a
      .Op("pad", {x, a.b().Ints({0, 0, 0, 0, 0, (size - 1) * channels.value(), 0, 0}), x.Number(0)})
      .value();
}

absl::StatusOr<Value*> Route(DarknetArgs& a) {
  const int64_t groups = a.Integer("groups", 1), group = a.Integer("group_id", 0);
  a.Drop({"layers"});
  if (groups < 1 || group < 0 || group >= groups) return Invalid("group ", group, " of ", groups);
  std::vector<Value*> parts;
  for (size_t i = 0; i < a.num_values(); ++i) {
    const Expr x = a.image(i);
    const Dim channels = DimAt(x, 1);
    a.Require(groups == 1 || channels.is_static(), "groups of an unknown number of channels");
    const int64_t part = groups == 1 ? 0 : channels.value() / groups;
    parts.push_back(groups == 1 ? x : Slice(x, 1, Size(part * group), Size(part * (group + 1))));
  }
  if (parts.size() == 1) return a.Op("identity", {parts[0]}).value();
  return Concat(a, parts, 1).value();
}

absl::StatusOr<Value*> Reorg(DarknetArgs& a) {
  a.RefuseAll({"flatten", "extra"});
  return Reorganized(a, a.image(), a.Integer("stride", 1), a.Flag("reverse", false));
}

absl::StatusOr<Value*> Reorg3d(DarknetArgs& a) {
  const int64_t stride = a.Integer("stride", 1);
  a.Require(stride >= 1, "a stride below 1");
  if (a.Flag("reverse", false)) {
    return a.Op("depth_to_space", {a.image()}, {{"blocksize", stride}, {"mode", "DCR"}}).value();
  }
  return a.Op("space_to_depth", {a.image()}, {{"blocksize", stride}}).value();
}

// The middle; colours from 0 to 1 become those from -1 to 1, unless it says noadjust.
absl::StatusOr<Value*> Crop(DarknetArgs& a) {
  const int64_t height = a.Integer("crop_height", 1), width = a.Integer("crop_width", 1);
  const bool adjust = !a.Flag("noadjust", false);
  a.Drop({"flip", "angle", "saturation", "exposure", "shift"});
  const auto sizes = KnownSizes(a.image(), 2, 4);
  a.Require(sizes && (*sizes)[0] >= height && (*sizes)[1] >= width, "a part larger than the image");
  const int64_t top = ((*sizes)[0] - height) / 2, left = ((*sizes)[1] - width) / 2;
  const Expr part =
      Slice(Slice(a.image(), 2, Size(top), Size(top + height)), 3, Size(left), Size(left + width));
  return (adjust ? part * 2.0 - 1.0 : part).value();
}

}  // namespace

X2IR_DARKNET(pad).From("history", History);
X2IR_DARKNET(concat).From("route", Route);
X2IR_DARKNET(space_to_depth).From({{"reorg", Reorg}, {"reorg3d", Reorg3d}});
X2IR_DARKNET(slice).From("crop", Crop);

}  // namespace x2ir
