// ONNX Constant, in all its forms, is a constant of the IR graph: no op. Constants go back as
// initializers.
#include <string>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

absl::StatusOr<Tensor> ConstantTensor(Symbol name, const Attribute& attr) {
  const auto length = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  if (name == "value" || name == "sparse_value") {
    // The result is a dense tensor in either case.
    if (const Tensor* tensor = attr.get<Tensor>()) return tensor->ToDense();
  } else if (name == "value_int") {
    if (const int64_t* i = attr.get<int64_t>()) return Tensor::Scalar<int64_t>(*i);
  } else if (name == "value_ints") {
    if (const auto* ints = attr.get<Attribute::Ints>()) return Tensor::Vector(*ints);
  } else if (name == "value_float") {
    if (const float* f = attr.get<float>()) return Tensor::Scalar<float>(*f);
  } else if (name == "value_floats") {
    if (const auto* floats = attr.get<Attribute::Floats>()) {
      return Tensor::Of<float>({length(*floats)}, *floats);
    }
  } else if (name == "value_string") {
    if (const std::string* text = attr.get<std::string>()) return Tensor::Strings({}, {*text});
  } else if (name == "value_strings") {
    if (const auto* texts = attr.get<Attribute::Strings>()) {
      return Tensor::Strings({length(*texts)}, *texts);
    }
  } else {
    return Invalid("unknown attribute '", name.str(), "'");
  }
  if (attr.kind() == AttrKind::kRef) {
    return Unimplemented("attribute '", name.str(), "' refers to one of an enclosing function");
  }
  return Invalid("attribute '", name.str(), "' is of the wrong kind: ", Name(attr.kind()));
}

absl::StatusOr<Values> FromConstant(Rewrite& r) {
  if (r.attrs().size() != 1) {
    return Invalid("expected one attribute that gives the value, got ", r.attrs().size());
  }
  if (r.num_outputs() != 1) return Invalid("expected one output, got ", r.num_outputs());
  const auto& [name, attr] = *r.attrs().begin();
  X2IR_ASSIGN_OR_RETURN(Tensor tensor, ConstantTensor(name, attr));
  return Values{r.b.Constant(std::move(tensor))};
}

}  // namespace

// Under identity, since no op of the IR corresponds to it.
X2IR_ONNX(identity).Is("Constant", Since(1), Code{FromConstant, nullptr});

}  // namespace x2ir
