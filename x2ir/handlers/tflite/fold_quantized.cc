#include "x2ir/handlers/tflite/fold_quantized.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/recall.h"

namespace x2ir {
namespace {

using tflite::Quantization;

bool IsOfLite(const Node* node, std::string_view op) {
  return node && node->dialect() == Symbol(tflite::kDialect) && node->op().view() == op;
}

std::optional<Quantization> ScalesOf(const Value* v) {
  if (!v) return std::nullopt;
  auto q = tflite::QuantizationOf(*v);
  return q.ok() ? *std::move(q) : std::nullopt;
}

// One scale for the whole tensor, which a kernel can compute with.
bool IsPlain(const Quantization& q) {
  return q.scales.size() == 1 && q.block_size == 0 && std::isfinite(q.scales[0]) && q.scales[0] > 0;
}
bool IsSame(const Quantization& a, const Quantization& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points;
}
bool HasZeroPoints(const Quantization& q) {
  return std::all_of(q.zero_points.begin(), q.zero_points.end(), [](int64_t z) { return z == 0; });
}

bool HasNoActivation(const Node& node) {
  return node.attrs().String("fused_activation_function", "NONE") == "NONE";
}

int64_t LeastInteger(DType t) { return IsSignedInt(t) ? -(int64_t{1} << (BitWidth(t) - 1)) : 0; }
int64_t LargestInteger(DType t) {
  const int bits = BitWidth(t) - (IsSignedInt(t) ? 1 : 0);
  return bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
}

template <typename T>
void Store(Tensor& tensor, int64_t i, int64_t number) {
  tensor.mutable_span<T>()[static_cast<size_t>(i)] = static_cast<T>(number);
}
void StoreInteger(Tensor& tensor, int64_t i, int64_t number) {
  switch (tensor.dtype()) {
    case DType::kInt8: return Store<int8_t>(tensor, i, number);
    case DType::kUInt8: return Store<uint8_t>(tensor, i, number);
    case DType::kInt16: return Store<int16_t>(tensor, i, number);
    case DType::kInt32: return Store<int32_t>(tensor, i, number);
    default: return Store<int64_t>(tensor, i, number);
  }
}

// Calls fn(element, index of its scale).
template <typename Fn>
void ForEachScaled(const Tensor& tensor, const Quantization& q, Fn fn) {
  int64_t inner = 1;
  for (int64_t i = q.axis + 1; i < tensor.rank(); ++i) inner *= tensor.dim(i);
  const auto count = static_cast<int64_t>(q.scales.size());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    fn(i, static_cast<size_t>(count == 1 ? 0 : i / inner % count));
  }
}

// The same numbers as integers of the other sign: int8 for uint8, and back.
Tensor OfOtherSign(const Tensor& tensor) {
  const bool to_signed = tensor.dtype() == DType::kUInt8;
  Tensor out = Tensor::Zeros(to_signed ? DType::kInt8 : DType::kUInt8, tensor.dims());
  const auto in = tensor.bytes();
  const auto bytes = out.mutable_bytes();
  for (size_t i = 0; i < in.size(); ++i) bytes[i] = in[i] ^ std::byte{0x80};
  return out;
}
Quantization OfOtherSign(Quantization q, bool to_signed) {
  for (int64_t& z : q.zero_points) z += to_signed ? -128 : 128;
  return q;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph) {}

