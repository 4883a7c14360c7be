// How the axes of reshape and flatten change places (axes.h).
//
// Axes of operand and result fall into groups of equal size: [n, h, w, 2*c] -> [n, h, w, 2, c] has
// the groups n | h | w | 2*c: 2, c. Whole groups may change places together. Axes of size 1 are in
// no group: their positions do not matter, so a reshape can absorb a transpose that moves only
// them.
#include "x2ir/ops/axes.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

struct Group {
  std::vector<int64_t> from, to;  // axes, in their order
};

std::vector<int64_t> AxesOfSize(const Shape& shape) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != Dim(1)) axes.push_back(i);
  }
  return axes;
}

// Looks for the shortest run of `axes` from `begin` on whose size is `size`; its end, or nullopt.
std::optional<size_t> RunOfSize(const Shape& shape, const std::vector<int64_t>& axes, size_t begin,
                                const Dim& size) {
  Dim product = 1;
  for (size_t end = begin; end < axes.size(); ++end) {
    product = product * shape[axes[end]];
    if (ProvablyEqual(product, size)) return end + 1;
  }
  return std::nullopt;
}

// Groups that are certain, in order; what is not makes one group.
std::vector<Group> GroupsOf(const Shape& from, const Shape& to) {
  const std::vector<int64_t> a = AxesOfSize(from), b = AxesOfSize(to);
  size_t i = 0, j = 0, a_end = a.size(), b_end = b.size();
  std::vector<Group> groups, last;
  const auto slice = [](const std::vector<int64_t>& axes, size_t begin, size_t end) {
    return std::vector<int64_t>(axes.begin() + begin, axes.begin() + end);
  };
  while (i < a_end && j < b_end) {
    size_t i_end = i + 1, j_end = j + 1;
    Dim x = from[a[i]], y = to[b[j]];
    while (!ProvablyEqual(x, y) && x.is_static() && y.is_static()) {
      // The smaller side grows.
      if (x.value() < y.value() && i_end < a_end) {
        x = x * from[a[i_end++]];
      } else if (y.value() < x.value() && j_end < b_end) {
        y = y * to[b[j_end++]];
      } else {
        break;
      }
    }
    if (!ProvablyEqual(x, y)) {
      i_end = i + 1;
      j_end = j + 1;
      if (auto end = RunOfSize(from, a, i, to[b[j]])) {
        i_end = *end;
      } else if (auto other = RunOfSize(to, b, j, from[a[i]])) {
        j_end = *other;
      } else {
        break;
      }
    }
    groups.push_back({slice(a, i, i_end), slice(b, j, j_end)});
    i = i_end;
    j = j_end;
  }
  while (i < a_end && j < b_end && ProvablyEqual(from[a[a_end - 1]], to[b[b_end - 1]])) {
    last.push_back({{a[--a_end]}, {b[--b_end]}});
  }
  if (i < a_end || j < b_end) groups.push_back({slice(a, i, a_end), slice(b, j, b_end)});
  groups.insert(groups.end(), last.rbegin(), last.rend());
  return groups;
}

// The order of one side when the other has order p, if the groups stay whole.
std::optional<Perm> OtherSide(const std::vector<Group>& groups, const Perm& p, const Shape& from,
                              const Shape& to) {
  std::vector<int64_t> group_of(from.rank(), -1);
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].from.empty() || groups[g].to.empty()) return std::nullopt;
    for (int64_t axis : groups[g].from) group_of[axis] = static_cast<int64_t>(g);
  }
  Perm order;
  const auto add_ones = [&](int64_t axis) {  // those that follow
    for (; axis < to.rank() && to[axis] == Dim(1); ++axis) order.push_back(axis);
  };
  add_ones(0);
  const std::vector<int64_t>* current = nullptr;
  size_t next = 0;
  for (int64_t axis : p) {
    if (group_of[axis] < 0) continue;
    const Group& group = groups[group_of[axis]];
    if (next == 0) {
      if (axis != group.from[0]) return std::nullopt;
      current = &group.from;
      for (int64_t other : group.to) {
        order.push_back(other);
        add_ones(other + 1);
      }
    } else if (current != &group.from || axis != group.from[next]) {
      return std::nullopt;
    }
    next = next + 1 == group.from.size() ? 0 : next + 1;
  }
  return Normalized(std::move(order));
}

std::vector<Group> Reversed(std::vector<Group> groups) {
  for (Group& group : groups) std::swap(group.from, group.to);
  return groups;
}

// A flatten that stays correct: the same axes before and after.
bool StaysFlatten(const Node& node, const Flip& flip) {
  if (!node.Is("flatten") || !flip.out[0].empty()) return false;
  const int64_t rank = static_cast<int64_t>(flip.in[0].size());
  int64_t axis = node.attrs().Int("axis");
  if (axis < 0) axis += rank;
  for (int64_t i = 0; i < axis; ++i) {
    if (flip.in[0][i] >= axis) return false;
  }
  return true;
}

}  // namespace

std::optional<Flip> FlipReshape(const Node& node, Slot slot, const Perm& p) {
  if ((!slot.output && slot.index != 0) || RankOf(node.input(0)) < 0 ||
      RankOf(node.output(0)) < 0) {
    return std::nullopt;
  }
  const Shape& from = *node.input(0)->shape();
  const Shape& to = *node.output(0)->shape();
  if (static_cast<int64_t>(p.size()) != (slot.output ? to : from).rank()) return std::nullopt;
  const std::vector<Group> groups = GroupsOf(from, to);
  const std::optional<Perm> other =
      slot.output ? OtherSide(Reversed(groups), p, to, from) : OtherSide(groups, p, from, to);
  if (!other) return std::nullopt;
  Flip flip(node);
  flip.in[0] = slot.output ? *other : p;
  flip.out[0] = slot.output ? p : *other;
  const Shape new_from = Permuted(from, flip.in[0]), new_to = Permuted(to, flip.out[0]);
  if (!StaysFlatten(node, flip) && !ReshapeTarget(new_from, new_to)) return std::nullopt;
  return flip;
}

void ChangeReshape(Node& node, const Flip& flip, Builder& b) {
  if (StaysFlatten(node, flip)) return;
  const Shape from = Permuted(*node.input(0)->shape(), flip.in[0]);
  const Shape to = Permuted(*node.output(0)->shape(), flip.out[0]);
  if (node.Is("flatten")) {
    node.set_op(kIrDialect, "reshape");
    node.EraseAttr("axis");
  }
  node.SetAttr("allowzero", 0);
  SetOperand(node, 1, b.Ints(*ReshapeTarget(from, to), "shape"));
}

}  // namespace x2ir
