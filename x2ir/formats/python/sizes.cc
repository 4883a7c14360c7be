// Where sizes come from. In a graph of calls they are taken out of shapes as numbers, become
// tensors, are computed with, and are taken out again; in Python they stay numbers.
#include <algorithm>

#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {
namespace {

constexpr int kMaxDepth = 64;

std::optional<std::vector<Dim>> KnownElements(const Value& value) {
  if (const std::vector<Dim>* elements = value.elements()) {
    const bool all = std::none_of(elements->begin(), elements->end(),
                                  [](const Dim& dim) { return dim.is_unknown(); });
    if (all) return *elements;
  }
  const Tensor* tensor = value.fixed_constant();
  if (!tensor || tensor->rank() > 1 || !IsInteger(tensor->dtype()) || tensor->num_elements() > 64) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) dims.emplace_back(tensor->AsInt(i));
  return dims;
}

}  // namespace

Dim SizeReader::SizeOf(const Value* value, int64_t axis) {
  const Shape* shape = value->shape();
  if (!shape) return Dim();
  if (axis < 0) axis += shape->rank();
  if (axis < 0 || axis >= shape->rank()) return Dim();
  const Dim& dim = (*shape)[axis];
  if (!dim.is_unknown()) return dim;
  // It gets a name of its own, which no file can have given.
  const std::string name = StrCat("\x03", value->name(), "\x03", axis);
  sources_.try_emplace(name, Program::SizeSource{value, axis});
  return Dim::Symbol(name);
}

std::vector<Dim> SizeReader::Elements(const Value* value, int depth) {
  if (depth > kMaxDepth || !value || (value->type().is_tensor() && !IsInteger(value->dtype()))) {
    return {};
  }
  if (const auto it = known_.find(value); it != known_.end()) return it->second;
  std::vector<Dim> found;
  const Node* node = value->producer();
  if (auto elements = KnownElements(*value)) {
    found = *std::move(elements);
  } else if (node && node->num_inputs() > 0 && node->num_inputs() <= 64) {
    const auto call = ReadCall(*node);
    if (!call.ok()) return {};
    const auto one = [&](std::string_view name) -> Dim {
      if (const Value* x = call->Tensor(name)) {
        const std::vector<Dim> elements = Elements(x, depth + 1);
        return elements.size() == 1 ? elements[0] : Dim();
      }
      const std::vector<int64_t> ints = call->Ints(name);
      return ints.size() == 1 ? Dim(ints[0]) : Dim();
    };
    const std::string& op = call->op;
    if (op == "aten::sym_size.int") {
      found = {SizeOf(call->Tensor("self"), call->Int("dim", 0))};
    } else if (op == "aten::scalar_tensor.default") {
      found = {one("s")};
    } else if (op == "aten::item.default" || op == "aten::_to_copy.default" ||
               op == "aten::unsqueeze.default" || op == "aten::squeeze.dims" ||
               op == "aten::reshape.default" || op == "aten::clone.default") {
      found = Elements(call->Tensor("self"), depth + 1);
    } else if (op == "aten::stack.default" || op == "aten::cat.default") {
      for (const Item& item : call->Find("tensors")->items) {
        const Operand* operand = std::get_if<Operand>(&item);
        const std::vector<Dim> part =
            operand ? Elements(operand->value, depth + 1) : std::vector<Dim>();
        if (part.empty()) return {};
        found.insert(found.end(), part.begin(), part.end());
      }
    } else if (op == "aten::select.int") {
      const std::vector<Dim> all = Elements(call->Tensor("self"), depth + 1);
      const auto count = static_cast<int64_t>(all.size());
      int64_t at = call->Int("index", count);
      if (at < 0) at += count;
      if (at >= 0 && at < count) found = {all[static_cast<size_t>(at)]};
    } else if (call->arguments.size() == 2 && call->Find("a") && call->Find("b")) {
      const Dim a = one("a"), b = one("b");
      found = {op == "_operator::add"        ? a + b
               : op == "_operator::sub"      ? a - b
               : op == "_operator::mul"      ? a * b
               : op == "_operator::floordiv" ? FloorDiv(a, b)
               : op == "_operator::mod"      ? Mod(a, b)
               : op == "torch::sym_max"      ? Max(a, b)
               : op == "torch::sym_min"      ? Min(a, b)
                                             : Dim()};
    } else if (op == "aten::index.Tensor") {
      const Argument* indices = call->Find("indices");
      const Operand* index = indices && indices->items.size() == 1
                                 ? std::get_if<Operand>(&indices->items[0])
                                 : nullptr;
      const Tensor* known = index ? index->value->fixed_constant() : nullptr;
      const std::vector<Dim> all = Elements(call->Tensor("self"), depth + 1);
      const auto count = static_cast<int64_t>(all.size());
      for (int64_t i = 0; known && known->rank() == 1 && i < known->num_elements(); ++i) {
        const int64_t at = known->AsInt(i) < 0 ? known->AsInt(i) + count : known->AsInt(i);
        if (at < 0 || at >= count) return {};
        found.push_back(all[static_cast<size_t>(at)]);
      }
    } else if (op == "aten::where.self") {
      const Value* condition = call->Tensor("condition");
      const Tensor* chosen = condition ? condition->fixed_constant() : nullptr;
      const std::vector<Dim> yes = Elements(call->Tensor("self"), depth + 1);
      const std::vector<Dim> no = Elements(call->Tensor("other"), depth + 1);
      if (chosen && chosen->num_elements() == static_cast<int64_t>(yes.size()) &&
          yes.size() == no.size()) {
        for (size_t i = 0; i < yes.size(); ++i) {
          found.push_back(chosen->AsInt(static_cast<int64_t>(i)) != 0 ? yes[i] : no[i]);
        }
      }
    } else if (op == "aten::add.Tensor" && !call->Find("alpha")) {
      found = {one("self") + one("other")};
    } else if (op == "aten::sub.Tensor" && !call->Find("alpha")) {
      found = {one("self") - one("other")};
    } else if (op == "aten::mul.Tensor") {
      found = {one("self") * one("other")};
    }
  }
  if (std::any_of(found.begin(), found.end(), [](const Dim& d) { return d.is_unknown(); })) {
    found.clear();
  }
  return known_[value] = std::move(found);
}

}  // namespace x2ir::python
