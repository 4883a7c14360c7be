// See flips.h.
#include "x2ir/optimizer/transpose/flips.h"

#include <algorithm>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/transpose/matmul_as_conv.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

// Whether a resize that interpolates where runtimes do, over the places of the layout, would not
// any more.
bool InterpolatesElsewhere(const Node& node, const Perm& p, bool channels_last) {
  if (node.attrs().String("mode") == "nearest") return false;
  const Shape& in = *node.input(0)->shape();
  const Shape& out = *node.output(0)->shape();
  const int64_t rank = in.rank();
  const auto in_place = [&](int64_t axis) { return ProvablyEqual(in[axis], out[axis]); };
  bool places_now = true, places_then = true;
  for (int64_t axis : {int64_t{0}, channels_last ? rank - 1 : std::min<int64_t>(1, rank - 1)}) {
    places_now &= in_place(axis);
    places_then &= in_place(p[axis]);
  }
  return places_now && !places_then;
}

// Whether the target would say the flipped node by transposes again, or not at all: some have
// softmax and its kin over the last axis alone; a resize interpolates over places.
bool NeedsTransposes(const Node& node, const Flip& flip, const PassContext& context) {
  const Target* target = context.target;
  if (node.Is("resize")) {
    return InterpolatesElsewhere(node, flip.in[0], context.layout == "channels_last");
  }
  if (BecomesConv(node, flip)) {
    return target && !target->Takes("conv", 0, node.output(0)->dtype());
  }
  if (!node.Is("softmax") && !node.Is("log_softmax") && !node.Is("hardmax")) return false;
  const int64_t last = static_cast<int64_t>(flip.in[0].size()) - 1;
  const int64_t axis = NewAxes({node.attrs().Int("axis")}, flip.in[0])[0];
  return target && axis != last && target->Has(node.op()) && !target->Says(node.op(), "axis", axis);
}

// Whether weights that stay as they are would be needed in another form.
bool ChangesFileWeights(const Node& node, const Flip& flip, const PassContext& context) {
  for (size_t i = 0; context.refers_to_weights && i < flip.in.size(); ++i) {
    const Tensor* tensor = node.input(i) ? node.input(i)->fixed_constant() : nullptr;
    if (!tensor || !StaysInFile(*tensor, context)) continue;
    if (BecomesConv(node, flip) || !(flip.in[i].empty() || IsIdentity(flip.in[i]))) return true;
  }
  return false;
}

}  // namespace

std::optional<Flip> FlipOf(const Node& node, Slot slot, const Perm& p, const PassContext& context) {
  const OpDef* op = FindOp(node.op());
  if (!op || !op->axes().spread) return std::nullopt;
  std::optional<Flip> flip = op->axes().spread(node, slot, p);
  if (!flip && node.Is("matmul")) flip = MatMulAsConv(node, slot, p);
  if (flip && (NeedsTransposes(node, *flip, context) || ChangesFileWeights(node, *flip, context))) {
    return std::nullopt;
  }
  return flip;
}

void ChangeFlipped(Node& node, const Flip& flip) {
  const auto change = BecomesConv(node, flip) ? BecomeConv : FindOp(node.op())->axes().change;
  if (!change) return;
  Builder b(*node.graph(), &node);
  b.set_name_hint(HintOf(node));
  change(node, flip, b);
  NameMadeFor(node, b);
}

}  // namespace x2ir
