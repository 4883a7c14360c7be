// Versions of operators, as rows.
#include "x2ir/formats/tflite/versions.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "x2ir/formats/tflite/quantization.h"

namespace x2ir::tflite {
namespace {

DType In(const Node& n, size_t i) { return n.input(i) ? n.input(i)->dtype() : DType::kUndefined; }
DType Out(const Node& n) { return n.output(0) ? n.output(0)->dtype() : DType::kUndefined; }

int64_t RankOf(const Value* v) { return v && v->shape() ? v->shape()->rank() : 0; }

// Operands of different shapes, one of them of more than four axes.
bool BroadcastsFive(const Node& n) {
  const Value *a = n.input(0), *b = n.input(1);
  if (!a || !b || !a->shape() || !b->shape()) return false;
  return std::max(RankOf(a), RankOf(b)) > 4 && !(*a->shape() == *b->shape());
}

bool HasManyScales(const Value* v) {
  if (!v) return false;
  const auto q = QuantizationOf(*v);
  return q.ok() && *q && (*q)->scales.size() > 1;
}

std::optional<Quantization> ScaleOf(const Value* v) {
  if (!v) return std::nullopt;
  const auto q = QuantizationOf(*v);
  return q.ok() ? *q : std::nullopt;
}

// What a row asks of a node; the operand that its type is of.
constexpr DType kF32 = DType::kFloat32, kF16 = DType::kFloat16, kF64 = DType::kFloat64,
                kI4 = DType::kInt4, kI8 = DType::kInt8, kI16 = DType::kInt16, kI32 = DType::kInt32,
                kI64 = DType::kInt64, kU8 = DType::kUInt8, kU16 = DType::kUInt16,
                kU32 = DType::kUInt32, kBool = DType::kBool, kString = DType::kString,
                kBf16 = DType::kBFloat16, kC64 = DType::kComplex64, kAny = DType::kUndefined;

bool IsPlain16(const Node& n) { return In(n, 0) == kI16 && !ScaleOf(n.input(0)); }
bool Broadcasts5(const Node& n) { return BroadcastsFive(n); }
template <int64_t kRank>
bool RankAbove(const Node& n) {
  return RankOf(n.input(0)) > kRank;
}
bool RankNot4(const Node& n) { return RankOf(n.input(0)) != 4; }
bool OutIs16(const Node& n) { return Out(n) == kI16; }
template <DType kType>
bool OutIs(const Node& n) {
  return Out(n) == kType;
}
bool PerChannel(const Node& n) { return HasManyScales(n.input(0)); }
bool Grouped(const Node& n) {
  const Shape *x = n.input(0)->shape(), *w = n.input(1)->shape();
  return x && w && x->rank() == 4 && w->rank() == 4 && !((*x)[3] == (*w)[3]);
}
bool Hybrid(const Node& n) { return In(n, 0) == kF32 && In(n, 1) == kI8; }
bool HybridPerChannel(const Node& n) { return Hybrid(n) && HasManyScales(n.input(1)); }
bool WideBias(const Node& n) {
  return In(n, 0) == kI16 && n.attrs().String("quantized_bias_type", "FLOAT32") != "FLOAT32";
}
template <bool kWeights4>
bool Int8By(const Node& n) {
  return In(n, 0) == kI8 && In(n, 1) == (kWeights4 ? kI4 : kI8);
}
bool Int16Weights4(const Node& n) { return In(n, 0) == kI16 && In(n, 1) == kI4; }
bool Dilated(const Node& n) {
  return n.attrs().Int("dilation_w_factor", 1) != 1 || n.attrs().Int("dilation_h_factor", 1) != 1;
}
bool NoBias(const Node& n) { return !n.input(2); }
bool KeepsDims(const Node& n) { return n.attrs().Int("keep_num_dims", 0) != 0; }
bool AsymmetricHybrid(const Node& n) {
  return Hybrid(n) && n.attrs().Int("asymmetric_quantize_inputs", 0) != 0;
}
bool Shuffled(const Node& n) {
  return n.attrs().String("weights_format", "DEFAULT") == "SHUFFLED4x16INT8";
}
bool HasActivation(const Node& n) {
  return n.attrs().String("fused_activation_function", "NONE") != "NONE";
}
bool HasBias3(const Node& n) { return n.input(3) != nullptr; }
bool HalfPixel(const Node& n) { return n.attrs().Int("half_pixel_centers", 0) != 0; }
bool CornersOrHalfPixel(const Node& n) {
  return HalfPixel(n) || n.attrs().Int("align_corners", 0) != 0;
}
bool BatchDims(const Node& n) { return n.attrs().Int("batch_dims", 0) != 0; }
bool Offset(const Node& n) { return n.attrs().Int("offset", 0) != 0; }
bool NewAxes(const Node& n) {
  return n.attrs().Int("ellipsis_mask", 0) != 0 || n.attrs().Int("new_axis_mask", 0) != 0;
}
bool NarrowRange(const Node& n) { return n.attrs().Int("narrow_range", 0) != 0; }
// The product of scales is at least that of the result.
bool LargeScale(const Node& n) {
  const auto a = ScaleOf(n.input(0)), b = ScaleOf(n.input(1)), y = ScaleOf(n.output(0));
  return a && b && y && a->scales[0] * b->scales[0] / y->scales[0] >= 1.0f;
}
bool Basic(const Node& n) { return n.attrs().String("kernel_type", "FULL") == "BASIC"; }
bool Diagonal(const Node& n) { return n.attrs().Int("diagonal_recurrent_tensors", 0) != 0; }
template <DType kType>
bool Weights2(const Node& n) {
  return In(n, 2) == kType;
}
template <DType kFrom>
bool HybridOf(const Node& n) {
  return In(n, 1) == kFrom && Out(n) == kF32;
}
bool AsymmetricOf8(const Node& n) {
  return HybridOf<kI8>(n) && n.attrs().Int("asymmetric_quantize_inputs", 0) != 0;
}

// The first row of the node's operator that holds says the version; none: 1.
struct Row {
  std::string_view ops;  // apart by blanks
  int operand;
  DType type;  // that operand's; kAny: whatever it is
  bool (*condition)(const Node&);
  int version;
};
constexpr Row kRows[] = {
    {"CONV_2D", 0, kAny, WideBias, 8},
    {"CONV_2D", 0, kAny, Grouped, 6},
    {"CONV_2D", 0, kI16, nullptr, 4},
    {"CONV_2D", 0, kAny, Int8By<false>, 3},
    {"CONV_2D", 0, kAny, Int8By<true>, 7},
    {"CONV_2D", 0, kAny, HybridPerChannel, 5},
    {"CONV_2D", 0, kAny, Hybrid, 2},
    {"DEPTHWISE_CONV_2D", 0, kI16, nullptr, 5},
    {"DEPTHWISE_CONV_2D", 0, kAny, HybridPerChannel, 6},
    {"DEPTHWISE_CONV_2D", 0, kAny, Hybrid, 4},
    {"DEPTHWISE_CONV_2D", 0, kAny, Int8By<false>, 3},
    {"DEPTHWISE_CONV_2D", 0, kAny, Int8By<true>, 7},
    {"DEPTHWISE_CONV_2D", 0, kAny, Dilated, 2},
    {"EMBEDDING_LOOKUP", 1, kI4, nullptr, 4},
    {"FAKE_QUANT", 0, kAny, NarrowRange, 2},
    {"FULLY_CONNECTED", 0, kAny, Int16Weights4, 13},
    {"FULLY_CONNECTED", 0, kAny, HybridPerChannel, 12},
    {"FULLY_CONNECTED", 0, kAny, WideBias, 11},
    {"FULLY_CONNECTED", 0, kI16, nullptr, 7},
    {"FULLY_CONNECTED", 0, kAny, NoBias, 6},
    {"FULLY_CONNECTED", 0, kAny, KeepsDims, 5},
    {"FULLY_CONNECTED", 0, kAny, Int8By<false>, 4},
    {"FULLY_CONNECTED", 0, kAny, Int8By<true>, 10},
    {"FULLY_CONNECTED", 0, kAny, AsymmetricHybrid, 9},
    {"FULLY_CONNECTED", 0, kAny, Hybrid, 3},
    {"FULLY_CONNECTED", 0, kAny, Shuffled, 2},
    {"GATHER", 0, kI4, nullptr, 7},
    {"GATHER", 1, kI16, nullptr, 6},
    {"GATHER", 0, kAny, BatchDims, 5},
    {"GATHER", 0, kI16, nullptr, 4},
    {"GATHER", 0, kBool, nullptr, 3},
    {"GATHER", 0, kI8, nullptr, 2},
    {"SVDF", 0, kI8, nullptr, 3},
    {"SVDF", 0, kAny, AsymmetricHybrid, 4},
    {"SVDF", 0, kAny, Hybrid, 2},
    {"SIGN", 0, kI32, nullptr, 2},
    {"MUL", 0, kAny, IsPlain16, 7},
    {"MUL", 0, kU32, nullptr, 7},
    {"MUL", 0, kC64, nullptr, 6},
    {"MUL", 0, kI64, nullptr, 5},
    {"MUL", 0, kI16, nullptr, 4},
    {"MUL", 0, kAny, LargeScale, 3},
    {"MUL", 0, kI8, nullptr, 2},
    {"MAX_POOL_2D AVERAGE_POOL_2D", 0, kI16, nullptr, 3},
    {"MAX_POOL_2D AVERAGE_POOL_2D", 0, kI8, nullptr, 2},
    {"TRANSPOSE", 0, kI4, nullptr, 7},
    {"TRANSPOSE", 0, kAny, RankAbove<5>, 6},
    {"TRANSPOSE", 0, kI16, nullptr, 5},
    {"TRANSPOSE", 0, kAny, RankAbove<4>, 4},
    {"TRANSPOSE", 0, kBool, nullptr, 3},
    {"TRANSPOSE", 0, kI8, nullptr, 2},
    {"TRANSPOSE_CONV", 0, kAny, HasActivation, 4},
    {"TRANSPOSE_CONV", 0, kAny, HasBias3, 3},
    {"TRANSPOSE_CONV", 1, kI8, nullptr, 2},
    {"LSTM", 0, kI16, nullptr, 5},
    {"LSTM", 2, kI8, nullptr, 3},
    {"LSTM", 0, kAny, Basic, 2},
    {"SPLIT", 1, kI16, nullptr, 4},
    {"SPLIT", 1, kI32, nullptr, 3},
    {"SPLIT", 1, kI8, nullptr, 2},
    {"SPARSE_TO_DENSE", 2, kI8, nullptr, 3},
    {"SPARSE_TO_DENSE", 2, kU8, nullptr, 3},
    {"SPARSE_TO_DENSE", 2, kI64, nullptr, 2},
    {"SLICE", 0, kU32, nullptr, 6},
    {"SLICE", 0, kAny, RankAbove<4>, 5},
    {"SLICE", 0, kI16, nullptr, 4},
    {"SLICE", 0, kString, nullptr, 3},
    {"SLICE", 0, kI8, nullptr, 2},
    {"UNPACK", 0, kI8, nullptr, 2},
    {"UNPACK", 0, kU8, nullptr, 2},
    {"UNPACK", 0, kBool, nullptr, 3},
    {"UNPACK", 0, kI16, nullptr, 4},
    {"DEQUANTIZE", 0, kI4, nullptr, 6},
    {"DEQUANTIZE", 0, kI16, nullptr, 3},
    {"DEQUANTIZE", 0, kF16, nullptr, 3},
    {"DEQUANTIZE", 0, kI8, PerChannel, 5},
    {"DEQUANTIZE", 0, kI8, nullptr, 2},
    {"QUANTIZE", 0, kAny, OutIs<kI4>, 4},
    {"QUANTIZE", 0, kAny, PerChannel, 3},
    {"QUANTIZE", 0, kAny, OutIs16, 2},
    {"FLOOR_DIV", 0, kI16, nullptr, 3},
    {"FLOOR_DIV", 0, kI8, nullptr, 3},
    {"FLOOR_DIV", 0, kF32, nullptr, 2},
    {"FLOOR_MOD", 0, kI16, nullptr, 2},
    {"FLOOR_MOD", 0, kI8, nullptr, 2},
    {"L2_NORMALIZATION", 0, kI8, nullptr, 2},
    {"ABS", 0, kI32, nullptr, 5},
    {"ABS", 0, kAny, IsPlain16, 4},
    {"ABS", 0, kI16, nullptr, 3},
    {"ABS", 0, kI8, nullptr, 2},
    {"ABS", 0, kU8, nullptr, 2},
    {"RELU", 0, kI16, nullptr, 3},
    {"RELU", 0, kI8, nullptr, 2},
    {"RELU", 0, kU8, nullptr, 2},
    {"STRIDED_SLICE", 0, kAny, Offset, 8},
    {"STRIDED_SLICE", 0, kU32, nullptr, 7},
    {"STRIDED_SLICE", 0, kAny, NewAxes, 6},
    {"STRIDED_SLICE", 0, kString, nullptr, 5},
    {"STRIDED_SLICE", 0, kAny, RankAbove<4>, 4},
    {"STRIDED_SLICE", 0, kBool, nullptr, 3},
    {"STRIDED_SLICE", 0, kI8, nullptr, 2},
    {"REVERSE_V2", 0, kI8, nullptr, 3},
    {"REVERSE_V2", 0, kBool, nullptr, 2},
    {"RESIZE_BILINEAR", 0, kI16, nullptr, 4},
    {"RESIZE_BILINEAR", 0, kAny, HalfPixel, 3},
    {"RESIZE_BILINEAR", 0, kI8, nullptr, 2},
    {"RESIZE_NEAREST_NEIGHBOR", 0, kI16, nullptr, 4},
    {"RESIZE_NEAREST_NEIGHBOR", 0, kAny, CornersOrHalfPixel, 3},
    {"RESIZE_NEAREST_NEIGHBOR", 0, kI8, nullptr, 2},
    {"MAXIMUM MINIMUM", 0, kI16, nullptr, 4},
    {"MAXIMUM MINIMUM", 0, kAny, Broadcasts5, 3},
    {"MAXIMUM MINIMUM", 0, kI8, nullptr, 2},
    {"PACK", 0, kI8, nullptr, 2},
    {"PACK", 0, kI16, nullptr, 3},
    {"PACK", 0, kU32, nullptr, 4},
    {"TILE", 0, kI8, nullptr, 3},
    {"TILE", 0, kString, nullptr, 2},
    {"SQUEEZE", 0, kString, nullptr, 2},
    {"SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND", 0, kI16, nullptr, 4},
    {"SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND", 0, kAny, RankNot4, 3},
    {"SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND", 0, kI8, nullptr, 2},
    {"ADD", 0, kAny, IsPlain16, 5},
    {"ADD", 0, kI64, nullptr, 4},
    {"ADD", 0, kI16, nullptr, 3},
    {"ADD", 0, kI8, nullptr, 2},
    {"SUB", 0, kI16, nullptr, 5},
    {"SUB", 0, kI64, nullptr, 4},
    {"SUB", 0, kAny, Broadcasts5, 3},
    {"SUB", 0, kI8, nullptr, 2},
    {"GATHER_ND", 0, kBool, nullptr, 5},
    {"GATHER_ND", 1, kI16, nullptr, 4},
    {"GATHER_ND", 0, kI16, nullptr, 3},
    {"GATHER_ND", 0, kString, nullptr, 2},
    {"DIV", 0, kAny, Broadcasts5, 2},
    {"TANH LOGISTIC", 0, kI16, nullptr, 3},
    {"TANH LOGISTIC", 0, kI8, nullptr, 2},
    {"FILL", 1, kF16, nullptr, 4},
    {"FILL", 1, kI8, nullptr, 3},
    {"FILL", 1, kI16, nullptr, 3},
    {"FILL", 1, kBool, nullptr, 2},
    {"FILL", 1, kString, nullptr, 2},
    {"EQUAL", 0, kI16, nullptr, 5},
    {"NOT_EQUAL", 0, kI16, nullptr, 4},
    {"EQUAL NOT_EQUAL", 0, kString, nullptr, 3},
    {"EQUAL NOT_EQUAL", 0, kI8, nullptr, 2},
    {"LEAKY_RELU", 0, kI16, nullptr, 2},
    {"RANGE", 0, kI64, nullptr, 2},
    {"BATCH_MATMUL", 0, kI16, nullptr, 3},
    {"BATCH_MATMUL", 0, kI8, nullptr, 2},
    {"BATCH_MATMUL", 0, kAny, AsymmetricHybrid, 4},
    {"PAD PADV2", 0, kBool, nullptr, 5},
    {"PAD PADV2", 0, kAny, RankAbove<4>, 4},
    {"PAD PADV2", 0, kI16, nullptr, 3},
    {"PAD PADV2", 0, kI8, nullptr, 2},
    {"CONCATENATION", 0, kU32, nullptr, 4},
    {"CONCATENATION", 0, kI16, nullptr, 3},
    {"CONCATENATION", 0, kI8, nullptr, 2},
    {"SOFTMAX MEAN MIRROR_PAD REDUCE_MAX REDUCE_MIN RELU6 RSQRT", 0, kI16, nullptr, 3},
    {"SOFTMAX MEAN MIRROR_PAD REDUCE_MAX REDUCE_MIN RELU6 RSQRT", 0, kI8, nullptr, 2},
    {"RNN UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_LSTM", 0,
     kAny, AsymmetricOf8, 3},
    {"RNN UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_RNN", 0, kAny, HybridOf<kI8>, 2},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, kI16, nullptr, 5},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, kAny, Diagonal, 4},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, kF32, Weights2<kI8>, 2},
    {"ARG_MAX ARG_MIN", 0, kBool, nullptr, 3},
    {"ARG_MAX ARG_MIN", 0, kI8, nullptr, 2},
    {"SELECT", 1, kAny, RankAbove<4>, 3},
    {"LESS GREATER_EQUAL", 0, kI16, nullptr, 3},
    {"LESS GREATER_EQUAL", 0, kI8, nullptr, 2},
    {"SPACE_TO_DEPTH SPLIT_V SUM LOG_SOFTMAX GREATER LESS_EQUAL SQUARED_DIFFERENCE DEPTH_TO_SPACE",
     0, kI8, nullptr, 2},
    {"TOPK_V2", 0, kI16, nullptr, 3},
    {"TOPK_V2", 0, kI8, nullptr, 2},
    {"EXP LOG REDUCE_PROD SQRT", 0, kI8, nullptr, 2},
    {"EXP LOG REDUCE_PROD SQRT", 0, kI16, nullptr, 2},
    {"DYNAMIC_UPDATE_SLICE", 0, kI16, nullptr, 4},
    {"DYNAMIC_UPDATE_SLICE", 0, kF16, nullptr, 3},
    {"DYNAMIC_UPDATE_SLICE", 2, kI64, nullptr, 2},
    {"BROADCAST_TO", 0, kI8, nullptr, 3},
    {"BROADCAST_TO", 0, kI16, nullptr, 3},
    {"BROADCAST_TO", 0, kAny, nullptr, 2},
    {"CAST", 0, kBf16, nullptr, 7},
    {"CAST", 0, kAny, OutIs<kBf16>, 7},
    {"CAST", 0, kI4, nullptr, 6},
    {"CAST", 0, kF64, nullptr, 5},
    {"CAST", 0, kAny, OutIs<kF64>, 5},
    {"CAST", 0, kF16, nullptr, 5},
    {"CAST", 0, kAny, OutIs<kF16>, 5},
    {"CAST", 0, kU16, nullptr, 4},
    {"CAST", 0, kAny, OutIs<kU16>, 4},
    {"CAST", 0, kI8, nullptr, 3},
    {"CAST", 0, kAny, OutIs<kI8>, 3},
    {"CAST", 0, kU32, nullptr, 2},
    {"CAST", 0, kAny, OutIs<kU32>, 2},
    {"WHERE", 0, kBool, nullptr, 1},
    {"WHERE", 0, kAny, nullptr, 2},
    {"GELU", 0, kI8, nullptr, 2},
    {"GELU", 0, kU8, nullptr, 2},
};

