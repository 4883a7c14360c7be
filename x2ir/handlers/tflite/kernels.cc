#include "x2ir/handlers/tflite/kernels.h"

#include <algorithm>
#include <optional>

#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr uint32_t Bit(DType t) { return uint32_t{1} << static_cast<int>(t); }
constexpr uint32_t kFloats = Bit(DType::kFloat32), kH = Bit(DType::kFloat16),
                   kI = Bit(DType::kInt32), kL = Bit(DType::kInt64), kS = Bit(DType::kInt16),
                   kB = Bit(DType::kBool), kC = Bit(DType::kInt8), kU = Bit(DType::kUInt8),
                   kUi = Bit(DType::kUInt32), kNumberTypes = kFloats | kI | kL, kBytes = kC | kU,
                   kAnyType = ~uint32_t{0};

// Of an operator: the element types of its operand (the one that says which kernel it is), how many
// axes that may have, and how many where two operands of different shapes are broadcast.
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
    {"MAXIMUM", kNumberTypes, 0, 8, 8, 2},
    {"MAX_POOL_2D", kFloats},
    {"MEAN", kNumberTypes},
    {"MINIMUM", kNumberTypes, 0, 8, 8, 2},
    {"MIRROR_PAD", kNumberTypes | kS | kBytes, 0, 5},
    {"MUL", kNumberTypes | kUi, 0, 8, 6, 2},
    {"NEG", kNumberTypes},
    {"NOT_EQUAL", kNumberTypes | kB | kS, 0, 8, 4, 2},
    {"ONE_HOT", kI | kL},
    {"PAD", kNumberTypes | kB, 0, 5},
    {"PADV2", kNumberTypes | kB, 0, 5},
    {"POW", kFloats, 0, 8, 4, 2},
    {"PRELU", kFloats, 0, 4, 4, 2},
    {"RANGE", kNumberTypes},
    {"REDUCE_ALL", kB},
    {"REDUCE_ANY", kB},
    {"REDUCE_MAX", kNumberTypes},
    {"REDUCE_MIN", kNumberTypes},
    {"REDUCE_PROD", kNumberTypes},
    {"RELU", kFloats},
    {"RELU6", kFloats},
    {"RELU_N1_TO_1", kFloats},
    {"RESIZE_BILINEAR", kFloats},
    {"RESIZE_NEAREST_NEIGHBOR", kFloats | kBytes | kS},
    {"REVERSE_SEQUENCE", kNumberTypes | kS | kU},
    {"RIGHT_SHIFT", kI | kS | kUi | kBytes | Bit(DType::kUInt16), 0, 4, 4, 2},
    {"ROUND", kFloats},
    {"SELECT_V2", kNumberTypes | kB | kS | kBytes, 1, 8, 5, 3},
    {"SIGN", kFloats | kI},
    {"SIN", kFloats},
    {"SOFTMAX", kFloats},
    {"SPACE_TO_DEPTH", kFloats | kI | kL | kBytes, 0, 4},
    {"SPLIT", kFloats | kI | kS | kBytes, 1},
    {"SPLIT_V", kFloats | kI | kL | kS | kBytes},
    {"SQRT", kFloats},
    {"STRIDED_SLICE", kNumberTypes | kB | kS | kBytes | kUi | Bit(DType::kString), 0, 5},
    {"SUB", kNumberTypes, 0, 8, 5, 2},
    {"SUM", kNumberTypes},
    {"TANH", kFloats},
    {"TILE", kNumberTypes | kB | kS | kBytes | Bit(DType::kString)},
    {"TOPK_V2", kNumberTypes | kBytes},
    {"TRANSPOSE", kNumberTypes | kB | kS | kBytes, 0, 6},
    {"TRANSPOSE_CONV", kFloats, 2},
    {"WHERE", kNumberTypes | kB | kBytes | kUi},
};

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

std::vector<std::string> CheckTfliteNode(const Node& node) {
  const Kernel* kernel = KernelOf(node.op().view());
  if (!kernel) return {};
  const Value* operand = node.input(static_cast<size_t>(kernel->operand));
  if (!operand) return {"an operand is left out"};
  const DType type = operand->dtype();
  if (tflite::IsQuantized(*operand)) return {};
  if (type != DType::kUndefined && (kernel->types & Bit(type)) == 0) {
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

}  // namespace x2ir
