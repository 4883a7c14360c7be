// MXNet: images of other sizes, sampled at places, and regions of them.
#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/region_cells.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// --- Other sizes ---------------------------------------------------------------------------------

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

// --- Sampled at places ---------------------------------------------------------------------------

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

// --- Regions -------------------------------------------------------------------------------------

Value* RoiPooling(SymbolArgs& a) {
  return a.Op("max_roi_pool", {a.in(0), a.in(1)},
              {{"pooled_shape", a.TupleOf("pooled_size", 2, 1)},
               {"spatial_scale", static_cast<float>(a.Number("spatial_scale", 1))}});
}
// Regions [image, x1, y1, x2, y2]. With channels of positions each cell of the result has channels
// of its own.
absl::StatusOr<Value*> RoiAlign(SymbolArgs& a) {
  const std::vector<int64_t> size = a.TupleOf("pooled_size", 2, 1);
  const int64_t samples = a.Integer("sample_ratio", -1);
  const bool spread = a.Flag("position_sensitive", false), aligned = a.Flag("aligned", false);
  if (size[0] < 1 || size[1] < 1 || size[0] > 4096 || size[1] > 4096) {
    return Invalid("regions of ", size[0], " x ", size[1]);
  }
  const Expr rois = a.in(1);
  const Expr image = a.AsInt64(Squeeze(Slice(rois, 1, Size(0), Size(1)), {1}));
  Expr y = AlignedRegions(a.in(0), Slice(rois, 1, Size(1), Size(5)), image,
                          {size[0], size[1], a.Number("spatial_scale", 1), samples, aligned});
  if (spread) y = OwnChannels(y, size[0], size[1]);
  return y.value();
}

// Channels of positions, means over whole pixels.
absl::StatusOr<Value*> PsRoiPooling(SymbolArgs& a) {
  const int64_t cells = a.Integer("pooled_size", 0), group = a.Integer("group_size", 0);
  const double scale = a.Number("spatial_scale", 1);
  a.Ignore("output_dim");
  if (cells < 1 || cells > 4096) return Invalid("regions of ", cells, " cells");
  a.Require(group == 0 || group == cells, "groups that are not the cells");
  const Expr x = a.in(0), rois = a.in(1);
  const auto column = [&](int64_t i) { return Gather(rois, Int(a, i), 1); };
  const CellBounds rows = RfcnCells(column(2), column(4), scale, cells, SizeOf(x, 2));
  const CellBounds columns = RfcnCells(column(1), column(3), scale, cells, SizeOf(x, 3));
  return OwnChannels(CellMeans(x, a.AsInt64(column(0)), rows, columns), cells, cells).value();
}

// Of two maps: each channel the mean product (or difference) of a window of the first with a window
// of the second that is moved, by each of the moves in turn.
absl::StatusOr<Value*> Correlation(SymbolArgs& a) {
  const int64_t kernel = a.Integer("kernel_size", 1), most = a.Integer("max_displacement", 1),
                stride = a.Integer("stride1", 1), step = a.Integer("stride2", 1),
                pad = a.Integer("pad_size", 0);
  const bool product = a.Flag("is_multiply", true);
  constexpr int64_t kMost = 4096;
  if (kernel < 1 || kernel % 2 == 0 || most < 0 || stride < 1 || step < 1 || pad < 0 ||
      std::max({kernel, most, stride, step, pad}) > kMost || most / step > 32) {
    return Invalid("a correlation of windows of ", kernel, " moved by ", most);
  }
  const auto padded = [&](size_t i) -> Expr {
    const std::vector<int64_t> pads = {0, 0, pad, pad, 0, 0, pad, pad};
    return pad == 0 ? a.in(i) : a.Op("pad", {a.in(i), a.b().Ints(pads)}, {{"mode", "constant"}});
  };
  const Expr left = padded(0), right = padded(1);
  const auto moved = [&](const Expr& x, int64_t axis, int64_t by) {
    return Slice(x, axis, Size(most + by), by == most ? Size(kToEnd) : Size(by - most));
  };
  const Expr middle = moved(moved(left, 2, 0), 3, 0);
  Values parts;
  const int64_t radius = most / step;
  for (int64_t y = -radius; y <= radius; ++y) {
    const Expr rows = moved(right, 2, y * step);
    for (int64_t x = -radius; x <= radius; ++x) {
      const Expr other = moved(rows, 3, x * step);
      const Expr each = product ? middle * other : Abs(middle - other);
      parts.push_back(Reduce(each, "reduce_mean", {1}, true));
    }
  }
  const Expr all = Concat(a, parts, 1);
  if (kernel == 1 && stride == 1) return all.value();
  return a
      .Op("average_pool", {all},
          {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
           {"strides", std::vector<int64_t>{stride, stride}}})
      .value();
}

