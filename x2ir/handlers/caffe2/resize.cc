// Caffe2: resizing and sampling of images.

#include "x2ir/builder/layers/resize.h"

#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Enlarged(Caffe2Args& a, double height, double width, bool last) {
  if (!(height > 0 && width > 0 && height < 4096 && width < 4096))
    return Invalid("a scale of this size");
  std::vector<float> each(4, 1.0f);
  each[last ? 1 : 2] = static_cast<float>(height);
  each[last ? 2 : 3] = static_cast<float>(width);
  return ResizedBy(a.in(0), each, kNearestFloor).value();
}

absl::StatusOr<Value*> ResizeNearest(Caffe2Args& a) {
  a.Require(a.num_inputs() == 1, "computed scales");
  const double height = a.Number("height_scale", 1), width = a.Number("width_scale", 1);
  return Enlarged(a, height, width, a.ChannelsLast());
}

absl::StatusOr<Value*> UpsampleNearest(Caffe2Args& a) {
  const auto scale = static_cast<double>(a.Int("scale", 2));
  return Enlarged(a, scale, scale, false);
}

// Corners stay corners.
absl::StatusOr<Value*> UpsampleBilinear(Caffe2Args& a) {
  const double height = a.Number("height_scale", 1), width = a.Number("width_scale", 1);
  const auto sizes = KnownSizes(a.in(0), 2, 4);
  a.Require(a.num_inputs() == 1 && sizes, "computed scales, or an image of unknown size");
  if (!(height > 0 && width > 0 && height < 4096 && width < 4096))
    return Invalid("a scale of this size");
  std::vector<Size> to = SizesAt(a.in(0), 0, 2);
  to.emplace_back(static_cast<int64_t>(static_cast<double>((*sizes)[0]) * height));
  to.emplace_back(static_cast<int64_t>(static_cast<double>((*sizes)[1]) * width));
  return ResizedTo(a.in(0), to, Interpolated("linear", true)).value();
}

}  // namespace

X2IR_CAFFE2(resize).From({{"ResizeNearest", ResizeNearest},
                          {"UpsampleNearest", UpsampleNearest},
                          {"UpsampleBilinear", UpsampleBilinear}});

}  // namespace x2ir
