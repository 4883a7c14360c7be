// Attention as the ops of ONNX Runtime's own domain have it: in terms of IR's.
#ifndef X2IR_HANDLERS_ONNX_CONTRIB_ATTENTION_H_
#define X2IR_HANDLERS_ONNX_CONTRIB_ATTENTION_H_

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

struct AttentionCall {
  // [batch, length, heads * size]; keys and values also [batch, heads, length, size].
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Value* mask = nullptr;  // int32, of the kinds that ONNX Runtime knows
  Value* bias = nullptr;  // of the scores, broadcast to [batch, heads, queries, keys]
  Value *past_key = nullptr, *past_value = nullptr;  // [batch, heads, length, size]
  bool wants_key = false, wants_value = false, wants_scores = false;
};

// The result, [batch, length, heads * size], the keys and values there are then, and the scores
// before the softmax; null where not wanted. Attributes of the node: num_heads, scale,
// unidirectional, mask_filter_value. Unimplemented where shapes do not tell enough.
absl::StatusOr<Values> Attend(Rewrite& r, const AttentionCall& call);

// InvalidArgument where num_heads is not positive.
absl::Status CheckHeads(const Rewrite& r);

// Adds to each its part of a bias of all three. Keys and values that are by head have theirs.
void AddBias(const Expr& bias, bool by_head, Value*& q, Value*& k, Value*& v);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONTRIB_ATTENTION_H_
