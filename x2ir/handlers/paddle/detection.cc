// Detection: boxes out of what networks give, and the best of them.
#include "x2ir/builder/layers/detection.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/anchors.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// A column of the last axis, which stays with size 1.
Expr Part(const Expr& x, int64_t i) { return SliceAt(x, -1, i); }

Expr Joined(const Expr& x, std::vector<Value*> parts) {
  return Concat(x.builder(), std::move(parts), -1);
}

// --- Priors --------------------------------------------------------------------------------------

struct Plane {
  int64_t height, width;
};
Plane PlaneOf(PaddleArgs& a, const Expr& x) {
  const auto sizes = KnownSizes(x, 2, 4);
  a.Require(sizes.has_value(), "maps of unknown size");
  return {(*sizes)[0], (*sizes)[1]};
}

// The same numbers for each box.
Expr Repeated(PaddleArgs& a, DType type, std::vector<int64_t> dims,
              const std::vector<double>& numbers) {
  std::vector<double> all;
  a.Require(!numbers.empty(), "no numbers for each box");
  dims.push_back(static_cast<int64_t>(numbers.size()));
  const int64_t count = *CheckedProduct(dims) / static_cast<int64_t>(numbers.size());
  for (int64_t i = 0; i < count; ++i) all.insert(all.end(), numbers.begin(), numbers.end());
  return NumbersAs(a, type, dims, all);
}

// Corners and variances of the boxes of a grid: [rows, columns, boxes, 4], or (flat) [all, 4].
PaddleResults WithVariances(PaddleArgs& a, std::string_view name, const AnchorGrid& grid,
                            const std::vector<double>& corners,
                            const std::vector<double>& variances, bool flat = false) {
  const DType type = a.X("Input").dtype();
  std::vector<int64_t> dims = {grid.rows, grid.columns, static_cast<int64_t>(grid.anchors.size())};
  if (flat) dims = {dims[0] * dims[1] * dims[2]};
  std::vector<int64_t> box_dims = dims;
  box_dims.push_back(4);
  return {{std::string(name), {NumbersAs(a, type, box_dims, corners)}},
          {"Variances", {Repeated(a, type, dims, variances)}}};
}
void RequireFewBoxes(PaddleArgs& a, const Plane& cells, int64_t count, std::string_view what) {
  a.Require(cells.height * cells.width * count <= kMaxAnchors, StrCat("as many ", what));
}

PaddleResults PriorBox(PaddleArgs& a) {
  const Plane cells = PlaneOf(a, a.X("Input")), pixels = PlaneOf(a, a.X("Image"));
  const std::vector<double> least = a.Numbers("min_sizes"), most = a.Numbers("max_sizes");
  const std::vector<double> ratios = PriorRatios(a.Numbers("aspect_ratios"), a.Bool("flip", true));
  const std::vector<double> variances = a.Numbers("variances", {0.1, 0.1, 0.2, 0.2});
  const bool clip = a.Bool("clip", true);
  double step_w = a.Number("step_w", 0), step_h = a.Number("step_h", 0);
  const double offset = a.Number("offset", 0.5);
  const bool least_first = a.Bool("min_max_aspect_ratios_order", false);
  if (step_w == 0 || step_h == 0) {
    step_w = static_cast<double>(pixels.width) / static_cast<double>(cells.width);
    step_h = static_cast<double>(pixels.height) / static_cast<double>(cells.height);
  }
  a.Require(!least.empty() && (most.empty() || most.size() == least.size()), "sizes");
  AnchorGrid grid{cells.height,
                  cells.width,
                  PriorAnchors(least, most, ratios, !least_first),
                  step_w,
                  step_h,
                  offset,
                  offset,
                  static_cast<double>(pixels.width),
                  static_cast<double>(pixels.height),
                  clip};
  RequireFewBoxes(a, cells, static_cast<int64_t>(grid.anchors.size()), "boxes");
  return WithVariances(a, "Boxes", grid, AnchorCorners(grid), variances);
}

