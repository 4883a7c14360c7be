#include "x2ir/handlers/tflite/kernels.h"

#include <algorithm>
#include <optional>

#include "x2ir/core/kernels.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr uint32_t Bit(DType t) { return uint32_t{1} << static_cast<int>(t); }
constexpr uint32_t kFloats = Bit(DType::kFloat32), kH = Bit(DType::kFloat16),
                   kI = Bit(DType::kInt32), kL = Bit(DType::kInt64), kS = Bit(DType::kInt16),
                   kB = Bit(DType::kBool), kC = Bit(DType::kInt8), kU = Bit(DType::kUInt8),
                   kUi = Bit(DType::kUInt32), kNumberTypes = kFloats | kI | kL, kBytes = kC | kU,
                   kAnyType = ~uint32_t{0};

// Of an operator: the element types of its operand (the one that says which kernel it is; a second
// row says them of another operand), how many axes that may have, and how many where two operands
// of different shapes are broadcast.
struct Kernel {
  std::string_view op;
  uint32_t types;
  int operand = 0;
  int rank = 8;
  int broadcast = 8;
  int operands = -1;  // how many; -1: any number
};
constexpr Kernel kKernels[] = {
    {"ABS", kFloats | kI},
    {"ADD", kFloats | kI | kL, 0, 8, 6, 2},
    {"ARG_MAX", kFloats | kI | kB | kBytes},
    {"ARG_MIN", kFloats | kI | kB | kBytes},
    {"ATAN2", kFloats, 0, 8, 1, 2},
    {"AVERAGE_POOL_2D", kFloats},
    {"BATCH_MATMUL", kFloats, 0, 5, 5, 2},
    {"BITWISE_XOR", kI | kS | kUi | kBytes | Bit(DType::kUInt16), 0, 4, 4, 2},
    {"BROADCAST_TO", kNumberTypes | kB | kS | kBytes | kUi, 0, 8},
    {"CEIL", kFloats},
    {"CONCATENATION", kNumberTypes | kB | kS | kBytes | kUi, 0, 8},
    {"CONV_2D", kFloats},
    {"CONV_3D", kFloats},
    {"CONV_3D_TRANSPOSE", kFloats, 2},
    {"COS", kFloats},
    {"CUMSUM", kNumberTypes},
    {"DEPTHWISE_CONV_2D", kFloats},
    {"DEPTH_TO_SPACE", kFloats | kI | kL | kBytes, 0, 4},
    {"DIV", kFloats | kI, 0, 8, 5, 2},
    {"ELU", kFloats},
    {"EQUAL", kNumberTypes | kB | kS, 0, 8, 4, 2},
    {"EXP", kFloats},
    {"EXPAND_DIMS", kAnyType},
    {"FILL", kNumberTypes | kB | kS | kC | kH | Bit(DType::kString), 1},
    {"FLOOR", kFloats},
    {"FLOOR_DIV", kFloats | kI | kS | kC, 0, 8, 4, 2},
    {"FLOOR_MOD", kFloats | kI | kL | kS | kC, 0, 8, 4, 2},
    {"FULLY_CONNECTED", kFloats},
    {"GATHER", kNumberTypes | kB | kS | kBytes | Bit(DType::kString)},
    {"GATHER_ND", kNumberTypes | kB | kS | kBytes | Bit(DType::kString)},
    {"GELU", kFloats},
    {"GREATER", kNumberTypes, 0, 8, 4, 2},
    {"GREATER_EQUAL", kNumberTypes | kS, 0, 8, 4, 2},
    {"HARD_SWISH", kFloats},
    {"L2_NORMALIZATION", kFloats, 0, 4},
    {"LEAKY_RELU", kFloats},
    {"LESS", kNumberTypes | kS, 0, 8, 4, 2},
    {"LESS_EQUAL", kNumberTypes, 0, 8, 4, 2},
    {"LOCAL_RESPONSE_NORMALIZATION", kFloats, 0, 4},
    {"LOG", kFloats},
    {"LOGICAL_AND", kB, 0, 8, 4, 2},
    {"LOGICAL_NOT", kB},
    {"LOGICAL_OR", kB, 0, 8, 4, 2},
    {"LOGISTIC", kFloats},
    {"LOG_SOFTMAX", kFloats},
    {"MAXIMUM", kNumberTypes | kBytes | kS, 0, 8, 8, 2},
    {"MAX_POOL_2D", kFloats | kBytes | kS},
    {"MEAN", kNumberTypes},
    {"MINIMUM", kNumberTypes | kBytes | kS, 0, 8, 8, 2},
    {"MIRROR_PAD", kNumberTypes | kS | kBytes, 0, 5},
    {"MUL", kNumberTypes | kUi, 0, 8, 4, 2},  // six for floats
    {"NEG", kNumberTypes},
    {"NOT_EQUAL", kNumberTypes | kB | kS, 0, 8, 4, 2},
    {"ONE_HOT", kI | kL},
    {"ONE_HOT", kNumberTypes | kB | kBytes, 2},
    {"PACK", kNumberTypes | kS | kBytes | kUi},
    {"PAD", kNumberTypes | kB, 0, 5},
    {"PADV2", kNumberTypes | kB | kBytes | kS, 0, 5},
    {"POW", kFloats, 0, 8, 4, 2},
    {"PRELU", kFloats, 0, 4, 4, 2},
    {"RANGE", kNumberTypes},
    {"REDUCE_ALL", kB},
    {"REDUCE_ANY", kB},
    {"REDUCE_MAX", kNumberTypes | kBytes | kS},
    {"REDUCE_MIN", kNumberTypes | kBytes | kS},
    {"REDUCE_PROD", kNumberTypes},
    {"RELU", kFloats},
    {"RELU6", kFloats},
    {"RELU_N1_TO_1", kFloats},
    {"RESIZE_BILINEAR", kFloats},
    {"RESIZE_NEAREST_NEIGHBOR", kFloats | kBytes | kS},
    {"REVERSE_SEQUENCE", kNumberTypes | kS | kU},
    {"REVERSE_V2", kNumberTypes | kB | kS | kBytes},
    {"RIGHT_SHIFT", kI | kS | kUi | kBytes | Bit(DType::kUInt16), 0, 4, 4, 2},
    {"ROUND", kFloats},
    {"RSQRT", kFloats},
    {"SCATTER_ND", kNumberTypes | kB | kBytes, 1},
    {"SELECT_V2", kNumberTypes | kB | kS | kBytes, 1, 8, 5, 3},
    {"SIGN", kFloats | kI},
    {"SIN", kFloats},
    {"SOFTMAX", kFloats},
    {"SPACE_TO_DEPTH", kFloats | kI | kL | kBytes, 0, 4},
    {"SPLIT", kFloats | kI | kS | kBytes, 1},
    {"SPLIT_V", kFloats | kI | kL | kS | kBytes},
    {"SQRT", kFloats},
    {"SQUARED_DIFFERENCE", kFloats | kI, 0, 8, 4, 2},
    {"STRIDED_SLICE", kNumberTypes | kB | kS | kBytes | kUi | Bit(DType::kString), 0, 5},
    {"SUB", kNumberTypes, 0, 8, 5, 2},
    {"SUM", kNumberTypes},
    {"TANH", kFloats},
    {"TILE", kNumberTypes | kB | kS | kBytes | Bit(DType::kString)},
    {"TOPK_V2", kNumberTypes | kBytes},
    {"TRANSPOSE", kNumberTypes | kB | kS | kBytes, 0, 6},
    {"TRANSPOSE_CONV", kFloats, 2},
    {"UNPACK", kFloats | kI | kBytes},
    {"WHERE", kNumberTypes | kB | kBytes | kUi},
};

