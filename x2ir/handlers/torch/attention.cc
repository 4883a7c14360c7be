// Attention, and the fused layers that are made of it.
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- scaled_dot_product_attention -----------------------------------------------------------

struct Attention {
  Value *q, *k, *v;
  Value* mask = nullptr;  // bool: true where it may look; or added to the scores
  bool causal = false, shared_heads = false;
  std::optional<double> scale = {};
};

Attention ReadAttention(TorchCall& c) {
  Attention a{c.Tensor("query"), c.Tensor("key"), c.Tensor("value")};
  a.mask = c.OptTensor(c.Has("attn_bias") ? "attn_bias" : "attn_mask");
  a.causal = c.Bool("is_causal", false);
  a.shared_heads = c.Bool("enable_gqa", false);
  a.scale = c.OptFloat("scale");
  RequireFloat(c, a.q);
  if (c.Float("dropout_p", 0) != 0) {
    c.Fail(Unimplemented("dropout, which is random; export the model in eval()"));
  }
  return a;
}

bool SameDims(const Value* a, const Value* b, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    if (!ProvablyEqual((*a->shape())[i], (*b->shape())[i])) return false;
  }
  return true;
}

// scores + mask, softmax, values; of any batch dims that broadcast. Where every score of a row is
// -inf, PyTorch gives zeros (`safe`) or NaN.
struct Attended {
  Expr y, weights, scores;  // scores: in float32 or wider
};

Attended ByFormula(TorchCall& c, const Attention& a, bool safe) {
  const DType t = a.q->dtype();
  const DType computed = AtLeastFloat32(t);
  const auto in = [&](Value* x) { return c.Cast(x, computed); };
  const int64_t rank = c.Rank(a.q), key_rank = c.Rank(a.k);
  std::vector<int64_t> perm = CountedFrom(0, key_rank);
  std::swap(perm[static_cast<size_t>(key_rank - 1)], perm[static_cast<size_t>(key_rank - 2)]);
  Expr scale = nullptr;
  if (a.scale) {
    scale = c.Constant(computed, *a.scale);
  } else {
    const Size width = SizeAt({c, a.q}, rank - 1);
    scale = width.number ? c.Constant(computed, 1 / std::sqrt(static_cast<double>(*width.number)))
                         : Reciprocal(Sqrt(in(Scalar(c, width))));
  }
  Expr scores = c.Op("matmul", {in(a.q) * scale, Transpose(in(a.k), perm)});
  const Expr minus_inf = scores.Number(-std::numeric_limits<double>::infinity());
  if (a.causal) {
    Value* ones = c.Op(
        "expand",
        {c.Constant(DType::kFloat32, 1),
         Vector(c, std::vector<Size>{SizeAt({c, a.q}, rank - 2), SizeAt({c, a.k}, key_rank - 2)})});
    const Expr seen = c.Cast(c.Op("trilu", {ones}, {{"upper", 0}}), DType::kBool);
    scores = Where(seen, scores, minus_inf);
  }
  if (a.mask) {
    scores = a.mask->dtype() == DType::kBool ? Where({c, a.mask}, scores, minus_inf)
                                             : scores + in(a.mask);
  }
  const int64_t axis = scores.rank() - 1;
  Expr weights = scores.Op("softmax", {}, {{"axis", axis}});
  if (safe && (a.mask || a.causal)) {
    const Expr most = Reduce(scores, "reduce_max", {axis}, true);
    weights = Where(most == minus_inf, 0, weights);
  }
  const Expr y = weights.Op("matmul", {in(a.v)});
  return {y.To(t), weights.To(t), scores};
}

// Each head with keys and values of its own: those of head h are the ones of head h / repeats.
Attention WithOwnKeys(TorchCall& c, Attention a) {
  for (const Value* x : {a.q, a.k, a.v}) {
    if (c.Rank(x) >= 3) continue;
    c.Fail(Invalid("heads that share keys, of an operand of rank ", c.Rank(x)));
    return a;
  }
  const Size all = SizeAt({c, a.q}, c.Rank(a.q) - 3);
  const auto repeated = [&](Value* of) {
    const Expr x(c, of);
    const int64_t heads = x.rank() - 3;
    std::vector<Size> dims = AllSizes(x);
    const auto at = dims.begin() + heads;
    if (at->number && at->number == all.number) return x;
    const Size repeats = Divided(c, all, *at);
    std::vector<Size> expanded = dims;
    expanded.insert(expanded.begin() + heads + 1, repeats);
    *at = all;
    return ReshapeTo(Expand(Unsqueeze(x, {heads + 1}), Vector(c, expanded)), dims);
  };
  a.k = repeated(a.k);
  a.v = repeated(a.v);
  return a;
}

