#include "x2ir/optimizer/transpose/folds.h"

#include <initializer_list>
#include <string>

#include "x2ir/ops/infer.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

bool IsAnyOf(const Node& node, std::initializer_list<std::string_view> ops) {
  for (std::string_view op : ops) {
    if (node.Is(op)) return true;
  }
  return false;
}

bool IsUsedOnce(const Value& value) { return value.uses().size() == 1 && !value.is_graph_output(); }

// Whether a constant, broadcast to `rank` axes, has one number for each index of that axis, or one
// for all.
bool IsAlong(const Shape& shape, int64_t rank, int64_t axis) {
  if (shape.rank() > rank) return false;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != Dim(1) && i + rank - shape.rank() != axis) return false;
  }
  return true;
}

int Difference(const Perm& now, const Perm& then) {
  return static_cast<int>(now.empty()) - static_cast<int>(then.empty());
}

// A constant for each channel, after a convolution by constants.
int AfterConv(const Node& node, const Flip& flip, const TransposeSet& transposes) {
  for (size_t i : {0, 1}) {
    const Value* value = node.input(i);
    const Value* numbers = node.input(1 - i);
    if (!value || !numbers || !numbers->fixed_constant() || !value->producer()) continue;
    if (flip.in[i].size() != static_cast<size_t>(RankOf(value)) || !IsUsedOnce(*value)) continue;
    Perm now;
    if (transposes.Contains(value->producer())) {
      now = Normalized(*PermOf(*value->producer()));
      value = value->producer()->input(0);
      if (!value->producer() || !IsUsedOnce(*value)) continue;
    }
    const Node& conv = *value->producer();
    if (!IsAnyOf(conv, {"conv", "conv_transpose"}) || conv.graph() != node.graph() ||
        !conv.input(1) || !conv.input(1)->fixed_constant()) {
      continue;
    }
    const auto last = ChannelsLast(conv.attrs());
    const int64_t rank = RankOf(value);
    if (!last.ok() || rank < 3) continue;
    const int64_t channels = NewAxis(now, ChannelAxis(*last, rank));
    if (!numbers->shape() || !IsAlong(*numbers->shape(), rank, channels)) continue;
    return Difference(now, Compose(now, flip.in[i]));
  }
  return 0;
}

// A pad before a window that slides over it and leaves the padding to it.
int BeforeWindow(const Node& node, const Flip& flip, const TransposeSet& transposes) {
  const Value* value = node.output(0);
  if (node.attrs().String("mode") != "constant" || !KnownInts(node.input(1)) || !value ||
      !IsUsedOnce(*value)) {
    return 0;
  }
  Perm now;
  if (transposes.Contains(value->uses()[0].node)) {
    now = Normalized(*PermOf(*value->uses()[0].node));
    value = value->uses()[0].node->output(0);
    if (!IsUsedOnce(*value)) return 0;
  }
  const Use& use = value->uses()[0];
  const std::string pads = use.node->attrs().String("auto_pad", "NOTSET");
  if (use.index != 0 || use.node->graph() != node.graph() ||
      !IsAnyOf(*use.node, {"conv", "max_pool", "average_pool"}) ||
      (pads != "NOTSET" && pads != "VALID")) {
    return 0;
  }
  // The remaining transpose converts the order of the pad to that of the window.
  const Perm& given = flip.out[0];
  return Difference(now, Compose(given.empty() ? given : Inverse(given), now));
}

}  // namespace

int NodesLeftBy(const Node& node, const Flip& flip, const TransposeSet& transposes) {
  if (node.Is("pad")) return BeforeWindow(node, flip, transposes);
  if (IsAnyOf(node, {"add", "sub", "mul", "div"})) return AfterConv(node, flip, transposes);
  return 0;
}

}  // namespace x2ir
