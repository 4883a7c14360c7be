// What a network has in common with its users: inputs, outputs, and that nothing of the checkpoint
// is left over.
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "x2ir/handlers/checkpoint/net.h"

namespace x2ir::checkpoint {

Expr Net::Input(std::string_view name, DType dtype, const std::vector<InputDim>& dims) {
  Shape shape;
  for (const InputDim& dim : dims) {
    if (const int64_t* number = std::get_if<int64_t>(&dim)) {
      shape.Append(Dim(*number));
    } else {
      shape.Append(Dim::Symbol(std::get<std::string>(dim)));
    }
  }
  return {b_, graph().AddInput(name, Type::Tensor(dtype, shape))};
}

void Net::Output(std::string_view name, const Expr& x) {
  Value* value = x;
  // An output is a value of its own, and made by a node.
  const auto& outputs = graph().outputs();
  if (!value->producer() || std::find(outputs.begin(), outputs.end(), value) != outputs.end()) {
    value = x.Op("identity");
  }
  graph().Rename(value, graph().UniqueName(name));
  // A size that is one of an input's is spelled as it is there.
  if (const Shape* shape = value->shape()) {
    Shape spelled;
    for (const Dim& dim : *shape) spelled.Append(dim.is_symbolic() ? AsInInput(dim) : dim);
    value->set_type(Type::Tensor(value->dtype(), spelled));
  }
  graph().AddOutput(value);
}

Dim Net::AsInInput(const Dim& dim) {
  for (const Value* input : graph().inputs()) {
    const Shape* shape = input->shape();
    if (!shape) continue;
    for (const Dim& one : *shape) {
      if (one == dim) return one;
    }
  }
  return dim;
}

void Net::CheckAllTaken() {
  if (const std::vector<std::string> unknown = settings_.Unknown(); !unknown.empty()) {
    std::string all;
    for (const std::string& key : unknown) {
      StrAppend(&all, all.empty() ? "" : ", ", key);
    }
    Refuse("config.json has settings that are not known for this architecture: ", all,
           "; what they change is not known, so nothing is written");
  }
  std::vector<std::string> unused;
  const auto note = [&](const std::string& name) {
    for (const std::string& pattern : ignored_) {
      const bool open = pattern.ends_with('*');
      if (open ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern) return;
      if (pattern.starts_with('*') && name.ends_with(pattern.substr(1))) return;
    }
    if (!taken_.contains(name)) unused.push_back(name);
  };
  for (const auto& [name, tensor] : program_.weights.tensors) note(name);
  for (const auto& [name, block] : program_.blocks) note(name);
  if (unused.empty()) return;
  std::sort(unused.begin(), unused.end());
  std::string all;
  for (size_t i = 0; i < unused.size() && i < 5; ++i) {
    StrAppend(&all, i ? ", '" : "'", unused[i], "'");
  }
  if (unused.size() > 5) StrAppend(&all, " and ", unused.size() - 5, " others");
  Refuse("the checkpoint has weights that its architecture does not use: ", all);
}

}  // namespace x2ir::checkpoint
