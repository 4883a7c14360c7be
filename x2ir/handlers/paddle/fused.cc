// What Paddle's passes make of several operators in programs that are saved for inference.
#include <cmath>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/paddle/activation.h"
#include "x2ir/handlers/paddle/elementwise.h"
#include "x2ir/handlers/paddle/nn.h"

namespace x2ir {
namespace {

// The axes of x from in_num_col_dims on are the rows of w.
Expr FullyConnected(PaddleArgs& a, const Expr& x, const Expr& w, int64_t lead) {
  const int64_t rank = a.Rank(x);
  if (lead < 0) lead += rank;
  if (lead == rank - 1) return MatMul(x, w);
  if (lead < 1 || lead >= rank) a.Fail(Invalid("a matrix of other axes"));
  const Expr y = MatMul(x.Op("flatten", {}, {{"axis", lead}}), w);
  std::vector<Size> sizes = SizesAt(x, 0, lead);
  sizes.push_back(SizeAt(w, 1));
  return sizes.size() == 2 ? y : ReshapeTo(y, sizes);
}

Expr Fc(PaddleArgs& a) {
  const Expr x = a.X("Input"), bias = a.Opt("Bias");
  Expr w = a.X("W");
  // Weights that are padded for a kernel have four more rows and columns.
  if (a.Bool("padding_weights", false)) {
    w = w.Op("slice", {a.b().Ints({0, 0}), a.b().Ints({-4, -4}), a.b().Ints({0, 1})});
  }
  Expr y = FullyConnected(a, x, w, a.Int("in_num_col_dims", 1));
  if (bias.value()) y = y + (a.Rank(bias) > 1 ? Flat(bias) : bias);
  return Activated(a, y, a.String("activation_type", ""));
}

Expr Normalized(PaddleArgs& a, const Expr& x, const Expr& scale, const Expr& bias, int64_t axis,
                double epsilon) {
  const std::vector<Size> sizes = SizesAt(x, axis, a.Rank(x));
  const auto shaped = [&](const Expr& v) { return sizes.size() == 1 ? v : ReshapeTo(v, sizes); };
  std::vector<Value*> operands = {
      x, scale.value() ? shaped(scale).value() : Filled(a, x.dtype(), sizes, 1).value()};
  if (bias.value()) operands.push_back(shaped(bias));
  return a.Op("layer_normalization", operands,
              {{"axis", axis}, {"epsilon", static_cast<float>(epsilon)}});
}

Expr FcLayerNorm(PaddleArgs& a) {
  const Expr x = a.X(), bias = a.Opt("Bias0");
  Expr y = FullyConnected(a, x, a.X("W"), a.Int("x_num_col_dims", 1));
  if (bias.value()) y = y + bias;
  y = Activated(a, y, a.String("activation_type", "")) + a.X("Y");
  const int64_t axis = a.Axis(a.Int("begin_norm_axis", 1), y);
  const Expr scale = a.Opt("Scale"), shift = a.Opt("Bias1");
  return Normalized(a, y, scale, shift, axis, a.Number("epsilon", 1e-5));
}

Expr SkipLayerNorm(PaddleArgs& a) {
  const Expr y = a.X() + a.X("Y");
  const Expr scale = a.X("Scale"), bias = a.X("Bias");
  const int64_t axis = a.Axis(a.Int("begin_norm_axis", a.Rank(y) - 1), y);
  return Normalized(a, y, scale, bias, axis, a.Number("epsilon", 1e-5));
}

// Of the sum x + bias + residual. The attributes quant_* describe a quantized result.
PaddleResults BiasResidualLayerNorm(PaddleArgs& a) {
  Expr sum = a.X("x");
  const Expr bias = a.Opt("bias"), residual = a.Opt("residual");
  const double share = a.Number("residual_alpha", 1), epsilon = a.Number("epsilon", 1e-5);
  for (const char* name : {"quant_round_type", "quant_max_bound", "quant_min_bound"})
    a.Ignore(name);
  a.Require(a.Number("quant_scale", -1) <= 0, "a result that is quantized");
  if (bias.value()) sum = sum + bias;
  if (residual.value()) sum = sum + Scaled(residual, share);
  const Expr scale = a.Opt("norm_weight"), shift = a.Opt("norm_bias");
  const int64_t axis = a.Axis(a.Int("begin_norm_axis", 1), sum);
  return {{"out", {Normalized(a, sum, scale, shift, axis, epsilon)}}, {"residual_out", {sum}}};
}

PaddleResults BiasDropoutLayerNorm(PaddleArgs& a) {
  const Expr bias = a.Opt("Bias");
  Expr x = a.X();
  if (bias.value()) x = x + bias;
  const double rate = a.Number("dropout_rate", 0.5);
  const bool upscale =
      a.String("dropout_implementation", "downgrade_in_infer") == "upscale_in_train";
  for (const char* name : {"dropout_fix_seed", "dropout_seed"}) a.Ignore(name);
  a.Require(a.Bool("is_test", true), "dropout in training, which is random");
  const Expr sum = Scaled(x, upscale ? 1 : 1 - rate) + a.X("Residual");
  const Expr scale = a.Opt("LnScale"), shift = a.Opt("LnBias");
  const Expr y = Normalized(a, sum, scale, shift, a.Rank(sum) - 1, a.Number("ln_epsilon", 1e-5));
  return {{"Y", {y}}, {"BiasDropoutResidualOut", {sum}}};
}

Expr EmbeddingLayerNorm(PaddleArgs& a) {
  const std::vector<Value*> ids = a.List("Ids"), tables = a.List("Embs");
  if (ids.empty() || ids.size() != tables.size())
    a.Fail(Invalid("not one table for each of the ids"));
  Expr sum = nullptr;
  for (size_t i = 0; i < ids.size(); ++i) {
    Expr index(a.b(), ids[i]);
    // A third axis is of size 1, and no axis.
    if (a.Rank(index) == 3) index = Squeeze(index, {2});
    const Expr rows = Gather(Expr(a.b(), tables[i]), index, 0);
    sum = i == 0 ? rows : sum + rows;
  }
  const Expr scale = a.X("Scale"), bias = a.X("Bias");
  return Normalized(a, sum, scale, bias, a.Rank(sum) - 1, a.Number("epsilon", 1e-5));
}

// --- Attention -----------------------------------------------------------------------------------

// softmax(q k^T scale + bias) v of [batch, heads, length, size].
Expr Attention(PaddleArgs& a, const Expr& q, const Expr& k, const Expr& v, double scale,
               const Expr& bias, bool causal) {
  Expr scores = Scaled(MatMul(q, SwapLast(k)), scale);
  if (bias.value()) scores = scores + bias;
  if (causal) {
    const Expr rows = Iota(SizeOf(q, 2)), columns = Iota(SizeOf(k, 2));
    // The last query sees all keys.
    const Expr shift = SizeOf(k, 2) - SizeOf(q, 2);
    const Expr sees = Unsqueeze(columns, {0}) <= Unsqueeze(rows + shift, {1});
    scores = Where(sees, scores, Extreme(a, scores.dtype(), false));
  }
  return MatMul(scores.Op("softmax", {}, {{"axis", -1}}), v);
}

// Input [batch, length, width], W [width, 3, heads, size], Bias [3, heads, size].
Expr MultiheadMatmul(PaddleArgs& a) {
  const Expr x = a.X("Input"), w = a.X("W"), bias = a.Opt("Bias"), mask = a.Opt("BiasQK");
  const int64_t heads = a.Int("head_number", 1);
  const double alpha = a.Number("alpha", 1);
  for (const char* name : {"transpose_Q", "transpose_K", "transpose_V"}) a.Ignore(name);
  const Size width = SizeAt(x, 2), batch = SizeAt(x, 0), length = SizeAt(x, 1);
  Expr all = MatMul(x, ReshapeTo(w, {width, Size(-1)}));
  if (bias.value()) all = all + Flat(bias);
  const Size each = Divided(a, DividedBy(a, SizeAt(all, 2), 3), heads);
  const Expr parts =
      Transpose(ReshapeTo(all, {batch, length, Size(3), Size(heads), each}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) { return Gather(parts, a.b().Int(i), 0); };
  const Expr y = Attention(a, part(0), part(1), part(2), alpha, mask, false);
  return ReshapeTo(Transpose(y, {0, 2, 1, 3}), {batch, length, Times(a, each, heads)});
}

// [batch, length, heads, size].
PaddleResults FlashAttention(PaddleArgs& a) {
  const Expr mask = a.Opt("attn_mask");
  a.Drop({"fixed_seed_offset"});
  a.Number("dropout", 0);
  a.Ignore("return_softmax");
  const auto heads_first = [&](const char* name) { return Transpose(a.X(name), {0, 2, 1, 3}); };
  const Expr q = heads_first("q"), k = heads_first("k"), v = heads_first("v");
  const Dim size = DimAt(q, 3);
  a.Require(size.is_static(), "heads of unknown size");
  const double scale = 1 / std::sqrt(static_cast<double>(size.value()));
  const Expr y = Attention(a, q, k, v, scale, mask, a.Bool("causal", false));
  return {{"out", {Transpose(y, {0, 2, 1, 3})}}};
}
PaddleResults MemoryEfficientAttention(PaddleArgs& a) {
  const Expr bias = a.Opt("bias");
  const double given = a.Number("scale", -1);
  a.Number("dropout_p", 0);
  a.Ignore("max_seqlen_q");
  a.Ignore("max_seqlen_k");
  a.Require(!a.Bool("causal", false), "a causal mask");
  const auto heads_first = [&](const char* name) { return Transpose(a.X(name), {0, 2, 1, 3}); };
  const Expr q = heads_first("query"), k = heads_first("key"), v = heads_first("value");
  const Dim size = DimAt(q, 3);
  a.Require(size.is_static(), "heads of unknown size");
  const double scale = given > 0 ? given : 1 / std::sqrt(static_cast<double>(size.value()));
  return {{"output", {Transpose(Attention(a, q, k, v, scale, bias, false), {0, 2, 1, 3})}}};
}
// X [batch, length, 3, heads, size].
Expr SelfAttention(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t heads = a.Int("head_number", 1);
  const double alpha = a.Number("alpha", 1);
  const Size batch = SizeAt(x, 0), length = SizeAt(x, 1);
  const Expr parts = Transpose(x, {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) { return Gather(parts, a.b().Int(i), 0); };
  const Expr y = Attention(a, part(0), part(1), part(2), alpha, nullptr, false);
  return ReshapeTo(Transpose(y, {0, 2, 1, 3}), {batch, length, Times(a, SizeAt(x, 4), heads)});
}

Expr SoftmaxMask(PaddleArgs& a) { return (a.X() + a.X("Mask")).Op("softmax", {}, {{"axis", -1}}); }
// Nothing above the diagonal counts.
Expr SoftmaxUpperTriangle(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t rank = a.Rank(x);
  const Expr rows = Iota(SizeOf(x, rank - 2)), columns = Iota(SizeOf(x, rank - 1));
  const Expr sees = Unsqueeze(columns, {0}) <= Unsqueeze(rows, {1});
  return Where(sees, x, Extreme(a, x.dtype(), false)).Op("softmax", {}, {{"axis", -1}});
}

// --- Rotary positions
// -----------------------------------------------------------------------------

// cos * x + sin * rotated(x), for x [batch, length, heads, size], or [length, batch, ...].
struct Rotation {
  Expr sin, cos;  // in the type that is computed in
  bool adjacent;  // pairs are numbers side by side, else those of the two halves
};

Expr Rotated(PaddleArgs& a, const Expr& x, const Rotation& by) {
  const Expr wide = x.To(by.sin.dtype());
  const Size half = DividedBy(a, SizeAt(x, 3), 2);
  std::vector<Size> sizes = SizesAt(x, 0, 3);
  sizes.push_back(by.adjacent ? half : Size(2));
  sizes.push_back(by.adjacent ? Size(2) : half);
  const int64_t axis = by.adjacent ? 4 : 3;
  const Expr pairs = ReshapeTo(wide, sizes);
  const Expr first = Slice(pairs, axis, 0, 1), second = Slice(pairs, axis, 1, 2);
  const Expr turned = ReshapeTo(Concat(a, {-second, first}, axis), AllSizes(x));
  return (wide * by.cos + turned * by.sin).To(x.dtype());
}

PaddleResults RotaryPositions(PaddleArgs& a) {
  const Expr q = a.X("q"), ids = a.Opt("position_ids");
  Expr sin = a.Opt("sin"), cos = a.Opt("cos");
  const bool adjacent = a.Bool("use_neox_rotary_style", true);
  const bool time_major = a.Bool("time_major", false);
  const double base = a.Number("rotary_emb_base", 10000);
  const int64_t time = time_major ? 0 : 1;
  const Dim length = DimAt(q, time), size = DimAt(q, 3);
  const DType type = AtLeastFloat32(q.dtype());
  if (a.Rank(q) != 4) a.Fail(Invalid("queries of other axes"));
  a.Require(size.is_static(), "heads of unknown size");
  if (size.value() <= 0 || size.value() % 2 != 0) a.Fail(Invalid("heads of an odd size"));
  if (!sin.value() != !cos.value()) a.Fail(Invalid("sines without cosines, or the other way"));
  if (sin.value()) {
    // [length, size], or with axes of size 1 between: a row for each position.
    for (Expr* table : {&sin, &cos}) {
      *table = ReshapeTo(*table, {Size(-1), Size(size.value())}).To(type);
      const Dim rows = DimAt(*table, 0);
      if (!ids.value() && rows.is_static() && length.is_static() && rows != length) {
        a.Fail(Invalid("sines of other positions"));
      }
    }
  } else {
    // Some releases then go by position_ids, others by the places in order.
    a.Require(!ids.value(), "position_ids without sin and cos, which releases take differently");
    a.Require(size.value() <= int64_t{1} << 16, "heads of so large a size");
    if (!(base > 0)) a.Fail(Invalid("attribute 'rotary_emb_base': not above 0"));
    // Both of two numbers side by side turn alike, also where they are no pair.
    std::vector<double> speeds;
    for (int64_t i = 0; i < size.value(); ++i) {
      speeds.push_back(
          portable::pow(base, -static_cast<double>(i / 2 * 2) / static_cast<double>(size.value())));
    }
    const Expr places = Unsqueeze(Iota(SizeOf(q, time)).To(type), {1});
    const Expr angles = places * NumbersAs(a, type, {size.value()}, speeds);
    sin = Sin(angles);
    cos = Cos(angles);
  }
  const auto arranged = [&](const Expr& table) {
    if (!ids.value()) return Unsqueeze(table, {time_major ? 1 : 0, 2});
    const Expr rows = Gather(table, ids, 0);
    return Unsqueeze(time_major ? Transpose(rows, {1, 0, 2}) : rows, {2});
  };
  const Rotation rotation{arranged(sin), arranged(cos), adjacent};
  PaddleResults results = {{"out_q", {Rotated(a, q, rotation)}}};
  for (const auto& [name, result] : {std::pair("k", "out_k"), std::pair("v", "out_v")}) {
    const Expr x = a.Opt(name);
    if (!x.value()) continue;
    if (a.Rank(x) != 4) a.Fail(Invalid("keys or values of other axes"));
    results.push_back({result, {Rotated(a, x, rotation)}});
  }
  return results;
}

// --- Arithmetic ----------------------------------------------------------------------------------

auto Elementwise(const char* op) {
  return [op](PaddleArgs& a) {
    const Pair p = Operands(a, "X", "Y");
    return FusedActivation(a, p.x.Op(op, {p.y}));
  };
}

// f(g(x, y)), or f(x, g(y)).
PaddleResults ElementwiseActivation(PaddleArgs& a) {
  const std::vector<std::string> functors = a.StringList("functor_list");
  const double scale = a.Number("scale", 0);
  a.Ignore("save_intermediate_out");
  a.Require(functors.size() == 2, "two functions");
  const Pair p = Operands(a, "X", "Y");
  const auto binary = [&](const std::string& name) -> const char* {
    return name == "elementwise_add" ? "add" : name == "elementwise_mul" ? "mul" : nullptr;
  };
  const auto unary = [&](const std::string& name, const Expr& x) {
    return Activated(a, x, name, scale);
  };
  if (const char* op = binary(functors[0])) {
    const Expr inner = unary(functors[1], p.y);
    return {{"Out", {p.x.Op(op, {inner})}}, {"IntermediateOut", {inner}}};
  }
  const char* op = binary(functors[1]);
  a.Require(op != nullptr, "functions of those names");
  const Expr inner = p.x.Op(op, {p.y});
  return {{"Out", {unary(functors[0], inner)}}, {"IntermediateOut", {inner}}};
}

Expr GemmEpilogue(PaddleArgs& a) {
  Expr x = a.X(), y = a.X("Y");
  if (a.Bool("trans_x", false)) x = SwapLast(x);
  if (a.Bool("trans_y", false)) y = SwapLast(y);
  const Expr z = MatMul(x, y) + a.X("Bias");
  const std::string activation = a.String("activation", "none");
  return Activated(a, z, activation == "none" ? "" : activation);
}

// ((x y)^2 - x^2 y^2) * scalar.
PaddleResults SquaredMatSub(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const Expr xx = Square(x), yy = Square(y), product = Square(MatMul(x, y));
  return {{"SquaredX", {xx}},
          {"SquaredY", {yy}},
          {"SquaredXY", {product}},
          {"Out", {(product - MatMul(xx, yy)) * a.Number("scalar", 1)}}};
}

PaddleResults RepeatedFcRelu(PaddleArgs& a) {
  const std::vector<Value*> weights = a.List("W"), biases = a.List("Bias");
  if (weights.empty() || weights.size() != biases.size())
    a.Fail(Invalid("not one bias for each weight"));
  Expr x = a.X();
  Values all;
  for (size_t i = 0; i < weights.size(); ++i) {
    x = (MatMul(x, Expr(a.b(), weights[i])) + Flat(Expr(a.b(), biases[i]))).Op("relu");
    all.push_back(x);
  }
  all.pop_back();
  return {{"Out", {x}}, {"ReluOut", all}};
}

Expr TransposeFlattenConcat(PaddleArgs& a) {
  const std::vector<int64_t> perm = a.Ints("trans_axis");
  const int64_t flatten = a.Int("flatten_axis", 1), axis = a.Int("concat_axis", 1);
  std::vector<Value*> parts;
  for (Value* each : a.List("X")) {
    parts.push_back(Transpose(Expr(a.b(), each), perm).Op("flatten", {}, {{"axis", flatten}}));
  }
  return Concat(a, parts, axis);
}

PaddleResults BatchNormAct(PaddleArgs& a) {
  const Expr x = a.X(), mean = a.X("Mean"), variance = a.X("Variance");
  const bool last = ChannelsLast(a, a.HasAttr("data_layout") ? "data_layout" : "data_format");
  const Expr y = x.Op(
      "batch_normalization", {a.X("Scale"), a.X("Bias"), mean, variance},
      {{"layout", LayoutName(last)}, {"epsilon", static_cast<float>(a.Number("epsilon", 1e-5))}});
  return {{"Y", {Activated(a, y, a.String("act_type", "relu"))}}};
}

Expr DropoutAdd(PaddleArgs& a) {
  const Expr x = a.X("x"), y = a.X("y");
  a.Drop({"seed_tensor"});
  const Expr p = a.Scalar("p", {}, 0.5, x.dtype());
  a.Require(a.Bool("is_test", true), "dropout in training, which is random");
  const bool upscale = a.String("mode", "upscale_in_train") == "upscale_in_train";
  return (upscale ? x : x * (1.0 - p)) + y;
}

// The first half of the last axis through an activation, times the second half.
Expr Gated(PaddleArgs& a, const Expr& x, std::string_view activation) {
  const Values halves = a.b().Ops("split", {x, nullptr}, {{"axis", -1}, {"num_outputs", 2}}, 2);
  return Activated(a, {a.b(), halves[0]}, activation) * Expr(a.b(), halves[1]);
}
Expr SwiGlu(PaddleArgs& a) {
  const Expr x = a.X("x"), y = a.Opt("y");
  return y.value() ? x.Op("swish") * y : Gated(a, x, "silu");
}
Expr BiasActivation(PaddleArgs& a) {
  const Expr bias = a.Opt("bias");
  Expr x = a.X("x");
  const std::string name = a.String("act_method", "gelu");
  for (const char* each :
       {"compute_dtype", "quant_round_type", "quant_max_bound", "quant_min_bound"}) {
    a.Ignore(each);
  }
  a.Require(a.Number("quant_scale", -1) <= 0, "a result that is quantized");
  if (bias.value()) x = x + bias;
  if (name == "swiglu") return Gated(a, x, "silu");
  if (name == "geglu") return Gated(a, x, "gelu");
  return Activated(a, x, name);
}

PaddleResults RmsNorm(PaddleArgs& a) {
  Expr x = a.X("x");
  const Expr bias = a.Opt("bias"), residual = a.Opt("residual"), shift = a.Opt("norm_bias");
  const double epsilon = a.Number("epsilon", 1e-5);
  const int64_t axis = a.Axis(a.Int("begin_norm_axis", -1), x);
  for (const char* name :
       {"quant_scale", "quant_round_type", "quant_max_bound", "quant_min_bound"}) {
    a.Ignore(name);
  }
  a.Require(a.Number("quant_scale", -1) <= 0, "a quantized result");
  if (bias.value()) x = x + bias;
  if (residual.value()) x = x + residual;
  const std::vector<Size> sizes = SizesAt(x, axis, a.Rank(x));
  const Expr weight = a.X("norm_weight");
  Expr y = x.Op("rms_normalization", {sizes.size() == 1 ? weight : ReshapeTo(weight, sizes)},
                {{"axis", axis}, {"epsilon", static_cast<float>(epsilon)}});
  if (shift.value()) y = y + (sizes.size() == 1 ? shift : ReshapeTo(shift, sizes));
  return {{"out", {y}}, {"residual_out", {x}}};
}

}  // namespace

X2IR_PADDLE(gemm)
    .From({"fc", "gemm_epilogue"}, Fc)
    .From({{"fused_gemm_epilogue", GemmEpilogue}, {"fusion_repeated_fc_relu", RepeatedFcRelu}});
X2IR_PADDLE(layer_normalization)
    .From("fused_fc_elementwise_layernorm", FcLayerNorm)
    .From({"skip_layernorm", "fused_skip_layernorm"}, SkipLayerNorm)
    .From({{"fused_bias_dropout_residual_layer_norm", BiasDropoutLayerNorm},
           {"fused_bias_residual_layernorm", BiasResidualLayerNorm},
           {"fused_embedding_eltwise_layernorm", EmbeddingLayerNorm}});
X2IR_PADDLE(softmax).From({{"multihead_matmul", MultiheadMatmul},
                           {"flash_attn", FlashAttention},
                           {"memory_efficient_attention", MemoryEfficientAttention},
                           {"self_dp_attention", SelfAttention},
                           {"fused_softmax_mask", SoftmaxMask},
                           {"fused_softmax_mask_upper_triangle", SoftmaxUpperTriangle}});
X2IR_PADDLE(mul).From({{"fused_rotary_position_embedding", RotaryPositions},
                       {"fused_elementwise_mul", Elementwise("mul")},
                       {"swiglu", SwiGlu}});
X2IR_PADDLE(add)
    .From({{"fused_elementwise_add", Elementwise("add")}, {"fused_dropout_add", DropoutAdd}})
    .From({"fused_elemwise_activation", "fused_elemwise_add_activation"}, ElementwiseActivation);
X2IR_PADDLE(sub).From({{"fused_elementwise_sub", Elementwise("sub")},
                       {"fusion_squared_mat_sub", SquaredMatSub}});
X2IR_PADDLE(gelu).From("fused_bias_act", BiasActivation);
X2IR_PADDLE(div).From("fused_elementwise_div", Elementwise("div"));
X2IR_PADDLE(concat).From("fusion_transpose_flatten_concat", TransposeFlattenConcat);
X2IR_PADDLE(batch_normalization).From("fused_batch_norm_act", BatchNormAct);
X2IR_PADDLE(rms_normalization).From("rms_norm", RmsNorm);

}  // namespace x2ir
