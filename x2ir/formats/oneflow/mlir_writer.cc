// Writes model.mlir.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "x2ir/formats/oneflow/oneflow.h"
#include "x2ir/formats/oneflow/writer_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace oneflow {
namespace {

// What every op says of where it runs.
constexpr std::string_view kDevice = R"(device_name = ["@0:0"])";
constexpr std::string_view kWhere = R"(device_tag = "cpu")";
constexpr std::string_view kHierarchy = "hierarchy = [1]";
// A loader puts all ops into one scope of its own.
constexpr std::string_view kScope = "scope_symbol_id = 1 : i64";

// The names that OneFlow's own text has for element types; empty: none.
std::string_view ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return "f16";
    case DType::kBFloat16: return "bf16";
    case DType::kFloat32: return "f32";
    case DType::kFloat64: return "f64";
    case DType::kBool:
    case DType::kInt8: return "si8";
    case DType::kUInt8: return "ui8";
    case DType::kInt32: return "si32";
    case DType::kInt64: return "si64";
    default: return "";
  }
}

absl::StatusOr<std::string> ValueTypeText(const Value& value) {
  const std::string_view element = ElementOf(value.dtype());
  if (element.empty()) {
    return CannotExpress("OneFlow's text has no type for '", value.name(), "' of ",
                         value.type().ToString());
  }
  std::string dims;
  if (!value.shape()) dims = "*x";
  for (int64_t i = 0; value.shape() && i < value.shape()->rank(); ++i) {
    const Dim& dim = (*value.shape())[i];
    if (dim.is_static()) {
      StrAppend(&dims, dim.value(), "x");
    } else {
      dims += "?x";
    }
  }
  return StrCat("tensor<", dims, element, ">");
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c >= ' ' && c < 0x7f) {
      out += c;
    } else {
      absl::StrAppendFormat(&out, "\\%02X", static_cast<unsigned char>(c));
    }
  }
  return out + "\"";
}

// As MLIR prints it: six digits where these say all, else as many as it takes; bits of what is no
// finite number.
template <typename T>
std::string FloatText(T number) {
  const std::string_view type = sizeof(T) == 4 ? " : f32" : " : f64";
  if (!std::isfinite(number)) {
    const auto bits = LoadNumber<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(&number);
    return absl::StrFormat("0x%0*X%s", static_cast<int>(2 * sizeof(T)), bits, type);
  }
  std::string text = absl::StrFormat("%e", number);
  if (ParseNumber<T>(text) != number) {
    char digits[64];
    const auto [end, error] =
        std::to_chars(digits, digits + sizeof digits, number, std::chars_format::scientific);
    text.assign(digits, end);
    // "1e-05" is not a float there.
    if (text.find('.') == text.npos) text.insert(text.find('e'), ".0");
  }
  return StrCat(text, type);
}

// A name as MLIR has them of symbols: a word, or a text.
std::string SymbolText(std::string_view name) {
  bool word = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (const char c : name) word &= c != '-';
  return word ? std::string(name) : Quoted(name);
}

template <typename List, typename Print>
std::string ListText(const List& list, const Print& print) {
  std::vector<std::string> parts;
  for (const auto& item : list) parts.push_back(print(item));
  return StrCat("[", absl::StrJoin(parts, ", "), "]");
}

std::string IntsText(const std::vector<int64_t>& ints, std::string_view type) {
  return ListText(ints, [&](int64_t i) { return StrCat(i, " : ", type); });
}

int64_t NumberOfDType(const std::string& name) {
  const auto dtype = ParseDType(name);
  return dtype ? DataTypeOf(*dtype) : 0;
}

