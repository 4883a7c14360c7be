// NNEF: normalizations.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnef/windows.h"

namespace x2ir {
namespace {

// x over its deviation, which is epsilon at least.
Expr OverDeviation(NnefArgs& a, const Expr& x, const Expr& sigma) {
  const Expr shifted = Shifted(sigma, a.Number("bias"));
  const double epsilon = a.Number("epsilon");
  return x / (epsilon == 0 ? Max(shifted, 0.0) : Max(shifted, epsilon));
}

Value* LocalResponseRow(NnefArgs& a) {
  const std::vector<int64_t> size = a.Integers("size");
  const double alpha = a.Number("alpha"), beta = a.Number("beta"), bias = a.Number("bias");
  const Expr x = a.Tensor("input");
  bool channels = size.size() > 2 && static_cast<int64_t>(size.size()) == x.rank();
  for (size_t i = 0; i < size.size(); ++i) channels = channels && (i == 1 || size[i] == 1);
  if (channels && size[1] >= 1 && size[1] < (int64_t{1} << 31)) {
    return LocalResponseNorm(x, size[1], alpha, beta, bias);
  }
  return x / Pow(Shifted(Scaled(SameBox(a, Square(x), size), alpha), bias), beta);
}
Value* TractLocalResponseRow(NnefArgs& a) {
  const int64_t size = a.Integer("size");
  if (size < 1 || size >= (int64_t{1} << 31)) a.Fail(Invalid("a size of ", size));
  const double alpha = a.Number("alpha"), beta = a.Number("beta"), bias = a.Number("bias");
  return LocalResponseNorm(a.Tensor("input"), size, alpha, beta, bias);
}
Value* LocalMeanRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  return x - SameBox(a, x, a.Integers("size"));
}
Expr LocalVariance(NnefArgs& a, const Expr& x) {
  return OverDeviation(a, x, Sqrt(SameBox(a, Square(x), a.Integers("size"))));
}
Value* LocalVarianceRow(NnefArgs& a) { return LocalVariance(a, a.Tensor("input")); }
Value* LocalContrastRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  return LocalVariance(a, x - SameBox(a, x, a.Integers("size")));
}
Value* L1Row(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  return OverDeviation(a, x, Reduce(Abs(x), "reduce_sum", a.Axes(), true));
}
Value* L2Row(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  return OverDeviation(a, x, Sqrt(Reduce(Square(x), "reduce_sum", a.Axes(), true)));
}

// One number for each channel: [1, channels] with axes of size 1 behind, or [channels] alone.
bool IsByChannel(const Expr& x, const Expr& numbers) {
  const auto sizes = KnownSizes(numbers);
  const Dim channels = DimAt(x, 1);
  if (!sizes || sizes->size() < 2 || x.rank() < 2 || (*sizes)[0] != 1) return false;
  for (size_t i = 2; i < sizes->size(); ++i) {
    if ((*sizes)[i] != 1) return false;
  }
  return channels.is_static() && channels.value() == (*sizes)[1];
}
Value* BatchNormRow(NnefArgs& a) {
  const double epsilon = a.Number("epsilon");
  const std::vector<Expr> all = a.Alike({a.Tensor("input"), a.Tensor("mean"), a.Tensor("variance"),
                                         a.Tensor("offset"), a.Tensor("scale")});
  bool by_channel = true;
  for (size_t i = 1; i < all.size(); ++i) by_channel = by_channel && IsByChannel(all[0], all[i]);
  if (by_channel) {
    return BatchNormalize(a, all[0], Flat(all[4]), Flat(all[3]), Flat(all[1]), Flat(all[2]), 1,
                          epsilon);
  }
  return all[3] + all[4] * (all[0] - all[1]) / Sqrt(Shifted(all[2], epsilon));
}
Value* RmsNormRow(NnefArgs& a) {
  const Expr x = a.Tensor("input");
  const int64_t axis = a.AxisOf(a.Integer("axis"));
  const Expr epsilon = a.OptTensor("eps");
  const Expr mean = Reduce(Square(x), "reduce_mean", {axis}, true);
  if (!epsilon.value()) return x / Sqrt(mean + 1e-6);
  return x / Sqrt(mean + Reshape(epsilon.To(x.dtype()), {}));
}

// --- Written -------------------------------------------------------------------------------------

absl::StatusOr<Value*> ToBatchNorm(NnefWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  if (w.Int("training_mode") != 0) return CannotExpress("training_mode");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("no channels");
  const auto row = [&](size_t i) { return w.Op("unsqueeze", {w.in(i), w.Ints({0})}); };
  return w.Call("batch_normalization",
                {{"input", w.in(0)},
                 {"mean", row(3)},
                 {"variance", row(4)},
                 {"offset", row(2)},
                 {"scale", row(1)}},
                {{"epsilon", static_cast<float>(w.attrs().Float("epsilon"))}});
}
absl::StatusOr<Value*> ToLocalResponse(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (w.String("layout") != "channels_first" || rank < 3) {
    return CannotExpress("its channels are last, or without spatial axes");
  }
  Attribute::Ints size(static_cast<size_t>(rank), 1);
  size[1] = w.Int("size");
  const auto real = [&](std::string_view name) {
    return static_cast<float>(w.attrs().Float(Symbol(name)));
  };
  return w.Call(
      "local_response_normalization", {{"input", w.in(0)}},
      {{"size", size}, {"alpha", real("alpha")}, {"beta", real("beta")}, {"bias", real("bias")}});
}
absl::StatusOr<Value*> ToInstanceNorm(NnefWriter& w) {
  return InstanceNormByMeans(w, DType::kFloat32);
}

}  // namespace

X2IR_NNEF(lrn)
    .From("local_response_normalization", LocalResponseRow)
    .From("tract_onnx_lrn", TractLocalResponseRow)
    .To("local_response_normalization", ToLocalResponse);
X2IR_NNEF(batch_normalization)
    .From("batch_normalization", BatchNormRow)
    .To("batch_normalization", ToBatchNorm);
X2IR_NNEF(instance_normalization).To("mean_reduce", ToInstanceNorm);
X2IR_NNEF(mean_variance_normalization)
    .From({{"local_mean_normalization", LocalMeanRow},
           {"local_variance_normalization", LocalVarianceRow},
           {"local_contrast_normalization", LocalContrastRow}});
X2IR_NNEF(lp_normalization)
    .From("l1_normalization", L1Row)
    .From("l2_normalization", L2Row)
    .To("div", [](NnefWriter& w) { return LpNormalizationByReduce(w); });
X2IR_NNEF(rms_normalization)
    .From({"tract_core_rms_norm", "tract_transformers_rms_norm"}, RmsNormRow);

}  // namespace x2ir
