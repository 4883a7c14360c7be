// OneFlow: pads, images in other sizes, samples, regions.
#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/windows.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

// --- Pads ---------------------------------------------------------------------------------------

// Begins and ends of all axes: said for each, or, as in Python, in pairs from the last axis on.
std::vector<int64_t> TakePads(OneflowArgs& a) {
  const auto rank = static_cast<size_t>(a.in(0).rank());
  const std::vector<int64_t> before = a.Ints("padding_before"), after = a.Ints("padding_after");
  const std::vector<int64_t> pairs = a.Ints("padding");
  if (!before.empty() || pairs.empty()) {
    a.Require(before.size() == rank && after.size() == rank, "pads of other axes");
    return JoinPads(before, after);
  }
  a.Require(pairs.size() % 2 == 0 && pairs.size() <= 2 * rank, "pads of other axes");
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  return pads;
}
Value* PadWithNumber(OneflowArgs& a, Symbol floating, Symbol integral) {
  const std::vector<int64_t> pads = TakePads(a);
  const double number = a.Number(floating);
  const int64_t integer = a.Int(integral);
  const DType type = a.dtype();
  const Expr value = IsFloating(type) ? a.in(0).Number(number)
                     : type == DType::kBool
                         ? Expr(a.b(), a.b().Constant(Tensor::Scalar<bool>(integer != 0)))
                         : IntegerOf(a.b(), type, integer);
  return a.Op("pad", {a.in(0), a.b().Ints(pads), value});
}
Value* FromPad(OneflowArgs& a) {
  return PadWithNumber(a, "floating_constant_value", "integral_constant_value");
}
Value* ConstantPad(OneflowArgs& a) { return PadWithNumber(a, "floating_value", "integral_value"); }
template <int mode>
Value* PadWithEdges(OneflowArgs& a) {
  return a.Op("pad", {a.in(0), a.b().Ints(TakePads(a))},
              {{"mode", mode == 0 ? "reflect" : "edge"}});
}
// Zeros (or the least number, for maxima) so that a window's results are as many as the strides
// say.
Value* PadSame(OneflowArgs& a) {
  const std::string padding = a.String("padding");
  Window window;
  window.channels_last = TakeChannelsLast(a);
  const auto rank = static_cast<size_t>(a.in(0).rank());
  a.Require(rank > 2 && (padding == "same_upper" || padding == "same_lower"),
            StrCat("padding ", padding));
  window.kernel = PerAxis(a, "kernel_size", rank - 2, 1);
  window.strides = PerAxis(a, "strides", rank - 2, 1);
  window.dilations = PerAxis(a, "dilation_rate", rank - 2, 1);
  window.pads.resize(2 * window.rank());
  window.auto_pad = padding == "same_upper" ? AutoPad::kSameUpper : AutoPad::kSameLower;
  for (size_t i = 0; i < window.rank(); ++i) {
    a.Require(DimAt(a.in(0), window.axis(i)).is_static() && window.strides[i] > 0,
              "an operand of unknown sizes");
  }
  const Window padded = *WithPads(window, a.shape());
  return a.Op("pad", {a.in(0), a.b().Ints(TensorPads(padded)), a.in(0).Number(0)});
}

