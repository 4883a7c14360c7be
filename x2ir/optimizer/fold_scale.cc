// fold_scale: constants that multiply the input of a linear op are folded into the weights of that
// op: conv, conv_transpose, gemm, matmul.
//  1. mul or div by a scalar, or by one number for each channel that the op sums over.
// The product has no other user; the weights are constants, and have no other user unless they are
// small. (fold_affine does the same after linear ops; shifts cannot be folded here because of
// padding.) Run it after fusions: the half of a spelled out gelu may go into the next weights.
#include <utility>

#include "x2ir/ops/window.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fold_scale, "Constant scales before linear ops go into their weights.");

// The channels that a linear op sums over: their axes in its input and in its weights.
struct Summed {
  int64_t channels = 0, axis = 0, rank = 0;
  ChannelLayout layout;
};

std::optional<Summed> ReadSummed(const Node& node, const Tensor& w) {
  const AttributeMap& attrs = node.attrs();
  Summed s;
  if (w.rank() < 2 || w.num_elements() == 0) return std::nullopt;
  const int64_t inner = w.num_elements() / w.dim(0);
  if (node.Is("conv") || node.Is("conv_transpose")) {
    const auto last = ChannelsLast(attrs);
    const int64_t group = attrs.Int("group");
    if (!last.ok() || group < 1 || w.dim(0) % group != 0) return std::nullopt;
    s.rank = w.rank();
    s.axis = ChannelAxis(*last, s.rank);
    if (node.Is("conv_transpose")) {
      s.channels = w.dim(0);
      s.layout = {.per_group = s.channels, .inner = inner};
      return s;
    }
    const int64_t in_group = w.dim(1), kernel = inner / in_group, out_group = w.dim(0) / group;
    s.channels = in_group * group;
    s.layout = {.groups = group, .repeat = out_group, .per_group = in_group, .inner = kernel};
    return s;
  }
  const bool gemm = node.Is("gemm");
  const Shape* x = node.input(0)->shape();
  if (!x || x->rank() < 2 || w.rank() != 2) return std::nullopt;
  const bool transposed = gemm && attrs.Int("transB") != 0;
  s.rank = x->rank();
  s.axis = gemm && attrs.Int("transA") != 0 ? 0 : s.rank - 1;
  s.channels = w.dim(transposed ? 1 : 0);
  s.layout = transposed ? ChannelLayout{.repeat = w.dim(0), .per_group = s.channels}
                        : ChannelLayout{.per_group = s.channels, .inner = inner};
  return s;
}

absl::StatusOr<bool> FoldScale(Rewriter& r) {
  const Tensor* w = DenseConstant(r.in(1));
  const Pattern pattern(r);
  const Node* scale = pattern.OnlyBy(r.in(0), "mul");
  if (!scale) scale = pattern.OnlyBy(r.in(0), "div");
  if (!w || !scale || IsShared(r.in(1)) || StaysInFile(*w, r.context())) return false;
  size_t at = DenseConstant(scale->input(1)) ? 1 : 0;
  const Tensor* factors = DenseConstant(scale->input(at));
  if (!factors || !IsFloating(factors->dtype()) || (at == 0 && scale->Is("div"))) return false;
  Value* x = scale->input(1 - at);
  if (!SameShape(x, r.in(0))) return false;
  const auto summed = ReadSummed(r.node(), *w);
  if (!summed || !IsPerChannel(*factors, summed->rank, summed->axis, summed->channels)) {
    return false;
  }
  std::vector<double> numbers = SpreadOver(*factors, summed->channels);
  if (scale->Is("div")) {
    for (double& n : numbers) n = 1 / n;
  }
  auto weights = ScaleWeights(*w, numbers, summed->layout);
  if (!weights) return false;
  std::vector<Value*> operands = r.node().inputs();
  operands[0] = x;
  operands[1] = r.b().Constant(*std::move(weights), "weight");
  Value* y = r.b().Op(r.node().op(), operands, r.attrs());
  return r.b().status().ok() && r.Replace(y);
}
const std::vector<std::string_view> kScales = {"mul", "div"};
X2IR_RULE(fold_scale, conv, FoldScale, kScales);
X2IR_RULE(fold_scale, conv_transpose, FoldScale, kScales);
X2IR_RULE(fold_scale, gemm, FoldScale, kScales);
X2IR_RULE(fold_scale, matmul, FoldScale, kScales);

}  // namespace
}  // namespace x2ir
