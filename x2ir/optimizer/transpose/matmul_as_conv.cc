// See matmul_as_conv.h.
#include "x2ir/optimizer/transpose/matmul_as_conv.h"

#include <utility>

#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/linear.h"

namespace x2ir {
namespace {

// Copies of weights that others use as they are, in elements.
constexpr int64_t kMaxCopied = 4096;

// Weights that each place is multiplied by alone, as a conv of kernel 1 does it.
bool HasConvWeights(const Node& node) {
  const Tensor* w = DenseConstant(node.input(1));
  if (!w || w->rank() != 2 || w->dim(0) == 0 || w->dim(1) == 0) return false;
  // Runtimes have conv of these.
  if (w->dtype() != DType::kFloat32 && w->dtype() != DType::kFloat16) return false;
  return static_cast<int64_t>(w->nbytes()) <= kMaxRewrittenBytes &&
         (node.input(1)->uses().size() == 1 || w->num_elements() <= kMaxCopied);
}

// The place of the columns in a conv.
bool MovesColumnsToChannels(const Perm& p) {
  const auto rank = static_cast<int64_t>(p.size());
  return rank >= 3 && rank <= 5 && p[1] == rank - 1;
}

// An add of constants after it, which becomes the bias of the conv.
bool HasBias(const Node& node) {
  const Value* y = node.output(0);
  if (!Rewriter::UsedOnce(y) || !y->uses()[0].node->Is("add")) return false;
  const Node& sum = *y->uses()[0].node;
  const Tensor* bias = DenseConstant(sum.input(1 - y->uses()[0].index));
  const int64_t rank = RankOf(y);
  return bias && IsPerChannel(*bias, rank, rank - 1, node.input(1)->constant()->dim(1));
}

}  // namespace

std::optional<Flip> MatMulAsConv(const Node& matmul, Slot slot, const Perm& p) {
  const int64_t rank = RankOf(matmul.output(0));
  if (RankOf(matmul.input(0)) != rank || RankOf(matmul.input(1)) != 2 ||
      rank != static_cast<int64_t>(p.size()) || (!slot.output && slot.index == 1) ||
      !MovesColumnsToChannels(p) || !HasConvWeights(matmul)) {
    return std::nullopt;
  }
  Flip flip(matmul);
  flip.in[0] = p;
  flip.out[0] = p;
  // With one axis of places it is worth only the transposes that it saves: sequences are better off
  // with products of matrices.
  if (rank > 3 && HasBias(matmul)) flip.cost = -1;
  return flip;
}

void BecomeConv(Node& node, const Flip& flip, Builder& b) {
  const Tensor& w = *node.input(1)->constant();
  std::vector<int64_t> dims(flip.out[0].size(), 1);
  dims[0] = w.dim(1);
  dims[1] = w.dim(0);
  const std::vector<int64_t> swap = {1, 0};
  Tensor weights = TransposeTensor(w.AlignedCopyIfNeeded(), swap).Reshaped(std::move(dims));
  node.set_op(kIrDialect, "conv");
  node.SetAttr("layout", "channels_first");
  node.SetAttr("auto_pad", "NOTSET");
  node.SetAttr("group", 1);
  SetOperand(node, 1, b.Constant(std::move(weights), "weight"));
}

bool BecomesConv(const Node& node, const Flip& flip) {
  return node.Is("matmul") && !flip.out[0].empty() && MovesColumnsToChannels(flip.out[0]) &&
         RankOf(node.input(1)) == 2;
}

}  // namespace x2ir
