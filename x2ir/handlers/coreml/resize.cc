#include "x2ir/handlers/coreml/resize.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

// Of the last axes.
Expr ResizedLast(NodeReader& a, const Expr& x, const std::vector<Size>& sizes, const Sampling& s) {
  const int64_t rank = x.rank(), count = static_cast<int64_t>(sizes.size());
  a.Require(rank >= count, "images of that rank");
  return ResizedTo(x, sizes, s, CountedFrom(rank - count, count));
}

// Places that no mode of the IR has, of a size that is known: two elements of the axis, weighed.
Expr AtPlaces(NodeReader& a, const Expr& x, int64_t axis, int64_t in,
              const std::vector<double>& places) {
  std::vector<int64_t> low, high;
  std::vector<double> part;
  for (const double place : places) {
    const double at = std::min(static_cast<double>(in - 1), std::max(0.0, place));
    const auto floor = static_cast<int64_t>(std::floor(at));
    low.push_back(floor);
    high.push_back(std::min(floor + 1, in - 1));
    part.push_back(at - static_cast<double>(floor));
  }
  const auto out = static_cast<int64_t>(places.size());
  const Expr weights = AlongAxis(NumbersAs(a.b(), x.dtype(), {out}, part), axis, x.rank());
  const Expr first = Gather(x, a.b().Ints(low), axis), second = Gather(x, a.b().Ints(high), axis);
  return first + weights * (second - first);
}

// Each axis by itself, of sizes that are known.
Expr AxisByAxis(NodeReader& a, const Expr& x, const std::vector<Size>& sizes,
                const std::function<std::vector<double>(int64_t, int64_t)>& places) {
  const int64_t rank = x.rank(), count = static_cast<int64_t>(sizes.size());
  const auto in = KnownSizes(x, rank - count, rank);
  bool known = in.has_value();
  for (const Size& size : sizes) {
    known &= size.number && *size.number > 0 && *size.number < (int64_t{1} << 24);
  }
  a.Require(known, "corners of unknown sizes");
  Expr y = x;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    y = AtPlaces(a, y, rank - count + i, (*in)[at], places((*in)[at], *sizes[at].number));
  }
  return y;
}

}  // namespace

Expr ResizedLinear(NodeReader& a, const Expr& x, const std::vector<Size>& sizes,
                   std::string_view mode) {
  const auto linear = [&](std::string_view coordinates) {
    return ResizedLast(a, x, sizes, {"linear", coordinates, ""});
  };
  if (mode == "STRICT_ALIGN_CORNERS") return linear("align_corners");
  if (mode == "ALIGN_CORNERS") {
    const bool several = std::all_of(sizes.begin(), sizes.end(), [](const Size& size) {
      return size.number && *size.number > 1;
    });
    if (several) return linear("align_corners");
    // Of a single element it is the middle.
    return AxisByAxis(a, x, sizes, [](int64_t in, int64_t out) {
      const double last = static_cast<double>(in - 1);
      if (out == 1) return std::vector<double>{last / 2};
      std::vector<double> places;
      for (int64_t i = 0; i < out; ++i) {
        places.push_back(last * static_cast<double>(i) / static_cast<double>(out - 1));
      }
      return places;
    });
  }
  if (mode == "DEFAULT") return linear("asymmetric");
  if (mode == "UNALIGN_CORNERS") return linear("half_pixel");
  a.Require(mode == "OFFSET_CORNERS", StrCat("sampling mode ", mode));
  return AxisByAxis(a, x, sizes, [](int64_t in, int64_t out) {
    const double delta =
        static_cast<double>(std::max<int64_t>(1, in - 1)) / static_cast<double>(out);
    std::vector<double> places;
    for (int64_t i = 0; i < out; ++i) {
      places.push_back(0.5 * delta + static_cast<double>(i) * delta);
    }
    return places;
  });
}

Expr ResizedNearest(NodeReader& a, const Expr& x, const std::vector<Size>& sizes) {
  return ResizedLast(a, x, sizes, kNearestFloor);
}

std::vector<Size> ScaledSizes(NodeReader& a, const Expr& x, double height, double width,
                              bool whole) {
  const int64_t rank = x.rank();
  std::vector<Size> sizes;
  for (const auto& [axis, factor] : {std::pair(rank - 2, height), std::pair(rank - 1, width)}) {
    const Size own = SizeAt(x, axis);
    a.Require(factor > 0 && factor < 1e6, "a factor of that size");
    if (own.number) {
      const double size = static_cast<double>(*own.number) * factor;
      a.Require(!whole || size == std::floor(size), "a size that is no whole number");
      sizes.push_back(static_cast<int64_t>(std::floor(size)));
    } else {
      a.Require(factor == std::floor(factor), "a fraction of a size that is not known");
      sizes.push_back(Times(a.b(), own, static_cast<int64_t>(factor)));
    }
  }
  return sizes;
}

