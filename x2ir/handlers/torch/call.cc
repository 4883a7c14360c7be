// TorchCall: the arguments of a call by their names. Types and building: call_build.cc.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "x2ir/builder/size.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr std::string_view kOperands = "operands";

bool IsUnknownType(const Attribute& attr) {
  const Type* type = attr.get<Type>();
  return type && type->kind() == Type::kUnknown;
}

}  // namespace

TorchCall::TorchCall(Rewrite& r) : NodeReader(r) {
  const auto argument = [&](Symbol name) -> Argument& {
    for (Argument& a : arguments_) {
      if (a.name == name) return a;
    }
    arguments_.emplace_back().name = name;
    return arguments_.back();
  };
  size_t i = 0;
  for (const auto& [name, attr] : r.node.attrs()) {
    if (name != kOperands) {
      Argument& a = argument(name);
      a.attribute = true;
      a.attr = i;
    }
    ++i;
  }
  const Attribute* names = r.node.attrs().Find(kOperands);
  const Attribute::Strings* strings = names ? names->get<Attribute::Strings>() : nullptr;
  const size_t count = strings ? strings->size() : 0;
  if (count != r.node.num_inputs()) {
    r.b.Fail(Invalid("the call names ", count, " of its ", r.node.num_inputs(), " operands"));
  }
  for (size_t k = 0; k < std::min(count, r.node.num_inputs()); ++k) {
    const TorchOperandName name = ParseTorchOperandName((*strings)[k]);
    Argument& a = argument(name.name);
    a.operands.push_back(k);
    a.indices.push_back(name.index);
    a.number = name.number;
  }
}

const TorchCall::Argument* TorchCall::Find(Symbol name) const {
  for (const Argument& a : arguments_) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

const TorchCall::Argument* TorchCall::TakeArgument(Symbol name) {
  NodeReader::Ignore(name);
  return Find(name);
}

const Attribute* TorchCall::AttrOf(const Argument& a) const {
  return a.attribute ? &(attrs().begin() + static_cast<ptrdiff_t>(a.attr))->second : nullptr;
}

bool TorchCall::IsNone(const Argument& a) const {
  const Attribute* attr = AttrOf(a);
  return a.operands.empty() && attr && IsUnknownType(*attr);
}

bool TorchCall::Has(std::string_view name) const {
  const Argument* a = Find(name);
  return a && !IsNone(*a);
}

void TorchCall::Ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) TakeArgument(name);
}

absl::Status TorchCall::CheckAllTaken() const {
  for (const Argument& a : arguments_) {
    if (IsTaken(a.name) || IsNone(a)) continue;
    const Attribute* attr = AttrOf(a);
    return Unimplemented("argument '", a.name.view(), "'",
                         attr ? StrCat(" = ", attr->ToString()) : "", " is not known");
  }
  return absl::OkStatus();
}

// --- Tensors --------------------------------------------------------------------------------

Value* TorchCall::OptTensor(std::string_view name) {
  const Argument* a = TakeArgument(name);
  if (!a || IsNone(*a)) return nullptr;
  if (a->operands.size() != 1 || a->indices[0] >= 0 || a->attribute) {
    Fail(Invalid("argument '", name, "': expected a tensor"));
  }
  return node().input(a->operands[0]);
}

Expr TorchCall::Tensor(std::string_view name) {
  Value* value = OptTensor(name);
  if (!value) Fail(Invalid("argument '", name, "': expected a tensor, got none"));
  return {b(), value};
}

std::vector<Value*> TorchCall::OptTensors(std::string_view name) {
  std::vector<Value*> values;
  const Argument* a = TakeArgument(name);
  if (!a || IsNone(*a)) return values;
  // Where some are None, or all are, an attribute tells which ones are there.
  if (const Attribute* attr = AttrOf(*a)) {
    const auto* present = attr->get<Attribute::Ints>();
    if (!present) {
      Fail(Invalid("argument '", name, "': expected tensors"));
      return values;
    }
    values.resize(present->size());
  }
  for (size_t i = 0; i < a->operands.size(); ++i) {
    const size_t at = a->indices[i] < 0 ? 0 : static_cast<size_t>(a->indices[i]);
    if (a->indices[i] < 0 || (a->attribute && at >= values.size()) ||
        (!a->attribute && at != values.size())) {
      Fail(Invalid("argument '", name, "': expected tensors"));
      return {};
    }
    Value* value = node().input(a->operands[i]);
    if (a->attribute) {
      values[at] = value;
    } else {
      values.push_back(value);
    }
  }
  return values;
}

