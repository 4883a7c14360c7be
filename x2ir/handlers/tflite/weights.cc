#include "x2ir/handlers/tflite/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/handlers/tflite/fold_quantized.h"
#include "x2ir/handlers/tflite/kernels.h"

namespace x2ir {
namespace {

using tflite::Quantization;

constexpr int64_t kLargeWeights = 1024;  // elements

bool IsLiteNode(const Node* node) { return node && node->dialect() == Symbol(tflite::kDialect); }
bool IsLiteNode(const Node* node, std::string_view op) {
  return IsLiteNode(node) && node->op().view() == op;
}

const Tensor* FloatsOf(const Value* v) {
  const Tensor* t = v ? v->fixed_constant() : nullptr;
  return t && t->dtype() == DType::kFloat32 && !t->is_sparse() ? t : nullptr;
}

// Products that have a hybrid kernel.
const WeightSlots* HybridSlotsOf(const Node& node) {
  if (!IsLiteNode(&node) || node.op().view() == "TRANSPOSE_CONV") return nullptr;
  const WeightSlots* slots = WeightSlotsOf(node.op().view());
  const Value *x = slots ? node.input(slots->x) : nullptr,
              *w = slots ? node.input(slots->weights) : nullptr;
  if (!x || !w || x->dtype() != DType::kFloat32 || !w->shape()) return nullptr;
  if (slots->op == "CONV_2D") {
    const bool grouped = !x->shape() || x->shape()->rank() != 4 || w->shape()->rank() != 4 ||
                         !((*x->shape())[3] == (*w->shape())[3]);
    if (grouped) return nullptr;
  }
  return slots;
}

// The integers of weights that are dequantized; null: they are something else.
Value* DequantizedWeights(const Value* v) {
  const Node* maker = v ? v->producer() : nullptr;
  Value* x = IsLiteNode(maker, "DEQUANTIZE") ? maker->input(0) : nullptr;
  return x && x->fixed_constant() && x->dtype() == DType::kInt8 && tflite::IsQuantized(*x)
             ? x
             : nullptr;
}

// Symmetric, the largest number of each channel as 127.
std::optional<Quantization> StepsOfChannels(const Tensor& w, int64_t axis) {
  const int64_t channels = w.dim(axis);
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < w.rank(); ++i) inner *= w.dim(i);
  const Tensor aligned = w.AlignedCopyIfNeeded();
  const absl::Span<const float> numbers = aligned.span<float>();
  std::vector<float> largest(static_cast<size_t>(channels), 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t c = i / static_cast<size_t>(inner) % largest.size();
    if (!std::isfinite(numbers[i])) return std::nullopt;
    largest[c] = std::max(largest[c], std::fabs(numbers[i]));
  }
  Quantization q{{}, std::vector<int64_t>(largest.size()), axis, 0};
  for (const float each : largest) {
    const float scale = each / 127;
    q.scales.push_back(std::isnormal(scale) ? scale : 1.0f);
  }
  return q;
}

bool IsKept(const Value* v) { return v->is_graph_output() || v->is_input(); }

std::optional<Tensor> AsHalves(const Tensor& floats, bool exact) {
  constexpr float kLargestHalf = 65504;
  Tensor out = Tensor::Zeros(DType::kFloat16, floats.dims());
  const Tensor aligned = floats.AlignedCopyIfNeeded();
  const absl::Span<const float> in = aligned.span<float>();
  const absl::Span<std::byte> bytes = out.mutable_bytes();
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::fabs(in[i]) > kLargestHalf && std::isfinite(in[i])) return std::nullopt;
    const Half half = FloatToHalf(in[i]);
    if (exact && HalfToFloat(half) != in[i] && !std::isnan(in[i])) return std::nullopt;
    std::memcpy(bytes.data() + 2 * i, &half, 2);
  }
  return out;
}

// Operands that are weights, however few.
bool IsWeightOf(const Node& node, uint32_t at) {
  const std::string_view op = node.op().view();
  if (op == "CONV_3D") return at == 1 || at == 2;
  if (op == "GATHER") return at == 0;
  const WeightSlots* slots = WeightSlotsOf(op);
  return slots && (at == slots->weights || at == slots->bias);
}

Quantization WithOtherSign(Quantization q, bool to_signed) {
  for (int64_t& z : q.zero_points) z += to_signed ? -128 : 128;
  return q;
}

