// MXNet: resizing and sampling of images.

#include "x2ir/builder/layers/resize.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// Of several images each becomes as large as the first one times the scale.
absl::StatusOr<Value*> UpSampling(SymbolArgs& a) {
  const int64_t scale = a.Integer("scale", 1), filters = a.Integer("num_filter", 0);
  const std::string type = a.Text("sample_type", "nearest"),
                    mode = a.Text("multi_input_mode", "concat");
  a.Ignore("num_args");
  if (scale < 1 || scale > 4096) return Invalid("a scale of ", scale);
  if (type == "bilinear") {
    const int64_t pad = scale / 2;
    const Window w{.strides = {scale, scale}, .dilations = {1, 1}, .pads = {pad, pad, pad, pad}};
    return MakeConvTranspose(a.in(0), a.in(1), nullptr, w, filters).value();
  }
  a.Require(type == "nearest", StrCat("sample_type ", type));
  Values parts;
  for (size_t i = 0; i < a.num_inputs(); ++i) {
    int64_t by = scale;
    if (i > 0) {
      const Dim whole = DimAt(a.in(0), 2), own = DimAt(a.in(i), 2);
      a.Require(whole.is_static() && own.is_static() && own.value() > 0 &&
                    whole.value() * scale % own.value() == 0,
                "several images of unknown size");
      by = whole.value() * scale / own.value();
    }
    const auto each = static_cast<float>(by);
    parts.push_back(ResizedBy(a.in(i), {1, 1, each, each}, kNearestFloor));
  }
  if (mode == "concat" || parts.size() == 1) return Concat(a, parts, 1).value();
  a.Require(mode == "sum", StrCat("multi_input_mode ", mode));
  Expr sum(a, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) sum = sum + Expr(a, parts[i]);
  return sum.value();
}

absl::StatusOr<Value*> BilinearResize(SymbolArgs& a) {
  const int64_t height = a.Integer("height", 1), width = a.Integer("width", 1);
  const bool scaled = a.Given("scale_height") || a.Given("scale_width");
  const double by_height = a.Number("scale_height", 1), by_width = a.Number("scale_width", 1);
  const std::string mode = a.Text("mode", "size");
  const bool corners = a.Flag("align_corners", true);
  std::vector<Size> sizes = SizesAt(a.in(0), 0, 2);
  if (mode == "like") {
    sizes.push_back(SizeAt(a.in(1), 2));
    sizes.push_back(SizeAt(a.in(1), 3));
  } else {
    a.Require(mode == "size", StrCat("mode ", mode));
    for (int64_t i = 0; i < 2; ++i) {
      const Dim dim = DimAt(a.in(0), 2 + i);
      a.Require(!scaled || dim.is_static(), "scales of images of unknown size");
      const double by = i == 0 ? by_height : by_width;
      a.Require(by > 0 && by < 4096, "a scale of this size");
      sizes.emplace_back(scaled ? static_cast<int64_t>(static_cast<double>(dim.value()) * by)
                                : (i == 0 ? height : width));
    }
  }
  return ResizedTo(a.in(0), sizes, Interpolated("linear", corners)).value();
}

// n numbers from -1 to 1, both counted.
Expr FromEndToEnd(SymbolArgs& a, int64_t n) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < n; ++i) {
    numbers.push_back(n > 1 ? -1 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) : -1);
  }
  return NumbersAs(a, DType::kFloat32, {n}, numbers);
}

// [batch, 2, height, width]: x and y of each place, by a matrix [batch, 6].
absl::StatusOr<Expr> AffineGrid(SymbolArgs& a, const Expr& theta) {
  const std::vector<int64_t> shape = a.Tuple("target_shape");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > 65536 || shape[1] > 65536) {
    return Invalid("a grid without sizes");
  }
  const int64_t count = shape[0] * shape[1];
  const Expr sizes = Ints(a, shape);
  const Expr x = Expand(FromEndToEnd(a, shape[1]), sizes);
  const Expr y = Expand(Unsqueeze(FromEndToEnd(a, shape[0]), {1}), sizes);
  const Expr places =
      Reshape(Stack(a, {x, y, Expand(x.Number(1), sizes)}, 0), {3, count}).To(theta.dtype());
  return ReshapeTo(MatMul(Reshape(theta, {-1, 2, 3}), places),
                   {Size(-1), Size(2), Size(shape[0]), Size(shape[1])});
}

absl::StatusOr<Value*> GridGenerator(SymbolArgs& a) {
  const std::string type = a.Text("transform_type", "");
  if (type == "affine") {
    X2IR_ASSIGN_OR_RETURN(const Expr grid, AffineGrid(a, a.in(0)));
    return grid.value();
  }
  a.Require(type == "warp", StrCat("transform_type ", type));
  a.Ignore("target_shape");
  // Moved by the flow, in pixels.
  const Expr flow = a.in(0);
  const Expr height = SizeOf(flow, 2), width = SizeOf(flow, 3);
  const auto scaled = [&](int64_t part, const Expr& size, int64_t axis) {
    const Expr at = AlongAxis(Iota(size).To(flow.dtype()), axis, 4);
    const Expr half = (size - 1).To(flow.dtype()) / 2;
    return (SliceAt(flow, 1, part) + at) / half - 1;
  };
  return Concat(a, {scaled(0, width, 3), scaled(1, height, 2)}, 1).value();
}

Expr Sampled(SymbolArgs& a, const Expr& x, const Expr& grid) {
  return a.Op("grid_sample", {x, Transpose(grid, {0, 2, 3, 1})},
              {{"align_corners", 1}, {"mode", "linear"}, {"padding_mode", "zeros"}});
}

Value* BilinearSampler(SymbolArgs& a) { return Sampled(a, a.in(0), a.in(1)); }

absl::StatusOr<Value*> SpatialTransformer(SymbolArgs& a) {
  a.Require(a.Text("transform_type", "affine") == "affine", "another transform than affine");
  a.Require(a.Text("sampler_type", "bilinear") == "bilinear", "another sampler than bilinear");
  X2IR_ASSIGN_OR_RETURN(const Expr grid, AffineGrid(a, a.in(1)));
  return Sampled(a, a.in(0), grid).value();
}

}  // namespace

X2IR_MXNET(resize)
    .From("UpSampling", UpSampling)
    .From({"_contrib_BilinearResize2D", "_npx_bilinear_resize_2d"}, BilinearResize);
X2IR_MXNET(grid_sample)
    .From({"BilinearSampler"}, BilinearSampler)
    .From("SpatialTransformer", SpatialTransformer);
X2IR_MXNET(affine_grid).From("GridGenerator", GridGenerator);

}  // namespace x2ir
