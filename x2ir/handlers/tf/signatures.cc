#include "x2ir/handlers/tf/signatures.h"

#include <algorithm>
#include <map>
#include <optional>

#include "x2ir/handlers/tf/kernels.h"

namespace x2ir {
namespace {

constexpr TfSignature kSignatures[] = {
    // Of each element.
    {"Abs", "T", ""},
    {"Acos", "T", ""},
    {"Acosh", "T", ""},
    {"Asin", "T", ""},
    {"Asinh", "T", ""},
    {"Atan", "T", ""},
    {"Atanh", "T", ""},
    {"Bitcast", "T", "type"},
    {"Cast", "SrcT", "DstT Truncate"},
    {"Ceil", "T", ""},
    {"Cos", "T", ""},
    {"Cosh", "T", ""},
    {"Elu", "T", ""},
    {"Erf", "T", ""},
    {"Exp", "T", ""},
    {"Floor", "T", ""},
    {"Identity", "T?", ""},
    {"Invert", "T", ""},
    {"IsFinite", "T", ""},
    {"IsInf", "T", ""},
    {"IsNan", "T", ""},
    {"LeakyRelu", "T", "alpha"},
    {"Log", "T", ""},
    {"LogicalNot", "bool", ""},
    {"Neg", "T", ""},
    {"Reciprocal", "T", ""},
    {"Relu", "T", ""},
    {"Round", "T", ""},
    {"Rsqrt", "T", ""},
    {"Selu", "T", ""},
    {"Sigmoid", "T", ""},
    {"Sign", "T", ""},
    {"Sin", "T", ""},
    {"Sinh", "T", ""},
    {"Softplus", "T", ""},
    {"Softsign", "T", ""},
    {"Sqrt", "T", ""},
    {"Tan", "T", ""},
    {"Tanh", "T", ""},
    // Of two, broadcast.
    {"AddV2", "T T", ""},
    {"BitwiseAnd", "T T", ""},
    {"BitwiseOr", "T T", ""},
    {"BitwiseXor", "T T", ""},
    {"Equal", "T T", "incompatible_shape_error"},
    {"FloorDiv", "T T", ""},
    {"FloorMod", "T T", ""},
    {"Greater", "T T", ""},
    {"GreaterEqual", "T T", ""},
    {"LeftShift", "T T", ""},
    {"Less", "T T", ""},
    {"LessEqual", "T T", ""},
    {"LogicalAnd", "bool bool", ""},
    {"LogicalOr", "bool bool", ""},
    {"Maximum", "T T", ""},
    {"Minimum", "T T", ""},
    {"Mul", "T T", ""},
    {"NotEqual", "T T", "incompatible_shape_error"},
    {"Pow", "T T", ""},
    {"RealDiv", "T T", ""},
    {"RightShift", "T T", ""},
    {"SquaredDifference", "T T", ""},
    {"Sub", "T T", ""},
    {"TruncateDiv", "T T", ""},
    {"TruncateMod", "T T", ""},
    {"SelectV2", "bool T T", ""},
    // Reductions and order.
    {"All", "bool Tidx", "keep_dims"},
    {"Any", "bool Tidx", "keep_dims"},
    {"ArgMax", "T Tidx", "output_type"},
    {"ArgMin", "T Tidx", "output_type"},
    {"Cumprod", "T Tidx", "exclusive reverse"},
    {"Cumsum", "T Tidx", "exclusive reverse"},
    {"LogSoftmax", "T", ""},
    {"Max", "T Tidx", "keep_dims"},
    {"Mean", "T Tidx", "keep_dims"},
    {"Min", "T Tidx", "keep_dims"},
    {"Prod", "T Tidx", "keep_dims"},
    {"Softmax", "T", ""},
    {"Sum", "T Tidx", "keep_dims"},
    {"TopKV2", "T int32", "sorted", 2},
    // Products and windows.
    {"AvgPool", "T", "ksize strides padding data_format"},
    {"AvgPool3D", "T", "ksize strides padding data_format"},
    {"BatchMatMulV2", "T T", "adj_x adj_y"},
    {"BiasAdd", "T T", "data_format"},
    {"Conv2D", "T T", "strides use_cudnn_on_gpu padding explicit_paddings data_format dilations"},
    {"Conv2DBackpropInput", "int32 T T",
     "strides use_cudnn_on_gpu padding explicit_paddings data_format dilations"},
    {"Conv3D", "T T", "strides padding data_format dilations"},
    {"Conv3DBackpropInputV2", "Tshape T T", "strides padding data_format dilations"},
    {"DepthwiseConv2dNative", "T T", "strides padding explicit_paddings data_format dilations"},
    {"Einsum", "N*T", "equation"},
    {"FusedBatchNormV3", "T U U U U", "epsilon exponential_avg_factor data_format is_training", 6},
    {"LRN", "T", "depth_radius bias alpha beta"},
    {"MatMul", "T T", "transpose_a transpose_b"},
    {"MaxPool", "T", "ksize strides padding explicit_paddings data_format"},
    {"MaxPool3D", "T", "ksize strides padding data_format"},
    {"MaxPoolWithArgmax", "T", "ksize strides Targmax padding include_batch_in_index", 2},
    // Shapes and places.
    {"BatchToSpaceND", "T Tblock_shape Tcrops", ""},
    {"BroadcastArgs", "T T", ""},
    {"BroadcastTo", "T Tidx", ""},
    {"ConcatV2", "N*T Tidx", ""},
    {"DepthToSpace", "T", "block_size data_format"},
    {"ExpandDims", "T Tdim", ""},
    {"Fill", "index_type T", ""},
    {"GatherNd", "Tparams Tindices", ""},
    {"GatherV2", "Tparams Tindices Taxis", "batch_dims"},
    {"MirrorPad", "T Tpaddings", "mode"},
    {"NonMaxSuppressionV3", "T T int32 T_threshold T_threshold", ""},
    {"OneHot", "TI int32 T T", "axis"},
    {"Pack", "N*T", "axis"},
    {"PadV2", "T Tpaddings T", ""},
    {"Range", "Tidx Tidx Tidx", ""},
    {"Reshape", "T Tshape", ""},
    {"ResizeBilinear", "T int32", "align_corners half_pixel_centers"},
    {"ResizeNearestNeighbor", "T int32", "align_corners half_pixel_centers"},
    {"ReverseSequence", "T Tlen", "seq_dim batch_dim"},
    {"ScatterNd", "Tindices T Tindices", ""},
    {"Shape", "T", "out_type"},
    {"Size", "T", "out_type"},
    {"SpaceToBatchND", "T Tblock_shape Tpaddings", ""},
    {"SpaceToDepth", "T", "block_size data_format"},
    {"SplitV", "T Tlen int32", "num_split", -1},
    {"Squeeze", "T", "squeeze_dims"},
    {"StridedSlice", "T Index Index Index",
     "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask"},
    {"TensorScatterAdd", "T Tindices T", ""},
    {"TensorScatterMax", "T Tindices T", ""},
    {"TensorScatterMin", "T Tindices T", ""},
    {"TensorScatterSub", "T Tindices T", ""},
    {"TensorScatterUpdate", "T Tindices T", ""},
    {"Tile", "T Tmultiples", ""},
    {"Transpose", "T Tperm", ""},
    {"Unpack", "T", "num axis", -1},
    {"Where", "T", ""},
    // Linear algebra.
    {"Cholesky", "T", ""},
    {"MatrixDeterminant", "T", ""},
    {"MatrixSolve", "T T", "adjoint"},
    {"MatrixTriangularSolve", "T T", "lower adjoint"},
    {"Qr", "T", "full_matrices", 2},
    {"SelfAdjointEigV2", "T", "compute_v", 2},
    {"Svd", "T", "compute_uv full_matrices", 3},
    // Branches, loops and lists.
    {"EmptyTensorList", "shape_type int32", "element_dtype"},
    {"If", "bool *", "then_branch else_branch", -1},
    {"StatelessIf", "bool *", "then_branch else_branch", -1},
    {"StatelessWhile", "*", "cond body", -1},
    {"TensorListConcatV2", "variant shape_type int64", "element_dtype", 2},
    {"TensorListFromTensor", "element_dtype shape_type", ""},
    {"TensorListGetItem", "variant int32 int32", "element_dtype"},
    {"TensorListLength", "variant", ""},
    {"TensorListPopBack", "variant int32", "element_dtype", 2},
    {"TensorListPushBack", "variant element_dtype", ""},
    {"TensorListReserve", "shape_type int32", "element_dtype"},
    {"TensorListSetItem", "variant int32 element_dtype", "resize_if_index_out_of_bounds"},
    {"TensorListSplit", "element_dtype shape_type int64", ""},
    {"TensorListStack", "variant int32", "element_dtype num_elements"},
    {"While", "*", "cond body", -1},
    // Strings and random numbers.
    {"LookupTableFindV2", "variant Tin Tout", ""},
    {"Multinomial", "T int32", "seed seed2 output_dtype"},
    {"RandomStandardNormal", "T", "seed seed2 dtype"},
    {"RandomUniform", "T", "seed seed2 dtype"},
    {"StringJoin", "N*string", "separator"},
};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// A word of `operands`.
struct Operand {
  std::string_view count;  // "N" of "N*T", "*" of values of any types; empty: no list
  std::string_view type;   // an element type or an attribute; empty: says nothing
  bool may_be_list = false;
  std::optional<DType> fixed() const { return ParseDType(type); }
};
Operand ParseOperand(std::string_view word) {
  if (word == "*") return {word, ""};
  if (word == "variant") return {"", ""};
  if (word.ends_with('?')) return {"", word.substr(0, word.size() - 1), /*may_be_list=*/true};
  const size_t star = word.find('*');
  if (star == word.npos) return {"", word};
  return {word.substr(0, star), word.substr(star + 1)};
}

// Runs `visit(operand, first, count)` over the operands of a node with that many.
template <typename F>
bool EachOperand(const TfSignature& signature, size_t given, const F& visit) {
  const std::vector<std::string_view> words = Words(signature.operands);
  if (given + 1 < words.size()) return false;
  const size_t in_list = given + 1 - words.size();
  size_t at = 0;
  for (const std::string_view word : words) {
    const Operand operand = ParseOperand(word);
    const size_t count = operand.count.empty() ? 1 : in_list;
    if (at + count > given) return false;
    visit(operand, at, count);
    at += count;
  }
  return at == given;
}

// What an attribute says.
struct TypeOf {
  std::string_view attr;
  DType dtype;
};

}  // namespace

bool TfSignature::HasAttr(std::string_view name) const {
  const std::vector<std::string_view> words = Words(attrs);
  return std::find(words.begin(), words.end(), name) != words.end();
}

absl::Span<const TfSignature> AllTfSignatures() { return kSignatures; }

const TfSignature* FindTfSignature(std::string_view op) {
  static const auto* table = [] {
    auto* all = new std::map<std::string_view, const TfSignature*>;
    for (const TfSignature& signature : kSignatures) all->emplace(signature.op, &signature);
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : it->second;
}

AttributeMap TfTypeAttrs(const TfSignature& signature, const std::vector<Value*>& operands) {
  AttributeMap attrs;
  EachOperand(signature, operands.size(), [&](const Operand& operand, size_t at, size_t count) {
    if (operand.type.empty()) return;
    if (!operand.count.empty()) attrs.Set(operand.count, static_cast<int64_t>(count));
    if (operand.fixed() || count == 0 || !operands[at]) return;
    const bool is_list = operands[at]->type().kind() == Type::kSequence;
    attrs.Set(operand.type,
              is_list ? Type::Opaque("tf", "DT_VARIANT") : Type::Tensor(operands[at]->dtype()));
  });
  return attrs;
}

AttributeMap WithTfTypeAttrs(std::string_view op, const std::vector<Value*>& operands,
                             AttributeMap attrs) {
  const TfSignature* signature = FindTfSignature(op);
  if (!signature) return attrs;
  for (auto& [name, attr] : TfTypeAttrs(*signature, operands)) attrs.Set(name, attr);
  return attrs;
}

std::vector<std::string> CheckTfNode(const Node& node) {
  const TfSignature* signature = FindTfSignature(node.op().view());
  if (!signature) return {"nothing is known of that op"};
  std::vector<std::string> problems;
  std::vector<TypeOf> types;  // of the attributes, by the first operands that say them
  const auto type_of = [&](std::string_view attr, DType dtype) {
    for (const TypeOf& type : types) {
      if (type.attr == attr) return type.dtype;
    }
    types.push_back({attr, dtype});
    return dtype;
  };
  const auto check = [&](const Operand& operand, size_t i) {
    if (!node.input(i)) {
      problems.push_back(StrCat("operand ", i, " is left out"));
      return;
    }
    if (operand.type.empty()) return;
    const Type& type = node.input(i)->type();
    if (operand.may_be_list && type.kind() == Type::kSequence) return;
    if (type.is_known() && !type.is_tensor()) {
      problems.push_back(StrCat("operand ", i, " may not be ", type.ToString()));
      return;
    }
    const DType dtype = type.dtype();
    if (dtype == DType::kUndefined) return;
    const DType expected = operand.fixed() ? *operand.fixed() : type_of(operand.type, dtype);
    if (dtype != expected) {
      problems.push_back(
          StrCat("operand ", i, ": expected ", Name(expected), ", got ", Name(dtype)));
    }
  };
  const bool fits = EachOperand(*signature, node.num_inputs(),
                                [&](const Operand& operand, size_t at, size_t count) {
                                  for (size_t i = at; i < at + count; ++i) check(operand, i);
                                });
  if (!fits) problems.push_back(StrCat("does not take ", node.num_inputs(), " operands"));
  if (signature->results >= 0 && node.num_outputs() > static_cast<size_t>(signature->results)) {
    problems.push_back(StrCat("does not give ", node.num_outputs(), " results"));
  }
  const AttributeMap derived = TfTypeAttrs(*signature, node.inputs());
  for (const auto& [name, attr] : node.attrs()) {
    if (!derived.Has(name) && !signature->HasAttr(name.view())) {
      problems.push_back(StrCat("there is no attribute '", name.str(), "'"));
    }
  }
  for (const auto& [name, attr] : derived) {
    if (!node.attrs().Has(name)) {
      problems.push_back(StrCat("attribute '", name.str(), "' is missing"));
    }
  }
  return problems.empty() ? CheckTfKernel(node) : problems;
}

}  // namespace x2ir
