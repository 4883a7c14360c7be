// ncnn: default boxes, boxes that are kept, and regions of images. A list of regions is one
// blob; layers that use one region read its first four numbers.
#include "x2ir/builder/layers/detection.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/anchors.h"
#include "x2ir/builder/region_cells.h"
#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

Expr ColumnAt(const Expr& x, int64_t k) { return ElementAt(x, -1, k); }
// Chances from `least` on, where an op takes those above a number.
double JustBelow(double least) {
  return static_cast<double>(std::nextafter(static_cast<float>(least), -1.0f));
}

// --- Boxes that are left -------------------------------------------------------------------------

// Rows [class, box] of boxes [1, n, 4] by corners and chances [1, classes, n], of a class the best
// first; none overlaps a better one of its class.
Expr BestOf(NcnnArgs& a, const Expr& boxes, const Expr& chances, double overlap, double above) {
  const Expr rows = SelectBoxes({boxes, chances, Vector(a, SizeAt(boxes, 1)), overlap, above});
  return Slice(rows, 1, Size(1), Size(3));
}

// Operands: offsets, chances of each box's classes, and boxes with their variances.
// [1, n, 6]: class, chance and corners, the best first.
absl::StatusOr<Value*> DetectionOutput(NcnnArgs& a) {
  const int64_t classes = a.Int(0, 0), before = a.Int(2, 300), after = a.Int(3, 100);
  const double overlap = a.Float(1, 0.05), above = a.Float(4, 0.5);
  a.Drop({5, 6, 7, 8});  // variances of boxes that have none
  a.Require(classes != -233, "boxes as MXNet has them");
  a.Require(a.num_bottoms() == 3, "an operand more or less");
  if (classes < 2 || classes > 100000 || before < 1 || after < 1) {
    return Invalid(classes, " classes of ", before, " and ", after, " boxes");
  }
  const Expr prior = ReshapeTo(a.in(2), {Size(2), Size(-1), Size(4)});
  const Expr corners = Gather(prior, a.b().Int(0), 0),
             steps = Reshape(a.in(0), {-1, 4}) * Gather(prior, a.b().Int(1), 0);
  const Expr left = ColumnAt(corners, 0), top = ColumnAt(corners, 1),
             width = ColumnAt(corners, 2) - left, height = ColumnAt(corners, 3) - top;
  const auto [x, y, half_w, half_h] =
      Decoded({left, top, width, height}, [&](int64_t k) { return ColumnAt(steps, k); });
  const Expr boxes = Stack(a, {x - half_w, y - half_h, x + half_w, y + half_h}, 1);
  // The first class is what is no object: [classes - 1, n].
  Expr chances =
      Slice(Transpose(Reshape(a.in(1), {-1, classes}), {1, 0}), 0, Size(1), Size(kToEnd));
  const Dim count = DimAt(boxes, 0);
  if (!count.is_static() || count.value() > before) {
    // Only so many of a class compete.
    a.Require(count.is_static(), "the best of an unknown number of boxes");
    const Expr last = SliceAt(TopOf(chances, a.b().Ints({before}), 1).values, 1, before - 1);
    chances = Where(chances >= last, chances, -1e30);
  }
  const Expr rows = BestOf(a, Unsqueeze(boxes, {0}), Unsqueeze(chances, {0}), overlap, above);
  const Expr found = chances.Op("gather_nd", {rows});
  const Expr kept = Vector(a, SizeAt(rows, 0)).Op("min", {a.b().Ints({after})});
  const Sorted order = TopOf(found, kept, 0);
  const Expr chosen = Gather(rows, order.indices, 0);
  const Expr label = (ColumnAt(chosen, 0) + 1.0).To(DType::kFloat32);
  const Expr all = Concat(
      a,
      {Unsqueeze(label, {1}), Unsqueeze(order.values, {1}), Gather(boxes, ColumnAt(chosen, 1), 0)},
      1);
  return Unsqueeze(all, {0}).value();
}

