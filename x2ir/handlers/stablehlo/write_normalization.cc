// StableHLO, written: normalizations.
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
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

}  // namespace

X2IR_STABLEHLO(batch_normalization).To("batch_norm_inference", ToBatchNorm);
X2IR_STABLEHLO(instance_normalization).To("reduce", ToInstanceNorm);

}  // namespace x2ir