std::vector<Value*> TorchCall::Tensors(std::string_view name) {
  std::vector<Value*> values = OptTensors(name);
  for (const Value* value : values) {
    if (!value) Fail(Invalid("argument '", name, "': expected tensors, got None"));
  }
  return values;
}

// --- Constants ------------------------------------------------------------------------------

template <typename T>
const T* TorchCall::Get(std::string_view name, std::string_view expected) {
  const Argument* a = TakeArgument(name);
  if (!a || IsNone(*a)) return nullptr;
  const Attribute* attr = AttrOf(*a);
  const T* value = attr && a->operands.empty() ? attr->get<T>() : nullptr;
  if (!value) {
    Fail(Unimplemented("argument '", name, "': expected ", expected, ", got ",
                       attr && a->operands.empty() ? attr->ToString() : "a computed value"));
  }
  return value;
}

template <typename T>
T TorchCall::Required(std::string_view name, std::optional<T> value) {
  if (!value) Fail(Invalid("argument '", name, "' is missing"));
  return value.value_or(T{});
}

std::optional<TorchNumber> TorchCall::NumberOf(const Argument& a) const {
  TorchNumber number;
  const Attribute* attr = a.operands.empty() ? AttrOf(a) : nullptr;
  const x2ir::Tensor* tensor = attr ? attr->get<x2ir::Tensor>() : nullptr;
  if (attr && attr->get<int64_t>()) {
    number.i = *attr->get<int64_t>();
    number.c = static_cast<double>(number.i);
  } else if (attr && attr->get<double>()) {
    number.kind = TorchNumber::kFloat;
    number.c = *attr->get<double>();
  } else if (tensor && tensor->rank() == 0 && tensor->dtype() == DType::kBool) {
    number.kind = TorchNumber::kBool;
    number.i = tensor->AsInt(0) != 0;
    number.c = static_cast<double>(number.i);
  } else if (tensor && tensor->rank() == 0 && tensor->dtype() == DType::kComplex128) {
    number.kind = TorchNumber::kComplex;
    std::memcpy(&number.c, tensor->bytes().data(), sizeof(number.c));
  } else if (a.operands.size() == 1 && a.indices[0] < 0 && a.number == 'i') {
    const auto known = x2ir::KnownInts(node().input(a.operands[0]));
    if (!known || known->size() != 1) return std::nullopt;
    number.i = (*known)[0];
    number.c = static_cast<double>(number.i);
  } else {
    return std::nullopt;
  }
  return number;
}

std::optional<TorchNumber> TorchCall::OptNumber(std::string_view name) {
  const Argument* a = TakeArgument(name);
  if (!a || IsNone(*a)) return std::nullopt;
  std::optional<TorchNumber> number = NumberOf(*a);
  if (!number) {
    const Attribute* attr = AttrOf(*a);
    Fail(Unimplemented("argument '", name, "': expected a number that is known, got ",
                       attr ? attr->ToString() : "a computed value"));
  }
  return number;
}

TorchNumber TorchCall::Number(std::string_view name) { return Required(name, OptNumber(name)); }
TorchNumber TorchCall::Number(std::string_view name, int64_t fallback) {
  TorchNumber number;
  number.i = fallback;
  number.c = static_cast<double>(fallback);
  return OptNumber(name).value_or(number);
}

