// OneFlow: resizing and sampling of images.
#include "x2ir/builder/layers/resize.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/windows.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

// Factors by the names of attributes; sizes where they are said.
Value* UpsampleBy(OneflowArgs& a, std::string_view mode, const std::vector<std::string_view>& names,
                  bool has_corners, bool has_size = true) {
  const bool last = TakeChannelsLast(a);
  const Expr x = ChannelsFirst(a.in(0), last);
  const size_t spatial = names.size();
  std::vector<int64_t> size = has_size ? a.Ints("output_size") : std::vector<int64_t>();
  std::vector<double> scales;
  for (const std::string_view name : names) scales.push_back(a.Number(name));
  const bool corners = has_corners && a.Bool("align_corners");
  const bool by_scale = size.empty();
  for (size_t i = 0; by_scale && i < spatial; ++i) {
    const Dim dim = DimAt(x, static_cast<int64_t>(i) + 2);
    a.Require(dim.is_static() && scales[i] > 0 && scales[i] < 65536, "factors of unknown sizes");
    size.push_back(static_cast<int64_t>(static_cast<double>(dim.value()) * scales[i]));
  }
  a.Require(size.size() == spatial, "sizes of other axes");
  std::vector<AsTorchArgument> args = {{"self", x}, {"output_size", size}};
  if (has_corners) args.push_back({"align_corners", corners});
  static constexpr std::string_view kScales[] = {"scales_d", "scales_h", "scales_w"};
  for (size_t i = 0; by_scale && i < spatial; ++i) {
    args.push_back({spatial == 1 ? "scales" : kScales[3 - spatial + i], scales[i]});
  }
  return ChannelsBack(
      {a, AsTorch(a, StrCat("aten::upsample_", mode, spatial, "d.default"), args)[0]}, last);
}

Value* Nearest1d(OneflowArgs& a) { return UpsampleBy(a, "nearest", {"scale_factor"}, false); }

Value* Nearest2d(OneflowArgs& a) {
  return UpsampleBy(a, "nearest", {"height_scale", "width_scale"}, false);
}

Value* Nearest3d(OneflowArgs& a) {
  return UpsampleBy(a, "nearest", {"depth_scale", "height_scale", "width_scale"}, false);
}

Value* Linear1d(OneflowArgs& a) { return UpsampleBy(a, "linear", {"scale_factor"}, true); }

Value* Bilinear2d(OneflowArgs& a) {
  return UpsampleBy(a, "bilinear", {"height_scale", "width_scale"}, true);
}

Value* Bicubic2d(OneflowArgs& a) {
  return UpsampleBy(a, "bicubic", {"height_scale", "width_scale"}, true);
}

Value* Trilinear3d(OneflowArgs& a) {
  return UpsampleBy(a, "trilinear", {"depth_scale", "height_scale", "width_scale"}, true);
}

// Of old files.
Value* OldUpsample(OneflowArgs& a) {
  const std::string mode = a.String("interpolation");
  a.Require(mode == "nearest" || mode == "bilinear", StrCat("interpolation ", mode));
  if (mode == "bilinear") {
    return UpsampleBy(a, "bilinear", {"height_scale", "width_scale"}, true, false);
  }
  a.Ignore("align_corners");
  return UpsampleBy(a, "nearest", {"height_scale", "width_scale"}, false, false);
}

