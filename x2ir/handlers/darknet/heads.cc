// Darknet: heads. The operand of a head does not change, unless it is to be decoded: then the head
// gives rows [x, y, width, height, chance of an object, chance of each class], with coordinates as
// parts of the image, one a cell and anchor: cells row by row, the anchors of a cell in order.
// A class's chance is that of an object times its own. It is 0 where it is not above `thresh`, or
// where a box with a better one of that class overlaps it by more than `nms_threshold` (0: boxes
// are not compared). These are the rows of OpenCV's Darknet reader, with its defaults. Of
// [Gaussian_yolo], which OpenCV does not read, a class's chance is less the more uncertain a box
// is.
#include <algorithm>
#include <numeric>

#include "x2ir/builder/layers/detection.h"
#include "x2ir/formats/darknet/darknet.h"
#include "x2ir/handlers/darknet/darknet.h"

namespace x2ir {
namespace {

struct Boxes {
  std::vector<double> widths, heights;  // of anchors, as parts of the image
  int64_t classes = 0;
  double thresh = 0, scale = 1;  // scale_x_y
  double overlap = 0;            // nms_threshold
  bool softmax = false;          // of classes; else each is a chance of its own
  bool plain = false;            // numbers are chances already (new_coords)
  bool sigmas = false;           // each coordinate has a number for its uncertainty
  double point = 0;              // where in a box its place is, seen from its middle: -0.5, 0, 0.5
};

Expr Part(const Expr& x, int64_t from, int64_t to) { return Slice(x, -1, Size(from), Size(to)); }

// Of boxes [1, n, 4] by their middles and chances [1, n, classes]: the chances that are left.
Expr WithoutOverlaps(DarknetArgs& a, const Expr& boxes, const Expr& chances, double overlap,
                     double thresh) {
  const Expr table = Transpose(chances, {0, 2, 1});
  const Expr rows =
      SelectBoxes({boxes, table, Vector(a, SizeAt(boxes, 1)), overlap, thresh, /*by_middle=*/true});
  const Expr ones = Expand(table.Number(1), Vector(a, SizeAt(rows, 0)));
  const Expr there = ScatterNd(table * 0.0, rows, ones, "none");
  return Transpose(table * there, {0, 2, 1});
}

// The column and the row of each cell.
std::vector<double> PlacesOf(int64_t rows, int64_t columns) {
  std::vector<double> places;
  for (int64_t i = 0; i < rows * columns; ++i) {
    places.push_back(static_cast<double>(i % columns));
    places.push_back(static_cast<double>(i / columns));
  }
  return places;
}

absl::StatusOr<Value*> DecodedHead(DarknetArgs& a, const Boxes& boxes) {
  const Expr x = a.image();
  const auto sizes = KnownSizes(x, 1, 4);
  a.Require(sizes.has_value(), "a head of unknown size");
  const int64_t height = (*sizes)[1], width = (*sizes)[2];
  const int64_t first = boxes.sigmas ? 9 : 5, each = boxes.classes + first;
  const auto count = static_cast<int64_t>(boxes.widths.size());
  if (count < 1 || boxes.classes < 1 || boxes.classes > 100000 || (*sizes)[0] != count * each) {
    return Invalid("a head of ", (*sizes)[0], " channels for ", count, " anchors and ",
                   boxes.classes, " classes");
  }
  const DType t = x.dtype();
  // [batch, height, width, anchors, 5 + classes].
  const Expr cells = ReshapeTo(Transpose(x, {0, 2, 3, 1}),
                               {SizeAt(x, 0), Size(height), Size(width), Size(count), Size(each)});
  const auto sigmoid = [](const Expr& v) { return v.Op("sigmoid"); };
  const auto chance = [&](const Expr& v) { return boxes.plain ? v : sigmoid(v); };
  // Two of the four coordinates.
  const auto pair = [&](int64_t i) {
    if (!boxes.sigmas) return Part(cells, i, i + 2);
    return Concat(a, {Part(cells, 2 * i, 2 * i + 1), Part(cells, 2 * i + 2, 2 * i + 3)}, -1);
  };
  const Expr middle = Shifted(Scaled(chance(pair(0)), boxes.scale), -0.5 * (boxes.scale - 1));
  const std::vector<double> parts = {static_cast<double>(width), static_cast<double>(height)};
  Expr at = (middle + NumbersAs(a, t, {height, width, 1, 2}, PlacesOf(height, width))) /
            NumbersAs(a, t, {2}, parts);
  std::vector<double> anchors;
  for (size_t i = 0; i < boxes.widths.size(); ++i) {
    anchors.push_back(boxes.widths[i]);
    anchors.push_back(boxes.heights[i]);
  }
  const Expr sides = pair(2);
  const Expr size =
      (boxes.plain ? Square(sides * 2.0) : Exp(sides)) * NumbersAs(a, t, {count, 2}, anchors);
  if (boxes.point != 0) at = at - size * boxes.point;
  const Expr object = chance(Part(cells, first - 1, first)), own = Part(cells, first, each);
  Expr classes = object * (boxes.softmax ? own.Op("softmax", {}, {{"axis", -1}}) : chance(own));
  if (boxes.sigmas) {
    Expr doubt = nullptr;
    for (const int64_t i : {1, 3, 5, 7}) {
      const Expr one = sigmoid(Part(cells, i, i + 1));
      doubt = doubt.value() ? doubt + one : one;
    }
    classes = classes * (1.0 - doubt / 4.0);
  }
  Expr kept = Where(classes > boxes.thresh, classes, 0.0);
  if (boxes.overlap > 0) {
    a.Require(DimAt(x, 0) == Dim(1), "overlaps in several images");
    kept =
        Reshape(WithoutOverlaps(a, Reshape(Concat(a, {at, size}, -1), {1, -1, 4}),
                                Reshape(kept, {1, -1, boxes.classes}), boxes.overlap, boxes.thresh),
                {1, height, width, count, boxes.classes});
  }
  return Reshape(Concat(a, {at, size, object, kept}, -1), {-1, boxes.classes + 5}).value();
}

bool IsDecoded(DarknetArgs& a) {
  const bool decode = a.NodeReader::Bool(darknet::kDecode, false);
  if (!decode) {
    for (const auto& [name, attr] : a.attrs()) a.Ignore(name);
  }
  return decode;
}
absl::StatusOr<Value*> Raw(DarknetArgs& a) { return a.Op("identity", {a.in(0)}).value(); }

// The network's own height and width.
absl::StatusOr<std::vector<int64_t>> ImageOf(DarknetArgs& a) {
  std::vector<int64_t> image = a.IntList(darknet::kImage, {});
  if (image.size() != 2 || image[0] < 1 || image[1] < 1) return Invalid("an image without a size");
  return image;
}
void DropLosses(DarknetArgs& a) {
  a.Drop({"jitter",
          "ignore_thresh",
          "truth_thresh",
          "random",
          "resize",
          "iou_thresh",
          "iou_loss",
          "iou_normalizer",
          "cls_normalizer",
          "obj_normalizer",
          "delta_normalizer",
          "max_delta",
          "max",
          "map",
          "nms_kind",
          "beta_nms",
          "beta1",
          "scale_reg",
          "focal_loss",
          "objectness_smooth",
          "counters_per_class",
          "label_smooth_eps",
          "absolute",
          "rescore",
          "object_scale",
          "noobject_scale",
          "class_scale",
          "coord_scale",
          "mask_scale",
          "bias_match",
          "jitter_x",
          "show_details",
          "iou_thresh_kind",
          "track_history_size",
          "sim_thresh",
          "dets_for_track",
          "dets_for_show",
          "track_ciou_norm",
          "embedding_layer",
          "background",
          "log",
          "sqrt"});
}

absl::StatusOr<Value*> YoloWith(DarknetArgs& a, bool sigmas) {
  if (!IsDecoded(a)) return Raw(a);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> image, ImageOf(a));
  const std::vector<double> anchors = a.Numbers("anchors");
  const int64_t total = a.Integer("num", 1);
  std::vector<int64_t> mask = a.Integers("mask");
  Boxes boxes;
  boxes.classes = a.Integer("classes", 20);
  boxes.thresh = a.Number("thresh", 0.2);
  boxes.scale = a.Number("scale_x_y", 1);
  boxes.plain = a.Flag("new_coords", false);
  boxes.overlap = a.Number("nms_threshold", 0);
  boxes.sigmas = sigmas;
  if (sigmas) {
    const std::string point = a.Text("yolo_point", "center");
    boxes.point = point == "left_top" ? -0.5 : point == "right_bottom" ? 0.5 : 0;
    a.Drop({"uc_normalizer"});
  }
  DropLosses(a);
  if (mask.empty()) {
    if (total < 1 || total > 4096) return Invalid(total, " anchors");
    for (int64_t i = 0; i < total; ++i) mask.push_back(i);
  }
  for (const int64_t i : mask) {
    const auto at = static_cast<size_t>(2 * i);
    if (i < 0 || i > 1 << 20 || at + 1 >= anchors.size()) return Invalid("there is no anchor ", i);
    boxes.widths.push_back(anchors[at] / static_cast<double>(image[1]));
    boxes.heights.push_back(anchors[at + 1] / static_cast<double>(image[0]));
  }
  return DecodedHead(a, boxes);
}

absl::StatusOr<Value*> Yolo(DarknetArgs& a) { return YoloWith(a, false); }
absl::StatusOr<Value*> GaussianYolo(DarknetArgs& a) { return YoloWith(a, true); }

absl::StatusOr<Value*> Region(DarknetArgs& a) {
  if (!IsDecoded(a)) return Raw(a);
  a.Ignore(darknet::kImage);
  const std::vector<double> anchors = a.Numbers("anchors");
  const int64_t count = a.Integer("num", 1);
  a.Require(a.Integer("coords", 4) == 4, "boxes of other coordinates");
  a.Require(a.Text("tree", "").empty(), "a tree of classes");
  Boxes boxes;
  boxes.classes = a.Integer("classes", 20);
  boxes.thresh = a.Number("thresh", 0.001);
  boxes.overlap = a.Number("nms_threshold", 0.4);
  boxes.softmax = a.Flag("softmax", false);
  a.Require(a.Integer("classfix", 0) >= 0, "classfix=-1");
  DropLosses(a);
  const auto sizes = KnownSizes(a.image(), 2, 4);
  a.Require(sizes.has_value(), "a head of unknown size");
  if (count < 1 || anchors.size() != static_cast<size_t>(2 * count)) {
    return Invalid(anchors.size(), " numbers of ", count, " anchors");
  }
  // Anchors are in cells.
  for (size_t i = 0; i < anchors.size(); i += 2) {
    boxes.widths.push_back(anchors[i] / static_cast<double>((*sizes)[1]));
    boxes.heights.push_back(anchors[i + 1] / static_cast<double>((*sizes)[0]));
  }
  return DecodedHead(a, boxes);
}

// YOLOv1: for all cells the chances of classes, then of objects, then boxes, whose sizes are roots.
absl::StatusOr<Value*> Detection(DarknetArgs& a) {
  if (!IsDecoded(a)) return Raw(a);
  a.Ignore(darknet::kImage);
  const int64_t side = a.Integer("side", 7), count = a.Integer("num", 1),
                classes = a.Integer("classes", 1);
  a.Require(a.Integer("coords", 1) == 4, "boxes of other coordinates");
  const bool roots = a.Flag("sqrt", false), softmax = a.Flag("softmax", false);
  const double thresh = a.Number("thresh", 0);
  a.Drop({"reorg", "forced"});
  DropLosses(a);
  if (side < 1 || side > 4096 || count < 1 || count > 4096 || classes < 1 || classes > 100000) {
    return Invalid("a head of ", side, " x ", side, " cells");
  }
  const int64_t cells = side * side;
  const Expr x = ReshapeTo(a.in(0), {SizeAt(a.in(0), 0), Size(-1)});
  const Size batch = SizeAt(x, 0);
  const int64_t first = cells * classes, second = first + cells * count;
  const auto part = [&](int64_t from, int64_t to, int64_t per_box) {
    return ReshapeTo(
        Slice(x, 1, Size(from), Size(to)),
        {batch, Size(cells), Size(per_box > 0 ? count : 1), Size(per_box > 0 ? per_box : classes)});
  };
  Expr own = part(0, first, 0);
  if (softmax) own = own.Op("softmax", {}, {{"axis", -1}});
  const Expr object = part(first, second, 1), box = part(second, second + cells * count * 4, 4);
  const Expr at = (Part(box, 0, 2) + NumbersAs(a, x.dtype(), {cells, 1, 2}, PlacesOf(side, side))) /
                  static_cast<double>(side);
  const Expr size = roots ? Square(Part(box, 2, 4)) : Part(box, 2, 4);
  const Expr chance = object * own;
  return Reshape(Concat(a, {at, size, object, Where(chance > thresh, chance, 0.0)}, -1),
                 {-1, classes + 5})
      .value();
}
// Images: the chance of each class at each pixel, then numbers that tell its objects apart.
absl::StatusOr<Value*> Iseg(DarknetArgs& a) {
  if (!IsDecoded(a)) return Raw(a);
  a.Ignore(darknet::kImage);
  const int64_t classes = a.Integer("classes", 20), ids = a.Integer("ids", 32);
  DropLosses(a);
  const Expr x = a.image();
  if (classes < 1 || ids < 0 || DimAt(x, 1) != Dim(classes + ids)) {
    return Invalid("a head of ", classes, " classes and ", ids, " numbers of objects");
  }
  const Expr chances = Slice(x, 1, Size(0), Size(classes)).Op("sigmoid");
  if (ids == 0) return chances.value();
  return Concat(a, {chances, Slice(x, 1, Size(classes), Size(classes + ids))}, 1).value();
}

}  // namespace

X2IR_DARKNET(identity).From({{"yolo", Yolo},
                             {"region", Region},
                             {"detection", Detection},
                             {"gaussian_yolo", GaussianYolo},
                             {"iseg", Iseg}});

}  // namespace x2ir
