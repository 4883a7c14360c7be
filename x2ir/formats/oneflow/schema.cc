#include "x2ir/formats/oneflow/schema.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "x2ir/formats/name_index.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir::oneflow {
namespace {

constexpr std::string_view kLines[] = {
#include "x2ir_oneflow_ops_schema_data.inc"
};

// Ops that the facts lack: those of other releases of OneFlow (0.2 to 0.9), those that OneFlow's
// converter to ONNX of that time knows, and those that are messages of their own in a job.
constexpr std::string_view kOtherLines[] = {
    "argmin|in|out|",
    "avgpool_1d|x|y|padding:i32s data_format:str kernel_size:i32s stride:i32s ceil_mode:bool=false "
    "count_include_pad:bool=false divisor_override:i32=0",
    "avgpool_2d|x|y|padding:i32s data_format:str kernel_size:i32s stride:i32s ceil_mode:bool=false "
    "count_include_pad:bool=false divisor_override:i32=0",
    "avgpool_3d|x|y|padding:i32s data_format:str kernel_size:i32s stride:i32s ceil_mode:bool=false "
    "count_include_pad:bool=false divisor_override:i32=0",
    "cast_from_local|in|out|",
    "cast_to_local|in|out|",
    "concat|in*|out|axis:i64=0 max_dim_size:i64=0",
    "constant_like|like|out|dtype:dtype int_operand:i64 float_operand:f64",
    "constant_pad1d|x|y|padding:i64s floating_value:f64=0 integral_value:i64=0",
    "constant_pad2d|x|y|padding:i64s floating_value:f64=0 integral_value:i64=0",
    "constant_pad3d|x|y|padding:i64s floating_value:f64=0 integral_value:i64=0",
    "distribute_add|in*|out|",
    "distribute_clone|in|out*|",
    "distribute_concat|in*|out|axis:i32",
    "distribute_split|in|out*|axis:i32",
    "feed_input|in_0|out_0|",
    "feed_variable|in_0|out_0|",
    "fetch_output|in_0|out_0|",
    "flatten|in|out|start_dim:i32=0 end_dim:i32=-1",
    "logical_slice|x|y|start:i64s stop:i64s step:i64s",
    "logsoftmax|in|prob|",
    "maxpool_1d|x|y indice|padding:i32s data_format:str kernel_size:i32s stride:i32s dilation:i32s "
    "return_indices:bool=false ceil_mode:bool=false",
    "maxpool_2d|x|y indice|padding:i32s data_format:str kernel_size:i32s stride:i32s dilation:i32s "
    "return_indices:bool=false ceil_mode:bool=false",
    "maxpool_3d|x|y indice|padding:i32s data_format:str kernel_size:i32s stride:i32s dilation:i32s "
    "return_indices:bool=false ceil_mode:bool=false",
    "multiply|x y|out|",
    "neg|x|y|",
    "range||out|start:i64=0 delta:i64=1 limit:i64=0 range_shape:i64=0 dtype:dtype",
    "reduce_mean|input_tensor|output_tensor|axis:i32s keepdims:bool=false",
    "sigmoid_v2|x|y|",
    "squared_difference|x y|z|",
    "upsample|x|y|interpolation:str height_scale:f32 width_scale:f32 align_corners:bool=false "
    "data_format:str",
    "where_scalar_x|condition y|out|has_int_operand:bool=false has_float_operand:bool=false "
    "int_operand:i64=0 float_operand:f64=0",
    "where_scalar_xy|condition|out|has_x_int_operand:bool=false has_x_float_operand:bool=false "
    "has_y_int_operand:bool=false has_y_float_operand:bool=false x_int_operand:i64=0 "
    "x_float_operand:f64=0 y_int_operand:i64=0 y_float_operand:f64=0",
    "where_scalar_y|condition x|out|has_int_operand:bool=false has_float_operand:bool=false "
    "int_operand:i64=0 float_operand:f64=0",
};

// Operands and results that older releases had, and that mean nothing for what is computed: the
// mask of a dropout that does nothing, and what a kernel needed.
constexpr std::pair<std::string_view, std::string_view> kFormerOperands[] = {
    {"dropout", "mask"},
    {"layer_norm", "cudnn_bn_bias_zeros"},
    {"layer_norm", "cudnn_bn_scale_ones"},
    {"layer_norm", "normalized"},
};

constexpr std::pair<std::string_view, AttrType> kAttrTypes[] = {
    {"i32", AttrType::kInt32},       {"i64", AttrType::kInt64},
    {"bool", AttrType::kBool},       {"f32", AttrType::kFloat},
    {"f64", AttrType::kDouble},      {"str", AttrType::kString},
    {"bytes", AttrType::kBytes},     {"shape", AttrType::kShape},
    {"dtype", AttrType::kDataType},  {"memory_format", AttrType::kMemoryFormat},
    {"complex", AttrType::kComplex}, {"i32s", AttrType::kInt32s},
    {"i64s", AttrType::kInt64s},     {"f32s", AttrType::kFloats},
    {"strs", AttrType::kStrings},    {"dtypes", AttrType::kDataTypes},
    {"shapes", AttrType::kShapes},
};

// The build made the table: what it holds is as it says.
Attribute DefaultOf(AttrType type, std::string_view text) {
  switch (KindOf(type)) {
    case AttrKind::kString: return Attribute(text);
    case AttrKind::kFloat: return Attribute(static_cast<float>(*ParseNumber<double>(text)));
    case AttrKind::kDouble: return Attribute(*ParseNumber<double>(text));
    default: break;
  }
  if (text == "true") return Attribute(int64_t{1});
  if (text == "false") return Attribute(int64_t{0});
  // A few integers are written as floats.
  return Attribute(static_cast<int64_t>(*ParseNumber<double>(text)));
}

std::vector<OperandSpec> OperandsOf(std::string_view text) {
  std::vector<OperandSpec> operands;
  for (std::string_view name : Parts(text, ' ')) {
    Count count = Count::kOne;
    if (name.ends_with('?')) count = Count::kOptional;
    if (name.ends_with('*')) count = Count::kMany;
    if (count != Count::kOne) name.remove_suffix(1);
    operands.push_back({name, count});
  }
  return operands;
}

AttrSpec AttrSpecOf(std::string_view text) {
  const size_t colon = text.find(':'), equals = std::min(text.find('='), text.size());
  const std::string_view type = text.substr(colon + 1, equals - colon - 1);
  const auto* entry = std::find_if(std::begin(kAttrTypes), std::end(kAttrTypes),
                                   [&](const auto& known) { return known.first == type; });
  AttrSpec attr{text.substr(0, colon), entry->second, std::nullopt};
  if (equals < text.size()) attr.default_value = DefaultOf(attr.type, text.substr(equals + 1));
  return attr;
}

OpSpec OpOf(std::string_view line) {
  std::string_view fields[4];
  for (std::string_view& field : fields) {
    field = line.substr(0, line.find('|'));
    line.remove_prefix(std::min(field.size() + 1, line.size()));
  }
  OpSpec op{fields[0], OperandsOf(fields[1]), OperandsOf(fields[2]), {}};
  for (const std::string_view attr : Parts(fields[3], ' ')) op.attrs.push_back(AttrSpecOf(attr));
  return op;
}

struct TypeRow {
  int64_t number;
  DType dtype;
};
constexpr TypeRow kDataTypeRows[] = {
    {2, DType::kFloat32}, {3, DType::kFloat64},    {4, DType::kInt8},        {5, DType::kInt32},
    {6, DType::kInt64},   {7, DType::kUInt8},      {9, DType::kFloat16},     {11, DType::kBFloat16},
    {12, DType::kBool},   {13, DType::kUInt16},    {14, DType::kUInt32},     {15, DType::kUInt64},
    {17, DType::kInt16},  {20, DType::kComplex64}, {21, DType::kComplex128},
};

}  // namespace