void SetDType(Value* v, DType t) {
  Type type = v->type();
  type.set_dtype(t);
  v->set_type(std::move(type));
}

// The steps of integers of `wanted` for those of `have`; nullopt: neither is of 8 bits.
std::optional<Quantization> StepsAs(const Quantization& q, DType have, DType wanted) {
  if (have == wanted) return q;
  if (BitWidth(have) != 8 || !IsInteger(have)) return std::nullopt;
  return WithOtherSign(q, wanted == DType::kInt8);
}

absl::Status SetInputType(Graph& graph, Value* input, DType wanted) {
  const auto own = tflite::QuantizationOf(*input);
  if (!own.ok()) return own.status();
  if (*own) {
    if (input->dtype() == wanted) return absl::OkStatus();
    const DType have = input->dtype();
    Node* made = graph.InsertNode(graph.first(), tflite::kDialect, "QUANTIZE", {});
    Value* inside =
        graph.AddNodeOutput(made, graph.UniqueName(input->name() + "_quantized"), input->type());
    tflite::SetQuantization(*inside, **own);
    if (wanted == DType::kFloat32) {
      tflite::ClearQuantization(*input);
    } else {
      const auto steps = StepsAs(**own, have, wanted);
      if (!steps) return OptionError("io_type", "input '", input->name(), "' is ", Name(have));
      tflite::SetQuantization(*input, *steps);
    }
    SetDType(input, wanted);
    graph.ReplaceAllUses(input, inside);
    made->AddInput(input);
    return absl::OkStatus();
  }
  if (input->dtype() != DType::kFloat32 || wanted == DType::kFloat32) return absl::OkStatus();
  std::optional<Quantization> steps;
  std::vector<Node*> makers;
  for (const Use& use : input->uses()) {
    Node* node = use.node;
    if (!IsLiteNode(node, "QUANTIZE") || node->graph() != &graph) break;
    const Value* y = node->output(0);
    const auto q = tflite::QuantizationOf(*y);
    if (!q.ok() || !*q) break;
    const auto as = StepsAs(**q, y->dtype(), wanted);
    if (!as || (steps && !(*steps == *as))) break;
    steps = as;
    makers.push_back(node);
  }
  if (makers.empty() || makers.size() != input->uses().size() || input->is_graph_output()) {
    return OptionError("io_type", "input '", input->name(), "' is float32, and not quantized");
  }
  SetDType(input, wanted);
  tflite::SetQuantization(*input, *steps);
  for (Node* node : makers) {
    if (node->output(0)->dtype() != wanted || node->output(0)->is_graph_output()) continue;
    graph.ReplaceAllUses(node->output(0), input);
    graph.EraseUnused(node);
  }
  return absl::OkStatus();
}

absl::Status SetOutputType(Graph& graph, size_t at, DType wanted) {
  Value* y = graph.outputs()[at];
  const auto own = tflite::QuantizationOf(*y);
  if (!own.ok()) return own.status();
  Value* integers = y;
  std::optional<Quantization> q = *own;
  if (!q) {
    if (y->dtype() != DType::kFloat32 || wanted == DType::kFloat32) return absl::OkStatus();
    const Node* maker = y->producer();
    integers = IsLiteNode(maker, "DEQUANTIZE") ? maker->input(0) : nullptr;
    if (integers) {
      X2IR_ASSIGN_OR_RETURN(q, tflite::QuantizationOf(*integers));
    }
    if (!q) {
      return OptionError("io_type", "output '", y->name(), "' is float32, and not quantized");
    }
  }
  if (integers->dtype() != wanted) {
    const bool floats = wanted == DType::kFloat32;
    Node* made = graph.AppendNode(tflite::kDialect, floats ? "DEQUANTIZE" : "QUANTIZE", {integers});
    Type type = integers->type();
    type.set_dtype(wanted);
    Value* fresh = graph.AddNodeOutput(made, graph.UniqueName(y->name() + "_io"), type);
    if (!floats) {
      const auto steps = StepsAs(*q, integers->dtype(), wanted);
      if (!steps) {
        return OptionError("io_type", "output '", y->name(), "' is ", Name(integers->dtype()));
      }
      tflite::SetQuantization(*fresh, *steps);
    }
    integers = fresh;
  }
  if (integers == y) return absl::OkStatus();
  graph.SetOutput(at, integers);
  if (!integers->is_input()) graph.SwapNames(y, integers);
  if (y->is_unused() && IsLiteNode(y->producer(), "DEQUANTIZE")) graph.EraseUnused(y->producer());
  return absl::OkStatus();
}

}  // namespace

