// NNEF: images made larger and smaller.
#include "x2ir/builder/layers/resize.h"

#include <cmath>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Expr Upsampled(NnefArgs& a, const Sampling& sampling) {
  const Expr x = a.Tensor("input");
  const std::vector<int64_t> factor = a.Integers("factor");
  const int64_t rank = x.rank(), count = static_cast<int64_t>(factor.size());
  a.Require(count > 0 && count <= rank, "factors of another number of axes");
  std::vector<float> factors(static_cast<size_t>(rank - count), 1.0f);
  for (const int64_t f : factor) {
    a.Require(f > 0 && f < (1 << 24), "a factor below 1, or as large");
    factors.push_back(static_cast<float>(f));
  }
  return ResizedBy(x, factors, sampling);
}
Value* NearestUpsampleRow(NnefArgs& a) { return Upsampled(a, kNearestFloor); }
Value* MultilinearUpsampleRow(NnefArgs& a) {
  const std::string method = a.Text("method"), border = a.Text("border");
  a.Require(method == "symmetric" || method == "asymmetric" || method == "aligned",
            StrCat("method '", method, "'"));
  a.Require(border == "replicate", StrCat("border '", border, "'"));
  return Upsampled(a, Interpolated("linear", method == "aligned", method == "symmetric"));
}
Value* NearestDownsampleRow(NnefArgs& a) {
  Expr x = a.Tensor("input");
  const std::vector<int64_t> factor = a.Integers("factor");
  const int64_t first = x.rank() - static_cast<int64_t>(factor.size());
  a.Require(first >= 0, "factors of another number of axes");
  for (size_t i = 0; i < factor.size(); ++i) {
    a.Require(factor[i] > 0, "a factor below 1");
    x = Slice(x, first + static_cast<int64_t>(i), Size(0), Size(kToEnd), Size(factor[i]));
  }
  return x;
}

// As ONNX's, whose names it has.
Value* TractResizeRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  const std::string rounding = a.Text("nearest_mode"), mode = a.Text("interpolator");
  a.Require(mode == "nearest" || mode == "linear", StrCat("interpolator '", mode, "'"));
  const AttributeMap attrs = {{"mode", mode},
                              {"coordinate_transformation_mode", a.Text("coord_transformer")},
                              {"nearest_mode", rounding}};
  if (a.Has("sizes")) {
    return x.Op("resize", {nullptr, nullptr, a.AsInt64(a.Tensor("sizes"))}, attrs);
  }
  return x.Op("resize", {nullptr, a.Tensor("scales").To(DType::kFloat32), nullptr}, attrs);
}

// Images of whole factors, two axes in front.
absl::StatusOr<Value*> ToResize(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3) return CannotExpress("a resize without spatial axes");
  if (!IsPlainResize(w.node())) return CannotExpress("antialias, exclude_outside or a policy");
  Sampling sampling = SamplingOf(w.node());
  const Shape* in = w.shape(0);
  const Shape* out = w.out_type().shape();
  std::vector<double> factors;
  if (w.in(2)) {
    X2IR_ASSIGN_OR_RETURN(factors, AxisFactors(w.node(), rank));
  } else {
    for (int64_t i = 0; i < rank; ++i) {
      const bool known = in && out && (*in)[i].is_static() && (*out)[i].is_static();
      if (known && (*in)[i].value() > 0) {
        factors.push_back(static_cast<double>((*out)[i].value()) /
                          static_cast<double>((*in)[i].value()));
      } else if (in && out && (*in)[i] == (*out)[i] && !(*in)[i].is_unknown()) {
        factors.push_back(1);
      } else {
        return CannotExpress("sizes that are not known");
      }
    }
  }
  Attribute::Ints whole;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] < 1 || factors[i] != std::floor(factors[i]) || (i < 2 && factors[i] != 1)) {
      return CannotExpress("a factor of ", factors[i], " along axis ", i);
    }
    if (i >= 2) whole.push_back(static_cast<int64_t>(factors[i]));
  }
  // Of whole factors, the middle of every result lies in the element that it repeats.
  const bool repeats =
      sampling.mode == "nearest" &&
      (sampling == kNearestFloor ||
       (sampling.coordinates == "half_pixel" &&
        (sampling.rounding == "round_prefer_floor" || sampling.rounding == "round_prefer_ceil")));
  if (repeats) return w.Call("nearest_upsample", {{"input", w.in(0)}}, {{"factor", whole}});
  if (sampling.mode == "linear") {
    const std::string_view method = sampling.coordinates == "half_pixel"      ? "symmetric"
                                    : sampling.coordinates == "asymmetric"    ? "asymmetric"
                                    : sampling.coordinates == "align_corners" ? "aligned"
                                                                              : "";
    if (!method.empty()) {
      return w.Call("multilinear_upsample", {{"input", w.in(0)}},
                    {{"factor", whole}, {"method", method}, {"border", "replicate"}});
    }
  }
  return CannotExpress("mode '", sampling.mode, "' at '", sampling.coordinates, "', '",
                       sampling.rounding, "'");
}

}  // namespace

X2IR_NNEF(resize)
    .From({{"nearest_upsample", NearestUpsampleRow},
           {"multilinear_upsample", MultilinearUpsampleRow},
           {"nearest_downsample", NearestDownsampleRow},
           {"tract_core_resize", TractResizeRow}})
    .To("nearest_upsample", ToResize);

}  // namespace x2ir
