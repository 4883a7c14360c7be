// Orders of axes. A Perm p represents a transpose: axis i of the result is axis p[i] of the
// operand. An empty Perm is the order that a value has anyway, of any rank.
#ifndef X2IR_OPS_PERM_H_
#define X2IR_OPS_PERM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

using Perm = absl::InlinedVector<int64_t, 6>;
inline Perm AsPerm(absl::Span<const int64_t> axes) { return Perm(axes.begin(), axes.end()); }
inline std::vector<int64_t> AsInts(const Perm& p) { return {p.begin(), p.end()}; }

bool IsIdentity(const Perm& p);
// Empty where it changes nothing.
Perm Normalized(Perm p);
Perm Inverse(const Perm& p);
// First one, then the other; normalized.
Perm Compose(const Perm& first, const Perm& second);
// The position of axis a of the operand in the result.
inline int64_t NewAxis(const Perm& p, int64_t a) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == a) return static_cast<int64_t>(i);
  }
  return a;
}
// Whether the axes [from, to) stay where they are.
bool Fixes(const Perm& p, int64_t from, int64_t to);

Shape Permuted(const Shape& shape, const Perm& p);
// Axes of size 1 alone change places, so that the elements stay where they are.
bool MovesOnlyOnes(const Shape& shape, const Perm& p);

// The order that an IR transpose makes; nullopt for other nodes, and where the rank is not known.
std::optional<Perm> PermOf(const Node& node);

// A constant shape operand for `reshape` (allowzero = 0) from one shape to another one of as many
// elements: 0 copies a size, one may be -1. nullopt if that cannot express it.
std::optional<std::vector<int64_t>> ReshapeTarget(const Shape& from, const Shape& to);

}  // namespace x2ir

#endif  // X2IR_OPS_PERM_H_