// Boxes of fixed sizes, several of each, spread evenly over the cell.
PaddleResults DensityPriorBox(PaddleArgs& a) {
  const Plane cells = PlaneOf(a, a.X("Input")), pixels = PlaneOf(a, a.X("Image"));
  const std::vector<double> sizes = a.Numbers("fixed_sizes"), ratios = a.Numbers("fixed_ratios");
  const std::vector<int64_t> densities = a.Ints("densities");
  const std::vector<double> variances = a.Numbers("variances", {0.1, 0.1, 0.2, 0.2});
  const bool clip = a.Bool("clip", true), flat = a.Bool("flatten_to_2d", false);
  double step_w = a.Number("step_w", 0), step_h = a.Number("step_h", 0);
  const double offset = a.Number("offset", 0.5);
  const auto width = static_cast<double>(pixels.width), height = static_cast<double>(pixels.height);
  if (step_w == 0 || step_h == 0) {
    step_w = width / static_cast<double>(cells.width);
    step_h = height / static_cast<double>(cells.height);
  }
  a.Require(!sizes.empty() && sizes.size() == densities.size() && !ratios.empty(),
            "sizes, ratios and densities");
  int64_t count = 0;
  for (const int64_t density : densities) {
    a.Require(density > 0 && density <= 1024, "densities");
    count += density * density * static_cast<int64_t>(ratios.size());
    RequireFewBoxes(a, cells, count, "boxes");
  }
  const auto step = static_cast<int64_t>((step_w + step_h) * 0.5);
  AnchorGrid grid{cells.height, cells.width, {},    step_w, step_h,
                  offset,       offset,      width, height, clip};
  for (size_t s = 0; s < sizes.size(); ++s) {
    const auto shift = static_cast<double>(step / densities[s]);
    const double from = shift / 2 - static_cast<double>(step) / 2;
    const auto at = [&](int64_t i) { return from + static_cast<double>(i) * shift; };
    for (const double ratio : ratios) {
      const double root = std::sqrt(ratio);
      for (int64_t i = 0; i < densities[s] * densities[s]; ++i) {
        grid.anchors.push_back(
            {sizes[s] * root / 2, sizes[s] / root / 2, at(i % densities[s]), at(i / densities[s])});
      }
    }
  }
  std::vector<double> corners = AnchorCorners(grid);
  for (size_t i = 0; i < corners.size(); ++i) {
    corners[i] = i % 4 < 2 ? std::max(corners[i], 0.0) : std::min(corners[i], 1.0);
  }
  return WithVariances(a, "Boxes", grid, corners, variances, flat);
}

// Offsets of corners from a cell, x and y in turn, as places in an image of four times the size.
Expr PolygonCorners(PaddleArgs& a) {
  const Expr x = a.X("Input");
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static() && channels.value() % 2 == 0, "pairs of channels");
  const Expr columns = Iota(SizeOf(x, 3)) * Int(a, 4), rows = Iota(SizeOf(x, 2)) * Int(a, 4);
  const Expr even =
      Reshape(Ints(a, CountedFrom(0, channels.value())), std::vector<int64_t>{-1, 1, 1});
  const Expr is_y = IsTrue(even.Op("mod", {a.b().Int(2)}));
  const Expr places = Where(is_y, Reshape(rows, std::vector<int64_t>{1, -1, 1}),
                            Reshape(columns, std::vector<int64_t>{1, 1, -1}));
  return places.To(x.dtype()) - x;
}

PaddleResults Anchors(PaddleArgs& a) {
  const Plane cells = PlaneOf(a, a.X("Input"));
  const std::vector<double> sizes = a.Numbers("anchor_sizes"), ratios = a.Numbers("aspect_ratios"),
                            stride = a.Numbers("stride"),
                            variances = a.Numbers("variances", {0.1, 0.1, 0.2, 0.2});
  const double offset = a.Number("offset", 0.5);
  a.Require(stride.size() == 2 && !sizes.empty() && !ratios.empty(), "strides, sizes and ratios");
  RequireFewBoxes(a, cells, static_cast<int64_t>(sizes.size() * ratios.size()), "anchors");
  const double step_x = stride[0], step_y = stride[1];
  AnchorGrid grid{cells.height, cells.width, {}, step_x, step_y};
  for (const BoxSize& base : AnchorSizes({step_x * step_y, ratios})) {
    for (const double size : sizes) {
      grid.anchors.push_back(PixelAnchor({size / step_x * base.width, size / step_y * base.height},
                                         offset * (step_x - 1), offset * (step_y - 1)));
    }
  }
  return WithVariances(a, "Anchors", grid, AnchorCorners(grid), variances);
}