absl::StatusOr<Value*> ToUpsample(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> in, w.Sizes(w.in(0)->type()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> out, w.Sizes(w.out_type()));
  const Sampling sampling = SamplingOf(w.node());
  const auto& [mode, place, rounding] = sampling;
  const size_t n = in.size();
  if (n < 3 || n > 5 || in[0] != out[0] || in[1] != out[1] || !IsFloating(w.dtype())) {
    return CannotExpress("other axes than those of images");
  }
  if (w.Int("antialias") != 0 || w.Int("exclude_outside") != 0 || w.has(1)) {
    return CannotExpress("filters over more than the neighbors");
  }
  // The factor that places count with must be that of the sizes.
  std::vector<double> given;
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(given, AxisFactors(w.node(), static_cast<int64_t>(n)));
    if (given[0] != 1 || given[1] != 1) return CannotExpress("other axes than those of images");
  }
  std::vector<double> factors;
  for (size_t i = 2; i < n; ++i) {
    factors.push_back(static_cast<double>(out[i]) /
                      static_cast<double>(std::max<int64_t>(in[i], 1)));
    if (w.has(2) && std::abs(given[i] - factors.back()) > 1e-6) {
      return CannotExpress("factors that are not those of the sizes");
    }
  }
  AttributeMap attrs = {{"output_size", std::vector<int64_t>(out.begin() + 2, out.end())},
                        {"data_format", "channels_first"}};
  static constexpr std::string_view kNames[] = {"depth_scale", "height_scale", "width_scale"};
  if (n == 3) attrs.Set("scale_factor", factors[0]);
  for (size_t i = 0; n > 3 && i < factors.size(); ++i) {
    attrs.Set(kNames[3 - factors.size() + i], factors[i]);
  }
  if (mode == "nearest") {
    for (size_t i = 2; i < n; ++i) {
      std::vector<int64_t> picks(static_cast<size_t>(out[i]));
      for (size_t k = 0; k < picks.size(); ++k) {
        picks[k] = static_cast<int64_t>(k) * in[i] / std::max<int64_t>(out[i], 1);
      }
      if (in[i] == 0 || !ResizePicks(w.attrs(), ResizeAxis::Of(in[i], out[i]), picks)) {
        return CannotExpress("neighbors by ", place, " and ", rounding);
      }
    }
    static constexpr std::string_view kOps[] = {"upsample_nearest_1d", "upsample_nearest_2d",
                                                "upsample_nearest_3d"};
    return w.Oneflow(kOps[n - 3], {w.in(0)}, std::move(attrs));
  }
  if (!CornersFollowSizes(w.node())) return CannotExpress("corners by sizes that are rounded");
  const bool corners = place == "align_corners";
  if (!corners && place != "half_pixel") return CannotExpress("places by ", place);
  attrs.Set("align_corners", corners);
  if (mode == "cubic") {
    if (n != 4 || w.Float("cubic_coeff_a") != -0.75f) return CannotExpress("another cubic");
    return w.Oneflow("upsample_bicubic_2d", {w.in(0)}, std::move(attrs));
  }
  static constexpr std::string_view kOps[] = {"upsample_linear_1d", "upsample_bilinear_2d",
                                              "upsample_trilinear_3d"};
  return w.Oneflow(kOps[n - 3], {w.in(0)}, std::move(attrs));
}

const std::vector<std::pair<Attribute, Attribute>>& SampleModes() {
  static const auto* const modes = new std::vector<std::pair<Attribute, Attribute>>{
      {"linear", "bilinear"}, {"nearest", "nearest"}, {"cubic", "bicubic"}};
  return *modes;
}

}  // namespace

X2IR_ONEFLOW(resize)
    .To("upsample_nearest_2d", ToUpsample)
    .From({{"upsample_nearest_1d", Nearest1d},
           {"upsample_nearest_2d", Nearest2d},
           {"upsample_nearest_3d", Nearest3d},
           {"upsample_linear_1d", Linear1d},
           {"upsample_bilinear_2d", Bilinear2d},
           {"upsample_bicubic_2d", Bicubic2d},
           {"upsample_trilinear_3d", Trilinear3d},
           {"upsample", OldUpsample}});
X2IR_ONEFLOW(grid_sample).Is("grid_sample", EnumMap("mode", "interpolation_mode", SampleModes()));
X2IR_ONEFLOW(affine_grid).Is("affine_grid", OperandAsAttr("size"));

}  // namespace x2ir
