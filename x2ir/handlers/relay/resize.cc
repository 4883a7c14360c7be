// Relay: resizing and sampling of images.
#include "x2ir/builder/layers/resize.h"

#include <cmath>
#include <optional>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/read_through.h"
#include "x2ir/handlers/relay/windows_internal.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

// How a resize samples, as attributes of op resize.
AttributeMap SamplingAttrs(SymbolArgs& a, std::string method, const std::string& coordinates,
                           std::string rounding, double alpha, bool exclude) {
  if (method.starts_with("bi")) method = method.substr(2);
  if (method.starts_with("tri")) method = method.substr(3);
  if (method == "nearest_neighbor" || method == "NEAREST_NEIGHBOR") method = "nearest";
  if (method == "BILINEAR" || method == "linear" || method == "LINEAR") method = "linear";
  a.Require(method == "nearest" || method == "linear" || method == "cubic",
            StrCat("method ", method));
  a.Require(coordinates == "half_pixel" || coordinates == "align_corners" ||
                coordinates == "asymmetric" || coordinates == "pytorch_half_pixel",
            StrCat("coordinate_transformation_mode ", coordinates));
  if (rounding.empty()) rounding = coordinates == "align_corners" ? "round" : "floor";
  // Halves go up there, where places are not negative.
  if (rounding == "round") rounding = "round_prefer_ceil";
  a.Require(rounding == "floor" || rounding == "ceil" || rounding == "round_prefer_ceil" ||
                rounding == "round_prefer_floor",
            StrCat("rounding_method ", rounding));
  AttributeMap attrs = {{"mode", method}, {"coordinate_transformation_mode", coordinates}};
  if (method == "nearest") attrs.Set("nearest_mode", rounding);
  if (method == "cubic") {
    attrs.Set("cubic_coeff_a", static_cast<float>(alpha));
    attrs.Set("exclude_outside", exclude ? 1 : 0);
  }
  return attrs;
}

// x of that layout, its spatial axes with other sizes (int64, one for each).
Value* Resized(SymbolArgs& a, const Expr& x, const std::string& layout, const Expr& sizes,
               size_t spatial, AttributeMap attrs) {
  const std::string usual = RelayLayout("NC", spatial);
  const Expr first = InLayout(a, x, layout, usual);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < spatial; ++i) axes.push_back(static_cast<int64_t>(i) + 2);
  attrs.Set("axes", axes);
  const Expr y = first.Op("resize", {nullptr, nullptr, sizes}, std::move(attrs));
  return InLayout(a, y, usual, layout);
}

void IgnoreType(SymbolArgs& a) {
  const std::string out = a.Text("out_dtype", "");
  a.Require(out.empty() || out == "void" || out == Name(a.dtype()), StrCat("out_dtype ", out));
}

Value* ResizeOp(SymbolArgs& a) {
  const bool old = a.op() == "image.resize", dynamic = a.num_inputs() > 1;
  const size_t n = old ? 2 : a.SpatialAxes();
  IgnoreType(a);
  a.Ignore("roi"), a.Ignore("extrapolation_value");
  std::string coordinates = a.Text("coordinate_transformation_mode", "half_pixel");
  // A flag once.
  if (a.Given("align_corners")) {
    coordinates = a.Flag("align_corners", true) ? "align_corners" : "asymmetric";
  }
  const char *alpha = old ? "bicubic_alpha" : "cubic_alpha",
             *exclude = old ? "bicubic_exclude" : "cubic_exclude";
  AttributeMap attrs =
      SamplingAttrs(a, a.Text("method", "linear"), coordinates, a.Text("rounding_method", ""),
                    a.Number(alpha, -0.5), a.Integer(exclude, 0) != 0);
  const std::string layout = a.Text("layout", RelayLayout("NC", n));
  if (dynamic) a.Ignore("size");
  std::vector<int64_t> size = dynamic ? std::vector<int64_t>() : a.Tuple("size");
  if (size.size() == 1) size.resize(n, size[0]);
  a.Require(dynamic || size.size() == n, "a size of another number of axes");
  const Expr sizes = dynamic ? a.AsInt64(a.in(1)) : Ints(a, size);
  return Resized(a, a.in(0), layout, sizes, n, std::move(attrs));
}

