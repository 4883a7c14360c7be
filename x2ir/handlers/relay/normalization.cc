// Relay: norms.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

// Scale and shift, null where flags say that they do not count.
struct Affine {
  Value *scale, *shift;
};
Affine TakeAffine(SymbolArgs& a) {
  const bool center = a.Flag("center", true), scale = a.Flag("scale", true);
  return {scale ? a.in(1).value() : nullptr, center ? a.in(2).value() : nullptr};
}

Value* BatchNormOp(SymbolArgs& a) {
  a.Ignore("momentum");
  const Affine affine = TakeAffine(a);
  return BatchNormalize(a, a.in(0), affine.scale, affine.shift, a.in(3), a.in(4),
                        a.AxisOf(a.Integer("axis", 1)), a.Number("epsilon", 1e-5));
}

// With the channels at axis 1, and back.
Value* AtAxisOne(SymbolArgs& a, const std::function<Expr(const Expr&)>& norm) {
  const int64_t axis = a.AxisOf(a.Integer("axis", 1));
  if (axis == 1) return norm(a.in(0));
  return MoveAxis(norm(MoveAxis(a.in(0), axis, 1)), 1, axis);
}

Value* InstanceNormOp(SymbolArgs& a) {
  const Affine affine = TakeAffine(a);
  const double epsilon = a.Number("epsilon", 1e-5);
  return AtAxisOne(
      a, [&](const Expr& x) { return InstanceNormalize(x, affine.scale, affine.shift, epsilon); });
}

Value* GroupNormOp(SymbolArgs& a) {
  const Affine affine = TakeAffine(a);
  const int64_t groups = a.Integer("num_groups", 0);
  const double epsilon = a.Number("epsilon", 1e-5);
  a.Require(groups > 0, "no groups");
  return AtAxisOne(a, [&](const Expr& x) {
    return GroupNormalize(x, affine.scale, affine.shift, groups, epsilon);
  });
}

Value* LayerNormOp(SymbolArgs& a) {
  const Affine affine = TakeAffine(a);
  const int64_t rank = a.RankOf(0), axis = a.AxisOf(a.Integer("axis", -1));
  const double epsilon = a.Number("epsilon", 1e-5);
  if (axis == rank - 1 && affine.scale) {
    return a.Op("layer_normalization", {a.in(0), affine.scale, affine.shift},
                {{"axis", -1}, {"epsilon", static_cast<float>(epsilon)}});
  }
  Expr y = Standardized(a.in(0), {axis}, epsilon);
  if (affine.scale) y = y * AlongAxis({a, affine.scale}, axis, rank);
  if (affine.shift) y = y + AlongAxis({a, affine.shift}, axis, rank);
  return y;
}

Value* LrnOp(SymbolArgs& a) {
  const int64_t axis = a.AxisOf(a.Integer("axis", 1)), rank = a.RankOf(0);
  a.Require(axis == 1 || axis == rank - 1, "channels in the middle");
  return LocalResponseNorm(a.in(0), a.Integer("size", 5), a.Number("alpha", 1e-4),
                           a.Number("beta", 0.75), a.Number("bias", 2), axis != 1);
}

absl::StatusOr<Value*> L2NormalizeOp(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes(a.Tuple("axis")));
  // No less than epsilon.
  const Expr sum = Reduce(Square(a.in(0)), "reduce_sum", axes, true);
  return (a.in(0) / Sqrt(Max(sum, a.Number("eps", 1e-10)))).value();
}

// --- Written -------------------------------------------------------------------------------------

AttributeMap EpsilonOf(RelayWriter& w, int64_t axis) {
  return {{"axis", StrCat(axis)}, {"epsilon", NumberText(w.attrs().Float("epsilon"))}};
}

absl::StatusOr<Value*> ToBatchNormOp(RelayWriter& w) {
  if (w.wants(1) || w.wants(2) || w.Int("training_mode") != 0) {
    return CannotExpress("a normalization of a training");
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  const bool last = w.String("layout") == "channels_last";
  for (size_t i = 1; i < 5; ++i) {
    if (w.dtype(i) != w.dtype(0)) return CannotExpress("numbers of another type than the operand");
  }
  return w.CallFirst("nn.batch_norm", {w.in(0), w.in(1), w.in(2), w.in(3), w.in(4)},
                     EpsilonOf(w, last && rank > 2 ? rank - 1 : 1), 3);
}

absl::StatusOr<Value*> ToInstanceNormOp(RelayWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return w.Call("nn.instance_norm", {w.in(0), w.in(1), w.in(2)}, EpsilonOf(w, 1));
}

absl::StatusOr<Value*> ToGroupNormOp(RelayWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  if (w.String("stash_type") != Name(w.dtype(0))) return CannotExpress("sums of another type");
  AttributeMap attrs = EpsilonOf(w, 1);
  attrs.Set("num_groups", StrCat(w.Int("num_groups")));
  return w.Call("nn.group_norm", {w.in(0), w.in(1), w.in(2)}, std::move(attrs));
}

absl::StatusOr<Value*> ToLayerNormOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (w.wants(1) || w.wants(2)) return CannotExpress("means and deviations as results");
  if (axis != rank - 1) return CannotExpress("a norm over more axes than the last one");
  if (w.String("stash_type") != Name(w.dtype(0))) return CannotExpress("sums of another type");
  const Shape* scale = w.shape(1);
  const Dim size = DimAt(w.in(0), axis);
  if (!scale || scale->rank() != 1 || (*scale)[0] != size) {
    return CannotExpress("a scale of another size");
  }
  AttributeMap attrs = EpsilonOf(w, axis);
  Value* shift = w.in(2);
  if (shift && (!shift->shape() || shift->shape()->rank() != 1 || (*shift->shape())[0] != size)) {
    return CannotExpress("a shift of another size");
  }
  if (!shift) {
    // An operand of the same size, which does not count.
    shift = w.in(1);
    attrs.Set("center", "False");
  }
  return w.Call("nn.layer_norm", {w.in(0), w.in(1), shift}, std::move(attrs));
}

absl::StatusOr<Value*> ToLrnOp(RelayWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank != 4 || w.Int("size") % 2 == 0) return CannotExpress("other than images and odd sizes");
  return w.Call("nn.lrn", {w.in(0)},
                {{"size", StrCat(w.Int("size"))},
                 {"axis", "1"},
                 {"alpha", NumberText(w.attrs().Float("alpha"))},
                 {"beta", NumberText(w.attrs().Float("beta"))},
                 {"bias", NumberText(w.attrs().Float("bias"))}});
}

absl::StatusOr<Value*> ToLpNorm(RelayWriter& w) { return LpNormalizationByReduce(w); }

}  // namespace

X2IR_RELAY(batch_normalization)
    .From("nn.batch_norm", BatchNormOp)
    .To("nn.batch_norm", ToBatchNormOp);
X2IR_RELAY(instance_normalization)
    .From("nn.instance_norm", InstanceNormOp)
    .To("nn.instance_norm", ToInstanceNormOp);
X2IR_RELAY(group_normalization)
    .From("nn.group_norm", GroupNormOp)
    .To("nn.group_norm", ToGroupNormOp);
X2IR_RELAY(layer_normalization)
    .From("nn.layer_norm", LayerNormOp)
    .To("nn.layer_norm", ToLayerNormOp);
X2IR_RELAY(lrn).From("nn.lrn", LrnOp).To("nn.lrn", ToLrnOp);
X2IR_RELAY(lp_normalization).From("nn.l2_normalize", L2NormalizeOp).To("where", ToLpNorm);

}  // namespace x2ir