  absl::Status Run() {
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Folder(*inner).Run());
    }
    // A layout change of weights may leave the old DEQUANTIZE without uses.
    for (Node* node : graph_.nodes()) {
      if (IsOfLite(node, "DEQUANTIZE") && node->output(0)->is_unused()) graph_.EraseUnused(node);
    }
    X2IR_RETURN_IF_ERROR(Spread());
    if (NeedsSigned()) UseSigned();
    Hoist();
    for (Node* node : graph_.nodes()) {
      if (node->dialect() == Symbol(tflite::kDialect)) Fold(node);
    }
    Settle();
    return absl::OkStatus();
  }

 private:
  // --- Integers that move -----------------------------------------------------------------------

  // Operators that move elements of quantized integers have quantized operands and results.
  absl::Status Spread() {
    std::vector<Node*> moving;
    for (Node* node : graph_.nodes()) {
      const QuantizedKernel* kernel = node->dialect() == Symbol(tflite::kDialect)
                                          ? QuantizedKernelOf(node->op().view())
                                          : nullptr;
      if (kernel && kernel->scales == Scales::kCommutes && !IsRecalled(*node)) {
        moving.push_back(node);
      }
    }
    for (Node* node : moving) PadWithInteger(node);
    for (Node* node : moving) X2IR_RETURN_IF_ERROR(SpreadAt(node));
    for (; !moving.empty(); moving.pop_back()) X2IR_RETURN_IF_ERROR(SpreadAt(moving.back()));
    return absl::OkStatus();
  }
  // Whether the kernel reads scales.
  static bool LooksAtScales(std::string_view op) {
    static constexpr std::string_view kOps[] = {"CONCATENATION",
                                                "MAXIMUM",
                                                "MAX_POOL_2D",
                                                "MINIMUM",
                                                "MIRROR_PAD",
                                                "PACK",
                                                "PAD",
                                                "PADV2",
                                                "REDUCE_MAX",
                                                "REDUCE_MIN",
                                                "RESIZE_NEAREST_NEIGHBOR",
                                                "SELECT_V2"};
    return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
  }
  absl::Status SpreadAt(Node* node) {
    std::vector<Value*> all;
    std::optional<Quantization> q;
    DType type = DType::kUndefined;
    bool differ = false;
    const auto add = [&](Value* v) {
      if (!v || BitWidth(v->dtype()) > 16 || !IsInteger(v->dtype())) return;
      if (tflite::IsQuantized(*v)) {
        const auto own = ScalesOf(v);
        differ |= q && own && !IsSame(*q, *own);
        if (!q) q = own;
        type = v->dtype();
      }
      all.push_back(v);
    };
    for (Value* v : node->inputs()) add(v);
    for (Value* v : node->outputs()) add(v);
    if (differ) return Relabel(node, *q);
    if (!q || !IsPlain(*q)) return absl::OkStatus();
    for (Value* v : all) {
      if (v->dtype() != type || tflite::IsQuantized(*v)) continue;
      if (v->fixed_constant() && v->uses().size() > 1) {
        Value* copy = graph_.AddConstant(graph_.UniqueName(v->name()), *v->fixed_constant());
        for (size_t i = 0; i < node->num_inputs(); ++i) {
          if (node->input(i) == v) node->SetInput(i, copy);
        }
        v = copy;
      }
      tflite::SetQuantization(*v, *q);
    }
    PadWithZero(node, *q);
    return absl::OkStatus();
  }
  // The scales before and after the operator differ, which runtimes refuse (XNNPACK) or read as a
  // request to requantize: the operator uses the scale of its first operand, and the
  // other operands and results are the same integers with another scale.
  absl::Status Relabel(Node* node, const Quantization& q) {
    const auto differs = [&](const Value* v) {
      const auto own = v && tflite::IsQuantized(*v) ? ScalesOf(v) : std::nullopt;
      return own && !IsSame(*own, q);
    };
    if (!IsPlain(q) && LooksAtScales(node->op().view())) {
      return CannotExpress(node->op().view(), " of integers in different steps");
    }
    for (size_t i = 0; i < node->num_inputs(); ++i) {
      Value* v = node->input(i);
      if (!differs(v)) continue;
      Value* as = nullptr;
      if (const Tensor* constant = v->fixed_constant()) {
        as = graph_.AddConstant(graph_.UniqueName(v->name()), *constant);
      } else {
        Node* made = graph_.InsertNode(node, tflite::kDialect, "BITCAST", {v});
        as = graph_.AddNodeOutput(made, graph_.UniqueName(v->name() + "_steps"), v->type());
      }
      tflite::SetQuantization(*as, q);
      node->SetInput(i, as);
    }
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      Value* v = node->output(i);
      if (!differs(v)) continue;
      const Type type = v->type();
      Node* made = graph_.InsertNode(node->next(), tflite::kDialect, "BITCAST", {});
      graph_.AdoptOutput(graph_.AddNodeOutput(made, "", type), v);
      Value* own = graph_.FillOutput(node, i, graph_.UniqueName(v->name() + "_steps"), type);
      tflite::SetQuantization(*own, q);
      made->AddInput(own);
    }
    PadWithZero(node, q);
    return absl::OkStatus();
  }
  // PAD adds the zero point. Integers without a scale need the integer 0, which PADV2 gets here.
  void PadWithInteger(Node* node) {
    const Value* y = node->output(0);
    if (node->op().view() != "PAD" || !IsInteger(y->dtype()) || BitWidth(y->dtype()) > 16) return;
    Value* zero = graph_.AddConstant(graph_.UniqueName("zero"), Tensor::Zeros(y->dtype(), {}));
    node->set_op(tflite::kDialect, "PADV2");
    node->SetInputs({node->input(0), node->input(1), zero});
  }
  void PadWithZero(Node* node, const Quantization& q) {
    if (node->op().view() != "PADV2") return;
    const Tensor* value = node->input(2) ? node->input(2)->fixed_constant() : nullptr;
    if (!value || !IsInteger(value->dtype()) || value->num_elements() != 1 ||
        value->AsInt(0) != q.zero_points[0]) {
      return;
    }
    node->set_op(tflite::kDialect, "PAD");
    node->SetInputs({node->input(0), node->input(1)});
  }

  // --- Units ------------------------------------------------------------------------------------

  // The integers that are dequantized to the operand; null: it is something else.
  Value* SourceOf(const Value* v) const {
    Node* maker = v ? v->producer() : nullptr;
    if (!IsOfLite(maker, "DEQUANTIZE") || maker->graph() != &graph_) return nullptr;
    Value* x = maker->input(0);
    return x && tflite::IsQuantized(*x) ? x : nullptr;
  }

  // What the result is quantized to, and where.
  struct Wanted {
    Quantization q;
    std::vector<Node*> nodes;  // those that do
  };
  std::optional<Wanted> WantedOf(const Value* y, DType type) const {
    if (!y || y->is_graph_output() || y->uses().empty()) return std::nullopt;
    Wanted wanted;
    for (const Use& use : y->uses()) {
      Node* node = use.node;
      if (!IsOfLite(node, "QUANTIZE") || node->graph() != &graph_ ||
          node->output(0)->dtype() != type) {
        return std::nullopt;
      }
      const auto q = ScalesOf(node->output(0));
      if (!q || !IsPlain(*q) || (!wanted.nodes.empty() && !IsSame(*q, wanted.q))) {
        return std::nullopt;
      }
      wanted.q = *q;
      wanted.nodes.push_back(node);
    }
    return wanted;
  }

  struct Operand {
    size_t at;
    Value* source;  // null: a constant of floats
    Quantization q;
  };
  // The operands that are floats; nullopt: one of them is neither dequantized nor a constant.
  std::optional<std::vector<Operand>> OperandsOf(const Node& node) const {
    std::vector<Operand> all;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* v = node.input(i);
      if (!v || v->dtype() != DType::kFloat32) continue;
      Value* source = SourceOf(v);
      if (!source && !v->fixed_constant()) return std::nullopt;
      Operand operand{i, source, {}};
      if (source) {
        const auto q = ScalesOf(source);
        if (!q) return std::nullopt;
        operand.q = *q;
      }
      all.push_back(std::move(operand));
    }
    return all;
  }

  void Fold(Node* node) {
    const QuantizedKernel* kernel = QuantizedKernelOf(node->op().view());
    if (!kernel) {
      if (IsOfLite(node, "QUANTIZE")) Requantize(node);
      return;
    }
    if (kernel->scales == Scales::kWeights) return FoldProducts(node, *kernel);
    auto operands = OperandsOf(*node);
    if (!operands || operands->empty()) return;
    DType type = DType::kUndefined;
    for (const Operand& operand : *operands) {
      if (!operand.source) continue;
      if (type == DType::kUndefined) type = operand.source->dtype();
      if (operand.source->dtype() != type || !IsPlain(operand.q)) return;
    }
    if (type == DType::kUndefined || !kernel->Takes(type)) return;
    // Kernels of 16 bits know no zero points.
    for (const Operand& operand : *operands) {
      if (type == DType::kInt16 && operand.source && !HasZeroPoints(operand.q)) return;
    }
    if (kernel->scales == Scales::kCompares) return FoldComparison(node, *operands);
    const auto wanted = node->num_outputs() == 1 ? WantedOf(node->output(0), type) : std::nullopt;
    if (!wanted) {
      if (kernel->scales == Scales::kCommutes) Sink(node, *operands, type);
      return;
    }
    if (type == DType::kInt16 && !HasZeroPoints(wanted->q)) return;
    Quantization result = wanted->q;
    switch (kernel->scales) {
      case Scales::kCommutes:
        for (Operand& operand : *operands) {
          if (!Align(node, &operand, wanted->q, type)) return;
        }
        break;
      case Scales::kSame:
        for (const Operand& operand : *operands) {
          if (!operand.source || !IsSame(operand.q, wanted->q)) return;
        }
        break;
      case Scales::kFixed: {
        const auto fixed = FixedScaleOf(node->op().view(), type);
        if (!fixed) return;
        result.scales = {fixed->scale};
        result.zero_points = {fixed->zero_point};
        // Finer steps than the kernel has would lose digits.
        if (wanted->q.scales[0] < 0.5f * fixed->scale) return;
        [[fallthrough]];
      }
      default:
        for (Operand& operand : *operands) {
          if (!operand.source && !AsScalar(node, &operand, type)) return;
        }
    }
    Apply(node, *operands, *wanted, result, type);
  }

  // The operand in the result's steps, which rounds what the result would have rounded.
  bool Align(Node* node, Operand* operand, const Quantization& to, DType type) {
    if (!operand->source) {
      const Value* v = node->input(operand->at);
      auto tensor = QuantizedTensor(*v->fixed_constant(), to, type);
      if (!tensor) return false;
      operand->source = graph_.AddConstant(graph_.UniqueName(v->name()), *std::move(tensor));
    } else if (IsSame(operand->q, to)) {
      return true;
    } else if (const Tensor* constant = operand->source->fixed_constant()) {
      auto tensor = QuantizedTensor(DequantizedTensor(*constant, operand->q), to, type);
      if (!tensor) return false;
      operand->source =
          graph_.AddConstant(graph_.UniqueName(operand->source->name()), *std::move(tensor));
    } else {
      const Value* from = operand->source;
      Node* made = graph_.InsertNode(node, tflite::kDialect, "QUANTIZE", {operand->source});
      operand->source = graph_.AddNodeOutput(made, graph_.UniqueName(from->name() + "_requantized"),
                                             from->type());
    }
    tflite::SetQuantization(*operand->source, to);
    operand->q = to;
    return true;
  }

  // A constant of one number is a step of its own, exactly.
  bool AsScalar(Node* node, Operand* operand, DType type) {
    const Value* v = node->input(operand->at);
    const Tensor* constant = v->fixed_constant();
    if (constant->num_elements() != 1 || constant->is_sparse() || type == DType::kUInt8) {
      return false;
    }
    const auto number = static_cast<float>(constant->AsDouble(0));
    if (!std::isfinite(number) || (number != 0 && !std::isnormal(number))) return false;
    operand->q = {{number == 0 ? 1.0f : std::fabs(number)}, {0}, 0, 0};
    auto tensor = QuantizedTensor(*constant, operand->q, type);
    if (!tensor) return false;
    operand->source = graph_.AddConstant(graph_.UniqueName(v->name()), *std::move(tensor));
    tflite::SetQuantization(*operand->source, operand->q);
    return true;
  }

  // Integers of the same steps compare as the floats do.
  void FoldComparison(Node* node, const std::vector<Operand>& operands) {
    for (const Operand& operand : operands) {
      if (!operand.source || !IsSame(operand.q, operands[0].q)) return;
    }
    Attach(node, operands);
  }

  // Dequantizes after the node instead of before it.
  void Sink(Node* node, const std::vector<Operand>& operands, DType type) {
    bool computed = false;
    for (const Operand& operand : operands) {
      if (!operand.source || !IsSame(operand.q, operands[0].q)) return;
      computed |= !operand.source->fixed_constant();
    }
    if (!computed || !HasNoActivation(*node)) return;
    Attach(node, operands);
    Node* behind = node->next();
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      Value* y = node->output(i);
      if (!y || y->dtype() != DType::kFloat32) continue;
      Type integers = y->type();
      integers.set_dtype(type);
      Node* made = graph_.InsertNode(behind, tflite::kDialect, "DEQUANTIZE", {});
      graph_.AdoptOutput(graph_.AddNodeOutput(made, ""), y);
      Value* x = graph_.FillOutput(node, i, graph_.UniqueName(y->name() + "_quantized"),
                                   std::move(integers));
      tflite::SetQuantization(*x, operands[0].q);
      made->AddInput(x);
    }
  }

  // The operands become integers; nodes that only dequantized them are erased.
  void Attach(Node* node, const std::vector<Operand>& operands) {
    for (const Operand& operand : operands) Replace(node, operand.at, operand.source);
  }
  void Replace(Node* node, size_t i, Value* by) {
    Value* before = node->input(i);
    node->SetInput(i, by);
    if (before && before->is_unused() && IsOfLite(before->producer(), "DEQUANTIZE")) {
      graph_.EraseUnused(before->producer());
    }
  }

  // The node gives integers of the steps `result`; where others are wanted, QUANTIZE makes them.
  void Apply(Node* node, const std::vector<Operand>& operands, const Wanted& wanted,
             const Quantization& result, DType type) {
    Attach(node, operands);
    if (!IsSame(result, wanted.q)) {
      Value* y = node->output(0);
      Type integers = y->type();
      integers.set_dtype(type);
      y->set_type(std::move(integers));
      tflite::SetQuantization(*y, result);
      return;
    }
    // All the same: the first one's is the node's own, of which the others are copies.
    Value* y = wanted.nodes[0]->output(0);
    const Type own = y->type();
    for (size_t i = 1; i < wanted.nodes.size(); ++i) {
      wanted.nodes[i]->SetInput(0, y);
    }
    wanted.nodes[0]->SetInput(0, nullptr);
    graph_.RemoveUnusedOutput(node, 0);
    graph_.AdoptOutput(graph_.AddNodeOutput(node, ""), y);
    y->set_type(own);
    graph_.EraseUnused(wanted.nodes[0]);
  }

  // QUANTIZE of DEQUANTIZE: integers to integers.
  void Requantize(Node* node) {
    Value* x = SourceOf(node->input(0));
    if (!x || x->fixed_constant()) return;
    const auto from = ScalesOf(x), to = ScalesOf(node->output(0));
    if (!from || !to || !IsPlain(*from) || !IsPlain(*to)) return;
    Replace(node, 0, x);
    Value* y = node->output(0);
    if (!IsSame(*from, *to) || x->dtype() != y->dtype() || y->is_graph_output()) return;
    graph_.ReplaceAllUses(y, x);
    graph_.EraseUnused(node);
  }

  // Nodes that move elements before a QUANTIZE move integers instead.
  void Hoist() {
    std::vector<Node*> all;
    for (Node* node : graph_.nodes()) {
      if (IsOfLite(node, "QUANTIZE")) all.push_back(node);
    }
    for (; !all.empty(); all.pop_back()) {
      while (HoistOnce(all.back())) {
      }
    }
  }
  bool HoistOnce(Node* node) {
    Value* x = node->input(0);
    Node* moves = x ? x->producer() : nullptr;
    if (!moves || x->dtype() != DType::kFloat32 || x->uses().size() != 1 || x->is_graph_output() ||
        moves->graph() != &graph_ || moves->dialect() != Symbol(tflite::kDialect) ||
        moves->num_outputs() != 1 || !HasNoActivation(*moves)) {
      return false;
    }
    Value* y = node->output(0);
    const QuantizedKernel* kernel = QuantizedKernelOf(moves->op().view());
    const auto q = ScalesOf(y);
    if (!kernel || kernel->scales != Scales::kCommutes || !kernel->Takes(y->dtype()) || !q ||
        !IsPlain(*q) || (y->dtype() == DType::kInt16 && !HasZeroPoints(*q))) {
      return false;
    }
    std::optional<size_t> at;
    for (size_t i = 0; i < moves->num_inputs(); ++i) {
      const Value* v = moves->input(i);
      if (!v || v->dtype() != DType::kFloat32) continue;
      if (at) return false;
      at = i;
    }
    if (!at || moves->input(*at)->fixed_constant()) return false;
    Value* before = moves->input(*at);
    Type integers = before->type();
    integers.set_dtype(y->dtype());
    const Type own = y->type();
    graph_.MoveBefore(node, moves);
    node->SetInput(0, before);
    graph_.RemoveUnusedOutput(moves, 0);
    graph_.AdoptOutput(graph_.AddNodeOutput(moves, ""), y);
    y->set_type(own);
    Value* fresh = graph_.FillOutput(node, 0, graph_.UniqueName(before->name() + "_quantized"),
                                     std::move(integers));
    tflite::SetQuantization(*fresh, *q);
    moves->SetInput(*at, fresh);
    return true;
  }

  // --- Sums of products -------------------------------------------------------------------------

  // The weights in the type that the kernel takes with such operands; null: there is no kernel.
  Value* WeightsFor(const Node& node, const WeightSlots& slots, DType type, Quantization* q) {
    Value* w = SourceOf(node.input(slots.weights));
    const auto own = ScalesOf(w);
    if (!w || !own || own->block_size != 0) return nullptr;
    *q = *own;
    const bool product = slots.op == "FULLY_CONNECTED";
    const Tensor* constant = w->fixed_constant();
    if (!constant && !product) return nullptr;
    const bool signs_differ = (type == DType::kUInt8 && w->dtype() == DType::kInt8) ||
                              (type == DType::kInt8 && w->dtype() == DType::kUInt8);
    if (signs_differ) {
      if (!constant) return nullptr;
      *q = OfOtherSign(*own, type == DType::kInt8);
      w = graph_.AddConstant(graph_.UniqueName(w->name()), OfOtherSign(*constant));
      tflite::SetQuantization(*w, *q);
    }
    const bool many = q->scales.size() > 1;
    for (const float scale : q->scales) {
      if (!std::isfinite(scale) || scale <= 0) return nullptr;
    }
    if (type == DType::kUInt8) return w->dtype() == type && !many ? w : nullptr;
    if (many && (q->axis != slots.axis || !constant)) return nullptr;
    const bool four_bits = w->dtype() == DType::kInt4 && type == DType::kInt8 && constant &&
                           slots.op != "TRANSPOSE_CONV";
    if (w->dtype() != DType::kInt8 && !four_bits) return nullptr;
    // Only the kernel of FULLY_CONNECTED for int8 reads the zero point of weights.
    const bool looks = product && type == DType::kInt8 && !many && !four_bits;
    return HasZeroPoints(*q) || looks ? w : nullptr;
  }

  void FoldProducts(Node* node, const QuantizedKernel& kernel) {
    const WeightSlots& slots = *WeightSlotsOf(kernel.op);
    Value* x = SourceOf(node->input(slots.x));
    const auto of_x = ScalesOf(x);
    if (!x || !of_x || !IsPlain(*of_x) || !kernel.Takes(x->dtype())) return;
    const DType type = x->dtype();
    if (node->num_outputs() != 1) return;
    const auto wanted = WantedOf(node->output(0), type);
    if (!wanted) return;
    if (type == DType::kInt16 && (!HasZeroPoints(*of_x) || !HasZeroPoints(wanted->q))) return;
    if (IsGrouped(*node, slots) && type != DType::kInt8) return;
    Quantization of_weights;
    Value* weights = WeightsFor(*node, slots, type, &of_weights);
    if (!weights) return;
    std::optional<Value*> bias = BiasFor(*node, slots, type, tflite::ProductOf(*of_x, of_weights));
    if (!bias) return;
    std::vector<Operand> operands = {{slots.x, x, {}}, {slots.weights, weights, {}}};
    if (*bias) operands.push_back({slots.bias, *bias, {}});
    Apply(node, operands, *wanted, wanted->q, type);
  }

  static bool IsGrouped(const Node& node, const WeightSlots& slots) {
    if (slots.op != "CONV_2D") return false;
    const Shape *x = node.input(0)->shape(), *w = node.input(1)->shape();
    return !x || !w || x->rank() != 4 || w->rank() != 4 || !((*x)[3] == (*w)[3]);
  }

  // Null: there is none; nullopt: it cannot be said in these steps.
  std::optional<Value*> BiasFor(const Node& node, const WeightSlots& slots, DType type,
                                const Quantization& steps) {
    Value* v = node.input(slots.bias);
    if (!v) return nullptr;
    const DType wide = type == DType::kInt16 ? DType::kInt64 : DType::kInt32;
    for (const float scale : steps.scales) {
      if (!std::isnormal(scale)) return std::nullopt;
    }
    Tensor floats;
    if (Value* source = SourceOf(v)) {
      const auto q = ScalesOf(source);
      const Tensor* constant = source->fixed_constant();
      if (!q || !constant || q->block_size != 0) return std::nullopt;
      if (constant->dtype() == wide && tflite::IsNear(*q, steps)) return source;
      floats = DequantizedTensor(*constant, *q);
    } else {
      const Tensor* constant = v->fixed_constant();
      if (!constant || constant->is_sparse() || constant->dtype() != DType::kFloat32) {
        return std::nullopt;
      }
      floats = *constant;
    }
    const auto count = static_cast<int64_t>(steps.scales.size());
    if (floats.rank() != 1 || (count > 1 && floats.dim(0) != count)) return std::nullopt;
    Quantization along = steps;
    along.axis = 0;
    for (int64_t i = 0; i < floats.num_elements(); ++i) {
      const double scale =
          static_cast<double>(steps.scales[count == 1 ? 0 : static_cast<size_t>(i)]);
      if (!(std::fabs(floats.AsDouble(i) / scale) < 2147483647.0)) return std::nullopt;
    }
    auto tensor = QuantizedTensor(floats, along, wide);
    if (!tensor) return std::nullopt;
    Value* bias = graph_.AddConstant(graph_.UniqueName(v->name()), *std::move(tensor));
    tflite::SetQuantization(*bias, along);
    return bias;
  }

  // --- uint8 as int8 ----------------------------------------------------------------------------

  // Whether an operator on uint8 has a kernel for int8 alone.
  bool NeedsSigned() const {
    for (const Node* node : std::as_const(graph_).nodes()) {
      const QuantizedKernel* kernel = QuantizedKernelOf(node->op().view());
      if (!kernel || node->dialect() != Symbol(tflite::kDialect)) continue;
      const WeightSlots* slots = WeightSlotsOf(kernel->op);
      const Value* x = SourceOf(node->input(slots ? slots->x : 0));
      if (!x || x->dtype() != DType::kUInt8) continue;
      if (!kernel->Takes(DType::kUInt8) && kernel->Takes(DType::kInt8)) return true;
      const Value* w = slots ? SourceOf(node->input(slots->weights)) : nullptr;
      if (w && w->dtype() != DType::kUInt8) return true;
    }
    return false;
  }

  static bool IsUnsigned(const Value* v) {
    return v && v->dtype() == DType::kUInt8 && tflite::IsQuantized(*v);
  }

  void UseSigned() {
    std::vector<Value*> all;  // intermediate values stay uint8
    for (Value* v : graph_.inputs()) all.push_back(v);
    for (Node* node : graph_.nodes())
      all.insert(all.end(), node->outputs().begin(), node->outputs().end());
    absl::flat_hash_set<const Value*> seen;
    for (Value* v : all) {
      if (IsUnsigned(v) && !seen.contains(v)) ChangeSign(v, &seen);
    }
  }

  // The values that must be of one type with v, if all that makes and takes them allows it.
  void ChangeSign(Value* v, absl::flat_hash_set<const Value*>* seen) {
    std::vector<Value*> all = {v};
    seen->insert(v);
    const auto join = [&](Value* other) {
      if (other && other->dtype() == DType::kUInt8 && seen->insert(other).second) {
        all.push_back(other);
      }
    };
    bool fits = true;
    for (size_t i = 0; i < all.size(); ++i) {
      Value* each = all[i];
      fits &= IsUnsigned(each) && each->graph() == &graph_;
      Node* maker = each->producer();
      const auto visit = [&](Node* node) {
        const bool one = IsOfLite(node, "QUANTIZE") || IsOfLite(node, "DEQUANTIZE");
        if (one) return;
        const QuantizedKernel* kernel = node->dialect() == Symbol(tflite::kDialect)
                                            ? QuantizedKernelOf(node->op().view())
                                            : nullptr;
        if (node->graph() != &graph_ || !kernel || kernel->scales != Scales::kCommutes ||
            !kernel->Takes(DType::kInt8)) {
          fits = false;
          return;
        }
        for (Value* x : node->inputs()) join(x);
        for (Value* y : node->outputs()) join(y);
      };
      if (maker) visit(maker);
      for (const Use& use : each->uses()) visit(use.node);
      if (!fits) return;
    }
    for (Value* each : all) MakeSigned(each);
  }

  void MakeSigned(Value* v) {
    const Quantization unsigned_steps = *ScalesOf(v);
    const Quantization steps = OfOtherSign(unsigned_steps, true);
    if (const Tensor* constant = v->fixed_constant()) {
      graph_.ReplaceConstant(v, OfOtherSign(*constant));
      tflite::SetQuantization(*v, steps);
      return;
    }
    Type type = v->type();
    type.set_dtype(DType::kInt8);
    if (v->is_input()) {
      Node* made = graph_.InsertNode(graph_.first(), tflite::kDialect, "QUANTIZE", {});
      Value* inside = graph_.AddNodeOutput(made, graph_.UniqueName(v->name() + "_signed"), type);
      tflite::SetQuantization(*inside, steps);
      graph_.ReplaceAllUses(v, inside);
      made->AddInput(v);
      return;
    }
    if (v->is_graph_output()) {
      Node* made = graph_.InsertNode(nullptr, tflite::kDialect, "QUANTIZE", {});
      Value* outside =
          graph_.AddNodeOutput(made, graph_.UniqueName(v->name() + "_signed"), v->type());
      const std::vector<Value*> outputs = graph_.outputs();
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] == v) graph_.SetOutput(i, outside);
      }
      graph_.SwapNames(v, outside);
      tflite::SetQuantization(*outside, unsigned_steps);
      made->AddInput(v);
    }
    v->set_type(std::move(type));
    tflite::SetQuantization(*v, steps);
  }

  // --- What is left -----------------------------------------------------------------------------

  // Constants that no kernel dequantizes are floats.
  void Settle() {
    for (Node* node : graph_.nodes()) {
      if (!IsOfLite(node, "DEQUANTIZE")) continue;
      Value* x = node->input(0);
      const Tensor* constant = x->fixed_constant();
      if (!constant || BitWidth(constant->dtype()) < 32) continue;
      const auto q = ScalesOf(x);
      if (!q) continue;
      Value* y = node->output(0);
      Value* floats =
          graph_.AddConstant(graph_.UniqueName(y->name()), DequantizedTensor(*constant, *q));
      graph_.ReplaceAllUses(y, floats);
      graph_.EraseUnused(node);
    }
  }

  Graph& graph_;
};

}  // namespace

