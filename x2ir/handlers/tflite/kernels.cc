#include "x2ir/handlers/tflite/kernels.h"

#include <algorithm>
#include <optional>

#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr uint32_t Bit(DType t) { return uint32_t{1} << static_cast<int>(t); }
constexpr uint32_t kF = Bit(DType::kFloat32), kH = Bit(DType::kFloat16), kI = Bit(DType::kInt32),
                   kL = Bit(DType::kInt64), kS = Bit(DType::kInt16), kB = Bit(DType::kBool),
                   kC = Bit(DType::kInt8), kU = Bit(DType::kUInt8), kUi = Bit(DType::kUInt32),
                   kNumbers = kF | kI | kL, kBytes = kC | kU, kAll = ~uint32_t{0};

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
    {"ABS", kF | kI},
    {"ADD", kF | kI | kL, 0, 8, 6, 2},
    {"ARG_MAX", kF | kI | kB | kBytes},
    {"ARG_MIN", kF | kI | kB | kBytes},
    {"ATAN2", kF, 0, 8, 1, 2},
    {"AVERAGE_POOL_2D", kF},
    {"BATCH_MATMUL", kF, 0, 5, 5, 2},
    {"BITWISE_XOR", kI | kS | kUi | kBytes | Bit(DType::kUInt16), 0, 4, 4, 2},
    {"BROADCAST_TO", kNumbers | kB | kS | kBytes | kUi, 0, 8},
    {"CEIL", kF},
    {"CONCATENATION", kNumbers | kB | kS | kBytes | kUi, 0, 8},
    {"CONV_2D", kF},
    {"CONV_3D", kF},
    {"COS", kF},
    {"CUMSUM", kNumbers},
    {"DEPTHWISE_CONV_2D", kF},
    {"DEPTH_TO_SPACE", kF | kI | kL | kBytes, 0, 4},
    {"DIV", kF | kI, 0, 8, 5, 2},
    {"ELU", kF},
    {"EQUAL", kNumbers | kB | kS, 0, 8, 4, 2},
    {"EXP", kF},
    {"EXPAND_DIMS", kAll},
    {"FILL", kNumbers | kB | kS | kC | kH | Bit(DType::kString), 1},
    {"FLOOR", kF},
    {"FLOOR_DIV", kF | kI | kS | kC, 0, 8, 4, 2},
    {"FLOOR_MOD", kF | kI | kL | kS | kC, 0, 8, 4, 2},
    {"FULLY_CONNECTED", kF},
    {"GATHER", kNumbers | kB | kS | kBytes | Bit(DType::kString)},
    {"GATHER_ND", kNumbers | kB | kS | kBytes | Bit(DType::kString)},
    {"GELU", kF},
    {"GREATER", kNumbers, 0, 8, 4, 2},
    {"GREATER_EQUAL", kNumbers | kS, 0, 8, 4, 2},
    {"HARD_SWISH", kF},
    {"LEAKY_RELU", kF},
    {"LESS", kNumbers | kS, 0, 8, 4, 2},
    {"LESS_EQUAL", kNumbers, 0, 8, 4, 2},
    {"LOCAL_RESPONSE_NORMALIZATION", kF, 0, 4},
    {"LOG", kF},
    {"LOGICAL_AND", kB, 0, 8, 4, 2},
    {"LOGICAL_NOT", kB},
    {"LOGICAL_OR", kB, 0, 8, 4, 2},
    {"LOGISTIC", kF},
    {"LOG_SOFTMAX", kF},
    {"MAXIMUM", kNumbers, 0, 8, 8, 2},
    {"MAX_POOL_2D", kF},
    {"MEAN", kNumbers},
    {"MINIMUM", kNumbers, 0, 8, 8, 2},
    {"MIRROR_PAD", kNumbers | kS | kBytes, 0, 5},
    {"MUL", kNumbers | kUi, 0, 8, 6, 2},
    {"NEG", kNumbers},
    {"NOT_EQUAL", kNumbers | kB | kS, 0, 8, 4, 2},
    {"ONE_HOT", kI | kL},
    {"PAD", kNumbers | kB, 0, 5},
    {"PADV2", kNumbers | kB, 0, 5},
    {"POW", kF, 0, 8, 4, 2},
    {"PRELU", kF, 0, 4, 4, 2},
    {"RANGE", kNumbers},
    {"REDUCE_ALL", kB},
    {"REDUCE_ANY", kB},
    {"REDUCE_MAX", kNumbers},
    {"REDUCE_MIN", kNumbers},
    {"REDUCE_PROD", kNumbers},
    {"RELU", kF},
    {"RELU6", kF},
    {"RELU_N1_TO_1", kF},
    {"RESIZE_BILINEAR", kF},
    {"RESIZE_NEAREST_NEIGHBOR", kF | kBytes | kS},
    {"REVERSE_SEQUENCE", kNumbers | kS | kU},
    {"RIGHT_SHIFT", kI | kS | kUi | kBytes | Bit(DType::kUInt16), 0, 4, 4, 2},
    {"ROUND", kF},
    {"SELECT_V2", kNumbers | kB | kS | kBytes, 1, 8, 5, 3},
    {"SIGN", kF | kI},
    {"SIN", kF},
    {"SOFTMAX", kF},
    {"SPACE_TO_DEPTH", kF | kI | kL | kBytes, 0, 4},
    {"SPLIT", kF | kI | kS | kBytes, 1},
    {"SPLIT_V", kF | kI | kL | kS | kBytes},
    {"SQRT", kF},
    {"STRIDED_SLICE", kNumbers | kB | kS | kBytes | kUi | Bit(DType::kString), 0, 5},
    {"SUB", kNumbers, 0, 8, 5, 2},
    {"SUM", kNumbers},
    {"TANH", kF},
    {"TILE", kNumbers | kB | kS | kBytes | Bit(DType::kString)},
    {"TOPK_V2", kNumbers | kBytes},
    {"TRANSPOSE", kNumbers | kB | kS | kBytes, 0, 6},
    {"TRANSPOSE_CONV", kF, 2},
    {"WHERE", kNumbers | kB | kBytes | kUi},
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
