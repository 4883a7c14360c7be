#include "x2ir/optimizer/axis_parts.h"

#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

constexpr int kMostMoves = 8;

bool OnlyReshapesAxes(const OpDef& op) { return op.moves() == MoveUse::kInOrder; }

bool AreAllKnown(const Shape* shape) {
  return shape && std::all_of(shape->dims().begin(), shape->dims().end(),
                              [](const Dim& dim) { return !dim.is_unknown() && dim != Dim(0); });
}

}  // namespace

Moved BeforeMoves(const Pattern& pattern, Value* value) {
  Moved moved{value, {}};
  while (static_cast<int>(moved.moves.size()) < kMostMoves) {
    Node* node = pattern.By(moved.from, OnlyReshapesAxes);
    if (!node) node = pattern.By(moved.from, "transpose");
    if (!node || moved.from->uses().size() != 1 || moved.from->is_graph_output()) break;
    moved.moves.push_back(node);
    moved.from = node->input(0);
  }
  std::reverse(moved.moves.begin(), moved.moves.end());
  return moved;
}

std::optional<AxisParts> AxisParts::Of(const Moved& moved) {
  const Shape* shape = moved.from->shape();
  if (!AreAllKnown(shape)) return std::nullopt;
  AxisParts parts;
  for (const Dim& dim : *shape) {
    parts.before_.emplace_back();
    if (dim == Dim(1)) continue;
    parts.before_.back().push_back(static_cast<int>(parts.sizes_.size()));
    parts.sizes_.push_back(dim);
  }
  parts.after_ = parts.before_;
  for (const Node* move : moved.moves) {
    if (!parts.Follow(*move)) return std::nullopt;
  }
  return parts;
}

void AxisParts::Replace(int part, const Axis& parts) {
  for (std::vector<Axis>* axes : {&before_, &after_}) {
    for (Axis& axis : *axes) {
      const auto at = std::find(axis.begin(), axis.end(), part);
      if (at != axis.end()) axis.insert(axis.erase(at), parts.begin(), parts.end());
    }
  }
}

bool AxisParts::TakeApart(size_t axis, const std::vector<Dim>& sizes) {
  if (after_[axis].size() != 1) return false;
  Dim all(1);
  Axis parts;
  for (const Dim& size : sizes) {
    all = all * size;
    if (size == Dim(1)) continue;
    parts.push_back(static_cast<int>(sizes_.size()));
    sizes_.push_back(size);
  }
  if (!ProvablyEqual(all, sizes_[after_[axis][0]])) return false;
  Replace(after_[axis][0], parts);
  return true;
}

bool AxisParts::Follow(const Node& move) {
  if (move.Is("transpose")) {
    const std::vector<int64_t> perm = move.attrs().Ints("perm", {});
    if (perm.size() != after_.size()) return false;
    std::vector<Axis> moved;
    for (const int64_t axis : perm) {
      if (axis < 0 || axis >= static_cast<int64_t>(after_.size())) return false;
      moved.push_back(after_[axis]);
    }
    after_ = std::move(moved);
    return true;
  }
  const OpDef* op = FindOp(move.op());
  if (!op || !OnlyReshapesAxes(*op)) return true;
  const Shape* to = move.output(0)->shape();
  if (!AreAllKnown(to)) return false;
  Axis flat;
  for (const Axis& axis : after_) flat.insert(flat.end(), axis.begin(), axis.end());
  std::vector<Axis> axes(to->rank());
  // The shortest runs of parts and of axes that have the same size, one after the other.
  size_t part = 0;
  for (int64_t axis = 0; axis < to->rank();) {
    if ((*to)[axis] == Dim(1)) {
      ++axis;
      continue;
    }
    bool found = false;
    Dim of_axes(1);
    for (int64_t end = axis + 1; end <= to->rank() && !found; ++end) {
      of_axes = of_axes * (*to)[end - 1];
      Dim of_parts(1);
      for (size_t last = part + 1; last <= flat.size() && !found; ++last) {
        of_parts = of_parts * sizes_[flat[last - 1]];
        if (!ProvablyEqual(of_parts, of_axes)) continue;
        found = true;
        if (end == axis + 1) {
          axes[axis].assign(flat.begin() + part, flat.begin() + last);
        } else if (last == part + 1) {
          std::vector<Axis> kept = std::exchange(after_, {{flat[part]}});
          const auto first = static_cast<int>(sizes_.size());
          const std::vector<Dim> sizes(to->dims().begin() + axis, to->dims().begin() + end);
          if (!TakeApart(0, sizes)) return false;
          int next = first;
          for (int64_t i = axis; i < end; ++i) {
            if ((*to)[i] != Dim(1)) axes[i] = {next++};
          }
        } else {
          return false;
        }
        axis = end;
        part = last;
      }
    }
    if (!found) return false;
  }
  if (part != flat.size()) return false;
  after_ = std::move(axes);
  return true;
}

std::optional<MovedAxes> PermOf(const AxisParts& parts) {
  const auto &before = parts.before(), &after = parts.after();
  AxisParts::Axis flat;
  for (const AxisParts::Axis& axis : after) flat.insert(flat.end(), axis.begin(), axis.end());
  // Axes of size 1 are where they are after, if there are as many axes; else they stay.
  std::vector<bool> taken(before.size());
  const auto take = [&](const auto& is_it) -> int64_t {
    for (size_t i = 0; i < before.size(); ++i) {
      if (taken[i] || !is_it(before[i])) continue;
      taken[i] = true;
      return static_cast<int64_t>(i);
    }
    return -1;
  };
  const auto is_one = [](const AxisParts::Axis& axis) { return axis.empty(); };
  MovedAxes moved{{}, before.size() != after.size()};
  if (!moved.reshaped) {
    for (const AxisParts::Axis& axis : after) {
      const int64_t from = take([&](const AxisParts::Axis& own) { return own == axis; });
      if (from >= 0) moved.perm.push_back(from);
    }
    if (moved.perm.size() == before.size()) return moved;
    moved = {{}, true};
    std::fill(taken.begin(), taken.end(), false);
  }
  for (auto at = flat.begin(); at != flat.end();) {
    const int64_t from = take([&](const AxisParts::Axis& own) {
      return !own.empty() && static_cast<int64_t>(own.size()) <= flat.end() - at &&
             std::equal(own.begin(), own.end(), at);
    });
    if (from < 0) return std::nullopt;
    moved.perm.push_back(from);
    at += static_cast<int64_t>(before[from].size());
  }
  for (int64_t one = take(is_one); one >= 0; one = take(is_one)) {
    const auto place = std::min<int64_t>(one, static_cast<int64_t>(moved.perm.size()));
    moved.perm.insert(moved.perm.begin() + place, one);
  }
  return moved;
}

}  // namespace x2ir
