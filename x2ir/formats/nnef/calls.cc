// Calls: fragments of the file are written out, operators become nodes.
#include <algorithm>
#include <utility>

#include "x2ir/formats/nnef/graph_maker_internal.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

// The operators that pool, in which a border matters.
const StringSet& Pools() {
  static const auto& pools = *new StringSet{"box",         "max_pool", "max_pool_with_index",
                                            "argmax_pool", "avg_pool", "rms_pool"};
  return pools;
}

constexpr size_t kMaxResults = size_t{1} << 16;

// How many tensors an operator gives whose result is a list of them.
absl::StatusOr<size_t> ListLength(std::string_view op, const AttributeMap& attrs, size_t wanted) {
  size_t count = wanted;
  if (op == "split") count = attrs.Ints("ratios", {}).size();
  if (op == "copy_n") count = static_cast<size_t>(std::max<int64_t>(attrs.Int("times", 0), 0));
  if (count == 0) {
    return Unimplemented("'", op, "' whose results are not named one by one: [a, b] = ", op, "()");
  }
  if (count > kMaxResults) return Invalid("'", op, "' of more than ", kMaxResults, " results");
  return count;
}

}  // namespace

absl::StatusOr<Arguments> MatchArguments(const SyntaxExpr& call,
                                         const std::vector<Parameter>& params) {
  Arguments arguments;
  for (size_t i = 0; i < call.args.size(); ++i) {
    std::string name = call.names[i];
    if (name.empty()) {
      if (i >= params.size())
        return Invalid("'", call.text, "' has ", params.size(), " parameters");
      name = params[i].name;
    } else if (std::none_of(params.begin(), params.end(),
                            [&](const Parameter& p) { return p.name == name; })) {
      return Invalid("'", call.text, "' has no parameter '", name, "'");
    }
    if (!arguments.emplace(name, call.args[i].get()).second) {
      return Invalid("'", call.text, "': '", name, "' is given twice");
    }
  }
  return arguments;
}

ItemOr GraphMaker::Call(const SyntaxExpr& call, Scope* scope) {
  const std::string& name = call.text;
  const auto own = fragments_.find(name);
  if (own != fragments_.end() && own->second->has_body)
    return CallFragment(call, *own->second, scope);
  if (name == "external" || name == "tract_core_external") return External(call, scope);
  if (name == "variable") return Variable(call, scope);
  if (name == "constant") return Constant(call, scope);
  if (name == "update") return Update(call, scope);
  if (name == "tract_core_scan") return Scan(call, scope);
  if (name == "tract_core_submodel") return CallSubmodel(call, scope);
  if (name == "length_of" || name == "range_of" || name == "shape_of" || name == "scalar" ||
      name == "integer" || name == "logical" || name == "string") {
    return Builtin(call, scope);
  }
  if (const Fragment* op = FindOperator(name)) {
    if (name.find('.') == name.npos) return CallOperator(call, *op, scope);
  }
  if (own != fragments_.end()) return CallOperator(call, *own->second, scope);
  if (const std::string_view why = RefusalOf(name); !why.empty()) {
    return Unimplemented("operator '", name, "': ", why);
  }
  return Unimplemented("operator '", name, "', which the file does not define either");
}
ItemOr GraphMaker::Builtin(const SyntaxExpr& call, Scope* scope) {
  if (call.args.size() != 1) return Invalid("'", call.text, "' takes one argument");
  X2IR_ASSIGN_OR_RETURN(const Item x, Evaluate(*call.args[0], scope));
  if (call.text == "shape_of") {
    X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(x));
    return Item::Of(AddNode("tract_core_shape_of", {{"input", value}}, {}, 1)[0]);
  }
  if (call.text != "length_of" && call.text != "range_of") return Converted(call.text, x);
  if (x.kind != Item::kList) return Unimplemented("'", call.text, "' of what is no list");
  const auto size = static_cast<int64_t>(x.items.size());
  if (call.text == "length_of") return Item::Int(size);
  std::vector<Item> range;
  for (int64_t i = 0; i < size; ++i) range.push_back(Item::Int(i));
  return Item::List(std::move(range));
}
ItemOr GraphMaker::CallFragment(const SyntaxExpr& call, const Fragment& fragment, Scope* scope) {
  if (scope->depth >= kMaxCalls) return Invalid("fragments call each other too deep");
  wanted_list_ = 0;
  X2IR_ASSIGN_OR_RETURN(const Arguments arguments, MatchArguments(call, fragment.params));
  Scope inner;
  inner.depth = scope->depth + 1;
  inner.prefix = StrCat(fragment.name, ".");
  for (const Parameter& param : fragment.params) {
    const auto given = arguments.find(param.name);
    Item item;
    if (given != arguments.end()) {
      X2IR_ASSIGN_OR_RETURN(item, Evaluate(*given->second, scope));
    } else if (param.has_default()) {
      X2IR_ASSIGN_OR_RETURN(item, Evaluate(*param.default_value, &inner));
    } else {
      return Invalid("'", call.text, "': '", param.name, "' is missing");
    }
    inner.names[param.name] = std::move(item);
  }
  X2IR_RETURN_IF_ERROR(Run(fragment, &inner));
  return ResultsOf(fragment.results, inner);
}