namespace {

std::vector<Size> TargetSizes(MilArgs& a) {
  const int64_t height = a.Int("target_size_height"), width = a.Int("target_size_width");
  return {height, width};
}

Expr MilResizeBilinear(MilArgs& a) {
  return ResizedLinear(a, a.X(), TargetSizes(a), a.Text("sampling_mode"));
}

// Along an axis, of which each is looked at.
constexpr int64_t kMaxPlaces = int64_t{1} << 24;

// The elements of `in` that contain the middles of `out` results.
std::vector<int64_t> Middles(int64_t in, int64_t out) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < out; ++i) places.push_back((2 * i + 1) * in / (2 * out));
  return places;
}

Expr NearestOfMiddles(NodeReader& a, const Expr& x, const std::vector<Size>& sizes) {
  const int64_t rank = x.rank(), count = static_cast<int64_t>(sizes.size());
  Expr y = x;
  bool rounds = true;
  for (int64_t i = 0; i < count; ++i) {
    const Dim in = DimAt(x, rank - count + i);
    const std::optional<int64_t> out = sizes[static_cast<size_t>(i)].number;
    if (!in.is_static() || !out) return ResizedLast(a, x, sizes, kNearestMiddle);
    a.Require(in.value() > 0 && *out > 0 && in.value() < kMaxPlaces && *out < kMaxPlaces,
              "images of that size");
    const std::vector<int64_t> places = Middles(in.value(), *out);
    rounds &= ResizePicks(kNearestMiddle.Attrs(), ResizeAxis::Of(in.value(), *out), places);
    y = Gather(y, a.b().Ints(places), rank - count + i);
  }
  // A middle that lies between two elements may be rounded to the wrong one.
  return rounds ? ResizedLast(a, x, sizes, kNearestMiddle) : y;
}

Expr MilResizeNearest(MilArgs& a) { return NearestOfMiddles(a, a.X(), TargetSizes(a)); }

Expr MilUpsampleBilinear(MilArgs& a) {
  const Expr x = a.X();
  const double height = a.Number("scale_factor_height"), width = a.Number("scale_factor_width");
  const bool corners = a.Bool("align_corners");
  const bool half = a.NodeReader::Int("half_pixel_centers", corners ? 0 : 1) != 0;
  a.Require(!(corners && half), "corners and centers that are both aligned");
  return ResizedLinear(a, x, ScaledSizes(a, x, height, width, false),
                       corners ? "STRICT_ALIGN_CORNERS"
                       : half  ? "UNALIGN_CORNERS"
                               : "DEFAULT");
}

Expr MilUpsampleNearest(MilArgs& a) {
  const Expr x = a.X();
  const double height = a.Number("scale_factor_height"), width = a.Number("scale_factor_width");
  return ResizedNearest(a, x, ScaledSizes(a, x, height, width, true));
}

// The last sizes of `shape`; 0 is that of the operand.
Expr MilResize(MilArgs& a) {
  const Expr x = a.X(), shape = a.X("shape").To(DType::kInt64);
  const int64_t count = a.Int("resized_dims");
  const std::string kind = a.Text("interpolation_mode"), mode = a.Text("sampling_mode");
  const int64_t rank = x.rank();
  const Dim given = DimAt(shape, 0);
  a.Require(given.is_static() && count >= 1 && count <= given.value() && count <= rank,
            "sizes of other axes");
  const auto known = KnownInts(shape);
  std::vector<Size> sizes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = given.value() - count + i, axis = rank - count + i;
    if (known) {
      const int64_t size = (*known)[static_cast<size_t>(at)];
      sizes.push_back(size == 0 ? SizeAt(x, axis) : Size(size));
    } else {
      const Expr size = Squeeze(Slice(shape, 0, Size(at), Size(at + 1)), {0});
      sizes.push_back(Where(size == 0.0, SizeOf(x, axis), size));
    }
  }
  if (kind == "LINEAR") {
    a.Require(IsFloating(x.dtype()), "integers between two");
    return ResizedLinear(a, x, sizes, mode);
  }
  a.Require(kind == "NEAREST_NEIGHBOR", StrCat("interpolation_mode ", kind));
  a.Require(mode == "DEFAULT", StrCat("the nearest elements by sampling mode ", mode));
  return NearestOfMiddles(a, x, sizes);
}

