#include "x2ir/handlers/torch/as_torch.h"

#include "x2ir/core/read_through.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

Values AsTorch(NodeReader& a, std::string_view op, const std::vector<AsTorchArgument>& arguments,
               const std::vector<DType>& results) {
  std::vector<Value*> operands;
  std::vector<std::string> names;
  AttributeMap attrs;
  for (const AsTorchArgument& argument : arguments) {
    if (argument.attr) attrs.Set(argument.name, *argument.attr);
    for (size_t i = 0; i < argument.tensors.size(); ++i) {
      if (!argument.tensors[i]) continue;
      operands.push_back(argument.tensors[i]);
      names.push_back(argument.is_list ? StrCat(argument.name, "[", i, "]") : argument.name);
    }
  }
  attrs.Set("operands", std::move(names));
  std::vector<ReadThroughResult> types;
  for (const DType dtype : results) {
    types.push_back({dtype != DType::kUndefined, Type::Tensor(dtype)});
  }
  if (types.empty()) types.push_back({true, Type::Tensor(a.dtype())});
  return ReadThrough(a, "torch", 1, op, std::move(operands), std::move(attrs), types);
}

}  // namespace x2ir
