#include "x2ir/handlers/keras/images.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/read_through.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The operator of TensorFlow, and the kernel where what is between pixels is weighed by one.
struct ResizeRow {
  std::string_view how, op, kernel;
};
constexpr ResizeRow kResizeRows[] = {
    {"bilinear", "ResizeBilinear", "triangle"},
    {"nearest", "ResizeNearestNeighbor", ""},
    {"bicubic", "ResizeBicubic", "keyscubic"},
    {"area", "ResizeArea", ""},
    {"lanczos3", "", "lanczos3"},
    {"lanczos5", "", "lanczos5"},
    {"gaussian", "", "gaussian"},
    {"mitchellcubic", "", "mitchellcubic"},
};

}  // namespace

Expr ResizedImages(NodeReader& a, const Expr& x, const Expr& sizes, const std::string& how,
                   bool antialias) {
  if (x.rank() != 4) a.Fail(Invalid("images of rank ", x.rank()));
  const auto known = KnownInts(sizes);
  if (known && known->size() != 2) a.Fail(Invalid(known->size(), " sizes of an image"));
  if (known && DimAt(x, 1) == Dim((*known)[0]) && DimAt(x, 2) == Dim((*known)[1])) {
    return x.Op("identity");
  }
  const auto* row = std::find_if(std::begin(kResizeRows), std::end(kResizeRows),
                                 [&](const ResizeRow& r) { return r.how == how; });
  a.Require(row != std::end(kResizeRows), StrCat("interpolation '", how, "'"));
  const auto tf = [&](std::string_view op, std::vector<Value*> operands, AttributeMap attrs) {
    return Expr(a, ReadThrough(a, "tf", 1, op, std::move(operands), std::move(attrs), {{}})[0]);
  };
  if (row->op.empty() || (antialias && !row->kernel.empty())) {
    const auto from = KnownSizes(x, 1, 3);
    a.Require(known && from, "images of unknown sizes, resized by weights");
    std::vector<double> scales;
    for (size_t i = 0; i < 2; ++i) {
      scales.push_back(static_cast<float>((*known)[i]) / static_cast<float>((*from)[i]));
    }
    const Expr scale = NumbersAs(a, DType::kFloat32, {2}, scales);
    return tf("ScaleAndTranslate", {x, sizes, scale, Zeros(a, DType::kFloat32, {2})},
              {{"kernel_type", row->kernel}, {"antialias", antialias}});
  }
  AttributeMap attrs = {{"align_corners", 0}};
  if (how != "area") attrs.Set("half_pixel_centers", 1);
  return tf(row->op, {x, sizes}, attrs);
}

Expr FittedImages(NodeReader& a, const Expr& x, int64_t height, int64_t width,
                  const std::string& how, bool antialias, KerasFit fit, double fill) {
  Expr fitted = x;
  if (fit != KerasFit::kStretch) {
    const auto known = KnownSizes(x, 1, 3);
    a.Require(known.has_value(), "images of unknown sizes whose aspect ratio is kept");
    const int64_t h = (*known)[0], w = (*known)[1];
    // In floats of 32 bits, towards zero.
    const auto scaled = [](int64_t size, int64_t by, int64_t over) {
      return static_cast<int64_t>(static_cast<float>(size * by) / static_cast<float>(over));
    };
    if (h < 1 || w < 1 || h > (1 << 24) || w > (1 << 24))
      a.Fail(Invalid("an image without a size"));
    const int64_t high = scaled(w, height, width), wide = scaled(h, width, height);
    if (fit == KerasFit::kCrop) {
      const int64_t rows = std::max<int64_t>(std::min(h, high), 1),
                    columns = std::max<int64_t>(std::min(w, wide), 1);
      const int64_t top = (h - rows) / 2, left = (w - columns) / 2;
      fitted = Slice(fitted, 1, Size(top), Size(top + rows));
      fitted = Slice(fitted, 2, Size(left), Size(left + columns));
    } else {
      const int64_t above = (std::max(h, high) - h) / 2, before = (std::max(w, wide) - w) / 2;
      fitted = fitted.Op(
          "pad", {a.b().Ints({0, above, before, 0, 0, above, before, 0}), fitted.Number(fill)});
    }
  }
  return ResizedImages(a, fitted, Ints(a, {height, width}), how, antialias);
}

}  // namespace x2ir
