// Functions whose arguments are the operands and attributes of an operator of TensorFlow.
#include <vector>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

// Operands and attributes are words:
//   x|x1        the argument of these names, of the type that all such arguments have together
//   x:f         the same; operations of Keras 3 take integers as float32
//   x:b         the same as bool
//   axis:i      numbers, int64; a list of them, or a tensor
//   x:*         a list of tensors, each an operand
//   axis:i=-1   the default; =? : there is no such operand then
// and of attributes:
//   exclusive              the argument of the attribute's name: bool, integer or text
//   keep_dims<keepdims|k   the argument has other names
//   alpha<slope:f=0.2      a float
//   out_type:t=int32       an element type
//   half_pixel_centers!1   always that
struct FunctionRow {
  std::string_view names, ir_op, tf_op, operands, attrs = "";
};

constexpr FunctionRow kFunctionRows[] = {
    // Of each element.
    {"tf.math.abs ops.Absolute ops.Abs", "abs", "Abs", "x"},
    {"tf.math.negative ops.Negative", "neg", "Neg", "x"},
    {"tf.math.sign ops.Sign", "sign", "Sign", "x"},
    {"tf.math.square ops.Square", "mul", "Square", "x"},
    {"tf.math.round tf.math.rint", "round", "Round", "x"},
    {"tf.math.ceil ops.Ceil", "ceil", "Ceil", "x:f"},
    {"tf.math.floor ops.Floor", "floor", "Floor", "x:f"},
    {"tf.math.exp ops.Exp", "exp", "Exp", "x:f"},
    {"tf.math.expm1 ops.Expm1", "exp", "Expm1", "x:f"},
    {"tf.math.log ops.Log", "log", "Log", "x:f"},
    {"tf.math.log1p ops.Log1p", "log", "Log1p", "x:f"},
    {"tf.math.sqrt ops.Sqrt", "sqrt", "Sqrt", "x:f"},
    {"tf.math.rsqrt ops.Rsqrt", "div", "Rsqrt", "x:f"},
    {"tf.math.reciprocal ops.Reciprocal", "div", "Reciprocal", "x:f"},
    {"tf.math.sin ops.Sin", "sin", "Sin", "x:f"},
    {"tf.math.cos ops.Cos", "cos", "Cos", "x:f"},
    {"tf.math.tan ops.Tan", "tan", "Tan", "x:f"},
    {"tf.math.asin ops.Arcsin", "asin", "Asin", "x:f"},
    {"tf.math.acos ops.Arccos", "acos", "Acos", "x:f"},
    {"tf.math.atan ops.Arctan", "atan", "Atan", "x:f"},
    {"tf.math.sinh ops.Sinh", "sinh", "Sinh", "x:f"},
    {"tf.math.cosh ops.Cosh", "cosh", "Cosh", "x:f"},
    {"tf.math.tanh tf.nn.tanh ops.Tanh", "tanh", "Tanh", "x:f"},
    {"tf.math.asinh ops.Arcsinh", "asinh", "Asinh", "x:f"},
    {"tf.math.acosh ops.Arccosh", "acosh", "Acosh", "x:f"},
    {"tf.math.atanh ops.Arctanh", "atanh", "Atanh", "x:f"},
    {"tf.math.erf ops.Erf", "erf", "Erf", "x:f"},
    {"tf.math.erfc", "erf", "Erfc", "x"},
    {"tf.math.lgamma", "log", "Lgamma", "x"},
    {"tf.math.digamma", "div", "Digamma", "x"},
    {"tf.math.is_nan ops.Isnan", "is_nan", "IsNan", "x:f"},
    {"tf.math.is_inf ops.Isinf", "is_inf", "IsInf", "x:f"},
    {"tf.math.is_finite ops.Isfinite", "is_inf", "IsFinite", "x:f"},
    {"tf.math.logical_not ops.LogicalNot", "not", "LogicalNot", "x:b"},
    {"tf.bitwise.invert ops.BitwiseInvert ops.BitwiseNot", "bitwise_not", "Invert", "x"},
    {"tf.math.sigmoid tf.nn.sigmoid ops.Sigmoid", "sigmoid", "Sigmoid", "x:f"},
    {"tf.math.softplus tf.nn.softplus ops.Softplus", "softplus", "Softplus", "x|features:f"},
    {"tf.math.softsign tf.nn.softsign ops.Softsign", "softsign", "Softsign", "x|features:f"},
    {"tf.nn.relu ops.Relu", "relu", "Relu", "x|features"},
    {"tf.nn.relu6 ops.Relu6", "relu", "Relu6", "x|features"},
    {"tf.nn.selu ops.Selu", "selu", "Selu", "x|features"},
    {"tf.nn.elu", "elu", "Elu", "features"},
    {"tf.nn.leaky_relu", "leaky_relu", "LeakyRelu", "features", "alpha:f=0.2"},
    {"tf.identity tf.stop_gradient", "identity", "Identity", "input"},
    {"ops.StopGradient ops.Copy ops.Conjugate ops.Conj ops.Real", "identity", "Identity",
     "x|variable"},

    // Of two, broadcast.
    {"tf.math.add tf.__operators__.add ops.Add", "add", "AddV2", "x|x1 y|x2"},
    {"tf.math.subtract ops.Subtract", "sub", "Sub", "x|x1 y|x2"},
    {"tf.math.multiply ops.Multiply", "mul", "Mul", "x|x1 y|x2"},
    {"tf.math.scalar_mul", "mul", "Mul", "scalar x"},
    {"tf.realdiv", "div", "RealDiv", "x y"},
    {"tf.math.divide_no_nan ops.DivideNoNan", "div", "DivNoNan", "x|x1:f y|x2:f"},
    {"tf.math.multiply_no_nan", "mul", "MulNoNan", "x y"},
    {"tf.math.floordiv ops.FloorDivide", "div", "FloorDiv", "x|x1 y|x2"},
    {"tf.math.floormod tf.math.mod ops.Mod", "mod", "FloorMod", "x|x1 y|x2"},
    {"tf.truncatediv", "div", "TruncateDiv", "x y"},
    {"tf.truncatemod", "mod", "TruncateMod", "x y"},
    {"tf.math.pow ops.Power", "pow", "Pow", "x|x1 y|x2"},
    {"tf.math.maximum ops.Maximum", "max", "Maximum", "x|x1 y|x2"},
    {"tf.math.minimum ops.Minimum", "min", "Minimum", "x|x1 y|x2"},
    {"tf.math.squared_difference", "sub", "SquaredDifference", "x y"},
    {"tf.math.atan2 ops.Arctan2", "atan", "Atan2", "y|x1:f x|x2:f"},
    {"tf.math.xlogy", "mul", "Xlogy", "x y"},
    {"tf.math.xlog1py", "mul", "Xlog1py", "x y"},
    {"tf.math.xdivy", "div", "Xdivy", "x y"},
    {"tf.math.equal tf.__operators__.eq ops.Equal", "equal", "Equal", "x|self|x1 y|other|x2"},
    {"tf.math.not_equal tf.__operators__.ne ops.NotEqual", "not", "NotEqual",
     "x|self|x1 y|other|x2"},
    {"tf.math.less ops.Less", "less", "Less", "x|x1 y|x2"},
    {"tf.math.less_equal ops.LessEqual", "less_or_equal", "LessEqual", "x|x1 y|x2"},
    {"tf.math.greater ops.Greater", "greater", "Greater", "x|x1 y|x2"},
    {"tf.math.greater_equal ops.GreaterEqual", "greater_or_equal", "GreaterEqual", "x|x1 y|x2"},
    {"tf.math.logical_and ops.LogicalAnd", "and", "LogicalAnd", "x|x1:b y|x2:b"},
    {"tf.math.logical_or ops.LogicalOr", "or", "LogicalOr", "x|x1:b y|x2:b"},
    {"tf.bitwise.bitwise_and ops.BitwiseAnd", "bitwise_and", "BitwiseAnd", "x|x1 y|x2"},
    {"tf.bitwise.bitwise_or ops.BitwiseOr", "bitwise_or", "BitwiseOr", "x|x1 y|x2"},
    {"tf.bitwise.bitwise_xor ops.BitwiseXor", "bitwise_xor", "BitwiseXor", "x|x1 y|x2"},
    {"tf.bitwise.left_shift ops.LeftShift ops.BitwiseLeftShift", "bit_shift", "LeftShift",
     "x|x1 y|x2"},
    {"tf.bitwise.right_shift ops.RightShift ops.BitwiseRightShift", "bit_shift", "RightShift",
     "x|x1 y|x2"},
    {"tf.clip_by_value ops.Clip", "max", "ClipByValue",
     "t|x clip_value_min|x_min clip_value_max|x_max"},
    {"tf.math.add_n", "sum", "AddN", "inputs:*"},
    {"tf.nn.bias_add", "add", "BiasAdd", "value bias", "data_format=NHWC"},

    // Along axes.
    {"tf.math.cumsum", "cum_sum", "Cumsum", "x axis:i=0", "exclusive reverse"},
    {"tf.math.cumprod", "cum_prod", "Cumprod", "x axis:i=0", "exclusive reverse"},
    {"tf.math.cumulative_logsumexp", "reduce_log_sum_exp", "CumulativeLogsumexp", "x axis:i=0",
     "exclusive reverse"},
    {"tf.math.argmax tf.compat.v1.argmax tf.compat.v1.math.argmax", "arg_max", "ArgMax",
     "input axis|dimension:i=0", "output_type:t=int64"},
    {"tf.math.argmin tf.compat.v1.argmin tf.compat.v1.math.argmin", "arg_min", "ArgMin",
     "input axis|dimension:i=0", "output_type:t=int64"},
    {"tf.math.top_k tf.nn.top_k ops.TopK", "top_k", "TopKV2", "input|x k:i=1", "sorted=true"},
    {"tf.reverse tf.compat.v1.reverse", "slice", "ReverseV2", "tensor axis:i"},
    {"tf.reverse_sequence", "reverse_sequence", "ReverseSequence", "input seq_lengths",
     "seq_dim<seq_axis batch_dim<batch_axis"},
    {"tf.roll", "concat", "Roll", "input shift:i axis:i"},
    {"tf.nn.l2_loss", "reduce_sum_square", "L2Loss", "t"},

    // Sizes and places.
    {"tf.shape tf.compat.v1.shape", "shape", "Shape", "input|x", "out_type:t=int32"},
    {"tf.size tf.compat.v1.size", "size", "Size", "input", "out_type:t=int32"},
    {"ops.Size", "size", "Size", "x", "out_type!int32"},
    {"tf.rank", "shape", "Rank", "input"},
    {"tf.reshape ops.Reshape", "reshape", "Reshape", "tensor|x shape|newshape:i"},
    {"tf.expand_dims tf.compat.v1.expand_dims ops.ExpandDims", "unsqueeze", "ExpandDims",
     "input|x axis|dim:i"},
    {"tf.broadcast_to ops.BroadcastTo", "expand", "BroadcastTo", "input|x shape:i"},
    {"tf.fill", "expand", "Fill", "dims:i value"},
    {"tf.tile", "tile", "Tile", "input multiples:i"},
    {"tf.ensure_shape", "identity", "Identity", "x|input"},
    {"tf.stack tf.compat.v1.stack ops.Stack", "concat", "Pack", "values|x:*", "axis=0"},
    {"tf.concat tf.compat.v1.concat", "concat", "ConcatV2", "values:* axis:i"},
    {"ops.Concatenate", "concat", "ConcatV2", "xs:* axis:i=0"},
    {"tf.slice", "slice", "Slice", "input_|input begin:i size:i"},
    {"tf.scatter_nd", "scatter_nd", "ScatterNd", "indices:r updates shape:i"},
    {"tf.tensor_scatter_nd_update", "scatter_nd", "TensorScatterUpdate",
     "tensor indices:r updates"},
    {"tf.tensor_scatter_nd_add", "scatter_nd", "TensorScatterAdd", "tensor indices:r updates"},
    {"tf.tensor_scatter_nd_sub", "scatter_nd", "TensorScatterSub", "tensor indices:r updates"},
    {"ops.ScatterUpdate", "scatter_nd", "TensorScatterUpdate", "inputs indices:r updates"},
    {"tf.math.invert_permutation", "scatter_elements", "InvertPermutation", "x"},
    {"tf.math.segment_sum", "scatter_nd", "SegmentSum", "data segment_ids:r"},
    {"tf.math.segment_mean", "scatter_nd", "SegmentMean", "data segment_ids:r"},
    {"tf.math.unsorted_segment_sum", "scatter_nd", "UnsortedSegmentSum",
     "data segment_ids:r num_segments:i"},
    {"tf.math.unsorted_segment_max", "scatter_nd", "UnsortedSegmentMax",
     "data segment_ids:r num_segments:i"},

    // Texts.
    {"tf.strings.lower", "string_map", "StringLower", "input", "encoding"},
    {"tf.strings.upper", "string_map", "StringUpper", "input", "encoding"},
    {"tf.strings.strip", "regex_replace", "StringStrip", "input"},
    {"tf.strings.regex_replace", "regex_replace", "StaticRegexReplace", "input",
     "pattern rewrite replace_global=true"},
    {"tf.strings.join", "string_concat", "StringJoin", "inputs:*", "separator"},
    {"tf.strings.as_string", "format_number", "AsString", "input"},

    // Matrices.
    {"tf.linalg.diag_part", "gather", "MatrixDiagPart", "input"},
    {"tf.linalg.band_part", "where", "MatrixBandPart", "input num_lower:i num_upper:i"},
    {"tf.linalg.cross", "mul", "Cross", "a b"},
    {"tf.linalg.cholesky ops.Cholesky", "cholesky", "Cholesky", "input|x"},
    {"tf.linalg.solve", "solve", "MatrixSolve", "matrix rhs", "adjoint"},
    {"ops.Solve", "solve", "MatrixSolve", "a b"},
    {"tf.linalg.inv", "inverse", "MatrixInverse", "input", "adjoint"},
    {"ops.Inv", "inverse", "MatrixInverse", "x|a"},
    {"tf.linalg.det", "det", "MatrixDeterminant", "input"},
    {"ops.Det", "det", "MatrixDeterminant", "x|a"},

    // Images.
    {"tf.nn.space_to_depth", "space_to_depth", "SpaceToDepth", "input",
     "block_size data_format=NHWC"},
    {"tf.nn.depth_to_space", "depth_to_space", "DepthToSpace", "input",
     "block_size data_format=NHWC"},
    {"tf.compat.v1.space_to_depth", "space_to_depth", "SpaceToDepth", "input",
     "block_size data_format=NHWC"},
    {"tf.compat.v1.depth_to_space", "depth_to_space", "DepthToSpace", "input",
     "block_size data_format=NHWC"},
    {"tf.space_to_batch_nd", "transpose", "SpaceToBatchND", "input block_shape:i paddings:i"},
    {"tf.batch_to_space tf.compat.v1.batch_to_space_nd", "transpose", "BatchToSpaceND",
     "input block_shape:i crops:i"},
    {"tf.compat.v1.image.resize_bilinear", "resize", "ResizeBilinear", "images size:i",
     "align_corners half_pixel_centers"},
    {"tf.compat.v1.image.resize_nearest_neighbor", "resize", "ResizeNearestNeighbor",
     "images size:i", "align_corners half_pixel_centers"},
    {"tf.compat.v1.image.resize_bicubic", "gather", "ResizeBicubic", "images size:i",
     "align_corners half_pixel_centers"},
    {"tf.image.extract_patches", "gather", "ExtractImagePatches", "images",
     "ksizes<sizes strides rates padding"},
    {"tf.image.rgb_to_hsv", "max", "RGBToHSV", "images"},
    {"tf.image.hsv_to_rgb", "max", "HSVToRGB", "images"},
    {"tf.nn.local_response_normalization", "lrn", "LRN", "input",
     "depth_radius=5 bias:f=1 alpha:f=1 beta:f=0.5"},
    {"tf.compat.v1.nn.fused_batch_norm", "batch_normalization", "FusedBatchNormV3",
     "x scale offset mean variance",
     "epsilon:f=0.001 data_format=NHWC is_training=true exponential_avg_factor:f=1"},
};

