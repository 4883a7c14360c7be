// Keras, written: attention with its four projections is MultiHeadAttention, or GroupQueryAttention
// where heads share keys. They are found before the passes, which join projections of one tensor.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/dialect.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/write_attention_parts.h"
#include "x2ir/handlers/keras/write_internal.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/match.h"

namespace x2ir {
namespace {

const std::vector<int64_t> kHeadsAside = {0, 2, 1, 3}, kKeysTurned = {0, 2, 3, 1};

class AttentionLayer {
 public:
  explicit AttentionLayer(Node& core) : core_(core) {}

  // Where the node and those around it are a layer, the layer takes their place.
  void Fuse() {
    if (!(core_.Is("attention") ? TakeOp() : TakeFormula()) || !TakeProjections()) return;
    if (TakeOutput() && Fits()) Write();
  }

 private:
  bool TakeOp() {
    for (size_t i = 4; i < core_.num_inputs(); ++i) {
      if (core_.input(i)) return false;
    }
    for (size_t i = 1; i < core_.num_outputs(); ++i) {
      if (core_.output(i) && !core_.output(i)->is_unused()) return false;
    }
    const AttributeMap& attrs = core_.attrs();
    if (attrs.Float("softcap", 0) != 0 || attrs.Has("softmax_precision") ||
        attrs.Int("left_window_size", -1) >= 0 || attrs.Int("right_window_size", -1) >= 0 ||
        attrs.Has("q_num_heads") || !core_.input(0) || !core_.input(1) || !core_.input(2)) {
      return false;
    }
    masks_.causal = attrs.Int("is_causal", 0) != 0;
    scale_ = attrs.Has("scale") ? std::optional<double>(attrs.Float("scale")) : std::nullopt;
    query_ = ProjectionOf(core_.input(0), kHeadsAside);
    key_ = ProjectionOf(core_.input(1), kHeadsAside);
    value_ = ProjectionOf(core_.input(2), kHeadsAside);
    if (query_ && key_ && value_ && key_->times == 1 && value_->times == 1 && key_->heads > 0 &&
        key_->heads == value_->heads && query_->heads % key_->heads == 0) {
      key_->times = value_->times = query_->heads / key_->heads;
    }
    return core_.num_inputs() < 4 || !core_.input(3) || TakeKnownMask(core_.input(3));
  }

  // One that is known: where all counts, or what is causal. Layers take no constants, and a query
  // that sees nothing has zeros in the IR, and a mean in Keras.
  bool TakeKnownMask(const Value* value) {
    const auto mask = ComputedConstant(value);
    if (!mask || mask->dtype() != DType::kBool || mask->rank() < 2) return false;
    const std::vector<int64_t>& dims = mask->dims();
    const int64_t columns = dims.back(), rows = dims[dims.size() - 2];
    if (columns < 1 || !ProvablyEqual(DimAt(core_.input(1), 2), Dim(columns))) return false;
    bool all = true, lower = ProvablyEqual(DimAt(core_.input(0), 2), Dim(rows));
    const std::byte* sees = mask->bytes().data();
    for (int64_t i = 0; i < mask->num_elements() && (all || lower); ++i) {
      const bool one = sees[i] != std::byte{0};
      all = all && one;
      lower = lower && one == (i % columns <= i / columns % rows);
    }
    masks_.causal = masks_.causal || !all;
    return all || lower;
  }

  // softmax(q k^T + ..) v.
  bool TakeFormula() {
    const Node* softmax = MadeBy(core_.input(0), "softmax");
    if (!softmax || !UserOf(softmax->output(0)) || !IsOfRank(softmax->output(0), 4)) {
      return false;
    }
    const int64_t axis = softmax->attrs().Int("axis");
    if (axis != -1 && axis != 3) return false;
    Value* scores = softmax->input(0);
    Value* mask = nullptr;
    if (const Node* add = MadeBy(scores, "add"); add && UserOf(scores)) {
      for (const size_t i : {0, 1}) {
        if (Value* found = MaskOfAddend(add->input(i))) {
          mask = found;
          scores = add->input(1 - i);
          break;
        }
      }
    }
    const Node* product = MadeBy(scores, "matmul");
    if (!product || !UserOf(scores)) return false;
    query_ = ProjectionOf(product->input(0), kHeadsAside);
    key_ = ProjectionOf(product->input(1), kKeysTurned);
    value_ = ProjectionOf(core_.input(1), kHeadsAside);
    return !mask || TakeMask(mask, DimAt(scores, 2), DimAt(scores, 3));
  }

