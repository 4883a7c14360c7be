// Tables of TFLite's schema.
#include "x2ir/formats/tflite/schema.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::tflite {
namespace {

struct Enumerator {
  std::string_view name;
  int64_t number;
};
struct EnumRow {
  std::string_view name;
  int first, count;
};
struct OptionsRow {
  std::string_view name;
  int which, number, first_field, num_fields;
};
#include "x2ir_tflite_schema_data.inc"

absl::Span<const Enumerator> EnumeratorsOf(const EnumRow& row) {
  return absl::MakeConstSpan(kEnumerators)
      .subspan(static_cast<size_t>(row.first), static_cast<size_t>(row.count));
}

absl::Span<const Enumerator> EnumeratorsOf(std::string_view name) {
  for (const EnumRow& row : kEnums) {
    if (row.name == name) return EnumeratorsOf(row);
  }
  return {};
}

std::string_view NameIn(absl::Span<const Enumerator> all, int64_t number) {
  for (const Enumerator& e : all) {
    if (e.number == number) return e.name;
  }
  return "";
}

std::optional<int64_t> NumberIn(absl::Span<const Enumerator> all, std::string_view name) {
  for (const Enumerator& e : all) {
    if (e.name == name) return e.number;
  }
  return std::nullopt;
}

// TensorType by its numbers.
constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"FLOAT32", DType::kFloat32},
    {"FLOAT16", DType::kFloat16},
    {"INT32", DType::kInt32},
    {"UINT8", DType::kUInt8},
    {"INT64", DType::kInt64},
    {"STRING", DType::kString},
    {"BOOL", DType::kBool},
    {"INT16", DType::kInt16},
    {"COMPLEX64", DType::kComplex64},
    {"INT8", DType::kInt8},
    {"FLOAT64", DType::kFloat64},
    {"COMPLEX128", DType::kComplex128},
    {"UINT64", DType::kUInt64},
    {"UINT32", DType::kUInt32},
    {"UINT16", DType::kUInt16},
    {"INT4", DType::kInt4},
    {"BFLOAT16", DType::kBFloat16},
    {"INT2", DType::kInt2},
    {"UINT4", DType::kUInt4},
    {"FLOAT8_E4M3FN", DType::kFloat8E4M3FN},
    {"FLOAT8_E5M2", DType::kFloat8E5M2},
};

// Options whose name is not that of the operator, as "ADD" and AddOptions are.
constexpr std::pair<std::string_view, std::string_view> kOptionsOf[] = {
    {"AVERAGE_POOL_2D", "Pool2DOptions"},
    {"MAX_POOL_2D", "Pool2DOptions"},
    {"L2_POOL_2D", "Pool2DOptions"},
    {"L2_NORMALIZATION", "L2NormOptions"},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", "SequenceRNNOptions"},
    {"MEAN", "ReducerOptions"},
    {"SUM", "ReducerOptions"},
    {"REDUCE_PROD", "ReducerOptions"},
    {"REDUCE_MAX", "ReducerOptions"},
    {"REDUCE_MIN", "ReducerOptions"},
    {"REDUCE_ANY", "ReducerOptions"},
    {"REDUCE_ALL", "ReducerOptions"},
    {"MAXIMUM", "MaximumMinimumOptions"},
    {"MINIMUM", "MaximumMinimumOptions"},
    {"CONV_3D_TRANSPOSE", "Conv3DOptions"},
    {"RANDOM_STANDARD_NORMAL", "RandomOptions"},
    {"RANDOM_UNIFORM", "RandomOptions"},
    {"MULTINOMIAL", "RandomOptions"},
};

// Letters and digits alone, all small: "CONV_2D" and "Conv2DOptions" are both conv2d.
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return plain;
}

const std::vector<Options>& AllOptions() {
  static const auto& all = *[] {
    auto* options = new std::vector<Options>;
    for (const OptionsRow& row : kOptions) {
      options->push_back(
          {row.name, row.which, row.number,
           absl::MakeConstSpan(kFields).subspan(static_cast<size_t>(row.first_field),
                                                static_cast<size_t>(row.num_fields))});
    }
    return options;
  }();
  return all;
}

}  // namespace

