// NNVM: norms.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

Value* BatchNormRow(SymbolArgs& a) {
  a.Ignore("momentum");
  const bool center = a.Flag("center", true), scale = a.Flag("scale", true);
  return BatchNormalize(a, a.in(0), scale ? a.in(1).value() : nullptr,
                        center ? a.in(2).value() : nullptr, a.in(3), a.in(4), a.Integer("axis", 1),
                        a.Number("epsilon", 1e-5));
}

Value* LrnRow(SymbolArgs& a) {
  a.Require(a.Integer("axis", 1) == 1, "another axis than 1");
  return LocalResponseNorm(a.in(0), a.Integer("size", 5), a.Number("alpha", 1e-4),
                           a.Number("beta", 0.75), a.Number("bias", 2));
}

absl::StatusOr<Value*> L2NormalizeRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes(a.Tuple("axis")));
  // No less than epsilon.
  const Expr sum = Reduce(Square(a.in(0)), "reduce_sum", axes, true);
  return (a.in(0) / Sqrt(Max(sum, a.Number("eps", 1e-10)))).value();
}

absl::StatusOr<Value*> ToBatchNorm(SymbolWriter& w) {
  if (w.wants(1) || w.Int("training_mode") != 0)
    return CannotExpress("a normalization of a training");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const bool last = w.String("layout") == "channels_last";
  AttributeMap attrs = {{"epsilon", NumberText(w.attrs().Float("epsilon"))}};
  if (last && rank > 2) attrs.Set("axis", StrCat(rank - 1));
  return w.Nnvm("batch_norm", {w.in(0), w.in(1), w.in(2), w.in(3), w.in(4)}, std::move(attrs));
}

absl::StatusOr<Value*> ToLrn(SymbolWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return w.Nnvm("lrn", {w.in(0)},
                {{"size", StrCat(w.Int("size"))},
                 {"axis", "1"},
                 {"alpha", NumberText(w.attrs().Float("alpha"))},
                 {"beta", NumberText(w.attrs().Float("beta"))},
                 {"bias", NumberText(w.attrs().Float("bias"))}});
}

}  // namespace

X2IR_NNVM(batch_normalization).From("batch_norm", BatchNormRow).To("batch_norm", ToBatchNorm);
X2IR_NNVM(lrn).From("lrn", LrnRow).To("lrn", ToLrn);
X2IR_NNVM(lp_normalization).From("l2_normalize", L2NormalizeRow);

}  // namespace x2ir