absl::StatusOr<Value*> ToPad(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "pads"));
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(3, "axes"));
  std::vector<int64_t> before(static_cast<size_t>(rank), 0), after = before;
  const size_t n = given->size() / 2;
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    before[static_cast<size_t>(axis)] = (*given)[i];
    after[static_cast<size_t>(axis)] = (*given)[i + n];
  }
  std::vector<int64_t> pairs;  // as Python has them
  for (int64_t i = rank - 1; i >= 0; --i) {
    pairs.push_back(before[static_cast<size_t>(i)]);
    pairs.push_back(after[static_cast<size_t>(i)]);
  }
  const std::string& mode = w.String("mode");
  if (mode == "constant") {
    const auto number = w.has(2) ? OneflowWriter::NumberOf(w.in(2)) : std::optional<double>(0);
    if (!number) return CannotExpress("a number that is computed");
    AttributeMap attrs = {{"padding_before", before}, {"padding_after", after}, {"padding", pairs}};
    if (IsFloating(w.dtype())) {
      attrs.Set("floating_constant_value", *number);
    } else {
      attrs.Set("integral_constant_value", static_cast<int64_t>(*number));
    }
    return w.Oneflow("pad", {w.in(0)}, std::move(attrs));
  }
  if ((mode != "reflect" && mode != "edge") || !IsFloating(w.dtype())) {
    return CannotExpress("pads of mode ", mode);
  }
  // Of the last one or two axes of images.
  const int64_t spatial = rank == 3 ? 1 : rank == 4 ? 2 : 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool inside = i < static_cast<size_t>(2 * spatial);
    if (pairs[i] < 0 || (!inside && pairs[i] != 0)) return CannotExpress("pads of other axes");
  }
  if (spatial == 0) return CannotExpress("pads of tensors of rank ", rank);
  pairs.resize(static_cast<size_t>(2 * spatial));
  const std::string_view op = mode == "reflect"
                                  ? (spatial == 1 ? "reflection_pad1d" : "reflection_pad2d")
                                  : (spatial == 1 ? "replication_pad1d" : "replication_pad2d");
  return w.Oneflow(op, {w.in(0)}, {{"padding", pairs}});
}

// --- Other sizes --------------------------------------------------------------------------------

// Factors by the names of attributes; sizes where they are said.
Value* UpsampleBy(OneflowArgs& a, std::string_view mode, const std::vector<std::string_view>& names,
                  bool has_corners, bool has_size = true) {
  const bool last = TakeChannelsLast(a);
  const Expr x = ChannelsFirst(a.in(0), last);
  const size_t spatial = names.size();
  std::vector<int64_t> size = has_size ? a.Ints("output_size") : std::vector<int64_t>();
  std::vector<double> scales;
  for (const std::string_view name : names) scales.push_back(a.Number(name));
  const bool corners = has_corners && a.Bool("align_corners");
  const bool by_scale = size.empty();
  for (size_t i = 0; by_scale && i < spatial; ++i) {
    const Dim dim = DimAt(x, static_cast<int64_t>(i) + 2);
    a.Require(dim.is_static() && scales[i] > 0 && scales[i] < 65536, "factors of unknown sizes");
    size.push_back(static_cast<int64_t>(static_cast<double>(dim.value()) * scales[i]));
  }
  a.Require(size.size() == spatial, "sizes of other axes");
  std::vector<AsTorchArgument> args = {{"self", x}, {"output_size", size}};
  if (has_corners) args.push_back({"align_corners", corners});
  static constexpr std::string_view kScales[] = {"scales_d", "scales_h", "scales_w"};
  for (size_t i = 0; by_scale && i < spatial; ++i) {
    args.push_back({spatial == 1 ? "scales" : kScales[3 - spatial + i], scales[i]});
  }
  return ChannelsBack(
      {a, AsTorch(a, StrCat("aten::upsample_", mode, spatial, "d.default"), args)[0]}, last);
}
Value* Nearest1d(OneflowArgs& a) { return UpsampleBy(a, "nearest", {"scale_factor"}, false); }
Value* Nearest2d(OneflowArgs& a) {
  return UpsampleBy(a, "nearest", {"height_scale", "width_scale"}, false);
}
Value* Nearest3d(OneflowArgs& a) {
  return UpsampleBy(a, "nearest", {"depth_scale", "height_scale", "width_scale"}, false);
}
Value* Linear1d(OneflowArgs& a) { return UpsampleBy(a, "linear", {"scale_factor"}, true); }
Value* Bilinear2d(OneflowArgs& a) {
  return UpsampleBy(a, "bilinear", {"height_scale", "width_scale"}, true);
}
Value* Bicubic2d(OneflowArgs& a) {
  return UpsampleBy(a, "bicubic", {"height_scale", "width_scale"}, true);
}
Value* Trilinear3d(OneflowArgs& a) {
  return UpsampleBy(a, "trilinear", {"depth_scale", "height_scale", "width_scale"}, true);
}
// Of old files.
Value* OldUpsample(OneflowArgs& a) {
  const std::string mode = a.String("interpolation");
  a.Require(mode == "nearest" || mode == "bilinear", StrCat("interpolation ", mode));
  if (mode == "bilinear") {
    return UpsampleBy(a, "bilinear", {"height_scale", "width_scale"}, true, false);
  }
  a.Ignore("align_corners");
  return UpsampleBy(a, "nearest", {"height_scale", "width_scale"}, false, false);
}