// --- Coding --------------------------------------------------------------------------------------

struct Sides {
  Expr width, height, x, y;  // sizes and centers
};
Sides SidesOf(const Expr& box, double more) {
  const Expr width = Shifted(Part(box, 2) - Part(box, 0), more);
  const Expr height = Shifted(Part(box, 3) - Part(box, 1), more);
  return {width, height, Part(box, 0) + width * 0.5, Part(box, 1) + height * 0.5};
}

Expr BoxCoder(PaddleArgs& a) {
  const Expr prior = a.X("PriorBox"), target = a.X("TargetBox");
  const Expr given = a.Opt("PriorBoxVar");
  const std::string type = a.String("code_type", "encode_center_size");
  const bool normalized = a.Bool("box_normalized", true);
  const int64_t axis = a.Int("axis", 0);
  const std::vector<double> variance = a.Numbers("variance");
  const double more = normalized ? 0 : 1;
  const bool encodes = type == "encode_center_size";
  a.Require(encodes || type == "decode_center_size", StrCat("a code ", type));
  // Rows are targets, columns priors.
  const int64_t side = encodes || axis == 0 ? 0 : 1;
  const Expr priors = Unsqueeze(prior, {side});
  Expr factors = nullptr;
  if (given.value()) {
    factors = a.Rank(given) == 1 ? given : Unsqueeze(given, {side});
  } else if (!variance.empty()) {
    a.Require(variance.size() == 4, "four variances");
    factors = NumbersAs(a, prior.dtype(), {4}, variance);
  }
  const Sides p = SidesOf(priors, more);
  if (encodes) {
    const Expr t = Unsqueeze(target, {1});
    const Expr x = (Part(t, 2) + Part(t, 0)) * 0.5, y = (Part(t, 3) + Part(t, 1)) * 0.5;
    const Sides s = SidesOf(t, more);
    const Expr code = Joined(prior, {(x - p.x) / p.width, (y - p.y) / p.height,
                                     Log(Abs(s.width / p.width)), Log(Abs(s.height / p.height))});
    return factors.value() ? code / factors : code;
  }
  const Expr code = factors.value() ? target * factors : target;
  const Expr x = Part(code, 0) * p.width + p.x, y = Part(code, 1) * p.height + p.y;
  const Expr w = Exp(Part(code, 2)) * p.width, h = Exp(Part(code, 3)) * p.height;
  return Joined(
      prior, {x - w * 0.5, y - h * 0.5, Shifted(x + w * 0.5, -more), Shifted(y + h * 0.5, -more)});
}

// To the image, whose info is height, width and scale.
Expr BoxClip(PaddleArgs& a) {
  const Expr boxes = a.X("Input"), info = a.X("ImInfo");
  a.Require(a.Rank(boxes) == 3, "boxes of more than one image in one list");
  const auto edge = [&](int64_t i) {
    const Expr size = Part(info, i) / Part(info, 2);
    return Unsqueeze(Sign(size) * RoundHalfUp(Abs(size)), {1}) - 1.0;
  };
  const Expr w = edge(1), h = edge(0);
  const auto within = [&](int64_t i, const Expr& most) {
    return Max(Min(Part(boxes, i), most), 0.0);
  };
  return Joined(boxes, {within(0, w), within(1, h), within(2, w), within(3, h)});
}

