// TensorFlow: norms.
#include <numeric>

#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"

namespace x2ir {
namespace {

// Outputs: y, mean, variance; what else there is serves gradients.
absl::StatusOr<Values> FusedBatchNorm(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  const float epsilon = a.Float("epsilon", 1e-4f);
  const float factor = a.Float("exponential_avg_factor", 1);
  a.Type("U", DType::kFloat32);  // of the parameters
  const bool training = a.Bool("is_training", true);
  Value* x = a.in(0);
  Value* mean = a.in(3);
  Value* variance = a.in(4);
  Value* out_mean = mean;
  Value* out_variance = variance;
  if (training) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
    if (rank < 2) return Invalid("operand 0 is of rank ", rank);
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != layout.ChannelAxis(rank)) axes.push_back(i);
    }
    const DType type = a.in(1)->dtype();
    Value* wide = a.Cast(x, type);
    Value* over = a.b().Ints(axes);
    Value* kept = a.Op("reduce_mean", {wide, over}, {{"keepdims", 1}});
    Value* d = a.Op("sub", {wide, kept});
    Value* batch_mean = a.Op("reduce_mean", {wide, over}, {{"keepdims", 0}});
    Value* batch_variance = a.Op("reduce_mean", {a.Op("mul", {d, d}), over}, {{"keepdims", 0}});
    // What is handed on is without bias: n / (n - 1) of it.
    Value* count = a.Cast(a.Op("div", {a.Op("size", {x}), a.Op("size", {batch_mean})}), type);
    Value* one = a.b().Scalar(type, 1);
    Value* less = a.Op("max", {a.Op("sub", {count, one}), one});
    Value* unbiased = a.Op("mul", {batch_variance, a.Op("div", {count, less})});
    const auto blend = [&](Value* old, Value* now) -> Value* {
      if (factor == 1) return now;
      return a.Op("add", {a.Op("mul", {old, a.b().Scalar(type, 1.0 - factor)}),
                          a.Op("mul", {now, a.b().Scalar(type, factor)})});
    };
    out_mean = blend(mean, batch_mean);
    out_variance = blend(variance, unbiased);
    mean = batch_mean;
    variance = batch_variance;
  }
  Value* y = a.Op("batch_normalization", {x, a.in(1), a.in(2), mean, variance},
                  {{"layout", layout.name()}, {"epsilon", epsilon}});
  return Values{y, out_mean, out_variance, nullptr, nullptr, nullptr};
}

absl::StatusOr<Values> FusedBatchNormEx(TfArgs& a) {
  const int64_t sides = a.Int("num_side_inputs", 0);
  const std::string mode = a.String("activation_mode", "Identity");
  if (mode != "Identity" && mode != "Relu") return Unimplemented("activation_mode '", mode, "'");
  X2IR_ASSIGN_OR_RETURN(Values values, FusedBatchNorm(a));
  if (sides > 1) return Invalid("num_side_inputs = ", sides);
  if (sides == 1) values[0] = a.Op("add", {values[0], a.in(5)});
  if (mode == "Relu") values[0] = a.Op("relu", {values[0]});
  return values;
}

// alpha is for each of the neighbours here, for their mean in IR.
absl::StatusOr<Value*> Lrn(TfArgs& a) {
  const int64_t radius = a.Int("depth_radius", 5);
  if (radius < 0 || radius > (1 << 30)) return Invalid("depth_radius = ", radius);
  const int64_t size = 2 * radius + 1;
  const float alpha = a.Float("alpha", 1) * static_cast<float>(size);
  return LocalResponseNorm(a.in(0), size, alpha, a.Float("beta", 0.5f), a.Float("bias", 1), true)
      .value();
}

// Operands: x, mean, variance, beta, gamma.
Value* BatchNormGlobal(TfArgs& a) {
  const float epsilon = a.Float("variance_epsilon", 0);
  const bool scaled = a.Bool("scale_after_normalization", false);
  Value* gamma = a.in(4);
  if (!scaled) gamma = a.Op("expand", {Expr(a, gamma).Number(1), a.Op("shape", {gamma})});
  return a.Op("batch_normalization", {a.in(0), gamma, a.in(3), a.in(1), a.in(2)},
              {{"layout", "channels_last"}, {"epsilon", epsilon}});
}

// A vector of channels so that it broadcasts.
Value* OfChannels(TfWriter& w, Value* v, int64_t rank) {
  if (IsChannelsLast(w) || rank <= 2) return v;
  std::vector<int64_t> axes(static_cast<size_t>(rank) - 2);
  std::iota(axes.begin(), axes.end(), 1);
  return w.Op("unsqueeze", {v, w.Ints(axes)});
}

absl::StatusOr<Value*> ToTfBatchNorm(TfWriter& w) {
  if (w.Int("training_mode") != 0) return CannotExpress("statistics of the batch");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("rank ", rank);
  const DType t = w.dtype(), of_parameters = w.dtype(1);
  const bool fused = rank == 4 && of_parameters == DType::kFloat32 && w.dtype(3) == of_parameters &&
                     t != DType::kFloat64;
  if (fused && !IsChannelsLast(w)) return WithChannelsLast(w);
  if (fused) {
    return w.TfAll("FusedBatchNormV3", w.node().inputs(),
                   {{"epsilon", w.Float("epsilon")}, {"data_format", "NHWC"}, {"is_training", 0}},
                   {true, false, false, false, false, false})[0];
  }
  for (size_t i = 1; i < 5; ++i) {
    if (w.dtype(i) != t) return CannotExpress("parameters of another type");
  }
  Value* spread = w.Op("sqrt", {w.Op("add", {w.in(4), w.Number(t, w.Float("epsilon"))})});
  Value* scale = w.Op("div", {w.in(1), spread});
  Value* centered = w.Op("sub", {w.in(0), OfChannels(w, w.in(3), rank)});
  Value* scaled = w.Op("mul", {centered, OfChannels(w, scale, rank)});
  return w.Op("add", {scaled, OfChannels(w, w.in(2), rank)});
}

absl::StatusOr<Value*> ToTfLrn(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t size = w.Int("size");
  if (rank != 4 || size % 2 == 0 || w.dtype() == DType::kFloat64) {
    return CannotExpress("rank ", rank, ", size ", size);
  }
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  return w.Tf("LRN", {w.in(0)},
              {{"depth_radius", (size - 1) / 2},
               {"bias", w.Float("bias")},
               {"alpha", w.Float("alpha") / static_cast<float>(size)},
               {"beta", w.Float("beta")}});
}

absl::StatusOr<Value*> ToTfLpNorm(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const int64_t p = w.Int("p");
  if (p != 1 && p != 2) return CannotExpress("norm ", p);
  const Expr x(w.b(), w.in(0));
  const Expr norm = x.Op(p == 1 ? "reduce_l1" : "reduce_l2", {w.Ints({axis})}, {{"keepdims", 1}});
  return Where(norm.Op("equal", {norm.Number(0)}), 0, x / norm);
}

}  // namespace

X2IR_TF(batch_normalization)
    .To("FusedBatchNormV3", ToTfBatchNorm)
    .From({{"_FusedBatchNormEx", FusedBatchNormEx},
           {"FusedBatchNorm", FusedBatchNorm},
           {"FusedBatchNormV2", FusedBatchNorm},
           {"FusedBatchNormV3", FusedBatchNorm},
           {"BatchNormWithGlobalNormalization", BatchNormGlobal}});
X2IR_TF(lrn).To("LRN", ToTfLrn).From("LRN", Lrn);
X2IR_TF(lp_normalization).To("RealDiv", ToTfLpNorm);

}  // namespace x2ir
