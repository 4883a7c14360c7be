// Flip rules: ops that look at one element of each operand (broadcast) for one of the result, and
// those that do so but for some axes that stay.
#include <array>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/transpose/flips.h"

namespace x2ir {
namespace {

// Operands [0, n) are broadcast to the results' rank.
std::optional<Flip> Broadcast(const Node& node, Slot slot, const Perm& p, size_t operands) {
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

std::optional<Flip> Elementwise(const Node& node, Slot slot, const Perm& p) {
  return Broadcast(node, slot, p, node.num_inputs());
}
std::optional<Flip> FirstAlone(const Node& node, Slot slot, const Perm& p) {
  return Broadcast(node, slot, p, 1);
}

constexpr auto kElementwise = std::to_array<std::string_view>(
    {"abs",           "acos",        "acosh",       "add",
     "and",           "asin",        "asinh",       "atan",
     "atanh",         "bitwise_and", "bitwise_not", "bitwise_or",
     "bitwise_xor",   "bit_shift",   "cast",        "ceil",
     "celu",          "cos",         "cosh",        "div",
     "elu",           "equal",       "erf",         "exp",
     "floor",         "gelu",        "greater",     "greater_or_equal",
     "hard_sigmoid",  "hard_swish",  "identity",    "is_inf",
     "is_nan",        "leaky_relu",  "less",        "less_or_equal",
     "log",           "max",         "mean",        "min",
     "mish",          "mod",         "mul",         "neg",
     "not",           "or",          "pow",         "prelu",
     "reciprocal",    "relu",        "round",       "selu",
     "shrink",        "sigmoid",     "sign",        "sin",
     "sinh",          "softplus",    "softsign",    "sqrt",
     "string_concat", "sub",         "sum",         "swiglu",
     "swish",         "tan",         "tanh",        "thresholded_relu",
     "where",         "xor"});
[[maybe_unused]] const bool elementwise = [] {
  for (std::string_view op : kElementwise) RegisterFlip(op, Elementwise, nullptr);
  return true;
}();
X2IR_FLIP(cast_like, FirstAlone, nullptr);
X2IR_FLIP(clip, FirstAlone, nullptr);

// What is drawn at random depends on the order of elements.
std::optional<Flip> Dropout(const Node& node, Slot slot, const Perm& p) {
  if (const Value* training = node.input(2)) {
    const auto known = KnownTensor(*training);
    if (!known || known->num_elements() != 1 || known->AsInt(0) != 0) return std::nullopt;
  }
  return SameOrder(node, slot, p, 1);
}
X2IR_FLIP(dropout, Dropout, nullptr);

// --- Quantization ---------------------------------------------------------------------------

// Scales are one for all, one for each index of the axis, or one for each block along it.
std::optional<Flip> Quantized(const Node& node, Slot slot, const Perm& p) {
  if (RankOf(node.input(1)) < 0) return std::nullopt;
  const bool blocks = node.attrs().Int("block_size", 0) != 0;
  return SameOrder(node, slot, p, blocks ? 3 : 1);
}
void MoveOptionalAxis(Node& node, const Flip& flip, Builder&) {
  if (!node.attrs().Has("axis")) return;
  node.SetAttr("axis", NewAxes({node.attrs().Int("axis")}, flip.out[0])[0]);
}
X2IR_FLIP(quantize_linear, Quantized, MoveOptionalAxis);
X2IR_FLIP(dequantize_linear, Quantized, MoveOptionalAxis);

// The scale and the zero point are of the whole tensor.
std::optional<Flip> DynamicQuantize(const Node& node, Slot slot, const Perm& p) {
  if (slot.index != 0) return std::nullopt;
  Flip flip(node);
  flip.in[0] = p;
  if (node.output(0)) flip.out[0] = p;
  return flip;
}
X2IR_FLIP(dynamic_quantize_linear, DynamicQuantize, nullptr);

// --- Ops that are elementwise over some axes -------------------------------------------------

// Operand 0 and the results may change the order of all but axes [from, to).
std::optional<Flip> AllBut(const Node& node, Slot slot, const Perm& p, int64_t from, int64_t to) {
  if (!Fixes(p, from, to)) return std::nullopt;
  if (node.attrs().String("layout", "channels_first") != "channels_first") return std::nullopt;
  return SameOrder(node, slot, p, 1);
}

// Batches and places: what a channel is, each axis of a place is to the kernel.
std::optional<Flip> ByChannel(const Node& node, Slot slot, const Perm& p) {
  if (node.output(1) || node.output(2)) return std::nullopt;  // training
  return AllBut(node, slot, p, 1, 2);
}
X2IR_FLIP(batch_normalization, ByChannel, nullptr);
X2IR_FLIP(lrn, ByChannel, nullptr);

std::optional<Flip> OverPlaces(const Node& node, Slot slot, const Perm& p) {
  return AllBut(node, slot, p, 0, 2);
}
X2IR_FLIP(instance_normalization, OverPlaces, nullptr);
X2IR_FLIP(group_normalization, OverPlaces, nullptr);

// A global pool leaves nothing of the places.
std::optional<Flip> GlobalPool(const Node& node, Slot slot, const Perm& p) {
  if (slot.output || !Fixes(p, 0, 2) || RankOf(node.output(0)) != RankOf(node.input(0)) ||
      node.attrs().String("layout", "channels_first") != "channels_first") {
    return std::nullopt;
  }
  Flip flip(node);
  flip.in[0] = p;
  return flip;
}
X2IR_FLIP(global_average_pool, GlobalPool, nullptr);
X2IR_FLIP(global_max_pool, GlobalPool, nullptr);
X2IR_FLIP(global_lp_pool, GlobalPool, nullptr);

// Normalized over the axes from `axis` on, which the scale has too.
std::optional<Flip> OverLastAxes(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = static_cast<int64_t>(p.size());
  const int64_t axis = node.attrs().Int("axis");
  return AllBut(node, slot, p, axis < 0 ? axis + rank : axis, rank);
}
X2IR_FLIP(layer_normalization, OverLastAxes, nullptr);
X2IR_FLIP(rms_normalization, OverLastAxes, nullptr);

// The matrices are the last two axes.
std::optional<Flip> Matrices(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = static_cast<int64_t>(p.size());
  return AllBut(node, slot, p, rank - 2, rank);
}
X2IR_FLIP(trilu, Matrices, nullptr);

// Axes before the matrices are batches. With a single matrix on the right, the rows on the left
// are batches too.
std::optional<Flip> MatMul(const Node& node, Slot slot, const Perm& p) {
  const int64_t a = RankOf(node.input(0)), b = RankOf(node.input(1));
  const int64_t rank = RankOf(node.output(0));
  if (a < 2 || b < 2 || rank != std::max(a, b)) return std::nullopt;
  const int64_t given = static_cast<int64_t>(p.size());
  if (!Fixes(p, given - (b == 2 ? 1 : 2), given)) return std::nullopt;
  if (b > 2) return Broadcast(node, slot, p, 2);
  if (!slot.output && slot.index == 1) return std::nullopt;
  Flip flip(node);
  flip.in[0] = p;
  flip.out[0] = p;
  return flip;
}
X2IR_FLIP(matmul, MatMul, nullptr);

}  // namespace
}  // namespace x2ir