// Heads of YOLO, each [1, boxes * (5 + classes), h, w]. A box is of its best class, and competes
// with those of all classes and heads.
absl::StatusOr<Value*> YoloHeads(NcnnArgs& a, bool third) {
  const int64_t classes = a.Int(0, 20), each = a.Int(1, 5);
  const double least = a.Float(2, 0.01), overlap = a.Float(3, 0.45);
  const std::vector<double> anchors = a.Floats(4);
  std::vector<double> mask, scales;
  if (third) {
    mask = a.Floats(5);
    scales = a.Floats(6);
  }
  if (classes < 1 || classes > 100000 || each < 1 || each > 1024) {
    return Invalid(each, " boxes of ", classes, " classes");
  }
  std::vector<Value*> of_boxes, of_chances, of_labels;
  for (size_t head = 0; head < a.num_bottoms(); ++head) {
    const auto sizes = KnownSizes(a.in(head));
    a.Require(sizes && sizes->size() == 4, "a head of unknown size");
    const int64_t height = (*sizes)[2], width = (*sizes)[3];
    if ((*sizes)[1] != each * (5 + classes) || height < 1 || width < 1) {
      return Invalid("a head of ", (*sizes)[1], " channels");
    }
    std::vector<double> sides;
    for (int64_t i = 0; i < each; ++i) {
      double at = static_cast<double>(i), of_width = static_cast<double>(width),
             of_height = static_cast<double>(height);
      if (third) {
        const size_t place = head * static_cast<size_t>(each) + static_cast<size_t>(i);
        if (place >= mask.size() || head >= scales.size()) return Invalid("no anchor of a box");
        at = mask[place];
        of_width = std::floor(scales[head] * of_width);
        of_height = std::floor(scales[head] * of_height);
      }
      const double place = 2 * at;
      if (!(at >= 0) || place + 1 >= static_cast<double>(anchors.size()) || !(of_width > 0) ||
          !(of_height > 0)) {
        return Invalid("no anchor ", at, " among ", anchors.size() / 2);
      }
      sides.push_back(anchors[static_cast<size_t>(place)] / of_width);
      sides.push_back(anchors[static_cast<size_t>(place) + 1] / of_height);
    }
    // [boxes, 5 + classes, h, w].
    const Expr cells = Reshape(a.in(head), {each, 5 + classes, height, width});
    const auto part = [&](int64_t k) { return ElementAt(cells, 1, k); };
    const auto sigmoid = [](const Expr& v) { return v.Op("sigmoid"); };
    const auto steps = [&](int64_t count, std::vector<int64_t> dims) {
      std::vector<double> numbers;
      for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i));
      return NumbersAs(a, DType::kFloat32, std::move(dims), numbers);
    };
    const auto side = [&](size_t k) {
      std::vector<double> numbers;
      for (size_t i = k; i < sides.size(); i += 2) numbers.push_back(sides[i] / 2);
      return NumbersAs(a, DType::kFloat32, {each, 1, 1}, numbers);
    };
    const Expr x = (sigmoid(part(0)) + steps(width, {width})) / static_cast<double>(width),
               y = (sigmoid(part(1)) + steps(height, {height, 1})) / static_cast<double>(height);
    const Expr half_w = Exp(part(2)) * side(0), half_h = Exp(part(3)) * side(1);
    Expr own = Slice(cells, 1, Size(5), Size(5 + classes));
    if (!third) own = own.Op("softmax", {}, {{"axis", 1}});
    const Expr best = Reduce(own, "reduce_max", {1});
    const Expr chance = sigmoid(part(4)) * (third ? sigmoid(best) : best);
    const Expr label = own.Op("arg_max", {}, {{"axis", 1}, {"keepdims", 0}});
    of_boxes.push_back(
        Reshape(Stack(a, {x - half_w, y - half_h, x + half_w, y + half_h}, -1), {-1, 4}));
    of_chances.push_back(Flat(chance));
    of_labels.push_back(Flat(label));
  }
  const Expr boxes = Concat(a, of_boxes, 0), chances = Concat(a, of_chances, 0),
             labels = Concat(a, of_labels, 0);
  const Expr rows =
      BestOf(a, Unsqueeze(boxes, {0}), Unsqueeze(chances, {0, 1}), overlap, JustBelow(least));
  const Expr chosen = ColumnAt(rows, 1);
  const Expr label = (Gather(labels, chosen, 0) + 1.0).To(DType::kFloat32);
  const Expr all = Concat(
      a,
      {Unsqueeze(label, {1}), Unsqueeze(Gather(chances, chosen, 0), {1}), Gather(boxes, chosen, 0)},
      1);
  return Unsqueeze(all, {0}).value();
}

// --- Boxes to begin with -------------------------------------------------------------------------

