// linear_attention, whose state is a matrix a head, and the convolution before it:
// causal_conv_with_state.
#include <cmath>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

bool Given(const InferContext& ctx, size_t i) { return i < ctx.num_inputs() && ctx.has(i); }
bool Given(const EvalContext& ctx, size_t i) { return i < ctx.num_inputs() && ctx.has(i); }

// --- linear_attention -----------------------------------------------------------------------

enum LinearOperand { kQuery, kKey, kValue, kState, kDecay, kBeta };

struct Rule {
  bool gated, delta;
  int64_t q_heads, kv_heads;
};

template <typename Context>
absl::StatusOr<Rule> ReadRule(const Context& ctx) {
  const std::string& name = ctx.attrs().String("update_rule");
  X2IR_RETURN_IF_ERROR(
      CheckChoice(ctx.attrs(), "update_rule", {"linear", "gated", "delta", "gated_delta"}));
  const Rule rule = {name[0] == 'g', name == "delta" || name == "gated_delta",
                     ctx.attrs().Int("q_num_heads"), ctx.attrs().Int("kv_num_heads")};
  if (rule.q_heads < 1 || rule.kv_heads < 1 || rule.q_heads % rule.kv_heads != 0) {
    return Invalid(rule.q_heads, " heads cannot share ", rule.kv_heads);
  }
  if (rule.gated != Given(ctx, kDecay) || rule.delta != Given(ctx, kBeta)) {
    return Invalid("update_rule ", name, rule.gated ? " needs" : " has no", " decay and ",
                   rule.delta ? "needs" : "has no", " beta");
  }
  return rule;
}

absl::StatusOr<Dim> PerHead(const Dim& width, int64_t heads) {
  if (width.is_static() && width.value() % heads != 0) {
    return Invalid(width.ToString(), " numbers are not ", heads, " heads");
  }
  return FloorDiv(width, heads);
}

absl::Status InferLinearAttention(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Rule rule, ReadRule(ctx));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, kQuery, kState));
  const DType state_dtype = Given(ctx, kState) ? ctx.dtype(kState) : dtype;
  Dim batch, length, widths[3];
  for (size_t i = kQuery; i < ctx.num_inputs(); ++i) {
    const Shape* s = ctx.has(i) ? ctx.shape(i) : nullptr;
    if (!s) continue;
    const int64_t rank = i == kState ? 4 : 3;
    if (s->rank() != rank) return Invalid("expected rank ", rank, ", got ", s->rank());
    X2IR_ASSIGN_OR_RETURN(batch, SameDim(batch, (*s)[0]));
    if (i == kState) continue;
    X2IR_ASSIGN_OR_RETURN(length, SameDim(length, (*s)[1]));
    if (i <= kValue) widths[i] = (*s)[2];
  }
  X2IR_ASSIGN_OR_RETURN(Dim key_size, PerHead(widths[kQuery], rule.q_heads));
  X2IR_ASSIGN_OR_RETURN(const Dim key_size_too, PerHead(widths[kKey], rule.kv_heads));
  X2IR_ASSIGN_OR_RETURN(key_size, SameDim(key_size, key_size_too));
  X2IR_ASSIGN_OR_RETURN(Dim value_size, PerHead(widths[kValue], rule.kv_heads));
  if (const Shape* state = Given(ctx, kState) ? ctx.shape(kState) : nullptr) {
    X2IR_RETURN_IF_ERROR(SameDim((*state)[1], rule.kv_heads).status());
    X2IR_ASSIGN_OR_RETURN(key_size, SameDim(key_size, (*state)[2]));
    X2IR_ASSIGN_OR_RETURN(value_size, SameDim(value_size, (*state)[3]));
  }
  ctx.Set(0, dtype, Shape{batch, length, Dim(rule.q_heads) * value_size});
  ctx.Set(1, state_dtype, Shape{batch, rule.kv_heads, key_size, value_size});
  return absl::OkStatus();
}