void UseDynamicRange(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) UseDynamicRange(*inner);
    const WeightSlots* slots = HybridSlotsOf(*node);
    if (!slots) continue;
    Value* w = node->input(slots->weights);
    if (const Tensor* floats = FloatsOf(w)) {
      if (floats->num_elements() < kLargeWeights || slots->axis >= floats->rank()) continue;
      const auto q = StepsOfChannels(*floats, slots->axis);
      auto integers = q ? QuantizedTensor(*floats, *q, DType::kInt8) : std::nullopt;
      if (!integers) continue;
      DropPages(*floats);
      Value* made = graph.AddConstant(graph.UniqueName(w->name()), Spilled(*std::move(integers)));
      tflite::SetQuantization(*made, *q);
      node->SetInput(slots->weights, made);
    } else if (DequantizedWeights(w)) {
      node->annotations().GetOrMake().extra.emplace(kHybrid, "symmetric");
    }
  }
}

void FoldHybrid(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) FoldHybrid(*inner);
    const Annotations* notes = node->annotations().get();
    const auto mark = notes ? notes->extra.find(kHybrid) : decltype(notes->extra.end())();
    if (!notes || mark == notes->extra.end()) continue;
    const WeightSlots* slots = HybridSlotsOf(*node);
    Value* before = slots ? node->input(slots->weights) : nullptr;
    Value* w = DequantizedWeights(before);
    if (!w) continue;
    const auto q = tflite::QuantizationOf(*w);
    const bool symmetric = q.ok() && *q && (*q)->block_size == 0 &&
                           std::all_of((*q)->zero_points.begin(), (*q)->zero_points.end(),
                                       [](int64_t z) { return z == 0; });
    if (!symmetric || ((*q)->scales.size() > 1 && (*q)->axis != slots->axis)) continue;
    node->SetInput(slots->weights, w);
    if (mark->second == "asymmetric" && slots->op == "FULLY_CONNECTED") {
      node->SetAttr("asymmetric_quantize_inputs", 1);
    }
    if (before->is_unused()) graph.EraseUnused(before->producer());
  }
}

void UseFloat16(Graph& graph, bool exact) {
  for (Value* v : graph.constants()) {
    const Tensor* floats = FloatsOf(v);
    if (!floats || IsKept(v) || floats->num_elements() == 0) continue;
    bool is_weight = floats->num_elements() >= kLargeWeights;
    for (const Use& use : v->uses()) {
      is_weight |= IsLiteNode(use.node) && IsWeightOf(*use.node, use.index);
    }
    const bool all_lite = std::all_of(v->uses().begin(), v->uses().end(), [&](const Use& use) {
      return IsLiteNode(use.node) && use.node->graph() == &graph;
    });
    if (!is_weight || !all_lite || v->uses().empty()) continue;
    auto halves = AsHalves(*floats, exact);
    if (!halves) continue;
    DropPages(*floats);
    Value* constant =
        graph.AddConstant(graph.UniqueName(v->name() + "_half"), Spilled(*std::move(halves)));
    Node* made = graph.InsertNode(graph.first(), tflite::kDialect, "DEQUANTIZE", {constant});
    Value* y = graph.AddNodeOutput(made, graph.UniqueName(v->name() + "_floats"), v->type());
    graph.ReplaceAllUses(v, y);
    graph.SwapNames(v, y);  // read and written again, they are called the same
  }
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) UseFloat16(*inner, exact);
  }
}

absl::Status SetIoType(Graph& graph, std::string_view type) {
  const DType wanted = type == "int8"      ? DType::kInt8
                       : type == "uint8"   ? DType::kUInt8
                       : type == "float32" ? DType::kFloat32
                                           : DType::kUndefined;
  if (wanted == DType::kUndefined) return absl::OkStatus();
  for (Value* input : std::vector<Value*>(graph.inputs())) {
    X2IR_RETURN_IF_ERROR(SetInputType(graph, input, wanted));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    X2IR_RETURN_IF_ERROR(SetOutputType(graph, i, wanted));
  }
  return graph.Sort();
}

}  // namespace x2ir