// [1, 2, 4 * boxes]: corners as parts of the image, and variances.
absl::StatusOr<Value*> PriorBox(NcnnArgs& a) {
  const std::vector<double> least = a.Floats(0), most = a.Floats(1), ratios = a.Floats(2);
  const std::vector<double> variances = {a.Float(3, 0.1), a.Float(4, 0.1), a.Float(5, 0.2),
                                         a.Float(6, 0.2)};
  const bool flip = a.Flag(7, true), clip = a.Flag(8, false);
  const int64_t given_w = a.Int(9, 0), given_h = a.Int(10, 0);
  const double given_step_w = a.Float(11, -233), given_step_h = a.Float(12, -233),
               offset = a.Float(13, 0);
  a.Require(a.num_bottoms() == 2 || given_w != -233 || given_h != -233 || !most.empty(),
            "boxes as MXNet has them");
  const auto map = KnownSizes(a.in(0));
  const auto image = a.num_bottoms() == 2 ? KnownSizes(a.in(1)) : std::nullopt;
  a.Require(map && map->size() == 4 && (a.num_bottoms() < 2 || (image && image->size() == 4)),
            "boxes of maps or images of unknown size");
  if ((given_w == -233 || given_h == -233) && !image) return Invalid("boxes without an image");
  if (!most.empty() && most.size() != least.size()) {
    return Invalid(least.size(), " smallest sizes and ", most.size(), " largest ones");
  }
  const int64_t rows = (*map)[2], columns = (*map)[3];
  const auto width = static_cast<double>(given_w == -233 ? (*image)[3] : given_w),
             height = static_cast<double>(given_h == -233 ? (*image)[2] : given_h);
  if (!(width > 0 && height > 0)) return Invalid("boxes of an image without a size");
  const double step_w = given_step_w == -233 ? width / static_cast<double>(columns) : given_step_w,
               step_h = given_step_h == -233 ? height / static_cast<double>(rows) : given_step_h;
  std::vector<double> all;
  for (const double ratio : ratios) {
    if (!(ratio > 0)) return Invalid("a ratio of ", ratio);
    all.push_back(ratio);
    if (flip) all.push_back(1 / ratio);
  }
  return PriorBoxes(a.b(), DType::kFloat32,
                    {rows, columns, PriorAnchors(least, most, all), step_w, step_h, offset, offset,
                     width, height, clip},
                    variances);
}

// Operands: chances [1, 2 * anchors, h, w], offsets [1, 4 * anchors, h, w], and the image's height,
// width and scale. Regions [1, n, 1, 4] and their chances [1, n, 1, 1], the best first. A box is as
// wide as the difference of its corners, but where it is too small to count.
absl::StatusOr<Values> Proposal(NcnnArgs& a) {
  constexpr int64_t kEach = 9;
  const int64_t stride = a.Int(0, 16), base = a.Int(1, 16), before = a.Int(2, 6000),
                after = a.Int(3, 300), least = a.Int(5, 16);
  const double overlap = a.Float(4, 0.7);
  const auto sizes = KnownSizes(a.in(0));
  a.Require(sizes && sizes->size() == 4, "chances of unknown size");
  const int64_t height = (*sizes)[2], width = (*sizes)[3];
  const auto count = CheckedProduct({kEach, height, width});
  if (!count || *count < 1 || *count > kMaxAnchors || (*sizes)[1] != 2 * kEach || stride < 1 ||
      base < 1 || after < 1) {
    return Invalid("regions of ", (*sizes)[1], " channels for ", kEach, " anchors");
  }
  // By anchor, row and column.
  std::vector<double> middles_x, middles_y, widths, heights;
  const auto side = static_cast<double>(base), half = side / 2;
  for (const BoxSize& size : AnchorSizes({side * side, {0.5, 1, 2}, {8, 16, 32}})) {
    widths.push_back(size.width);
    heights.push_back(size.height);
  }
  for (int64_t i = 0; i < width; ++i) middles_x.push_back(half + static_cast<double>(i * stride));
  for (int64_t i = 0; i < height; ++i) middles_y.push_back(half + static_cast<double>(i * stride));
  const auto at = [&](std::vector<int64_t> dims, const std::vector<double>& numbers) {
    return NumbersAs(a, DType::kFloat32, std::move(dims), numbers);
  };
  const Expr w = at({kEach, 1, 1}, widths), h = at({kEach, 1, 1}, heights);
  const Expr offsets = Reshape(a.in(1), {kEach, 4, height, width});
  const Expr info = Reshape(a.in(2), {-1});
  const auto of_image = [&](int64_t k) { return SliceAt(info, 0, k); };
  const auto part = [&](int64_t k) { return ElementAt(offsets, 1, k); };
  const Expr x = part(0) * w + at({1, 1, width}, middles_x),
             y = part(1) * h + at({1, height, 1}, middles_y);
  const Expr half_w = Exp(part(2)) * w * 0.5, half_h = Exp(part(3)) * h * 0.5;
  const auto inside = [&](const Expr& v, int64_t k) {
    return Flat(Max(Min(v, of_image(k) - 1.0), 0.0));
  };
  const Expr x1 = inside(x - half_w, 1), y1 = inside(y - half_h, 0), x2 = inside(x + half_w, 1),
             y2 = inside(y + half_h, 0);
  const Expr small = of_image(2) * static_cast<double>(least);
  const Expr large = (x2 - x1 + 1.0 >= small) & (y2 - y1 + 1.0 >= small);
  const Expr chance = Flat(Slice(a.in(0), 1, Size(kEach), Size(2 * kEach)));
  const auto [boxes, chances, chosen] =
      BestProposals({x1, y1, x2, y2, Where(large, chance, kNoChance)},
                    {before > 0 ? std::min(before, *count) : *count, after, overlap, 0});
  Values all = {Unsqueeze(Gather(boxes, chosen, 0), {0, 2})};
  if (a.num_outputs() > 1) all.push_back(Unsqueeze(Gather(chances, chosen, 0), {0, 2, 3}));
  return all;
}