// Kernels for quantized integers.
constexpr uint32_t kWords = kBytes | kS;
constexpr QuantizedKernel kQuantizedKernels[] = {
    {"ABS", kC | kS, Scales::kOwn},
    {"ADD", kWords, Scales::kOwn},
    {"ARG_MAX", kBytes, Scales::kCompares},
    {"ARG_MIN", kBytes, Scales::kCompares},
    {"AVERAGE_POOL_2D", kWords, Scales::kSame},
    {"BATCH_MATMUL", kC, Scales::kOwn},
    {"BATCH_TO_SPACE_ND", kBytes, Scales::kCommutes},
    {"BROADCAST_TO", kWords, Scales::kCommutes},
    {"CONCATENATION", kWords, Scales::kCommutes},
    {"CONV_2D", kWords, Scales::kWeights},
    {"DEPTHWISE_CONV_2D", kWords, Scales::kWeights},
    {"DEPTH_TO_SPACE", kBytes, Scales::kCommutes},
    {"DIV", kU, Scales::kOwn},
    {"ELU", kC, Scales::kOwn},
    {"EQUAL", kBytes, Scales::kCompares},
    {"EXP", kC | kS, Scales::kOwn},
    {"EXPAND_DIMS", kWords, Scales::kCommutes},
    {"FULLY_CONNECTED", kWords, Scales::kWeights},
    {"GATHER", kWords, Scales::kCommutes},
    {"GATHER_ND", kWords, Scales::kCommutes},
    {"GELU", kBytes, Scales::kOwn},
    {"GREATER", kBytes, Scales::kCompares},
    {"GREATER_EQUAL", kBytes, Scales::kCompares},
    {"HARD_SWISH", kBytes, Scales::kOwn},
    {"L2_NORMALIZATION", kBytes, Scales::kFixed},
    {"LEAKY_RELU", kWords, Scales::kOwn},
    {"LESS", kBytes, Scales::kCompares},
    {"LESS_EQUAL", kBytes, Scales::kCompares},
    {"LOG", kC | kS, Scales::kOwn},
    {"LOGISTIC", kWords, Scales::kFixed},
    {"LOG_SOFTMAX", kBytes, Scales::kFixed},
    {"MAXIMUM", kWords, Scales::kCommutes},
    {"MAX_POOL_2D", kWords, Scales::kCommutes},
    {"MEAN", kWords, Scales::kOwn},
    {"MINIMUM", kWords, Scales::kCommutes},
    {"MIRROR_PAD", kWords, Scales::kCommutes},
    {"MUL", kWords, Scales::kOwn},
    {"NOT_EQUAL", kBytes, Scales::kCompares},
    {"PACK", kWords, Scales::kCommutes},
    {"PAD", kWords, Scales::kCommutes},
    {"PADV2", kWords, Scales::kCommutes},
    {"PRELU", kBytes, Scales::kOwn},
    {"REDUCE_MAX", kWords, Scales::kCommutes},
    {"REDUCE_MIN", kWords, Scales::kCommutes},
    {"RELU", kWords, Scales::kOwn},
    {"RELU6", kBytes, Scales::kOwn},
    {"RELU_N1_TO_1", kBytes, Scales::kOwn},
    {"RESHAPE", kWords, Scales::kCommutes},
    {"RESIZE_BILINEAR", kWords, Scales::kSame},
    {"RESIZE_NEAREST_NEIGHBOR", kWords, Scales::kCommutes},
    {"REVERSE_V2", kWords, Scales::kCommutes},
    {"RSQRT", kC, Scales::kOwn},
    {"SELECT_V2", kWords, Scales::kCommutes},
    {"SLICE", kWords, Scales::kCommutes},
    {"SOFTMAX", kWords, Scales::kFixed},
    {"SPACE_TO_BATCH_ND", kBytes, Scales::kCommutes},
    {"SPACE_TO_DEPTH", kBytes, Scales::kCommutes},
    {"SPLIT", kWords, Scales::kCommutes},
    {"SPLIT_V", kWords, Scales::kCommutes},
    {"SQUARED_DIFFERENCE", kC, Scales::kOwn},
    {"SQUEEZE", kWords, Scales::kCommutes},
    {"STRIDED_SLICE", kWords, Scales::kCommutes},
    {"SUB", kWords, Scales::kOwn},
    {"SUM", kBytes, Scales::kOwn},
    {"TANH", kWords, Scales::kFixed},
    {"TILE", kWords, Scales::kCommutes},
    {"TRANSPOSE", kWords, Scales::kCommutes},
    {"TRANSPOSE_CONV", kWords, Scales::kWeights},
    {"UNPACK", kBytes, Scales::kCommutes},
};

