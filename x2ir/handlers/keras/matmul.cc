// Keras: products and decompositions of matrices.
#include "x2ir/builder/layers/dense.h"
#include "x2ir/handlers/keras/activation.h"
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

}  // namespace

X2IR_KERAS(gemm).From("Dense", DenseLayer);
X2IR_KERAS(einsum).From("EinsumDense", EinsumDense);

}  // namespace x2ir
