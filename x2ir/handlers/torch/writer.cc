#include "x2ir/handlers/torch/writer.h"

#include <algorithm>

#include "x2ir/formats/torch/schemas.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The number as the type of attribute that the parameter requires.
Attribute AttributeFor(const TorchParameter* parameter, Attribute value) {
  if (!parameter) return value;
  const std::string_view element = parameter->element();
  const int64_t* i = value.get<int64_t>();
  const float* f = value.get<float>();
  if (i && element == "bool" && !parameter->is_list()) return Tensor::Scalar<bool>(*i != 0);
  if (i && element == "float" && !parameter->is_list()) return static_cast<double>(*i);
  if (f) return static_cast<double>(*f);
  return value;
}

char KindOf(const Value& number) {
  if (number.dtype() == DType::kBool) return 'b';
  return IsFloating(number.dtype()) ? 'f' : 'i';
}
std::string_view NameOfKind(char kind) {
  return kind == 'b' ? ":bool" : kind == 'f' ? ":float" : ":int";
}

Attribute AttributeOf(const TorchScalar& scalar) {
  if (const bool* b = std::get_if<bool>(&scalar.value)) return Tensor::Scalar<bool>(*b);
  if (const double* d = std::get_if<double>(&scalar.value)) return *d;
  return std::get<int64_t>(scalar.value);
}

// A call as formats/torch/torch.h has it written down.
struct Written {
  std::vector<Value*> operands;
  Attribute::Strings names;
  AttributeMap attrs;
};

void Add(Written& call, Value* operand, std::string name) {
  call.operands.push_back(operand);
  call.names.push_back(std::move(name));
}

void Write(Written& call, const TorchParameter* parameter, TorchArgument& argument) {
  const std::string name(argument.name);
  if (std::holds_alternative<std::nullptr_t>(argument.payload)) {
    call.attrs.Set(name, Type());
  } else if (Value** value = std::get_if<Value*>(&argument.payload)) {
    Add(call, *value, name);
  } else if (auto* values = std::get_if<std::vector<Value*>>(&argument.payload)) {
    Attribute::Ints present;
    for (size_t i = 0; i < values->size(); ++i) {
      Value* one = (*values)[i];
      present.push_back(one != nullptr);
      if (one) Add(call, one, StrCat(name, "[", i, "]"));
    }
    const bool all = std::find(present.begin(), present.end(), 0) == present.end();
    if (!all || present.empty()) call.attrs.Set(name, std::move(present));
  } else if (auto* scalar = std::get_if<TorchScalar>(&argument.payload)) {
    if (Value** number = std::get_if<Value*>(&scalar->value)) {
      Add(call, *number, StrCat(name, NameOfKind(KindOf(**number))));
    } else {
      call.attrs.Set(name, AttributeFor(parameter, AttributeOf(*scalar)));
    }
  } else if (auto* scalars = std::get_if<TorchArgument::Scalars>(&argument.payload)) {
    Attribute::Ints ints;
    for (size_t i = 0; i < scalars->size(); ++i) {
      Value** number = std::get_if<Value*>(&(*scalars)[i].value);
      ints.push_back(number ? 0 : std::get<int64_t>((*scalars)[i].value));
      if (number) Add(call, *number, StrCat(name, "[", i, "]:int"));
    }
    call.attrs.Set(name, std::move(ints));
  } else {
    call.attrs.Set(name, AttributeFor(parameter, std::get<Attribute>(std::move(argument.payload))));
  }
}

// The argument of a call that was written, where it is a value; null where it is none.
Value* OperandOf(const Node& call, std::string_view name) {
  const Attribute* names = call.attrs().Find("operands");
  const auto* operands = names ? names->get<Attribute::Strings>() : nullptr;
  for (size_t i = 0; operands && i < operands->size(); ++i) {
    if ((*operands)[i] == name) return call.input(i);
  }
  return nullptr;
}

const Type kIndex = Type::Tensor(DType::kInt64, Shape());

}  // namespace

// --- Numbers and sizes ----------------------------------------------------------------------

Value* TorchWriter::Item(Value* x) {
  const DType t = x->dtype() == DType::kBool ? DType::kBool
                  : IsFloating(x->dtype())   ? DType::kFloat64
                                             : DType::kInt64;
  return Call("aten::item.default", {{"self", x}}, Type::Tensor(t, Shape()));
}

