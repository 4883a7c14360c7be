#include <algorithm>

#include "x2ir/formats/python/calls_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

// "size[1]:int" in parts.
struct OperandName {
  std::string_view argument;
  int64_t index = -1;
  char number = 0;
};

OperandName ParseOperandName(std::string_view text) {
  OperandName name;
  if (const size_t colon = text.find(':'); colon != text.npos) {
    name.number = colon + 1 < text.size() ? text[colon + 1] : 0;
    text = text.substr(0, colon);
  }
  if (const size_t bracket = text.find('['); bracket != text.npos && text.ends_with(']')) {
    const auto index = ParseNumber<int64_t>(text.substr(bracket + 1, text.size() - bracket - 2));
    name.index = index.value_or(-1);
    text = text.substr(0, bracket);
  }
  name.argument = text;
  return name;
}

absl::Status ReadTensor(const Tensor& tensor, Argument& argument) {
  argument.is_list = tensor.rank() == 1;
  if (tensor.rank() > 1 || tensor.num_elements() > 4096) return Unimplemented("a tensor");
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (tensor.dtype() == DType::kBool) {
      argument.items.emplace_back(tensor.AsInt(i) != 0);
    } else if (IsFloating(tensor.dtype())) {
      argument.items.emplace_back(tensor.AsDouble(i));
    } else if (IsInteger(tensor.dtype())) {
      argument.items.emplace_back(tensor.AsInt(i));
    } else {
      return Unimplemented("a number of type ", Name(tensor.dtype()));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadAttribute(const Attribute& attr, Argument& argument) {
  if (const int64_t* i = attr.get<int64_t>()) {
    argument.items.emplace_back(*i);
  } else if (const double* d = attr.get<double>()) {
    argument.items.emplace_back(*d);
  } else if (const float* f = attr.get<float>()) {
    argument.items.emplace_back(double{*f});
  } else if (const std::string* s = attr.get<std::string>()) {
    argument.items.emplace_back(*s);
  } else if (const Tensor* t = attr.get<Tensor>()) {
    return ReadTensor(*t, argument);
  } else if (const Type* type = attr.get<Type>()) {
    if (type->is_tensor()) {
      argument.items.emplace_back(type->dtype());
    } else if (!type->is_known()) {
      argument.items.emplace_back(None{});
    } else {
      return Unimplemented("an argument of another kind");
    }
  } else if (const Attribute::Ints* ints = attr.get<Attribute::Ints>()) {
    argument.is_list = true;
    for (const int64_t i : *ints) argument.items.emplace_back(i);
  } else if (const Attribute::Strings* strings = attr.get<Attribute::Strings>()) {
    argument.is_list = true;
    for (const std::string& s : *strings) argument.items.emplace_back(s);
  } else {
    return Unimplemented("an argument of another kind");
  }
  return absl::OkStatus();
}

Argument& FindOrAdd(Call& call, std::string_view name) {
  for (Argument& argument : call.arguments) {
    if (argument.name == name) return argument;
  }
  call.arguments.push_back({std::string(name), {}, false});
  return call.arguments.back();
}

}  // namespace

const Argument* Call::Find(std::string_view name) const {
  for (const Argument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

const Value* Call::Tensor(std::string_view name) const {
  const Argument* argument = Find(name);
  if (!argument || argument->is_list || argument->items.size() != 1) return nullptr;
  const Operand* operand = std::get_if<Operand>(&argument->items[0]);
  return operand ? operand->value : nullptr;
}

bool Call::IsNone(std::string_view name) const {
  const Argument* argument = Find(name);
  return !argument || (!argument->is_list && argument->items.size() == 1 &&
                       std::holds_alternative<None>(argument->items[0]));
}

std::vector<int64_t> Call::Ints(std::string_view name) const {
  std::vector<int64_t> ints;
  const Argument* argument = Find(name);
  if (!argument) return ints;
  for (const Item& item : argument->items) {
    const int64_t* i = std::get_if<int64_t>(&item);
    if (!i) return {};
    ints.push_back(*i);
  }
  return ints;
}

int64_t Call::Int(std::string_view name, int64_t fallback) const {
  const std::vector<int64_t> ints = Ints(name);
  return ints.size() == 1 ? ints[0] : fallback;
}

std::optional<double> Call::Number(std::string_view name) const {
  const Argument* argument = Find(name);
  if (!argument || argument->items.size() != 1) return std::nullopt;
  if (const double* d = std::get_if<double>(&argument->items[0])) return *d;
  const int64_t* i = std::get_if<int64_t>(&argument->items[0]);
  return i ? std::optional(static_cast<double>(*i)) : std::nullopt;
}

void Call::Erase(std::string_view name) {
  std::erase_if(arguments, [&](const Argument& a) { return a.name == name; });
}

void Call::Set(std::string_view name, Item item) {
  Argument& argument = FindOrAdd(*this, name);
  argument.items = {std::move(item)};
  argument.is_list = false;
}

absl::StatusOr<Call> ReadCall(const Node& node) {
  Call call;
  call.op = node.op().str();
  const Attribute::Strings* names = nullptr;
  for (const auto& [name, attr] : node.attrs()) {
    if (name == "operands") {
      names = attr.get<Attribute::Strings>();
      continue;
    }
    if (name == "self_strides" || name == "self_offset" || name == "self_device") continue;
    if (attr.get<Attribute::GraphPtr>()) continue;  // see GraphOf
    Argument argument{name.str(), {}, false};
    const absl::Status status = ReadAttribute(attr, argument);
    if (!status.ok()) return Annotate(status, StrCat(call.op, ", argument '", name.view(), "'"));
    call.arguments.push_back(std::move(argument));
  }
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const OperandName name =
        names && i < names->size() ? ParseOperandName((*names)[i]) : OperandName();
    if (name.argument.empty() || name.index > 1'000'000) {
      return Invalid(call.op, ": operand ", i, " has no name");
    }
    Argument& argument = FindOrAdd(call, name.argument);
    const Operand operand{node.input(i), name.number};
    if (name.index < 0) {
      argument.items = {operand};
      continue;
    }
    argument.is_list = true;
    const size_t at = static_cast<size_t>(name.index);
    if (argument.items.size() <= at) argument.items.resize(at + 1, None{});
    argument.items[at] = operand;
  }
  // In a list of tensors and None, the attribute has 0 for each None and 1 for each tensor.
  for (Argument& argument : call.arguments) {
    const bool tensors =
        argument.is_list &&
        std::any_of(argument.items.begin(), argument.items.end(), [](const Item& item) {
          const Operand* operand = std::get_if<Operand>(&item);
          return operand && operand->number == 0;
        });
    for (Item& item : argument.items) {
      if (tensors && std::holds_alternative<int64_t>(item)) item = None{};
    }
  }
  return call;
}

const Graph* GraphOf(const Node& node, std::string_view argument) {
  const Attribute* attr = node.attrs().Find(argument);
  const Attribute::GraphPtr* graph = attr ? attr->get<Attribute::GraphPtr>() : nullptr;
  return graph ? graph->get() : nullptr;
}

}  // namespace x2ir::python
