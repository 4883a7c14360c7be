// See axes.h.
#include "x2ir/ops/axes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "x2ir/ops/infer.h"
#include "x2ir/ops/window.h"

namespace x2ir {

int64_t RankOf(const Value* value) { return value && value->shape() ? value->shape()->rank() : -1; }

Perm OperandOrder(const Value& operand, const Perm& p) {
  const Shape& shape = *operand.shape();
  const int64_t before = static_cast<int64_t>(p.size()) - shape.rank();
  bool all_ones = true, same_tail = true;
  for (const Dim& d : shape) all_ones &= d == Dim(1);
  if (all_ones) return {};
  Perm tail;
  for (size_t i = before; i < p.size(); ++i) {
    same_tail &= p[i] >= before;
    tail.push_back(p[i] - before);
  }
  return same_tail ? Normalized(std::move(tail)) : p;
}

Perm WithoutAxes(const Perm& p, const std::vector<bool>& dropped) {
  std::vector<int64_t> place;  // of each axis among those that are left
  int64_t count = 0;
  for (bool d : dropped) place.push_back(d ? -1 : count++);
  Perm left;
  for (int64_t axis : p) {
    if (!dropped[axis]) left.push_back(place[axis]);
  }
  return Normalized(std::move(left));
}

Perm WithAxes(const Perm& p, const std::vector<bool>& dropped) {
  const int64_t rank = static_cast<int64_t>(dropped.size());
  std::vector<int64_t> kept;
  Perm all;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!dropped[axis]) kept.push_back(axis);
    if (dropped[axis] && kept.empty()) all.push_back(axis);
  }
  // A dropped axis stays after the axis that it follows now.
  for (int64_t i : p) {
    all.push_back(kept[i]);
    for (int64_t axis = kept[i] + 1; axis < rank && dropped[axis]; ++axis) all.push_back(axis);
  }
  return Normalized(std::move(all));
}

std::optional<std::vector<bool>> AxisMask(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> mask(rank, false);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank) return std::nullopt;
    mask[axis < 0 ? axis + rank : axis] = true;
  }
  return mask;
}

std::vector<int64_t> NewAxes(const std::vector<int64_t>& axes, const Perm& p) {
  const int64_t rank = static_cast<int64_t>(p.size());
  std::vector<int64_t> moved;
  for (int64_t axis : axes) moved.push_back(NewAxis(p, axis < 0 ? axis + rank : axis));
  return moved;
}

bool FixesChannels(const Node& node, const Perm& p) {
  const auto last = ChannelsLast(node.attrs());
  const auto rank = static_cast<int64_t>(p.size());
  if (!last.ok() || rank < 2) return false;
  const int64_t axis = ChannelAxis(*last, rank);
  return Fixes(p, axis, axis + 1);
}

void SetOperand(Node& node, size_t i, Value* value) {
  while (node.num_inputs() <= i) node.AddInput(nullptr);
  node.SetInput(i, value);
}

Value* Reordered(Builder& b, Value* value, const std::vector<int64_t>& order) {
  const std::optional<Tensor> known = KnownTensor(*value);
  const int64_t last = order.empty() ? -1 : *std::max_element(order.begin(), order.end());
  if (!known || known->num_elements() <= last || known->nbytes() == 0 ||
      known->nbytes() % known->num_elements() != 0) {
    return b.Op("gather", {value, b.Ints(order, "order")}, {{"axis", 0}});
  }
  const size_t size = known->nbytes() / known->num_elements();
  Tensor tensor = Tensor::Zeros(known->dtype(), {static_cast<int64_t>(order.size())});
  auto bytes = tensor.mutable_bytes();
  for (size_t i = 0; i < order.size(); ++i) {
    std::memcpy(bytes.data() + i * size, known->bytes().data() + order[i] * size, size);
  }
  return b.Constant(std::move(tensor), "order");
}

int CostOfOrdering(const Value* numbers) { return !numbers || KnownTensor(*numbers) ? 0 : 1; }

std::optional<Flip> FlipSame(const Node& node, Slot slot, const Perm& p, size_t operands) {
  const int64_t rank = static_cast<int64_t>(p.size());
  if (!slot.output && slot.index >= operands) return std::nullopt;
  Flip flip(node);
  for (size_t i = 0; i < std::min(operands, node.num_inputs()); ++i) {
    if (!node.input(i)) continue;
    if (RankOf(node.input(i)) != rank) return std::nullopt;
    flip.in[i] = p;
  }
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    if (!node.output(i)) continue;
    if (RankOf(node.output(i)) != rank) return std::nullopt;
    flip.out[i] = p;
  }
  return flip;
}

std::optional<Flip> FlipBroadcast(const Node& node, Slot slot, const Perm& p, size_t operands) {
  const int64_t rank = RankOf(node.output(0));
  if (rank < 0 || (!slot.output && slot.index >= operands)) return std::nullopt;
  // An operand of lower rank has the result's last axes.
  Perm all;
  const int64_t before = rank - static_cast<int64_t>(p.size());
  for (int64_t i = 0; i < before; ++i) all.push_back(i);
  for (int64_t axis : p) all.push_back(axis + before);
  Flip flip(node);
  for (size_t i = 0; i < std::min(operands, node.num_inputs()); ++i) {
    if (!node.input(i)) continue;
    if (RankOf(node.input(i)) < 0 || RankOf(node.input(i)) > rank) return std::nullopt;
    flip.in[i] = OperandOrder(*node.input(i), all);
  }
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    if (!node.output(i)) continue;
    if (RankOf(node.output(i)) != rank) return std::nullopt;
    flip.out[i] = all;
  }
  if (flip.at(slot) != p) return std::nullopt;
  return flip;
}

std::optional<Flip> FlipElementwise(const Node& node, Slot slot, const Perm& p) {
  return FlipBroadcast(node, slot, p, node.num_inputs());
}

std::optional<Flip> FlipFirstBroadcast(const Node& node, Slot slot, const Perm& p) {
  return FlipBroadcast(node, slot, p, 1);
}

std::optional<Flip> FlipAllBut(const Node& node, Slot slot, const Perm& p, int64_t from,
                               int64_t to) {
  if (!Fixes(p, from, to)) return std::nullopt;
  return FlipSame(node, slot, p, 1);
}

std::optional<Flip> FlipDropping(const Node& node, Slot slot, const Perm& p,
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

void MoveAxisAttr(Node& node, const Flip& flip, Builder&) {
  node.SetAttr("axis", NewAxes({node.attrs().Int("axis")}, flip.in[0])[0]);
}

// --- Reductions -----------------------------------------------------------------------------

namespace {

// The axes that are removed; nullopt if they are not known.
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

}  // namespace

std::optional<Flip> FlipReduction(const Node& node, Slot slot, const Perm& p) {
  if (!slot.output && slot.index != 0) return std::nullopt;
  const auto reduced = ReducedAxes(node);
  if (!reduced) return std::nullopt;
  if (node.attrs().Int("keepdims") != 0) return FlipSame(node, slot, p, 1);
  return FlipDropping(node, slot, p, *reduced);
}

void MoveReducedAxes(Node& node, const Flip& flip, Builder& b) {
  if (node.attrs().Has("axis")) return MoveAxisAttr(node, flip, b);
  const auto axes = KnownInts(node.input(1));
  if (!axes || axes->empty()) return;  // all, or none
  std::vector<int64_t> moved = NewAxes(*axes, flip.in[0]);
  std::sort(moved.begin(), moved.end());
  SetOperand(node, 1, b.Ints(moved, "axes"));
}

}  // namespace x2ir
