// TensorFlow: operators that stay as they are in a graph of TensorFlow that is written again.
#include "x2ir/core/composites.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "x2ir/formats/tensorflow/attributes.h"
#include "x2ir/handlers/tf/temporary_variables.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Functions of tensors alone: without state, random numbers, references and handles, and none of
// texts and quantized tensors, whose element types the reader changes. No operators that TensorFlow
// has deprecated: it refuses them in graphs of new versions. The names are sorted.
constexpr std::string_view kComposites[] = {
    "AccumulateNV2",
    "AddN",
    "AdjustContrastv2",
    "AdjustHue",
    "AdjustSaturation",
    "ApproximateEqual",
    "Atan2",
    "AudioSpectrogram",
    "BatchToSpace",
    "BatchToSpaceND",
    "BesselI0",
    "BesselI0e",
    "BesselI1",
    "BesselI1e",
    "BesselJ0",
    "BesselJ1",
    "BesselK0",
    "BesselK0e",
    "BesselK1",
    "BesselK1e",
    "BesselY0",
    "BesselY1",
    "Betainc",
    "BiasAddGrad",
    "Bincount",
    "Bitcast",
    "BlockLSTM",
    "BlockLSTMV2",
    "BroadcastArgs",
    "Bucketize",
    "ClipByValue",
    "CombinedNonMaxSuppression",
    "CompareAndBitpack",
    "Conv2DBackpropInput",
    "Conv3DBackpropInputV2",
    "CropAndResize",
    "Cross",
    "CumulativeLogsumexp",
    "Dawsn",
    "DenseBincount",
    "DepthwiseConv2dNativeBackpropInput",
    "Diag",
    "DiagPart",
    "Digamma",
    "Dilation2D",
    "DivNoNan",
    "DrawBoundingBoxes",
    "DrawBoundingBoxesV2",
    "DynamicPartition",
    "DynamicStitch",
    "EluGrad",
    "Erfinv",
    "EuclideanNorm",
    "Expint",
    "Expm1",
    "ExtractImagePatches",
    "ExtractVolumePatches",
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
    "FloorDiv",
    "FloorMod",
    "FresnelCos",
    "FresnelSin",
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    "GRUBlockCell",
    "GatherV2",
    "HSVToRGB",
    "HistogramFixedWidth",
    "Igamma",
    "Igammac",
    "InTopK",
    "InTopKV2",
    "InvGrad",
    "InvertPermutation",
    "L2Loss",
    "LSTMBlockCell",
    "LeakyReluGrad",
    "LeftShift",
    "Lgamma",
    "ListDiff",
    "Log1p",
    "LogMatrixDeterminant",
    "LowerBound",
    "Lu",
    "MatrixBandPart",
    "MatrixDiag",
    "MatrixDiagPart",
    "MatrixDiagPartV2",
    "MatrixDiagPartV3",
    "MatrixDiagV2",
    "MatrixDiagV3",
    "MatrixSetDiag",
    "MatrixSetDiagV2",
    "MatrixSetDiagV3",
    "MatrixSolve",
    "MatrixTriangularSolve",
    "MaxPoolWithArgmax",
    "Mfcc",
    "MirrorPad",
    "Mod",
    "MulNoNan",
    "Ndtri",
    "NextAfter",
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "NonMaxSuppressionV5",
    "NonMaxSuppressionWithOverlaps",
    "NthElement",
    "ParallelDynamicStitch",
    "Polygamma",
    "PopulationCount",
    "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3",
    "QuantizeAndDequantizeV4",
    "RGBToHSV",
    "ReciprocalGrad",
    "Relu6Grad",
    "ReluGrad",
    "ResizeArea",
    "ResizeBicubic",
    "ResizeBilinear",
    "ResizeNearestNeighbor",
    "Reverse",
    "ReverseV2",
    "RightShift",
    "Roll",
    "RsqrtGrad",
    "ScaleAndTranslate",
    "ScatterNd",
    "ScatterNdNonAliasingAdd",
    "SegmentMax",
    "SegmentMaxV2",
    "SegmentMean",
    "SegmentMin",
    "SegmentMinV2",
    "SegmentProd",
    "SegmentProdV2",
    "SegmentSum",
    "SegmentSumV2",
    "SeluGrad",
    "SigmoidGrad",
    "SoftmaxCrossEntropyWithLogits",
    "SoftplusGrad",
    "SoftsignGrad",
    "SpaceToBatch",
    "SpaceToBatchND",
    "SparseSegmentMean",
    "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtN",
    "SparseSegmentSqrtNWithNumSegments",
    "SparseSegmentSum",
    "SparseSegmentSumWithNumSegments",
    "SparseSoftmaxCrossEntropyWithLogits",
    "SparseTensorDenseAdd",
    "SparseTensorDenseMatMul",
    "SparseToDense",
    "Spence",
    "SqrtGrad",
    "TanhGrad",
    "TensorScatterSub",
    "TridiagonalMatMul",
    "TridiagonalSolve",
    "UnsortedSegmentMax",
    "UnsortedSegmentMin",
    "UnsortedSegmentProd",
    "UnsortedSegmentSum",
    "UpperBound",
    "Where",
    "Xdivy",
    "Xlog1py",
    "Xlogy",
    "Zeta",
};
static_assert(std::ranges::is_sorted(kComposites));

