// See linear.h.
#include "x2ir/optimizer/linear.h"

#include <string_view>
#include <utility>

#include "x2ir/ops/window.h"

namespace x2ir {

std::optional<int64_t> ChannelsAt(const AttributeMap& attrs, int64_t rank) {
  const auto last = ChannelsLast(attrs);
  return last.ok() && rank >= 2 ? std::optional(ChannelAxis(*last, rank)) : std::nullopt;
}

namespace {

// Not all linear ops: those whose weights the code below can read.
constexpr std::pair<std::string_view, LinearKind> kOps[] = {
    {"conv", LinearKind::kConv},
    {"conv_transpose", LinearKind::kConvTranspose},
    {"gemm", LinearKind::kGemm},
    {"matmul", LinearKind::kMatMul},
    {"batch_normalization", LinearKind::kNorm},
    {"instance_normalization", LinearKind::kNorm}};

bool ReadShape(Linear& l) {
  const AttributeMap& attrs = l.node->attrs();
  const Shape* out = l.node->output(0)->shape();
  const Tensor& w = *l.weight;
  std::optional<int64_t> axis;
  switch (l.kind) {
    case LinearKind::kConv:
    case LinearKind::kConvTranspose: {
      const int64_t group = attrs.Int("group");
      if (w.rank() < 2 || group < 1 || w.dim(0) % group != 0) return false;
      l.rank = w.rank();
      l.channels = l.kind == LinearKind::kConv ? w.dim(0) : w.dim(1) * group;
      axis = ChannelsAt(attrs, l.rank);
      break;
    }
    case LinearKind::kGemm:
      if (w.rank() != 2) return false;
      l.rank = 2;
      l.channels = w.dim(attrs.Int("transB") != 0 ? 0 : 1);
      axis = 1;
      break;
    case LinearKind::kMatMul:
      if (w.rank() < 2 || !out || out->rank() < 1) return false;
      l.rank = out->rank();
      l.channels = w.dim(w.rank() - 1);
      axis = l.rank - 1;
      break;
    case LinearKind::kNorm:
      if (w.rank() != 1 || !out) return false;
      l.rank = out->rank();
      l.channels = w.dim(0);
      axis = ChannelsAt(attrs, l.rank);
      break;
  }
  if (axis) l.axis = *axis;
  return axis && l.channels > 0 && w.num_elements() > 0;
}

// The op itself; the bias of a matmul is in an add after it.
std::optional<Linear> ReadOp(Node* node, LinearKind kind) {
  Linear l{node, kind, DenseConstant(node->input(1))};
  l.bias = DenseConstant(node->input(2));
  if (!l.weight || !IsFloating(l.weight->dtype()) || (node->input(2) && !l.bias) ||
      (node->Is("batch_normalization") && node->attrs().Int("training_mode") != 0) ||
      !ReadShape(l)) {
    return std::nullopt;
  }
  const bool bias_fits =
      !l.bias ||
      (kind == LinearKind::kGemm ? IsPerChannel(*l.bias, l) : l.bias->num_elements() == l.channels);
  return bias_fits ? std::optional(l) : std::nullopt;
}

std::optional<Linear> ReadSum(const Pattern& pattern, Node* sum) {
  for (size_t i : {0, 1}) {
    const Tensor* bias = DenseConstant(sum->input(i));
    Node* matmul = bias ? pattern.OnlyBy(sum->input(1 - i), "matmul") : nullptr;
    auto l = matmul ? ReadOp(matmul, LinearKind::kMatMul) : std::nullopt;
    if (!l || !IsPerChannel(*bias, *l)) continue;
    l->bias = bias;
    l->sum = sum;
    l->bias_at = i;
    return l;
  }
  return std::nullopt;
}

}  // namespace

bool IsPerChannel(const Tensor& t, const Linear& l) {
  return IsFloating(t.dtype()) && IsPerChannel(t, l.rank, l.axis, l.channels);
}

std::vector<std::string_view> LinearOps() {
  std::vector<std::string_view> ops = {"add"};
  for (const auto& entry : kOps) ops.push_back(entry.first);
  return ops;
}

std::optional<Linear> ReadLinear(const Pattern& pattern, const Value* result) {
  for (const auto& [op, kind] : kOps) {
    if (Node* node = pattern.OnlyBy(result, op)) return ReadOp(node, kind);
  }
  Node* sum = pattern.OnlyBy(result, "add");
  return sum ? ReadSum(pattern, sum) : std::nullopt;
}

// Where the channels of the result lie in the weights.
ChannelLayout ChannelsOf(const Linear& l) {
  const Tensor& w = *l.weight;
  const AttributeMap& attrs = l.node->attrs();
  const bool last = l.kind == LinearKind::kMatMul || l.kind == LinearKind::kNorm ||
                    (l.kind == LinearKind::kGemm && attrs.Int("transB") == 0);
  if (last) return {.repeat = w.num_elements() / l.channels, .per_group = l.channels};
  const int64_t inner = w.num_elements() / w.dim(0);
  if (l.kind != LinearKind::kConvTranspose) return {.per_group = w.dim(0), .inner = inner};
  const int64_t group = attrs.Int("group");
  return {.groups = group,
          .repeat = w.dim(0) / group,
          .per_group = w.dim(1),
          .inner = inner / w.dim(1)};
}

std::optional<Tensor> ShiftedBias(const Linear& l, const std::vector<double>& scale,
                                  const std::vector<double>& shift) {
  std::vector<double> bias(l.channels, 0.0);
  if (l.bias) bias = SpreadOver(*l.bias, l.channels);
  const double beta = l.kind == LinearKind::kGemm ? l.node->attrs().Float("beta") : 1;
  const DType type = (l.bias ? l.bias : l.weight)->dtype();
  for (int64_t c = 0; c < l.channels; ++c) {
    const double scaled = beta * bias[c] * scale[c];
    if (RoundsWhatItIsAddedTo(type, scaled, shift[c])) return std::nullopt;
    bias[c] = scaled + shift[c];
  }
  return FiniteNumbers(type, bias);
}

}  // namespace x2ir