std::vector<std::string_view> Parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

AttrKind KindOf(AttrType type) {
  switch (type) {
    case AttrType::kFloat: return AttrKind::kFloat;
    case AttrType::kDouble: return AttrKind::kDouble;
    case AttrType::kString:
    case AttrType::kBytes:
    case AttrType::kDataType:
    case AttrType::kMemoryFormat: return AttrKind::kString;
    case AttrType::kShape:
    case AttrType::kInt32s:
    case AttrType::kInt64s: return AttrKind::kInts;
    case AttrType::kFloats: return AttrKind::kFloats;
    case AttrType::kStrings:
    case AttrType::kDataTypes:
    case AttrType::kShapes: return AttrKind::kStrings;
    case AttrType::kComplex: return AttrKind::kTensor;
    default: return AttrKind::kInt;
  }
}

const AttrSpec* OpSpec::FindAttr(std::string_view attr) const {
  for (const AttrSpec& spec : attrs) {
    if (spec.name == attr) return &spec;
  }
  return nullptr;
}

bool OpSpec::has_segments() const {
  const auto count = [&](Count kind) {
    return std::count_if(inputs.begin(), inputs.end(),
                         [&](const OperandSpec& operand) { return operand.count == kind; });
  };
  return count(Count::kMany) > 0 && count(Count::kMany) + count(Count::kOptional) > 1;
}

const std::vector<OpSpec>& AllOps() {
  static const auto* const ops = [] {
    auto* all = new std::vector<OpSpec>;
    all->reserve(std::size(kLines) + std::size(kOtherLines));
    for (const std::string_view line : kLines) all->push_back(OpOf(line));
    for (const std::string_view line : kOtherLines) all->push_back(OpOf(line));
    std::sort(all->begin(), all->end(),
              [](const OpSpec& a, const OpSpec& b) { return a.name < b.name; });
    return all;
  }();
  return *ops;
}

const OpSpec* FindOp(std::string_view op) {
  static const auto& index = *new NameIndex<OpSpec>(AllOps());
  return index.Find(op);
}

bool IsFormerOperand(std::string_view op, std::string_view operand) {
  const std::pair entry(op, operand);
  return std::find(std::begin(kFormerOperands), std::end(kFormerOperands), entry) !=
         std::end(kFormerOperands);
}

DType ToDType(int64_t data_type) {
  for (const TypeRow& row : kDataTypeRows) {
    if (row.number == data_type) return row.dtype;
  }
  return DType::kUndefined;
}

int64_t DataTypeOf(DType dtype) {
  for (const TypeRow& row : kDataTypeRows) {
    if (row.dtype == dtype) return row.number;
  }
  return 0;
}

}  // namespace x2ir::oneflow
