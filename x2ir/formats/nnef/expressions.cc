// Lines and expressions: what is known is computed, operations on tensors become nodes.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/formats/nnef/graph_maker_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

// Each takes room on the stack.
constexpr int kMaxNestedExpressions = 300;

}  // namespace

absl::Status GraphMaker::Run(const Fragment& fragment, Scope* scope) {
  for (const Assignment& line : fragment.body) {
    X2IR_RETURN_IF_ERROR(At(*line.value, Assign(line, scope)));
  }
  return absl::OkStatus();
}
absl::Status GraphMaker::Assign(const Assignment& line, Scope* scope) {
  if (line.is_array) wanted_list_ = line.results.size();
  X2IR_ASSIGN_OR_RETURN(Item item, Evaluate(*line.value, scope));
  wanted_list_ = 0;
  if (line.results.size() == 1 && !line.is_array) {
    return Define(scope, line.results[0], std::move(item));
  }
  if (item.kind != Item::kList || item.items.size() != line.results.size()) {
    return Invalid(line.results.size(), " results are expected, and there are ",
                   item.kind == Item::kList ? item.items.size() : 1);
  }
  for (size_t i = 0; i < line.results.size(); ++i) {
    X2IR_RETURN_IF_ERROR(Define(scope, line.results[i], std::move(item.items[i])));
  }
  return absl::OkStatus();
}

