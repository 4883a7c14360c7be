// linear_attention, position after position: for sequences of known and moderate length.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxSteps = 64;  // each is a dozen nodes

enum LinearOperand { kQuery, kKey, kValue, kState, kDecay, kBeta };

// The size of an axis, 0 where it is not known.
int64_t SizeAt(const Rewrite& r, size_t operand, int64_t axis) {
  const Shape* shape = Given(r, operand) ? r.in(operand)->shape() : nullptr;
  return shape && axis < shape->rank() && (*shape)[axis].is_static() ? (*shape)[axis].value() : 0;
}

absl::StatusOr<Values> LinearAttentionUnrolled(Rewrite& r) {
  Builder& b = r.b;
  const std::string& rule = r.attrs().String("update_rule");
  const bool gated = rule[0] == 'g', delta = rule == "delta" || rule == "gated_delta";
  const int64_t heads = r.attrs().Int("kv_num_heads"), q_heads = r.attrs().Int("q_num_heads");
  const int64_t length = SizeAt(r, kQuery, 1);
  const int64_t dk = SizeAt(r, kQuery, 2) / q_heads, dv = SizeAt(r, kValue, 2) / heads;
  if (length < 1 || length > kMaxSteps || dk < 1 || dv < 1) {
    return CannotExpress("step by step, it needs known sizes and a length from 1 to ", kMaxSteps);
  }
  constexpr DType t = DType::kFloat32;  // as evaluation computes all floats that it takes
  for (const Value* operand : r.node.inputs()) {
    if (!operand) continue;
    X2IR_ASSIGN_OR_RETURN(const DType compute, FloatComputeType(operand->dtype()));
    if (compute != t) return CannotExpress("linear_attention of ", Name(operand->dtype()));
  }
  // [batch, length, heads, ...]; 0: as it is.
  const auto split = [&](size_t i, std::vector<int64_t> last) {
    std::vector<int64_t> sizes = {0, length};
    sizes.insert(sizes.end(), last.begin(), last.end());
    return b.Op("reshape", {Expr(b, r.in(i)).To(t), b.Ints(sizes, "shape")});
  };
  Value* query = split(kQuery, {heads, q_heads / heads, dk});
  Value* key = split(kKey, {heads, dk, 1});
  Value* value = split(kValue, {heads, 1, dv});
  Value *decay = nullptr, *beta = nullptr;
  if (gated) {
    const int64_t decays = SizeAt(r, kDecay, 2);
    if (decays != heads && decays != heads * dk) return CannotExpress("decay of unknown size");
    decay = b.Op("exp", {split(kDecay, {heads, decays == heads ? 1 : dk, 1})});
  }
  if (delta) {
    const int64_t betas = SizeAt(r, kBeta, 2);
    if (betas != heads && betas != 1) return CannotExpress("beta of unknown size");
    beta = split(kBeta, {betas, 1, 1});
  }
  Value* state;
  if (Given(r, kState)) {
    state = Expr(b, r.in(kState)).To(t);
  } else {
    Value* batch = b.Op("slice", {b.Op("shape", {r.in(kQuery)}), b.Ints({0}, "start"),
                                  b.Ints({1}, "end"), b.Ints({0}, "axes")});
    Value* sizes = b.Op("concat", {batch, b.Ints({heads, dk, dv}, "sizes")}, {{"axis", 0}});
    state = b.Op("expand", {b.Scalar(t, 0, "zero"), sizes});
  }
  double scale = r.attrs().Float("scale");
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(dk));
  Value* factor = b.Scalar(t, scale, "scale");
  std::vector<Value*> outputs;
  for (int64_t at = 0; at < length; ++at) {
    Value* place = b.Int(at, "place");
    const auto step = [&](Value* v) { return b.Op("gather", {v, place}, {{"axis", 1}}); };
    Value *k = step(key), *write = step(value);
    if (gated) state = b.Op("mul", {state, step(decay)});
    if (delta) {
      Value* row = b.Op("transpose", {k}, {{"perm", {0, 1, 3, 2}}});
      write = b.Op("mul", {step(beta), b.Op("sub", {write, b.Op("matmul", {row, state})})});
    }
    state = b.Op("add", {state, b.Op("mul", {k, write})});
    Value* y = b.Op("mul", {factor, b.Op("matmul", {step(query), state})});
    outputs.push_back(b.Op("unsqueeze", {y, b.Ints({1}, "axes")}));
  }
  Value* y = outputs.size() == 1 ? outputs[0] : b.Op("concat", outputs, {{"axis", 1}});
  y = b.Op("reshape", {y, b.Ints({0, length, q_heads * dv}, "shape")});
  const DType state_type = r.dtype(Given(r, kState) ? kState : kQuery);
  return Values{Expr(b, y).To(r.dtype(kQuery)), Expr(b, state).To(state_type)};
}
X2IR_LOWERING(linear_attention, LinearAttentionUnrolled);

}  // namespace
}  // namespace x2ir
