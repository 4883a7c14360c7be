// Sizes that are known as expressions, as Python numbers: sizes of the program's inputs, and
// Python's arithmetic of them.
#include <charconv>

#include "x2ir/handlers/torch/writer.h"

namespace x2ir {
namespace {

const Type kNumber = Type::Tensor(DType::kInt64, Shape());

// Reads the text of a Dim whose names are numbers that exist in the program: sums of products of
// names, numbers and functions.
class SizeWriter {
 public:
  SizeWriter(TorchWriter& w, std::string_view text) : w_(w), rest_(text) {}

  std::optional<TorchScalar> Run() {
    const auto sum = Sum();
    return sum && rest_.empty() ? sum : std::nullopt;
  }

 private:
  using Result = std::optional<TorchScalar>;

  bool Take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  Result Call(std::string_view op, const Result& a, const Result& b) {
    if (!a || !b) return std::nullopt;
    return TorchScalar{w_.Call(op, {{"a", *a}, {"b", *b}}, kNumber)};
  }

  Result Sum() {
    Result left =
        Take("-") ? Call("_operator::mul", TorchScalar{int64_t{-1}}, Product()) : Product();
    while (left) {
      if (Take("+")) {
        left = Call("_operator::add", left, Product());
      } else if (Take("-")) {
        left = Call("_operator::sub", left, Product());
      } else {
        break;
      }
    }
    return left;
  }

  Result Product() {
    Result left = Factor();
    while (left && Take("*")) left = Call("_operator::mul", left, Factor());
    return left;
  }

  Result Factor() {
    static constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
        {"floordiv(", "_operator::floordiv"},
        {"mod(", "_operator::mod"},
        {"min(", "torch::sym_min"},
        {"max(", "torch::sym_max"}};
    for (const auto& [start, op] : kFunctions) {
      if (!Take(start)) continue;
      Result value = Sum();
      while (value && Take(", ")) value = Call(op, value, Sum());
      return Take(")") ? value : std::nullopt;
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error == std::errc()) {
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      return TorchScalar{number};
    }
    size_t length = 0;
    while (length < rest_.size() &&
           std::string_view("+-*, ()").find(rest_[length]) == std::string_view::npos) {
      ++length;
    }
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name.empty() ? std::nullopt : w_.SizeCalled(name);
  }

  TorchWriter& w_;
  std::string_view rest_;
};

}  // namespace

// The first input's axis of that size; null where there is none.
static std::pair<Value*, int64_t> InputOfSize(Graph& graph, std::string_view name) {
  Graph* root = &graph;
  while (root->parent()) root = root->parent();
  const Dim symbol = Dim::Symbol(name);
  for (Value* input : root->inputs()) {
    const Shape* shape = input->shape();
    for (int64_t axis = 0; shape && axis < shape->rank(); ++axis) {
      if ((*shape)[axis] == symbol) return {input, axis};
    }
  }
  return {nullptr, 0};
}

std::optional<TorchScalar> TorchWriter::SizeCalled(std::string_view name) {
  const auto [input, axis] = InputOfSize(b().graph(), name);
  return input ? std::optional(Size(input, axis)) : std::nullopt;
}

std::optional<TorchScalar> TorchWriter::NumberOf(const Dim& dim) {
  if (dim.is_static()) return TorchScalar{dim.value()};
  if (dim.is_unknown()) return std::nullopt;
  // All must be there before anything is made.
  for (const std::string& name : dim.SymbolNames()) {
    const bool plain = Dim::Symbol(name).ToString() == name;
    if (!plain || !InputOfSize(b().graph(), name).first) return std::nullopt;
  }
  return SizeWriter(*this, dim.ToString()).Run();
}

}  // namespace x2ir
