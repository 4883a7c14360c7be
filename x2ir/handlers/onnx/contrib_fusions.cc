// See contrib_fusions.h. The definitions are those of ONNX Runtime's docs/ContribOperators.md.
#include "x2ir/handlers/onnx/contrib_fusions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/onnx/contrib_fusion_util.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// A constant with a number for each element of the last axis of `x`.
bool IsChannelVector(const Value* v, const Value& x) {
  const Tensor* tensor = v ? v->fixed_constant() : nullptr;
  const Shape* shape = x.shape();
  return tensor && !tensor->is_sparse() && tensor->rank() == 1 && shape && shape->rank() > 0 &&
         tensor->dtype() == x.dtype() && shape->dims().back() == Dim(tensor->dim(0));
}

// x + bias, the bias along the last axis.
struct Biased {
  Node* add;
  Value *x, *bias;
};
std::optional<Biased> AsBiased(const Value* sum, const Graph& graph) {
  Node* add = MadeByIr(sum, "add", graph);
  if (!add || !IsUsedOnce(*sum)) return std::nullopt;
  for (size_t i : {0, 1}) {
    Value *x = add->input(1 - i), *bias = add->input(i);
    if (IsChannelVector(bias, *sum) && HaveOneShape(x, sum)) return Biased{add, x, bias};
  }
  return std::nullopt;
}

std::optional<float> ScalarOf(const Value* v) {
  const Tensor* tensor = v ? v->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || tensor->num_elements() != 1) return std::nullopt;
  return static_cast<float>(tensor->AsDouble(0));
}

class Fusion {
 public:
  Fusion(Graph& graph, const Target& target) : site_(graph, target), graph_(graph) {}

