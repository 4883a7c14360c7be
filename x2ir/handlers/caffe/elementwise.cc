// Caffe: layers that work on each number.

#include "x2ir/builder/layers/activation.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

Value* Same(CaffeArgs& a) { return a.Op("identity", {a.in(0)}); }

Value* Threshold(CaffeArgs& a) {
  const Expr x = a.in(0);
  return (x > a.Float("threshold", 0)).To(x.dtype());
}

Value* Power(CaffeArgs& a) {
  const double power = a.Float("power", 1), scale = a.Float("scale", 1),
               shift = a.Float("shift", 0);
  const Expr x = Shifted(Scaled(a.in(0), scale), shift);
  if (scale == 0 || power == 0) {
    // Caffe's shortcut: a constant, whatever x is.
    return Expand(a.in(0).Number(power == 0 ? 1 : portable::pow(shift, power)), ShapeOf(a.in(0)));
  }
  return power == 1 ? a.Op("identity", {x}).value() : Pow(x, power).value();
}

// base^(shift + scale x); a base of -1 is e.
absl::StatusOr<Value*> ExpOf(CaffeArgs& a) {
  const double base = a.Float("base", -1), scale = a.Float("scale", 1), shift = a.Float("shift", 0);
  if (base != -1 && base <= 0) return Invalid("a base of ", base);
  const double log = base == -1 ? 1 : portable::log(base);
  return Exp(Shifted(Scaled(a.in(0), scale * log), shift * log)).value();
}

absl::StatusOr<Value*> LogOf(CaffeArgs& a) {
  const double base = a.Float("base", -1), scale = a.Float("scale", 1), shift = a.Float("shift", 0);
  if (base != -1 && (base <= 0 || base == 1)) return Invalid("a base of ", base);
  const Expr y = Log(Shifted(Scaled(a.in(0), scale), shift));
  return Scaled(y, base == -1 ? 1 : 1 / portable::log(base)).value();
}

absl::StatusOr<Value*> Eltwise(CaffeArgs& a) {
  const std::string operation = a.Text("operation", "SUM");
  const std::vector<float> factors = a.Floats("coeff");
  a.Drop({"stable_prod_grad"});
  if (!factors.empty() && (operation != "SUM" || factors.size() != a.num_bottoms())) {
    return Invalid(factors.size(), " factors of ", a.num_bottoms(), " operands");
  }
  const auto operand = [&](size_t i) {
    return factors.empty() ? a.in(i) : Scaled(a.in(i), factors[i]);
  };
  Expr y = operand(0);
  for (size_t i = 1; i < a.num_bottoms(); ++i) {
    y = operation == "PROD"  ? y * operand(i)
        : operation == "MAX" ? Max(y, operand(i))
                             : y + operand(i);
  }
  return a.num_bottoms() == 1 ? a.Op("identity", {y}).value() : y.value();
}

// The second operand, or a weight, with its first axis at `axis` of the first; then sizes of 1.
Expr Placed(CaffeArgs& a, const Expr& factor, int64_t axis) {
  const int64_t rank = a.RankOf();
  a.Require(factor->shape() != nullptr, "a factor of unknown rank");
  const int64_t own = factor->shape()->rank();
  if (axis + own > rank) a.Fail(Invalid("axes ", axis, " to ", axis + own, " of ", rank));
  if (axis + own == rank || own == 0) return factor;
  std::vector<int64_t> behind;
  for (int64_t i = own; i < rank - axis; ++i) behind.push_back(i);
  return Unsqueeze(factor, behind);
}

// How many axes of the first operand a weight has.
int64_t AxesOfWeight(CaffeArgs& a, int64_t axis) {
  const int64_t axes = a.Int("num_axes", 1);
  return axes == -1 ? a.RankOf() - axis : axes;
}

Value* Scale(CaffeArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1));
  const bool learned = a.num_bottoms() == 1, has_bias = a.Bool("bias_term", false);
  const int64_t axes = learned ? AxesOfWeight(a, axis) : a.RankOf(1);
  a.Drop({"num_axes"});
  const Expr factor = learned ? a.blob(0, axes) : a.in(1);
  const Expr y = a.in(0) * Placed(a, factor, axis);
  if (!has_bias) return y;
  return y + Placed(a, a.blob(learned ? 1 : 0, axes), axis);
}

Value* Bias(CaffeArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1));
  const bool learned = a.num_bottoms() == 1;
  const int64_t axes = learned ? AxesOfWeight(a, axis) : 0;
  a.Drop({"num_axes"});
  return a.in(0) + Placed(a, learned ? a.blob(0, axes) : a.in(1), axis);
}

// Operands: a factor for each channel, x, y.
Value* Axpy(CaffeArgs& a) {
  Expr factor = a.in(0);
  if (a.RankOf(0) == 2) factor = Unsqueeze(factor, {2, 3});
  return factor * a.in(1) + a.in(2);
}

}  // namespace

X2IR_CAFFE(identity)
    .From("Dropout", "dropout_param",
          [](CaffeArgs& a) -> Value* {
            // What was not scaled in training is scaled now.
            const double left_out = a.Float("dropout_ratio", 0.5f);
            if (a.Bool("scale_train", true)) return Same(a);
            return a.in(0) * (1 - left_out);
          })
    .From("Split", "split_param",
          [](CaffeArgs& a) {
            Values all;
            for (size_t i = 0; i < a.num_outputs(); ++i) all.push_back(Same(a));
            return all;
          })
    .From("Parameter", "parameter_param", [](CaffeArgs& a) -> Value* {
      a.Drop({"shape.dim"});
      return a.Op("identity", {a.blob(0)});
    });
X2IR_CAFFE(tanh).From("TanH", "tanh_param", [](CaffeArgs& a) { return a.Op("tanh", {a.in(0)}); });
X2IR_CAFFE(abs).From("AbsVal", "absval_param", [](CaffeArgs& a) { return Abs(a.in(0)); });
X2IR_CAFFE(greater).From("Threshold", "threshold_param", Threshold);
X2IR_CAFFE(pow).From("Power", "power_param", Power);
X2IR_CAFFE(exp).From("Exp", "exp_param", ExpOf);
X2IR_CAFFE(log).From("Log", "log_param", LogOf);
X2IR_CAFFE(add).From("Eltwise", "eltwise_param", Eltwise).From("Bias", "bias_param", Bias);
X2IR_CAFFE(mul).From("Scale", "scale_param", Scale).From("Axpy", "axpy_param", Axpy);

}  // namespace x2ir