absl::Status EvalLinearAttention(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Rule rule, ReadRule(ctx));
  for (size_t i = kQuery; i < ctx.num_inputs(); ++i) {
    if (!ctx.has(i)) continue;
    if (ComputeTypeOf(ctx.dtype(i)) != ComputeType::kFloat) {
      return Unimplemented("evaluation of ", Name(ctx.dtype(i)));
    }
    if (i != kState && ctx.dtype(i) != ctx.dtype(0)) return Invalid("operands of different types");
    if (ctx.input(i).rank() != (i == kState ? 4 : 3)) return Invalid("an operand of wrong rank");
  }
  const int64_t batch = ctx.dims(kQuery)[0], length = ctx.dims(kQuery)[1];
  const int64_t heads = rule.kv_heads, group = rule.q_heads / heads;
  const int64_t dk = ctx.dims(kQuery)[2] / rule.q_heads, dv = ctx.dims(kValue)[2] / heads;
  auto is = [&](size_t i, const std::vector<int64_t>& dims) -> absl::Status {
    if (ctx.dims(i) == dims) return absl::OkStatus();
    return Invalid("expected ", DimsText(dims), ", got ", DimsText(ctx.dims(i)));
  };
  X2IR_RETURN_IF_ERROR(is(kQuery, {batch, length, rule.q_heads * dk}));
  X2IR_RETURN_IF_ERROR(is(kKey, {batch, length, heads * dk}));
  X2IR_RETURN_IF_ERROR(is(kValue, {batch, length, heads * dv}));
  const std::vector<int64_t> state_dims = {batch, heads, dk, dv};
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, state_dims));
  const std::vector<int64_t> out_dims = {batch, length, rule.q_heads * dv};
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, out_dims));
  std::vector<float> state(Count(state_dims), 0);
  DType state_dtype = ctx.dtype(0);
  if (Given(ctx, kState)) {
    X2IR_RETURN_IF_ERROR(is(kState, state_dims));
    state_dtype = ctx.dtype(kState);
    const Numbers<float> past(ctx.input(kState));
    state.assign(past.span().begin(), past.span().end());
  }
  // One gate a head, or one a key number; one step size a head, or one for all.
  const Tensor nothing = Tensor::Zeros(DType::kFloat32, {0});
  const int64_t decays = rule.gated ? ctx.dims(kDecay)[2] : 0;
  const int64_t betas = rule.delta ? ctx.dims(kBeta)[2] : 0;
  if (rule.gated) {
    X2IR_RETURN_IF_ERROR(is(kDecay, {batch, length, decays == heads ? heads : heads * dk}));
  }
  if (rule.delta) X2IR_RETURN_IF_ERROR(is(kBeta, {batch, length, betas == 1 ? 1 : heads}));
  const Numbers<float> q(ctx.input(kQuery)), k(ctx.input(kKey)), v(ctx.input(kValue)),
      decay(rule.gated ? ctx.input(kDecay) : nothing),
      beta(rule.delta ? ctx.input(kBeta) : nothing);
  float scale = static_cast<float>(ctx.attrs().Float("scale"));
  if (scale == 0) scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dk)));
  NumbersOut<float> out(ctx.dtype(0), out_dims);
  std::vector<float> write(state.empty() ? 0 : dv);
  for (int64_t b = 0; !state.empty() && b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      float* s = state.data() + (b * heads + h) * dk * dv;
      for (int64_t t = 0; t < length; ++t) {
        const int64_t at = b * length + t;
        const float* kt = k.data() + (at * heads + h) * dk;
        const float* vt = v.data() + (at * heads + h) * dv;
        for (int64_t i = 0; rule.gated && i < dk; ++i) {
          const float g = portable::exp(decay[at * decays + (decays == heads ? h : h * dk + i)]);
          for (int64_t j = 0; j < dv; ++j) s[i * dv + j] *= g;
        }
        for (int64_t j = 0; j < dv; ++j) {
          write[j] = vt[j];
          if (!rule.delta) continue;
          float known = 0;
          for (int64_t i = 0; i < dk; ++i) known += s[i * dv + j] * kt[i];
          write[j] = beta[at * betas + (betas == 1 ? 0 : h)] * (vt[j] - known);
        }
        for (int64_t i = 0; i < dk; ++i) {
          for (int64_t j = 0; j < dv; ++j) s[i * dv + j] += kt[i] * write[j];
        }
        for (int64_t r = h * group; r < (h + 1) * group; ++r) {
          const float* qt = q.data() + (at * rule.q_heads + r) * dk;
          float* to = out.data() + (at * rule.q_heads + r) * dv;
          for (int64_t j = 0; j < dv; ++j) {
            float sum = 0;
            for (int64_t i = 0; i < dk; ++i) sum += qt[i] * s[i * dv + j];
            to[j] = scale * sum;
          }
        }
      }
    }
  }
  ctx.Set(0, out.Finish());
  ctx.Set(1, FromNumbers<float>(state_dtype, state_dims, state));
  return absl::OkStatus();
}

X2IR_OP(linear_attention)
    .Signature("query, key, value, past_state?, decay?, beta? -> output, present_state")
    .Attrs(
        "chunk_size = 64, kv_num_heads: int, q_num_heads: int, scale = 0.0, update_rule = "
        "'gated_delta'")
    .Functions(InferLinearAttention, EvalLinearAttention)
    .Opaque()
    .Heavy()
    .Doc(
        "At each position every head's state matrix fades by exp(decay) (gated rules) and gains "
        "key times value, or for delta rules beta times what it does not give for the key yet; "
        "the output is scale (0: 1 / sqrt of the key size) times query times state.")
    .AllowsFloat16();

// --- causal_conv_with_state -----------------------------------------------------------------

