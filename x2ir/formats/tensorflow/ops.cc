// What must be known of TensorFlow's ops to read graphs of them: which have several outputs, and
// which change state.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/name_pair.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

// Bodies of functions name outputs "node:argument:i", graphs count them through. Every op that has
// more than one output argument must be in this table.
const OutputArgs kOutputArgs[] = {
    {"Batch", {"batched_tensors", "batch_index", "id"}},
    {"BatchSelfAdjointEigV2", {"e", "v"}, 2},
    {"BatchSvd", {"s", "u", "v"}, 3},
    {"BlockLSTM", {"i", "cs", "f", "o", "ci", "co", "h"}, 7},
    {"BlockLSTMV2", {"i", "cs", "f", "o", "ci", "co", "h"}, 7},
    {"BroadcastGradientArgs", {"r0", "r1"}, 2},
    {"CTCBeamSearchDecoder",
     {"decoded_indices", "decoded_values", "decoded_shape", "log_probability"}},
    {"CTCGreedyDecoder",
     {"decoded_indices", "decoded_values", "decoded_shape", "log_probability"},
     4},
    {"CTCLoss", {"loss", "gradient"}},
    {"CTCLossV2", {"loss", "gradient"}},
    {"CombinedNonMaxSuppression",
     {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"},
     4},
    {"CudnnRNN", {"output", "output_h", "output_c", "reserve_space"}},
    {"CudnnRNNParamsToCanonical", {"weights"}},  // and, after that list, "biases"
    {"CudnnRNNParamsToCanonicalV2", {"weights"}},
    {"CudnnRNNV2", {"output", "output_h", "output_c", "reserve_space", "host_reserved"}},
    {"CudnnRNNV3", {"output", "output_h", "output_c", "reserve_space", "host_reserved"}},
    {"DecodeProtoV2", {"sizes", "values"}},
    {"DeserializeManySparse", {"sparse_indices", "sparse_values", "sparse_shape"}},
    {"DeserializeSparse", {"sparse_indices", "sparse_values", "sparse_shape"}},
    {"Eig", {"e", "v"}, 2},
    {"FakeQuantWithMinMaxVarsGradient",
     {"backprops_wrt_input", "backprop_wrt_min", "backprop_wrt_max"}},
    {"FixedUnigramCandidateSampler",
     {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
    {"FractionalAvgPool", {"output", "row_pooling_sequence", "col_pooling_sequence"}},
    {"FractionalMaxPool", {"output", "row_pooling_sequence", "col_pooling_sequence"}},
    {"FusedBatchNorm", {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}},
    {"FusedBatchNormV2",
     {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}},
    {"FusedBatchNormV3",
     {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2",
      "reserve_space_3"}},
    {"FusedBatchNormGrad",
     {"x_backprop", "scale_backprop", "offset_backprop", "reserve_space_3", "reserve_space_4"}},
    {"FusedBatchNormGradV2",
     {"x_backprop", "scale_backprop", "offset_backprop", "reserve_space_3", "reserve_space_4"}},
    {"FusedBatchNormGradV3",
     {"x_backprop", "scale_backprop", "offset_backprop", "reserve_space_4", "reserve_space_5"}},
    {"_FusedBatchNormEx",
     {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2",
      "reserve_space_3"}},
    {"GRUBlockCell", {"r", "u", "c", "h"}, 4},
    {"GenerateBoundingBoxProposals", {"rois", "roi_probabilities"}, 2},
    {"GenerateVocabRemapping", {"remapping", "num_present"}},
    {"LSTMBlockCell", {"i", "cs", "f", "o", "ci", "co", "h"}, 7},
    {"LearnedUnigramCandidateSampler",
     {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
    {"ListDiff", {"out", "idx"}, 2},
    {"LogMatrixDeterminant", {"sign", "log_abs_determinant"}, 2},
    {"LogUniformCandidateSampler",
     {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
    {"LookupTableExport", {"keys", "values"}},
    {"LookupTableExportV2", {"keys", "values"}},
    {"Lu", {"lu", "p"}, 2},
    {"MaxPoolWithArgmax", {"output", "argmax"}, 2},
    {"Merge", {"output", "value_index"}},
    {"NonMaxSuppressionV4", {"selected_indices", "valid_outputs"}, 2},
    {"NonMaxSuppressionV5", {"selected_indices", "selected_scores", "valid_outputs"}, 3},
    {"ParseExample", {"sparse_indices", "sparse_values", "sparse_shapes", "dense_values"}},
    {"Qr", {"q", "r"}, 2},
    {"QuantizeAndDequantizeV4Grad", {"input_backprop", "input_min_backprop", "input_max_backprop"}},
    {"QuantizeDownAndShrinkRange", {"output", "output_min", "output_max"}, 3},
    {"QuantizeV2", {"output", "output_min", "output_max"}, 3},
    {"QuantizedAdd", {"z", "min_z", "max_z"}, 3},
    {"QuantizedAvgPool", {"output", "min_output", "max_output"}, 3},
    {"QuantizedBiasAdd", {"output", "min_out", "max_out"}, 3},
    {"QuantizedConcat", {"output", "output_min", "output_max"}, 3},
    {"QuantizedConv2D", {"output", "min_output", "max_output"}, 3},
    {"QuantizedMatMul", {"out", "min_out", "max_out"}, 3},
    {"QuantizedMaxPool", {"output", "min_output", "max_output"}, 3},
    {"QuantizedMul", {"z", "min_z", "max_z"}, 3},
    {"QuantizedRelu", {"activations", "min_activations", "max_activations"}, 3},
    {"QuantizedRelu6", {"activations", "min_activations", "max_activations"}, 3},
    {"QuantizedReshape", {"output", "output_min", "output_max"}, 3},
    {"QuantizedResizeBilinear", {"resized_images", "out_min", "out_max"}, 3},
    {"RaggedGather", {"output_nested_splits", "output_dense_values"}},
    {"RaggedRange", {"rt_nested_splits", "rt_dense_values"}, 2},
    {"RaggedTensorFromVariant", {"output_nested_splits", "output_dense_values"}},
    {"RaggedTensorToSparse", {"sparse_indices", "sparse_values", "sparse_dense_shape"}, 3},
    {"ReaderRead", {"key", "value"}},
    {"ReaderReadV2", {"key", "value"}},
    {"RefMerge", {"output", "value_index"}},
    {"RefSwitch", {"output_false", "output_true"}},
    {"RequantizationRange", {"output_min", "output_max"}, 2},
    {"Requantize", {"output", "output_min", "output_max"}, 3},
    {"SampleDistortedBoundingBox", {"begin", "size", "bboxes"}, 3},
    {"SampleDistortedBoundingBoxV2", {"begin", "size", "bboxes"}, 3},
    {"SelfAdjointEigV2", {"e", "v"}, 2},
    {"Skipgram",
     {"vocab_word", "vocab_freq", "words_per_epoch", "current_epoch", "total_words_processed",
      "examples", "labels"}},
    {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
    {"SparseAdd", {"sum_indices", "sum_values", "sum_shape"}, 3},
    {"SparseConcat", {"output_indices", "output_values", "output_shape"}, 3},
    {"SparseCross", {"output_indices", "output_values", "output_shape"}, 3},
    {"SparseFillEmptyRows",
     {"output_indices", "output_values", "empty_row_indicator", "reverse_index_map"},
     4},
    {"SparseReduceMaxSparse", {"output_indices", "output_values", "output_shape"}, 3},
    {"SparseReduceSumSparse", {"output_indices", "output_values", "output_shape"}, 3},
    {"SparseReorder", {"output_indices", "output_values"}, 2},
    {"SparseReshape", {"output_indices", "output_shape"}, 2},
    {"SparseSlice", {"output_indices", "output_values", "output_shape"}, 3},
    {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
    {"SparseSparseMaximum", {"output_indices", "output_values"}, 2},
    {"SparseSparseMinimum", {"output_indices", "output_values"}, 2},
    {"StatelessRandomGetKeyCounter", {"key", "counter"}, 2},
    {"StatelessRandomGetKeyCounterAlg", {"key", "counter", "alg"}, 3},
    {"StatelessSampleDistortedBoundingBox", {"begin", "size", "bboxes"}, 3},
    {"StringNGrams", {"ngrams", "ngrams_splits"}, 2},
    {"StringSplit", {"indices", "values", "shape"}, 3},
    {"StringSplitV2", {"indices", "values", "shape"}, 3},
    {"Svd", {"s", "u", "v"}, 3},
    {"Switch", {"output_false", "output_true"}, 2},
    {"TakeManySparseFromTensorsMap", {"sparse_indices", "sparse_values", "sparse_shape"}},
    {"TensorArrayConcat", {"value", "lengths"}},
    {"TensorArrayConcatV2", {"value", "lengths"}},
    {"TensorArrayConcatV3", {"value", "lengths"}},
    {"TensorArrayGradV3", {"grad_handle", "flow_out"}},
    {"TensorArrayGradWithShape", {"grad_handle", "flow_out"}},
    {"TensorArrayV3", {"handle", "flow"}},
    {"TensorListConcat", {"tensor", "lengths"}},
    {"TensorListConcatV2", {"tensor", "lengths"}},
    {"TensorListPopBack", {"output_handle", "tensor"}, 2},
    {"ThreadUnsafeUnigramCandidateSampler",
     {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
    {"TopK", {"values", "indices"}, 2},
    {"TopKV2", {"values", "indices"}, 2},
    {"ApproxTopK", {"values", "indices"}, 2},
    {"UnicodeDecode", {"row_splits", "char_values"}, 2},
    {"UnicodeDecodeWithOffsets", {"row_splits", "char_values", "char_to_byte_starts"}, 3},
    {"UniformCandidateSampler",
     {"sampled_candidates", "true_expected_count", "sampled_expected_count"}},
    {"Unique", {"y", "idx"}, 2},
    {"UniqueV2", {"y", "idx"}, 2},
    {"UniqueWithCounts", {"y", "idx", "count"}, 3},
    {"UniqueWithCountsV2", {"y", "idx", "count"}, 3},
};

// What all others that are written call their one output argument.
struct OutputArg {
  std::string_view name, ops;
};
constexpr OutputArg kOutputArg[] = {
    {"activations", "Elu LeakyRelu Relu Relu6 Selu Softplus Softsign"},
    {"band", "MatrixBandPart"},
    {"bins", "Bincount"},
    {"crops", "CropAndResize"},
    {"diagonal", "DiagPart MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3"},
    {"handle", "EmptyTensorList TensorListReserve"},
    {"index", "Where"},
    {"item", "TensorListGetItem"},
    {"length", "TensorListLength"},
    {"logsoftmax", "LogSoftmax"},
    {"out", "Complex Cumprod Cumsum"},
    {"output",
     "All Any ArgMax ArgMin AsString AvgPool AvgPool3D BatchMatMul BatchMatMulV2 BatchToSpaceND "
     "BiasAdd Bitcast BroadcastTo Bucketize Case Cholesky Concat ConcatV2 Conj Const Conv2D "
     "Conv2DBackpropInput Conv3D Conv3DBackpropInputV2 DepthToSpace DepthwiseConv2dNative "
     "Dequantize Diag Dilation2D Einsum EnsureShape EuclideanNorm ExpandDims FFT FFT2D FFT3D Fill "
     "Gather GatherNd GatherV2 IFFT IFFT2D IFFT3D IRFFT Identity IdentityN If Imag L2Loss LRN "
     "LinSpace MatrixDeterminant MatrixDiag MatrixDiagV2 MatrixDiagV3 MatrixInverse "
     "MatrixSetDiagV3 MatrixSolve MatrixTriangularSolve Max MaxPool MaxPool3D MaxPoolV2 Mean Min "
     "MirrorPad Multinomial OneHot Pack Pad PadV2 Placeholder Prod RFFT RGBToHSV RandomPoisson "
     "RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt Range Rank "
     "Real RegexFullMatch RegexReplace Reshape Reverse ReverseSequence ReverseV2 Roll ScatterNd "
     "SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum Select SelectV2 Shape Size Slice "
     "SpaceToBatchND SpaceToDepth SparseToDense Split SplitV Squeeze StatelessCase StatelessIf "
     "StatelessMultinomial StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform "
     "StatelessRandomUniformInt StatelessRandomUniformV2 StatelessWhile StaticRegexFullMatch "
     "StaticRegexReplace StridedSlice StringJoin StringLength StringLower StringStrip "
     "StringToHashBucketFast StringToNumber StringUpper Substr Sum TensorScatterAdd "
     "TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate Tile "
     "TruncatedNormal Unpack UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd "
     "UnsortedSegmentSum While"},
    {"output_handle",
     "TensorListFromTensor TensorListPushBack TensorListResize TensorListSetItem TensorListSplit"},
    {"outputs",
     "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel"},
    {"patches", "ExtractImagePatches"},
    {"product", "Cross MatMul"},
    {"r0", "BroadcastArgs"},
    {"resized_images", "ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor"},
    {"selected_indices", "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3"},
    {"softmax", "Softmax"},
    {"tensor", "TensorListStack"},
    {"values", "LookupTableFind LookupTableFindV2"},
    {"y",
     "Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil ComplexAbs Cos Cosh Digamma Erf Erfc Erfinv "
     "Exp Expm1 Floor Inv Invert InvertPermutation IsFinite IsInf IsNan Lgamma Log Log1p "
     "LogicalNot "
     "Neg OnesLike PopulationCount Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square "
     "Tan Tanh Transpose ZerosLike"},
    {"z",
     "Add AddV2 Atan2 Betainc BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod "
     "Greater GreaterEqual Igamma Igammac LeftShift Less LessEqual LogicalAnd LogicalOr Maximum "
     "Minimum Mod Mul MulNoNan NextAfter NotEqual Polygamma Pow RealDiv RightShift "
     "SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy Zeta"},
};

// The attribute that says how many outputs there are: a number, or a list of their types.
constexpr NamePair kListOps[] = {
    {"Case", "Tout"},
    {"ConcatOffset", "N"},
    {"DynamicPartition", "num_partitions"},
    {"IdentityN", "T"},
    {"If", "Tout"},
    {"IteratorGetNext", "output_types"},
    {"IteratorGetNextSync", "output_types"},
    {"PartitionedCall", "Tout"},
    {"QueueDequeueV2", "component_types"},
    {"ShapeN", "N"},
    {"Split", "num_split"},
    {"SplitV", "num_split"},
    {"StatefulPartitionedCall", "Tout"},
    {"StatelessCase", "Tout"},
    {"StatelessIf", "Tout"},
    {"StatelessWhile", "T"},
    {"Unpack", "num"},
    {"While", "T"},
    {"XlaCallModule", "Tout"},
};

// Begins of the names of ops that write to variables, tables, queues or files. What only checks
// or prints is not among them.
constexpr std::string_view kWriters[] = {
    "Apply",
    "Assign",
    "Barrier",
    "CloseSummary",
    "CountUpTo",
    "DestroyTemporary",
    "Enqueue",
    "LookupTableInsert",
    "LookupTableRemove",
    "MapStage",
    "MapUnstage",
    "MutableDense",
    "PrependFromQueue",
    "QueueClose",
    "QueueDequeue",
    "QueueEnqueue",
    "ResourceApply",
    "ResourceCountUpTo",
    "ResourceScatter",
    "ResourceSparseApply",
    "ResourceStridedSliceAssign",
    "SparseApply",
    "StackPush",
    "Stage",
    "StridedSliceAssign",
    "Unstage",
    "WriteFile",
};
// Of the scatter ops those that write to a variable.
constexpr std::string_view kScatters[] = {
    "ScatterAdd",   "ScatterDiv",      "ScatterMax",   "ScatterMin",
    "ScatterMul",   "ScatterNdAdd",    "ScatterNdMax", "ScatterNdMin",
    "ScatterNdSub", "ScatterNdUpdate", "ScatterSub",   "ScatterUpdate",
};

}  // namespace

const OutputArgs* FindOutputArgs(std::string_view op) {
  static const auto* rows = [] {
    auto* map = new absl::flat_hash_map<std::string_view, const OutputArgs*>;
    for (const OutputArgs& row : kOutputArgs) map->emplace(row.op, &row);
    return map;
  }();
  const auto it = rows->find(op);
  return it == rows->end() ? nullptr : it->second;
}

absl::StatusOr<std::string> OutputInFunction(std::string_view node, std::string_view op,
                                             size_t index) {
  if (const OutputArgs* args = FindOutputArgs(op)) {
    const size_t arg = std::min(index, args->names.size() - 1);
    return StrCat(node, ":", args->names[arg], ":", index - arg);
  }
  static const auto* names = [] {
    auto* map = new absl::flat_hash_map<std::string_view, std::string_view>;
    for (const OutputArg& row : kOutputArg) {
      for (size_t at = 0; at < row.ops.size();) {
        const size_t end = std::min(row.ops.find(' ', at), row.ops.size());
        map->emplace(row.ops.substr(at, end - at), row.name);
        at = end + 1;
      }
    }
    return map;
  }();
  const auto it = names->find(op);
  if (it == names->end()) {
    return CannotExpress("a function with ", op, ", whose output arguments are not known");
  }
  return StrCat(node, ":", it->second, ":", index);
}

std::optional<int64_t> ListOutputs(const Source& source, const NodeProto& node) {
  for (const NamePair& row : kListOps) {
    if (row.from != node.op) continue;
    const absl::StatusOr<AttrProto> attr = ReadAttr(source, node.attr(row.to));
    if (!attr.ok()) return std::nullopt;
    if (const auto* count = attr->value.get<int64_t>()) return *count;
    if (const auto* types = attr->value.get<std::vector<Type>>()) {
      return static_cast<int64_t>(types->size());
    }
    return 0;
  }
  return std::nullopt;
}

bool ChangesState(std::string_view op) {
  return std::any_of(std::begin(kWriters), std::end(kWriters),
                     [&](std::string_view begin) { return op.starts_with(begin); }) ||
         std::find(std::begin(kScatters), std::end(kScatters), op) != std::end(kScatters);
}

}  // namespace x2ir::tf_format
