// Calls of PyTorch's operators as the Python writer works with them: the arguments of a node of
// dialect "torch" (formats/torch/torch.h) by their names, in no special form any more.
#ifndef X2IR_FORMATS_PYTHON_CALLS_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_CALLS_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace x2ir::python {

struct None {
  friend bool operator==(None, None) { return true; }
};
// A value of the graph: a tensor, or where `number` is 'i', 'f' or 'b' a Python number.
struct Operand {
  const Value* value = nullptr;
  char number = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};
// A Dim is a size that is known by the names of sizes.
using Item = std::variant<None, Operand, int64_t, double, bool, std::string, DType, Dim>;

struct Argument {
  std::string name;
  std::vector<Item> items;  // one, unless it is a list
  bool is_list = false;
};

struct Call {
  std::string op;  // "aten::conv2d.default"
  std::vector<Argument> arguments;

  const Argument* Find(std::string_view name) const;
  // The tensor or number that an argument is; null where it is none, or not given.
  const Value* Tensor(std::string_view name) const;
  bool IsNone(std::string_view name) const;  // or not given
  // Known numbers of an argument, one for a plain number; empty where any is not known.
  std::vector<int64_t> Ints(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t fallback) const;
  std::optional<double> Number(std::string_view name) const;  // that is known
  void Erase(std::string_view name);
  void Set(std::string_view name, Item item);
};

// Unimplemented for an argument that has no place in Python code.
absl::StatusOr<Call> ReadCall(const Node& node);

// The graph that is an argument of a higher-order operator, or null.
const Graph* GraphOf(const Node& node, std::string_view argument);

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_CALLS_INTERNAL_H_