bool Names(std::string_view ops, std::string_view op) {
  while (!ops.empty()) {
    const size_t end = std::min(ops.find(' '), ops.size());
    if (ops.substr(0, end) == op) return true;
    ops.remove_prefix(std::min(end + 1, ops.size()));
  }
  return false;
}

// Releases that brought versions 1, 2, ... of an operator; "-": none.
constexpr std::pair<std::string_view, std::string_view> kRuntimes[] = {
    {"ABS", "1.13.0 2.4.0 2.5.0 2.6.0 2.12.0"},
    {"ADD", "1.5.0 1.14.0 2.4.0 2.6.0 2.13.0"},
    {"ADD_N", "1.14.0"},
    {"ARG_MAX", "1.9.0 1.14.0 2.9.0"},
    {"ARG_MIN", "1.9.0 1.14.0 2.9.0"},
    {"ATAN2", "2.10.0"},
    {"AVERAGE_POOL_2D", "1.5.0 1.14.0 2.3.0"},
    {"BATCH_MATMUL", "2.3.0 2.3.0 2.4.0 2.5.0"},
    {"BATCH_TO_SPACE_ND", "1.6.0 1.14.0 2.3.0 2.12.0"},
    {"BITCAST", "2.13.0"},
    {"BITWISE_XOR", "2.13.0"},
    {"BROADCAST_ARGS", "2.6.0"},
    {"BROADCAST_TO", "- 2.5.0 2.5.0"},
    {"BUCKETIZE", "2.8.0"},
    {"CALL_ONCE", "2.5.0"},
    {"CAST", "1.5.0 2.7.0 2.8.0 2.9.0 2.12.0 2.15.0 2.17.0"},
    {"CEIL", "1.14.0"},
    {"COMPLEX_ABS", "2.5.0"},
    {"CONCATENATION", "1.5.0 1.14.0 2.3.0 2.14.0"},
    {"CONV_2D", "1.5.0 1.14.0 1.14.0 2.3.0 2.4.0 2.9.0 2.11.0 2.15.0"},
    {"CONV_3D", "2.5.0"},
    {"CONV_3D_TRANSPOSE", "2.6.0"},
    {"COS", "1.14.0"},
    {"CUMSUM", "2.4.0"},
    {"DENSIFY", "2.2.0"},
    {"DEPTHWISE_CONV_2D", "1.5.0 1.12.0 1.14.0 2.2.0 2.3.0 2.3.0 2.11.0"},
    {"DEPTH_TO_SPACE", "2.1.0 2.5.0"},
    {"DEQUANTIZE", "1.13.1 1.14.0 1.15.0 2.2.0 2.7.0 2.18.0"},
    {"DILATE", "2.15.0"},
    {"DIV", "1.6.0 2.3.0"},
    {"DYNAMIC_UPDATE_SLICE", "2.9.0 2.17.0 2.19.0 2.20.0"},
    {"ELU", "1.14.0"},
    {"EMBEDDING_LOOKUP", "1.13.0 1.14.0 1.14.0 2.18.0"},
    {"EQUAL", "1.14.0 1.14.0 2.3.0 2.13.0 2.21.0"},
    {"EXP", "1.7.0 2.12.0"},
    {"EXPAND_DIMS", "1.10.0"},
    {"FAKE_QUANT", "1.5.0 1.10.0"},
    {"FILL", "1.13.0 2.3.0 2.5.0 2.12.0"},
    {"FLOOR", "1.9.0"},
    {"FLOOR_DIV", "1.14.0 1.14.0 2.13.0"},
    {"FLOOR_MOD", "1.13.0 2.13.0"},
    {"FULLY_CONNECTED",
     "1.5.0 1.10.0 1.14.0 1.14.0 2.0.0 2.1.0 2.3.0 2.3.0 2.3.0 2.11.0 2.15.0 2.17.0 2.18.0"},
    {"GATHER", "1.6.0 1.14.0 1.15.0 2.4.0 2.5.0 2.13.0 2.15.0"},
    {"GATHER_ND", "1.14.0 2.3.0 2.5.0 2.13.0 2.16.0"},
    {"GELU", "2.9.0 2.9.0"},
    {"GREATER", "1.14.0 1.14.0"},
    {"GREATER_EQUAL", "1.14.0 1.14.0 2.13.0"},
    {"HARD_SWISH", "1.15.0"},
    {"IF", "1.15.0"},
    {"IMAG", "2.5.0"},
    {"L2_NORMALIZATION", "1.5.0 1.14.0"},
    {"L2_POOL_2D", "1.5.0"},
    {"LEAKY_RELU", "1.13.1 2.3.0"},
    {"LESS", "1.14.0 1.14.0 2.13.0"},
    {"LESS_EQUAL", "1.14.0 1.14.0"},
    {"LOCAL_RESPONSE_NORMALIZATION", "1.5.0"},
    {"LOG", "1.14.0 2.15.0"},
    {"LOGICAL_AND", "1.11.0"},
    {"LOGICAL_NOT", "1.11.0"},
    {"LOGICAL_OR", "1.11.0"},
    {"LOGISTIC", "1.14.0 1.14.0 2.3.0"},
    {"LOG_SOFTMAX", "1.14.0 1.14.0"},
    {"LSTM", "1.7.0 1.10.0 1.14.0 2.3.0"},
    {"MATRIX_DIAG", "1.14.0"},
    {"MATRIX_SET_DIAG", "1.14.0"},
    {"MAXIMUM", "1.14.0 1.14.0 2.3.0 2.3.0"},
    {"MAX_POOL_2D", "1.5.0 1.14.0 2.3.0"},
    {"MEAN", "1.6.0 1.14.0 2.4.0"},
    {"MINIMUM", "1.14.0 1.14.0 2.3.0 2.3.0"},
    {"MIRROR_PAD", "1.13.1 2.3.0 2.12.0"},
    {"MUL", "1.5.0 1.14.0 1.15.0 2.3.0 2.6.0 2.11.0 2.13.0"},
    {"MULTINOMIAL", "2.8.0"},
    {"NEG", "1.9.0"},
    {"NON_MAX_SUPPRESSION_V4", "2.1.0"},
    {"NON_MAX_SUPPRESSION_V5", "2.1.0"},
    {"NOT_EQUAL", "1.14.0 1.14.0 2.3.0 2.21.0"},
    {"ONE_HOT", "1.11.0"},
    {"PACK", "1.11.0 1.14.0 2.3.0 2.13.0"},
    {"PAD", "1.5.0 1.14.0 2.4.0 2.6.0 2.20.0"},
    {"PADV2", "1.9.0 1.14.0 2.4.0 2.6.0 2.20.0"},
    {"POW", "1.10.0"},
    {"PRELU", "1.8.0"},
    {"QUANTIZE", "1.14.0 1.15.0 2.7.0 2.21.0"},
    {"RANDOM_STANDARD_NORMAL", "2.8.0"},
    {"RANDOM_UNIFORM", "2.8.0"},
    {"RANGE", "1.13.0 2.14.0"},
    {"RANK", "1.14.0"},
    {"REAL", "2.5.0"},
    {"REDUCE_ALL", "2.6.0"},
    {"REDUCE_ANY", "1.11.0"},
    {"REDUCE_MAX", "1.11.0 1.14.0 2.5.0"},
    {"REDUCE_MIN", "1.11.0 1.14.0 2.5.0"},
    {"REDUCE_PROD", "1.11.0 2.6.0"},
    {"RELU", "1.5.0 2.1.0 2.5.0"},
    {"RELU6", "1.5.0 1.14.0 2.5.0"},
    {"RELU_0_TO_1", "2.10.0"},
    {"RELU_N1_TO_1", "1.5.0"},
    {"RESHAPE", "1.5.0"},
    {"RESIZE_BILINEAR", "1.7.0 1.14.0 2.2.0 2.5.0"},
    {"RESIZE_NEAREST_NEIGHBOR", "1.13.1 1.14.0 2.3.0 2.4.0"},
    {"REVERSE_SEQUENCE", "1.14.0"},
    {"REVERSE_V2", "1.14.0 2.2.0 2.5.0"},
    {"RFFT2D", "2.5.0"},
    {"RIGHT_SHIFT", "2.13.0"},
    {"ROUND", "1.14.0"},
    {"RSQRT", "1.10.0 2.5.0 2.15.0"},
    {"SCATTER_ND", "2.1.0"},
    {"SEGMENT_SUM", "2.2.0"},
    {"SELECT", "1.14.0 1.14.0 2.12.0 2.12.0"},
    {"SELECT_V2", "2.2.0 2.12.0"},
    {"SHAPE", "1.10.0"},
    {"SIGN", "2.11.0 2.12.0"},
    {"SIN", "1.9.0"},
    {"SLICE", "1.14.0 1.14.0 1.14.0 2.4.0 2.5.0 2.14.0"},
    {"SOFTMAX", "1.5.0 1.14.0 2.3.0"},
    {"SPACE_TO_BATCH_ND", "1.6.0 1.14.0 2.3.0 2.12.0"},
    {"SPACE_TO_DEPTH", "1.5.0 1.14.0"},
    {"SPARSE_TO_DENSE", "1.9.0 1.14.0 1.15.0"},
    {"SPLIT", "1.5.0 1.14.0 1.14.0 2.3.0"},
    {"SPLIT_V", "1.13.1 2.3.0"},
    {"SQRT", "1.10.0 2.21.0"},
    {"SQUARE", "1.12.0"},
    {"SQUARED_DIFFERENCE", "1.13.1 2.5.0"},
    {"SQUEEZE", "1.6.0 2.5.0"},
    {"STRIDED_SLICE", "1.6.0 1.14.0 2.1.0 2.2.0 2.5.0 2.6.0 2.14.0 2.14.0"},
    {"SUB", "1.6.0 1.14.0 2.3.0 2.4.0 2.4.0"},
    {"SUM", "1.10.0 1.15.0"},
    {"SVDF", "1.5.0 1.14.0 2.2.0 2.3.0"},
    {"TANH", "1.14.0 1.14.0 2.3.0"},
    {"TILE", "1.10.1 2.2.0 2.8.0"},
    {"TOPK_V2", "1.7.0 1.14.0 2.13.0"},
    {"TRANSPOSE", "1.6.0 1.14.0 1.15.0 2.3.0 2.4.0 2.12.0 2.14.4"},
    {"TRANSPOSE_CONV", "1.9.0 2.2.0 2.3.0 2.13.0 2.15.0"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "1.13.1 1.14.0 2.3.0 2.12.0"},
    {"UNIQUE", "1.14.0"},
    {"UNPACK", "1.11.0 1.14.0 2.2.0 2.3.0"},
    {"UNSORTED_SEGMENT_MAX", "2.10.0"},
    {"UNSORTED_SEGMENT_MIN", "2.11.0"},
    {"UNSORTED_SEGMENT_PROD", "2.10.0"},
    {"UNSORTED_SEGMENT_SUM", "2.10.0"},
    {"WHERE", "1.14.0 2.8.0"},
    {"WHILE", "1.15.0"},
    {"ZEROS_LIKE", "1.12.0"},
};

