// Darknet: resizing and sampling of images.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/images.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Upsample(DarknetArgs& a) {
  const int64_t stride = a.Integer("stride", 2);
  const double scale = a.Number("scale", 1);
  if (stride == 0 || std::abs(stride) > 4096) return Invalid("a stride of ", stride);
  if (stride < 0) {
    // The sum of each rectangle.
    const auto sizes = KnownSizes(a.image(), 2, 4);
    a.Require(sizes && (*sizes)[0] % stride == 0 && (*sizes)[1] % stride == 0,
              "rectangles that do not fill the image");
    const WindowPool sum{SquareWindow(-stride, {-stride, -stride}, 1, 0), PoolKind::kSum};
    return Scaled(PoolWindows(a, a.image(), sum), scale).value();
  }
  return Scaled(RepeatedPixels(a, a.image(), stride, stride), scale).value();
}

}  // namespace

X2IR_DARKNET(resize).From("upsample", Upsample);

}  // namespace x2ir
