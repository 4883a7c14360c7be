// Rules of fuse_normalizations for casts and reshapes around a norm (see fuse_normalizations.cc).
//  3. cast(norm(cast(x))) with scale 1, from a type and back to it, is the norm of x itself with
//     the type between as stash_type: that is what stash_type means.
//  4. reshape(instance_normalization(reshape(x))), the first one from channels to groups, the last
//     one back, is group_normalization of scale 1 and bias 0.
#include "x2ir/optimizer/lowering_util.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

absl::StatusOr<bool> FuseCasts(Rewriter& r) {
  const Pattern pattern(r);
  const DType to = r.out()->dtype();
  if (!IsFloating(to) || BitWidth(to) != 16) return false;
  const Node* norm = pattern.OnlyBy(r.in(0), "layer_normalization");
  if (!norm) norm = pattern.OnlyBy(r.in(0), "rms_normalization");
  if (!norm || norm->input(2) || norm->num_outputs() > 1) return false;
  const DType stash = r.in(0)->dtype();
  const Node* cast = pattern.By(norm->input(0), "cast");
  if (!cast || cast->input(0)->dtype() != to || stash != DType::kFloat32 ||
      norm->attrs().String("stash_type") != Name(stash) || !IsFilledWith(norm->input(1), 1) ||
      !r.context().Has(norm->op(), to)) {
    return false;
  }
  Value* ones = FilledConstant(r.b(), to, DenseConstant(norm->input(1))->dims(), 1);
  Value* y = r.b().Op(norm->op(), {cast->input(0), ones}, norm->attrs());
  return r.b().status().ok() && r.Replace(y);
}
X2IR_RULE(fuse_normalizations, cast, FuseCasts, {"layer_normalization", "rms_normalization"});

// --- Groups ---------------------------------------------------------------------------------

absl::StatusOr<bool> FuseGroups(Rewriter& r) {
  const Pattern pattern(r);
  const Node* norm = pattern.OnlyBy(r.in(0), "instance_normalization");
  const Node* grouping = norm ? pattern.OnlyBy(norm->input(0), "reshape") : nullptr;
  if (!grouping || norm->attrs().String("layout") != "channels_first") return false;
  Value* x = grouping->input(0);
  const Shape *shape = x->shape(), *grouped = norm->input(0)->shape();
  const DType t = x->dtype();
  if (!shape || !grouped || shape->rank() < 3 || grouped->rank() < 3 || t == DType::kFloat64 ||
      !ProvablyEqual((*shape)[0], (*grouped)[0]) || !(*shape)[1].is_static() ||
      !(*grouped)[1].is_static() || !SameShape(x, r.out())) {
    return false;
  }
  const int64_t channels = (*shape)[1].value(), groups = (*grouped)[1].value();
  if (groups < 1 || channels < 1 || channels % groups != 0 || !IsFilledWith(norm->input(1), 1) ||
      !IsFilledWith(norm->input(2), 0) || !r.context().Has("group_normalization", t)) {
    return false;
  }
  Value* ones = FilledConstant(r.b(), t, {channels}, 1);
  Value* y = r.b().Op("group_normalization", {x, ones, FilledConstant(r.b(), t, {channels}, 0)},
                      {{"layout", "channels_first"},
                       {"num_groups", groups},
                       {"epsilon", *norm->attrs().Find("epsilon")},
                       {"stash_type", "float32"}});
  return r.b().status().ok() && r.Replace(y);
}
X2IR_RULE(fuse_normalizations, reshape, FuseGroups, {"instance_normalization"});

}  // namespace
}  // namespace x2ir