constexpr WeightSlots kWeightSlots[] = {{"CONV_2D", 0, 1, 2, 0},
                                        {"DEPTHWISE_CONV_2D", 0, 1, 2, 3},
                                        {"FULLY_CONNECTED", 0, 1, 2, 0},
                                        {"TRANSPOSE_CONV", 2, 1, 3, 0}};

const Kernel* KernelOf(std::string_view op) {
  const auto* end = std::end(kKernels);
  const auto* found = std::lower_bound(
      std::begin(kKernels), end, op,
      [](const Kernel& kernel, std::string_view name) { return kernel.op < name; });
  return found != end && found->op == op ? found : nullptr;
}

// Whether operands have shapes that differ, or may.
bool IsBroadcast(const Node& node) {
  const Shape* first = nullptr;
  for (const Value* v : node.inputs()) {
    const Shape* shape = v ? v->shape() : nullptr;
    if (!shape) return true;
    if (first && !(*first == *shape)) return true;
    first = shape;
  }
  return false;
}

}  // namespace

int64_t MostBroadcastAxes(std::string_view op) {
  const Kernel* kernel = KernelOf(op);
  return kernel ? kernel->broadcast : 4;
}

const QuantizedKernel* QuantizedKernelOf(std::string_view op) {
  const auto* end = std::end(kQuantizedKernels);
  const auto* found = std::lower_bound(
      std::begin(kQuantizedKernels), end, op,
      [](const QuantizedKernel& kernel, std::string_view name) { return kernel.op < name; });
  return found != end && found->op == op ? found : nullptr;
}

