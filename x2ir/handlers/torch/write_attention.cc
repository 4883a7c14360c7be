// Attention written as a call.
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

bool SameSizes(const Value* a, const Value* b, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    if ((*a->shape())[i].is_unknown() || (*a->shape())[i] != (*b->shape())[i]) return false;
  }
  return true;
}

// Operands [batch, heads, length, size] without a past; everything else is spelled out.
absl::StatusOr<Value*> WriteAttention(TorchWriter& w) {
  for (size_t i = 4; i < w.num_inputs(); ++i) {
    if (w.has(i)) return CannotExpress("past keys");
  }
  for (size_t i = 1; i < 4; ++i) {
    if (w.wants(i)) return CannotExpress("more than one result");
  }
  for (size_t i = 0; i < 3; ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(i));
    if (rank != 4) return CannotExpress("operands of rank ", rank);
  }
  if (w.Float("softcap") != 0 || w.Int("left_window_size") != -1 ||
      w.Int("right_window_size") != -1 || w.attrs().Has("softmax_precision")) {
    return CannotExpress("caps, windows, or another precision");
  }
  Value *q = w.in(0), *k = w.in(1), *mask = w.in(3);
  const bool same_heads = SameSizes(q, k, 1, 2);
  const bool causal = w.Int("is_causal") != 0;
  if (mask) {
    if (causal) return CannotExpress("a mask beside causality");
    const Shape* shape = mask->shape();
    const int64_t last = shape ? shape->rank() - 1 : 0;
    // A mask that is shorter would be filled up.
    if (!shape || last < 1 || (*shape)[last].is_unknown() || (*shape)[last] != (*k->shape())[2]) {
      return CannotExpress("a mask that is not as long as the keys");
    }
  }
  TorchArguments arguments = {{"query", q}, {"key", k}, {"value", w.in(2)}};
  if (mask) arguments.emplace_back("attn_mask", mask);
  if (causal) arguments.emplace_back("is_causal", true);
  if (w.attrs().Has("scale")) arguments.emplace_back("scale", w.Float("scale"));
  if (!same_heads) arguments.emplace_back("enable_gqa", true);
  return w.Call("aten::scaled_dot_product_attention.default", std::move(arguments));
}
X2IR_TORCH(attention).To("aten::scaled_dot_product_attention.default", WriteAttention);

}  // namespace
}  // namespace x2ir