absl::StatusOr<bool> IsSwish(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(const size_t name,
                        ChoiceAttr<size_t>(attrs, "activation", {"none", "silu", "swish"}));
  return name > 0;
}

absl::Status InferCausalConv(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(IsSwish(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, ctx.num_inputs()));
  Dim batch, channels, length, reach;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    const Shape* s = ctx.has(i) ? ctx.shape(i) : nullptr;
    if (!s) continue;
    const int64_t rank = i == 2 ? 1 : 3;
    if (s->rank() != rank) return Invalid("expected rank ", rank, ", got ", s->rank());
    X2IR_ASSIGN_OR_RETURN(channels, SameDim(channels, (*s)[i == 1 || i == 2 ? 0 : 1]));
    if (i == 0 || i == 3) {
      X2IR_ASSIGN_OR_RETURN(batch, SameDim(batch, (*s)[0]));
    }
    if (i == 0) length = (*s)[2];
    if (i == 1) {
      X2IR_RETURN_IF_ERROR(SameDim((*s)[1], 1).status());
      if ((*s)[2] == Dim(0)) return Invalid("weight: an empty kernel");
      reach = (*s)[2] - 1;
    }
    if (i == 3) {
      X2IR_ASSIGN_OR_RETURN(reach, SameDim(reach, (*s)[2]));
    }
  }
  ctx.Set(0, dtype, Shape{batch, channels, length});
  ctx.Set(1, dtype, Shape{batch, channels, reach});
  return absl::OkStatus();
}

absl::Status EvalCausalConv(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool swish, IsSwish(ctx.attrs()));
  const Tensor &input = ctx.input(0), &weight = ctx.input(1);
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    if (ctx.has(i) && ctx.dtype(i) != input.dtype()) return Invalid("operands of different types");
  }
  if (input.rank() != 3 || weight.rank() != 3 || weight.dim(0) != input.dim(1) ||
      weight.dim(1) != 1 || weight.dim(2) < 1) {
    return Invalid("weight ", DimsText(weight.dims()), " does not fit ", DimsText(input.dims()));
  }
  const int64_t batch = input.dim(0), channels = input.dim(1), length = input.dim(2);
  const int64_t kernel = weight.dim(2), reach = kernel - 1;
  const std::vector<int64_t> state_dims = {batch, channels, reach};
  if (Given(ctx, 2) && ctx.dims(2) != std::vector<int64_t>{channels}) {
    return Invalid("bias: expected [", channels, "], got ", DimsText(ctx.dims(2)));
  }
  if (Given(ctx, 3) && ctx.dims(3) != state_dims) {
    return Invalid("past_state: expected ", DimsText(state_dims), ", got ", DimsText(ctx.dims(3)));
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, state_dims));
  return DispatchFloat(input.dtype(), [&](auto zero) -> absl::Status {
    using T = decltype(zero);
    const Tensor nothing = Tensor::Zeros(input.dtype(), {0});
    const Numbers<T> x(input), w(weight), bias(Given(ctx, 2) ? ctx.input(2) : nothing),
        past(Given(ctx, 3) ? ctx.input(3) : nothing);
    NumbersOut<T> out(input.dtype(), input.dims()), state(input.dtype(), state_dims);
    const int64_t lines = out.size() + state.size() > 0 ? batch * channels : 0;
    std::vector<T> line(lines > 0 ? reach + length : 0);  // what went before, then the input
    for (int64_t i = 0; i < lines; ++i) {
      const int64_t c = i % channels;
      for (int64_t t = 0; t < reach; ++t) line[t] = past.size() > 0 ? past[i * reach + t] : T{0};
      for (int64_t t = 0; t < length; ++t) line[reach + t] = x[i * length + t];
      for (int64_t t = 0; t < length; ++t) {
        T sum = bias.size() > 0 ? bias[c] : T{0};
        for (int64_t j = 0; j < kernel; ++j) sum += line[t + j] * w[c * kernel + j];
        if (swish) {
          const T e = portable::exp(-std::abs(sum));  // without overflow on either side
          sum *= (sum < 0 ? e : T{1}) / (1 + e);
        }
        out[i * length + t] = sum;
      }
      for (int64_t t = 0; t < reach; ++t) state[i * reach + t] = line[length + t];
    }
    ctx.Set(0, out.Finish());
    ctx.Set(1, state.Finish());
    return absl::OkStatus();
  });
}

X2IR_OP(causal_conv_with_state)
    .Signature("input, weight, bias?, past_state? -> output, present_state")
    .Attrs("activation = 'none'")
    .Functions(InferCausalConv, EvalCausalConv)
    .Opaque()
    .Heavy()
    .Doc(
        "Each channel convolved with its own kernel over current and earlier positions, those "
        "before the first from past_state (zeros when left out); present_state is what the next "
        "call needs. Activation silu (or swish): y * sigmoid(y).")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfConv<1>);

}  // namespace
}  // namespace x2ir
