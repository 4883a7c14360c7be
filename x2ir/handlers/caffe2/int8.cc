// Caffe2: operators on integers of 8 bits. A blob of integers is read as the floats that they
// represent. An operator is computed on floats, and its result is rounded to integers of its scale
// (Y_scale, Y_zero_point).
#include <cmath>

#include "x2ir/builder/quantized.h"
#include "x2ir/core/read_through.h"
#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

struct Steps {
  Expr scale, zero_point;
  QuantizationParams all() const { return {scale, zero_point}; }
};
Steps StepsOf(Caffe2Args& a, DType type) {
  const double scale = a.Number("Y_scale", 1);
  const int64_t zero_point = a.Int("Y_zero_point", 0);
  const ValueBounds range = RangeOfInteger(type);
  const auto zero = static_cast<double>(zero_point);
  if (!(scale > 0) || !std::isfinite(scale) || zero < range.low || zero > range.high) {
    a.Fail(Invalid("steps of ", scale, " from ", zero_point));
  }
  return {Expr(a, a.b().Scalar(DType::kFloat32, scale)), IntegerOf(a, type, zero_point)};
}
Expr InSteps(const Expr& x, const Steps& steps) {
  const Expr integers = Quantized(x, steps.all(), {DType::kUInt8, 0, 255});
  return Dequantized(integers, steps.all(), DType::kFloat32);
}

// The operator on floats, followed by a ReLU if `relu`.
Values OnIntegers(Caffe2Args& a, std::string_view op, bool relu) {
  const Steps steps = StepsOf(a, DType::kUInt8);
  AttributeMap attrs;
  for (const auto& [name, value] : a.attrs()) {
    a.Ignore(name);
    if (name.view().starts_with("Y_")) continue;
    attrs.Set(name, value);
  }
  std::vector<ReadThroughResult> results;
  for (size_t i = 0; i < a.num_outputs(); ++i) results.push_back({a.wants(i), {}});
  Values all = ReadThrough(a, "caffe2", 1, op, a.inputs(), std::move(attrs), results);
  if (all.empty() || !all[0]) return all;
  const Expr y(a, all[0]);
  all[0] = InSteps(relu ? y.Op("relu") : y, steps);
  return all;
}
auto As(std::string_view op) {
  return [op](Caffe2Args& a) { return OnIntegers(a, op, false); };
}
auto AsWithRelu(std::string_view op) {
  return [op](Caffe2Args& a) { return OnIntegers(a, op, true); };
}

// Classes are all axes after the first. A chance of 1 is 255/256.
Value* Int8Softmax(Caffe2Args& a) {
  a.Drop({"order", "axis"});
  const Steps steps = StepsOf(a, DType::kUInt8);
  const Expr rows = a.in(0).Op("flatten", {}, {{"axis", 1}});
  return InSteps(ReshapeTo(rows.Op("softmax", {}, {{"axis", 1}}), AllSizes(a.in(0))), steps);
}
// Sizes of images are [batch, height, width, channels], whatever the order is called.
absl::StatusOr<Value*> Int8ResizeNearest(Caffe2Args& a) {
  const Steps steps = StepsOf(a, DType::kUInt8);
  AttributeMap attrs = {{"order", "NHWC"}};
  for (const char* name : {"width_scale", "height_scale"}) {
    attrs.Set(name, static_cast<float>(a.Number(name, 1)));
  }
  a.Drop({"order"});
  const Values all = ReadThrough(a, "caffe2", 1, "ResizeNearest", a.inputs(), attrs, {{true, {}}});
  return InSteps({a, all[0]}, steps).value();
}
// What the reader makes of "Int8Given...": its operand is the integers.
Value* Given(Caffe2Args& a) {
  a.Drop({"shape", "values"});
  return Dequantized(a.in(0), StepsOf(a, a.dtype()).all(), DType::kFloat32);
}

}  // namespace

X2IR_CAFFE2(conv).From({{"Int8Conv", As("Conv")}, {"Int8ConvRelu", AsWithRelu("Conv")}});
X2IR_CAFFE2(conv_transpose).From("Int8ConvTranspose", As("ConvTranspose"));
X2IR_CAFFE2(gemm).From({{"Int8FC", As("FC")}, {"Int8FCRelu", AsWithRelu("FC")}});
X2IR_CAFFE2(relu).From("Int8Relu", As("Relu"));
X2IR_CAFFE2(leaky_relu).From("Int8LeakyRelu", As("LeakyRelu"));
X2IR_CAFFE2(sigmoid).From("Int8Sigmoid", As("Sigmoid"));
X2IR_CAFFE2(add).From({{"Int8Add", As("Add")},
                       {"Int8AddRelu", AsWithRelu("Add")},
                       {"Int8Sum", As("Sum")},
                       {"Int8SumRelu", AsWithRelu("Sum")}});
X2IR_CAFFE2(max_pool).From({{"Int8MaxPool", As("MaxPool")},
                            {"Int8MaxPoolRelu", AsWithRelu("MaxPool")}});
X2IR_CAFFE2(average_pool)
    .From({{"Int8AveragePool", As("AveragePool")},
           {"Int8AveragePoolRelu", AsWithRelu("AveragePool")}});
X2IR_CAFFE2(concat).From("Int8Concat", As("Concat"));
X2IR_CAFFE2(transpose).From({{"Int8ChannelShuffle", As("ChannelShuffle")},
                             {"Int8Transpose", As("Transpose")}});
X2IR_CAFFE2(reshape).From("Int8Reshape", As("Reshape"));
X2IR_CAFFE2(flatten).From("Int8Flatten", As("Flatten"));
X2IR_CAFFE2(slice).From("Int8Slice", As("Slice"));
X2IR_CAFFE2(quantize_linear).From("Int8Quantize", As("Copy"));
X2IR_CAFFE2(softmax).From("Int8Softmax", Int8Softmax);
X2IR_CAFFE2(resize).From("Int8ResizeNearest", Int8ResizeNearest);
X2IR_CAFFE2(identity).From("Int8Dequantize",
                           [](Caffe2Args& a) { return a.Op("identity", {a.in(0)}); });
X2IR_CAFFE2(dequantize_linear).From({"Int8GivenTensorFill", "Int8GivenIntTensorFill"}, Given);

}  // namespace x2ir
