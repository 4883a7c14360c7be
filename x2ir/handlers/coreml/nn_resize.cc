// Core ML: resizing and sampling of images.
#include <algorithm>

#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/resize.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

Expr Upsampled(NnArgs& a) {
  const std::vector<int64_t> factors = a.List("scalingFactor", {1, 1});
  std::vector<float> parts = a.FloatList("fractionalScalingFactor", {});
  const std::string mode = a.Enum("mode", "NN"), linear = a.Enum("linearUpsampleMode", "DEFAULT");
  if (parts.empty()) {
    for (const int64_t factor : factors) parts.push_back(static_cast<float>(factor));
  }
  a.Require(parts.size() == 2, "factors of other axes");
  a.Require(mode == "NN" || mode == "BILINEAR", StrCat("mode ", mode));
  return OnImages(a, a.X(), [&](const Expr& x) {
    const std::vector<Size> sizes = ScaledSizes(a, x, parts[0], parts[1], mode == "NN");
    if (mode == "NN") return ResizedNearest(a, x, sizes);
    return ResizedLinear(a, x, sizes,
                         linear == "ALIGN_CORNERS_TRUE"    ? "STRICT_ALIGN_CORNERS"
                         : linear == "ALIGN_CORNERS_FALSE" ? "UNALIGN_CORNERS"
                                                           : "DEFAULT");
  });
}

Expr ResizedBilinear(NnArgs& a) {
  const std::vector<int64_t> sizes = a.List("targetSize", {1, 1});
  a.Given("mode");
  const std::string method = a.Enum("mode.samplingMethod", "STRICT_ALIGN_ENDPOINTS_MODE");
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"STRICT_ALIGN_ENDPOINTS_MODE", "STRICT_ALIGN_CORNERS"},
      {"ALIGN_ENDPOINTS_MODE", "ALIGN_CORNERS"},
      {"UPSAMPLE_MODE", "DEFAULT"},
      {"ROI_ALIGN_MODE", "OFFSET_CORNERS"},
  };
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const auto& each) { return each.first == method; });
  a.Require(mode != std::end(kModes), StrCat("sampling ", method));
  a.Require(sizes.size() == 2, "sizes of other axes");
  return OnImages(a, a.X(), [&](const Expr& x) {
    return ResizedLinear(a, x, {sizes[0], sizes[1]}, mode->second);
  });
}

}  // namespace

X2IR_NN(resize).From({{"upsample", Upsampled}, {"resizeBilinear", ResizedBilinear}});

}  // namespace x2ir
