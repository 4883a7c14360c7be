#include "x2ir/ops/perm.h"

#include <utility>

#include "absl/container/inlined_vector.h"

namespace x2ir {

bool IsIdentity(const Perm& p) { return Fixes(p, 0, static_cast<int64_t>(p.size())); }

Perm Normalized(Perm p) { return IsIdentity(p) ? Perm() : p; }

Perm Inverse(const Perm& p) {
  Perm inverse(p.size());
  for (size_t i = 0; i < p.size(); ++i) inverse[p[i]] = static_cast<int64_t>(i);
  return inverse;
}

Perm Compose(const Perm& first, const Perm& second) {
  if (first.empty()) return Normalized(second);
  if (second.empty()) return Normalized(first);
  Perm both;
  for (int64_t axis : second) both.push_back(first[axis]);
  return Normalized(std::move(both));
}

bool Fixes(const Perm& p, int64_t from, int64_t to) {
  for (int64_t i = from; i < to && i < static_cast<int64_t>(p.size()); ++i) {
    if (p[i] != i) return false;
  }
  return true;
}

Shape Permuted(const Shape& shape, const Perm& p) {
  if (p.empty()) return shape;
  Shape result;
  for (int64_t axis : p) result.Append(shape[axis]);
  return result;
}

bool MovesOnlyOnes(const Shape& shape, const Perm& p) {
  int64_t last = -1;
  for (int64_t axis : p) {
    if (shape[axis] == Dim(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

std::optional<Perm> PermOf(const Node& node) {
  if (!node.Is("transpose")) return std::nullopt;
  const Value* in = node.input(0);
  if (!in || !in->shape() || !node.output(0)) return std::nullopt;
  const int64_t rank = in->shape()->rank();
  Perm p;
  if (!node.attrs().Has("perm")) {
    for (int64_t i = rank; i-- > 0;) p.push_back(i);
    return p;
  }
  p = AsPerm(node.attrs().Ints("perm"));
  if (static_cast<int64_t>(p.size()) != rank) return std::nullopt;
  absl::InlinedVector<bool, 16> seen(rank, false);
  for (int64_t axis : p) {
    if (axis < 0 || axis >= rank || seen[axis]) return std::nullopt;
    seen[axis] = true;
  }
  return p;
}

std::optional<std::vector<int64_t>> ReshapeTarget(const Shape& from, const Shape& to) {
  std::vector<int64_t> target;
  bool guessed = false;
  for (int64_t i = 0; i < to.rank(); ++i) {
    if (to[i].is_static()) {
      // A 0 would copy a size, and -1 is undefined beside an empty axis.
      if (to[i].value() == 0) return std::nullopt;
      target.push_back(to[i].value());
    } else if (i < from.rank() && ProvablyEqual(from[i], to[i])) {
      target.push_back(0);
    } else if (!guessed) {
      target.push_back(-1);
      guessed = true;
    } else {
      return std::nullopt;
    }
  }
  return target;
}

}  // namespace x2ir
