#include "x2ir/handlers/tf/kernels.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr uint32_t TfBit(DType t) { return uint32_t{1} << static_cast<int>(t); }
constexpr uint32_t kTfF = TfBit(DType::kFloat32), kTfD = TfBit(DType::kFloat64),
                   kTfH = TfBit(DType::kFloat16), kTfBf = TfBit(DType::kBFloat16),
                   kTfI = TfBit(DType::kInt32), kTfL = TfBit(DType::kInt64),
                   kTfS = TfBit(DType::kInt16), kTfC = TfBit(DType::kInt8),
                   kTfU = TfBit(DType::kUInt8), kTfB = TfBit(DType::kBool),
                   kTfText = TfBit(DType::kString);
constexpr uint32_t kTfFloats = kTfF | kTfD | kTfH | kTfBf;
constexpr uint32_t kTfWide = TfBit(DType::kUInt16) | TfBit(DType::kUInt32) | TfBit(DType::kUInt64);
constexpr uint32_t kTfInts = kTfI | kTfL | kTfS | kTfC | kTfU | kTfWide;
constexpr uint32_t kTfReals = kTfFloats | kTfInts;
constexpr uint32_t kTfComplex = TfBit(DType::kComplex64) | TfBit(DType::kComplex128);
constexpr uint32_t kTfNumbers = kTfReals | kTfComplex;
// Element types of images.
constexpr uint32_t kTfPixels = kTfFloats | kTfI | kTfL | kTfS | kTfC | kTfU | TfBit(DType::kUInt16);

// Of an operator of TensorFlow 2.21: the element types of its operand, and how many axes that may
// have. Operators without a row move elements of any type. Some types that older releases lack are
// left out, since casts are exact there: bfloat16 of pools of volumes, int8 of Maximum.
struct TfKernel {
  std::string_view op;
  uint32_t types;
  size_t operand = 0;
  int64_t rank = 254;
};
constexpr TfKernel kTfKernels[] = {
    {"Abs", kTfFloats | kTfI | kTfL | kTfS | kTfC},
    {"Acos", kTfFloats},
    {"Acosh", kTfFloats | kTfComplex},
    {"AddV2", kTfNumbers},
    {"ArgMax", kTfReals | kTfB, 0, 7},
    {"ArgMin", kTfReals | kTfB, 0, 7},
    {"Asin", kTfFloats},
    {"Asinh", kTfFloats | kTfComplex},
    {"Atan", kTfFloats},
    {"Atanh", kTfFloats | kTfComplex},
    {"AvgPool", kTfFloats},
    {"AvgPool3D", kTfF},
    {"BatchMatMulV2", kTfFloats | kTfI | kTfL | kTfS | kTfComplex},
    {"BiasAdd", kTfNumbers},
    {"Bitcast", kTfNumbers},
    {"BitwiseAnd", kTfInts},
    {"BitwiseOr", kTfInts},
    {"BitwiseXor", kTfInts},
    {"Ceil", kTfFloats},
    {"Cholesky", kTfF | kTfD | kTfComplex},
    {"Conv2D", kTfFloats | kTfI},
    {"Conv2DBackpropInput", kTfFloats, 2},
    {"Conv3D", kTfFloats},
    {"Conv3DBackpropInputV2", kTfF | kTfD | kTfH, 2},
    {"Cos", kTfFloats | kTfComplex},
    {"Cosh", kTfFloats | kTfComplex},
    {"Cumprod", kTfNumbers},
    {"Cumsum", kTfNumbers},
    {"DepthwiseConv2dNative", kTfFloats},
    {"Einsum", kTfFloats | kTfI | kTfL | kTfComplex},
    {"Elu", kTfFloats},
    {"Equal", kTfNumbers | kTfB | kTfText},
    {"Erf", kTfFloats},
    {"Exp", kTfFloats | kTfComplex},
    {"Floor", kTfFloats},
    {"FloorDiv", kTfReals},
    {"FloorMod", kTfI | kTfL | TfBit(DType::kUInt64) | kTfF | kTfD},
    {"FusedBatchNormV3", kTfF | kTfH | kTfBf},
    {"Greater", kTfReals},
    {"GreaterEqual", kTfReals},
    {"Invert", kTfInts},
    {"IsFinite", kTfFloats},
    {"IsInf", kTfFloats},
    {"IsNan", kTfFloats},
    {"LRN", kTfF | kTfH},
    {"LeakyRelu", kTfFloats},
    {"LeftShift", kTfInts},
    {"Less", kTfReals},
    {"LessEqual", kTfReals},
    {"Log", kTfFloats | kTfComplex},
    {"LogSoftmax", kTfFloats},
    {"MatMul", kTfFloats | kTfI | kTfL | kTfComplex},
    {"MatrixDeterminant", kTfF | kTfD | kTfComplex},
    {"MatrixSolve", kTfF | kTfD | kTfComplex},
    {"MatrixTriangularSolve", kTfF | kTfD | kTfComplex},
    {"Max", kTfReals},
    {"MaxPool", kTfPixels},
    {"MaxPool3D", kTfF},
    {"MaxPoolWithArgmax", kTfReals},
    {"Maximum", kTfFloats | kTfI | kTfL | kTfS | kTfU | TfBit(DType::kUInt64)},
    {"Mean", kTfNumbers},
    {"Min", kTfReals},
    {"Minimum", kTfFloats | kTfI | kTfL | kTfS | kTfU | TfBit(DType::kUInt64)},
    {"MirrorPad", kTfNumbers | kTfB | kTfText, 0, 5},
    {"Mul", kTfNumbers},
    {"Multinomial", kTfFloats},
    {"Neg", kTfFloats | kTfI | kTfL | kTfS | kTfC | kTfComplex},
    {"NonMaxSuppressionV3", kTfF | kTfH},
    {"NotEqual", kTfNumbers | kTfB | kTfText},
    {"OneHot", kTfU | kTfC | kTfI | kTfL},
    {"PadV2", kTfNumbers | kTfB, 0, 6},
    {"Pow", kTfFloats | kTfI | kTfL | kTfComplex},
    {"Prod", kTfNumbers},
    {"Qr", kTfF | kTfD | kTfComplex},
    {"Range", kTfF | kTfD | kTfI | kTfL},
    {"RealDiv", kTfFloats | kTfComplex},
    {"Reciprocal", kTfFloats | kTfComplex},
    {"Relu", kTfReals},
    {"ResizeBilinear", kTfPixels},
    {"ResizeNearestNeighbor", kTfPixels},
    {"ReverseSequence", kTfNumbers | kTfB, 0, 5},
    {"RightShift", kTfInts},
    {"Round", kTfF | kTfD | kTfH | kTfI | kTfL},
    {"Rsqrt", kTfFloats | kTfComplex},
    {"ScatterNd", kTfNumbers, 1},
    {"SelfAdjointEigV2", kTfF | kTfD | kTfComplex},
    {"Selu", kTfFloats},
    {"Sigmoid", kTfFloats | kTfComplex},
    {"Sign", kTfF | kTfD | kTfH | kTfI | kTfL | kTfComplex},
    {"Sin", kTfFloats | kTfComplex},
    {"Sinh", kTfFloats | kTfComplex},
    {"Softmax", kTfFloats},
    {"Softplus", kTfFloats},
    {"Softsign", kTfFloats},
    {"Sqrt", kTfFloats | kTfComplex},
    {"SquaredDifference", kTfFloats | kTfI | kTfL},
    {"StridedSlice", kTfNumbers | kTfB | kTfText, 0, 8},
    {"Sub", kTfNumbers},
    {"Sum", kTfNumbers},
    {"Svd", kTfF | kTfD | kTfComplex},
    {"Tan", kTfFloats | kTfComplex},
    {"Tanh", kTfFloats | kTfComplex},
    {"TensorScatterAdd", kTfNumbers},
    {"TensorScatterMax", kTfReals},
    {"TensorScatterMin", kTfReals},
    {"TensorScatterSub", kTfNumbers},
    {"Tile", kTfFloats | kTfI | kTfL | kTfS | kTfC | kTfU | kTfB | kTfText | kTfComplex},
    {"TopKV2", kTfReals},
    {"TruncateDiv", kTfI | kTfL | kTfS | kTfU | TfBit(DType::kUInt16)},
    {"TruncateMod", kTfI | kTfL | kTfF | kTfD},
    {"Where", kTfNumbers | kTfB, 0, 8},
};