std::optional<int64_t> TorchCall::OptInt(std::string_view name) {
  const std::optional<TorchNumber> number = OptNumber(name);
  if (number && !number->is_integral()) Fail(Invalid("argument '", name, "': expected an int"));
  return number ? std::optional(number->i) : std::nullopt;
}
int64_t TorchCall::Int(std::string_view name) { return Required(name, OptInt(name)); }
int64_t TorchCall::Int(std::string_view name, int64_t fallback) {
  return OptInt(name).value_or(fallback);
}

bool TorchCall::Bool(std::string_view name) { return Required(name, OptInt(name)) != 0; }
bool TorchCall::Bool(std::string_view name, bool fallback) {
  return OptInt(name).value_or(fallback) != 0;
}

std::optional<double> TorchCall::OptFloat(std::string_view name) {
  const std::optional<TorchNumber> number = OptNumber(name);
  if (number && number->kind == TorchNumber::kComplex) {
    Fail(Invalid("argument '", name, "': expected a float"));
  }
  return number ? std::optional(number->real()) : std::nullopt;
}
double TorchCall::Float(std::string_view name) { return Required(name, OptFloat(name)); }
double TorchCall::Float(std::string_view name, double fallback) {
  return OptFloat(name).value_or(fallback);
}

std::string TorchCall::String(std::string_view name) {
  const std::string* text = Get<std::string>(name, "a string");
  return Required(name, text ? std::optional(*text) : std::nullopt);
}
std::string TorchCall::String(std::string_view name, std::string_view fallback) {
  const std::string* text = Get<std::string>(name, "a string");
  return text ? *text : std::string(fallback);
}

