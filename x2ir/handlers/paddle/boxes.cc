// Detection: boxes out of what networks give, and the best of them.
#include <algorithm>
#include <cmath>

#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// A column of the last axis, which stays with size 1.
Expr Part(const Expr& x, int64_t i) { return Slice(x, -1, i, i + 1); }

Expr Joined(const Expr& x, std::vector<Value*> parts) {
  return Concat(x.builder(), std::move(parts), -1);
}

// --- Priors --------------------------------------------------------------------------------------

constexpr int64_t kMaxBoxes = 1 << 22;

struct Plane {
  int64_t height, width;
};
Plane PlaneOf(PaddleArgs& a, const Expr& x) {
  const auto sizes = KnownSizes(x, 2, 4);
  a.Require(sizes.has_value(), "maps of unknown size");
  return {(*sizes)[0], (*sizes)[1]};
}

// Ratios, each once, with their reciprocals where they are flipped; 1 goes first.
std::vector<double> Ratios(const std::vector<double>& given, bool flip) {
  std::vector<double> all = {1};
  for (const double ratio : given) {
    const bool known = std::any_of(all.begin(), all.end(), [&](double each) {
      return std::abs(static_cast<float>(ratio) - static_cast<float>(each)) < 1e-6;
    });
    if (known) continue;
    all.push_back(ratio);
    if (flip) all.push_back(1 / ratio);
  }
  return all;
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

PaddleResults PriorBox(PaddleArgs& a) {
  const Expr map = a.X("Input"), image = a.X("Image");
  const Plane cells = PlaneOf(a, map), pixels = PlaneOf(a, image);
  const std::vector<double> least = a.Numbers("min_sizes"), most = a.Numbers("max_sizes");
  const std::vector<double> ratios = Ratios(a.Numbers("aspect_ratios"), a.Bool("flip", true));
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
  std::vector<std::pair<double, double>> halves;  // of widths and heights
  for (size_t s = 0; s < least.size(); ++s) {
    const double small = least[s];
    const auto square = [&](double size) { halves.emplace_back(size / 2, size / 2); };
    const auto between = [&] {
      if (!most.empty()) square(std::sqrt(small * most[s]));
    };
    if (least_first) {
      square(small);
      between();
    }
    for (const double ratio : ratios) {
      if (least_first && std::abs(ratio - 1) < 1e-6) continue;
      halves.emplace_back(small * std::sqrt(ratio) / 2, small / std::sqrt(ratio) / 2);
    }
    if (!least_first) between();
  }
  const auto count = static_cast<int64_t>(halves.size());
  a.Require(cells.height * cells.width * count <= kMaxBoxes, "as many boxes");
  std::vector<double> boxes;
  const auto width = static_cast<double>(pixels.width), height = static_cast<double>(pixels.height);
  for (int64_t h = 0; h < cells.height; ++h) {
    for (int64_t w = 0; w < cells.width; ++w) {
      const double x = (static_cast<double>(w) + offset) * step_w;
      const double y = (static_cast<double>(h) + offset) * step_h;
      for (const auto& half : halves) {
        for (const double edge : {(x - half.first) / width, (y - half.second) / height,
                                  (x + half.first) / width, (y + half.second) / height}) {
          boxes.push_back(clip ? std::clamp(edge, 0.0, 1.0) : edge);
        }
      }
    }
  }
  const std::vector<int64_t> dims = {cells.height, cells.width, count};
  return {{"Boxes", {NumbersAs(a, map.dtype(), {dims[0], dims[1], dims[2], 4}, boxes)}},
          {"Variances", {Repeated(a, map.dtype(), dims, variances)}}};
}

// Boxes of fixed sizes, several of each, spread evenly over the cell.
PaddleResults DensityPriorBox(PaddleArgs& a) {
  const Expr map = a.X("Input"), image = a.X("Image");
  const Plane cells = PlaneOf(a, map), pixels = PlaneOf(a, image);
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
    a.Require(cells.height * cells.width * count <= kMaxBoxes, "as many boxes");
  }
  const auto step = static_cast<int64_t>((step_w + step_h) * 0.5);
  std::vector<double> boxes;
  const auto add = [&](double cell_x, double cell_y, size_t s, double ratio) {
    const int64_t density = densities[s];
    const auto shift = static_cast<double>(step / density);
    const double half_w = sizes[s] * std::sqrt(ratio) / 2, half_h = sizes[s] / std::sqrt(ratio) / 2;
    const double from = shift / 2 - static_cast<double>(step) / 2;
    for (int64_t i = 0; i < density; ++i) {
      for (int64_t j = 0; j < density; ++j) {
        const double x = cell_x + from + static_cast<double>(j) * shift;
        const double y = cell_y + from + static_cast<double>(i) * shift;
        boxes.push_back(std::max((x - half_w) / width, 0.0));
        boxes.push_back(std::max((y - half_h) / height, 0.0));
        boxes.push_back(std::min((x + half_w) / width, 1.0));
        boxes.push_back(std::min((y + half_h) / height, 1.0));
      }
    }
  };
  for (int64_t h = 0; h < cells.height; ++h) {
    for (int64_t w = 0; w < cells.width; ++w) {
      for (size_t s = 0; s < sizes.size(); ++s) {
        for (const double ratio : ratios) {
          add((static_cast<double>(w) + offset) * step_w,
              (static_cast<double>(h) + offset) * step_h, s, ratio);
        }
      }
    }
  }
  for (double& edge : boxes) edge = clip ? std::clamp(edge, 0.0, 1.0) : edge;
  std::vector<int64_t> dims = {cells.height, cells.width, count};
  if (flat) dims = {cells.height * cells.width * count};
  std::vector<int64_t> box_dims = dims;
  box_dims.push_back(4);
  return {{"Boxes", {NumbersAs(a, map.dtype(), box_dims, boxes)}},
          {"Variances", {Repeated(a, map.dtype(), dims, variances)}}};
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
  const Expr map = a.X("Input");
  const Plane cells = PlaneOf(a, map);
  const std::vector<double> sizes = a.Numbers("anchor_sizes"), ratios = a.Numbers("aspect_ratios"),
                            stride = a.Numbers("stride"),
                            variances = a.Numbers("variances", {0.1, 0.1, 0.2, 0.2});
  const double offset = a.Number("offset", 0.5);
  a.Require(stride.size() == 2 && !sizes.empty() && !ratios.empty(), "strides, sizes and ratios");
  const auto count = static_cast<int64_t>(sizes.size() * ratios.size());
  a.Require(cells.height * cells.width * count <= kMaxBoxes, "as many anchors");
  std::vector<double> boxes;
  for (int64_t h = 0; h < cells.height; ++h) {
    for (int64_t w = 0; w < cells.width; ++w) {
      const double x = static_cast<double>(w) * stride[0] + offset * (stride[0] - 1);
      const double y = static_cast<double>(h) * stride[1] + offset * (stride[1] - 1);
      for (const double ratio : ratios) {
        for (const double size : sizes) {
          const double area = stride[0] * stride[1];
          const double base_w = std::round(std::sqrt(area / ratio));
          const double base_h = std::round(base_w * ratio);
          const double width = size / stride[0] * base_w, height = size / stride[1] * base_h;
          for (const double edge : {x - 0.5 * (width - 1), y - 0.5 * (height - 1),
                                    x + 0.5 * (width - 1), y + 0.5 * (height - 1)}) {
            boxes.push_back(edge);
          }
        }
      }
    }
  }
  const std::vector<int64_t> dims = {cells.height, cells.width, count};
  return {{"Anchors", {NumbersAs(a, map.dtype(), {dims[0], dims[1], dims[2], 4}, boxes)}},
          {"Variances", {Repeated(a, map.dtype(), dims, variances)}}};
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

// IR's overlap knows no pixels that are counted: boxes are made larger by one at their ends.
Expr Larger(const Expr& boxes, double more) {
  if (more == 0) return boxes;
  return Joined(boxes,
                {Part(boxes, 0), Part(boxes, 1), Part(boxes, 2) + more, Part(boxes, 3) + more});
}

// What non_max_suppression selects: rows of image, class and box. A score has to be greater than
// the threshold.
Expr Selected(PaddleArgs& a, const Expr& boxes, const Expr& scores, const Expr& most,
              double overlap, double threshold) {
  const auto number = [&](double value) {
    return a.b().Constant(Tensor::Of<float>({1}, {static_cast<float>(value)}));
  };
  return a.Op("non_max_suppression", {boxes, scores, most, number(overlap), number(threshold)});
}

// The first `top` scores of each class; the others are what no threshold lets through.
Expr BestScores(PaddleArgs& a, const Expr& scores, int64_t top) {
  const Size boxes = SizeAt(scores, 2);
  if (top < 0 || (boxes.number && *boxes.number <= top)) return scores;
  const Expr k = Min(Vector(a, boxes), Ints(a, {top}));
  const Values best = a.b().Ops("top_k", {scores, k}, {{"axis", 2}}, 2);
  const Expr none = Expand(Extreme(a, scores.dtype(), false), ShapeOf(scores));
  return ScatterElements(none, 2, Expr(a.b(), best[1]), Expr(a.b(), best[0]), "none");
}

// Rows in the order of numbers that are put together of columns; by scores, the best first.
Expr OrderBy(const Expr& keys, bool descending) { return Sort(keys, 0, descending).indices; }

struct Best {
  Expr rows;  // [image, class, box]
  Expr score;
};
// At most `keep` of each image, the best of all its classes; ties go to the first.
Best KeepBest(PaddleArgs& a, const Best& found, const Expr& images, int64_t keep) {
  if (keep < 0) return found;
  const auto pick = [](const Best& b, const Expr& order) {
    return Best{Gather(b.rows, order, 0), Gather(b.score, order, 0)};
  };
  // By scores, then stably by images.
  const Best by_score = pick(found, OrderBy(found.score, true));
  const Expr image = Gather(by_score.rows, Int(a, 0), 1);
  const Expr count = SizeOf(image, 0);
  const Expr key = image * count + Iota(count);
  const Best by_image = pick(by_score, OrderBy(key, false));
  // Each one's place among those of its image.
  const Expr sorted = Gather(by_image.rows, Int(a, 0), 1);
  const Expr of = (Unsqueeze(sorted, {0}) == Unsqueeze(Iota(images), {1})).To(DType::kInt64);
  const Expr number = CumSum(of, 1);
  const Expr place = Gather(Reshape(number, std::vector<int64_t>{-1}),
                            sorted * SizeOf(sorted, 0) + Iota(SizeOf(sorted, 0)), 0);
  const Expr stays = place <= static_cast<double>(keep);
  const auto kept = [&](const Expr& v) { return v.Op("compress", {stays}, {{"axis", 0}}); };
  return {kept(by_image.rows), kept(by_image.score)};
}

// How many rows each image has.
Expr CountOfImages(const Expr& image, const Expr& images) {
  const Expr of = (Unsqueeze(image, {0}) == Unsqueeze(Iota(images), {1})).To(DType::kInt32);
  return Reduce(of, "reduce_sum", {1});
}

// Rows of image and class in order; within them by a key.
Expr OrderOfGroups(const Expr& group, const Expr& by_key) {
  const Expr count = SizeOf(by_key, 0);
  const Expr sorted = Gather(group, by_key, 0);
  return Gather(by_key, OrderBy(sorted * count + Iota(count), false), 0);
}

struct NmsOptions {
  int64_t background, top, keep;
  double threshold, overlap, more;
};
NmsOptions TakeNmsOptions(PaddleArgs& a) {
  NmsOptions o{a.Int("background_label", 0),   a.Int("nms_top_k", -1),
               a.Int("keep_top_k", -1),        a.Number("score_threshold", 0),
               a.Number("nms_threshold", 0.3), 0};
  o.more = a.Bool("normalized", true) ? 0 : 1;
  a.Require(a.Number("nms_eta", 1) >= 1 || o.overlap <= 0.5, "a threshold that falls");
  return o;
}

// Scores [.., classes, boxes] without those of the background and of what is not among the best.
Expr CountingScores(PaddleArgs& a, const Expr& scores, const NmsOptions& o) {
  const Expr best = BestScores(a, scores, o.top);
  if (o.background < 0) return best;
  const auto classes = KnownSizes(scores, 1, 2);
  a.Require(classes.has_value(), "an unknown number of classes");
  if (o.background >= (*classes)[0]) return best;
  std::vector<double> keeps(static_cast<size_t>((*classes)[0]), 1);
  keeps[static_cast<size_t>(o.background)] = 0;
  const Expr counts = NumbersAs(a, DType::kFloat32, {(*classes)[0], 1}, keeps) > 0.5;
  return Where(counts, best, Extreme(a, best.dtype(), false));
}

// class, score and box of each that is kept, image by image and class by class.
PaddleResults MulticlassNms(PaddleArgs& a) {
  const Expr boxes = a.X("BBoxes"), scores = a.X("Scores");
  const NmsOptions o = TakeNmsOptions(a);
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
  const Expr best = CountingScores(a, table, o);
  const Size each = SizeAt(table, 2), classes = SizeAt(table, 1);
  const Expr most = Vector(a, each);
  Expr rows = nullptr;
  if (shared) {
    rows = Selected(a, Larger(boxes, o.more), best, most, o.overlap, o.threshold);
  } else {
    // Classes have boxes of their own: each is an image to the op.
    const Expr of_class = Unsqueeze(Transpose(Larger(boxes, o.more), {1, 0, 2}), {0});
    const std::vector<Size> all = {Size(images), Size(1), Size(1), Size(1)};
    const Expr spread = ReshapeTo(Expand(of_class, Vector(a, all)), {Size(-1), each, Size(4)});
    const Expr found = Selected(a, spread, ReshapeTo(best, {Size(-1), Size(1), each}), most,
                                o.overlap, o.threshold);
    const Expr both = Gather(found, Int(a, 0), 1), count = Scalar(a, classes);
    rows = Stack(a, {both / count, Mod(both, count), Gather(found, Int(a, 2), 1)}, 1);
  }
  const Best kept = KeepBest(a, Best{rows, table.Op("gather_nd", {rows})}, images, o.keep);
  const auto column = [&](int64_t i) { return Gather(kept.rows, Int(a, i), 1); };
  // The best first, or in the order of the list.
  const Expr by = shared ? OrderBy(kept.score, true) : OrderBy(column(2), false);
  const Expr order = OrderOfGroups(column(0) * Scalar(a, classes) + column(1), by);
  const Expr final_rows = Gather(kept.rows, order, 0);
  const auto last = [&](int64_t i) { return Gather(final_rows, Int(a, i), 1); };
  const Expr image = last(0), class_ = last(1), box = last(2);
  const Expr at = shared ? Stack(a, {image, box}, 1) : Stack(a, {box, class_}, 1);
  const Expr out =
      Joined(boxes, {Unsqueeze(class_, {1}).To(boxes.dtype()),
                     Unsqueeze(Gather(kept.score, order, 0), {1}), boxes.Op("gather_nd", {at})});
  const Expr index = shared ? image * Scalar(a, each) + box : box * Scalar(a, classes) + class_;
  return {{"Out", {out}},
          {"Index", {Unsqueeze(index, {1}).To(DType::kInt32)}},
          {"NmsRoisNum", {CountOfImages(image, images)}}};
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
    const Values best = a.b().Ops("top_k", {Gather(scores, a.b().Int(c), 1), k}, {{"axis", 1}}, 2);
    const Expr score(a.b(), best[0]), index(a.b(), best[1]);  // [images, k]
    const Expr picked = boxes.Op("gather_nd", {Unsqueeze(index, {2})}, {{"batch_dims", 1}});
    // What is below the threshold is behind all that counts, so it makes nothing fall.
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
  const Best found{Concat(a, all_rows, 0), Concat(a, all_scores, 0)};
  const Best kept = KeepBest(a, found, images, keep);
  const Expr group = Gather(kept.rows, Int(a, 0), 1);
  const Expr order = OrderOfGroups(group, OrderBy(kept.score, true));
  const Expr rows = Gather(kept.rows, order, 0);
  const auto last = [&](int64_t i) { return Gather(rows, Int(a, i), 1); };
  const Expr image = last(0), box = last(2);
  const Expr out = Joined(boxes, {Unsqueeze(last(1), {1}).To(boxes.dtype()),
                                  Unsqueeze(Gather(kept.score, order, 0), {1}),
                                  boxes.Op("gather_nd", {Stack(a, {image, box}, 1)})});
  return {{"Out", {out}},
          {"Index", {Unsqueeze(image * Scalar(a, each) + box, {1}).To(DType::kInt32)}},
          {"RoisNum", {CountOfImages(image, images)}}};
}

// Boxes in the order of their scores: those that no better one overlaps.
Expr Nms(PaddleArgs& a) {
  const Expr boxes = a.X("Boxes");
  const double overlap = a.Number("iou_threshold", 1);
  const Size count = SizeAt(boxes, 0);
  const Expr number = Scalar(a, count);
  // The order is that of the list.
  const Expr scores = Unsqueeze((number - Iota(number)).To(DType::kFloat32), {0, 1});
  const Expr rows = Selected(a, Unsqueeze(boxes, {0}), scores, Vector(a, count), overlap, 0);
  return Gather(rows, Int(a, 2), 1);
}

}  // namespace

X2IR_PADDLE(constant_of_shape)
    .From("prior_box", PriorBox)
    .From("density_prior_box", DensityPriorBox)
    .From("anchor_generator", Anchors);
X2IR_PADDLE(sub).From("polygon_box_transform", PolygonCorners);
X2IR_PADDLE(mul).From("box_coder", BoxCoder).From("yolo_box", YoloBox);
X2IR_PADDLE(clip).From("box_clip", BoxClip);
X2IR_PADDLE(div).From("iou_similarity", IouSimilarity);
X2IR_PADDLE(non_max_suppression)
    .From({"multiclass_nms3", "multiclass_nms2", "multiclass_nms"}, MulticlassNms)
    .From("matrix_nms", MatrixNms)
    .From("nms", Nms);

}  // namespace x2ir
