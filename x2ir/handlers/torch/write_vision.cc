// Images: other sizes, samples, blocks of channels and of space, written as calls.
#include <array>
#include <numeric>

#include "x2ir/builder/layers/resize.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

// --- resize ---------------------------------------------------------------------------------

// The operator without its overload, by mode and number of spatial axes.
absl::StatusOr<std::string_view> UpsampleOf(TorchWriter& w, int64_t spatial) {
  const Sampling sampling = SamplingOf(w.node());
  const auto& [mode, place, rounding] = sampling;
  const size_t i = static_cast<size_t>(spatial) - 1;
  if (mode == "nearest") {
    constexpr std::string_view kFloor[] = {"aten::upsample_nearest1d", "aten::upsample_nearest2d",
                                           "aten::upsample_nearest3d"};
    constexpr std::string_view kExact[] = {"aten::_upsample_nearest_exact1d",
                                           "aten::_upsample_nearest_exact2d",
                                           "aten::_upsample_nearest_exact3d"};
    if (sampling == kNearestFloor) return kFloor[i];
    if (sampling == kNearestMiddle) return kExact[i];
    return CannotExpress("nearest elements of ", place, ", ", rounding);
  }
  if (place != "half_pixel" && place != "align_corners") {
    return CannotExpress("coordinates of ", place);
  }
  if (!IsFloating(w.dtype())) return CannotExpress("interpolated integers");
  constexpr std::string_view kLinear[] = {"aten::upsample_linear1d", "aten::upsample_bilinear2d",
                                          "aten::upsample_trilinear3d"};
  if (mode == "linear") return kLinear[i];
  if (spatial != 2 || w.Float("cubic_coeff_a") != -0.75) return CannotExpress("cubic of that kind");
  return std::string_view("aten::upsample_bicubic2d");
}

absl::StatusOr<Value*> WriteResize(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t spatial = rank - 2;
  if (spatial < 1 || spatial > 3) return CannotExpress("rank ", rank);
  if (!IsPlainResize(w.node())) return CannotExpress("antialias, exclude_outside or a policy");
  if (!CornersFollowSizes(w.node())) return CannotExpress("corners by sizes that are rounded");
  X2IR_ASSIGN_OR_RETURN(const std::string_view op, UpsampleOf(w, spatial));
  std::vector<int64_t> all(static_cast<size_t>(rank)), last(static_cast<size_t>(spatial));
  std::iota(all.begin(), all.end(), 0);
  std::iota(last.begin(), last.end(), 2);
  std::vector<int64_t> axes = w.attrs().Ints("axes", all);
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  if (axes != all && axes != last) return CannotExpress("other axes than the spatial ones");
  const bool of_all = axes == all;
  TorchArguments arguments = {{"input", w.in(0)}};
  const bool nearest = w.String("mode") == "nearest";
  const auto rest = [&] {
    if (!nearest) {
      arguments.emplace_back("align_corners",
                             w.String("coordinate_transformation_mode") == "align_corners");
    }
  };
  if (w.has(2)) {
    const std::optional<Tensor> scales = KnownTensor(*w.in(2));
    if (!scales) return CannotExpress("factors that are computed");
    std::vector<double> factors;
    for (int64_t i = 0; i < scales->num_elements(); ++i) {
      if (!of_all || i >= 2) {
        factors.push_back(scales->AsDouble(i));
      } else if (scales->AsDouble(i) != 1) {
        return CannotExpress("other axes than the spatial ones");
      }
    }
    arguments.emplace_back("output_size", nullptr);
    rest();
    arguments.emplace_back("scale_factors", Attribute(Tensor::Of<double>({spatial}, factors)));
  } else {
    if (!w.has(3)) return CannotExpress("neither sizes nor factors");
    X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> sizes, w.Sizes(w.in(3)));
    for (int64_t i = 0; of_all && i < 2; ++i) {
      const Shape* out = w.out_type().shape();
      const Dim& own = (*w.in(0)->shape())[i];
      if (own.is_unknown() || !out || (*out)[i] != own) {
        return CannotExpress("other axes than the spatial ones");
      }
    }
    if (of_all) sizes.erase(sizes.begin(), sizes.begin() + 2);
    arguments.emplace_back("output_size", std::move(sizes));
    rest();
    arguments.emplace_back("scale_factors", nullptr);
  }
  return w.Call(StrCat(op, ".vec"), std::move(arguments));
}
X2IR_TORCH(resize).To("aten::upsample_bilinear2d.vec", WriteResize);

// --- Samples --------------------------------------------------------------------------------

absl::StatusOr<Value*> WriteGridSample(TorchWriter& w) {
  const std::string &mode = w.String("mode"), &padding = w.String("padding_mode");
  const int64_t how = mode == "linear" ? 0 : mode == "nearest" ? 1 : 2;
  const int64_t beyond = padding == "zeros" ? 0 : padding == "border" ? 1 : 2;
  // PyTorch keeps each of the four pixels inside, the IR the place.
  if (how == 2 && beyond == 1) return CannotExpress("cubic samples with a border");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank > 5 || (rank == 5 && how == 2)) return CannotExpress("samples of rank ", rank);
  return w.Call("aten::grid_sampler.default", {{"input", w.in(0)},
                                               {"grid", w.Cast(w.in(1), w.dtype())},
                                               {"interpolation_mode", how},
                                               {"padding_mode", beyond},
                                               {"align_corners", w.Int("align_corners") != 0}});
}
X2IR_TORCH(grid_sample).To("aten::grid_sampler.default", WriteGridSample);

