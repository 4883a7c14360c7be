// Caffe: boxes to begin with, boxes that are left, and regions of images (SSD, R-FCN, Faster
// R-CNN).
#include "x2ir/builder/layers/detection.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "x2ir/builder/layers/anchors.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

std::vector<double> Wide(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}
// SSD's kernel takes sizes of boxes as integers.
std::vector<double> Whole(const std::vector<float>& numbers) {
  std::vector<double> whole;
  for (const float number : numbers) whole.push_back(std::trunc(static_cast<double>(number)));
  return whole;
}

absl::Status CheckRatios(const std::vector<double>& ratios) {
  for (const double ratio : ratios) {
    if (!(ratio > 0)) return Invalid("a ratio of ", ratio);
  }
  return absl::OkStatus();
}

// [1, 2, 4 * boxes]: corners as parts of the image, and variances.
absl::StatusOr<Value*> PriorBox(CaffeArgs& a) {
  const std::vector<double> least = Whole(a.Floats("min_size")), most = Whole(a.Floats("max_size"));
  const bool flip = a.Bool("flip", true), clip = a.Bool("clip", false);
  std::vector<double> variances = Wide(a.Floats("variance"));
  const std::vector<double> ratios = PriorRatios(Wide(a.Floats("aspect_ratio")), flip);
  if (least.empty() || (!most.empty() && most.size() != least.size())) {
    return Invalid(least.size(), " smallest sizes and ", most.size(), " largest ones");
  }
  if (variances.empty()) variances = {0.1};
  if (variances.size() != 1 && variances.size() != 4) {
    return Invalid(variances.size(), " variances");
  }
  const auto map = KnownSizes(a.in(0), 2, 4), image = KnownSizes(a.in(1), 2, 4);
  a.Require(map && image, "boxes of maps or images of unknown size");
  const int64_t given = a.Int("img_size", 0);
  const auto height = static_cast<double>(a.Int("img_h", given) > 0 ? a.Int("img_h", given)
                                                                    : (*image)[0]),
             width = static_cast<double>(a.Int("img_w", given) > 0 ? a.Int("img_w", given)
                                                                   : (*image)[1]);
  const float step = a.Float("step", 0);
  const double by_h = a.Float("step_h", step), by_w = a.Float("step_w", step);
  const bool steps = by_h > 0 && by_w > 0;
  const double step_h = steps ? by_h : height / static_cast<double>((*map)[0]),
               step_w = steps ? by_w : width / static_cast<double>((*map)[1]);
  const double offset = a.Float("offset", 0.5f);
  X2IR_RETURN_IF_ERROR(CheckRatios(ratios));
  return PriorBoxes(a.b(), a.dtype(),
                    {(*map)[0], (*map)[1], PriorAnchors(least, most, ratios), step_w, step_h,
                     offset, offset, width, height, clip},
                    variances);
}

Expr ColumnAt(const Expr& x, int64_t k) { return ElementAt(x, -1, k); }

// Offsets [images, boxes, 4] from boxes [boxes, 4], in parts of variances of these.
absl::StatusOr<Expr> DecodedBoxes(CaffeArgs& a, const Expr& by, const Expr& prior,
                                  const Expr& variance, const std::string& code, bool encoded) {
  const auto part = [&](int64_t k) {
    const Expr offset = ColumnAt(by, k);
    return encoded ? offset : offset * ColumnAt(variance, k);
  };
  const Expr left = ColumnAt(prior, 0), top = ColumnAt(prior, 1), right = ColumnAt(prior, 2),
             bottom = ColumnAt(prior, 3), width = right - left, height = bottom - top;
  if (code == "CORNER") {
    return Stack(a, {left + part(0), top + part(1), right + part(2), bottom + part(3)}, -1);
  }
  if (code == "CORNER_SIZE") {
    return Stack(a,
                 {left + part(0) * width, top + part(1) * height, right + part(2) * width,
                  bottom + part(3) * height},
                 -1);
  }
  if (code != "CENTER_SIZE") return Unimplemented("code_type ", code);
  const Expr x = part(0) * width + (left + right) / 2, y = part(1) * height + (top + bottom) / 2;
  const Expr half_w = Exp(part(2)) * width / 2, half_h = Exp(part(3)) * height / 2;
  return Stack(a, {x - half_w, y - half_h, x + half_w, y + half_h}, -1);
}