struct Word {
  std::string attr;        // of the operator
  std::string_view name;   // the argument's first name; empty: the value is always `fallback`
  std::string_view names;  // all of them
  char kind = 0;
  bool has_default = false, may_lack = false;
  Json fallback;
};

Json TextOrNumber(std::string_view text) {
  const absl::StatusOr<Json> json = Json::Parse(text);
  return json.ok() ? *json : Json(std::string(text));
}

Word WordOf(std::string_view text) {
  Word word;
  if (const size_t at = text.find('!'); at != text.npos) {
    word.attr = text.substr(0, at);
    word.fallback = TextOrNumber(text.substr(at + 1));
    return word;
  }
  if (const size_t at = text.find('='); at != text.npos) {
    word.may_lack = text.substr(at + 1) == "?";
    word.has_default = true;
    word.fallback = TextOrNumber(text.substr(at + 1));
    text = text.substr(0, at);
  }
  if (const size_t at = text.find(':'); at != text.npos) {
    word.kind = text[at + 1];
    text = text.substr(0, at);
  }
  if (const size_t at = text.find('<'); at != text.npos) {
    word.attr = text.substr(0, at);
    text = text.substr(at + 1);
  }
  word.names = text;
  word.name = text.substr(0, text.find('|'));
  if (word.attr.empty()) word.attr = word.name;
  return word;
}