// --- Regions of images ---------------------------------------------------------------------------

// [1, 4]: the first four numbers of a blob.
Expr RegionOf(NcnnArgs& a) {
  return Unsqueeze(Slice(Reshape(a.in(1), {-1}), 0, Size(0), Size(4)), {0});
}
struct PooledSize {
  int64_t width, height;
};
PooledSize PooledOf(NcnnArgs& a, int64_t fallback) {
  const PooledSize size = {a.Int(0, fallback), a.Int(1, fallback)};
  if (size.width < 1 || size.height < 1 || size.width > 4096 || size.height > 4096) {
    a.Fail(Invalid(size.width, " x ", size.height, " cells"));
  }
  return size;
}
Value* RoiPooling(NcnnArgs& a) {
  const PooledSize size = PooledOf(a, 0);
  const auto scale = static_cast<float>(a.Float(2, 1));
  const Expr zero = NumbersAs(a, DType::kFloat32, {1, 1}, {0});
  return a.Op("max_roi_pool", {a.in(0), Concat(a, {zero, RegionOf(a)}, 1)},
              {{"pooled_shape", {size.height, size.width}}, {"spatial_scale", scale}});
}
absl::StatusOr<Value*> PsRoiPooling(NcnnArgs& a) {
  const PooledSize size = PooledOf(a, 7);
  const double scale = a.Float(2, 0.0625);
  const int64_t out = a.Int(3, 0);
  const Expr x = a.in(0), region = RegionOf(a);
  if (out < 1 || DimAt(x, 1) != Dim(out * size.width * size.height)) {
    return Invalid("channels of ", out, " results");
  }
  const CellBounds rows = RfcnCells(ColumnAt(region, 1), ColumnAt(region, 3), scale, size.height,
                                    SizeOf(x, 2)),
                   columns = RfcnCells(ColumnAt(region, 0), ColumnAt(region, 2), scale, size.width,
                                       SizeOf(x, 3));
  const Expr all = CellMeans(x, Ints(a, {0}), rows, columns);
  return OwnChannels(all, size.height, size.width).value();
}
absl::StatusOr<Value*> RoiAlign(NcnnArgs& a) {
  const PooledSize size = PooledOf(a, 0);
  const double scale = a.Float(2, 1);
  const int64_t samples = a.Int(3, 0), version = a.Int(5, 0);
  const bool aligned = a.Flag(4, false);
  a.Require(version == 1, "ncnn's first version of it, which cuts cells at the border");
  const Expr region = RegionOf(a);
  return AlignedRegions(a.in(0), region, Ints(a, {0}),
                        {size.height, size.width, scale, samples, aligned})
      .value();
}

}  // namespace

X2IR_NCNN(non_max_suppression)
    .From("DetectionOutput", DetectionOutput)
    .From("YoloDetectionOutput", [](NcnnArgs& a) { return YoloHeads(a, false); })
    .From("Yolov3DetectionOutput", [](NcnnArgs& a) { return YoloHeads(a, true); })
    .From("Proposal", Proposal);
X2IR_NCNN(constant).From("PriorBox", PriorBox);
X2IR_NCNN(max_roi_pool).From("ROIPooling", RoiPooling);
X2IR_NCNN(matmul).From("PSROIPooling", PsRoiPooling);
X2IR_NCNN(roi_align).From("ROIAlign", RoiAlign);

}  // namespace x2ir
