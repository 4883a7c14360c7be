// Boxes that are cut out of images and resized: MIL's crop_resize, and the layer.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

struct Cutting {
  int64_t height = 1, width = 1;
  bool normalized = false;  // boxes are parts of the size less 1
  double scale = 1, padding = 0;
  std::string order, sampling;  // by MIL's names
};

// Places from `from` to `to` ([.., 1]) along an axis: [.., count].
Expr Between(NodeReader& a, const Expr& from, const Expr& to, int64_t count,
             const std::string& sampling) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i));
  const auto n = static_cast<double>(count);
  const auto row = [&](auto fn) {
    std::vector<double> values;
    for (const double i : numbers) values.push_back(fn(i));
    return NumbersAs(a.b(), from.dtype(), {count}, values);
  };
  const auto held = [&](const Expr& at) { return Max(Min(at, Max(from, to)), Min(from, to)); };
  if (sampling == "STRICT_ALIGN_CORNERS" || sampling == "ALIGN_CORNERS") {
    const double one = sampling == "ALIGN_CORNERS" ? 0.5 : 0.0;
    return held(from + (to - from) * row([&](double i) { return n == 1 ? one : i / (n - 1); }));
  }
  if (sampling == "DEFAULT") {
    return held(from + (to - from + 1.0) * row([&](double i) { return i / n; }));
  }
  if (sampling == "UNALIGN_CORNERS") {
    return held(from + (to - from + 1.0) * row([&](double i) { return (i + 0.5) / n; }) - 0.5);
  }
  a.Require(sampling == "OFFSET_CORNERS", StrCat("sampling_mode ", sampling));
  return held(from + Max(to - from, 1.0) * row([&](double i) { return (i + 0.5) / n; }));
}

// [n, images, channels, height, width] of images [images, channels, ..] and boxes [images or 1, n,
// 4].
Expr CutOut(NodeReader& a, const Expr& images, const Expr& boxes, const Cutting& how) {
  static constexpr std::string_view kOrders[] = {"CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST",
                                                 "CENTER_SIZE_HEIGHT_FIRST",
                                                 "CENTER_SIZE_WIDTH_FIRST"};
  const auto order = std::find(std::begin(kOrders), std::end(kOrders), how.order);
  a.Require(order != std::end(kOrders), StrCat("box_coordinate_mode ", how.order));
  a.Require(how.height > 0 && how.width > 0 && how.height < (1 << 20) && how.width < (1 << 20),
            "boxes of that size");
  const bool centers = how.order.starts_with("CENTER"), turned = how.order.ends_with("WIDTH_FIRST");
  const auto number = [&](int64_t i) { return Slice(boxes, 2, Size(i), Size(i + 1)); };
  const DType t = boxes.dtype();
  struct Axis {
    Expr places, inside;  // places from -1 to 1
  };
  const auto along = [&](int64_t first, int64_t axis, int64_t count) {
    const Expr last = SizeOf(images, axis).To(t) - 1.0;
    Expr from = number(first), to = number(first + 2);
    if (centers) {
      const Expr half = to * 0.5, middle = from;
      from = middle - half;
      to = middle + half;
    }
    from = Scaled(from, how.scale);
    to = Scaled(to, how.scale);
    if (how.normalized) {
      from = from * last;
      to = to * last;
    }
    const Expr at = Between(a, from, to, count, how.sampling);
    return Axis{at * 2.0 / Max(last, 1.0) - 1.0, (at >= 0.0) & (at <= last)};
  };
  const Axis rows = along(turned ? 1 : 0, 2, how.height),
             columns = along(turned ? 0 : 1, 3, how.width);
  // [images or 1, n, height, width]
  const Expr y = Unsqueeze(rows.places, {3}), x = Unsqueeze(columns.places, {2});
  const Expr grid = Stack(a.b(), {x + y * 0.0, y + x * 0.0}, 4);
  const Expr inside = Unsqueeze(rows.inside, {3}) & Unsqueeze(columns.inside, {2});
  const Size n = SizeAt(boxes, 1), batch = SizeAt(images, 0), channels = SizeAt(images, 1);
  const Size tall = Times(a.b(), n, Size(how.height));
  Expr flat = ReshapeTo(grid, {SizeAt(grid, 0), tall, how.width, 2});
  flat = Expand(flat, Vector(a.b(), {batch, tall, how.width, 2}));
  const Expr sampled =
      images.Op("grid_sample", {flat.To(images.dtype())},
                {{"align_corners", 1}, {"mode", "linear"}, {"padding_mode", "border"}});
  const Expr parts = ReshapeTo(sampled, {batch, channels, n, how.height, how.width});
  return Transpose(Where(Unsqueeze(inside, {1}), parts, how.padding), {2, 0, 1, 3, 4});
}