// By factors, whose products with the sizes are rounded.
Value* UpsamplingOp(SymbolArgs& a) {
  const size_t n = a.op() == "nn.upsampling3d" ? 3 : 2;
  const std::string layout = a.Text("layout", RelayLayout("NC", n));
  const bool corners = a.Flag("align_corners", false);
  const std::string coordinates = n == 3 ? a.Text("coordinate_transformation_mode", "half_pixel")
                                         : std::string(corners ? "align_corners" : "asymmetric");
  AttributeMap attrs =
      SamplingAttrs(a, a.Text("method", "nearest_neighbor"), coordinates, "", -0.5, false);
  const std::string usual = RelayLayout("NC", n);
  const Expr x = InLayout(a, a.in(0), layout, usual);
  std::vector<Size> sizes;
  static constexpr const char* kScales[] = {"scale_d", "scale_h", "scale_w"};
  for (size_t i = 0; i < n; ++i) {
    const double scale = a.Number(kScales[3 - n + i], a.Number("scale", 1));
    a.Require(scale > 0 && scale < 65536, StrCat("a scale of ", scale));
    const Size size = SizeAt(x, static_cast<int64_t>(i) + 2);
    if (size.number) {
      sizes.emplace_back(
          static_cast<int64_t>(std::round(static_cast<double>(*size.number) * scale)));
    } else {
      a.Require(scale == std::floor(scale), "factors of unknown sizes");
      sizes.push_back(Times(a, size, Size(static_cast<int64_t>(scale))));
    }
  }
  return InLayout(a, {a, Resized(a, x, usual, Vector(a, sizes), n, std::move(attrs))}, usual,
                  layout);
}

// TensorFlow's operator, whose images have their channels last.
Value* CropAndResizeOp(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW"), method = a.Text("method", "bilinear");
  const std::vector<int64_t> size = a.Tuple("crop_size");
  a.Require(size.size() == 2, "a size of another number of axes");
  IgnoreType(a);
  const Expr x = InLayout(a, a.in(0), layout, "NHWC");
  Value* sizes = Ints(a, size).To(DType::kInt32);
  const Values crops =
      ReadThrough(a, "tf", 1, "CropAndResize", {x, a.in(1), a.in(2).To(DType::kInt32), sizes},
                  {{"method", method == "nearest_neighbor" ? "nearest" : method},
                   {"extrapolation_value", static_cast<float>(a.Number("extrapolation_value", 0))}},
                  {{}});
  return InLayout(a, {a, crops[0]}, "NHWC", layout);
}

// The grid has its coordinates at axis 1 there, x first.
Value* GridSampleOp(SymbolArgs& a) {
  const int64_t rank = a.RankOf(0);
  const std::string layout = a.Text("layout", "NCHW"), method = a.Text("method", "bilinear"),
                    padding = a.Text("padding_mode", "zeros");
  a.Require(layout == "NCHW" || layout == "NCDHW", StrCat("layout ", layout));
  a.Require(method == "bilinear" || method == "nearest" || method == "bicubic",
            StrCat("method ", method));
  const bool corners = a.Flag("align_corners", true);
  return a.Op("grid_sample", {a.in(0), MoveAxis(a.in(1), 1, rank - 1)},
              {{"mode", method == "bilinear"  ? "linear"
                        : method == "bicubic" ? "cubic"
                                              : method},
               {"padding_mode", padding},
               {"align_corners", corners ? 1 : 0}});
}

Value* AffineGridOp(SymbolArgs& a) {
  const std::vector<int64_t> size = a.Tuple("target_shape");
  a.Require(size.size() == 2, "a grid of another number of axes than two");
  const Expr shape = Vector(a, {SizeAt(a.in(0), 0), Size(1), Size(size[0]), Size(size[1])});
  return MoveAxis(a.Op("affine_grid", {a.in(0), shape}, {{"align_corners", 1}}), 3, 1);
}

