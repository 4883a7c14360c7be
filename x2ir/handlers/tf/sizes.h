// Sizes of axes: numbers where they are known at conversion, nodes of the model where they are not.
#ifndef X2IR_HANDLERS_TF_SIZES_H_
#define X2IR_HANDLERS_TF_SIZES_H_

#include <optional>
#include <vector>

#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

struct TfSize {
  std::optional<int64_t> number;
  Value* value = nullptr;  // int64, rank 1, one element; where the number is not known

  TfSize(int64_t n) : number(n) {}  // NOLINT: implicit by design
  explicit TfSize(Value* v) : value(v) {}
};

// All sizes of a value whose rank is known; else fails and gives none.
std::vector<TfSize> SizesOf(TfArgs& a, Value* x);
// add, sub, mul, div (towards zero; the divisor is not 0), mod, max, min.
TfSize SizeOp(TfArgs& a, std::string_view op, const TfSize& x, const TfSize& y);
// As one operand of rank 1.
Value* SizesAsValue(TfArgs& a, const std::vector<TfSize>& sizes);
Value* ReshapeTo(TfArgs& a, Value* x, const std::vector<TfSize>& sizes);
// Elements [start, end) of an axis.
Value* SliceAxis(TfArgs& a, Value* x, int64_t axis, const TfSize& start, const TfSize& end);
// Elements of an integer operand of rank 1 that are known or symbolic; nullopt where it is
// computed otherwise.
std::optional<std::vector<Dim>> PartlyKnownInts(const Value* value);
// Axes in [0, rank), each once.
absl::StatusOr<std::vector<int64_t>> KnownAxes(TfArgs& a, size_t i, int64_t rank);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_SIZES_H_
