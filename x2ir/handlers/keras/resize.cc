// Keras: resizing and sampling of images.
#include "x2ir/builder/layers/resize.h"

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/images.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

Value* UpSampling(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const Expr x = a.tensor();
  const int64_t first = a.ChannelsLast() ? 1 : 2;
  const std::vector<int64_t> size = a.Tuple("size", spatial, 2);
  const std::string how = a.Text("interpolation", "nearest");
  for (const int64_t times : size) {
    if (times < 1 || times > (1 << 24)) a.Fail(Invalid("a size of ", times));
  }
  if (how != "nearest" && how != "bilinear") {
    const auto known = KnownSizes(x, first, first + static_cast<int64_t>(spatial));
    a.Require(spatial == 2 && known,
              StrCat("interpolation '", how, "' of images of unknown sizes"));
    const Expr last = first == 1 ? x : Transpose(x, {0, 2, 3, 1});
    const Size height = Times(a, Size((*known)[0]), Size(size[0])),
               width = Times(a, Size((*known)[1]), Size(size[1]));
    const Expr y = ResizedImages(a, last, Ints(a, {*height.number, *width.number}), how, false);
    return first == 1 ? y : Transpose(y, {0, 3, 1, 2});
  }
  std::vector<float> scales(spatial + 2, 1.0f);
  for (size_t i = 0; i < spatial; ++i) {
    scales[static_cast<size_t>(first) + i] = static_cast<float>(size[i]);
  }
  const Tensor factors = Tensor::Of<float>({static_cast<int64_t>(scales.size())}, scales);
  const bool linear = how == "bilinear";
  const bool half = linear && a.Flag("half_pixel_centers", true);  // by the release (dialect.cc)
  return ResizedBy(x, a.b().Constant(factors, "scales"),
                   linear ? Interpolated("linear", false, half) : kNearestFloor);
}

}  // namespace

X2IR_KERAS(resize).From({"UpSampling1D", "UpSampling2D", "UpSampling3D"}, UpSampling);

}  // namespace x2ir
