// What rows make nodes of Keras by.
#include <utility>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

AttributeMap AttrsOfCall(size_t tensors, size_t weights) {
  AttributeMap attrs;
  attrs.Set(keras::kCallInputs, static_cast<int64_t>(tensors));
  attrs.Set(keras::kCallWeights, static_cast<int64_t>(weights));
  attrs.Set(keras::kVersion, int64_t{3});
  return attrs;
}

std::vector<Json> OperandsFrom(size_t count) {
  std::vector<Json> all;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(KerasArguments({{"tensor", Json(static_cast<int64_t>(i))}}));
  }
  return all;
}

AttributeMap AttrsOfFunction(size_t operands, std::vector<Json> positional, Json named) {
  AttributeMap attrs = AttrsOfCall(operands, 0);
  const Json all =
      KerasArguments({{"args", Json::Array(std::move(positional))}, {"kwargs", std::move(named)}});
  attrs.Set(keras::kCallArguments, all.ToString());
  return attrs;
}

std::string OpOf(std::string_view name) { return StrCat("ops.", name); }

}  // namespace

Json KerasArguments(std::initializer_list<std::pair<std::string_view, Json>> arguments) {
  Json all = Json::Object();
  for (const auto& [name, value] : arguments) all.Set(name, value);
  return all;
}

Json KerasIntegers(const std::vector<int64_t>& numbers) {
  std::vector<Json> items;
  for (const int64_t number : numbers) items.emplace_back(number);
  return Json::Array(std::move(items));
}

Value* KerasWriter::Layer(std::string_view class_name, std::vector<Value*> tensors,
                          AttributeMap config, const std::vector<Value*>& weights,
                          x2ir::Type result) {
  return LayerAll(class_name, std::move(tensors), "", {}, std::move(config), weights,
                  {std::move(result)})[0];
}

Values KerasWriter::LayerAll(std::string_view class_name, std::vector<Value*> tensors,
                             std::string_view name, const std::vector<Value*>& named,
                             AttributeMap config, const std::vector<Value*>& weights,
                             const std::vector<x2ir::Type>& results) {
  for (const auto& [key, attr] : AttrsOfCall(tensors.size(), weights.size())) config.Set(key, attr);
  if (!named.empty()) {
    config.Set(keras::kCallNames, Attribute::Strings(named.size(), std::string(name)));
  }
  tensors.insert(tensors.end(), named.begin(), named.end());
  tensors.insert(tensors.end(), weights.begin(), weights.end());
  return Make("keras", class_name, std::move(tensors), std::move(config),
              std::vector<bool>(results.size(), true), results);
}

Value* KerasWriter::Function(std::string_view name, std::vector<Value*> operands, Json arguments,
                             x2ir::Type result) {
  return FunctionAll(name, std::move(operands), std::move(arguments), {true},
                     {std::move(result)})[0];
}

Values KerasWriter::FunctionAll(std::string_view name, std::vector<Value*> operands, Json arguments,
                                const std::vector<bool>& wanted,
                                const std::vector<x2ir::Type>& results) {
  AttributeMap attrs =
      AttrsOfFunction(operands.size(), OperandsFrom(operands.size()), std::move(arguments));
  return Make("keras", OpOf(name), std::move(operands), std::move(attrs), wanted, results);
}

Value* KerasWriter::FunctionOfList(std::string_view name, std::vector<Value*> operands,
                                   Json arguments) {
  AttributeMap attrs = AttrsOfFunction(
      operands.size(), {Json::Array(OperandsFrom(operands.size()))}, std::move(arguments));
  return Make("keras", OpOf(name), std::move(operands), std::move(attrs), {true}, {})[0];
}

const Tensor* KerasWriter::Weight(size_t i) const {
  const Tensor* tensor = has(i) ? in(i)->fixed_constant() : nullptr;
  return tensor && !tensor->is_sparse() && !tensor->is_string() ? tensor : nullptr;
}

absl::Status KerasWriter::WantFloats(size_t i) const {
  if (IsFloating(dtype(i))) return absl::OkStatus();
  return CannotExpress("elements of ", Name(dtype(i)));
}

}  // namespace x2ir
