// PyTorch: sequences and optionals.
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/optimizer/lowerings/sequences.h"

namespace x2ir {
namespace {

// What lowerings do with the tensors themselves is left to them: what makes a sequence as well as
// what uses it.
absl::Status CheckMakesList(TorchWriter& w) {
  const Value* result = w.node().output(0);
  return result && IsSpelledOut(*result) ? CannotExpress("its elements are used one by one")
                                         : absl::OkStatus();
}

absl::Status CheckUsesList(TorchWriter& w) {
  const Value* operand = w.in(0);
  return operand && operand->producer() && operand->producer()->is_ir()
             ? CannotExpress("a sequence that is not written")
             : absl::OkStatus();
}

absl::StatusOr<Value*> WriteList(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  std::vector<Value*> elements;
  for (size_t i = 0; i < w.num_inputs(); ++i) elements.push_back(w.in(i));
  return w.Call("python::list", {{"elements", std::move(elements)}});
}

absl::StatusOr<Value*> WriteEmptyList(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  return w.Call("python::empty_list", {});
}

absl::StatusOr<Value*> WriteInsert(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  TorchArguments arguments = {{"self", w.in(0)}, {"element", w.in(1)}};
  if (!w.has(2)) return w.Call("python::appended", std::move(arguments));
  arguments.emplace_back("position", w.Scalar(w.in(2)));
  return w.Call("python::inserted", std::move(arguments));
}

absl::StatusOr<Value*> WriteErase(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  TorchArguments arguments = {{"self", w.in(0)}};
  if (w.has(1)) arguments.emplace_back("position", w.Scalar(w.in(1)));
  return w.Call("python::erased", std::move(arguments));
}

absl::StatusOr<Value*> WriteElement(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call("python::element", {{"self", w.in(0)}, {"position", w.Scalar(w.in(1))}});
}

absl::StatusOr<Value*> WriteListLength(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call("python::length", {{"self", w.in(0)}});
}

absl::StatusOr<Value*> WriteConcatOfList(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call(w.Int("new_axis") != 0 ? "python::stack" : "python::cat",
                {{"self", w.in(0)}, {"dim", w.Int("axis")}});
}

// Parts of one size, the last of which may be smaller; of sizes that are computed; or one by one.
absl::StatusOr<Value*> WriteSplitToList(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  TorchArguments arguments = {{"self", w.in(0)}, {"dim", w.Int("axis")}};
  if (!w.has(1)) {
    if (w.Int("keepdims") == 0) return w.Call("python::unbind", std::move(arguments));
    arguments.emplace_back("size", 1);
    return w.Call("python::split", std::move(arguments));
  }
  Value* sizes = w.in(1);
  if (!sizes->shape()) return CannotExpress("sizes of unknown rank");
  if (sizes->shape()->rank() == 0) {
    arguments.emplace_back("size", w.Scalar(sizes));
    return w.Call("python::split", std::move(arguments));
  }
  arguments.emplace_back("sizes", sizes);
  return w.Call("python::split_with", std::move(arguments));
}

absl::StatusOr<Value*> WriteOptional(TorchWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  if (!w.has(0)) return w.Call("python::none", {});
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call("python::same", {{"self", w.in(0)}});
}

absl::StatusOr<Value*> WriteHasElement(TorchWriter& w) {
  if (!w.has(0) || w.in(0)->type().kind() != Type::kOptional) {
    return CannotExpress("what is no optional");
  }
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call("python::is_there", {{"self", w.in(0)}});
}

absl::StatusOr<Value*> WriteGetElement(TorchWriter& w) {
  if (w.in(0)->type().kind() != Type::kOptional) return CannotExpress("what is no optional");
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call("python::same", {{"self", w.in(0)}});
}

absl::StatusOr<Value*> WriteIdentity(TorchWriter& w) {
  if (w.in(0)->type().is_tensor() || !w.in(0)->type().is_known()) {
    return w.Call("aten::clone.default", {{"self", w.in(0)}});
  }
  X2IR_RETURN_IF_ERROR(CheckMakesList(w));
  X2IR_RETURN_IF_ERROR(CheckUsesList(w));
  return w.Call("python::same", {{"self", w.in(0)}});
}

}  // namespace

X2IR_TORCH(sequence_construct).To("python::list", WriteList);
X2IR_TORCH(sequence_empty).To("python::empty_list", WriteEmptyList);
X2IR_TORCH(sequence_insert).To("python::inserted", WriteInsert);
X2IR_TORCH(sequence_erase).To("python::erased", WriteErase);
X2IR_TORCH(sequence_at).To("python::element", WriteElement);
X2IR_TORCH(sequence_length).To("python::length", WriteListLength);
X2IR_TORCH(concat_from_sequence).To("python::cat", WriteConcatOfList);
X2IR_TORCH(split_to_sequence).To("python::split", WriteSplitToList);
X2IR_TORCH(optional).To("python::same", WriteOptional);
X2IR_TORCH(optional_has_element).To("python::is_there", WriteHasElement);
X2IR_TORCH(optional_get_element).To("python::same", WriteGetElement);
X2IR_TORCH(identity).To("aten::clone.default", WriteIdentity);

}  // namespace x2ir
