// Ops that ONNX had for trying in its first opsets, and took away later. ONNX Runtime still runs
// them, and converters of that time wrote them. All of them are only read.
#include <algorithm>
#include <string>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

double Param(const Rewrite& r, Symbol name, double or_else = 0) {
  return r.attrs().Float(name, or_else);
}

absl::Status KnownType(const Rewrite& r) {
  if (IsFloating(r.dtype(0))) return absl::OkStatus();
  return Unimplemented("an operand of unknown element type");
}

absl::StatusOr<Values> FromAffine(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(KnownType(r));
  const Expr x{r.b, r.in(0)};
  return Values{Shifted(Scaled(x, Param(r, "alpha", 1)), Param(r, "beta"))};
}

absl::StatusOr<Values> FromScale(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(KnownType(r));
  return Values{Expr(r.b, r.in(0)) * Param(r, "scale", 1)};
}

absl::StatusOr<Values> FromScaledTanh(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(KnownType(r));
  const Expr x{r.b, r.in(0)};
  return Values{Scaled(Scaled(x, Param(r, "beta")).Op("tanh"), Param(r, "alpha"))};
}

absl::StatusOr<Values> FromParametricSoftplus(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(KnownType(r));
  const Expr x{r.b, r.in(0)};
  return Values{Scaled(Scaled(x, Param(r, "beta")).Op("softplus"), Param(r, "alpha"))};
}

absl::Status IsImage(const Rewrite& r) {
  if (r.rank(0) == 4) return absl::OkStatus();
  return r.rank(0) < 0 ? Unimplemented("input: an image of unknown rank")
                       : Invalid("input: expected rank 4, got ", r.rank(0));
}

// scale * x + the bias of the channel.
absl::StatusOr<Values> FromImageScaler(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(KnownType(r));
  X2IR_RETURN_IF_ERROR(IsImage(r));
  const Expr scaled = Scaled({r.b, r.in(0)}, Param(r, "scale", 1));
  const Attribute* attr = r.attrs().Find("bias");
  if (!attr) return Values{scaled};
  const auto& floats = *attr->get<Attribute::Floats>();
  const Dim channels = DimAt(r.in(0), 1);
  const auto count = static_cast<int64_t>(floats.size());
  if (ProvablyDifferent(channels, Dim(count))) {
    return Invalid("bias: ", count, " numbers for ", channels.ToString(), " channels");
  }
  const std::vector<float> numbers(floats.begin(), floats.end());
  const Tensor bias = Tensor::Of<float>({count, 1, 1}, numbers);
  return Values{scaled + Expr(r.b, r.b.Constant(bias, "bias")).To(r.dtype(0))};
}

// The borders (left, top, right, bottom) are cut off, or, where there is a scale (height, width),
// all but so much behind the first two.
absl::StatusOr<Values> FromCrop(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(IsImage(r));
  const std::vector<int64_t> border = r.attrs().Ints("border"), scale = r.attrs().Ints("scale", {});
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2)) {
    return Invalid("expected four borders, and two scales or none");
  }
  for (const std::vector<int64_t>& numbers : {border, scale}) {
    if (std::any_of(numbers.begin(), numbers.end(),
                    [](int64_t n) { return n < 0 || n > INT32_MAX; })) {
      return Invalid("border and scale: expected sizes");
    }
  }
  Expr y{r.b, r.in(0)};
  for (const int64_t axis : {2, 3}) {
    const size_t first = axis == 2 ? 1 : 0;
    const int64_t begin = border[first], behind = border[first + 2];
    const int64_t kept = scale.empty() ? -1 : scale[axis - 2];
    const Dim size = DimAt(r.in(0), axis);
    if (size.is_static() && size.value() < (kept < 0 ? begin + behind : begin + kept)) {
      return Invalid("more is cut off than axis ", axis, " of size ", size.value(), " has");
    }
    const Size end = kept >= 0 ? Size(begin + kept) : behind > 0 ? Size(-behind) : Size(kToEnd);
    y = Slice(y, axis, Size(begin), end);
  }
  return Values{y};
}

absl::StatusOr<Values> FromDynamicSlice(Rewrite& r) {
  return Values{r.b.Op("slice", {r.in(0), r.in(1), r.in(2), r.in(3)})};
}

X2IR_ONNX(mul)
    .Is("Affine", Since(1), Code{FromAffine, nullptr})
    .Is("Scale", Since(1), Code{FromScale, nullptr})
    .Is("ImageScaler", Since(1), Code{FromImageScaler, nullptr});
X2IR_ONNX(tanh).Is("ScaledTanh", Since(1), Code{FromScaledTanh, nullptr});
X2IR_ONNX(softplus).Is("ParametricSoftplus", Since(1), Code{FromParametricSoftplus, nullptr});
X2IR_ONNX(slice)
    .Is("Crop", Since(1), Code{FromCrop, nullptr})
    .Is("DynamicSlice", Since(1), Code{FromDynamicSlice, nullptr});
X2IR_ONNX(thresholded_relu).Is("ThresholdedRelu", In(1, 9), ImportOnly());

}  // namespace
}  // namespace x2ir