absl::StatusOr<std::string> AttrText(const WrittenAttr& attr) {
  const Attribute& value = attr.value;
  switch (attr.spec->type) {
    case AttrType::kInt32: return StrCat(*value.get<int64_t>(), " : si32");
    case AttrType::kInt64: return StrCat(*value.get<int64_t>(), " : si64");
    case AttrType::kBool: return std::string(*value.get<int64_t>() != 0 ? "true" : "false");
    case AttrType::kFloat: return FloatText(*value.get<float>());
    case AttrType::kDouble: return FloatText(*value.get<double>());
    case AttrType::kString:
    case AttrType::kBytes: return Quoted(*value.get<std::string>());
    case AttrType::kDataType: return StrCat(NumberOfDType(*value.get<std::string>()), " : i32");
    case AttrType::kMemoryFormat:
      return StrCat(MemoryFormatNumber(*value.get<std::string>()).value_or(0), " : i32");
    case AttrType::kShape:
    case AttrType::kInt64s: return IntsText(*value.get<Attribute::Ints>(), "si64");
    case AttrType::kInt32s: return IntsText(*value.get<Attribute::Ints>(), "si32");
    case AttrType::kFloats:
      return ListText(*value.get<Attribute::Floats>(), [](float f) { return FloatText(f); });
    case AttrType::kStrings:
      return ListText(*value.get<Attribute::Strings>(),
                      [](const std::string& s) { return Quoted(s); });
    case AttrType::kDataTypes:
      return ListText(*value.get<Attribute::Strings>(),
                      [](const std::string& s) { return StrCat(NumberOfDType(s), " : i32"); });
    case AttrType::kShapes:
      return ListText(*value.get<Attribute::Strings>(), [](const std::string& s) {
        std::vector<int64_t> dims;
        for (const std::string_view dim : Parts(s, ',')) {
          dims.push_back(ParseNumber<int64_t>(dim).value_or(0));
        }
        return IntsText(dims, "si64");
      });
    case AttrType::kComplex: {
      const Tensor& tensor = *value.get<Tensor>();
      const auto number = LoadNumber<std::complex<double>>(tensor.bytes().data());
      return StrCat("[", FloatText(number.real()), ", ", FloatText(number.imag()), "]");
    }
  }
  return Internal("attribute '", attr.spec->name, "'");
}

class MlirWriter {
 public:
  explicit MlirWriter(const Written& plan) : plan_(plan) {}