ItemOr GraphMaker::ResultsOf(const std::vector<Parameter>& results, const Scope& scope) {
  std::vector<Item> items;
  for (const Parameter& result : results) {
    const auto found = scope.names.find(result.name);
    if (found == scope.names.end()) return Invalid("'", result.name, "' is not defined");
    items.push_back(found->second);
  }
  return ResultsItem(std::move(items));
}

// An item as what a parameter of an operator takes.
absl::Status GraphMaker::Give(const Parameter& param, const Item& item,
                              std::vector<Operand>* operands, AttributeMap* attrs) {
  if (param.is_tensor && param.is_array) {
    if (item.kind != Item::kList) return Invalid("'", param.name, "' expects a list of tensors");
    for (const Item& part : item.items) {
      X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(part));
      operands->emplace_back(param.name, value);
    }
  } else if (param.is_tensor || item.kind == Item::kTensor || item.kind == Item::kSize) {
    X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(item));
    operands->emplace_back(param.name, value);
  } else if (item.is_computed()) {
    for (const Item& part : item.items) {
      X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(part));
      operands->emplace_back(param.name, value);
    }
  } else {
    X2IR_ASSIGN_OR_RETURN(Attribute attr, AttributeOf(item));
    attrs->Set(param.name, std::move(attr));
  }
  return absl::OkStatus();
}
ItemOr GraphMaker::CallOperator(const SyntaxExpr& call, const Fragment& op, Scope* scope) {
  const size_t wanted_list = std::exchange(wanted_list_, 0);
  X2IR_ASSIGN_OR_RETURN(const Arguments arguments, MatchArguments(call, op.params));
  std::vector<Operand> operands;
  AttributeMap attrs;
  for (const Parameter& param : op.params) {
    const auto given = arguments.find(param.name);
    if (given == arguments.end()) {
      if (!param.has_default()) return Invalid("'", call.text, "': '", param.name, "' is missing");
      if (param.is_tensor) continue;
      Scope none;
      X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*param.default_value, &none));
      X2IR_RETURN_IF_ERROR(Give(param, item, &operands, &attrs));
      continue;
    }
    X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*given->second, scope));
    X2IR_RETURN_IF_ERROR(Give(param, item, &operands, &attrs));
  }
  if (call.text == "cast") attrs.Set("type", call.type);
  // tract never counts the border of a pool, whatever the file says.
  if (reads_as_tract_ && Pools().contains(call.text) && attrs.String("border", "") == "constant") {
    attrs.Set("border", "ignore");
  }
  if (op.results.size() == 1 && op.results[0].is_array) {
    X2IR_ASSIGN_OR_RETURN(const size_t count, ListLength(call.text, attrs, wanted_list));
    steps_ += static_cast<int64_t>(count);
    std::vector<Item> items;
    for (Value* value : AddNode(call.text, operands, std::move(attrs), count)) {
      items.push_back(Item::Of(value));
    }
    return Item::List(std::move(items));
  }
  std::vector<Item> results;
  for (Value* value : AddNode(call.text, operands, std::move(attrs), op.results.size())) {
    results.push_back(Item::Of(value));
  }
  return ResultsItem(std::move(results));
}

ItemOr GraphMaker::ArgumentOf(const SyntaxExpr& call, std::string_view name, Scope* scope) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.names[i] == name) return Evaluate(*call.args[i], scope);
  }
  return NotFound("'", call.text, "': '", name, "' is missing");
}

}  // namespace nnef
}  // namespace x2ir
