// TensorFlow: operators that stay as they are in a graph of TensorFlow that is written again.
#include "x2ir/core/composites.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "x2ir/formats/tensorflow/attributes.h"

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
    "BlockLSTM",
    "BlockLSTMV2",
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
    "FloorMod",
    "FresnelCos",
    "FresnelSin",
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    "GRUBlockCell",
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
    "Roll",
    "RsqrtGrad",
    "ScaleAndTranslate",
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

// The IR has one op, for which several are written: sums of many are sums of two, the kernel of
// three axes has no pads, and remainders of floats are a formula.
bool IsWrittenAsSeveral(const Node& node) {
  const std::string_view op = node.op().view();
  if (op == "AccumulateNV2" || op == "AddN") return node.num_inputs() > 2;
  if (op == "Conv3DBackpropInputV2") return true;
  return op == "FloorMod" && node.input(0) && IsFloating(node.input(0)->dtype());
}

bool IsTfComposite(const Node& node, size_t ops) {
  const std::string_view op = node.op().view();
  const bool first = node.attrs().String("data_format", "").starts_with("NC");
  if (!(first && IsAmong(kOfImages, op)) && !(ops > 1 && IsAmong(kComposites, op)) &&
      !IsWrittenAsSeveral(node)) {
    return false;
  }
  return std::all_of(node.attrs().begin(), node.attrs().end(), [](const auto& entry) {
    return entry.second.kind() != AttrKind::kInt || IsTfNumberKnown(entry.first.view());
  });
}

[[maybe_unused]] const bool kRegisteredComposites = RegisterComposites("tf", IsTfComposite);

}  // namespace
}  // namespace x2ir
