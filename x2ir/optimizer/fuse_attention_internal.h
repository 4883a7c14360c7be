// What the rules of fuse_attention share.
#ifndef X2IR_OPTIMIZER_FUSE_ATTENTION_INTERNAL_H_
#define X2IR_OPTIMIZER_FUSE_ATTENTION_INTERNAL_H_

#include <cstdint>

#include "x2ir/optimizer/rules.h"

namespace x2ir {

bool TargetHas(const Rewriter& r, Symbol op);
// Whether its attention takes [batch, length, heads * size]. PyTorch's has an axis for the heads,
// always.
bool TakesRows(const Rewriter& r);
Values OperandsOf(const Node& node);
// The size of that axis of a value of rank 4, where it is known; else -1.
int64_t SizeOf4(const Value* value, int64_t axis);
// Of [batch, heads, length, size].
bool HasKnownHeads(const Value* x);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_FUSE_ATTENTION_INTERNAL_H_