absl::StatusOr<Value*> ToUpsample(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> in, w.Sizes(w.in(0)->type()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> out, w.Sizes(w.out_type()));
  const Sampling sampling = SamplingOf(w.node());
  const auto& [mode, place, rounding] = sampling;
  const size_t n = in.size();
  if (n < 3 || n > 5 || in[0] != out[0] || in[1] != out[1] || !IsFloating(w.dtype())) {
    return CannotExpress("other axes than those of images");
  }
  if (w.Int("antialias") != 0 || w.Int("exclude_outside") != 0 || w.has(1)) {
    return CannotExpress("filters over more than the neighbors");
  }
  // The factor that places count with must be that of the sizes.
  const auto scales = w.has(2) ? w.in(2)->fixed_constant() : nullptr;
  const std::vector<int64_t> axes = w.attrs().Ints("axes", {});
  std::vector<double> factors;
  for (size_t i = 2; i < n; ++i) {
    factors.push_back(static_cast<double>(out[i]) /
                      static_cast<double>(std::max<int64_t>(in[i], 1)));
    if (!scales) continue;
    auto at = static_cast<int64_t>(i);
    if (!axes.empty()) {
      const auto found = std::find(axes.begin(), axes.end(), at);
      if (found == axes.end()) continue;
      at = found - axes.begin();
    }
    if (at < scales->num_elements() && std::abs(scales->AsDouble(at) - factors.back()) > 1e-6) {
      return CannotExpress("factors that are not those of the sizes");
    }
  }
  AttributeMap attrs = {{"output_size", std::vector<int64_t>(out.begin() + 2, out.end())},
                        {"data_format", "channels_first"}};
  static constexpr std::string_view kNames[] = {"depth_scale", "height_scale", "width_scale"};
  if (n == 3) attrs.Set("scale_factor", factors[0]);
  for (size_t i = 0; n > 3 && i < factors.size(); ++i) {
    attrs.Set(kNames[3 - factors.size() + i], factors[i]);
  }
  if (mode == "nearest") {
    for (size_t i = 2; i < n; ++i) {
      std::vector<int64_t> picks(static_cast<size_t>(out[i]));
      for (size_t k = 0; k < picks.size(); ++k) {
        picks[k] = static_cast<int64_t>(k) * in[i] / std::max<int64_t>(out[i], 1);
      }
      if (in[i] == 0 || !ResizePicks(w.attrs(), ResizeAxis::Of(in[i], out[i]), picks)) {
        return CannotExpress("neighbors by ", place, " and ", rounding);
      }
    }
    static constexpr std::string_view kOps[] = {"upsample_nearest_1d", "upsample_nearest_2d",
                                                "upsample_nearest_3d"};
    return w.Oneflow(kOps[n - 3], {w.in(0)}, std::move(attrs));
  }
  if (!CornersFollowSizes(w.node())) return CannotExpress("corners by sizes that are rounded");
  const bool corners = place == "align_corners";
  if (!corners && place != "half_pixel") return CannotExpress("places by ", place);
  attrs.Set("align_corners", corners);
  if (mode == "cubic") {
    if (n != 4 || w.Float("cubic_coeff_a") != -0.75f) return CannotExpress("another cubic");
    return w.Oneflow("upsample_bicubic_2d", {w.in(0)}, std::move(attrs));
  }
  static constexpr std::string_view kOps[] = {"upsample_linear_1d", "upsample_bilinear_2d",
                                              "upsample_trilinear_3d"};
  return w.Oneflow(kOps[n - 3], {w.in(0)}, std::move(attrs));
}

// --- Samples and regions ------------------------------------------------------------------------

const std::vector<std::pair<Attribute, Attribute>>& SampleModes() {
  static const auto* const modes = new std::vector<std::pair<Attribute, Attribute>>{
      {"linear", "bilinear"}, {"nearest", "nearest"}, {"cubic", "bicubic"}};
  return *modes;
}

