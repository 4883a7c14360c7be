// Keras: arithmetic, comparisons and casts.
#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// Steps of which every feature is the value are zeros, and do not count.
Values Masking(KerasArgs& a) {
  const Expr x = a.tensor();
  const Expr other = Not(x == x.Number(a.Number("mask_value", 0)));
  const Expr y = x * Any(other, {-1}, true).To(x.dtype());
  if (!a.wants(1)) return {y};
  return {y, Any(other, {-1})};
}

// Of ConvNeXt, among Keras's applications: a factor for each channel.
Value* LayerScale(KerasArgs& a) {
  a.Ignore("init_values");
  a.Ignore("projection_dim");
  return a.tensor() * a.Weights({"gamma"})[0];
}

}  // namespace

X2IR_KERAS(mul).From({{"Masking", Masking}, {"LayerScale", LayerScale}});

}  // namespace x2ir
