// Operators of other frameworks that are PyTorch's under another name: their forms make the call of
// PyTorch, and its row reads it.
#ifndef X2IR_HANDLERS_TORCH_AS_TORCH_H_
#define X2IR_HANDLERS_TORCH_AS_TORCH_H_

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {

// An argument of the call, by its name in the operator's schema: a tensor (null is None), a list of
// them, or an attribute as formats/torch/torch.h has it.
struct AsTorchArgument {
  AsTorchArgument(std::string_view n, Value* v) : name(n), tensors{v} {}
  AsTorchArgument(std::string_view n, const Expr& v) : name(n), tensors{v.value()} {}
  AsTorchArgument(std::string_view n, std::vector<Value*> v)
      : name(n), tensors(std::move(v)), is_list(true) {}
  AsTorchArgument(std::string_view n, Attribute v) : name(n), attr(std::move(v)) {}
  AsTorchArgument(std::string_view n, const char* v) : name(n), attr(Attribute(v)) {}
  AsTorchArgument(std::string_view n, bool v) : name(n), attr(Attribute(Tensor::Scalar<bool>(v))) {}
  template <typename T>
  requires std::is_arithmetic_v<T> AsTorchArgument(std::string_view n, T v)
      : name(n), attr(Attribute(v)) {}

  std::string name;
  std::vector<Value*> tensors{};
  bool is_list = false;
  std::optional<Attribute> attr{};
};

// The results of the call, of these types; without types one, of operand 0's. kUndefined: not
// wanted. Fails the form where PyTorch's row does.
Values AsTorch(NodeReader& a, std::string_view op, const std::vector<AsTorchArgument>& arguments,
               const std::vector<DType>& results = {});

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_AS_TORCH_H_
