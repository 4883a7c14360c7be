// Calls of PyTorch's operators in ONNX files: op ATen, with the operator's name as an attribute,
// which PyTorch's exporter wrote for what ONNX did not have, in the default domain for Caffe2 and
// later in domain org.pytorch.aten. Tensors are operands in the order of the operator's parameters,
// numbers are attributes with their names, or constant operands. The rows of PyTorch read them.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/builder/node_reader.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/as_torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using Arguments = std::vector<AsTorchArgument>;

bool IsTensorParameter(const TorchParameter& parameter) { return parameter.element() == "Tensor"; }

// A number as the parameter wants it; nullopt where it is of another kind.
std::optional<AsTorchArgument> NumberFor(const TorchParameter& parameter, const Attribute& attr) {
  const std::string_view element = parameter.element();
  const bool is_int = element == "int" || element == "SymInt";
  const auto* integer = attr.get<int64_t>();
  const auto* real = attr.get<float>();
  const auto* ints = attr.get<Attribute::Ints>();
  const auto* text = attr.get<std::string>();
  if (parameter.is_list()) {
    if (!is_int || (!ints && !integer)) return std::nullopt;
    std::vector<int64_t> list;
    if (ints) list.assign(ints->begin(), ints->end());
    if (integer) list.push_back(*integer);
    return AsTorchArgument(parameter.name, Attribute(std::move(list)));
  }
  if (element == "str" && text) return AsTorchArgument(parameter.name, Attribute(*text));
  if (integer && element == "bool") return AsTorchArgument(parameter.name, *integer != 0);
  if (integer && (is_int || element == "Scalar")) return AsTorchArgument(parameter.name, *integer);
  if ((real || integer) && (element == "float" || element == "Scalar")) {
    return AsTorchArgument(parameter.name, real ? double{*real} : static_cast<double>(*integer));
  }
  return std::nullopt;
}

// The same of a constant operand.
std::optional<AsTorchArgument> NumberFor(const TorchParameter& parameter, const Value& operand) {
  const std::optional<Tensor> tensor = KnownTensor(operand);
  if (!tensor || tensor->is_string() || tensor->dims().size() > 1) return std::nullopt;
  if (IsFloating(tensor->dtype())) {
    if (tensor->num_elements() != 1) return std::nullopt;
    return NumberFor(parameter, Attribute(static_cast<float>(tensor->AsDouble(0))));
  }
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) ints.push_back(tensor->AsInt(i));
  if (tensor->dims().empty()) return NumberFor(parameter, Attribute(ints[0]));
  return NumberFor(parameter, Attribute(std::move(ints)));
}

// The arguments of the call by that schema; nullopt where the node's do not fit.
std::optional<Arguments> ArgumentsFor(const NodeReader& a, const TorchSchema& schema) {
  for (const auto& [name, attr] : a.attrs()) {
    const bool own = name == Symbol("operator") || name == Symbol("overload_name");
    if (!own && !schema.Find(name.view())) return std::nullopt;
  }
  Arguments arguments;
  size_t next = 0;
  for (const TorchParameter& parameter : schema.parameters) {
    if (const Attribute* attr = a.attrs().Find(parameter.name)) {
      auto number = NumberFor(parameter, *attr);
      if (!number) return std::nullopt;
      arguments.push_back(*std::move(number));
      continue;
    }
    if (next < a.num_inputs()) {
      if (IsTensorParameter(parameter) && parameter.is_list()) {
        arguments.emplace_back(parameter.name, a.inputs(next));
        next = a.num_inputs();
        continue;
      }
      Value* operand = a.node().input(next);
      if (IsTensorParameter(parameter) && (operand || parameter.is_optional())) {
        arguments.emplace_back(parameter.name, operand);
        ++next;
        continue;
      }
      auto number =
          operand && !IsTensorParameter(parameter) ? NumberFor(parameter, *operand) : std::nullopt;
      if (number) {
        arguments.push_back(*std::move(number));
        ++next;
        continue;
      }
    }
    if (parameter.default_value.empty() && !parameter.is_optional()) return std::nullopt;
  }
  if (next != a.num_inputs()) return std::nullopt;
  return arguments;
}

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// What PyTorch gives, where the file does not say it.
DType ResultOf(const NodeReader& a, std::string_view op, size_t i) {
  const Value* output = a.node().output(i);
  if (output && output->dtype() != DType::kUndefined) return output->dtype();
  DType type = DType::kUndefined;
  for (size_t k = IsOneOf(op, {"where"}) ? 1 : 0; k < a.num_inputs() && type == DType::kUndefined;
       ++k) {
    if (a.has(k)) type = a.dtype(k);
  }
  if (i == 1 && IsOneOf(op, {"max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax",
                             "cummin"})) {
    return DType::kInt64;
  }
  if (IsOneOf(op, {"argmax", "argmin", "argsort", "nonzero", "bucketize", "searchsorted"}))
    return DType::kInt64;
  if (IsOneOf(op, {"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "logical_and",
                   "logical_or", "logical_xor", "logical_not", "all", "any", "isclose"})) {
    return DType::kBool;
  }
  if (!IsFloating(type) && IsOneOf(op, {"sum", "prod", "cumsum", "cumprod"})) return DType::kInt64;
  return type;
}

absl::StatusOr<Values> FromAten(Rewrite& r) {
  return ReadNode(r, [&]() -> absl::StatusOr<Values> {
    NodeReader a(r);
    std::string op = a.String("operator", "");
    const std::string overload = a.String("overload_name", "");
    constexpr std::string_view kNamespace = "aten::";
    if (std::string_view(op).starts_with(kNamespace)) op.erase(0, kNamespace.size());
    std::vector<const TorchSchema*> candidates;
    if (const auto* usual =
            FindTorchSchema(StrCat(kNamespace, op, ".", overload.empty() ? "default" : overload))) {
      candidates.push_back(usual);
    }
    if (overload.empty()) {
      const std::string prefix = StrCat(kNamespace, op, ".");
      for (const TorchSchema* schema : AllTorchSchemas()) {
        if (schema->name.starts_with(prefix) && !schema->name.ends_with(".default"))
          candidates.push_back(schema);
      }
    }
    if (candidates.empty())
      return Unimplemented("PyTorch has no operator aten::", op, overload.empty() ? "" : ".",
                           overload);
    for (const TorchSchema* schema : candidates) {
      const std::optional<Arguments> arguments = ArgumentsFor(a, *schema);
      if (!arguments || a.num_outputs() > schema->results.size()) continue;
      for (const auto& entry : a.attrs()) a.Ignore(entry.first);
      std::vector<DType> results;
      for (size_t i = 0; i < std::max<size_t>(a.num_outputs(), 1); ++i) {
        results.push_back(a.wants(i) || i == 0 ? ResultOf(a, op, i) : DType::kUndefined);
      }
      return AsTorch(a, schema->name, *arguments, results);
    }
    return Unimplemented("these arguments of PyTorch's operator aten::", op);
  });
}

X2IR_ONNX(identity).Is("org.pytorch.aten::ATen", Since(1), Code{FromAten, nullptr});

}  // namespace
}  // namespace x2ir