  absl::StatusOr<std::string> Write() {
    std::string arguments, results;
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(const std::string type, ValueTypeText(*plan_.inputs[i].first));
      StrAppend(&arguments, i == 0 ? "" : ", ", "%arg", i, ": ", type);
    }
    for (const auto& output : plan_.outputs) {
      X2IR_ASSIGN_OR_RETURN(const std::string type, ValueTypeText(*output.first));
      StrAppend(&results, results.empty() ? "" : ", ", type);
    }
    if (plan_.outputs.size() > 1) results = StrCat("(", results, ")");
    StrAppend(&text_, "module  {\n  oneflow.job @", SymbolText(plan_.job), "(", arguments, ")",
              results.empty() ? "" : " -> ", results, " {\n");
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      const auto& [value, name] = plan_.inputs[i];
      X2IR_RETURN_IF_ERROR(Port("input", name, *value, StrCat("%arg", i), Result(*value)));
    }
    for (const auto& [value, name] : plan_.variables) X2IR_RETURN_IF_ERROR(Variable(name, *value));
    for (const WrittenNode& node : plan_.nodes) {
      X2IR_RETURN_IF_ERROR(Annotate(Op(node), StrCat("op '", node.name, "'")));
    }
    std::vector<std::string> returns;
    for (const auto& [value, name] : plan_.outputs) {
      returns.push_back(NextPort());
      X2IR_RETURN_IF_ERROR(Port("output", name, *value, names_.at(value), returns.back()));
    }
    StrAppend(&text_, "    oneflow.return", returns.empty() ? "" : " ",
              absl::StrJoin(returns, ", "));
    if (plan_.outputs.size() > 1) results = results.substr(1, results.size() - 2);
    StrAppend(&text_, returns.empty() ? "" : " : ", results, "\n  }\n}\n");
    return std::move(text_);
  }

 private:
  std::string NextPort() {
    const int64_t number = ports_++;
    return number == 0 ? "%output" : StrCat("%output_", number - 1);
  }
  std::string Result(const Value& value) {
    return names_.emplace(&value, NextPort()).first->second;
  }

  absl::Status Port(std::string_view type, const std::string& name, const Value& value,
                    std::string_view operand, const std::string& result) {
    X2IR_ASSIGN_OR_RETURN(const std::string tensor, ValueTypeText(value));
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, DimsOf(value));
    StrAppend(&text_, "    ", result, " = \"oneflow.", type, "\"(", operand,
              ") {data_type = ", DataTypeOf(value.dtype()), " : i32, ", kDevice, ", ", kWhere, ", ",
              kHierarchy, ", is_dynamic = false, nd_sbp = [\"B\"], op_name = ", Quoted(name),
              ", output_lbns = [", Quoted(name + "/out"), "], ", kScope,
              ", shape = ", IntsText(dims, "si64"), "} : (", tensor, ") -> ", tensor, "\n");
    return absl::OkStatus();
  }

  absl::Status Variable(const std::string& name, const Value& value) {
    X2IR_ASSIGN_OR_RETURN(const std::string tensor, ValueTypeText(value));
    StrAppend(&text_, "    ", Result(value),
              " = \"oneflow.variable\"() {data_type = ", DataTypeOf(value.dtype()), " : i32, ",
              kDevice, ", ", kWhere, ", ", kHierarchy, ", op_name = ", Quoted(name),
              ", output_lbns = [", Quoted(name + "/out"),
              "], parallel = #sbp.parallel<[] -> [#sbp.B]>, ", kScope,
              ", shape = ", IntsText(value.constant()->dims(), "si64"), "} : () -> ", tensor, "\n");
    return absl::OkStatus();
  }

  absl::Status Op(const WrittenNode& written) {
    const Node& node = *written.node;
    const int64_t number = numbers_++;
    std::vector<std::string> operands, operand_types, types, lbns;
    for (const Value* input : node.inputs()) {
      if (!input) continue;
      operands.push_back(names_.at(input));
      X2IR_ASSIGN_OR_RETURN(operand_types.emplace_back(), ValueTypeText(*input));
    }
    for (const Value* output : node.outputs()) {
      if (!output) continue;
      X2IR_ASSIGN_OR_RETURN(types.emplace_back(), ValueTypeText(*output));
      lbns.push_back(Quoted(plan_.lbns.at(output)));
    }
    size_t next = 0;
    for (const Value* output : node.outputs()) {
      if (!output) continue;
      names_.emplace(output,
                     types.size() == 1 ? StrCat("%", number) : StrCat("%", number, "#", next++));
    }
    // By name, as MLIR has them.
    std::vector<std::pair<std::string_view, std::string>> attrs = {
        {"device_name", std::string(kDevice)},
        {"device_tag", std::string(kWhere)},
        {"hierarchy", std::string(kHierarchy)},
        {"op_name", StrCat("op_name = ", Quoted(written.name))},
        {"output_lbns", StrCat("output_lbns = [", absl::StrJoin(lbns, ", "), "]")},
        {"scope_symbol_id", std::string(kScope)}};
    const auto segments = [&](std::string_view name, const std::vector<OperandSpec>& specs,
                              const std::vector<int64_t>& counts) {
      size_t loose = 0;
      for (const OperandSpec& spec : specs) loose += spec.count != Count::kOne;
      if (loose < 2) return;
      attrs.emplace_back(name, StrCat(name, " = dense<[", absl::StrJoin(counts, ", "),
                                      "]> : vector<", counts.size(), "xi32>"));
    };
    segments(kSegments, written.spec->inputs, written.inputs);
    segments("result_segment_sizes", written.spec->outputs, written.outputs);
    for (const WrittenAttr& attr : written.attrs) {
      X2IR_ASSIGN_OR_RETURN(const std::string text, AttrText(attr));
      attrs.emplace_back(attr.spec->name, StrCat(attr.spec->name, " = ", text));
    }
    std::sort(attrs.begin(), attrs.end());
    std::vector<std::string> texts;
    for (auto& attr : attrs) texts.push_back(std::move(attr.second));
    StrAppend(&text_, "    ");
    if (!types.empty()) StrAppend(&text_, "%", number);
    if (types.size() > 1) StrAppend(&text_, ":", types.size());
    StrAppend(&text_, types.empty() ? "" : " = ", "\"oneflow.", written.spec->name, "\"(",
              absl::StrJoin(operands, ", "), ") {", absl::StrJoin(texts, ", "), "} : (",
              absl::StrJoin(operand_types, ", "), ") -> ");
    if (types.size() == 1) {
      StrAppend(&text_, types[0], "\n");
    } else {
      StrAppend(&text_, "(", absl::StrJoin(types, ", "), ")\n");
    }
    return absl::OkStatus();
  }

  const Written& plan_;
  std::string text_;
  absl::flat_hash_map<const Value*, std::string> names_;
  int64_t ports_ = 0, numbers_ = 0;
};

}  // namespace
}  // namespace oneflow

absl::Status WriteOneflowMlir(const Model& model, const Sink& sink, bool force) {
  X2IR_ASSIGN_OR_RETURN(const oneflow::Written plan, oneflow::PlanOf(model));
  X2IR_ASSIGN_OR_RETURN(const std::string text, oneflow::MlirWriter(plan).Write());
  return oneflow::WriteFiles(plan, sink, force,
                             [&](AtomicFile& file) { return file.Append(text); });
}

}  // namespace x2ir