int NumberAt(std::string_view* text) {
  int number = 0;
  const auto end = std::from_chars(text->data(), text->data() + text->size(), number).ptr;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  if (!text->empty()) text->remove_prefix(1);
  return number;
}

}  // namespace

int OperatorVersion(const Node& node) {
  for (const Row& row : kRows) {
    if (!Names(row.ops, node.op().view())) continue;
    if (row.type != kAny && In(node, static_cast<size_t>(row.operand)) != row.type) continue;
    if (!row.condition || row.condition(node)) return row.version;
  }
  return 1;
}

std::string_view RuntimeOf(std::string_view op, int version) {
  for (const auto& [name, releases] : kRuntimes) {
    if (name != op) continue;
    std::string_view rest = releases;
    for (int i = 1; i < version; ++i) {
      const size_t blank = rest.find(' ');
      if (blank == rest.npos) return "";
      rest.remove_prefix(blank + 1);
    }
    const std::string_view release = rest.substr(0, rest.find(' '));
    return release == "-" ? "" : release;
  }
  return "";
}

bool IsOlder(std::string_view a, std::string_view b) {
  for (int i = 0; i < 3; ++i) {
    const int left = NumberAt(&a), right = NumberAt(&b);
    if (left != right) return left < right;
  }
  return false;
}

}  // namespace x2ir::tflite