// Operands: offsets, chances, priors. [1, 1, n, 7]: image, class, chance and corners of each that
// is left. Of nothing there are no rows, where Caffe gives one of -1.
absl::StatusOr<Value*> DetectionOutput(CaffeArgs& a) {
  const int64_t classes = a.Int("num_classes", 0), background = a.Int("background_label_id", 0),
                keep = a.Int("keep_top_k", -1), top = a.Int("nms_param.top_k", -1);
  const float overlap = a.Float("nms_param.nms_threshold", 0.3f),
              threshold = a.Float("confidence_threshold", -1e30f),
              eta = a.Float("nms_param.eta", 1);
  const bool encoded = a.Bool("variance_encoded_in_target", false);
  const std::string code = a.Text("code_type", "CORNER");
  a.Require(a.Bool("share_location", true), "boxes of each class alone");
  a.Require(eta == 1, "a threshold that falls");
  a.Drop({"visualize", "visualize_threshold", "save_file"});
  for (const auto& [name, attr] : a.attrs()) {
    if (name.view().find(".save_output_param.") != std::string_view::npos) a.Ignore(name);
  }
  if (classes < 1 || classes > 100000) return Invalid(classes, " classes");
  const Expr prior = ReshapeTo(a.in(2), {Size(2), Size(-1), Size(4)});
  const auto plane = [&](int64_t k) { return Gather(prior, a.b().Int(k), 0); };
  const Size images = SizeAt(a.in(0), 0);
  const Expr offsets = ReshapeTo(a.in(0), {images, Size(-1), Size(4)});
  X2IR_ASSIGN_OR_RETURN(const Expr boxes,
                        DecodedBoxes(a, offsets, plane(0), plane(1), code, encoded));
  const Expr chances = Transpose(ReshapeTo(a.in(1), {images, Size(-1), Size(classes)}), {0, 2, 1});
  const ClassBoxes found = SuppressByClass(boxes, chances, SizeOf(chances, 0), /*of_class=*/false,
                                           {background, top, keep, threshold, overlap});
  const Expr places = found.index.To(DType::kInt64);
  const Expr image = (places / SizeOf(boxes, 1)).To(DType::kFloat32);
  return Unsqueeze(Concat(a, {image, found.out}, 1), {0, 1}).value();
}

Value* RoiPooling(CaffeArgs& a) {
  return a.Op("max_roi_pool", {a.in(0), a.in(1)},
              {{"pooled_shape", {a.Int("pooled_h", 0), a.Int("pooled_w", 0)}},
               {"spatial_scale", a.Float("spatial_scale", 1)}});
}

// R-FCN's: cell (i, j) of a region is the mean of a map of its own over that cell.
absl::StatusOr<Value*> PsRoiPooling(CaffeArgs& a) {
  const double scale = a.Float("spatial_scale", 1);
  const int64_t out = a.Int("output_dim", 0), cells = a.Int("group_size", 0);
  const Expr x = a.in(0), rois = a.in(1);
  const auto sizes = KnownSizes(x);
  a.Require(sizes && sizes->size() == 4 && (*sizes)[0] == 1, "regions of several images");
  const int64_t height = (*sizes)[2], width = (*sizes)[3];
  if (out < 1 || cells < 1 || cells > 4096 || (*sizes)[1] != out * cells * cells) {
    return Invalid("regions of ", (*sizes)[1], " channels as ", out, " of ", cells, " x ", cells);
  }
  const auto edge = [&](int64_t k, double more) {
    const Expr whole = Sign(ColumnAt(rois, k)) * RoundHalfUp(Abs(ColumnAt(rois, k)));
    return (whole + more) * scale;
  };
  const auto numbers = [&](int64_t count) {
    std::vector<double> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
    return NumbersAs(a, DType::kFloat32, {count}, all);
  };
  // [regions, cells, size]: 1 where a row or column is of a cell; and how many there are.
  struct Mask {
    Expr of, count;
  };
  const auto mask = [&](const Expr& from, const Expr& to, int64_t size) {
    const Expr each = Unsqueeze(Max(to - from, 0.1) / static_cast<double>(cells), {1});
    const Expr place = numbers(cells), start = Unsqueeze(from, {1});
    const auto inside = [&](const Expr& v) { return Max(Min(v, static_cast<double>(size)), 0.0); };
    const Expr begin = inside(Floor(place * each + start)),
               end = inside(Ceil((place + 1) * each + start));
    const Expr at = numbers(size);
    const Expr is = (at >= Unsqueeze(begin, {2})) & (at < Unsqueeze(end, {2}));
    return Mask{is.To(DType::kFloat32), Max(end - begin, 0.0)};
  };
  const Mask rows = mask(edge(2, 0), edge(4, 1), height),
             columns = mask(edge(1, 0), edge(3, 1), width);
  // By columns first: [cells, out * cells * height, width] by [cells, width, regions].
  const Expr maps = Reshape(x, {out, cells, cells, height, width});
  const Expr by_column = MatMul(Reshape(Transpose(maps, {2, 0, 1, 3, 4}), {cells, -1, width}),
                                Transpose(columns.of, {1, 2, 0}));
  // [cells (columns), out, cells (rows), height, regions] with the rows [cells, height, regions].
  const Expr apart =
      ReshapeTo(by_column, {Size(cells), Size(out), Size(cells), Size(height), SizeAt(rois, 0)});
  const Expr sums = Reduce(apart * Transpose(rows.of, {1, 2, 0}), "reduce_sum", {3});
  const Expr sum = Transpose(sums, {3, 1, 2, 0});  // [regions, out, rows, columns]
  const Expr area = Unsqueeze(Unsqueeze(rows.count, {2}) * Unsqueeze(columns.count, {1}), {1});
  return (sum / Max(area, 1.0)).value();
}