// Where an element comes from, in calls that were written before: a size, most often.
std::optional<TorchScalar> TorchWriter::ElementOf(Value* x, int64_t i, int depth) {
  if (const auto known = x2ir::KnownInts(x); known && i < static_cast<int64_t>(known->size())) {
    return TorchScalar{(*known)[static_cast<size_t>(i)]};
  }
  if (const auto* elements = x->elements();
      elements && i < static_cast<int64_t>(elements->size())) {
    if (const auto number = NumberOf((*elements)[static_cast<size_t>(i)])) return number;
  }
  const Node* call = x->producer();
  if (!call || call->dialect() != "torch" || depth > 16) return std::nullopt;
  const std::string_view op = call->op().view();
  if (op == "aten::scalar_tensor.default") {
    Value* s = OperandOf(*call, "s:int");
    return s ? std::optional(TorchScalar{s}) : std::nullopt;
  }
  if (op == "aten::stack.default" && x->shape() && x->shape()->rank() == 1) {
    return i < static_cast<int64_t>(call->num_inputs())
               ? ElementOf(call->input(static_cast<size_t>(i)), 0, depth + 1)
               : std::nullopt;
  }
  if (op == "aten::cat.default") {
    for (Value* part : call->inputs()) {
      const Shape* shape = part->shape();
      if (!shape || shape->rank() != 1 || !(*shape)[0].is_static()) return std::nullopt;
      const int64_t count = (*shape)[0].value();
      if (i < count) return ElementOf(part, i, depth + 1);
      i -= count;
    }
    return std::nullopt;
  }
  const Attribute* index = call->attrs().Find("index");
  if (op == "aten::select.int" && index && index->get<int64_t>()) {
    const int64_t at = *index->get<int64_t>();
    const Shape* shape = call->input(0)->shape();
    if (!shape || shape->rank() != 1 || !(*shape)[0].is_static()) return std::nullopt;
    return ElementOf(call->input(0), at < 0 ? at + (*shape)[0].value() : at, depth + 1);
  }
  // The same elements under another shape.
  if (op == "aten::unsqueeze.default" || op == "aten::squeeze.dims" ||
      op == "aten::reshape.default" || op == "aten::clone.default") {
    return ElementOf(call->input(0), i, depth + 1);
  }
  return std::nullopt;
}

TorchScalar TorchWriter::Scalar(Value* x) {
  if (const std::optional<Tensor> tensor = KnownTensor(*x); tensor && tensor->num_elements() == 1) {
    if (x->dtype() == DType::kBool) return {tensor->AsInt(0) != 0};
    if (IsInteger(x->dtype())) return {tensor->AsInt(0)};
    return {tensor->AsDouble(0)};
  }
  if (IsInteger(x->dtype())) {
    if (const auto element = ElementOf(x, 0, 0)) return *element;
  }
  return {Item(x)};
}

std::optional<int64_t> TorchWriter::KnownInt(Value* x) {
  if (!IsInteger(x->dtype())) return std::nullopt;
  const auto element = ElementOf(x, 0, 0);
  const int64_t* number = element ? std::get_if<int64_t>(&element->value) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

absl::StatusOr<std::vector<TorchScalar>> TorchWriter::Sizes(Value* x) {
  if (const auto known = x2ir::KnownInts(x)) return Numbers(*known);
  const Shape* shape = x->shape();
  if (!shape || shape->rank() != 1 || !(*shape)[0].is_static()) {
    return CannotExpress("sizes whose number is not known");
  }
  std::vector<TorchScalar> sizes;
  for (int64_t i = 0; i < (*shape)[0].value(); ++i) {
    if (const auto element = ElementOf(x, i, 0)) {
      sizes.push_back(*element);
      continue;
    }
    Value* one = Call("aten::select.int", {{"self", x}, {"dim", 0}, {"index", i}},
                      Type::Tensor(x->dtype(), Shape()));
    sizes.push_back({Item(one)});
  }
  return sizes;
}

TorchScalar TorchWriter::Size(Value* x, int64_t axis) {
  if (x->shape() && (*x->shape())[axis].is_static()) {
    return {(*x->shape())[axis].value()};
  }
  return {Call("aten::sym_size.int", {{"self", x}, {"dim", axis}}, kIndex)};
}

std::vector<TorchScalar> TorchWriter::Sizes(Value* x, int64_t from, int64_t to) {
  std::vector<TorchScalar> sizes;
  for (int64_t i = from; i < to; ++i) sizes.push_back(Size(x, i));
  return sizes;
}

std::vector<TorchScalar> TorchWriter::Numbers(absl::Span<const int64_t> numbers) {
  std::vector<TorchScalar> scalars;
  for (const int64_t number : numbers) scalars.push_back({number});
  return scalars;
}

// --- Building -------------------------------------------------------------------------------

Values TorchWriter::Calls(std::string_view op, TorchArguments arguments,
                          const std::vector<bool>& wanted, const std::vector<Type>& results) {
  const TorchSchema* schema = FindTorchSchema(op);
  Written call;
  for (TorchArgument& argument : arguments) {
    Write(call, schema ? schema->Find(argument.name) : nullptr, argument);
  }
  AttributeMap attrs;
  if (!call.names.empty()) attrs.Set("operands", std::move(call.names));
  for (auto& [name, attr] : call.attrs) attrs.Set(name, std::move(attr));
  return Make("torch", op, std::move(call.operands), std::move(attrs), wanted, results);
}

Values TorchWriter::Calls(std::string_view op, TorchArguments arguments) {
  std::vector<bool> wanted;
  for (const Value* output : node().outputs()) wanted.push_back(output != nullptr);
  return Calls(op, std::move(arguments), wanted);
}

Value* TorchWriter::Call(std::string_view op, TorchArguments arguments, Type result) {
  return Calls(op, std::move(arguments), {true}, {std::move(result)})[0];
}

Value* TorchWriter::Transpose(Value* x, std::vector<int64_t> perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return Op("transpose", {x}, {{"perm", std::move(perm)}});
}

Value* OneElement(TorchWriter& w, Value* x) {
  return x->shape() && x->shape()->rank() == 0 ? x : w.Reshape(x, {});
}

}  // namespace x2ir