// Coordinates of grid_sample are from -1 to 1.
Expr MilResample(MilArgs& a) {
  const Expr x = a.X();
  const std::string sampling = a.Text("sampling_mode"), padding = a.Text("padding_mode"),
                    coordinates = a.Text("coordinates_mode");
  const double value = a.Number("padding_value");
  const bool corners = a.Bool("align_corners");
  a.Require(sampling == "bilinear" || sampling == "nearest", StrCat("sampling_mode ", sampling));
  std::string_view mode = "zeros";
  if (padding == "border") {
    mode = "border";
  } else if (padding == "reflection" || padding == "symmetric") {
    // What is reflected at: centers or edges of the outermost pixels.
    a.Require((padding == "reflection") == corners, StrCat("padding_mode ", padding));
    mode = "reflection";
  } else {
    a.Require(padding == "constant" && value == 0, StrCat("padding_mode ", padding));
  }
  Expr grid = a.X("coordinates").To(x.dtype());
  if (coordinates == "normalized_zero_to_one") {
    grid = grid * 2.0 - 1.0;
  } else if (coordinates == "unnormalized") {
    // Pixels are 0 to size - 1.
    const Expr sizes = Concat(a.b(), {Reshape(SizeOf(x, 3), {1}), Reshape(SizeOf(x, 2), {1})}, 0);
    const Expr real = sizes.To(x.dtype());
    grid = corners ? grid * 2.0 / (real - 1.0) - 1.0 : (grid * 2.0 + 1.0) / real - 1.0;
  } else {
    a.Require(coordinates == "normalized_minus_one_to_one", StrCat("coordinates ", coordinates));
  }
  return x.Op("grid_sample", {grid},
              {{"align_corners", corners ? 1 : 0},
               {"mode", sampling == "nearest" ? "nearest" : "linear"},
               {"padding_mode", mode}});
}

Expr MilAffine(MilArgs& a) {
  const Expr x = a.X();
  const int64_t height = a.Int("output_height"), width = a.Int("output_width");
  a.Require(a.Text("sampling_mode") == "bilinear" && a.Text("padding_mode") == "constant" &&
                a.Number("padding_value") == 0 && a.Bool("align_corners") &&
                a.Text("coordinates_mode") == "normalized_minus_one_to_one",
            "that kind of transform");
  const Expr theta = Reshape(a.X("transform_matrix"), {-1, 2, 3});
  const Expr batch = ShapeOf(x, 0, 1);
  // One matrix may serve all images.
  const Expr all = Expand(theta, Concat(a.b(), {batch, a.b().Ints({2, 3})}, 0));
  const Expr size = Concat(a.b(), {ShapeOf(x, 0, 2), a.b().Ints({height, width})}, 0);
  const Expr grid = all.Op("affine_grid", {size}, {{"align_corners", 1}});
  return x.Op("grid_sample", {grid},
              {{"align_corners", 1}, {"mode", "linear"}, {"padding_mode", "zeros"}});
}

// Of sizes that are not known: by integers.
absl::StatusOr<Value*> ToUpsample(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Sampling sampling = SamplingOf(w.node());
  const auto& [mode, places, rounding] = sampling;
  if (rank < 3 || !w.has(2) || w.Int("antialias") != 0 || !IsFloating(w.dtype())) {
    return CannotExpress("sizes that are not known");
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> factors, AxisFactors(w.node(), rank));
  for (int64_t i = 0; i < rank; ++i) {
    const double factor = factors[i];
    if (factor < 1 || factor != std::floor(factor) || (i + 2 < rank && factor != 1)) {
      return CannotExpress("sizes that are not known");
    }
  }
  AttributeMap attrs = {{"scale_factor_height", static_cast<float>(factors[rank - 2])},
                        {"scale_factor_width", static_cast<float>(factors[rank - 1])}};
  const bool half = places == "half_pixel";
  if (mode == "nearest") {
    if (sampling != kNearestFloor && !(half && rounding.starts_with("round_prefer"))) {
      return CannotExpress("the nearest elements by ", places);
    }
    return w.Mil("upsample_nearest_neighbor", {w.in(0)}, std::move(attrs));
  }
  if (mode != "linear" || (!half && places != "asymmetric")) return CannotExpress("mode ", mode);
  attrs.Set("align_corners", 0);
  attrs.Set("half_pixel_centers", half ? 1 : 0);
  return w.Mil("upsample_bilinear", {w.in(0)}, std::move(attrs));
}

