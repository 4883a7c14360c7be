// Names of classes, as PyTorch's exporters give them (formats/module_path.h).
#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {

std::string ClassOf(std::string_view type) {
  if (type.starts_with("torch.nn.")) return "";
  const size_t dot = type.rfind('.');
  const std::string_view name = dot == type.npos ? type : type.substr(dot + 1);
  return IsIdentifier(name) && name.size() <= 40 ? ClassName(name) : "";
}

}  // namespace x2ir::python
