// Darknet: products and decompositions of matrices.
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/handlers/darknet/darknet.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Connected(DarknetArgs& a) {
  const bool norm = a.Flag("batch_normalize", false);
  const bool transposed = a.NodeReader::Bool("x2ir.transposed", false);
  a.Drop({"output"});
  a.RefuseAll({"dontloadscales"});
  const Expr bias = a.weights(0);
  Expr y = Dense(FlattenedRows(a.in(0)), a.weights(1), norm ? nullptr : bias.value(), transposed);
  if (norm) y = Normed(a, y, bias, a.weights(2), a.weights(3), a.weights(4));
  return WithActivation(a, y, "logistic");
}

}  // namespace

X2IR_DARKNET(gemm).From("connected", Connected);

}  // namespace x2ir
