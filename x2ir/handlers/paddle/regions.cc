// Detection: regions of images, by the levels of a pyramid, and what is proposed as one.
#include <algorithm>

#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/region_cells.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// The image of each region, by how many each image has. Without numbers there is one image.
Expr ImageOf(PaddleArgs& a, const Expr& rois) {
  const Expr numbers = a.Opt("RoisNum");
  const Expr count = SizeOf(rois, 0);
  if (!numbers.value()) {
    a.Require(a.X()->shape() && DimAt(a.X(), 0).is_static() && DimAt(a.X(), 0).value() == 1,
              "regions of more than one image by LoD");
    return Filled(a, DType::kInt64, {SizeAt(rois, 0)}, 0);
  }
  const Expr ends = CumSum(numbers.To(DType::kInt64), 0);
  const Expr behind = Unsqueeze(ends, {0}) <= Unsqueeze(Iota(count), {1});
  return Reduce(behind.To(DType::kInt64), "reduce_sum", {1});
}

Expr RoiAlign(PaddleArgs& a) {
  const Expr x = a.X(), rois = a.X("ROIs");
  const bool aligned = a.Bool("aligned", false);
  return AlignedRegions(x, rois, ImageOf(a, rois),
                        {a.Int("pooled_height", 1), a.Int("pooled_width", 1),
                         a.Number("spatial_scale", 1), a.Int("sampling_ratio", -1), aligned});
}

Expr WithImages(PaddleArgs& a, const Expr& rois) {
  return Concat(a, {Unsqueeze(ImageOf(a, rois), {1}).To(rois.dtype()), rois}, 1);
}
PaddleResults RoiPool(PaddleArgs& a) {
  const Expr x = a.X(), rois = a.X("ROIs");
  const int64_t height = a.Int("pooled_height", 1), width = a.Int("pooled_width", 1);
  return {{"Out",
           {x.Op("max_roi_pool", {WithImages(a, rois)},
                 {{"pooled_shape", Attribute::Ints{height, width}},
                  {"spatial_scale", static_cast<float>(a.Number("spatial_scale", 1))}})}}};
}
// As R-FCN, where a region ends after its last pixel.
Expr PsRoiPool(PaddleArgs& a) {
  const Expr x = a.X(), rois = a.X("ROIs");
  const int64_t height = a.Int("pooled_height", 1), width = a.Int("pooled_width", 1);
  const double scale = a.Number("spatial_scale", 1);
  a.Int("output_channels", 1);
  constexpr int64_t kLimit = 4096;
  a.Require(height > 0 && width > 0 && height <= kLimit && width <= kLimit, "cells of this number");
  const auto column = [&](int64_t i) { return Gather(rois, Int(a, i), 1); };
  const CellBounds rows = RfcnCells(column(1), column(3), scale, height, SizeOf(x, 2));
  const CellBounds columns = RfcnCells(column(0), column(2), scale, width, SizeOf(x, 3));
  return OwnChannels(CellMeans(x, ImageOf(a, rois), rows, columns), height, width);
}

// --- Pyramids ------------------------------------------------------------------------------------

// Regions by their size to levels; and where each went, in the list of all levels.
PaddleResults DistributeProposals(PaddleArgs& a) {
  const Expr rois = a.X("FpnRois");
  const Expr numbers = a.Opt("RoisNum");
  const int64_t low = a.Int("min_level", 2), high = a.Int("max_level", 5),
                refer = a.Int("refer_level", 4), scale = a.Int("refer_scale", 224);
  const double more = a.Bool("pixel_offset", true) ? 1 : 0;
  a.Require(low >= 0 && low <= high && high < 64 && refer >= 0 && refer < 64 && scale > 0,
            "levels");
  const auto side = [&](int64_t from, int64_t to) {
    return Shifted(Gather(rois, Int(a, to), 1) - Gather(rois, Int(a, from), 1), more);
  };
  const Expr w = side(0, 2), h = side(1, 3);
  const Expr bare_w = Shifted(w, -more), bare_h = Shifted(h, -more);
  const Expr area = Where((bare_w < 0.0) | (bare_h < 0.0), 0.0, w * h);
  const Expr ratio = Sqrt(area) / static_cast<double>(scale) + 1e-6;
  const Expr log = Log(ratio) * (1 / portable::log(2.0));
  const Expr level =
      Clip(Floor(log + static_cast<double>(refer)), log.Number(static_cast<double>(low)),
           log.Number(static_cast<double>(high)));
  Values lists, counts;
  std::vector<Value*> order;
  const Expr places = Iota(SizeOf(rois, 0));
  Expr image = nullptr, images = nullptr;
  if (numbers.value()) {
    image = ImageOf(a, rois);
    images = SizeOf(numbers, 0);
  }
  for (int64_t i = low; i <= high; ++i) {
    const Expr here = level == static_cast<double>(i);
    const auto kept = [&](const Expr& v) { return v.Op("compress", {here}, {{"axis", 0}}); };
    lists.push_back(kept(rois));
    order.push_back(kept(places));
    if (numbers.value()) counts.push_back(CountByImage(kept(image), images));
  }
  // The index of each region in the concatenated lists: the inverse of their order.
  const Expr all = Concat(a, order, 0);
  const Expr restore = ScatterElements(places, 0, all, places, "none");
  PaddleResults results = {{"MultiFpnRois", lists},
                           {"RestoreIndex", {Unsqueeze(restore, {1}).To(DType::kInt32)}}};
  if (!counts.empty()) results.push_back({"MultiLevelRoIsNum", counts});
  return results;
}