// As one op where the operands are [batch, heads, length, size], which it wants of equal dims.
Value* ScaledDotProduct(TorchCall& c, const Attention& a) {
  const int64_t rank = c.Rank(a.q);
  if (!c.b().status().ok()) return a.q;
  const bool same_rank = c.Rank(a.k) == rank && c.Rank(a.v) == rank;
  const bool plain = same_rank && rank == 4 && SameDims(a.k, a.v, 0, 3) &&
                     SameDims(a.q, a.k, 0, a.shared_heads ? 1 : 2) &&
                     a.q->dtype() != DType::kFloat64;
  // A mask that is longer than queries or keys, or broadcasts them.
  const bool mask_fits = !a.mask || c.Rank(a.mask) >= 2;
  // With a float mask a query may see no key, too.
  if (!plain || !mask_fits || (a.mask && a.mask->dtype() != DType::kBool && a.causal)) {
    return ByFormula(c, a.shared_heads ? WithOwnKeys(c, a) : a, true).y;
  }
  AttributeMap attrs = {{"is_causal", a.causal ? 1 : 0}};
  if (a.scale) attrs.Set("scale", static_cast<float>(*a.scale));
  Value* mask = a.mask && a.mask->dtype() != DType::kBool ? c.Cast(a.mask, a.q->dtype()) : a.mask;
  return c.Op("attention", {a.q, a.k, a.v, mask}, attrs);
}

Values Sdpa(TorchCall& c) {
  c.Ignore({"return_debug_mask", "compute_log_sumexp", "compute_logsumexp", "is_training"});
  return FirstAlone(c, ScaledDotProduct(c, ReadAttention(c)));
}

// With the logarithms of sums of the scores' exponentials as another result, 0 where all are -inf.
Values SdpaOfCpu(TorchCall& c) {
  if (!c.wants(1)) return Sdpa(c);
  Attention a = ReadAttention(c);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const Attended attended = ByFormula(c, a, true);
  const std::vector<int64_t> last = {attended.scores.rank() - 1};
  const Expr most = Reduce(attended.scores, "reduce_max", last);
  const Expr sums = Reduce(attended.scores, "reduce_log_sum_exp", last);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = attended.y;
  values[1] = Where(most == -std::numeric_limits<double>::infinity(), 0, sums).To(c.out_dtype(1));
  return values;
}

// With the weights as another result; rows of -inf are NaN there.
Values SdpaMath(TorchCall& c) {
  c.Ignore({"need_attn_weights", "dropout_mask"});
  Attention a = ReadAttention(c);
  if (a.shared_heads) a = WithOwnKeys(c, a);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const Attended attended = ByFormula(c, a, true);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = attended.y;
  if (c.wants(1)) values[1] = attended.weights;
  return values;
}

X2IR_TORCH(attention)
    .From({"aten::scaled_dot_product_attention.default",
           "aten::_scaled_dot_product_flash_attention.default",
           "aten::_scaled_dot_product_efficient_attention.default",
           "aten::_scaled_dot_product_cudnn_attention.default",
           "aten::_scaled_dot_product_fused_attention_overrideable.default"},
          Sdpa)
    .From("aten::_scaled_dot_product_flash_attention_for_cpu.default", SdpaOfCpu)
    .From({"aten::_scaled_dot_product_attention.default",
           "aten::_scaled_dot_product_attention_math.default"},
          SdpaMath);

// --- Fused layers ---------------------------------------------------------------------------

struct Heads {
  Value *qkv_weight, *qkv_bias, *proj_weight, *proj_bias;
  int64_t embed, count;
};

Heads ReadHeads(TorchCall& c, std::string_view count) {
  return {c.Tensor("qkv_weight"), c.Tensor("qkv_bias"), c.Tensor("proj_weight"),
          c.Tensor("proj_bias"),  c.Int("embed_dim"),   c.Int(count)};
}

Value* TokenLinear(TorchCall& c, Value* x, Value* w, Value* b) {
  return c.Op("add", {c.Op("matmul", {x, Transpose({c, w}, {1, 0})}), b});
}

// Of [batch, length, embed]. Masks say what is excluded: of the scores (0, [length, length]), of
// the keys (1, [batch, length]), or both in full (2).
struct MultiHead {
  Value *y, *weights;
};

