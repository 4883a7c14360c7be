// ONNX Runtime's own domain: what networks of images by diffusion are fused to. All of it is only
// read.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Group norm of x by the node's gamma and beta, in the element type of these, and its activation.
absl::StatusOr<Expr> GroupNormed(Rewrite& r, const Expr& x) {
  enum { kX, kGamma, kBeta };
  const int64_t activation = r.attrs().Int("activation");
  if (activation != 0 && activation != 1) {
    return Invalid("activation: expected 0 or 1, got ", activation);
  }
  if (!IsFloating(x.dtype())) return Unimplemented("X: an unknown element type");
  const bool last = r.attrs().Int("channels_last", 1) != 0;
  const AttributeMap attrs = {{"layout", last ? "channels_last" : "channels_first"},
                              {"num_groups", r.attrs().Int("groups")},
                              {"epsilon", static_cast<float>(r.attrs().Float("epsilon", 1e-5))}};
  const auto like = [&](size_t i) { return Expr(r.b, r.in(i)).To(x.dtype()); };
  const Expr y = x.Op("group_normalization", {like(kGamma), like(kBeta)}, attrs);
  return activation == 1 ? y.Op("swish", {}, {{"alpha", 1.0f}}) : y;
}

absl::StatusOr<Values> FromGroupNorm(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const Expr y, GroupNormed(r, {r.b, r.in(0)}));
  return Values{y};
}

// What is skipped has the images' size, or one row of channels for each.
absl::StatusOr<Values> FromSkipGroupNorm(Rewrite& r) {
  enum { kX, kGamma, kBeta, kSkip, kBias };
  const bool last = r.attrs().Int("channels_last", 1) != 0;
  if (r.rank(kX) != 4) return Unimplemented("X: expected rank 4, got ", r.rank(kX));
  if (r.rank(kSkip) != 2 && r.rank(kSkip) != 4) {
    return Unimplemented("skip: expected rank 2 or 4, got ", r.rank(kSkip));
  }
  Expr skip{r.b, r.in(kSkip)};
  if (r.rank(kSkip) == 2) {
    skip = last ? Unsqueeze(skip, {1, 2}) : Unsqueeze(skip, {2, 3});
  } else if (!last && DimAt(skip, 1) == Dim(1) && DimAt(skip, 2) == Dim(1)) {
    return Unimplemented("skip: [N, 1, 1, C] with channels first");
  }
  Expr sum = Expr(r.b, r.in(kX)) + skip;
  if (r.has(kBias)) sum = sum + AlongAxis({r.b, r.in(kBias)}, last ? 3 : 1, 4);
  X2IR_ASSIGN_OR_RETURN(const Expr y, GroupNormed(r, sum));
  return Values{y, sum};
}

absl::StatusOr<Values> FromBiasAdd(Rewrite& r) {
  return Values{Expr(r.b, r.in(0)) + Expr(r.b, r.in(1)) + Expr(r.b, r.in(2))};
}

// The left half times what the right one opens.
absl::StatusOr<Values> FromBiasSplitGelu(Rewrite& r) {
  const Expr sum = Expr(r.b, r.in(0)) + Expr(r.b, r.in(1));
  const Values halves = r.b.Ops("split", {sum, nullptr}, {{"axis", -1}}, 2);
  const Expr gate{r.b, r.b.Op("gelu", {halves[1]}, {{"approximate", "none"}})};
  return Values{Expr(r.b, halves[0]) * gate};
}

X2IR_ONNX(group_normalization)
    .Is("com.microsoft::GroupNorm", Since(1), Code{FromGroupNorm, nullptr})
    .Is("com.microsoft::SkipGroupNorm", Since(1), Code{FromSkipGroupNorm, nullptr});
X2IR_ONNX(add).Is("com.microsoft::BiasAdd", Since(1), Code{FromBiasAdd, nullptr});
X2IR_ONNX(gelu).Is("com.microsoft::BiasSplitGelu", Since(1), Code{FromBiasSplitGelu, nullptr});

}  // namespace
}  // namespace x2ir