// The best regions of all levels, image by image.
PaddleResults CollectProposals(PaddleArgs& a) {
  const std::vector<Value*> rois = a.List("MultiLevelRois"), scores = a.List("MultiLevelScores"),
                            numbers = a.List("MultiLevelRoIsNum");
  const int64_t most = a.Int("post_nms_topN", 0);
  a.Require(!rois.empty() && rois.size() == scores.size() && numbers.size() == rois.size(),
            "regions by LoD");
  std::vector<Value*> flat, images;
  for (size_t i = 0; i < rois.size(); ++i) {
    const Expr of(a.b(), rois[i]);
    flat.push_back(Flat(Expr(a.b(), scores[i])));
    const Expr ends = CumSum(Expr(a.b(), numbers[i]).To(DType::kInt64), 0);
    const Expr behind = Unsqueeze(ends, {0}) <= Unsqueeze(Iota(SizeOf(of, 0)), {1});
    images.push_back(Reduce(behind.To(DType::kInt64), "reduce_sum", {1}));
  }
  const Expr all = Concat(a, rois, 0), score = Concat(a, flat, 0), image = Concat(a, images, 0);
  Expr order = Sort(score, 0, true).indices;
  if (most >= 0) order = Slice(order, 0, 0, most);
  const Expr of = Gather(image, order, 0), count = SizeOf(order, 0);
  order = Gather(order, Sort(of * count + Iota(count), 0, false).indices, 0);
  const Expr batch = SizeOf(Expr(a.b(), numbers[0]), 0);
  return {{"FpnRois", {Gather(all, order, 0)}},
          {"RoisNum", {CountByImage(Gather(image, order, 0), batch)}}};
}

// --- Proposals -----------------------------------------------------------------------------------

