// TensorFlow: convolutions, pools and normalizations, in either layout.
#include <numeric>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/fused.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// A dim that must be a number.
absl::StatusOr<int64_t> Known(TfArgs& a, size_t i, int64_t axis, std::string_view what) {
  const Shape* shape = a.shape(i);
  if (!shape || axis >= shape->rank() || !(*shape)[axis].is_static()) {
    return Unimplemented("the number of ", what, " is not known");
  }
  return (*shape)[axis].value();
}

template <size_t kSpatial>
absl::StatusOr<Value*> Conv(TfArgs& a) {
  const TfLayout layout = TakeLayout(a, kSpatial == 2 ? "NHWC" : "NDHWC");
  const Window window = TakeConvWindow(a, layout, kSpatial);
  constexpr int64_t kRank = kSpatial + 2;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  if (rank != kRank || of_kernel != kRank) return Invalid("expected operands of rank ", kRank);
  // A kernel for fewer channels is one for each of some groups.
  X2IR_ASSIGN_OR_RETURN(const int64_t of_group, Known(a, 1, kRank - 2, "the kernel's channels"));
  X2IR_ASSIGN_OR_RETURN(const int64_t channels, Known(a, 0, layout.ChannelAxis(kRank), "channels"));
  if (of_group != channels) {
    if (of_group == 0 || channels % of_group != 0) {
      return Invalid("a kernel for ", of_group, " channels over ", channels);
    }
  }
  const int64_t group = of_group == channels ? 1 : channels / of_group;
  return MakeConv(a.in(0), KernelToOihw(a, a.in(1)), nullptr, window, group);
}

// Output channel c * m + j is the j-th of input channel c.
absl::StatusOr<Value*> DepthwiseConv(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  const Window window = TakeConvWindow(a, layout, 2);
  X2IR_ASSIGN_OR_RETURN(const int64_t of_kernel, a.Rank(1));
  if (of_kernel != 4) return Invalid("expected a kernel of rank 4");
  std::vector<int64_t> dims(4);
  for (int64_t i = 0; i < 4; ++i) {
    X2IR_ASSIGN_OR_RETURN(dims[i], Known(a, 1, i, "the kernel's elements"));
  }
  Value* kernel = Relaid(a, a.in(1), {2, 3, 0, 1});
  const std::vector<int64_t> to = {dims[2] * dims[3], 1, dims[0], dims[1]};
  if (const Tensor* constant = kernel->fixed_constant()) {
    kernel = a.b().Constant(constant->Reshaped(to), a.in(1)->name());
  } else {
    kernel = ReshapeTo({a, kernel}, Ints(a, to));
  }
  return MakeConv(a.in(0), kernel, nullptr, window, dims[2]);
}

template <size_t kSpatial, PoolKind kKind>
Value* PoolBy(TfArgs& a) {
  const TfLayout layout = TakeLayout(a, kSpatial == 2 ? "NHWC" : "NDHWC");
  return MakePool(a.in(0), {TakePoolWindow(a, layout, kSpatial), kKind});
}

Value* BiasAdd(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  Value* bias = a.in(1);
  if (!layout.channels_last) {
    const int64_t rank = a.rank(0);
    a.Require(rank >= 0, "the operand's rank is not known");
    std::vector<int64_t> axes;
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i - 1);
    if (!axes.empty()) bias = a.Op("unsqueeze", {bias, a.b().Ints(axes)});
  }
  return a.Op("add", {a.in(0), bias});
}

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

// With what follows, as TensorFlow's graph optimizer makes one node of it.
template <absl::StatusOr<Value*> (*kConv)(TfArgs&)>
absl::StatusOr<Value*> FusedConv(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Value * y, kConv(a));
  return FusedOps(a, y, TakeLayout(a));
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

}  // namespace

X2IR_TF(conv)
    .From("_FusedConv2D", FusedConv<Conv<2>>)
    .From("_FusedDepthwiseConv2dNative", FusedConv<DepthwiseConv>)
    .From("Conv2D", Conv<2>)
    .From("Conv3D", Conv<3>)
    .From("DepthwiseConv2dNative", DepthwiseConv);
X2IR_TF(max_pool)
    .From("MaxPool", PoolBy<2, PoolKind::kMax>)
    .From("MaxPool3D", PoolBy<3, PoolKind::kMax>);
X2IR_TF(average_pool)
    .From("AvgPool", PoolBy<2, PoolKind::kAverage>)
    .From("AvgPool3D", PoolBy<3, PoolKind::kAverage>);
X2IR_TF(add).From("BiasAdd", BiasAdd).From("BiasAddV1", BiasAdd);
X2IR_TF(batch_normalization)
    .From("_FusedBatchNormEx", FusedBatchNormEx)
    .From("FusedBatchNorm", FusedBatchNorm)
    .From("FusedBatchNormV2", FusedBatchNorm)
    .From("FusedBatchNormV3", FusedBatchNorm);

}  // namespace x2ir
