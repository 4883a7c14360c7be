// Flip rules: ops that do something along axes which an attribute or an operand names.
#include <algorithm>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/transpose/flips.h"

namespace x2ir {
namespace {

std::optional<Flip> SameFirst(const Node& node, Slot slot, const Perm& p) {
  return SameOrder(node, slot, p, 1);
}
std::optional<Flip> SameAll(const Node& node, Slot slot, const Perm& p) {
  return SameOrder(node, slot, p, node.num_inputs());
}

// --- One axis, an attribute -----------------------------------------------------------------

void MoveAxis(Node& node, const Flip& flip, Builder&) {
  node.SetAttr("axis", NewAxes({node.attrs().Int("axis")}, flip.in[0])[0]);
}
X2IR_FLIP(softmax, SameFirst, MoveAxis);
X2IR_FLIP(log_softmax, SameFirst, MoveAxis);
X2IR_FLIP(hardmax, SameFirst, MoveAxis);
X2IR_FLIP(lp_normalization, SameFirst, MoveAxis);
X2IR_FLIP(concat, SameAll, MoveAxis);
X2IR_FLIP(split, SameFirst, MoveAxis);
X2IR_FLIP(top_k, SameFirst, MoveAxis);
X2IR_FLIP(gather_elements, SameAll, MoveAxis);

std::optional<Flip> Compress(const Node& node, Slot slot, const Perm& p) {
  if (!node.attrs().Has("axis")) return std::nullopt;  // of all elements in their order
  return SameOrder(node, slot, p, 1);
}
X2IR_FLIP(compress, Compress, MoveAxis);

// Its two axes must be the first two.
std::optional<Flip> ReverseSequence(const Node& node, Slot slot, const Perm& p) {
  if (p.size() < 2 || p[0] > 1 || p[1] > 1) return std::nullopt;
  return SameOrder(node, slot, p, 1);
}
void MoveTwoAxes(Node& node, const Flip& flip, Builder&) {
  for (const char* name : {"batch_axis", "time_axis"}) {
    node.SetAttr(name, NewAxes({node.attrs().Int(name)}, flip.in[0])[0]);
  }
}
X2IR_FLIP(reverse_sequence, ReverseSequence, MoveTwoAxes);

std::optional<Flip> MeanVariance(const Node& node, Slot slot, const Perm& p) {
  if (!AxisMask(node.attrs().Ints("axes"), static_cast<int64_t>(p.size()))) return std::nullopt;
  return SameOrder(node, slot, p, 1);
}
void MoveAxes(Node& node, const Flip& flip, Builder&) {
  std::vector<int64_t> axes = NewAxes(node.attrs().Ints("axes"), flip.in[0]);
  std::sort(axes.begin(), axes.end());
  node.SetAttr("axes", std::move(axes));
}
X2IR_FLIP(mean_variance_normalization, MeanVariance, MoveAxes);

// --- One axis, an operand -------------------------------------------------------------------

std::optional<Flip> Cumulative(const Node& node, Slot slot, const Perm& p) {
  const auto axis = KnownInts(node.input(1));
  if (!axis || axis->size() != 1 || !AxisMask(*axis, static_cast<int64_t>(p.size()))) {
    return std::nullopt;
  }
  return SameOrder(node, slot, p, 1);
}
void MoveAxisOperand(Node& node, const Flip& flip, Builder& b) {
  SetOperand(node, 1, b.Int(NewAxes(*KnownInts(node.input(1)), flip.in[0])[0], "axis"));
}
X2IR_FLIP(cum_sum, Cumulative, MoveAxisOperand);
X2IR_FLIP(cum_prod, Cumulative, MoveAxisOperand);

// --- Reductions -----------------------------------------------------------------------------

// Which axes go; nullopt when that is not known.
std::optional<std::vector<bool>> ReducedAxes(const Node& node) {
  const int64_t rank = RankOf(node.input(0));
  if (rank < 0) return std::nullopt;
  if (node.attrs().Has("axis")) return AxisMask({node.attrs().Int("axis")}, rank);  // arg_max
  std::vector<int64_t> axes;
  if (node.input(1)) {
    const auto known = KnownInts(node.input(1));
    if (!known) return std::nullopt;
    axes = *known;
  }
  if (axes.empty() && node.attrs().Int("noop_with_empty_axes", 0) == 0) {
    return std::vector<bool>(rank, true);
  }
  return AxisMask(axes, rank);
}

std::optional<Flip> Dropping(const Node& node, Slot slot, const Perm& p,
                             const std::vector<bool>& dropped) {
  const int64_t rank = static_cast<int64_t>(dropped.size());
  const int64_t left = std::count(dropped.begin(), dropped.end(), false);
  if (RankOf(node.output(0)) != left ||
      static_cast<int64_t>(p.size()) != (slot.output ? left : rank)) {
    return std::nullopt;
  }
  Flip flip(node);
  flip.in[0] = slot.output ? WithAxes(p, dropped) : p;
  flip.out[0] = slot.output ? p : WithoutAxes(p, dropped);
  return flip;
}

std::optional<Flip> Reduction(const Node& node, Slot slot, const Perm& p) {
  if (!slot.output && slot.index != 0) return std::nullopt;
  const auto reduced = ReducedAxes(node);
  if (!reduced) return std::nullopt;
  if (node.attrs().Int("keepdims") != 0) return SameOrder(node, slot, p, 1);
  return Dropping(node, slot, p, *reduced);
}
void MoveReduced(Node& node, const Flip& flip, Builder& b) {
  if (node.attrs().Has("axis")) return MoveAxis(node, flip, b);
  const auto axes = KnownInts(node.input(1));
  if (!axes || axes->empty()) return;  // all, or none
  std::vector<int64_t> moved = NewAxes(*axes, flip.in[0]);
  std::sort(moved.begin(), moved.end());
  SetOperand(node, 1, b.Ints(moved, "axes"));
}
X2IR_FLIP(reduce_l1, Reduction, MoveReduced);
X2IR_FLIP(reduce_l2, Reduction, MoveReduced);
X2IR_FLIP(reduce_log_sum, Reduction, MoveReduced);
X2IR_FLIP(reduce_log_sum_exp, Reduction, MoveReduced);
X2IR_FLIP(reduce_max, Reduction, MoveReduced);
X2IR_FLIP(reduce_mean, Reduction, MoveReduced);
X2IR_FLIP(reduce_min, Reduction, MoveReduced);
X2IR_FLIP(reduce_prod, Reduction, MoveReduced);
X2IR_FLIP(reduce_sum, Reduction, MoveReduced);
X2IR_FLIP(reduce_sum_square, Reduction, MoveReduced);
X2IR_FLIP(arg_max, Reduction, MoveReduced);
X2IR_FLIP(arg_min, Reduction, MoveReduced);

// --- squeeze, unsqueeze ---------------------------------------------------------------------

std::optional<std::vector<bool>> SqueezedAxes(const Node& node) {
  const int64_t rank = RankOf(node.input(0));
  if (rank < 0) return std::nullopt;
  if (!node.input(1)) {
    std::vector<bool> ones;
    for (const Dim& d : *node.input(0)->shape()) {
      if (!d.is_static()) return std::nullopt;
      ones.push_back(d == Dim(1));
    }
    return ones;
  }
  const auto axes = KnownInts(node.input(1));
  return axes ? AxisMask(*axes, rank) : std::nullopt;
}
std::optional<Flip> Squeeze(const Node& node, Slot slot, const Perm& p) {
  if (!slot.output && slot.index != 0) return std::nullopt;
  const auto squeezed = SqueezedAxes(node);
  return squeezed ? Dropping(node, slot, p, *squeezed) : std::nullopt;
}
void MoveSqueezed(Node& node, const Flip& flip, Builder& b) {
  const std::vector<bool> squeezed = *SqueezedAxes(node);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < squeezed.size(); ++i) {
    const int64_t old = flip.in[0].empty() ? static_cast<int64_t>(i) : flip.in[0][i];
    if (squeezed[old]) axes.push_back(static_cast<int64_t>(i));
  }
  SetOperand(node, 1, b.Ints(axes, "axes"));
}
X2IR_FLIP(squeeze, Squeeze, MoveSqueezed);

// Squeeze with operand and result exchanged.
std::optional<Flip> Unsqueeze(const Node& node, Slot slot, const Perm& p) {
  if (!slot.output && slot.index != 0) return std::nullopt;
  const int64_t rank = RankOf(node.output(0));
  const auto axes = KnownInts(node.input(1));
  if (!axes || rank < 0 || RankOf(node.input(0)) < 0) return std::nullopt;
  const auto added = AxisMask(*axes, rank);
  if (!added) return std::nullopt;
  Flip flip(node);
  flip.in[0] = slot.output ? WithoutAxes(p, *added) : p;
  flip.out[0] = slot.output ? p : WithAxes(p, *added);
  return flip;
}
void MoveAdded(Node& node, const Flip& flip, Builder& b) {
  if (flip.out[0].empty()) return;
  std::vector<int64_t> axes = NewAxes(*KnownInts(node.input(1)), flip.out[0]);
  std::sort(axes.begin(), axes.end());
  SetOperand(node, 1, b.Ints(axes, "axes"));
}
X2IR_FLIP(unsqueeze, Unsqueeze, MoveAdded);

// --- gather ---------------------------------------------------------------------------------

// The axis becomes the axes of the indices, none of them perhaps.
std::optional<Flip> Gather(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = RankOf(node.input(0)), more = RankOf(node.input(1));
  if (rank < 0 || more < 0 || RankOf(node.output(0)) != rank - 1 + more) return std::nullopt;
  if (!slot.output && slot.index != 0) return std::nullopt;
  int64_t axis = node.attrs().Int("axis");
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  std::vector<bool> gathered(rank, false);
  gathered[axis] = true;
  if (more == 0) return Dropping(node, slot, p, gathered);
  Flip flip(node);
  if (!slot.output) {
    flip.in[0] = p;
    for (int64_t old : p) {
      for (int64_t i = 0; i < (old == axis ? more : 1); ++i) {
        flip.out[0].push_back(old <= axis ? old + i : old - 1 + more);
      }
    }
    flip.out[0] = Normalized(std::move(flip.out[0]));
    return flip;
  }
  flip.out[0] = p;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] < axis || p[i] >= axis + more) {
      flip.in[0].push_back(p[i] < axis ? p[i] : p[i] + 1 - more);
    } else if (p[i] == axis) {
      flip.in[0].push_back(axis);
    } else if (i == 0 || p[i - 1] != p[i] - 1) {
      return std::nullopt;  // the indices would have to change too
    }
  }
  flip.in[0] = Normalized(std::move(flip.in[0]));
  return flip;
}
void MoveGathered(Node& node, const Flip& flip, Builder& b) {
  if (!flip.in[0].empty()) MoveAxis(node, flip, b);
}
X2IR_FLIP(gather, Gather, MoveGathered);

}  // namespace

bool NeedsTransposes(const Node& node, const Flip& flip, const PassContext& context) {
  const Target* target = context.target;
  if (node.Is("resize")) {
    return InterpolatesElsewhere(node, flip.in[0], context.layout == "channels_last");
  }
  if (node.Is("matmul") && BecomesConv(node, flip)) {
    return target && !target->Takes("conv", 0, node.output(0)->dtype());
  }
  if (!node.Is("softmax") && !node.Is("log_softmax") && !node.Is("hardmax")) return false;
  const int64_t last = static_cast<int64_t>(flip.in[0].size()) - 1;
  const int64_t axis = NewAxes({node.attrs().Int("axis")}, flip.in[0])[0];
  return target && axis != last && target->Has(node.op()) &&
         !target->Says(node.op(), "axis", axis);
}

}  // namespace x2ir