// With the number of its image before each box, [n, 5], or without, [n, 4]: then all images are
// cut. [n, images or 1, channels, height, width].
Expr CutRegions(NodeReader& a, const Expr& images, const Expr& regions, const Cutting& how) {
  a.Require(images.rank() == 4, "images of another rank");
  const Dim numbers = DimAt(regions, 1);
  a.Require(numbers.is_static() && (numbers.value() == 4 || numbers.value() == 5),
            "boxes of other numbers");
  if (numbers.value() == 4) return CutOut(a, images, Unsqueeze(regions, {0}), how);
  const Expr boxes = Slice(regions, 1, Size(1), Size(5));
  const Dim batch = DimAt(images, 0);
  if (batch.is_static() && batch.value() == 1) return CutOut(a, images, Unsqueeze(boxes, {0}), how);
  const Expr own = Squeeze(Slice(regions, 1, Size(0), Size(1)), {1}).To(DType::kInt64);
  // [1, n, ..], each image with one box.
  return MoveAxis(CutOut(a, Gather(images, own, 0), Unsqueeze(boxes, {1}), how), 1, 0);
}

Expr MilCropResize(MilArgs& a) {
  const Expr x = a.X();
  Cutting how;
  how.height = a.Int("target_height");
  how.width = a.Int("target_width");
  how.normalized = a.Bool("normalized_coordinates");
  how.scale = a.Number("spatial_scale");
  how.padding = a.Number("pad_value");
  how.order = a.Text("box_coordinate_mode");
  how.sampling = a.Text("sampling_mode");
  if (a.Has("roi")) {
    const Expr roi = a.X("roi");
    a.Require(roi.rank() == 5, "boxes of another rank");
    return CutRegions(a, x, Squeeze(roi, {1, 3, 4}), how);
  }
  const Expr boxes = a.X("boxes").To(x.dtype());
  a.Require(boxes.rank() == 2, "boxes of another rank");
  // Each image has a box where nothing else is said.
  const Expr own = a.Has("box_indices") ? a.X("box_indices") : Iota(SizeOf(boxes, 0));
  const Expr regions =
      Concat(a.b(), {Unsqueeze(own, {1}).To(DType::kFloat32), boxes.To(DType::kFloat32)}, 1);
  return Squeeze(CutRegions(a, x, regions, how), {1});
}

Expr NnCropResize(NnArgs& a) {
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"STRICT_ALIGN_ENDPOINTS_MODE", "STRICT_ALIGN_CORNERS"},
      {"ALIGN_ENDPOINTS_MODE", "ALIGN_CORNERS"},
      {"UPSAMPLE_MODE", "DEFAULT"},
      {"ROI_ALIGN_MODE", "OFFSET_CORNERS"},
  };
  const std::vector<int64_t> sizes = a.List("targetSize", {1, 1});
  a.Given("mode");
  a.Given("boxIndicesMode");
  const std::string method = a.Enum("mode.samplingMethod", "STRICT_ALIGN_ENDPOINTS_MODE");
  const Expr x = a.X(0), roi = a.X(1);
  a.Require(sizes.size() == 2 && x.rank() == 5 && roi.rank() == 5, "boxes of other axes");
  Cutting how;
  how.height = sizes[0];
  how.width = sizes[1];
  how.normalized = a.Flag("normalizedCoordinates");
  how.scale = a.Number("spatialScale", 1);
  how.order = a.Enum("boxIndicesMode.boxMode", "CORNERS_HEIGHT_FIRST");
  for (const auto& [core, mil] : kModes) {
    if (core == method) how.sampling = mil;
  }
  return CutRegions(a, Squeeze(x, {0}), Squeeze(roi, {1, 3, 4}), how);
}

}  // namespace

X2IR_MIL(grid_sample).From("crop_resize", MilCropResize);
X2IR_NN(grid_sample).From("cropResize", NnCropResize);

}  // namespace x2ir
