// TensorFlow: losses of classifiers, each with its gradient by the logits.
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// Operands broadcast; labels are probabilities.
Values SoftmaxCrossEntropy(TfArgs& a) {
  Value* logits = a.in(0);
  Value* labels = a.in(1);
  Value* log_softmax = a.Op("log_softmax", {logits}, {{"axis", -1}});
  Value* products = a.Op("mul", {labels, log_softmax});
  Value* loss = a.Op("neg", {a.Op("reduce_sum", {products, a.b().Ints({-1})}, {{"keepdims", 0}})});
  if (!a.wants(1)) return {loss, nullptr};
  return {loss, a.Op("sub", {a.Op("softmax", {logits}, {{"axis", -1}}), labels})};
}

// Labels are the numbers of classes.
absl::StatusOr<Values> SparseSoftmaxCrossEntropy(TfArgs& a) {
  Value* logits = a.in(0);
  Value* axis = a.b().Ints({-1});
  Value* labels = a.Op("unsqueeze", {a.AsInt64(a.in(1)), axis});
  Value* log_softmax = a.Op("log_softmax", {logits}, {{"axis", -1}});
  Value* picked = a.Op("gather_elements", {log_softmax, labels}, {{"axis", -1}});
  Value* loss = a.Op("neg", {a.Op("squeeze", {picked, axis})});
  if (!a.wants(1)) return Values{loss, nullptr};
  Value* softmax = a.Op("softmax", {logits}, {{"axis", -1}});
  // 1 is taken away at the label.
  Value* ones = a.Op("expand", {Expr(a, logits).Number(-1), a.Op("shape", {labels})});
  return Values{loss, a.Op("scatter_elements", {softmax, labels, ones},
                           {{"axis", -1}, {"reduction", "add"}})};
}

}  // namespace

X2IR_TF(log_softmax)
    .From({{"SoftmaxCrossEntropyWithLogits", SoftmaxCrossEntropy},
           {"SparseSoftmaxCrossEntropyWithLogits", SparseSoftmaxCrossEntropy}});

}  // namespace x2ir
