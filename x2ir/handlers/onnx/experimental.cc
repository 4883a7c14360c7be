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

double Param(const Rewrite& r, Symbol name, double fallback = 0) {
  return r.attrs().Float(name, fallback);
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

// Removes the borders (left, top, right, bottom). With a scale (height, width), the part of that
// size after the left and top borders is kept.
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

// Rows of x, those of its axes from `axis` on, times those of the weights.
absl::StatusOr<Values> FromFullyConnected(Rewrite& r) {
  Expr x{r.b, r.in(0)}, weights{r.b, r.in(1)};
  const int64_t axis = r.attrs().Int("axis", 1), of_weights = r.attrs().Int("axis_w", 1);
  if (axis != 1 && r.rank(0) < 0) return Unimplemented("an operand of unknown rank");
  const auto has = [&](size_t operand, int64_t n) {
    return r.rank(operand) < 0 || n <= r.rank(operand);
  };
  if (axis < 1 || !has(0, axis) || of_weights < 0 || !has(1, of_weights)) {
    return Invalid("there is no axis ", axis, " of X, or ", of_weights, " of W");
  }
  if (r.rank(1) != 2 || of_weights != 1)
    weights = weights.Op("flatten", {}, {{"axis", of_weights}});
  const Expr rows = r.rank(0) == 2 && axis == 1 ? x : x.Op("flatten", {}, {{"axis", axis}});
  const Expr y = rows.Op("gemm", {weights, r.in(2)}, {{"transB", 1}});
  if (axis == 1) return Values{y};
  std::vector<Size> sizes = SizesAt(x, 0, axis);
  sizes.push_back(SizeAt(weights, 0));
  return Values{ReshapeTo(y, sizes)};
}

absl::StatusOr<Values> FromSpatialBn(Rewrite& r) {
  const std::string order = r.attrs().String("order", "NCHW");
  if (r.attrs().Int("is_test", 0) == 0) return Unimplemented("SpatialBN in training (is_test = 0)");
  if (order != "NCHW") return Unimplemented("order ", order);
  if (r.attrs().Int("spatial", 1) == 0) return Unimplemented("numbers of each place (spatial = 0)");
  for (size_t i = 1; i < r.num_outputs(); ++i) {
    if (r.node.output(i) && !r.node.output(i)->is_unused())
      return Unimplemented("statistics as outputs");
  }
  Values values{r.b.Op("batch_normalization", {r.in(0), r.in(1), r.in(2), r.in(3), r.in(4)},
                       {{"epsilon", static_cast<float>(Param(r, "epsilon", 1e-5))}})};
  values.resize(r.num_outputs(), nullptr);
  return values;
}

absl::StatusOr<Values> FromDynamicSlice(Rewrite& r) {
  return Values{r.b.Op("slice", {r.in(0), r.in(1), r.in(2), r.in(3)})};
}

X2IR_ONNX(mul)
    .Is("Affine", Since(1), Code{FromAffine, nullptr})
    .Is("Scale", Since(1), Code{FromScale, nullptr})
    .Is("ImageScaler", Since(1), Code{FromImageScaler, nullptr});
// Caffe2's, of the days before 1.0.
X2IR_ONNX(gemm).Is("FC", Since(1), Code{FromFullyConnected, nullptr});
X2IR_ONNX(batch_normalization).Is("SpatialBN", Since(1), Code{FromSpatialBn, nullptr});
X2IR_ONNX(tanh).Is("ScaledTanh", Since(1), Code{FromScaledTanh, nullptr});
X2IR_ONNX(softplus).Is("ParametricSoftplus", Since(1), Code{FromParametricSoftplus, nullptr});
X2IR_ONNX(slice)
    .Is("Crop", Since(1), Code{FromCrop, nullptr})
    .Is("DynamicSlice", Since(1), Code{FromDynamicSlice, nullptr});
X2IR_ONNX(thresholded_relu).Is("ThresholdedRelu", In(1, 9), ImportOnly());

}  // namespace
}  // namespace x2ir
