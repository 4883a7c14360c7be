#include "x2ir/formats/nnef/graph_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "x2ir/formats/nnef/item_types.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/formats/nnef/tensor_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

std::string RealText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char text[64];
  const auto [end, error] =
      std::to_chars(std::begin(text), std::end(text), static_cast<float>(number));
  (void)error;
  std::string shortest(std::begin(text), end);
  if (shortest.find_first_of(".e") == shortest.npos) shortest += ".0";
  // tract takes no sign of a positive exponent.
  std::erase(shortest, '+');
  return shortest;
}

std::string IntsText(const Attribute::Ints& numbers) {
  return StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

// The type that external tensors and variables of these elements have.
std::string_view TypeText(DType dtype) {
  if (dtype == DType::kBool) return "logical";
  return IsFloating(dtype) ? "scalar" : "integer";
}

class TextWriter {
 public:
  explicit TextWriter(bool standard) : standard_(standard) {}

  absl::StatusOr<WrittenGraph> Write(const Graph& graph) {
    const std::string name = Identifier(graph.name().empty() ? "network" : graph.name());
    names_.erase(name);
    for (const Node* node : graph.nodes()) FindTracts(*node);
    std::string inputs, outputs;
    for (const Value* input : graph.inputs()) {
      if (input->constant()) return CannotExpress("input '", input->name(), "' with a default");
      X2IR_RETURN_IF_ERROR(Annotate(WriteInput(*input), StrCat("input '", input->name(), "'")));
      StrAppend(&inputs, inputs.empty() ? "" : ", ", values_.at(input));
    }
    if (standard_ && !of_tract_.empty()) {
      return CannotExpress("what the standard does not have, and tract has: ",
                           absl::StrJoin(of_tract_, ", "));
    }
    for (const Value* output : graph.outputs()) {
      const std::string id = Identifier(output->name());
      if (output->producer()) values_[output] = id;
    }
    for (const Node* node : graph.nodes()) {
      X2IR_RETURN_IF_ERROR(Annotate(WriteNode(*node), node->op().view()));
    }
    std::set<const Value*> returned;
    for (const Value* output : graph.outputs()) {
      X2IR_ASSIGN_OR_RETURN(std::string id, OperandText(output));
      // A result has a name of its own.
      if (!output->producer() || !returned.insert(output).second) {
        const std::string copy = Identifier(output->name());
        StrAppend(&lines_, "    ", copy, " = ", CopyText(id), ";\n");
        id = copy;
      }
      StrAppend(&outputs, outputs.empty() ? "" : ", ", id);
    }
    std::string text = "version 1.0;\n\n";
    for (const std::string& registry : registries_) {
      StrAppend(&text, "extension tract_registry ", registry, ";\n");
    }
    for (const std::string& symbol : symbols_) {
      StrAppend(&text, "extension tract_symbol ", symbol, ";\n");
    }
    if (!registries_.empty()) text += "\n";
    StrAppend(&text, "graph ", name, "(", inputs, ") -> (", outputs, ")\n{\n", declarations_,
              lines_, "}\n");
    return WrittenGraph{std::move(text), std::move(quantizations_), std::move(tensors_)};
  }

 private:
  // A file for tract names the registries that it uses.
  void AddTracts(std::string_view what, std::string_view registry = "tract_core") {
    of_tract_.emplace(what);
    registries_.emplace("tract_core");
    registries_.emplace(registry);
  }
  void FindTracts(const Node& node) {
    const std::string_view op = node.op().view();
    if (IsTracts(op)) AddTracts(op, RegistryOf(op));
    const Attribute* type = node.attrs().Find(kOfTract);
    const auto* name = type ? type->get<std::string>() : nullptr;
    if (name && op != "x2ir.dequantize") AddTracts(StrCat("'", op, "' of ", *name));
  }
  bool for_tract() const { return !registries_.empty(); }

  std::string Identifier(std::string_view base) {
    std::string name;
    for (const char c : base) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || IsKeyword(name)) {
      name.insert(0, "v_");
    }
    std::string unique = name;
    for (int& i = suffixes_[name]; !names_.insert(unique).second; ++i) {
      unique = StrCat(name, "_", i + 1);
    }
    return unique;
  }
  absl::Status WriteInput(const Value& input) {
    const Type& type = input.type();
    if (!type.is_tensor() || !type.shape())
      return CannotExpress("a value of type ", type.ToString());
    const DType t = type.dtype();
    const bool is_standard = t == DType::kFloat32 || t == DType::kInt64 || t == DType::kBool;
    if (TractTypeName(t).empty()) {
      return CannotExpress("elements of type ", Name(t),
                           "; NNEF has real numbers (float32), integers (int64) and flags, and "
                           "tract integers of 8 to 64 bits, float16 and float64");
    }
    if (!is_standard) AddTracts(StrCat("inputs of ", Name(t)));
    std::string dims;
    for (const Dim& dim : *type.shape()) {
      std::string text;
      if (dim.is_static()) {
        text = StrCat(dim.value());
      } else {
        const std::vector<std::string> of = dim.SymbolNames();
        if (of.size() != 1 || Dim::Symbol(of[0]) != dim) {
          return CannotExpress("the size ", dim.ToString(), "; only numbers and names are sizes");
        }
        const auto plain = [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        };
        if (!std::all_of(of[0].begin(), of[0].end(), plain) || IsKeyword(of[0])) {
          return CannotExpress("the size ", of[0], ", which is no name in NNEF");
        }
        text = of[0];
        AddTracts(StrCat("the size ", text));
        symbols_.insert(text);
        names_.insert(text);
      }
      StrAppend(&dims, dims.empty() ? "" : ", ", text);
    }
    values_[&input] = Identifier(input.name());
    StrAppend(&declarations_, "    ", values_[&input], " = ",
              is_standard ? StrCat("external<", TypeText(t), ">(shape = [", dims, "]")
                          : StrCat("tract_core_external(shape = [", dims, "], datum_type = '",
                                   TractTypeName(t), "'"),
              ");\n");
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> OperandText(const Value* value) {
    if (!value) return CannotExpress("an operand that is left out");
    const auto it = values_.find(value);
    if (it != values_.end()) return it->second;
    const Tensor* tensor = value->fixed_constant();
    if (!tensor) return Internal("'", value->name(), "' comes after its use");
    const DType t = tensor->dtype();
    if (tensor->rank() == 0 && !tensor->is_sparse()) {
      // The standard's numbers are finite.
      if (t == DType::kFloat32 && std::isfinite(tensor->AsDouble(0))) {
        return values_[value] = RealText(tensor->AsDouble(0));
      }
      // A sign and a number are two parts of an expression: the least one has no positive number.
      if (t == DType::kInt64 && tensor->AsInt(0) != std::numeric_limits<int64_t>::min()) {
        return values_[value] = StrCat(tensor->AsInt(0));
      }
      if (t == DType::kBool) return values_[value] = tensor->AsInt(0) ? "true" : "false";
    }
    X2IR_ASSIGN_OR_RETURN(std::string id, VariableOf(*value, Identifier(value->name()), false));
    return values_[value] = std::move(id);
  }
  // The constant as a variable of that name, which has a file of its own.
  absl::StatusOr<std::string> VariableOf(const Value& value, const std::string& id,
                                         bool quantized) {
    const Tensor& tensor = *value.fixed_constant();
    auto header = TensorHeader(tensor, quantized);
    if (!header.ok()) return Annotate(header.status(), StrCat("constant '", value.name(), "'"));
    // Systems have names of files of 255 bytes at most.
    constexpr size_t kMaxLabel = 200;
    const std::string label =
        id.size() <= kMaxLabel ? id : StrCat(id.substr(0, kMaxLabel), "_", tensors_.size());
    tensors_.push_back({label, *std::move(header), tensor});
    StrAppend(&declarations_, "    ", id, " = variable<",
              quantized ? "scalar" : TypeText(tensor.dtype()),
              ">(shape = ", IntsText(Attribute::Ints(tensor.dims().begin(), tensor.dims().end())),
              ", label = '", label, "');\n");
    return id;
  }
  // Lists of pairs are flat in the attribute.
  static std::string AttributeText(const Parameter& param, const Attribute& attr) {
    const bool flag = param.type == "logical", pairs = param.type.empty();
    if (const auto* number = attr.get<int64_t>()) {
      return flag                     ? *number ? "true" : "false"
             : param.type == "scalar" ? RealText(static_cast<double>(*number))
                                      : StrCat(*number);
    }
    if (const auto* number = attr.get<float>()) return RealText(*number);
    if (const auto* text = attr.get<std::string>()) return StrCat("'", *text, "'");
    const auto* ints = attr.get<Attribute::Ints>();
    if (!ints || !pairs) return IntsText(ints ? *ints : Attribute::Ints());
    std::string list;
    for (size_t i = 0; i + 1 < ints->size(); i += 2) {
      StrAppend(&list, i ? ", " : "", "(", (*ints)[i], ", ", (*ints)[i + 1], ")");
    }
    return StrCat("[", list, "]");
  }
  // tract has no operator that copies.
  std::string CopyText(const std::string& id) const {
    return for_tract() ? id : StrCat("copy(", id, ")");
  }
  std::string ResultId(const Value* output) {
    const auto known = values_.find(output);
    const std::string id = output && known != values_.end()
                               ? known->second
                               : Identifier(output ? output->name() : "unused");
    if (output) values_[output] = id;
    return id;
  }
  // A split, part by part.
  absl::Status WriteSlices(const Node& node) {
    X2IR_ASSIGN_OR_RETURN(const std::string whole, OperandText(node.input(0)));
    const Attribute* part_sizes = node.attrs().Find(kPartSizes);
    const auto* sizes = part_sizes ? part_sizes->get<Attribute::Ints>() : nullptr;
    if (!sizes || sizes->size() != node.num_outputs()) return Internal("a split without sizes");
    const int64_t axis = node.attrs().Int("axis");
    int64_t begin = 0;
    for (size_t i = 0; i < sizes->size(); ++i) {
      const int64_t end = begin + (*sizes)[i];
      StrAppend(&lines_, "    ", ResultId(node.output(i)), " = slice(", whole, ", axes = [", axis,
                "], begin = [", begin, "], end = [", end, "]);\n");
      begin = end;
    }
    return absl::OkStatus();
  }
  // A variable of integers that stand for numbers. tract computes these from the integers.
  absl::Status WriteDequantized(const Node& node) {
    const Value& integers = *node.input(0);
    const std::string id = ResultId(node.output(0));
    if (!for_tract()) {
      X2IR_RETURN_IF_ERROR(VariableOf(integers, id, true).status());
      StrAppend(&quantizations_, "\"", id, "\": ", node.attrs().String("quantize"),
                "(zero_point = ", node.input(1)->fixed_constant()->AsInt(0),
                ", scale = ", RealText(node.input(2)->fixed_constant()->AsDouble(0)),
                ", bits = ", node.attrs().Int("bits"),
                ", signed = ", node.attrs().Int("signed") ? "true" : "false",
                ", symmetric = ", node.attrs().Int("symmetric") ? "true" : "false", ");\n");
      return absl::OkStatus();
    }
    const std::string stored = Identifier(StrCat(integers.name(), "_stored"));
    X2IR_RETURN_IF_ERROR(VariableOf(integers, stored, false).status());
    StrAppend(&lines_, "    ", id, " = mul(sub(tract_core_cast(", stored, ", to = 'f32'), ",
              RealText(node.input(1)->fixed_constant()->AsDouble(0)), "), ",
              RealText(node.input(2)->fixed_constant()->AsDouble(0)), ");\n");
    return absl::OkStatus();
  }
  absl::Status WriteNode(const Node& node) {
    const Fragment* op = FindOperator(node.op().view());
    const Attribute* names = node.attrs().Find(kOperands);
    const auto* of = names ? names->get<Attribute::Strings>() : nullptr;
    if (node.dialect() != Symbol(kDialect) || !op || !of || of->size() != node.num_inputs()) {
      return CannotExpress("it is not an operator of the standard, nor of tract");
    }
    if (op->name == "x2ir.dequantize") return WriteDequantized(node);
    if (for_tract() && op->name == "split") return WriteSlices(node);
    if (for_tract() && (op->name == "copy" || op->name == "rcp")) {
      X2IR_ASSIGN_OR_RETURN(const std::string x, OperandText(node.input(0)));
      const std::string text = op->name == "copy" ? CopyText(x) : StrCat("div(1.0, ", x, ")");
      StrAppend(&lines_, "    ", ResultId(node.output(0)), " = ", text, ";\n");
      return absl::OkStatus();
    }
    std::string arguments;
    for (const Parameter& param : op->params) {
      std::vector<std::string> given;
      for (size_t i = 0; i < of->size(); ++i) {
        if ((*of)[i] != param.name) continue;
        X2IR_ASSIGN_OR_RETURN(std::string text, OperandText(node.input(i)));
        given.push_back(std::move(text));
      }
      const Attribute* attr = node.attrs().Find(param.name);
      if (given.empty() && !attr) {
        if (param.has_default()) continue;
        return Internal("parameter '", param.name, "' is missing");
      }
      std::string text;
      if (attr) {
        text = AttributeText(param, *attr);
      } else if (param.is_array) {
        for (const std::string& part : given) StrAppend(&text, text.empty() ? "[" : ", ", part);
        text += "]";
      } else {
        text = given[0];
      }
      StrAppend(&arguments, arguments.empty() ? "" : ", ",
                param.is_tensor ? text : StrCat(param.name, " = ", text));
    }
    std::string name = op->name, type;
    if (const Attribute* cast = node.attrs().Find("type")) {
      const std::string& to = *cast->get<std::string>();
      if (for_tract()) {
        StrAppend(&arguments, ", to = '", TractTypeName(ItemTypeNamed(to)), "'");
      } else {
        type = StrCat("<", to, ">");
      }
    }
    // tract has these under names of its own alone.
    if (for_tract() && (name == "cast" || name == "gather")) name.insert(0, "tract_core_");
    std::string results;
    for (const Value* output : node.outputs()) {
      StrAppend(&results, results.empty() ? "" : ", ", ResultId(output));
    }
    const bool list = op->results.size() == 1 && op->results[0].is_array;
    StrAppend(&lines_, "    ", list ? "[" : "", results, list ? "]" : "", " = ", name, type, "(",
              arguments, ");\n");
    return absl::OkStatus();
  }

  const bool standard_;
  std::string declarations_, lines_, quantizations_;
  std::vector<TensorToWrite> tensors_;
  absl::flat_hash_map<const Value*, std::string> values_;
  absl::flat_hash_map<std::string, int> suffixes_;
  std::set<std::string> names_, symbols_, registries_, of_tract_;
};

}  // namespace

absl::StatusOr<WrittenGraph> GraphText(const Graph& graph, bool standard) {
  return TextWriter(standard).Write(graph);
}

}  // namespace nnef
}  // namespace x2ir