// Operands: x, offset, weights, bias; with a mask behind the offset.
template <bool kMask>
Value* DeformableConvolution(SymbolArgs& a) {
  const std::vector<int64_t> kernel = a.Tuple("kernel");
  a.Require(kernel.size() == 2, "a window of two axes");
  const std::vector<int64_t> pad = a.TupleOf("pad", 2, 0);
  IsChannelsLast(a, a.Text("layout"));
  a.Ignore("num_filter"), a.Ignore("im2col_step");
  const size_t weights = kMask ? 3 : 2;
  const bool no_bias = a.Flag("no_bias", false);
  std::vector<Value*> operands = {a.in(0), a.in(weights), a.in(1),
                                  no_bias ? nullptr : a.in(weights + 1).value()};
  if (kMask) operands.push_back(a.in(2));
  return a.Op("deform_conv", std::move(operands),
              {{"strides", a.TupleOf("stride", 2, 1)},
               {"dilations", a.TupleOf("dilate", 2, 1)},
               {"pads", std::vector<int64_t>{pad[0], pad[1], pad[0], pad[1]}},
               {"group", a.Integer("num_group", 1)},
               {"offset_group", a.Integer("num_deformable_group", 1)}});
}

// --- Images --------------------------------------------------------------------------------------

// Bytes, channels last, as floats from 0 to 1, channels first.
absl::StatusOr<Value*> ImageToTensor(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  return (MoveAxis(a.in(0).To(DType::kFloat32), rank - 1, rank - 3) / 255).value();
}
absl::StatusOr<Value*> ImageNormalize(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const auto along = [&](Symbol name, double fallback) {
    const std::vector<double> numbers = a.Numbers(name, {fallback});
    const auto count = static_cast<int64_t>(numbers.size());
    return AlongAxis(NumbersAs(a, a.dtype(), {count}, numbers), rank - 3, rank);
  };
  const Expr mean = along("mean", 0), deviation = along("std", 1);
  return ((a.in(0) - mean) / deviation).value();
}
absl::StatusOr<Value*> ImageCrop(SymbolArgs& a) {
  const int64_t x = a.Integer("x", 0), y = a.Integer("y", 0), width = a.Integer("width", 0),
                height = a.Integer("height", 0);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const Expr rows = Slice(a.in(0), rank - 3, Size(y), Plus(a, y, height));
  return Slice(rows, rank - 2, Size(x), Plus(a, x, width)).value();
}

}  // namespace

X2IR_MXNET(resize)
    .From("UpSampling", UpSampling)
    .From({"_contrib_BilinearResize2D", "_npx_bilinear_resize_2d"}, BilinearResize);
X2IR_MXNET(grid_sample)
    .From({"BilinearSampler"}, BilinearSampler)
    .From("SpatialTransformer", SpatialTransformer);
X2IR_MXNET(affine_grid).From("GridGenerator", GridGenerator);
X2IR_MXNET(max_roi_pool).From({"ROIPooling", "_npx_roi_pooling"}, RoiPooling);
X2IR_MXNET(roi_align).From({"_contrib_ROIAlign", "_npx_roi_align"}, RoiAlign);
X2IR_MXNET(matmul).From("_contrib_PSROIPooling", PsRoiPooling);
X2IR_MXNET(reduce_mean).From("Correlation", Correlation);
X2IR_MXNET(deform_conv)
    .From({"_contrib_DeformableConvolution", "_npx_deformable_convolution"},
          DeformableConvolution<false>)
    .From({"_contrib_ModulatedDeformableConvolution", "_npx_modulated_deformable_convolution"},
          DeformableConvolution<true>);
X2IR_MXNET(transpose).From({"_image_to_tensor", "_npx__image_to_tensor"}, ImageToTensor);
X2IR_MXNET(sub).From({"_image_normalize", "_npx__image_normalize"}, ImageNormalize);
X2IR_MXNET(slice).From({"_image_crop", "_npx__image_crop"}, ImageCrop);

}  // namespace x2ir
