// TensorFlow: axes backwards and rolled.
#include <limits>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* Reversed(TfArgs& a, const std::vector<int64_t>& axes) {
  if (axes.empty()) return a.Op("identity", {a.in(0)});
  const std::vector<int64_t> last(axes.size(), -1);
  const std::vector<int64_t> beyond(axes.size(), std::numeric_limits<int64_t>::min());
  return a.Op("slice",
              {a.in(0), a.b().Ints(last), a.b().Ints(beyond), a.b().Ints(axes), a.b().Ints(last)});
}

absl::StatusOr<Value*> ReverseV2(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, KnownAxes(a, 1, rank));
  return Reversed(a, axes);
}

// A bool an axis.
absl::StatusOr<Value*> Reverse(TfArgs& a) {
  const Tensor* which = a.in(1)->fixed_constant();
  if (!which) return Unimplemented("operand 1 (dims) is computed; expected a constant");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < which->num_elements(); ++i) {
    if (which->AsInt(i) != 0) axes.push_back(i);
  }
  return Reversed(a, axes);
}

absl::StatusOr<Value*> ReverseSequence(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t time, NormalizeAxis(a.Int("seq_dim", 0), rank));
  X2IR_ASSIGN_OR_RETURN(const int64_t batch, NormalizeAxis(a.Int("batch_dim", 0), rank));
  if (time == batch) return Invalid("seq_dim and batch_dim are both ", time);
  Value* lengths = a.AsInt64(a.in(1));
  if (time < 2 && batch < 2) {
    return a.Op("reverse_sequence", {a.in(0), lengths},
                {{"time_axis", time}, {"batch_axis", batch}});
  }
  std::vector<int64_t> perm = {batch, time};
  for (int64_t i = 0; i < rank; ++i) {
    if (i != batch && i != time) perm.push_back(i);
  }
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
  Value* y = a.Op("reverse_sequence", {Transpose(a.in(0), perm), lengths},
                  {{"time_axis", 1}, {"batch_axis", 0}});
  return Transpose({a, y}, back);
}

// What leaves an axis at its end comes in at its begin. Shifts of an axis add up.
absl::StatusOr<Value*> Roll(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.KnownInts(2, "axis"));
  const auto shifts = a.Ints(1);
  if (shifts && shifts->size() != axes.size()) {
    return Invalid(shifts->size(), " shifts of ", axes.size(), " axes");
  }
  Value* computed = shifts ? nullptr : a.AsInt64(a.in(1));
  if (computed && a.rank(1) != 1) computed = ReshapeTo({a, computed}, Ints(a, {-1}));
  Value* x = a.in(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(axes[i], rank));
    const std::vector<Size> sizes = AllSizes({a, x});
    const Size size = sizes[axis];
    const Size shift = shifts
                           ? Size((*shifts)[i])
                           : Size(a.Op("gather", {computed, a.b().Ints({static_cast<int64_t>(i)})},
                                       {{"axis", 0}}));
    if (size.number == 0) continue;
    // An axis of no elements has no remainder.
    const Size divisor = size.number ? size : Larger(a, size, 1);
    const Size moved = size.number == 1 ? Size(int64_t{0}) : Modulo(a, shift, divisor);
    if (moved.number == 0) continue;
    const Size start = Minus(a, size, moved);
    const Size end = std::numeric_limits<int64_t>::max();
    x = a.Op("concat", {Slice({a, x}, axis, start, end), Slice({a, x}, axis, 0, start)},
             {{"axis", axis}});
  }
  return x == a.in(0) ? a.Op("identity", {x}) : x;
}

}  // namespace

X2IR_TF(slice).From({{"ReverseV2", ReverseV2}, {"Reverse", Reverse}});
X2IR_TF(reverse_sequence).From("ReverseSequence", ReverseSequence);
X2IR_TF(concat).From("Roll", Roll);

}  // namespace x2ir