MultiHead SelfAttention(TorchCall& c, Value* q, Value* k, Value* v, const Heads& heads, Value* mask,
                        std::optional<int64_t> mask_type) {
  if (heads.count < 1 || heads.embed < 1 || heads.embed % heads.count != 0 || c.Rank(q) != 3) {
    c.Fail(Invalid(heads.embed, " features in ", heads.count, " heads"));
    return {q, q};
  }
  const auto part = [&](Value* all, int64_t i) {
    return c.Op("slice",
                {all, Ints(c, {i * heads.embed}), Ints(c, {(i + 1) * heads.embed}), Ints(c, {0})});
  };
  Value* in[] = {q, k, v};
  for (int64_t i = 0; i < 3; ++i) {
    Value* projected = TokenLinear(c, in[i], part(heads.qkv_weight, i), part(heads.qkv_bias, i));
    const Size n = heads.count, width = heads.embed / heads.count;
    projected = ReshapeTo({c, projected}, {SizeAt({c, in[i]}, 0), SizeAt({c, in[i]}, 1), n, width});
    in[i] = Transpose({c, projected}, {0, 2, 1, 3});
  }
  Attention a{in[0], in[1], in[2]};
  if (mask) {
    const int64_t rank = c.Rank(mask);
    const int64_t type = mask_type.value_or(rank == 4 ? 2 : -1);
    if (mask->dtype() != DType::kBool || type < 0 || type > 2 || rank != (type == 2 ? 4 : 2)) {
      c.Fail(Unimplemented("a mask of this kind"));
      return {q, q};
    }
    mask = c.Op("not", {mask});
    a.mask = type == 1 ? Unsqueeze({c, mask}, {1, 2}) : mask;
  }
  const Attended attended = ByFormula(c, a, false);
  Value* y = Transpose({c, attended.y}, {0, 2, 1, 3});
  y = ReshapeTo({c, y}, {SizeAt({c, q}, 0), SizeAt({c, q}, 1), heads.embed});
  return {TokenLinear(c, y, heads.proj_weight, heads.proj_bias), attended.weights};
}

Values NativeMultiHead(TorchCall& c) {
  Value* q = c.Tensor("query");
  Value* k = c.Tensor("key");
  Value* v = c.Tensor("value");
  const Heads heads = ReadHeads(c, "num_head");
  Value* mask = c.OptTensor("mask");
  const bool need = c.Bool("need_weights", true), mean = c.Bool("average_attn_weights", true);
  const std::optional<int64_t> mask_type = c.OptInt("mask_type");
  RequireFloat(c, q);
  const MultiHead all = SelfAttention(c, q, k, v, heads, mask, mask_type);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = all.y;
  if (c.wants(1)) {
    if (!need) return c.Fail(Unimplemented("weights that are not asked for"));
    const Expr weights(c, all.weights);
    values[1] = mean ? Reduce(weights, "reduce_mean", {1}) : weights;
  }
  return values;
}

X2IR_TORCH(attention).From("aten::_native_multi_head_attention.default", NativeMultiHead);

Values EncoderLayer(TorchCall& c) {
  Value* x = c.Tensor("src");
  const Heads heads = ReadHeads(c, "num_heads");
  const bool gelu = c.Bool("use_gelu"), norm_first = c.Bool("norm_first");
  const double eps = c.Float("eps");
  RequireFloat(c, x);
  const auto norm = [&](Value* y, const char* weight, const char* bias) {
    return c.Op("layer_normalization", {y, c.Tensor(weight), c.Tensor(bias)},
                {{"axis", c.Rank(y) - 1}, {"epsilon", static_cast<float>(eps)}});
  };
  if (x->dtype() == DType::kFloat64) return c.Fail(Unimplemented("of float64"));
  Value* mask = c.OptTensor("mask");
  const std::optional<int64_t> mask_type = c.OptInt("mask_type");
  const auto attend = [&](Value* y) { return SelfAttention(c, y, y, y, heads, mask, mask_type).y; };
  const auto feed_forward = [&](Value* y) {
    Value* inner = TokenLinear(c, y, c.Tensor("ffn_weight_1"), c.Tensor("ffn_bias_1"));
    inner = c.Op(gelu ? "gelu" : "relu", {inner});
    return TokenLinear(c, inner, c.Tensor("ffn_weight_2"), c.Tensor("ffn_bias_2"));
  };
  const auto norm_1 = [&](Value* y) { return norm(y, "norm_weight_1", "norm_bias_1"); };
  const auto norm_2 = [&](Value* y) { return norm(y, "norm_weight_2", "norm_bias_2"); };
  if (norm_first) {
    x = c.Op("add", {x, attend(norm_1(x))});
    return {c.Op("add", {x, feed_forward(norm_2(x))})};
  }
  x = norm_1(c.Op("add", {x, attend(x)}));
  return {norm_2(c.Op("add", {x, feed_forward(x)}))};
}

X2IR_TORCH(attention).From("aten::_transformer_encoder_layer_fwd.default", EncoderLayer);

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

}  // namespace

X2IR_TORCH(attention).To("aten::scaled_dot_product_attention.default", WriteAttention);

}  // namespace x2ir