  bool TakeMask(Value* mask, const Dim& queries, const Dim& keys) {
    const Node* unsqueeze = MadeBy(mask, "unsqueeze");
    if (!IsOfRank(mask, 4) || DimAt(mask, 1) != Dim(1)) return false;
    if (!unsqueeze || !IsOfRank(unsqueeze->input(0), 3)) return false;
    masks_.Add(unsqueeze->input(0), queries, keys);
    return true;
  }

  bool TakeProjections() {
    if (!query_ || !key_ || !value_ || query_->times != 1) return false;
    if (key_->size != query_->size || key_->times != value_->times ||
        key_->heads != value_->heads || query_->heads != key_->heads * key_->times) {
      return false;
    }
    grouped_ = key_->times > 1;
    if (value_->factor != 1 || query_->size < 1) return false;
    const double usual = 1 / std::sqrt(static_cast<double>(query_->size));
    const double scale = scale_.value_or(usual) * query_->factor * key_->factor;
    return IsRounded(scale, usual, core_.output(0)->dtype());
  }

  // What becomes of [batch, heads, queries, size].
  bool TakeOutput() {
    const Node* transpose = OnlyUser(core_.output(0), "transpose");
    if (!transpose || transpose->attrs().Ints("perm", {}) != kHeadsAside) return false;
    const Value* apart = transpose->output(0);
    const Node* reshape = OnlyUser(apart, "reshape");
    const int64_t width = query_->heads * value_->size;
    if (!reshape || reshape->input(0) != apart) return false;
    const Value* flat = reshape->output(0);
    Node* product = IsOfRank(flat, 3) ? OnlyUser(flat, "matmul") : nullptr;
    if (!product || product->input(0) != flat || DimAt(flat, 2) != Dim(width) ||
        !ProvablyEqual(DimAt(flat, 0), DimAt(apart, 0)) ||
        !ProvablyEqual(DimAt(flat, 1), DimAt(apart, 1))) {
      return false;
    }
    const auto kernel = ConstantAfterMoves(product->input(1));
    if (!kernel || kernel->rank() != 2 || kernel->dim(0) != width) return false;
    output_kernel_ = kernel->Reshaped({query_->heads, value_->size, kernel->dim(1)});
    last_ = product;
    if (Node* add = OnlyUser(product->output(0), "add")) {
      AndBias with = TakeAddedBias(add->output(0), {kernel->dim(1)});
      if (with.bias && with.x == product->output(0)) {
        output_bias_ = std::move(with.bias);
        last_ = add;
      }
    }
    return true;
  }

  bool Fits() const {
    const DType type = core_.output(0)->dtype();
    const Tensor* all[] = {&query_->kernel, &key_->kernel, &value_->kernel, &*output_kernel_};
    for (const Tensor* kernel : all) {
      if (kernel->dtype() != type || !IsFloating(type)) return false;
    }
    for (const auto* bias : {&query_->bias, &key_->bias, &value_->bias, &output_bias_}) {
      if (*bias && (*bias)->dtype() != type) return false;
    }
    // Grouped attention takes and gives tensors of one width.
    const int64_t width = query_->kernel.dim(0);
    return !grouped_ || (value_->kernel.dim(0) == width && output_kernel_->dim(2) == width &&
                         value_->size == query_->size);
  }

  AttributeMap Config() const {
    const bool biased = query_->bias || key_->bias || value_->bias || output_bias_;
    if (grouped_) {
      return {{"head_dim", query_->size},
              {"num_query_heads", query_->heads},
              {"num_key_value_heads", key_->heads},
              {"dropout", 0.0F},
              {"use_bias", int64_t{biased}}};
    }
    AttributeMap config = {{"num_heads", query_->heads},
                           {"key_dim", query_->size},
                           {"value_dim", value_->size},
                           {"dropout", 0.0F},
                           {"use_bias", int64_t{biased}}};
    if (output_kernel_->dim(2) != query_->kernel.dim(0)) {
      config.Set("output_shape", std::vector<int64_t>{output_kernel_->dim(2)});
    }
    return config;
  }

