// Keras: dense layers, embeddings, masks, and layers that do nothing at inference.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/activations.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// The last axis of x by a matrix [in, units].
Value* DenseLayer(KerasArgs& a) {
  a.Integer("units", 0);
  const bool biased = a.Flag("use_bias", true);
  const std::vector<Expr> w = biased ? a.Weights({"kernel", "bias"}) : a.Weights({"kernel"});
  const Expr y = Dense(a.tensor(), w[0], biased ? w[1].value() : nullptr, true);
  return ActivatedBy(a, "activation", y);
}

// An Einstein sum of x and the kernel.
Value* EinsumDense(KerasArgs& a) {
  a.Ignore("output_shape");
  const bool biased = !a.Text("bias_axes").empty();
  const std::vector<Expr> w = biased ? a.Weights({"kernel", "bias"}) : a.Weights({"kernel"});
  const Expr y = a.Op("einsum", {a.tensor(), w[0]}, {{"equation", a.Text("equation")}});
  return ActivatedBy(a, "activation", biased ? y + w[1] : y);
}

// Rows of a matrix. The second result: where the index is not 0.
Values Embedding(KerasArgs& a) {
  for (const char* name : {"input_dim", "output_dim", "mask_zero", "weights"}) a.Ignore(name);
  const Expr rows = a.Weights({"embeddings"})[0];
  const Expr index = a.AsInt64(a.in(0));
  const Expr y = Gather(rows, index, 0);
  if (!a.wants(1)) return {y};
  return {y, Not(a.in(0) == 0.0)};
}

// An embedding that is also called in reverse, from a row to how much it is like each.
Values ReversibleEmbedding(KerasArgs& a) {
  const bool tied = a.Flag("tie_weights", true), reverse = a.Flag("call.reverse", false);
  const double cap = a.Number("logit_soft_cap", 0);
  const std::string type = a.Text("reverse_dtype");
  for (const char* name : {"input_dim", "output_dim", "mask_zero"}) a.Ignore(name);
  const std::vector<Expr> w =
      tied ? a.Weights({"embeddings"}) : a.Weights({"embeddings", "reverse embeddings"});
  if (!reverse) {
    const Expr y = Gather(w[0], a.AsInt64(a.in(0)), 0);
    if (!a.wants(1)) return {y};
    return {y, Not(a.in(0) == 0.0)};
  }
  Expr x = a.tensor(), kernel = tied ? SwapLast(w[0]) : w[1];
  if (!type.empty()) {
    const auto wide = ParseDType(type);
    a.Require(wide && IsFloating(*wide), StrCat("reverse_dtype '", type, "'"));
    x = x.To(*wide);
    kernel = kernel.To(*wide);
  }
  const Expr y = MatMul(x, kernel);
  return {cap == 0 ? y : (y / cap).Op("tanh") * cap};
}

// Steps of which every feature is the value are zeros, and do not count.
Values Masking(KerasArgs& a) {
  const Expr x = a.tensor();
  const Expr other = Not(x == x.Number(a.Number("mask_value", 0)));
  const Expr y = x * Any(other, {-1}, true).To(x.dtype());
  if (!a.wants(1)) return {y};
  return {y, Any(other, {-1})};
}

Value* Unchanged(KerasArgs& a) {
  a.IgnoreConfiguration();
  return a.in(0);
}

// Of ConvNeXt, among Keras's applications: a factor for each channel.
Value* LayerScale(KerasArgs& a) {
  a.Ignore("init_values");
  a.Ignore("projection_dim");
  return a.tensor() * a.Weights({"gamma"})[0];
}

// What is applied to each step is applied to a batch of all of them.
Value* Fold(KerasArgs& a) {
  const Expr x = a.tensor();
  a.Require(a.RankOf(x) >= 2, "steps of a tensor without a second axis");
  return FlattenFront(x, 2);
}
// y, with the first two axes of the second tensor.
Value* Unfold(KerasArgs& a) {
  const Expr y = a.tensor(0), x = a.tensor(1);
  const int64_t rank = a.RankOf(y);
  std::vector<Size> sizes = SizesAt(x, 0, 2);
  for (const Size& size : SizesAt(y, 1, rank)) sizes.push_back(size);
  return ReshapeTo(y, sizes);
}

}  // namespace

X2IR_KERAS(gemm).From("Dense", DenseLayer);
X2IR_KERAS(einsum).From("EinsumDense", EinsumDense);
X2IR_KERAS(gather).From("Embedding", Embedding).From("ReversibleEmbedding", ReversibleEmbedding);
X2IR_KERAS(mul).From("Masking", Masking).From("LayerScale", LayerScale);
// Random images are so in training alone.
X2IR_KERAS(identity).From({"ActivityRegularization",
                           "AlphaDropout",
                           "AugMix",
                           "CutMix",
                           "Dropout",
                           "GaussianDropout",
                           "GaussianNoise",
                           "Identity",
                           "MixUp",
                           "RandAugment",
                           "RandomBrightness",
                           "RandomColorDegeneration",
                           "RandomColorJitter",
                           "RandomContrast",
                           "RandomElasticTransform",
                           "RandomErasing",
                           "RandomFlip",
                           "RandomGaussianBlur",
                           "RandomGrayscale",
                           "RandomHeight",
                           "RandomHue",
                           "RandomInvert",
                           "RandomPerspective",
                           "RandomPosterization",
                           "RandomRotation",
                           "RandomSaturation",
                           "RandomSharpness",
                           "RandomShear",
                           "RandomTranslation",
                           "RandomWidth",
                           "RandomZoom",
                           "SpatialDropout1D",
                           "SpatialDropout2D",
                           "SpatialDropout3D",
                           "StochasticDepth"},
                          Unchanged);
X2IR_KERAS(reshape).From(keras::kFold, Fold).From(keras::kUnfold, Unfold);

}  // namespace x2ir
