// Images of other sizes, padding, and samples at places of a grid.
#include "x2ir/builder/layers/resize.h"

#include <optional>

#include "x2ir/builder/quantized.h"
#include "x2ir/handlers/paddle/nn.h"

namespace x2ir {
namespace {

// The spatial axes in order: depth, height, width, as many as there are.
std::vector<int64_t> OutAttributes(PaddleArgs& a, size_t spatial) {
  const int64_t depth = a.Int("out_d", -1), height = a.Int("out_h", -1), width = a.Int("out_w", -1);
  const std::vector<int64_t> all = {depth, height, width};
  return {all.end() - static_cast<std::ptrdiff_t>(spatial), all.end()};
}

// Sizes go before scales, where they are given as tensors; else scales before sizes.
Expr Interpolate(PaddleArgs& a, bool second_version) {
  const Expr x = a.X();
  const int64_t rank = a.Rank(x);
  a.Require(rank >= 3 && rank <= 5, "images of one to three axes");
  const auto spatial = static_cast<size_t>(rank - 2);
  const bool last = ChannelsLast(a, a.HasAttr("data_layout") ? "data_layout" : "data_format");
  const std::string method = a.String("interp_method", "bilinear");
  const bool corners = a.Bool("align_corners", true);
  const int64_t align_mode = a.Int("align_mode", 1);
  const std::vector<int64_t> out = OutAttributes(a, spatial);
  std::vector<double> scales = a.Numbers("scale");
  const bool sized = a.Has("SizeTensor") || a.Has("OutSize");
  std::vector<Size> sizes =
      sized ? a.Sizes("size", {"SizeTensor", "OutSize"}) : std::vector<Size>();
  const Expr scale_tensor = a.Opt("Scale");
  std::optional<Expr> computed;
  if (scale_tensor.value()) {
    if (const Tensor* known = SettledTensor(scale_tensor)) {
      scales.clear();
      for (int64_t i = 0; i < known->num_elements(); ++i) scales.push_back(known->AsDouble(i));
    } else {
      computed = scale_tensor.To(DType::kFloat32);
    }
  }
  if (!scales.empty() && !(scales[0] > 0)) scales.clear();
  if (scales.size() == 1) scales.resize(spatial, scales[0]);
  const bool scaled = !sized && (computed || !scales.empty());
  if (scaled && !computed && scales.size() != spatial) a.Fail(Invalid("scales of other axes"));
  if (!sized && !scaled) {
    for (const int64_t size : out) {
      a.Require(size > 0, "neither sizes nor scales");
      sizes.emplace_back(size);
    }
  }
  const int64_t from = last ? 1 : 2;
  // The first version knows scales only to find sizes.
  if (scaled && !second_version) {
    a.Require(!computed, "a computed scale");
    const auto in = KnownSizes(x, from, from + static_cast<int64_t>(spatial));
    a.Require(in.has_value(), "a scale of an image of unknown size");
    for (size_t i = 0; i < spatial; ++i) {
      sizes.emplace_back(
          static_cast<int64_t>(static_cast<float>((*in)[i]) * static_cast<float>(scales[i])));
    }
  }
  const bool nearest = method == "nearest", cubic = method == "bicubic";
  a.Require(nearest || cubic || method == "linear" || method == "bilinear" || method == "trilinear",
            StrCat("interpolation ", method));
  Sampling sampling = Interpolated(cubic ? "cubic" : "linear", corners, cubic || align_mode == 0);
  if (nearest) sampling = corners ? kNearestCorners : kNearestFloor;
  const std::vector<int64_t> axes = CountedFrom(from, static_cast<int64_t>(spatial));
  if (!sizes.empty()) {
    if (sizes.size() != spatial) a.Fail(Invalid("sizes of other axes"));
    return ResizedTo(x, sizes, sampling, axes);
  }
  Expr factors = nullptr;
  if (computed) {
    factors = Flat(*computed);
    const Dim count = DimAt(factors, 0);
    a.Require(count.is_static(), "how many scales there are is not known");
    if (count.value() == 1) factors = Expand(factors, a.b().Ints({static_cast<int64_t>(spatial)}));
  } else {
    const std::vector<float> narrow(scales.begin(), scales.end());
    factors = {a.b(), a.b().Constant(Tensor::Of<float>({static_cast<int64_t>(spatial)}, narrow))};
  }
  return ResizedBy(x, factors, sampling, axes);
}

Expr GridSample(PaddleArgs& a) {
  const Expr x = a.X(), grid = a.X("Grid");
  const std::string mode = a.String("mode", "bilinear");
  const std::string padding = a.String("padding_mode", "zeros");
  a.Require(mode == "bilinear" || mode == "nearest", StrCat("samples ", mode));
  return x.Op("grid_sample", {grid},
              {{"mode", mode == "bilinear" ? "linear" : "nearest"},
               {"padding_mode", padding},
               {"align_corners", a.Bool("align_corners", true)}});
}

Expr AffineGrid(PaddleArgs& a) {
  const Expr theta = a.X("Theta");
  const std::vector<Size> sizes = a.Sizes("output_shape", {"OutputShape"});
  return theta.Op("affine_grid", {Vector(a, sizes)},
                  {{"align_corners", a.Bool("align_corners", true)}});
}

}  // namespace

X2IR_PADDLE(resize)
    .From({"bilinear_interp_v2", "nearest_interp_v2", "bicubic_interp_v2", "linear_interp_v2",
           "trilinear_interp_v2"},
          [](PaddleArgs& a) { return Interpolate(a, true); })
    .From({"bilinear_interp", "nearest_interp", "bicubic_interp", "linear_interp",
           "trilinear_interp"},
          [](PaddleArgs& a) { return Interpolate(a, false); });
X2IR_PADDLE(grid_sample).From("grid_sampler", GridSample);
X2IR_PADDLE(affine_grid).From("affine_grid", AffineGrid);

}  // namespace x2ir