// --- Regions that a network proposes -------------------------------------------------------------

struct Regions {
  int64_t stride = 16, base = 16, least = 16, before = 6000, after = 300;
  float overlap = 0.7f;
  std::vector<double> ratios = {0.5, 1, 2}, scales = {8, 16, 32};
};

// Operands: chances [1, 2 * anchors, h, w], offsets [1, 4 * anchors, h, w], and the image's height,
// width and scale. [n, 5]: image 0 and corners of the best regions that overlap no better one.
absl::StatusOr<Values> RegionsOf(CaffeArgs& a, const Regions& regions_of) {
  const auto& [stride, base, least, before, after, overlap, ratios, scales] = regions_of;
  X2IR_RETURN_IF_ERROR(CheckRatios(ratios));
  const auto sizes = KnownSizes(a.in(0));
  a.Require(sizes && sizes->size() == 4 && (*sizes)[0] == 1, "regions of several images");
  const int64_t height = (*sizes)[2], width = (*sizes)[3];
  const auto each = static_cast<int64_t>(ratios.size() * scales.size());
  const auto count = CheckedProduct({height, width, each});
  if (!count || *count < 1 || *count > kMaxAnchors || (*sizes)[1] != 2 * each || stride < 1 ||
      before < 1 || after < 1) {
    return Invalid("regions of ", (*sizes)[1], " channels for ", each, " anchors");
  }
  const auto side = static_cast<double>(base), step = static_cast<double>(stride);
  std::vector<Anchor> cell;
  for (const BoxSize& size : AnchorSizes({side * side, ratios, scales, /*halves_to_even=*/true})) {
    cell.push_back(PixelAnchor(size, (side - 1) / 2, (side - 1) / 2));
  }
  const Expr anchors = NumbersAs(a, DType::kFloat32, {*count, 4},
                                 AnchorCorners({height, width, cell, step, step}), "anchors");
  const Expr chance =
      Reshape(Transpose(Slice(a.in(0), 1, Size(each), Size(2 * each)), {0, 2, 3, 1}), {*count});
  const Expr by = Reshape(Transpose(Reshape(a.in(1), {1, each, 4, height, width}), {0, 3, 4, 1, 2}),
                          {*count, 4});
  const Expr info = Reshape(a.in(2), {-1});
  const auto of_image = [&](int64_t k) { return Slice(info, 0, Size(k), Size(k + 1)); };
  const Expr left = ColumnAt(anchors, 0), top = ColumnAt(anchors, 1),
             w = ColumnAt(anchors, 2) - left + 1, h = ColumnAt(anchors, 3) - top + 1;
  const auto [x, y, half_w, half_h] =
      Decoded({left, top, w, h}, [&](int64_t k) { return ColumnAt(by, k); });
  const auto inside = [&](const Expr& v, const Expr& size) { return Max(Min(v, size - 1), 0.0); };
  const Expr x1 = inside(x - half_w, of_image(1)), y1 = inside(y - half_h, of_image(0)),
             x2 = inside(x + half_w, of_image(1)), y2 = inside(y + half_h, of_image(0));
  const Expr small = of_image(2) * static_cast<double>(least);
  const Expr large = (x2 - x1 + 1 >= small) & (y2 - y1 + 1 >= small);
  const auto [boxes, chances, chosen] =
      BestProposals({x1, y1, x2, y2, Where(large, chance, kNoChance)},
                    {std::min(before, *count), after, static_cast<double>(overlap), 1});
  const Expr regions = Gather(boxes, chosen, 0);
  const Expr image = Slice(regions, 1, Size(0), Size(1)) * 0.0;
  Values all = {Concat(a, {image, regions}, 1)};
  if (a.wants(1)) all.push_back(Unsqueeze(Gather(chances, chosen, 0), {1}));
  return all;
}