std::vector<Word> WordsOf(std::string_view text) {
  std::vector<Word> words;
  for (const std::string_view word : SplitText(text, ' ')) {
    words.push_back(WordOf(word));
  }
  return words;
}

struct ReadRow {
  std::string_view tf_op;
  std::vector<Word> operands, attrs;
};

Attribute AttributeOf(KerasCall& c, const Word& word) {
  const Json& given = c.Arg(word.name);
  const Json& value = given.is_null() ? word.fallback : given;
  if (word.kind == 'f') {
    return static_cast<float>(given.is_null() ? value.Number() : c.Number(word.name, 0));
  }
  if (word.kind == 't') {
    const auto type = ParseDType(value.text());
    return Type::Tensor(given.is_null() ? type.value_or(DType::kFloat32)
                                        : c.TypeOf(word.name, DType::kFloat32));
  }
  if (value.is_string()) return value.text();
  if (value.kind() == Json::Kind::kBool) return value.Flag();
  if (value.is_array()) return *c.Integers(word.name);
  if (given.is_null()) return value.Int();
  return c.Integer(word.name, 0);
}

absl::StatusOr<Values> RunRow(const ReadRow& row, KerasCall& c) {
  std::vector<std::string_view> together;
  for (const Word& word : row.operands) {
    if (word.kind == 0 || word.kind == 'f') together.push_back(word.name);
  }
  DType type = c.CommonType(together);
  std::vector<Value*> operands;
  for (const Word& word : row.operands) {
    if (!c.Given(word.name) && word.has_default) {
      if (!word.may_lack) operands.push_back(c.ValueOf(word.fallback, DType::kInt64));
      continue;
    }
    switch (word.kind) {
      case '*':
        for (const Expr& x : c.Tensors(word.name)) operands.push_back(x);
        break;
      case 'i': operands.push_back(c.Sizes(word.name)); break;
      case 'r': operands.push_back(c.Tensor(word.name)); break;
      case 'b': {
        const Expr x = c.Tensor(word.name);
        operands.push_back(c.promotes() ? x.To(DType::kBool) : x);
        break;
      }
      default: {
        const bool floats = word.kind == 'f' && c.promotes() && !IsFloating(type);
        operands.push_back(c.Tensor(word.name, floats ? DType::kFloat32 : type));
      }
    }
  }
  AttributeMap attrs;
  for (const Word& word : row.attrs) {
    if (word.name.empty() && word.attr == "out_type") {
      attrs.Set(word.attr, Type::Tensor(*ParseDType(word.fallback.text())));
    } else if (word.name.empty()) {
      attrs.Set(word.attr, word.fallback.Int());
    } else if (c.Given(word.name) || word.has_default) {
      attrs.Set(word.attr, AttributeOf(c, word));
    }
  }
  return c.AllAsTf(row.tf_op, std::move(operands), std::move(attrs));
}

bool AddRows() {
  for (const FunctionRow& row : kFunctionRows) {
    ReadRow read = {row.tf_op, WordsOf(row.operands), WordsOf(row.attrs)};
    std::string parameters;
    for (const auto* words : {&read.operands, &read.attrs}) {
      for (const Word& word : *words) StrAppend(&parameters, word.names, " ");
    }
    KerasFunctionSpec(row.ir_op).FromCode(row.names, parameters,
                                          [read](KerasCall& c) { return RunRow(read, c); });
  }
  return true;
}
[[maybe_unused]] const bool kRowsAdded = AddRows();

}  // namespace
}  // namespace x2ir
