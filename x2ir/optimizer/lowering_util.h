// What lowerings share: small pieces of graph that many of them need.
#ifndef X2IR_OPTIMIZER_LOWERING_UTIL_H_
#define X2IR_OPTIMIZER_LOWERING_UTIL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// A constant that a lowering makes holds at most this many elements.
inline constexpr int64_t kMaxLoweringElements = int64_t{1} << 24;

inline bool Given(const Rewrite& r, size_t i) { return i < r.node.num_inputs() && r.has(i); }

// v itself if it is of that type already.
Value* CastTo(Builder& b, Value* v, DType t);
// The size of an axis as a scalar: a number where it is known.
Value* SizeOfAxis(Builder& b, Value* x, int64_t axis, DType t);
// 0, 1, .. count - 1 as rank 1 of a type that counts that far.
Value* Counting(Builder& b, int64_t count, DType t);
// A tensor of float64 numbers, rounded to the type.
Value* NumbersAs(Builder& b, DType t, std::vector<int64_t> dims, const std::vector<double>& values,
                 std::string_view hint = "");
// Dims of an operand, where all are known.
std::optional<std::vector<int64_t>> StaticDims(const Rewrite& r, size_t i);
// Which outputs the node has.
std::vector<bool> WantedOutputs(const Node& node);
// The type that evaluation computes floats in: float64 for itself, float32 for all others.
// FailedPrecondition for what is no float.
absl::StatusOr<DType> FloatComputeType(DType t);

// Spells out arithmetic in one element type.
class Arithmetic {
 public:
  Arithmetic(Builder& b, DType t) : b_(b), t_(t) {}
  Value* Number(double v) { return b_.Scalar(t_, v); }
  Value* Add(Value* x, Value* y) { return b_.Op("add", {x, y}); }
  Value* Add(Value* x, double y) { return y == 0 ? x : Add(x, Number(y)); }
  Value* Sub(Value* x, Value* y) { return b_.Op("sub", {x, y}); }
  Value* Mul(Value* x, Value* y) { return b_.Op("mul", {x, y}); }
  Value* Mul(Value* x, double y) { return Mul(x, Number(y)); }
  Value* Div(Value* x, Value* y) { return b_.Op("div", {x, y}); }
  Value* Floor(Value* x) { return b_.Op("floor", {x}); }
  Value* Less(Value* x, Value* y) { return b_.Op("less", {x, y}); }
  Value* And(Value* x, Value* y) { return b_.Op("and", {x, y}); }
  Value* Or(Value* x, Value* y) { return b_.Op("or", {x, y}); }
  Value* Not(Value* x) { return b_.Op("not", {x}); }
  Value* Where(Value* c, Value* x, Value* y) { return b_.Op("where", {c, x, y}); }
  // As max and min, which runtimes have for float64 at more opsets than Clip.
  Value* Clip(Value* x, Value* low, Value* high) {
    return b_.Op("min", {b_.Op("max", {x, low}), high});
  }

 private:
  Builder& b_;
  DType t_;
};

// An op of constants is a constant.
absl::StatusOr<Values> AsConstant(Rewrite& r);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERING_UTIL_H_
