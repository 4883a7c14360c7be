// StableHLO: batch normalization and its gradient.
#include <cmath>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

struct BatchNorm {
  int64_t axis;
  std::vector<int64_t> others;
  double epsilon;
};
BatchNorm TakeBatchNorm(StablehloArgs& a) {
  BatchNorm norm;
  const double* epsilon = nullptr;
  if (const Attribute* attr = a.attrs().Find("epsilon")) epsilon = attr->get<double>();
  norm.epsilon = epsilon ? *epsilon : static_cast<double>(a.Float("epsilon", 0));
  a.Ignore("epsilon");
  norm.axis = a.AxisOf(a.Int("feature_index", 0));
  for (int64_t i = 0; i < a.RankOf(); ++i) {
    if (i != norm.axis) norm.others.push_back(i);
  }
  return norm;
}

Value* FromInference(StablehloArgs& a) {
  const BatchNorm norm = TakeBatchNorm(a);
  return BatchNormalize(a, a.in(0), a.in(1), a.in(2), a.in(3), a.in(4), norm.axis, norm.epsilon);
}

// By the mean and the variance of the batch, which are results too.
Values FromTraining(StablehloArgs& a) {
  const BatchNorm norm = TakeBatchNorm(a);
  const Expr x = a.in(0);
  const Expr mean = Reduce(x, "reduce_mean", norm.others);
  const Expr centered = x - AlongAxis(mean, norm.axis, x.rank());
  const Expr variance = Reduce(Square(centered), "reduce_mean", norm.others);
  const Expr y = BatchNormalize(a, x, a.in(1), a.in(2), mean, variance, norm.axis, norm.epsilon);
  return {y, mean, variance};
}

Values FromGradient(StablehloArgs& a) {
  const BatchNorm norm = TakeBatchNorm(a);
  const Expr x = a.in(0), dy = a.in(4);
  const auto along = [&](const Expr& vector) { return AlongAxis(vector, norm.axis, x.rank()); };
  const Expr centered = x - along(a.in(2));
  const Expr deviation = Sqrt(a.in(3) + norm.epsilon);
  const Expr sum = Reduce(dy, "reduce_sum", norm.others);
  const Expr weighted = Reduce(dy * centered, "reduce_sum", norm.others);
  const Expr count = CountOf(x, norm.others).To(x.dtype());
  const Expr inner =
      count * dy - along(sum) - centered * along(weighted) / along(a.in(3) + norm.epsilon);
  const Expr dx = along(a.in(1)) / along(deviation) / count * inner;
  return {dx, weighted / deviation, sum};
}

}  // namespace

X2IR_STABLEHLO(batch_normalization)
    .From({{"batch_norm_inference", FromInference},
           {"batch_norm_training", FromTraining},
           {"batch_norm_grad", FromGradient}});

}  // namespace x2ir