std::optional<Tensor> QuantizedTensor(const Tensor& floats, const Quantization& q, DType dtype) {
  Tensor out = Tensor::Zeros(dtype, floats.dims());
  const auto least = static_cast<double>(LeastInteger(dtype)),
             largest = static_cast<double>(LargestInteger(dtype));
  bool fits = true;
  ForEachScaled(floats, q, [&](int64_t i, size_t k) {
    const double steps = std::nearbyint(floats.AsDouble(i) / static_cast<double>(q.scales[k])) +
                         static_cast<double>(q.zero_points[k]);
    fits &= !std::isnan(steps);
    if (std::isnan(steps)) return;
    StoreInteger(out, i,
                 steps <= least     ? LeastInteger(dtype)
                 : steps >= largest ? LargestInteger(dtype)
                                    : static_cast<int64_t>(steps));
  });
  if (!fits) return std::nullopt;
  return out;
}

Tensor DequantizedTensor(const Tensor& integers, const Quantization& q) {
  Tensor out = Tensor::Zeros(DType::kFloat32, integers.dims());
  const auto numbers = out.mutable_span<float>();
  ForEachScaled(integers, q, [&](int64_t i, size_t k) {
    numbers[static_cast<size_t>(i)] =
        static_cast<float>(static_cast<double>(integers.AsInt(i) - q.zero_points[k]) *
                           static_cast<double>(q.scales[k]));
  });
  return out;
}

absl::Status FoldQuantized(Graph& graph) {
  X2IR_RETURN_IF_ERROR(Folder(graph).Run());
  return graph.Sort();
}

}  // namespace x2ir