ItemOr GraphMaker::Evaluate(const SyntaxExpr& expr, Scope* scope) {
  if (nesting_ >= kMaxNestedExpressions) {
    return Invalid("expressions and calls nested more than ", kMaxNestedExpressions, " deep");
  }
  ++nesting_;
  ItemOr item = EvaluateKind(expr, scope);
  --nesting_;
  const absl::Status status = item.ok() ? Spend(*item) : item.status();
  if (!status.ok()) return At(expr, status);
  return item;
}
ItemOr GraphMaker::EvaluateKind(const SyntaxExpr& expr, Scope* scope) {
  switch (expr.kind) {
    case ExprKind::kNumber: return NumberItem(expr.text);
    case ExprKind::kText: return Item::Text(expr.text);
    case ExprKind::kName: return Named(expr.text, *scope);
    case ExprKind::kArray:
    case ExprKind::kTuple: {
      std::vector<Item> items;
      for (const SyntaxPtr& arg : expr.args) {
        X2IR_ASSIGN_OR_RETURN(Item item, Evaluate(*arg, scope));
        items.push_back(std::move(item));
      }
      return Item::List(std::move(items));
    }
    case ExprKind::kCall: return Call(expr, scope);
    case ExprKind::kUnary: {
      X2IR_ASSIGN_OR_RETURN(const Item x, Evaluate(*expr.args[0], scope));
      X2IR_ASSIGN_OR_RETURN(auto known, Computed(expr.text, x));
      if (known) return *std::move(known);
      X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(x));
      return Item::Of(AddNode(OperatorOf(expr.text, true), {{"x", value}}, {}, 1)[0]);
    }
    case ExprKind::kBinary: {
      X2IR_ASSIGN_OR_RETURN(const Item x, Evaluate(*expr.args[0], scope));
      X2IR_ASSIGN_OR_RETURN(const Item y, Evaluate(*expr.args[1], scope));
      X2IR_ASSIGN_OR_RETURN(auto known, Computed(expr.text, x, y));
      if (known) return *std::move(known);
      X2IR_ASSIGN_OR_RETURN(Value * a, TensorValue(x));
      X2IR_ASSIGN_OR_RETURN(Value * b, TensorValue(y));
      const std::string_view op = OperatorOf(expr.text, false);
      return Item::Of(AddNode(op, {{"x", a}, {"y", b}}, {}, 1)[0]);
    }
    case ExprKind::kIf: {
      X2IR_ASSIGN_OR_RETURN(const Item condition, Evaluate(*expr.args[1], scope));
      if (condition.kind != Item::kBool) {
        return Unimplemented("'if' of a condition that is not known; select is for tensors");
      }
      return Evaluate(*expr.args[condition.integer ? 0 : 2], scope);
    }
    case ExprKind::kFor: return Loop(expr, scope);
    case ExprKind::kIndex: return Indexed(expr, scope);
    case ExprKind::kRange: return Ranged(expr, scope);
  }
  return Internal("an expression of unknown kind");
}
ItemOr GraphMaker::Named(const std::string& name, const Scope& scope) {
  const auto found = scope.names.find(name);
  if (found != scope.names.end()) return found->second;
  if (name == "true" || name == "false") return Item::Bool(name == "true");
  if (name == "inf") return Item::Real(std::numeric_limits<double>::infinity());
  if (name == "nan") return Item::Real(std::numeric_limits<double>::quiet_NaN());
  if (symbols_.contains(name)) return Item::Of(Dim::Symbol(name));
  return Invalid("'", name, "' is not defined");
}
ItemOr GraphMaker::Loop(const SyntaxExpr& expr, Scope* scope) {
  std::vector<std::vector<Item>> lists;
  for (size_t i = 0; i < expr.names.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(Item list, Evaluate(*expr.args[i], scope));
    if (list.kind != Item::kList || (i > 0 && list.items.size() != lists[0].size())) {
      return Invalid("'for' of no list, or of lists of different lengths");
    }
    lists.push_back(std::move(list.items));
  }
  std::vector<Item> results;
  std::vector<std::pair<std::string, std::optional<Item>>> hidden;
  for (const std::string& name : expr.names) {
    const auto it = scope->names.find(name);
    hidden.emplace_back(name, it == scope->names.end() ? std::nullopt : std::optional(it->second));
  }
  for (size_t round = 0; round < lists[0].size(); ++round) {
    for (size_t i = 0; i < lists.size(); ++i) scope->names[expr.names[i]] = lists[i][round];
    if (expr.has_condition) {
      X2IR_ASSIGN_OR_RETURN(const Item test, Evaluate(*expr.args[lists.size()], scope));
      if (test.kind != Item::kBool) return Invalid("'if' of no flag");
      if (!test.integer) continue;
    }
    X2IR_ASSIGN_OR_RETURN(Item item, Evaluate(*expr.args.back(), scope));
    results.push_back(std::move(item));
  }
  for (auto& [name, item] : hidden) {
    if (item) {
      scope->names[name] = *std::move(item);
    } else {
      scope->names.erase(name);
    }
  }
  return Item::List(std::move(results));
}
ItemOr GraphMaker::Indexed(const SyntaxExpr& expr, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(Item list, Evaluate(*expr.args[0], scope));
  X2IR_ASSIGN_OR_RETURN(const Item index, Evaluate(*expr.args[1], scope));
  if (index.kind != Item::kInt) return Invalid("a subscript that is no integer");
  if (list.kind == Item::kTensor) {
    return Item::Of(
        AddNode("x2ir.element", {{"input", list.value}}, {{"index", index.integer}}, 1)[0]);
  }
  if (list.kind != Item::kList || index.integer < 0 ||
      static_cast<size_t>(index.integer) >= list.items.size()) {
    return Invalid("the subscript ", index.integer, " of a list of ", list.items.size());
  }
  return std::move(list.items[static_cast<size_t>(index.integer)]);
}
ItemOr GraphMaker::Ranged(const SyntaxExpr& expr, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const Item list, Evaluate(*expr.args[0], scope));
  if (list.kind != Item::kList) return Invalid("a range of no list");
  const auto size = static_cast<int64_t>(list.items.size());
  int64_t ends[2] = {0, size};
  for (size_t i = 0; i < 2; ++i) {
    if (!expr.args[i + 1]) continue;
    X2IR_ASSIGN_OR_RETURN(const Item end, Evaluate(*expr.args[i + 1], scope));
    if (end.kind != Item::kInt) return Invalid("a range whose end is no integer");
    ends[i] = std::clamp<int64_t>(end.integer, 0, size);
  }
  if (ends[0] > ends[1]) return Item::List({});
  return Item::List({list.items.begin() + ends[0], list.items.begin() + ends[1]});
}

}  // namespace nnef
}  // namespace x2ir
