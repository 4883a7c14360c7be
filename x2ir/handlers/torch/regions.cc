// torchvision's operators on boxes and regions of images. Its kernels for the CPU say what they
// mean: regions are rows of image, x1, y1, x2, y2.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/region_cells.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

// --- Boxes ----------------------------------------------------------------------------------

// The largest float32 that is not above: a float32 is above it where it is above the number.
float AtMost(double number) {
  const auto near = static_cast<float>(number);
  return near > number ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
}

Values Nms(TorchCall& c) {
  const Expr boxes = c.Tensor("dets"), scores = c.Tensor("scores");
  const double threshold = c.Float("iou_threshold");
  if (boxes.dtype() != DType::kFloat32 || scores.dtype() != DType::kFloat32) {
    return c.Fail(Unimplemented("boxes and scores of other than float32"));
  }
  if (boxes.rank() != 2 || scores.rank() != 1) return c.Fail(Invalid("expected a row a box"));
  if (!(threshold >= 0)) return c.Fail(Unimplemented("an iou_threshold of ", threshold));
  // A box whose ends are in the other order overlaps no other one here, and ONNX swaps its ends.
  // Here it becomes a box without an area, which overlaps none there either.
  const Expr low = Slice(boxes, 1, 0, 2), high = Slice(boxes, 1, 2, 4);
  const Expr sorted = Concat(c, {low, Max(low, high)}, 1);
  const Expr count = SizeOf(scores, 0);
  const Expr limit{c, c.b().Scalar(DType::kFloat32, AtMost(std::min(threshold, 1.0)))};
  const Expr rows = SelectBoxes({Unsqueeze(sorted, {0}), Unsqueeze(scores, {0, 1}),
                                 Unsqueeze(count, {0}), Unsqueeze(limit, {0})});
  return {Gather(rows, Int(c, 2), 1)};
}

// --- Regions --------------------------------------------------------------------------------

struct Regions {
  Expr image = nullptr, rois = nullptr;
  float scale = 1;
  int64_t height = 1, width = 1;  // of the result
};

Regions ReadRegions(TorchCall& c) {
  Regions r;
  r.image = c.Tensor("input");
  r.rois = c.Tensor("rois");
  RequireFloat(c, r.image);
  const double scale = c.Float("spatial_scale");
  if (!FitsAttribute(r.image.dtype(), scale)) {
    c.Fail(Unimplemented("a spatial_scale that is no float32"));
  }
  r.scale = static_cast<float>(scale);
  r.height = c.Int("pooled_height");
  r.width = c.Int("pooled_width");
  if (r.image.rank() != 4 || r.rois.rank() != 2) c.Fail(Invalid("expected images and regions"));
  if (r.rois.dtype() != r.image.dtype()) {
    c.Fail(Unimplemented("regions of another element type than the images"));
  }
  if (r.height < 1 || r.width < 1 || r.height > kMaxPositions / r.width) {
    c.Fail(Invalid("a result of ", r.height, " by ", r.width));
  }
  return r;
}

Expr ColumnOf(const Expr& rois, int64_t i) { return Gather(rois, Int(rois.builder(), i), 1); }

Expr Aligned(const Regions& r, int64_t samples, bool aligned) {
  const Expr batch = ColumnOf(r.rois, 0).To(DType::kInt64);
  return AlignedRegions(r.image, Slice(r.rois, 1, 1, 5), batch,
                        {r.height, r.width, r.scale, samples, aligned});
}

Values RoiAlign(TorchCall& c) {
  const Regions r = ReadRegions(c);
  const int64_t samples = c.Int("sampling_ratio");
  return {Aligned(r, samples, c.Bool("aligned", false))};
}

Values RoiPool(TorchCall& c) {
  const Regions r = ReadRegions(c);
  const Expr y =
      c.Op("max_roi_pool", {r.image, r.rois},
           {{"pooled_shape", Attribute::Ints{r.height, r.width}}, {"spatial_scale", r.scale}});
  return FirstAlone(c, y);
}

// --- Of position-sensitive maps: each cell has channels of its own ----------------------------

// From all channels in all cells ([regions, channels, height, width]) those of each cell.
Values ByPosition(TorchCall& c, const Regions& r, const Expr& all) {
  const int64_t cells = r.height * r.width;
  const auto channels = KnownSizes(r.image, 1, 2);
  if (!channels || (*channels)[0] % cells != 0) {
    return c.Fail(
        Unimplemented("a number of channels that is not known, or no multiple of ", cells));
  }
  const int64_t groups = (*channels)[0] / cells;
  const Size regions = SizeAt(r.rois, 0);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) {
    const Expr apart = ReshapeTo(all, {regions, groups, cells, cells});
    values[0] = ReshapeTo(Diagonal(apart, 0, 2, 3), {regions, groups, r.height, r.width});
  }
  if (c.wants(1)) {  // the channel of each element
    const Expr channel =
        Reshape(Iota(Int(c, (*channels)[0])), {1, groups, r.height, r.width}).To(DType::kInt32);
    values[1] = Expand(channel, Vector(c, {regions, 1, 1, 1}));
  }
  return values;
}