absl::StatusOr<Value*> WriteAffineGrid(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> size, w.Sizes(w.in(1)));
  return w.Call("aten::affine_grid_generator.default",
                {{"theta", w.in(0)},
                 {"size", std::move(size)},
                 {"align_corners", w.Int("align_corners") != 0}});
}
X2IR_TORCH(affine_grid).To("aten::affine_grid_generator.default", WriteAffineGrid);

absl::StatusOr<Value*> WriteCol2Im(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> image, w.Sizes(w.in(1)));
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> block, w.Sizes(w.in(2)));
  if (image.size() != 2 || block.size() != 2) return CannotExpress("other than two axes");
  const std::vector<int64_t> pads = w.attrs().Ints("pads", {0, 0, 0, 0});
  if (pads[0] != pads[2] || pads[1] != pads[3]) return CannotExpress("other padding behind");
  return w.Call("aten::col2im.default", {{"self", w.in(0)},
                                         {"output_size", std::move(image)},
                                         {"kernel_size", std::move(block)},
                                         {"dilation", w.attrs().Ints("dilations", {1, 1})},
                                         {"padding", std::vector<int64_t>{pads[0], pads[1]}},
                                         {"stride", w.attrs().Ints("strides", {1, 1})}});
}
X2IR_TORCH(col2im).To("aten::col2im.default", WriteCol2Im);

// --- Blocks ---------------------------------------------------------------------------------

// The sizes behind the batch, which may be unknown.
absl::StatusOr<std::array<int64_t, 3>> ImageSizes(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  const Shape* shape = w.in(0)->shape();
  std::array<int64_t, 3> sizes;
  for (int64_t i = 0; i < 3; ++i) {
    if (!shape || shape->rank() != 4 || !(*shape)[i + 1].is_static() ||
        (*shape)[i + 1].value() < 1) {
      return CannotExpress("an image of unknown size");
    }
    sizes[static_cast<size_t>(i)] = (*shape)[i + 1].value();
  }
  return sizes;
}

absl::StatusOr<Value*> WriteDepthToSpace(TorchWriter& w) {
  const int64_t b = w.Int("blocksize");
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  if (w.String("mode") == "CRD") {
    return w.Call("aten::pixel_shuffle.default", {{"self", w.in(0)}, {"upscale_factor", b}});
  }
  X2IR_ASSIGN_OR_RETURN(const auto size, ImageSizes(w));
  const int64_t c = size[0] / (b * b);
  Value* parts = w.Reshape(w.in(0), {-1, b, b, c, size[1], size[2]});
  return w.Reshape(w.Transpose(parts, {0, 3, 4, 1, 5, 2}), {-1, c, size[1] * b, size[2] * b});
}
X2IR_TORCH(depth_to_space).To("aten::pixel_shuffle.default", WriteDepthToSpace);

absl::StatusOr<Value*> WriteSpaceToDepth(TorchWriter& w) {
  const int64_t b = w.Int("blocksize");
  X2IR_ASSIGN_OR_RETURN(const auto size, ImageSizes(w));
  Value* parts = w.Reshape(w.in(0), {-1, size[0], size[1] / b, b, size[2] / b, b});
  return w.Reshape(w.Transpose(parts, {0, 3, 5, 1, 2, 4}),
                   {-1, size[0] * b * b, size[1] / b, size[2] / b});
}
X2IR_TORCH(space_to_depth).To("aten::reshape.default", WriteSpaceToDepth);

// Squares of the channels around each one, added up.
absl::StatusOr<Value*> WriteLrn(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t size = w.Int("size");
  const Dim& channels = (*w.in(0)->shape())[1];
  if (rank < 2 || !channels.is_static() || size > 1024) return CannotExpress("unknown channels");
  const DType t = w.dtype();
  const auto n = [&](double number) { return w.Number(t, number); };
  Value* squares = w.Op("mul", {w.in(0), w.in(0)});
  Value* padded =
      w.Op("pad", {squares, w.b().Ints({(size - 1) / 2, size / 2}), n(0), w.b().Ints({1})});
  Value* sum = nullptr;
  for (int64_t i = 0; i < size; ++i) {
    Value* part = w.Op(
        "slice", {padded, w.b().Ints({i}), w.b().Ints({i + channels.value()}), w.b().Ints({1})});
    sum = sum ? w.Op("add", {sum, part}) : part;
  }
  Value* scaled = w.Op("mul", {sum, n(w.Float("alpha") / static_cast<double>(size))});
  Value* power = w.Op("pow", {w.Op("add", {scaled, n(w.Float("bias"))}), n(w.Float("beta"))});
  return w.Op("div", {w.in(0), power});
}
X2IR_TORCH(lrn).To("aten::div.Tensor", WriteLrn);

}  // namespace
}  // namespace x2ir