// Rows of rois are the number of an image and two corners.
Value* RoiAlign(OneflowArgs& a) {
  const Expr rois = a.in(1);
  const int64_t height = a.Int("pooled_h"), width = a.Int("pooled_w");
  const double scale = a.Number("spatial_scale");
  const int64_t ratio = a.Int("sampling_ratio");
  const bool aligned = a.Bool("aligned");
  const auto columns = [&](int64_t from, int64_t to) {
    return Expr(a, a.Op("slice", {rois, a.b().Ints({from}), a.b().Ints({to}), a.b().Ints({1})}));
  };
  const Expr images = Squeeze(columns(0, 1), {1}).To(DType::kInt64);
  return AlignedRegions(a.in(0), columns(1, 5), images, {height, width, scale, ratio, aligned});
}
absl::StatusOr<Value*> ToRoiAlign(OneflowWriter& w) {
  const std::string& mode = w.String("coordinate_transformation_mode");
  if (w.String("mode") != "avg") return CannotExpress("maxima of regions");
  Value* images = w.Op("unsqueeze", {w.Cast(w.in(2), w.dtype(1)), w.Ints({1})});
  return w.Oneflow("roi_align", {w.in(0), w.Op("concat", {images, w.in(1)}, {{"axis", 1}})},
                   {{"pooled_h", w.Int("output_height")},
                    {"pooled_w", w.Int("output_width")},
                    {"spatial_scale", w.Float("spatial_scale")},
                    {"sampling_ratio", w.Int("sampling_ratio")},
                    {"aligned", mode == "half_pixel"}});
}

// Boxes come by their scores; 1 says that one stays.
Value* FromNms(OneflowArgs& a) {
  const double threshold = a.Number("iou_threshold");
  const int64_t keep = a.Int("keep_n");
  const Expr boxes = a.in(0), count = SizeOf(boxes, 0);
  const Expr scores = -Iota(count).To(DType::kFloat32);
  const Expr most = keep > 0 ? Expr(a, a.b().Ints({keep})) : Reshape(count, {1});
  const Expr chosen = SelectBoxes(
      {Unsqueeze(boxes.To(DType::kFloat32), {0}), Unsqueeze(scores, {0, 1}), most, threshold});
  const Expr places = Gather(chosen, a.b().Int(2), 1);
  const Expr none = Expand({a, a.b().Scalar(DType::kInt32, 0)}, Reshape(count, {1}));
  const Expr ones = Expand({a, a.b().Scalar(DType::kInt32, 1)}, ShapeOf(places));
  return ScatterElements(none, 0, places, ones, "none").To(DType::kInt8);
}

}  // namespace

X2IR_ONEFLOW(pad)
    .To("pad", ToPad)
    .From("pad", FromPad)
    .From("constant_pad1d", ConstantPad)
    .From("constant_pad2d", ConstantPad)
    .From("constant_pad3d", ConstantPad)
    .From("same_padding", PadSame)
    .From("reflection_pad1d", PadWithEdges<0>)
    .From("reflection_pad2d", PadWithEdges<0>)
    .From("replication_pad1d", PadWithEdges<1>)
    .From("replication_pad2d", PadWithEdges<1>);
X2IR_ONEFLOW(resize)
    .To("upsample_nearest_2d", ToUpsample)
    .From("upsample_nearest_1d", Nearest1d)
    .From("upsample_nearest_2d", Nearest2d)
    .From("upsample_nearest_3d", Nearest3d)
    .From("upsample_linear_1d", Linear1d)
    .From("upsample_bilinear_2d", Bilinear2d)
    .From("upsample_bicubic_2d", Bicubic2d)
    .From("upsample_trilinear_3d", Trilinear3d)
    .From("upsample", OldUpsample);
X2IR_ONEFLOW(grid_sample).Is("grid_sample", EnumMap("mode", "interpolation_mode", SampleModes()));
X2IR_ONEFLOW(affine_grid).Is("affine_grid", OperandAsAttr("size"));
X2IR_ONEFLOW(roi_align).To("roi_align", ToRoiAlign).From("roi_align", RoiAlign);
X2IR_ONEFLOW(non_max_suppression).From("nms", FromNms);

}  // namespace x2ir