const WeightSlots* WeightSlotsOf(std::string_view op) {
  for (const WeightSlots& slots : kWeightSlots) {
    if (slots.op == op) return &slots;
  }
  return nullptr;
}

std::optional<FixedScale> FixedScaleOf(std::string_view op, DType type) {
  if (type == DType::kInt16) {
    return op == "LOG_SOFTMAX" || op == "L2_NORMALIZATION"
               ? std::nullopt
               : std::optional(FixedScale{1.0f / 32768, 0});
  }
  // Of int8; the integers of uint8 are 128 more.
  const int64_t more = type == DType::kUInt8 ? 128 : 0;
  if (op == "LOGISTIC" || op == "SOFTMAX") return FixedScale{1.0f / 256, more - 128};
  if (op == "TANH" || op == "L2_NORMALIZATION") return FixedScale{1.0f / 128, more};
  if (op == "LOG_SOFTMAX") return FixedScale{16.0f / 256, more + 127};
  return std::nullopt;
}

bool HasTfliteKernel(std::string_view op, DType type) {
  const Kernel* kernel = KernelOf(op);
  return !kernel || (kernel->types & Bit(type)) != 0;
}

namespace {

// Whether the kernel for quantized integers computes the same on the integers
// without their scales.
bool TakesAsTheyAre(const Node& node, const QuantizedKernel& kernel) {
  if (kernel.scales == Scales::kCommutes) return true;
  if (kernel.scales != Scales::kCompares) return false;
  const auto first = tflite::QuantizationOf(*node.input(0));
  const std::vector<Value*> operands = node.inputs();
  return std::all_of(operands.begin(), operands.end(), [&](const Value* v) {
    if (!v || v->dtype() != node.input(0)->dtype()) return true;
    const auto own = tflite::QuantizationOf(*v);
    return own.ok() && first.ok() && *own == *first;
  });
}

std::vector<std::string> CheckAgainst(const Kernel* kernel, const Node& node) {
  const Value* operand = node.input(static_cast<size_t>(kernel->operand));
  if (!operand) return {"an operand is left out"};
  const DType type = operand->dtype();
  const QuantizedKernel* quantized = QuantizedKernelOf(kernel->op);
  const bool stands = tflite::IsQuantized(*operand) && quantized && quantized->Takes(type) &&
                      TakesAsTheyAre(node, *quantized);
  if (type != DType::kUndefined && (kernel->types & Bit(type)) == 0 && !stands) {
    return {StrCat("no kernel for ", Name(type))};
  }
  if (kernel->operands >= 0 && static_cast<int>(node.num_inputs()) != kernel->operands) {
    return {StrCat("it takes ", int64_t{kernel->operands}, " operands")};
  }
  int64_t rank = 0;
  for (const Value* v : node.inputs()) {
    if (v && v->shape()) rank = std::max<int64_t>(rank, v->shape()->rank());
  }
  const int most = kernel->operands > 1 && IsBroadcast(node) ? kernel->broadcast : kernel->rank;
  if (rank > most) return {StrCat("no kernel for rank ", rank)};
  return {};
}

}  // namespace

std::vector<std::string> CheckTfliteNode(const Node& node) {
  const auto* end = std::end(kKernels);
  for (const Kernel* kernel = KernelOf(node.op().view());
       kernel && kernel != end && kernel->op == node.op().view(); ++kernel) {
    if (auto problems = CheckAgainst(kernel, node); !problems.empty()) return problems;
  }
  return {};
}

namespace {

// For lowerings that compute in float64 where they can. Integers may be quantized.
bool LacksFloat64(Symbol op, int, size_t, DType type) {
  return type == DType::kFloat64 && !HasTfliteKernel(op.view(), type);
}
[[maybe_unused]] const bool kRegisteredKernels = RegisterKernels(tflite::kDialect, LacksFloat64);

}  // namespace

}  // namespace x2ir
