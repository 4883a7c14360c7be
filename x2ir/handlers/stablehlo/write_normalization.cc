// StableHLO, written: normalizations.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/stablehlo/write_regions.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> ToBatchNorm(StablehloWriter& w) {
  if (w.Int("training_mode") != 0) return CannotExpress("the mean and the variance of the batch");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
  std::vector<Value*> operands = {w.in(0)};
  for (size_t i = 1; i < 5; ++i) operands.push_back(w.Cast(w.in(i), w.dtype()));
  return w.Hlo("batch_norm_inference", std::move(operands),
               {{"epsilon", w.attrs().Float("epsilon")},
                {"feature_index", rank < 2 ? 0 : ChannelAxis(last, rank)}});
}

absl::StatusOr<Value*> ToInstanceNorm(StablehloWriter& w) {
  return InstanceNormByMeans(w, BitWidth(w.dtype()) < 32 ? DType::kFloat32 : w.dtype());
}

// x over its norm along an axis; 0 where that is 0.
absl::StatusOr<Value*> ToLpNorm(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Expr x = X(w).To(AtLeastFloat32(w.dtype()));
  const Expr norm = Reduce(x, w.Int("p") == 1 ? "reduce_l1" : "reduce_l2", {axis}, true);
  return Where(norm == 0.0, 0.0, x / norm).To(w.dtype()).value();
}

// Sums of squares over neighboring channels are those of windows.
absl::StatusOr<Value*> ToLrn(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
  const auto axis = static_cast<size_t>(ChannelAxis(last, rank)), n = static_cast<size_t>(rank);
  const int64_t size = w.Int("size");
  const Expr x = X(w).To(AtLeastFloat32(w.dtype()));
  std::vector<int64_t> window(n, 1), padding(2 * n, 0);
  window[axis] = size;
  padding[2 * axis] = (size - 1) / 2;
  padding[2 * axis + 1] = size - 1 - (size - 1) / 2;
  X2IR_ASSIGN_OR_RETURN(
      Value * squares, SlideHlo(w, x * x, InitOf(w.b(), "add", x.dtype()), "add", window, padding));
  const Expr sum(w.b(), squares);
  const double alpha = w.attrs().Float("alpha") / static_cast<double>(size);
  const Expr divisor = Pow(sum * alpha + w.attrs().Float("bias"), w.attrs().Float("beta"));
  return (x / divisor).To(w.dtype()).value();
}

}  // namespace

X2IR_STABLEHLO(batch_normalization).To("batch_norm_inference", ToBatchNorm);
X2IR_STABLEHLO(lp_normalization).To("divide", ToLpNorm);
X2IR_STABLEHLO(lrn).To("divide", ToLrn);
X2IR_STABLEHLO(instance_normalization).To("reduce", ToInstanceNorm);

}  // namespace x2ir
