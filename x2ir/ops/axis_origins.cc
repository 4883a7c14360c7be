#include "x2ir/ops/axis_origins.h"

#include <algorithm>
#include <optional>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using Places = std::vector<AxisPlace>;

const Shape& Operand(const Node& node) { return *node.input(0)->shape(); }
const Shape& Result(const Node& node) { return *ResultOf(node)->shape(); }

// The attribute `axis` from the front.
int64_t AlongOf(const Node& node) {
  const int64_t axis = node.attrs().Int("axis");
  return axis < 0 ? axis + Operand(node).rank() : axis;
}

bool IsOneOf(const std::vector<int64_t>& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// The axis as the first `count` operands are broadcast to the result.
Places Broadcast(const Node& node, int64_t axis, size_t count) {
  Places places;
  for (size_t i = 0; i < count && i < node.num_inputs(); ++i) {
    const Shape* shape = node.input(i) ? node.input(i)->shape() : nullptr;
    const int64_t own = shape ? axis - (Result(node).rank() - shape->rank()) : -1;
    if (HasAxis(shape, own)) places.push_back({i, own});
  }
  return places;
}

// The axes that operand 1 adds to or takes from the tensor of so many axes: those that are kept.
std::optional<std::vector<int64_t>> KeptAxes(const Node& node, int64_t rank) {
  const auto axes = KnownInts(node.input(1));
  if (!axes) return std::nullopt;
  const auto at = NormalizeAxes(*axes, rank);
  if (!at.ok()) return std::nullopt;
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < rank; ++i) {
    if (!IsOneOf(*at, i)) kept.push_back(i);
  }
  return kept;
}

}  // namespace

bool HasAxis(const Shape* shape, int64_t axis) {
  return shape && axis >= 0 && axis < shape->rank();
}

bool IsElementwise(const OpDef& def) {
  return def.rows() == RowUse::kElementwise || def.axes().spread == kElementwiseAxes.spread;
}

const Value* ResultOf(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output) return output;
  }
  return nullptr;
}

Places AxisOrigins(const Node& node, int64_t axis) {
  const Shape* in = node.input(0) ? node.input(0)->shape() : nullptr;
  const Shape* out = ResultOf(node) ? ResultOf(node)->shape() : nullptr;
  const OpDef* def = FindOp(node.op());
  if (!in || !out || !def) return {};
  if (def->origins()) return def->origins()(node, axis);
  if (IsElementwise(*def)) return Broadcast(node, axis, node.num_inputs());
  const bool rows = def->rows() == RowUse::kFirst;
  return rows && axis + 1 != out->rank() ? OriginsInOrder(node, axis) : Places();
}

// --- What ops say --------------------------------------------------------------------------------

Places OriginsInOrder(const Node& node, int64_t axis) {
  return Operand(node).rank() == Result(node).rank() ? Places{{0, axis}} : Places();
}

Places OriginsOfExpand(const Node& node, int64_t axis) { return Broadcast(node, axis, 1); }

Places OriginsOfUnsqueeze(const Node& node, int64_t axis) {
  const auto kept = KeptAxes(node, Result(node).rank());
  if (!kept) return {};
  const auto it = std::find(kept->begin(), kept->end(), axis);
  return it == kept->end() ? Places() : Places{{0, it - kept->begin()}};
}

Places OriginsOfSqueeze(const Node& node, int64_t axis) {
  const auto kept = KeptAxes(node, Operand(node).rank());
  return kept ? Places{{0, (*kept)[static_cast<size_t>(axis)]}} : Places();
}

Places OriginsOfTranspose(const Node& node, int64_t axis) {
  const auto& perm = node.attrs().Ints("perm");
  if (static_cast<int64_t>(perm.size()) != Result(node).rank()) return {};
  return {{0, perm[static_cast<size_t>(axis)]}};
}

// An axis with the same size as before, and as many elements before it.
Places OriginsOfReshape(const Node& node, int64_t axis) {
  const Shape &in = Operand(node), &out = Result(node);
  const auto product = [](const Shape& s, int64_t n) {
    Dim all = 1;
    for (int64_t i = 0; i < n; ++i) all = all * s[i];
    return all;
  };
  for (int64_t i = 0; i < in.rank(); ++i) {
    if (product(in, i) == product(out, axis) && in[i] == out[axis]) return {{0, i}};
  }
  return {};
}

Places OriginsOfMatMul(const Node& node, int64_t axis) {
  const Shape &in = Operand(node), &out = Result(node);
  const Shape* right = node.input(1)->shape();
  if (!right || in.rank() < 2 || right->rank() < 2) return {};
  if (axis + 1 == out.rank()) return {{1, right->rank() - 1}};
  Places places;
  const int64_t a = axis - (out.rank() - in.rank()), b = axis - (out.rank() - right->rank());
  if (a >= 0) places.push_back({0, a});
  if (b >= 0 && axis + 2 < out.rank()) places.push_back({1, b});
  return places;
}

Places OriginsOfGather(const Node& node, int64_t axis) {
  const Shape* index = node.input(1)->shape();
  if (!index) return {};
  const int64_t at = AlongOf(node);
  if (axis >= at && axis < at + index->rank()) return {{1, axis - at}};
  return {{0, axis < at ? axis : axis - index->rank() + 1}};
}

Places OriginsOfGatherElements(const Node& node, int64_t axis) {
  if (axis == AlongOf(node)) return {{1, axis}};
  return OriginsOfAllButAxis(node, axis);
}

Places OriginsOfReduction(const Node& node, int64_t axis) {
  const auto kept = node.input(1) ? KeptAxes(node, Operand(node).rank()) : std::nullopt;
  if (!kept) return {};
  const bool keeps = node.attrs().Int("keepdims") != 0;
  int64_t at = 0;  // of the result
  for (int64_t i = 0; i < Operand(node).rank(); ++i) {
    const bool reduced = !IsOneOf(*kept, i);
    if (!reduced && at == axis) return {{0, i}};
    at += !reduced || keeps;
  }
  return {};
}

Places OriginsOfAttention(const Node& node, int64_t axis) {
  return axis < 2 ? Broadcast(node, axis, node.num_inputs()) : Places();
}

Places OriginsOfDeformConv(const Node&, int64_t axis) {
  return axis == 0 ? Places{{0, 0}, {2, 0}, {4, 0}} : Places();
}

Places OriginsOfCumulation(const Node& node, int64_t axis) {
  const auto given = KnownInts(node.input(1));
  if (!given || given->size() != 1) return {};
  const int64_t along = given->front() + (given->front() < 0 ? Operand(node).rank() : 0);
  return axis != along ? OriginsInOrder(node, axis) : Places();
}

Places OriginsButAxis(const Node& node, int64_t axis) {
  return axis != AlongOf(node) ? OriginsInOrder(node, axis) : Places();
}

Places OriginsOfAllButAxis(const Node& node, int64_t axis) {
  Places places;
  const int64_t along = AlongOf(node);
  for (size_t i = 0; axis != along && i < node.num_inputs(); ++i) places.push_back({i, axis});
  return places;
}

Places OriginsBeforeAxis(const Node& node, int64_t axis) {
  return axis < AlongOf(node) ? OriginsInOrder(node, axis) : Places();
}

Places OriginsOfBatch(const Node& node, int64_t axis) {
  return axis == 0 ? OriginsInOrder(node, axis) : Places();
}

Places OriginsOfBatchNorm(const Node& node, int64_t axis) {
  return node.attrs().Int("training_mode", 0) == 0 ? OriginsOfBatch(node, axis) : Places();
}

}  // namespace x2ir
