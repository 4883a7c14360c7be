// Groups of quantization as OneFlow has them: numbers that are rounded to steps and stay floats.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/oneflow/oneflow.h"
#include "x2ir/handlers/oneflow/finish.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// What `fake_quantization` says of a group.
struct FakeSteps {
  Tensor scale, zero_point;  // float32, one element or one for each index of axis 0
  bool affine = false;
  int64_t bits = 8;
};

bool SameNumbers(const Value* a, const Value* b) {
  if (a == b) return true;
  const std::optional<Tensor> x = a ? KnownTensor(*a) : std::nullopt;
  const std::optional<Tensor> y = b ? KnownTensor(*b) : std::nullopt;
  return x && y && *x == *y;
}

bool IsSigned(DType t) { return t == DType::kInt8 || t == DType::kInt4 || t == DType::kInt2; }

// How many bits the integers of a group have: those of their type, or fewer where a clip holds them
// (x86 kernels want 7). 0: the bounds are of no number of bits.
int64_t BitsOf(const Value& q) {
  if (!IsInteger(q.dtype()) || BitWidth(q.dtype()) > 8) return 0;
  const auto of_type = static_cast<int64_t>(BitWidth(q.dtype()));
  const Node* clip = q.producer();
  if (!clip || !clip->Is("clip")) return of_type;
  const bool is_signed = IsSigned(q.dtype());
  const int64_t half = int64_t{1} << (of_type - 1);
  const auto bound = [&](size_t i, int64_t otherwise) -> std::optional<int64_t> {
    const Value* v = i < clip->num_inputs() ? clip->input(i) : nullptr;
    if (!v) return otherwise;
    const std::optional<Tensor> known = KnownTensor(*v);
    if (!known || known->num_elements() != 1) return std::nullopt;
    return known->AsInt(0);
  };
  const auto low = bound(1, is_signed ? -half : 0);
  const auto high = bound(2, is_signed ? half - 1 : 2 * half - 1);
  for (int64_t bits = 2; low && high && bits <= of_type; ++bits) {
    const int64_t most = int64_t{1} << (is_signed ? bits - 1 : bits);
    if (*high == most - 1 && *low == (is_signed ? -most : 0)) return bits;
  }
  return 0;
}

// Nothing where OneFlow's op does not say the same.
std::optional<FakeSteps> StepsOfGroup(const Node& dequantize) {
  const Value *q = dequantize.input(0), *result = dequantize.output(0);
  const int64_t bits = BitsOf(*q);
  const std::optional<Tensor> scale = KnownTensor(*dequantize.input(1));
  if (bits < 2 || bits > 8 || result->dtype() != DType::kFloat32 || !scale ||
      scale->dtype() != DType::kFloat32 || dequantize.attrs().Int("block_size", 0) != 0) {
    return std::nullopt;
  }
  const int64_t count = scale->num_elements();
  const Shape* shape = q->shape();
  if (count == 0 || !shape || shape->rank() == 0) return std::nullopt;
  const int64_t axis = dequantize.attrs().Int("axis", 1);
  if (count != 1 && (scale->rank() != 1 || (axis != 0 && axis != -shape->rank()))) {
    return std::nullopt;
  }
  const Value* zero = dequantize.num_inputs() > 2 ? dequantize.input(2) : nullptr;
  const std::optional<Tensor> zeros = zero ? KnownTensor(*zero) : std::nullopt;
  if (zero && (!zeros || zeros->num_elements() != count)) return std::nullopt;
  const bool is_signed = IsSigned(q->dtype());
  std::vector<float> places(static_cast<size_t>(count), 0.0F);
  bool any = false;
  for (int64_t i = 0; zeros && i < count; ++i) any |= zeros->AsInt(i) != 0;
  FakeSteps steps{scale->Reshaped({count}), {}, !is_signed || any, bits};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = zeros ? zeros->AsInt(i) : 0;
    const int64_t shift = steps.affine && is_signed ? int64_t{1} << (bits - 1) : 0;
    places[static_cast<size_t>(i)] = static_cast<float>(place + shift);
  }
  steps.zero_point = Tensor::Of<float>({count}, places);
  return steps;
}

// The floats that the group rounds: those before quantize_linear, or of a constant.
Value* FloatsOf(Graph& graph, Node& dequantize) {
  Value* q = dequantize.input(0);
  if (q->fixed_constant()) {
    auto floats = EvalConstantNode(dequantize);
    if (!floats.ok() || !(*floats)[0].tensor()) return nullptr;
    return graph.AddConstant(graph.UniqueName(q->name()), *(*floats)[0].tensor());
  }
  Node* quantize = q->producer();
  if (quantize && quantize->Is("clip")) quantize = quantize->input(0)->producer();
  const bool pairs = quantize && quantize->graph() == &graph && quantize->Is("quantize_linear") &&
                     quantize->input(0)->dtype() == DType::kFloat32 &&
                     quantize->attrs().Int("block_size", 0) == 0 &&
                     quantize->attrs().Int("axis", 1) == dequantize.attrs().Int("axis", 1);
  if (!pairs || !SameNumbers(quantize->input(1), dequantize.input(1))) return nullptr;
  const auto zero_of = [](const Node& node) {
    return node.num_inputs() > 2 ? node.input(2) : nullptr;
  };
  const Value *before = zero_of(*quantize), *after = zero_of(dequantize);
  if ((before || after) && !SameNumbers(before, after)) return nullptr;
  return quantize->input(0);
}

}  // namespace

void UseFakeQuantization(Graph& graph, const Target& target) {
  for (Graph* inner : graph.NestedGraphs()) UseFakeQuantization(*inner, target);
  std::vector<Node*> groups;
  for (Node* node : graph.nodes()) {
    if (node->Is("dequantize_linear")) groups.push_back(node);
  }
  for (Node* dequantize : groups) {
    std::optional<FakeSteps> steps = StepsOfGroup(*dequantize);
    Value* x = steps ? FloatsOf(graph, *dequantize) : nullptr;
    if (!x) continue;
    Value* q = dequantize->input(0);
    Value* result = dequantize->output(0);
    const auto constant = [&](std::string_view what, Tensor tensor) {
      return graph.AddConstant(graph.UniqueName(StrCat(result->name(), "_", what)),
                               std::move(tensor));
    };
    const std::vector<Value*> operands = {x, constant("scale", std::move(steps->scale)),
                                          constant("zero_point", std::move(steps->zero_point))};
    Node* fake = graph.InsertNode(dequantize, oneflow::kDialect, "fake_quantization", operands);
    fake->SetAttr("quantization_formula", "google");
    fake->SetAttr("quantization_bit", steps->bits);
    fake->SetAttr("quantization_scheme", steps->affine ? "affine" : "symmetric");
    fake->annotations().GetOrMake().extra[kMadeForTarget] = "";
    fake->set_name(dequantize->name());
    CopyMetadata(*dequantize, *fake);
    const Type type = result->type();
    graph.AdoptOutput(graph.AddNodeOutput(fake, "", type), result);
    result->set_type(type);
    EraseWithConstants(dequantize);
    while (q && q->is_unused() && q->producer()) {  // the clip, and quantize_linear
      Node* node = q->producer();
      q = node->Is("clip") ? node->input(0) : nullptr;
      EraseWithConstants(node);
    }
  }
}

}  // namespace x2ir
