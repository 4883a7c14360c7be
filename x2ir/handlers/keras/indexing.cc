// Keras: picking and putting elements.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

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

}  // namespace

X2IR_KERAS(gather).From({{"Embedding", Embedding}, {"ReversibleEmbedding", ReversibleEmbedding}});

}  // namespace x2ir