// A resize of the last two axes to sizes that are known.
absl::StatusOr<Value*> ToResize(MilWriter& w) {
  const Shape *whole_in = w.shape(), *whole_out = w.out_type().shape();
  if (!whole_in || !whole_out || !whole_in->Static() || !whole_out->Static()) return ToUpsample(w);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> in, w.Sizes(w.in(0)));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> out, w.Sizes(w.node().output(0)));
  const size_t rank = in.size();
  if (rank < 3 || !IsFloating(w.dtype())) return CannotExpress("images of that rank or type");
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (in[i] != out[i]) return CannotExpress("axes other than the last two");
  }
  const Sampling sampling = SamplingOf(w.node());
  const auto& [mode, places, rounding] = sampling;
  if (w.Int("antialias") != 0 || w.Int("exclude_outside") != 0) return CannotExpress("that filter");
  // Where scales are given, they are what places are computed by.
  bool exact = true;
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<double> factors,
                          AxisFactors(w.node(), static_cast<int64_t>(rank)));
    for (size_t i = 0; i < rank; ++i) {
      exact &= factors[i] * static_cast<double>(in[i]) == static_cast<double>(out[i]);
    }
  }
  const int64_t h = out[rank - 2], v = out[rank - 1];
  if (!exact || h < 1 || v < 1) return CannotExpress("scales that are no quotients of sizes");
  if (std::max({h, v, in[rank - 2], in[rank - 1]}) >= kMaxPlaces) {
    return CannotExpress("images of ", h, " by ", v, " elements");
  }
  const AttributeMap sizes = {{"target_size_height", h}, {"target_size_width", v}};
  if (mode == "linear") {
    std::string_view sampling;
    if (places == "half_pixel") {
      sampling = "UNALIGN_CORNERS";
    } else if (places == "asymmetric") {
      sampling = "DEFAULT";
    } else if (places == "align_corners" && h > 1 && v > 1) {
      sampling = "STRICT_ALIGN_CORNERS";
    } else {
      return CannotExpress("places by ", places);
    }
    AttributeMap attrs = sizes;
    attrs.Set("sampling_mode", sampling);
    return w.Mil("resize_bilinear", {w.in(0)}, std::move(attrs));
  }
  if (mode != "nearest") return CannotExpress("mode ", mode);
  for (size_t axis = rank - 2; axis < rank; ++axis) {
    const bool same = in[axis] > 0 && ResizePicks(w.attrs(), ResizeAxis::Of(in[axis], out[axis]),
                                                  Middles(in[axis], out[axis]));
    if (!same) {
      return CannotExpress("the nearest elements by ", places);
    }
  }
  if (h % in[rank - 2] == 0 && v % in[rank - 1] == 0) {
    return w.Mil("upsample_nearest_neighbor", {w.in(0)},
                 {{"scale_factor_height", static_cast<float>(h / in[rank - 2])},
                  {"scale_factor_width", static_cast<float>(v / in[rank - 1])}});
  }
  return w.Mil("resize_nearest_neighbor", {w.in(0)}, sizes);
}

absl::StatusOr<Value*> ToResample(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const std::string mode = w.String("mode"), padding = w.String("padding_mode");
  if (rank != 4 || (mode != "linear" && mode != "nearest")) return CannotExpress("mode ", mode);
  const bool corners = w.Int("align_corners") != 0;
  return w.Mil("resample", {w.in(0), w.in(1)},
               {{"sampling_mode", mode == "linear" ? "bilinear" : "nearest"},
                {"padding_mode", padding == "zeros"    ? "constant"
                                 : padding == "border" ? "border"
                                 : corners             ? "reflection"
                                                       : "symmetric"},
                {"padding_value", 0.0f},
                {"coordinates_mode", "normalized_minus_one_to_one"},
                {"align_corners", corners ? 1 : 0}});
}

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
  // By default each image has one box.
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

X2IR_MIL(resize)
    .To("resize_bilinear", ToResize)
    .From({{"resize", MilResize},
           {"resize_bilinear", MilResizeBilinear},
           {"resize_nearest_neighbor", MilResizeNearest},
           {"upsample_bilinear", MilUpsampleBilinear},
           {"upsample_nearest_neighbor", MilUpsampleNearest}});
X2IR_MIL(grid_sample)
    .To("resample", ToResample)
    .From({{"resample", MilResample}, {"affine", MilAffine}, {"crop_resize", MilCropResize}});
X2IR_NN(grid_sample).From("cropResize", NnCropResize);

}  // namespace x2ir
