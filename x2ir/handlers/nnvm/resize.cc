// NNVM: resizing and sampling of images.

#include "x2ir/builder/layers/resize.h"

#include <optional>

#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

Value* UpsamplingRow(SymbolArgs& a) {
  const int64_t scale = a.Integer("scale", 1);
  const std::string method = a.Text("method", "NEAREST_NEIGHBOR");
  a.Require(!IsChannelsLast(a, a.Text("layout", "NCHW")), "channels last");
  a.Require(scale > 0 && scale < 4096, StrCat("a scale of ", scale));
  const bool nearest = method == "NEAREST_NEIGHBOR";
  a.Require(nearest || method == "BILINEAR", StrCat("method ", method));
  const auto by = static_cast<float>(scale);
  return ResizedBy(a.in(0), {1, 1, by, by},
                   nearest ? kNearestFloor : Interpolated("linear", false, false));
}

absl::StatusOr<Value*> ResizeRow(SymbolArgs& a) {
  const std::vector<int64_t> size = a.Tuple("size");
  const std::string method = a.Text("method", "BILINEAR");
  const bool corners = a.Flag("align_corners", false);
  a.Require(!IsChannelsLast(a, a.Text("layout", "NCHW")), "channels last");
  if (size.size() != 2) return Invalid("a size of another number of axes than two");
  const bool nearest = method == "NEAREST_NEIGHBOR";
  a.Require(nearest || method == "BILINEAR", StrCat("method ", method));
  std::vector<Size> sizes = SizesAt(a.in(0), 0, 2);
  sizes.emplace_back(size[0]);
  sizes.emplace_back(size[1]);
  Sampling sampling = Interpolated(nearest ? "nearest" : "linear", corners, false);
  if (nearest) sampling.rounding = "floor";
  return ResizedTo(a.in(0), sizes, sampling).value();
}

// Nearest, each pixel as often: upsampling.
absl::StatusOr<Value*> ToUpsampling(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Sampling sampling = SamplingOf(w.node());
  const auto& [kind, mode, nearest] = sampling;
  const Shape *x = w.shape(0), *y = w.out_type().shape();
  if (rank != 4 || w.attrs().Has("axes") || w.Int("antialias") != 0)
    return CannotExpress("this resize");
  if (!CornersFollowSizes(w.node())) return CannotExpress("corners by sizes that are rounded");
  const auto scales = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
  if (w.has(2) && !scales) return CannotExpress("factors that are computed");
  double by_height = 0, by_width = 0;
  if (scales && scales->num_elements() == 4) {
    by_height = scales->AsDouble(2), by_width = scales->AsDouble(3);
    if (scales->AsDouble(0) != 1 || scales->AsDouble(1) != 1) return CannotExpress("this resize");
  } else if (x && y && x->is_static() && y->is_static() && (*x)[2].value() > 0 &&
             (*x)[3].value() > 0) {
    by_height = static_cast<double>((*y)[2].value()) / static_cast<double>((*x)[2].value());
    by_width = static_cast<double>((*y)[3].value()) / static_cast<double>((*x)[3].value());
  }
  const auto scale = static_cast<int64_t>(by_height);
  const bool whole =
      by_height >= 1 && by_height == by_width && by_height == static_cast<double>(scale);
  // Of whole scales other forms mean the same places.
  const bool same =
      sampling == kNearestFloor || (mode == "half_pixel" && nearest.starts_with("round_prefer"));
  if (whole && kind == "nearest" && same) {
    return w.Nnvm("upsampling", {w.in(0)}, {{"scale", StrCat(scale)}});
  }
  // NNVM's places follow from the sizes alone.
  const auto follows = [&](size_t axis, double by) {
    return !scales || (x && (*x)[axis].is_static() && (*y)[axis].is_static() &&
                       static_cast<double>((*x)[axis].value()) * by ==
                           static_cast<double>((*y)[axis].value()));
  };
  if (kind == "linear" && y && !(follows(2, by_height) && follows(3, by_width))) {
    return CannotExpress("places by factors that are not those of the sizes");
  }
  if (kind == "linear" && (mode == "asymmetric" || mode == "align_corners") && y &&
      (*y)[2].is_static() && (*y)[3].is_static() && (*y)[0] == (*x)[0] && (*y)[1] == (*x)[1]) {
    return w.Nnvm("resize", {w.in(0)},
                  {{"size", TupleText({(*y)[2].value(), (*y)[3].value()})},
                   {"method", "BILINEAR"},
                   {"align_corners", FlagText(mode == "align_corners")}});
  }
  return CannotExpress("this resize");
}

}  // namespace

X2IR_NNVM(resize)
    .From({{"upsampling", UpsamplingRow}, {"resize", ResizeRow}})
    .To("upsampling", ToUpsampling);

}  // namespace x2ir