const TfKernel* TfKernelOf(std::string_view op) {
  const auto* end = std::end(kTfKernels);
  const auto* found = std::lower_bound(
      std::begin(kTfKernels), end, op,
      [](const TfKernel& kernel, std::string_view name) { return kernel.op < name; });
  return found != end && found->op == op ? found : nullptr;
}

// Places of elements have at most so many numbers each.
std::vector<std::string> CheckTfPlaces(const Node& node) {
  constexpr int64_t kMost = 7;
  const std::string_view op = node.op().view();
  if (op != "GatherNd" && !op.starts_with("TensorScatter")) return {};
  const Shape* places = node.input(1) ? node.input(1)->shape() : nullptr;
  if (!places || places->rank() == 0) return {};
  const Dim& last = (*places)[places->rank() - 1];
  if (!last.is_static() || last.value() <= kMost) return {};
  return {StrCat("no kernel for places of ", last.value(), " numbers")};
}

// Of windows: what the kernels of convolutions check when they run, or do not look at.
std::vector<std::string> CheckTfSteps(const Node& node) {
  const std::string_view op = node.op().view();
  const auto differ = [&](Symbol attr) {
    const std::vector<int64_t> all = node.attrs().Ints(attr, {});
    return std::any_of(all.begin(), all.end(), [](int64_t n) { return n != 1; });
  };
  const bool depthwise = op == "DepthwiseConv2dNative";
  if ((depthwise || op == "Conv2DBackpropInput" || op.starts_with("Conv3D")) &&
      differ("dilations")) {
    return {"no kernel for dilations"};
  }
  const std::vector<int64_t> strides = node.attrs().Ints("strides", {});
  if (depthwise && strides.size() == 4 && strides[1] != strides[2]) {
    return {"no kernel for strides that differ"};
  }
  return {};
}

}  // namespace

std::vector<std::string> CheckTfKernel(const Node& node) {
  if (std::vector<std::string> problems = CheckTfPlaces(node); !problems.empty()) return problems;
  const TfKernel* kernel = TfKernelOf(node.op().view());
  if (!kernel) return {};
  const Value* operand = node.input(kernel->operand);
  if (!operand) return {};
  const DType type = operand->dtype();
  if (type != DType::kUndefined && (kernel->types & TfBit(type)) == 0) {
    return {StrCat("no kernel for ", Name(type))};
  }
  if (operand->shape() && operand->shape()->rank() > kernel->rank) {
    return {StrCat("no kernel for rank ", operand->shape()->rank())};
  }
  return CheckTfSteps(node);
}

}  // namespace x2ir