Values PsRoiAlign(TorchCall& c) {
  const Regions r = ReadRegions(c);
  const int64_t samples = c.Int("sampling_ratio");
  if (samples > 0) return ByPosition(c, r, Aligned(r, samples, true));
  // As many samples as a region's size needs. One whose ends are in the other order gets none, and
  // its sum of 0 is divided by their number below 0; runtimes refuse such a number.
  const Expr low = Slice(r.rois, 1, 1, 3), high = Slice(r.rois, 1, 3, 5);
  Regions sorted = r;
  sorted.rois = Concat(c, {Slice(r.rois, 1, 0, 1), low, Max(low, high)}, 1);
  Expr all = Aligned(sorted, samples, true);
  // One that is so small that it gets none has the mean of nothing.
  const auto length = [&](int64_t from, int64_t cells) {
    const auto end = [&](int64_t i) { return Scaled(ColumnOf(r.rois, i), r.scale) - 0.5; };
    return Ceil((end(from + 2) - end(from)) / static_cast<double>(cells));
  };
  const Expr nothing = (length(1, r.width) == 0) | (length(2, r.height) == 0);
  const Expr nan = all.Number(std::numeric_limits<double>::quiet_NaN());
  all = Where(Unsqueeze(nothing, {1, 2, 3}), nan, all);
  return ByPosition(c, r, all);
}

// Means over the whole pixels of each cell.
Values PsRoiPool(TorchCall& c) {
  const Regions r = ReadRegions(c);
  const DType t = r.image.dtype(), computed = AtLeastFloat32(t);
  const Expr rois = r.rois.To(computed);
  const auto cells_of = [&](int64_t axis, int64_t cells) -> CellBounds {
    const auto rounded = [&](int64_t i) {  // halves away from 0
      const Expr x = Scaled(ColumnOf(rois, i), r.scale);
      return Where(SignBit(x), -RoundHalfUp(-x), RoundHalfUp(x));
    };
    const int64_t column = axis == 2 ? 2 : 1;
    const Expr start = rounded(column), end = rounded(column + 2);
    const Expr step = Max(end - start, 1) / static_cast<double>(cells);
    const Expr last = (SizeOf(r.image, axis) - 1).To(computed);
    const Expr cell = Unsqueeze(Iota(Int(c, cells)).To(computed), {0});
    const auto clipped = [&](const Expr& place) { return Min(Max(place, place.Number(0)), last); };
    const Expr first = Unsqueeze(start, {1}), width = Unsqueeze(step, {1});
    return {clipped(Floor(cell * width + first)), clipped(Ceil((cell + 1) * width + first))};
  };
  const Expr batch = ColumnOf(r.rois, 0).To(DType::kInt64);
  const Expr all = CellMeans(r.image, batch, cells_of(2, r.height), cells_of(3, r.width));
  return ByPosition(c, r, all.To(t));
}

// --- Convolutions with moved places -----------------------------------------------------------

Values DeformConv(TorchCall& c) {
  const Expr x = c.Tensor("input"), weight = c.Tensor("weight"), offset = c.Tensor("offset");
  RequireFloat(c, x);
  const auto pair = [&](std::string_view name) {
    return Attribute::Ints{c.Int(StrCat(name, "_h")), c.Int(StrCat(name, "_w"))};
  };
  const Attribute::Ints pads = pair("pad"), strides = pair("stride"), dilations = pair("dilation");
  const int64_t groups = c.Int("groups"), offset_groups = c.Int("offset_groups");
  Value* mask = nullptr;
  if (c.Bool("use_mask")) {
    mask = c.Tensor("mask");
  } else {
    c.Ignore({"mask"});
  }
  return {c.Op("deform_conv", {x, weight, offset, c.Tensor("bias"), mask},
               {{"strides", strides},
                {"pads", BothEnds(pads)},
                {"dilations", dilations},
                {"group", groups},
                {"offset_group", offset_groups}})};
}

X2IR_TORCH(non_max_suppression).From("torchvision::nms.default", Nms);
X2IR_TORCH(roi_align)
    .From("torchvision::roi_align.default", RoiAlign)
    .From("torchvision::ps_roi_align.default", PsRoiAlign);
X2IR_TORCH(max_roi_pool).From("torchvision::roi_pool.default", RoiPool);
X2IR_TORCH(matmul).From("torchvision::ps_roi_pool.default", PsRoiPool);
X2IR_TORCH(deform_conv).From("torchvision::deform_conv2d.default", DeformConv);

}  // namespace
}  // namespace x2ir