std::optional<std::vector<int64_t>> TorchCall::OptInts(std::string_view name) {
  if (!Has(name)) {
    TakeArgument(name);
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (const Size& size : Sizes(name)) {
    if (!size.number) {
      Fail(Unimplemented("argument '", name, "' must be known, but is computed"));
      return std::nullopt;
    }
    numbers.push_back(*size.number);
  }
  return numbers;
}
std::vector<int64_t> TorchCall::Ints(std::string_view name) {
  return Required(name, OptInts(name));
}
std::vector<int64_t> TorchCall::Ints(std::string_view name, std::vector<int64_t> fallback) {
  return OptInts(name).value_or(std::move(fallback));
}
std::vector<int64_t> TorchCall::IntsOf(std::string_view name, size_t n,
                                       std::vector<int64_t> fallback) {
  std::vector<int64_t> numbers = OptInts(name).value_or(std::vector<int64_t>());
  if (numbers.empty()) numbers = std::move(fallback);
  if (numbers.size() == 1) numbers.resize(n, numbers[0]);
  if (numbers.size() != n) {
    Fail(Invalid("argument '", name, "': expected ", n, " numbers, got ", numbers.size()));
    numbers.resize(n);
  }
  return numbers;
}

std::optional<std::vector<double>> TorchCall::OptFloats(std::string_view name) {
  const Argument* a = Find(name);
  const Attribute* attr = a ? AttrOf(*a) : nullptr;
  std::vector<double> numbers;
  if (attr && attr->get<x2ir::Tensor>()) {
    const x2ir::Tensor* tensor = Get<x2ir::Tensor>(name, "floats");
    if (!tensor || tensor->dtype() != DType::kFloat64) return std::nullopt;
    for (int64_t i = 0; i < tensor->num_elements(); ++i) numbers.push_back(tensor->AsDouble(i));
    return numbers;
  }
  const std::optional<std::vector<int64_t>> ints = OptInts(name);
  if (!ints) return std::nullopt;
  for (const int64_t i : *ints) numbers.push_back(static_cast<double>(i));
  return numbers;
}

std::vector<bool> TorchCall::Bools(std::string_view name) {
  std::vector<bool> values;
  const x2ir::Tensor* tensor = Get<x2ir::Tensor>(name, "bools");
  for (int64_t i = 0; tensor && i < tensor->num_elements(); ++i) {
    values.push_back(tensor->AsInt(i) != 0);
  }
  return values;
}

std::optional<DType> TorchCall::OptDtype(std::string_view name) {
  const x2ir::Type* type = Get<x2ir::Type>(name, "a dtype");
  if (!type) return std::nullopt;
  if (!type->is_tensor()) {
    Fail(Unimplemented("argument '", name, "': no element type of ours: ", type->ToString()));
  }
  return type->dtype();
}
DType TorchCall::Dtype(std::string_view name, DType fallback) {
  return OptDtype(name).value_or(fallback);
}

std::shared_ptr<Graph> TorchCall::Subgraph(std::string_view name) {
  const Attribute::GraphPtr* graph = Get<Attribute::GraphPtr>(name, "a graph");
  if (!graph) Fail(Invalid("argument '", name, "': expected a graph"));
  return graph ? *graph : std::make_shared<Graph>();
}

// --- Sizes ----------------------------------------------------------------------------------

std::vector<Size> TorchCall::Sizes(std::string_view name) {
  std::vector<Size> sizes;
  const Argument* a = TakeArgument(name);
  const auto known = [](Value* value) -> std::optional<int64_t> {
    const auto ints = x2ir::KnownInts(value);
    return ints && ints->size() == 1 ? std::optional((*ints)[0]) : std::nullopt;
  };
  if (!a || IsNone(*a)) {
    Fail(Invalid("argument '", name, "' is missing"));
    return sizes;
  }
  if (const Attribute* attr = AttrOf(*a)) {
    if (const auto* ints = attr->get<Attribute::Ints>()) {
      for (const int64_t i : *ints) sizes.push_back(i);
    } else if (const auto* one = attr->get<int64_t>()) {
      sizes.push_back(*one);
    } else {
      Fail(Invalid("argument '", name, "': expected ints, got ", attr->ToString()));
    }
  }
  for (size_t k = 0; k < a->operands.size(); ++k) {
    Value* value = node().input(a->operands[k]);
    const std::optional<int64_t> number = known(value);
    const Size size = number ? Size(*number) : Size(value);
    if (a->indices[k] < 0) {
      sizes.push_back(size);
    } else if (static_cast<size_t>(a->indices[k]) < sizes.size()) {
      sizes[static_cast<size_t>(a->indices[k])] = size;
    } else {
      Fail(Invalid("argument '", name, "': expected ints"));
    }
  }
  return sizes;
}

Expr TorchCall::SymInts(std::string_view name) { return Vector(b(), Sizes(name)); }

Value* TorchCall::OptSymInt(std::string_view name) {
  const Argument* a = TakeArgument(name);
  if (!a || IsNone(*a)) return nullptr;
  if (a->operands.size() == 1 && a->indices[0] < 0) return node().input(a->operands[0]);
  return b().Int(Int(name));
}
Expr TorchCall::SymInt(std::string_view name) {
  Value* value = OptSymInt(name);
  if (!value) Fail(Invalid("argument '", name, "' is missing"));
  return {b(), value};
}
Expr TorchCall::SymInt(std::string_view name, int64_t fallback) {
  Value* value = OptSymInt(name);
  return {b(), value ? value : b().Int(fallback)};
}

int64_t TorchCall::NormalAxis(int64_t axis, int64_t rank) {
  const auto normal = NormalizeAxis(axis, std::max<int64_t>(rank, 1));
  if (!normal.ok()) Fail(normal.status());
  return normal.ok() ? *normal : 0;
}
int64_t TorchCall::Axis(std::string_view name, const Value* x) {
  return NormalAxis(Int(name), Rank(x));
}
int64_t TorchCall::Axis(std::string_view name, const Value* x, int64_t fallback) {
  return NormalAxis(Int(name, fallback), Rank(x));
}
std::vector<int64_t> TorchCall::Axes(std::string_view name, const Value* x) {
  const int64_t rank = Rank(x);
  std::vector<int64_t> axes = Ints(name, {});
  if (axes.empty()) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  } else {
    for (int64_t& axis : axes) axis = NormalAxis(axis, rank);
    // dim=0 of a tensor of rank 0 is no axis.
    if (rank == 0) axes.clear();
  }
  return axes;
}

}  // namespace x2ir