  void Run() {
    // Attention may take queries and keys as rows, which their embedding gives then.
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) Fusion(*inner, site_.target()).Run();
      if (!node->is_erased() && node->is_ir()) FuseContribAttention(site_, *node, masks_);
    }
    for (Node* node : graph_.nodes()) {
      if (node->is_erased() || !node->is_ir()) continue;
      if (FuseNorm(*node) || FuseGelu(*node) || FuseSwish(*node) ||
          FuseContribBlocks(site_, *node)) {
        continue;
      }
      FuseRotary(*node);
    }
  }

 private:
  Node* Make(Node* before, std::string_view op, std::vector<Value*> operands, Value* result) {
    return site_.MakeContrib(before, op, std::move(operands), result);
  }
  void Take(Node* node, Value* value) { site_.Take(node, value); }
  void Drop(Node* node) { site_.Drop(node); }

  bool FuseNorm(Node& norm) {
    const bool rms = norm.op() == "rms_normalization";
    if (!rms && norm.op() != "layer_normalization") return false;
    Value* x = norm.input(0);
    const int64_t rank = x && x->shape() ? x->shape()->rank() : -1;
    const int64_t axis = norm.attrs().Int("axis", -1);
    if (rank < 1 || (axis != -1 && axis != rank - 1) || !HasKernels(*x)) return false;
    if (norm.attrs().String("stash_type", "float32") != "float32") return false;
    for (size_t i = 1; i < norm.num_outputs(); ++i) {
      if (norm.output(i) && !norm.output(i)->is_unused()) return false;
    }
    Value *scale = norm.input(1), *shift = norm.input(2);
    if (!IsChannelVector(scale, *x) || (shift && !IsChannelVector(shift, *x))) return false;
    const auto epsilon = static_cast<float>(norm.attrs().Float("epsilon", 1e-5));
    if (FuseSkip(norm, x, scale, shift, rms, epsilon)) return true;
    if (!rms) return false;
    // An op that ONNX Runtime has in ONNX's own domain.
    Node* fused = site_.Make(&norm, "SimplifiedLayerNormalization", {x, scale}, norm.output(0));
    fused->SetAttr("axis", axis);
    fused->SetAttr("epsilon", epsilon);
    fused->SetAttr("stash_type", int64_t{1});
    Drop(&norm);
    return true;
  }

  // A product that something of its shape is added to, as a product and an add.
  Node* AddOfProduct(Value* sum) {
    Node* gemm = MadeByIr(sum, "gemm", graph_);
    Value* addend = gemm ? gemm->input(2) : nullptr;
    if (!addend || !HaveOneShape(addend, sum) || gemm->attrs().Float("beta", 1) != 1)
      return nullptr;
    Builder b(graph_, gemm);
    b.set_name_hint(std::string(sum->name()));
    Value* product = b.Op("gemm", {gemm->input(0), gemm->input(1)}, gemm->attrs());
    Value* add = b.Op("add", {addend, product});
    site_.Name(b, sum->name());
    ReplaceUsesByOlder(graph_, sum, add);
    Drop(gemm);
    return add->producer();
  }

  bool FuseSkip(Node& norm, Value* sum, Value* scale, Value* shift, bool rms, float epsilon) {
    Node* add = MadeByIr(sum, "add", graph_);
    const int64_t rank = sum->shape()->rank();
    if (rank != 2 && rank != 3) return false;
    if (!add) {
      add = AddOfProduct(sum);
      if (!add) return false;
      sum = add->output(0);
    }
    Value *x = add->input(0), *skip = add->input(1);
    if (!HaveOneShape(x, sum) || !HaveOneShape(skip, sum)) return false;
    // (x + bias) + skip, in the order in which the kernel adds.
    std::optional<Biased> biased;
    if (x != skip) {
      biased = AsBiased(x, graph_);
      if (!biased && (biased = AsBiased(skip, graph_))) std::swap(x, skip);
      if (biased) x = biased->x;
    }
    Value* bias = biased ? biased->bias : nullptr;
    const bool keeps_sum = sum->is_graph_output() || sum->uses().size() > 1;
    std::vector<Value*> operands = {x, skip, scale};
    if (!rms) operands.push_back(shift);
    operands.push_back(bias);
    Node* fused = Make(add, rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
                       std::move(operands), norm.output(0));
    fused->SetAttr("epsilon", epsilon);
    Drop(&norm);
    if (keeps_sum) {
      graph_.AddMissingOutput(fused);  // the mean, and the inverse of the deviation
      graph_.AddMissingOutput(fused);
      Take(fused, sum);
    }
    Drop(add);
    if (biased) Drop(biased->add);
    return true;
  }

  bool FuseGelu(Node& gelu) {
    if (gelu.op() != "gelu" || !HasKernels(*gelu.output(0))) return false;
    const bool tanh = gelu.attrs().String("approximate", "none") == "tanh";
    const auto biased = AsBiased(gelu.input(0), graph_);
    if (!tanh && !biased && site_.target().Has("gelu")) return false;
    Make(&gelu,
         tanh     ? "FastGelu"
         : biased ? "BiasGelu"
                  : "Gelu",
         {biased ? biased->x : gelu.input(0), biased ? biased->bias : nullptr}, gelu.output(0));
    Drop(&gelu);
    if (biased) Drop(biased->add);
    return true;
  }

  bool FuseSwish(Node& node) {
    if (!node.output(0) || !HasKernels(*node.output(0))) return false;
    if (node.op() == "swish") {
      const auto alpha = static_cast<float>(node.attrs().Float("alpha", 1));
      Make(&node, "QuickGelu", {node.input(0)}, node.output(0))->SetAttr("alpha", alpha);
      Drop(&node);
      return true;
    }
    if (node.op() != "mul") return false;
    for (size_t i : {0, 1}) {
      Value* x = node.input(1 - i);
      Node* sigmoid = MadeByIr(node.input(i), "sigmoid", graph_);
      if (!sigmoid || !IsUsedOnce(*node.input(i)) || !HaveOneShape(x, node.output(0))) continue;
      Node* scaled = nullptr;
      float alpha = 1;
      if (sigmoid->input(0) != x) {
        scaled = MadeByIr(sigmoid->input(0), "mul", graph_);
        if (!scaled || !IsUsedOnce(*sigmoid->input(0))) continue;
        const size_t at = scaled->input(0) == x ? 1 : 0;
        const std::optional<float> number = ScalarOf(scaled->input(at));
        if (!number || scaled->input(1 - at) != x) continue;
        alpha = *number;
      }
      Make(&node, "QuickGelu", {x}, node.output(0))->SetAttr("alpha", alpha);
      Drop(&node);
      Drop(sigmoid);
      if (scaled) Drop(scaled);
      return true;
    }
    return false;
  }

  // The kernel picks rows of tables by positions. Rows that were picked already, [batch, length,
  // half], become tables whose rows are in the order of the words.
  struct RotaryCache {
    Value *cos, *sin, *positions;
  };
  bool Tabulate(Node& node, RotaryCache& cache) {
    const Shape* shape = cache.cos->shape();
    if (!shape || shape->rank() != 3 || !(*shape)[2].is_static()) return false;
    auto [it, is_new] = tables_.try_emplace(cache.cos, cache);
    if (is_new) {
      Builder b(graph_, &node);
      b.set_name_hint(std::string(cache.cos->name()));
      const Expr cos{b, cache.cos}, sin{b, cache.sin};
      const Size batch = SizeAt(cos, 0), length = SizeAt(cos, 1), half = SizeAt(cos, 2);
      const Expr count = Scalar(b, Times(b, batch, length));
      it->second = {ReshapeTo(cos, {Size(-1), half}), ReshapeTo(sin, {Size(-1), half}),
                    ReshapeTo(Iota(count), {batch, length})};
      site_.Name(b, cache.cos->name());
    }
    cache = it->second;
    return true;
  }

  bool FuseRotary(Node& node) {
    enum { kX, kCos, kSin, kPositions };
    if (node.op() != "rotary_embedding") return false;
    const Value* x = node.input(kX);
    if (!x || !HasKernels(*x) || !x->shape()) return false;
    RotaryCache cache{node.input(kCos), node.input(kSin), node.input(kPositions)};
    // ONNX's own op takes cosines and sines without positions: no tables have to be made.
    const bool has_own = site_.target().Holds(Fact::Has("rotary_embedding"));
    if (!cache.positions && (has_own || !Tabulate(node, cache))) return false;
    const int64_t turned = node.attrs().Int("rotary_embedding_dim", 0);
    int64_t heads = node.attrs().Int("num_heads", 0);
    if (x->shape()->rank() == 4 && heads == 0) {
      if (!(*x->shape())[1].is_static()) return false;
      heads = (*x->shape())[1].value();
    }
    const int64_t interleaved = node.attrs().Int("interleaved", 0);
    Node* fused = Make(&node, "RotaryEmbedding",
                       {node.input(kX), cache.positions, cache.cos, cache.sin}, node.output(0));
    fused->SetAttr("interleaved", interleaved);
    fused->SetAttr("num_heads", heads);
    fused->SetAttr("rotary_embedding_dim", turned);
    Drop(&node);
    return true;
  }

  FusionSite site_;
  Graph& graph_;
  MaskForms masks_;
  absl::flat_hash_map<const Value*, RotaryCache> tables_;
};

}  // namespace

std::vector<Symbol> ContribOps() {
  return {"attention",        "gelu", "layer_normalization", "rms_normalization",
          "rotary_embedding", "swish"};
}

void UseContribOps(Graph& graph, const Target& target) { Fusion(graph, target).Run(); }

}  // namespace x2ir