// Operators of images that are written with channels last, between transposes, where they have
// channels first.
constexpr std::string_view kOfImages[] = {
    "AvgPool",
    "AvgPool3D",
    "BiasAdd",
    "Conv2D",
    "Conv2DBackpropInput",
    "Conv3D",
    "Conv3DBackpropInputV2",
    "DepthToSpace",
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropInput",
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    "MaxPool",
    "MaxPool3D",
    "SpaceToDepth",
};
static_assert(std::ranges::is_sorted(kOfImages));

template <size_t kSize>
bool IsAmong(const std::string_view (&names)[kSize], std::string_view op) {
  return std::binary_search(std::begin(names), std::end(names), op);
}

// Operators that are one op of the IR where this operand is known, and several where it is
// computed.
struct ComputedOperand {
  std::string_view op;
  size_t operand;
};
constexpr ComputedOperand kComputed[] = {{"BroadcastTo", 1}, {"Fill", 0},  {"Pad", 1},
                                         {"PadV2", 1},       {"Slice", 1}, {"Slice", 2}};

bool IsOfComputed(const Node& node) {
  return std::any_of(std::begin(kComputed), std::end(kComputed), [&](const ComputedOperand& row) {
    const Value* v = node.op().view() == row.op ? node.input(row.operand) : nullptr;
    return v && !ConstantBehind(v) && !KnownTensor(*v);
  });
}

// The IR has one op, for which several are written: sums of many are sums of two, the kernel of
// three axes has no pads, and remainders of floats are a formula. TensorFlow's Lu stops at a
// singular matrix, which the IR's does not, and which is a formula, too. TruncateDiv has no kernel
// for int8, and Div has one.
bool IsWrittenAsSeveral(const Node& node) {
  const std::string_view op = node.op().view();
  if (op == "AccumulateNV2" || op == "AddN") return node.num_inputs() > 2;
  if (op == "Conv3DBackpropInputV2" || op == "Lu") return true;
  if (op == "Div") return node.input(0) && node.input(0)->dtype() == DType::kInt8;
  return op == "FloorMod" && node.input(0) && IsFloating(node.input(0)->dtype());
}

bool IsTfComposite(const Node& node, size_t ops) {
  const std::string_view op = node.op().view();
  const bool first = node.attrs().String("data_format", "").starts_with("NC");
  const bool stays = (first && IsAmong(kOfImages, op)) ||
                     (ops > 1 && (IsAmong(kComposites, op) || IsOfComputed(node))) ||
                     IsWrittenAsSeveral(node) || MayChangeTemporaryVariable(node);
  if (!stays) return false;
  return std::all_of(node.attrs().begin(), node.attrs().end(), [](const auto& entry) {
    return entry.second.kind() != AttrKind::kInt || IsTfNumberKnown(entry.first.view());
  });
}

[[maybe_unused]] const bool kRegisteredComposites = RegisterComposites("tf", IsTfComposite);

}  // namespace
}  // namespace x2ir