  void Write() {
    Graph& graph = *core_.graph();
    Builder b(graph, last_);
    b.set_name_hint(*last_);
    AttributeMap attrs = Config();
    const bool biased = attrs.Int("use_bias") != 0;
    // In the order of the names, in which Keras goes through them.
    std::vector<Value*> operands = {query_->x};
    Attribute::Strings names;
    const auto give = [&](const char* argument, Value* value) {
      if (!value) return;
      operands.push_back(value);
      names.emplace_back(argument);
    };
    Value* others = nullptr;
    for (Value* mask : masks_.others) others = others ? b.Op("and", {others, mask}) : mask;
    give("attention_mask", others);
    give("key", key_->x == value_->x ? nullptr : key_->x);
    give("key_mask", masks_.of_keys);
    give("value", value_->x);
    give("value_mask", masks_.of_values);
    const auto weigh = [&](const Tensor& kernel, const std::optional<Tensor>& bias,
                           std::vector<int64_t> dims) {
      operands.push_back(b.Constant(kernel, "kernel"));
      if (!biased) return;
      operands.push_back(
          b.Constant(bias ? *bias : Tensor::Zeros(kernel.dtype(), std::move(dims)), "bias"));
    };
    for (const auto* p : {&query_, &key_, &value_}) {
      weigh((*p)->kernel, (*p)->bias, {(*p)->heads, (*p)->size});
    }
    weigh(*output_kernel_, output_bias_, {output_kernel_->dim(2)});
    attrs.Set(keras::kCallInputs, int64_t{1});
    attrs.Set(keras::kCallNames, std::move(names));
    attrs.Set(keras::kCallWeights, int64_t{biased ? 8 : 4});
    attrs.Set(keras::kVersion, int64_t{3});
    if (masks_.causal) attrs.Set(keras::kCausalMask, int64_t{1});
    Node* layer = graph.InsertNode(
        last_, keras::kDialect, grouped_ ? "GroupQueryAttention" : "MultiHeadAttention", operands);
    for (auto& [key, attr] : attrs) layer->SetAttr(key, attr);
    layer->annotations().GetOrMake().extra[kMadeForTarget] = "1";
    layer->set_name(last_->name());
    Value* y = last_->output(0);
    const Type type = y->type();
    graph.AdoptOutput(graph.AddNodeOutput(layer, "", type), y);
    y->set_type(type);
    EraseBackwards(last_);
  }

  // A node that nothing uses now, and those before it that only it used.
  static void EraseBackwards(Node* node) {
    std::vector<Node*> unused = {node};
    while (!unused.empty()) {
      Node* last = unused.back();
      unused.pop_back();
      std::vector<Node*> makers;
      for (Value* operand : last->inputs()) {
        if (operand && operand->producer() && operand->producer()->is_ir()) {
          makers.push_back(operand->producer());
        }
      }
      EraseWithConstants(last);
      for (Node* maker : makers) {
        const bool used = std::any_of(maker->outputs().begin(), maker->outputs().end(),
                                      [](const Value* y) { return y && !y->is_unused(); });
        if (!used && std::find(unused.begin(), unused.end(), maker) == unused.end()) {
          unused.push_back(maker);
        }
      }
    }
  }

  Node& core_;
  std::optional<Projection> query_, key_, value_;
  ScoreMasks masks_;
  std::optional<double> scale_ = 1;  // none: the usual one
  bool grouped_ = false;
  std::optional<Tensor> output_kernel_, output_bias_;
  Node* last_ = nullptr;
};

}  // namespace

absl::Status FuseKerasAttention(Graph& graph) {
  // A layer takes the place of nodes on both sides of its core.
  std::vector<Node*> cores;
  for (Node* node : graph.nodes()) {
    if (node->Is("attention") || (node->Is("matmul") && MadeBy(node->input(0), "softmax"))) {
      cores.push_back(node);
    }
  }
  for (Node* core : cores) AttentionLayer(*core).Fuse();
  return absl::OkStatus();
}

}  // namespace x2ir
