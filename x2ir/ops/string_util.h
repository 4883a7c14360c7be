// Shared code of ops on text.
#ifndef X2IR_OPS_STRING_UTIL_H_
#define X2IR_OPS_STRING_UTIL_H_

#include <cstdint>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/shape_util.h"

namespace X2IR_API x2ir {

// InvalidArgument unless operand i is text, or its type is not known yet.
inline absl::Status ExpectStrings(const InferContext& ctx, size_t i) {
  if (ctx.dtype(i) == DType::kUndefined || ctx.dtype(i) == DType::kString) return absl::OkStatus();
  return Invalid("expected strings, got ", Name(ctx.dtype(i)));
}
inline absl::Status ExpectStrings(const EvalContext& ctx, size_t i) {
  if (ctx.dtype(i) == DType::kString) return absl::OkStatus();
  return Invalid("expected strings, got ", Name(ctx.dtype(i)));
}

// A string is a separate object, so fewer strings than numbers are allowed.
inline absl::Status CheckCount(absl::Span<const int64_t> dims) {
  const auto count = CheckedProduct(dims);
  if (count && *count <= int64_t{1} << 28) return absl::OkStatus();
  return Invalid("too many strings: ", DimsText(dims));
}

// The maximum length of all strings of a result: a few ops that double them could fill any memory.
class TextBudget {
 public:
  absl::Status Take(uint64_t bytes) {
    if (bytes > left_) return Invalid("the strings become too long");
    left_ -= bytes;
    return absl::OkStatus();
  }

 private:
  uint64_t left_ = uint64_t{1} << 28;
};

// Bytes 10xxxxxx continue a character of UTF-8.
inline bool ContinuesCharacter(char c) { return (c & 0xC0) == 0x80; }

}  // namespace x2ir

#endif  // X2IR_OPS_STRING_UTIL_H_
