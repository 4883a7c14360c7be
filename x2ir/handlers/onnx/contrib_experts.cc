// ONNX Runtime's own domain: mixtures of experts. All of it is only read. Every expert computes all
// words, and those that a word was not given to count for nothing: what a graph of fixed nodes says
// without a loop.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/block_weights.h"

namespace x2ir {
namespace {

// --- Routing
// ----------------------------------------------------------------------------------------

struct Routing {
  Value* probs = nullptr;    // [words, experts]: logits, by which the experts of a word are chosen
  Value* weights = nullptr;  // the same shape: what the chosen ones weigh; null: their softmax
  bool normalized = false;   // the weights of the chosen ones are made to add up to 1
};

// How much each expert counts for each word: [experts, words, 1].
absl::StatusOr<Expr> Shares(Rewrite& r, const Routing& routing) {
  Builder& b = r.b;
  const int64_t k = r.attrs().Int("k", 1);
  const Dim experts = DimAt(routing.probs, 1);
  if (k < 1 || (experts.is_static() && k > experts.value())) {
    return Invalid("k: ", k, " of ", experts.ToString(), " experts");
  }
  const Expr logits{b, routing.probs};
  const Values top = b.Ops("top_k", {logits, b.Ints({k})}, {{"axis", -1}}, 2);
  const Expr chosen{b, top[1]};
  Expr share = nullptr;
  if (routing.weights) {
    share = GatherElements({b, routing.weights}, chosen, 1);
    if (routing.normalized) share = share / Sum(share, 1, true);
  } else if (routing.normalized) {
    share = Expr(b, top[0]).Op("softmax", {}, {{"axis", -1}});
  } else {
    share = GatherElements(logits.Op("softmax", {}, {{"axis", -1}}), chosen, 1);
  }
  const Expr shares = ScatterElements(logits * 0, 1, chosen, share, "none");
  return Unsqueeze(Transpose(shares, {1, 0}), {2});
}

// --- Experts
// ----------------------------------------------------------------------------------------

// A layer of all experts: weights are [experts, out, in], biases [experts, out].
struct ExpertLayer {
  Value* weights = nullptr;  // null: there is none
  Value* bias = nullptr;
};

// [experts or 1, words, in] -> [experts, words, out]
Expr Applied(const ExpertLayer& layer, const Expr& x) {
  Builder& b = x.builder();
  const Expr y = MatMul(x, Transpose({b, layer.weights}, {0, 2, 1}));
  return layer.bias ? y + Unsqueeze({b, layer.bias}, {1}) : y;
}

// G * sigmoid(alpha * G) * (L + beta), both kept within the limit.
Expr Gated(const Rewrite& r, Expr gate, Expr linear) {
  if (r.attrs().Has("swiglu_limit")) {
    const double limit = r.attrs().Float("swiglu_limit", 0);
    gate = Min(gate, limit);
    linear = Clip(linear, linear.Number(-limit), linear.Number(limit));
  }
  const AttributeMap alpha = {
      {"alpha", static_cast<float>(r.attrs().Float("activation_alpha", 1))}};
  return gate.Op("swish", {}, alpha) * Shifted(linear, r.attrs().Float("activation_beta", 0));
}

absl::StatusOr<Expr> Activated(const Rewrite& r, const Expr& hidden, const ExpertLayer& third,
                               const Expr& x) {
  const std::string type = r.attrs().String("activation_type", "relu");
  const int64_t fusion = r.attrs().Int("swiglu_fusion", 0);
  if (type == "swiglu") {
    if (fusion == 0 && third.weights) return Gated(r, hidden, Applied(third, x));
    if (fusion == 0) return Invalid("swiglu_fusion 0 needs fc3_experts_weights");
    if (third.weights) return Invalid("swiglu_fusion ", fusion, " with fc3_experts_weights");
    if (fusion == 1) {
      return Gated(r, Slice(hidden, 2, Size(0), Size(kToEnd), Size(2)),
                   Slice(hidden, 2, Size(1), Size(kToEnd), Size(2)));
    }
    if (fusion == 2) {
      const Values halves = hidden.builder().Ops("split", {hidden, nullptr}, {{"axis", 2}}, 2);
      return Gated(r, {hidden.builder(), halves[0]}, {hidden.builder(), halves[1]});
    }
    return Invalid("swiglu_fusion: expected 0, 1 or 2, got ", fusion);
  }
  static constexpr NamedActivation kOwn[] = {
      {"identity", ""}, {"gelu", "", activation::GeluTanh}, {"silu", "swish"}};
  const std::optional<Expr> y = Activated("relu", kOwn, type, hidden);
  if (!y) {
    return Unimplemented("activation_type '", type,
                         "': expected relu, gelu, silu, swiglu or identity");
  }
  return third.weights ? *y * Applied(third, x) : *y;
}

absl::StatusOr<Values> Mixture(Rewrite& r, const Routing& routing, const ExpertLayer (&layers)[3]) {
  Builder& b = r.b;
  if (r.attrs().Int("use_sparse_mixer", 0) != 0) return Unimplemented("use_sparse_mixer");
  const int64_t rank = r.rank(0);
  if (rank != 2 && rank != 3) return Unimplemented("input: expected rank 2 or 3, got ", rank);
  X2IR_ASSIGN_OR_RETURN(const Expr shares, Shares(r, routing));
  const Expr input{b, r.in(0)};
  const Expr words = rank == 2 ? input : FlattenFront(input, 2);
  const Expr x = Unsqueeze(words, {0});
  X2IR_ASSIGN_OR_RETURN(const Expr hidden, Activated(r, Applied(layers[0], x), layers[2], x));
  const Expr y = Sum(Applied(layers[1], hidden) * shares, 0);
  return Values{rank == 2 ? y : ReshapeTo(y, ShapeOf(input))};
}

// --- MoE and QMoE
// ------------------------------------------------------------------------------------

absl::StatusOr<Values> FromMoE(Rewrite& r) {
  enum { kX, kRouter, kFirst, kFirstBias, kSecond, kSecondBias, kThird, kThirdBias };
  const ExpertLayer layers[3] = {{r.in(kFirst), r.in(kFirstBias)},
                                 {r.in(kSecond), r.in(kSecondBias)},
                                 {r.in(kThird), r.in(kThirdBias)}};
  const bool normalized = r.attrs().Int("normalize_routing_weights", 0) != 0;
  return Mixture(r, {r.in(kRouter), nullptr, normalized}, layers);
}

// (weights - zero points) * scales of operands that hold them for all experts.
absl::StatusOr<Value*> ExpertWeights(Rewrite& r, size_t weights, size_t scales, size_t zeros) {
  Builder& b = r.b;
  const int64_t bits = r.attrs().Int("expert_weight_bits", 4);
  X2IR_RETURN_IF_ERROR(CheckBits("expert_weight_bits", bits));
  const Tensor* bytes = r.in(weights)->fixed_constant();
  if (!bytes) return Unimplemented("operand ", weights, ": weights that are computed");
  if (bytes->rank() != 3) return Invalid("operand ", weights, ": expected rank 3");
  if (!r.has(scales)) return Invalid("operand ", scales, ": scales are missing");
  const int64_t experts = bytes->dim(0), rows = bytes->dim(1), size = bytes->dim(2) * (8 / bits);
  const bool blocks_along_rows = r.rank(scales) == 3;
  const Dim last = blocks_along_rows ? DimAt(r.in(scales), 2) : Dim(1);
  if (size < 1 || !last.is_static() || last.value() < 1 || size % last.value() != 0) {
    return Invalid("operand ", scales, ": ", last.ToString(), " scales for ", size, " numbers");
  }
  const int64_t blocks = last.value();
  if (const int64_t block = r.attrs().Int("block_size", 0); block > 0 && size / blocks != block) {
    return Invalid("block_size: ", block, " for ", size, " numbers in ", blocks, " blocks");
  }
  X2IR_ASSIGN_OR_RETURN(const Tensor numbers, UnpackedRows(*bytes, experts * rows, size, bits));
  Tensor middle = MiddleZeroPoints(experts * rows, blocks, bits);
  if (r.has(zeros)) {
    const Tensor* given = r.in(zeros)->fixed_constant();
    if (!given) return Unimplemented("operand ", zeros, ": zero points that are computed");
    X2IR_ASSIGN_OR_RETURN(middle, blocks_along_rows
                                      ? UnpackedRows(*given, experts * rows, blocks, bits)
                                      : UnpackedRows(*given, experts, rows, bits));
  }
  Value* points = b.Constant(middle.Reshaped({experts, rows, blocks}), "zero_points");
  Value* steps = Reshape({b, r.in(scales)}, {experts, rows, blocks});
  return b.Op("dequantize_linear",
              {b.Constant(numbers.Reshaped({experts, rows, size}), "weights"), steps, points},
              {{"axis", 2}, {"block_size", size / blocks}});
}

// Whatever normalize_routing_weights says, the kernel for CPUs has the weights of the chosen
// experts add up to 1, unless they are given.
absl::StatusOr<Values> FromQMoE(Rewrite& r) {
  enum {
    kX,
    kRouter,
    kFirst,
    kFirstScales,
    kFirstBias,
    kSecond,
    kSecondScales,
    kSecondBias,
    kThird,
    kThirdScales,
    kThirdBias,
    kFirstZeros,
    kSecondZeros,
    kThirdZeros,
    kRouterWeights,
    kOthers
  };
  if (const std::string type = r.attrs().String("quant_type", "int"); type != "int") {
    return Unimplemented("quant_type '", type, "'; int is read");
  }
  if (r.attrs().Int("weights_prepacked", -1) == 1) {
    return Unimplemented("weights_prepacked: weights in an order of the device");
  }
  for (size_t i = kOthers; i < r.node.num_inputs(); ++i) {
    if (r.has(i)) return Unimplemented("operand ", i, ": scales of other quant_types");
  }
  ExpertLayer layers[3] = {{nullptr, r.in(kFirstBias)}, {nullptr, r.in(kSecondBias)}, {}};
  X2IR_ASSIGN_OR_RETURN(layers[0].weights, ExpertWeights(r, kFirst, kFirstScales, kFirstZeros));
  X2IR_ASSIGN_OR_RETURN(layers[1].weights, ExpertWeights(r, kSecond, kSecondScales, kSecondZeros));
  if (r.has(kThird)) {
    layers[2].bias = r.in(kThirdBias);
    X2IR_ASSIGN_OR_RETURN(layers[2].weights, ExpertWeights(r, kThird, kThirdScales, kThirdZeros));
  }
  const bool normalized =
      !r.has(kRouterWeights) || r.attrs().Int("normalize_routing_weights", 0) != 0;
  return Mixture(r, {r.in(kRouter), r.in(kRouterWeights), normalized}, layers);
}

X2IR_ONNX(matmul)
    .Is("com.microsoft::MoE", Since(1), Code{FromMoE, nullptr})
    .Is("com.microsoft::QMoE", Since(1), Code{FromQMoE, nullptr});

}  // namespace
}  // namespace x2ir