// [x, y, w, h, confidence, classes...] of each anchor and cell.
PaddleResults YoloBox(PaddleArgs& a) {
  const Expr x = a.X(), sizes = a.X("ImgSize");
  const std::vector<int64_t> anchors = a.Ints("anchors");
  const int64_t classes = a.Int("class_num", 0), ratio = a.Int("downsample_ratio", 32);
  const double threshold = a.Number("conf_thresh", 0.01), scale = a.Number("scale_x_y", 1);
  const bool clips = a.Bool("clip_bbox", true), aware = a.Bool("iou_aware", false);
  const double factor = a.Number("iou_aware_factor", 0.5);
  const auto count = static_cast<int64_t>(anchors.size() / 2);
  if (count < 1 || classes < 1) a.Fail(Invalid("no anchors or classes"));
  const Size batch = SizeAt(x, 0), height = SizeAt(x, 2), width = SizeAt(x, 3);
  const auto channels = [&](int64_t from, int64_t to) { return Slice(x, 1, from, to); };
  const Expr rest = aware ? channels(count, count * (classes + 6)) : x;
  // [batch, anchors, cells..., entries]
  const Expr cells = Transpose(
      ReshapeTo(rest, {batch, Size(count), Size(classes + 5), height, width}), {0, 1, 3, 4, 2});
  Expr confidence = Part(cells, 4).Op("sigmoid");
  if (aware) {
    const Expr iou = Unsqueeze(channels(0, count), {4}).Op("sigmoid");
    confidence = Pow(confidence, 1 - factor) * Pow(iou, factor);
  }
  const Expr counts = Not(confidence < threshold);
  const DType type = x.dtype();
  // [batch, 1, 1, 1, 1]
  const auto of_image = [&](int64_t i) { return Unsqueeze(Part(sizes.To(type), i), {1, 2, 3}); };
  const Expr image_h = of_image(0), image_w = of_image(1);
  const auto number = [&](const Size& size) { return Scalar(a, size).To(type); };
  const Expr cells_w = number(width), cells_h = number(height);
  const double bias = -0.5 * (scale - 1);
  const Expr column = Unsqueeze(Iota(Scalar(a, width)).To(type), {0, 2});
  const Expr row = Unsqueeze(Iota(Scalar(a, height)).To(type), {1, 2});
  const auto place = [&](int64_t i, const Expr& cell, const Expr& image, const Expr& of) {
    return Shifted(Scaled(Part(cells, i).Op("sigmoid"), scale) + cell, bias) * image / of;
  };
  const auto size = [&](int64_t i, const Expr& image, const Expr& of) {
    std::vector<double> numbers;
    for (int64_t k = 0; k < count; ++k) {
      numbers.push_back(static_cast<double>(anchors[static_cast<size_t>(2 * k + i - 2)]));
    }
    const Expr anchor = NumbersAs(a, type, {count, 1, 1, 1}, numbers);
    return Exp(Part(cells, i)) * anchor * image / (of * static_cast<double>(ratio));
  };
  const Expr cx = place(0, column, image_w, cells_w), cy = place(1, row, image_h, cells_h);
  const Expr w = size(2, image_w, cells_w) * 0.5, h = size(3, image_h, cells_h) * 0.5;
  Expr left = cx - w, top = cy - h, right = cx + w, bottom = cy + h;
  if (clips) {
    left = Max(left, 0.0);
    top = Max(top, 0.0);
    right = Min(right, image_w - 1.0);
    bottom = Min(bottom, image_h - 1.0);
  }
  const Expr boxes = Where(counts, Joined(x, {left, top, right, bottom}), 0.0);
  const Expr scores =
      Where(counts, confidence * Slice(cells, -1, 5, 5 + classes).Op("sigmoid"), 0.0);
  return {{"Boxes", {ReshapeTo(boxes, {batch, Size(-1), Size(4)})}},
          {"Scores", {ReshapeTo(scores, {batch, Size(-1), Size(classes)})}}};
}

// --- Overlap -------------------------------------------------------------------------------------