absl::StatusOr<Values> Proposal(CaffeArgs& a) {
  Regions r;
  r.stride = a.Int("feat_stride", r.stride);
  r.base = a.Int("base_size", r.base);
  r.least = a.Int("min_size", r.least);
  r.before = a.Int("pre_nms_topn", r.before);
  r.after = a.Int("post_nms_topn", r.after);
  r.overlap = a.Float("nms_thresh", r.overlap);
  if (a.Has("ratio")) r.ratios = Wide(a.Floats("ratio"));
  if (a.Has("scale")) r.scales = Wide(a.Floats("scale"));
  return RegionsOf(a, r);
}

// "'feat_stride': 16", also between braces: names in YAML and their numbers; nothing for others.
std::optional<std::map<std::string, std::vector<double>>> SettingsOf(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto trimmed = [&](std::string_view part) {
    const size_t from = part.find_first_not_of(kSpace);
    if (from == part.npos) return std::string_view();
    return part.substr(from, part.find_last_not_of(kSpace) - from + 1);
  };
  text = trimmed(text);
  if (text.starts_with('{') && text.ends_with('}')) {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  std::map<std::string, std::vector<double>> settings;
  while (!text.empty()) {
    const size_t colon = text.find(':');
    if (colon == text.npos) return std::nullopt;
    std::string_view name = trimmed(text.substr(0, colon));
    if (name.size() > 1 && (name[0] == '\'' || name[0] == '"') && name.back() == name[0]) {
      name = name.substr(1, name.size() - 2);
    }
    text = trimmed(text.substr(colon + 1));
    const bool is_list = text.starts_with('[');
    const size_t end = is_list ? text.find(']') : std::min(text.find_first_of(",\n"), text.size());
    if (end == text.npos) return std::nullopt;
    std::vector<double>& numbers = settings[std::string(name)];
    const size_t mark = is_list ? 1 : 0;
    const std::string list(text.substr(mark, end - mark));
    for (const auto part : absl::StrSplit(list, ',')) {
      if (!absl::SimpleAtod(part, &numbers.emplace_back())) return std::nullopt;
    }
    text = trimmed(text.substr(std::min(text.size(), end + mark)));
    if (text.starts_with(',')) text = trimmed(text.substr(1));
  }
  return settings;
}

// Layers of Python that are published: py-faster-rcnn's proposals, with its settings for tests.
absl::StatusOr<Values> PythonLayer(CaffeArgs& a) {
  const std::string module = a.Text("module", ""), layer = a.Text("layer", ""),
                    text = a.Text("param_str", "");
  a.Drop({"share_in_parallel"});
  if (module != "rpn.proposal_layer" || layer != "ProposalLayer") {
    return Unimplemented("the layer ", module, ".", layer, " of Python");
  }
  auto settings = SettingsOf(text);
  if (!settings || (*settings)["feat_stride"].size() != 1) {
    return Unimplemented("the settings '", text, "' of ", module, ".", layer);
  }
  Regions r;
  const double stride = (*settings)["feat_stride"][0];
  if (!(stride >= 1 && stride <= 1 << 20)) return Invalid("a stride of ", stride);
  r.stride = static_cast<int64_t>(stride);
  settings->erase("feat_stride");
  if (const auto scales = settings->find("scales"); scales != settings->end()) {
    r.scales = scales->second;
    settings->erase(scales);
  }
  if (!settings->empty()) {
    return Unimplemented("the setting '", settings->begin()->first, "' of ", module, ".", layer);
  }
  return RegionsOf(a, r);
}

}  // namespace

X2IR_CAFFE(constant).From("PriorBox", "prior_box_param", PriorBox);
X2IR_CAFFE(non_max_suppression)
    .From("DetectionOutput", "detection_output_param", DetectionOutput)
    .From("Proposal", "proposal_param", Proposal)
    .From("Python", "python_param", PythonLayer);
X2IR_CAFFE(max_roi_pool).From("ROIPooling", "roi_pooling_param", RoiPooling);
X2IR_CAFFE(matmul).From("PSROIPooling", "psroi_pooling_param", PsRoiPooling);

}  // namespace x2ir
