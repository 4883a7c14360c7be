// NNVM: activations.

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

Value* ClipBounds(SymbolArgs& a) {
  const Expr x = a.in(0);
  return a.Op("clip", {x, x.Number(a.Number("a_min", 0)), x.Number(a.Number("a_max", 0))});
}

absl::StatusOr<Value*> ToClip(SymbolWriter& w) {
  const auto low = OneNumber(w.in(1)), high = OneNumber(w.in(2));
  if ((w.in(1) && !low) || (w.in(2) && !high)) {
    return CannotExpress("bounds that are computed, or that no double holds");
  }
  if (!low && !high) return w.Nnvm("copy", {w.in(0)});
  constexpr double kLimit = 3.4028234663852886e38;
  return w.Nnvm(
      "clip", {w.in(0)},
      {{"a_min", NumberText(low.value_or(-kLimit))}, {"a_max", NumberText(high.value_or(kLimit))}});
}

absl::StatusOr<Value*> ToDropout(SymbolWriter& w) {
  const Tensor* training = w.in(2) ? w.in(2)->fixed_constant() : nullptr;
  if ((w.in(2) && !training) || (training && training->AsInt(0) != 0) || w.wants(1)) {
    return CannotExpress("dropout of a training");
  }
  return w.Nnvm("dropout", {w.in(0)}, {{"rate", "0.5"}});
}

Value* PreluRow(SymbolArgs& a) { return PreluAlong(a.in(0), a.in(1), a.Integer("axis", 1)); }

// A slope for each channel of axis 1.
absl::StatusOr<Value*> ToPrelu(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const Shape *x = w.shape(0), *slope = w.shape(1);
  if (rank < 2 || !slope || !slope->is_static() || !(*x)[1].is_static()) {
    return CannotExpress("slopes of unknown size");
  }
  const int64_t channels = (*x)[1].value(), place = 1 - (rank - slope->rank());
  for (int64_t i = 0; i < slope->rank(); ++i) {
    if ((*slope)[i] != Dim(i == place ? channels : 1)) {
      return CannotExpress("slopes that are not of channels");
    }
  }
  if (place < 0) return CannotExpress("slopes that are not of channels");
  Value* flat = slope->rank() == 1 ? w.in(1) : w.Reshape(w.in(1), {channels});
  return w.Nnvm("prelu", {w.in(0), flat}, {{"axis", "1"}});
}

}  // namespace

X2IR_NNVM(dropout).To("dropout", ToDropout);
X2IR_NNVM(relu).Is("relu");
X2IR_NNVM(sigmoid).Is("sigmoid");
X2IR_NNVM(leaky_relu)
    .Is("leaky_relu", TextAttr("alpha", "alpha", AttrKind::kFloat, Attribute(0.25f)));
X2IR_NNVM(softmax).Is("softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)));
X2IR_NNVM(log_softmax).Is("log_softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)));
X2IR_NNVM(clip).From("clip", ClipBounds).To("clip", ToClip);
X2IR_NNVM(prelu).From("prelu", PreluRow).To("prelu", ToPrelu);

}  // namespace x2ir