// Of each box of x with each of y, which are lists of boxes, of one batch or none.
Expr Overlaps(const Expr& x, const Expr& y, double more) {
  const Expr a = Unsqueeze(x, {-2}), b = Unsqueeze(y, {-3});
  const auto area = [&](const Expr& box) {
    return Max(Shifted(Part(box, 2) - Part(box, 0), more), 0.0) *
           Max(Shifted(Part(box, 3) - Part(box, 1), more), 0.0);
  };
  const Expr w = Max(Shifted(Min(Part(a, 2), Part(b, 2)) - Max(Part(a, 0), Part(b, 0)), more), 0.0);
  const Expr h = Max(Shifted(Min(Part(a, 3), Part(b, 3)) - Max(Part(a, 1), Part(b, 1)), more), 0.0);
  const Expr both = w * h;
  const Expr all = area(a) + area(b) - both;
  return Squeeze(Where(both > 0.0, both / all, 0.0), {-1});
}

Expr IouSimilarity(PaddleArgs& a) {
  const double more = a.Bool("box_normalized", true) ? 0 : 1;
  return Overlaps(a.X(), a.X("Y"), more);
}

// class, score and box of each that is kept, image by image and class by class.
PaddleResults MulticlassNms(PaddleArgs& a) {
  const Expr boxes = a.X("BBoxes"), scores = a.X("Scores");
  ClassSuppression rules{a.Int("background_label", 0), a.Int("nms_top_k", -1),
                         a.Int("keep_top_k", -1), a.Number("score_threshold", 0),
                         a.Number("nms_threshold", 0.3)};
  rules.pixel = a.Bool("normalized", true) ? 0 : 1;
  a.Require(a.Number("nms_eta", 1) >= 1 || rules.overlap <= 0.5, "a threshold that falls");
  a.Require(a.Rank(boxes) == 3 && DimAt(boxes, 2).is_static() && DimAt(boxes, 2).value() == 4,
            "boxes of other than four numbers");
  a.Require(boxes.dtype() == DType::kFloat32, "boxes of another type than float32");
  const bool shared = a.Rank(scores) == 3;
  Expr numbers = a.Opt("RoisNum");
  // [images, classes, boxes]
  Expr table = scores, images = SizeOf(scores, 0);
  if (!shared) {
    a.Require(numbers.value() != nullptr, "boxes of images by LoD");
    numbers = numbers.To(DType::kInt64);
    images = SizeOf(numbers, 0);
    // Of one list for all images each has its part.
    const Expr ends = CumSum(numbers, 0);
    const Expr place = Unsqueeze(Iota(SizeOf(scores, 0)), {0});
    const Expr mine = (place < Unsqueeze(ends, {1})) & (place >= Unsqueeze(ends - numbers, {1}));
    table = Where(Unsqueeze(mine, {1}), Unsqueeze(Transpose(scores, {1, 0}), {0}),
                  Extreme(a, scores.dtype(), false));
  }
  const ClassBoxes found = SuppressByClass(boxes, table, images, /*of_class=*/!shared, rules);
  return {{"Out", {found.out}}, {"Index", {found.index}}, {"NmsRoisNum", {found.counts}}};
}