// Anchors moved by what the network says, the best ones of each image, clipped, none too small,
// none that a better one overlaps.
PaddleResults Proposals(PaddleArgs& a) {
  const Expr scores = a.X("Scores"), deltas = a.X("BboxDeltas"), shape = a.X("ImShape");
  const Expr anchors = a.X("Anchors"), variances = a.X("Variances");
  const int64_t before = a.Int("pre_nms_topN", 6000), after = a.Int("post_nms_topN", 1000);
  const double overlap = a.Number("nms_thresh", 0.5),
               least = std::max(a.Number("min_size", 0.1), 1.0), eta = a.Number("eta", 1);
  const double more = a.Bool("pixel_offset", true) ? 1 : 0;
  a.Require(overlap > 0 && (eta >= 1 || overlap <= 0.5), "a threshold that falls");
  a.Require(scores.dtype() == DType::kFloat32, "another type than float32");
  const Size batch = SizeAt(scores, 0);
  const Expr images = Scalar(a, batch);
  const auto rows = [&](const Expr& map, const std::vector<Size>& sizes) {
    return ReshapeTo(Transpose(map, {0, 2, 3, 1}), sizes);
  };
  // [images, boxes] and [images, boxes, 4]
  const Expr all = rows(scores, {batch, Size(-1)});
  const Expr moves = rows(deltas, {batch, Size(-1), Size(4)});
  const Expr fixed = Reshape(anchors, std::vector<int64_t>{-1, 4}),
             factors = Reshape(variances, std::vector<int64_t>{-1, 4});
  Expr k = Vector(a, SizeAt(all, 1));
  if (before > 0) k = Min(k, Ints(a, {before}));
  const auto [score, index] = TopOf(all, k, 1);
  const Expr anchor = Gather(fixed, index, 0);
  const Expr delta = moves.Op("gather_nd", {Unsqueeze(index, {2})}, {{"batch_dims", 1}}) *
                     Gather(factors, index, 0);
  const auto part = [](const Expr& v, int64_t i) { return SliceAt(v, -1, i); };
  const Expr width = Shifted(part(anchor, 2) - part(anchor, 0), more);
  const Expr height = Shifted(part(anchor, 3) - part(anchor, 1), more);
  const Expr x = part(delta, 0) * width + part(anchor, 0) + width * 0.5;
  const Expr y = part(delta, 1) * height + part(anchor, 1) + height * 0.5;
  const double bound = portable::log(1000.0 / 16.0);
  const Expr w = Exp(Min(part(delta, 2), bound)) * width * 0.5;
  const Expr h = Exp(Min(part(delta, 3), bound)) * height * 0.5;
  const Expr size_h = Unsqueeze(part(shape, 0), {1}), size_w = Unsqueeze(part(shape, 1), {1});
  const Expr image_h = Shifted(size_h, -more), image_w = Shifted(size_w, -more);
  const auto within = [](const Expr& v, const Expr& most) { return Max(Min(v, most), 0.0); };
  const Expr boxes =
      Concat(a,
             {within(x - w, image_w), within(y - h, image_h),
              within(Shifted(x + w, -more), image_w), within(Shifted(y + h, -more), image_h)},
             2);
  const Expr ws = Shifted(part(boxes, 2) - part(boxes, 0), more);
  const Expr hs = Shifted(part(boxes, 3) - part(boxes, 1), more);
  Expr stays = (ws >= least) & (hs >= least);
  if (more == 1) {
    stays = stays & (part(boxes, 0) + ws * 0.5 <= size_w) & (part(boxes, 1) + hs * 0.5 <= size_h);
  }
  // What is too small gets a score that nothing selects.
  const Expr valid = Where(Squeeze(stays, {2}), score, Extreme(a, score.dtype(), false));
  const Expr wide = WithPixels(boxes, more);
  Expr limit = Vector(a, SizeAt(score, 1));
  if (after > 0) limit = Min(limit, Ints(a, {after}));
  const Expr found = SelectBoxes({wide, Unsqueeze(valid, {1}), limit, overlap, -3.0e38});
  const Expr image = Gather(found, Int(a, 0), 1);
  const Expr at = Stack(a, {image, Gather(found, Int(a, 2), 1)}, 1);
  // An image of which nothing is left has a box of zeros.
  const Expr none = CountByImage(image, images) == Int(a, 0).To(DType::kInt32);
  const Expr lone = Iota(images).Op("compress", {none}, {{"axis", 0}});
  const Expr owner = Concat(a, {image, lone}, 0);
  const Expr count = SizeOf(owner, 0);
  const Expr order = Sort(owner * count + Iota(count), 0, false).indices;
  const auto or_zero = [&](const Expr& v) {
    const Expr pads = Concat(a, {a.b().Ints({0}), Unsqueeze(SizeOf(lone, 0), {0})}, 0);
    const Expr padded = v.Op("pad", {pads, v.Number(0), a.b().Ints({0})}, {{"mode", "constant"}});
    return Gather(padded, order, 0);
  };
  return {{"RpnRois", {or_zero(boxes.Op("gather_nd", {at}))}},
          {"RpnRoiProbs", {Unsqueeze(or_zero(score.Op("gather_nd", {at})), {1})}},
          {"RpnRoisNum", {CountByImage(Gather(owner, order, 0), images)}}};
}

}  // namespace

X2IR_PADDLE(roi_align).From({{"roi_align", RoiAlign}, {"psroi_pool", PsRoiPool}});
X2IR_PADDLE(max_roi_pool).From("roi_pool", RoiPool);
X2IR_PADDLE(compress).From("distribute_fpn_proposals", DistributeProposals);
X2IR_PADDLE(top_k).From("collect_fpn_proposals", CollectProposals);
X2IR_PADDLE(non_max_suppression).From("generate_proposals_v2", Proposals);

}  // namespace x2ir