const Options* FindOptions(int which, int number) {
  for (const Options& options : AllOptions()) {
    if (options.which == which && options.number == number) return &options;
  }
  return nullptr;
}

const Options* OptionsOf(std::string_view op) {
  static const auto& by_op = *[] {
    auto* map = new absl::flat_hash_map<std::string_view, const Options*>;
    absl::flat_hash_map<std::string, const Options*> by_name;
    for (const Options& options : AllOptions()) {
      by_name[Plain(options.name)] = &options;
    }
    for (const std::string_view name : OperatorNames()) {
      std::string wanted = StrCat(Plain(name), "options");
      for (const auto& [other, options] : kOptionsOf) {
        if (other == name) wanted = Plain(options);
      }
      if (const auto found = by_name.find(wanted); found != by_name.end()) {
        map->emplace(name, found->second);
      }
    }
    return map;
  }();
  const auto found = by_op.find(op);
  return found == by_op.end() ? nullptr : found->second;
}

AttrName AttrNameOf(const Field& field) {
  constexpr std::string_view kOne = "subgraph_index", kSeveral = "subgraph_indices";
  if (field.name == "subgraph") return {"subgraph", true};
  if (field.name.ends_with(kOne)) {
    return {std::string(field.name.substr(0, field.name.size() - kOne.size() + 8)), true};
  }
  if (field.name.ends_with(kSeveral)) {
    return {StrCat(field.name.substr(0, field.name.size() - kSeveral.size()), "subgraphs"), true};
  }
  return {std::string(field.name), false};
}

std::optional<Attribute> DefaultOf(const Field& field) {
  if (AttrNameOf(field).is_graph) return std::nullopt;
  const auto number = static_cast<int64_t>(field.default_value);
  switch (field.kind) {
    case FieldKind::kBool:
    case FieldKind::kByte:
    case FieldKind::kInt:
    case FieldKind::kUInt:
    case FieldKind::kLong:
      if (field.enumeration >= 0) return Attribute(EnumName(field, number));
      return Attribute(number);
    case FieldKind::kFloat: return Attribute(static_cast<float>(field.default_value));
    case FieldKind::kString:
    case FieldKind::kBytes: return Attribute("");
    case FieldKind::kBools:
    case FieldKind::kLongs: return Attribute(Attribute::Ints());
    case FieldKind::kInts:
      if (field.enumeration >= 0) return Attribute(Attribute::Strings());
      return Attribute(Attribute::Ints());
    case FieldKind::kFloats: return Attribute(Attribute::Floats());
  }
  return std::nullopt;
}

std::string_view OperatorName(int64_t number) {
  return NameIn(EnumeratorsOf("BuiltinOperator"), number);
}

std::optional<int64_t> OperatorNumber(std::string_view name) {
  return NumberIn(EnumeratorsOf("BuiltinOperator"), name);
}

absl::Span<const std::string_view> OperatorNames() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string_view>;
    for (const Enumerator& e : EnumeratorsOf("BuiltinOperator")) all->push_back(e.name);
    return all;
  }();
  return names;
}

std::string_view EnumName(const Field& field, int64_t number) {
  return NameIn(EnumeratorsOf(kEnums[field.enumeration]), number);
}

std::optional<int64_t> EnumNumber(const Field& field, std::string_view name) {
  return NumberIn(EnumeratorsOf(kEnums[field.enumeration]), name);
}

DType ToDType(std::string_view tensor_type) {
  for (const auto& [name, dtype] : kTypes) {
    if (name == tensor_type) return dtype;
  }
  return DType::kUndefined;
}

DType ToDType(int64_t tensor_type) { return ToDType(TensorTypeName(tensor_type)); }

std::string_view TensorTypeName(int64_t tensor_type) {
  return NameIn(EnumeratorsOf("TensorType"), tensor_type);
}

std::optional<int64_t> TensorTypeOf(DType dtype) {
  for (const auto& [name, of] : kTypes) {
    if (of == dtype) return NumberIn(EnumeratorsOf("TensorType"), name);
  }
  return std::nullopt;
}

}  // namespace x2ir::tflite