// --- Written -------------------------------------------------------------------------------------

// By sizes alone: factors must be those of the sizes.
absl::StatusOr<Value*> ToResizeOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Shape *x = w.shape(0), *y = w.out_type().shape();
  if (rank < 3 || rank > 5 || !x->is_static() || !y || !y->is_static()) {
    return CannotExpress("a resize of unknown sizes, or of other than one to three spatial axes");
  }
  if (w.Int("antialias") != 0 || !CornersFollowSizes(w.node())) return CannotExpress("this resize");
  if ((*x)[0] != (*y)[0] || (*x)[1] != (*y)[1]) return CannotExpress("a resize of other axes");
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<double> factors, AxisFactors(w.node(), rank));
    for (int64_t i = 0; i < rank; ++i) {
      if (static_cast<double>((*x)[i].value()) * factors[static_cast<size_t>(i)] !=
          static_cast<double>((*y)[i].value())) {
        return CannotExpress("places by factors that are not those of the sizes");
      }
    }
  }
  const Sampling sampling = SamplingOf(w.node());
  if (sampling.coordinates != "half_pixel" && sampling.coordinates != "align_corners" &&
      sampling.coordinates != "asymmetric") {
    return CannotExpress("coordinate_transformation_mode ", sampling.coordinates);
  }
  std::vector<int64_t> size;
  for (int64_t i = 2; i < rank; ++i) size.push_back((*y)[i].value());
  std::string rounding(sampling.rounding);
  if (sampling.mode == "nearest" && rounding.empty()) rounding = "round_prefer_floor";
  AttributeMap attrs = {
      {"size", TupleText(size)},
      {"method", sampling.mode == "nearest" ? "nearest_neighbor" : std::string(sampling.mode)},
      {"coordinate_transformation_mode", std::string(sampling.coordinates)}};
  if (sampling.mode == "nearest") attrs.Set("rounding_method", rounding);
  if (sampling.mode == "cubic") {
    attrs.Set("cubic_alpha", NumberText(w.attrs().Float("cubic_coeff_a")));
    attrs.Set("cubic_exclude", StrCat(w.Int("exclude_outside")));
  } else if (w.Int("exclude_outside") != 0) {
    return CannotExpress("a resize that excludes what is outside");
  }
  return w.Call(StrCat("image.resize", rank - 2, "d"), {w.in(0)}, std::move(attrs));
}

absl::StatusOr<Value*> ToGridSampleOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank != 4 && rank != 5) return CannotExpress("a grid of other than two or three axes");
  const std::string mode = w.String("mode");
  if (rank == 5 && mode == "cubic") return CannotExpress("cubic samples of three axes");
  Value* grid = MoveAxis({w, w.in(1)}, rank - 1, 1);
  return w.Call("image.grid_sample", {w.in(0), grid},
                {{"method", mode == "linear"  ? "bilinear"
                            : mode == "cubic" ? "bicubic"
                                              : mode},
                 {"layout", rank == 4 ? "NCHW" : "NCDHW"},
                 {"padding_mode", w.String("padding_mode")},
                 {"align_corners", FlagText(w.Int("align_corners") != 0)}});
}

}  // namespace

X2IR_RELAY(resize)
    .From({"image.resize1d", "image.resize2d", "image.resize3d", "image.resize",
           "dyn.image.resize2d"},
          ResizeOp)
    .From({"nn.upsampling", "nn.upsampling3d"}, UpsamplingOp)
    .From("image.crop_and_resize", CropAndResizeOp)
    .To("image.resize2d", ToResizeOp);
X2IR_RELAY(grid_sample)
    .From("image.grid_sample", GridSampleOp)
    .To("image.grid_sample", ToGridSampleOp);
X2IR_RELAY(affine_grid).From("image.affine_grid", AffineGridOp);

}  // namespace x2ir