// Scores fall by how much better boxes of the class overlap, instead of boxes going.
PaddleResults MatrixNms(PaddleArgs& a) {
  const Expr boxes = a.X("BBoxes"), scores = a.X("Scores");
  const int64_t background = a.Int("background_label", 0), top = a.Int("nms_top_k", -1),
                keep = a.Int("keep_top_k", -1);
  const double threshold = a.Number("score_threshold", 0), post = a.Number("post_threshold", 0),
               sigma = a.Number("gaussian_sigma", 2);
  const bool gaussian = a.Bool("use_gaussian", false);
  const double more = a.Bool("normalized", true) ? 0 : 1;
  const auto classes = KnownSizes(scores, 1, 2);
  a.Require(classes.has_value() && (*classes)[0] <= 512, "as many classes, or an unknown number");
  const Size each = SizeAt(scores, 2);
  const Expr images = SizeOf(scores, 0);
  Expr k = Vector(a, each);
  if (top >= 0) k = Min(k, Ints(a, {top}));
  std::vector<Value*> all_scores, all_rows;
  for (int64_t c = 0; c < (*classes)[0]; ++c) {
    if (c == background) continue;
    const auto [score, index] = TopOf(Gather(scores, a.b().Int(c), 1), k, 1);  // [images, k]
    const Expr picked = boxes.Op("gather_nd", {Unsqueeze(index, {2})}, {{"batch_dims", 1}});
    // Boxes below the threshold come after all boxes that count, so they reduce no score.
    const Expr rows = Iota(SizeOf(score, 1));
    const Expr before = Unsqueeze(rows, {0}) < Unsqueeze(rows, {1});
    // Row i, column j < i: how much i overlaps the better j.
    const Expr iou = Where(before, Overlaps(picked, picked, more), 0.0);
    const Expr worst = Unsqueeze(Reduce(iou, "reduce_max", {2}), {1});
    const Expr decay =
        gaussian ? Exp((worst * worst - iou * iou) * sigma) : (1.0 - iou) / (1.0 - worst);
    const Expr factor = Reduce(Where(before, Min(decay, 1.0), 1.0), "reduce_min", {2});
    const Expr fallen = score * factor;
    const Expr stays = Flat((score > threshold) & (fallen > post));
    const auto kept = [&](const Expr& v) { return v.Op("compress", {stays}, {{"axis", 0}}); };
    const Expr image = Expand(Unsqueeze(Iota(images), {1}), ShapeOf(score));
    const Expr of = Expand(Int(a, c), ShapeOf(score));
    all_scores.push_back(kept(Flat(fallen)));
    all_rows.push_back(kept(Reshape(Stack(a, {image, of, index}, 2), std::vector<int64_t>{-1, 3})));
  }
  a.Require(!all_scores.empty(), "no class but the background");
  const Found kept = KeepBest({Concat(a, all_rows, 0), Concat(a, all_scores, 0)}, images, keep);
  const Expr group = Gather(kept.rows, Int(a, 0), 1);
  const Expr order = OrderOfGroups(group, Sort(kept.score, 0, true).indices);
  const Expr rows = Gather(kept.rows, order, 0);
  const auto last = [&](int64_t i) { return Gather(rows, Int(a, i), 1); };
  const Expr image = last(0), box = last(2);
  const Expr out = Joined(boxes, {Unsqueeze(last(1), {1}).To(boxes.dtype()),
                                  Unsqueeze(Gather(kept.score, order, 0), {1}),
                                  boxes.Op("gather_nd", {Stack(a, {image, box}, 1)})});
  return {{"Out", {out}},
          {"Index", {Unsqueeze(image * Scalar(a, each) + box, {1}).To(DType::kInt32)}},
          {"RoisNum", {CountByImage(image, images)}}};
}

// Boxes in the order of their scores: those that no better one overlaps.
Expr Nms(PaddleArgs& a) {
  const Expr boxes = a.X("Boxes");
  const double overlap = a.Number("iou_threshold", 1);
  const Size count = SizeAt(boxes, 0);
  const Expr number = Scalar(a, count);
  // The order is that of the list.
  const Expr scores = Unsqueeze((number - Iota(number)).To(DType::kFloat32), {0, 1});
  const Expr most = Vector(a, count);
  const Expr rows = SelectBoxes({Unsqueeze(boxes, {0}), scores, most, overlap, 0.0});
  return Gather(rows, Int(a, 2), 1);
}

}  // namespace

X2IR_PADDLE(constant_of_shape)
    .From({{"prior_box", PriorBox},
           {"density_prior_box", DensityPriorBox},
           {"anchor_generator", Anchors}});
X2IR_PADDLE(sub).From("polygon_box_transform", PolygonCorners);
X2IR_PADDLE(mul).From({{"box_coder", BoxCoder}, {"yolo_box", YoloBox}});
X2IR_PADDLE(clip).From("box_clip", BoxClip);
X2IR_PADDLE(div).From("iou_similarity", IouSimilarity);
X2IR_PADDLE(non_max_suppression)
    .From({"multiclass_nms3", "multiclass_nms2", "multiclass_nms"}, MulticlassNms)
    .From({{"matrix_nms", MatrixNms}, {"nms", Nms}});

}  // namespace x2ir
