#include "x2ir/formats/nnef/graph_maker.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/nnef/items.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir {
namespace nnef {
namespace {

constexpr int64_t kMaxSteps = 1'000'000;
constexpr int kMaxCalls = 100;

// The operators that pool, in which a border matters.
const StringSet& Pools() {
  static const auto& pools = *new StringSet{"box",         "max_pool", "max_pool_with_index",
                                            "argmax_pool", "avg_pool", "rms_pool"};
  return pools;
}

DType TypeNamed(std::string_view name) {
  struct Row {
    std::string_view name;
    DType dtype;
  };
  static constexpr Row kRows[] = {
      {"scalar", DType::kFloat32}, {"integer", DType::kInt64}, {"logical", DType::kBool},
      {"f16", DType::kFloat16},    {"f32", DType::kFloat32},   {"f64", DType::kFloat64},
      {"i8", DType::kInt8},        {"i16", DType::kInt16},     {"i32", DType::kInt32},
      {"i64", DType::kInt64},      {"u8", DType::kUInt8},      {"u16", DType::kUInt16},
      {"u32", DType::kUInt32},     {"u64", DType::kUInt64},    {"bool", DType::kBool},
      {"tdim", DType::kInt64}};
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return DType::kUndefined;
}

class GraphMaker {
 public:
  GraphMaker(const std::string& text, const Document& document, const ModelParts& parts,
             Model* model)
      : text_(text), document_(document), parts_(parts), model_(model), graph_(model->graph.get()) {
    for (const Fragment& fragment : document.fragments) {
      fragments_[fragment.name] = &fragment;
    }
    for (const std::string& extension : document.extensions) {
      constexpr std::string_view kSymbol = "tract_symbol ";
      if (extension.starts_with(kSymbol)) symbols_[extension.substr(kSymbol.size())] = {};
      if (extension == "tract_pulse_streaming_symbol") symbols_["S"] = {};
      if (extension.starts_with("tract_registry ")) reads_as_tract_ = true;
    }
  }

  absl::Status Make() {
    Scope scope;
    X2IR_RETURN_IF_ERROR(Run(document_.graph, &scope));
    // Inputs in the order that the graph declares; those of fragments follow.
    std::map<const Value*, size_t> order;
    for (const Parameter& param : document_.graph.params) {
      const auto found = scope.names.find(param.name);
      if (found == scope.names.end()) return Invalid("input '", param.name, "' is not defined");
      if (found->second.kind != Item::kTensor || !found->second.value->is_input()) {
        return Invalid("input '", param.name, "' is not external");
      }
      order.emplace(found->second.value, order.size());
    }
    std::vector<Value*> inputs = graph_->inputs();
    std::stable_sort(inputs.begin(), inputs.end(), [&](const Value* x, const Value* y) {
      const auto place = [&](const Value* v) {
        const auto it = order.find(v);
        return it == order.end() ? order.size() : it->second;
      };
      return place(x) < place(y);
    });
    for (size_t i = 0; i < inputs.size(); ++i) graph_->ReplaceInputAt(i, inputs[i]);
    for (const Parameter& result : document_.graph.results) {
      const auto found = scope.names.find(result.name);
      if (found == scope.names.end()) return Invalid("output '", result.name, "' is not defined");
      X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(found->second));
      if (value->name() != result.name) {
        const Value* other = graph_->Find(result.name);
        const bool renames = value->producer() && !value->is_graph_output() && !other;
        if (!renames) value = AddNode("copy", {{"x", value}}, {}, 1)[0];
        if (!graph_->Find(result.name)) graph_->Rename(value, result.name);
      } else if (value->is_graph_output() || !value->producer()) {
        // An external tensor of a fragment gives its name to the result.
        if (value->is_input() && !order.contains(value)) {
          graph_->Rename(value, graph_->UniqueName(result.name + "_external"));
        }
        value = AddNode("copy", {{"x", value}}, {}, 1)[0];
        if (!graph_->Find(result.name)) graph_->Rename(value, result.name);
      }
      graph_->AddOutput(value);
    }
    if (graph_->outputs().empty()) return Invalid("the graph has no output");
    return absl::OkStatus();
  }

 private:
  struct Scope {
    absl::flat_hash_map<std::string, Item> names;
    std::string prefix{};  // of the names of values
    int depth = 0;
  };
  using ItemOr = absl::StatusOr<Item>;
  using Operand = std::pair<std::string, Value*>;
  using Arguments = absl::flat_hash_map<std::string, const SyntaxExpr*>;

  absl::Status At(const SyntaxExpr& expr, const absl::Status& status) const {
    if (status.ok() || located_) return status;
    located_ = true;
    return Annotate(status, PlaceInText(text_, expr.place));
  }
  absl::Status Step() {
    if (++steps_ > kMaxSteps) return Invalid("more than ", kMaxSteps, " steps to make the graph");
    return absl::OkStatus();
  }

  // --- Nodes -------------------------------------------------------------------------------------

  std::vector<Value*> AddNode(std::string_view op, const std::vector<Operand>& operands,
                              AttributeMap attrs, size_t results) {
    std::vector<Value*> values;
    Attribute::Strings names;
    for (const Operand& operand : operands) {
      names.push_back(operand.first);
      values.push_back(operand.second);
    }
    Node* node = graph_->AppendNode(kDialect, op, values);
    node->SetAttr(kOperands, std::move(names));
    for (auto& [name, attr] : attrs) node->SetAttr(name, std::move(attr));
    std::vector<Value*> made;
    for (size_t i = 0; i < results; ++i) {
      made.push_back(graph_->AddNodeOutput(node, graph_->UniqueName(StrCat("_", op))));
    }
    return made;
  }
  // What an operator takes as a tensor: numbers become constants.
  absl::StatusOr<Value*> TensorValue(const Item& item) {
    if (item.kind == Item::kTensor) return item.value;
    if (item.kind == Item::kSize) return SizeValue(item.size);
    if (item.kind == Item::kList && item.is_computed()) {
      std::vector<Operand> parts;
      for (const Item& part : item.items) {
        X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(part));
        parts.emplace_back("values", value);
      }
      return AddNode("stack", parts, {{"axis", 0}}, 1)[0];
    }
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, TensorOfItem(item));
    return graph_->AddConstant(graph_->UniqueName("literal"), std::move(tensor));
  }
  // The size of an input's axis that has this symbol.
  absl::StatusOr<Value*> SizeValue(const Dim& size) {
    for (const auto& [name, place] : symbols_) {
      if (!place.first || size != Dim::Symbol(name)) continue;
      Value* shape = AddNode("tract_core_shape_of", {{"input", place.first}}, {}, 1)[0];
      return AddNode("x2ir.element", {{"input", shape}}, {{"index", place.second}}, 1)[0];
    }
    return Unimplemented("the size ", size.ToString(), " as a tensor");
  }

  // --- Names -------------------------------------------------------------------------------------

  absl::Status Define(Scope* scope, const std::string& name, Item item) {
    if (scope->names.contains(name)) return Invalid("'", name, "' is defined twice");
    if (item.kind == Item::kTensor) {
      X2IR_RETURN_IF_ERROR(NameValue(scope->prefix + name, item.value));
      if (scope->prefix.empty()) {
        X2IR_ASSIGN_OR_RETURN(item.value, QuantizedAs(name, item.value));
      }
    } else if (item.kind == Item::kList) {
      for (size_t i = 0; i < item.items.size(); ++i) {
        if (item.items[i].kind != Item::kTensor) continue;
        X2IR_RETURN_IF_ERROR(NameValue(StrCat(scope->prefix, name, "_", i), item.items[i].value));
      }
    }
    scope->names[name] = std::move(item);
    return absl::OkStatus();
  }
  // A value gets the first name that it is defined with in a text; in_fragment names stay only
  // where no outer one follows.
  absl::Status NameValue(const std::string& name, Value* value) {
    const bool outer = name.find('.') == name.npos;
    if (value->graph() != graph_ || named_.contains(value) || value->name() == name) {
      return absl::OkStatus();
    }
    if (outer) named_.insert(value);
    graph_->Rename(value, graph_->UniqueName(name));
    return absl::OkStatus();
  }
  absl::StatusOr<Value*> QuantizedAs(const std::string& name, Value* value) {
    const auto it = parts_.quantizations.find(name);
    if (it == parts_.quantizations.end()) return value;
    Scope empty;
    const SyntaxExpr& call = *it->second;
    const Fragment* op = FindOperator(call.text);
    if (!op) return Unimplemented("the quantization '", call.text, "'");
    std::vector<Operand> operands = {{op->params[0].name, value}};
    AttributeMap attrs;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const auto& arg_name = call.names[i];
      const auto param = std::find_if(op->params.begin(), op->params.end(),
                                      [&](const Parameter& p) { return p.name == arg_name; });
      if (param == op->params.end()) {
        return Invalid("quantization '", call.text, "' has no parameter '", arg_name, "'");
      }
      X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*call.args[i], &empty));
      X2IR_RETURN_IF_ERROR(Give(*param, item, &operands, &attrs));
    }
    std::string_view name_of_op = call.text;
    if (quantized_.contains(value)) {
      attrs.Set("quantize", call.text);
      name_of_op = "x2ir.dequantize";
    }
    Value* result = AddNode(name_of_op, operands, std::move(attrs), 1)[0];
    // The name is that of the numbers that others see.
    if (value->producer()) {
      graph_->Rename(value, graph_->UniqueName(StrCat(name, "_exact")));
      graph_->Rename(result, graph_->UniqueName(name));
      named_.insert(result);
    }
    return result;
  }

  // --- Bodies ------------------------------------------------------------------------------------

  absl::Status Run(const Fragment& fragment, Scope* scope) {
    for (const Assignment& line : fragment.body) {
      X2IR_RETURN_IF_ERROR(At(*line.value, Assign(line, scope)));
    }
    return absl::OkStatus();
  }
  absl::Status Assign(const Assignment& line, Scope* scope) {
    wanted_ = line.is_array ? 0 : line.results.size();
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

  // --- Expressions -------------------------------------------------------------------------------

  ItemOr Evaluate(const SyntaxExpr& expr, Scope* scope) {
    X2IR_RETURN_IF_ERROR(Step());
    ItemOr item = EvaluateKind(expr, scope);
    if (!item.ok()) return At(expr, item.status());
    return item;
  }
  ItemOr EvaluateKind(const SyntaxExpr& expr, Scope* scope) {
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
  ItemOr Named(const std::string& name, const Scope& scope) {
    const auto found = scope.names.find(name);
    if (found != scope.names.end()) return found->second;
    if (name == "true" || name == "false") return Item::Bool(name == "true");
    if (name == "inf") return Item::Real(std::numeric_limits<double>::infinity());
    if (name == "nan") return Item::Real(std::numeric_limits<double>::quiet_NaN());
    if (symbols_.contains(name)) return Item::Of(Dim::Symbol(name));
    return Invalid("'", name, "' is not defined");
  }
  ItemOr Loop(const SyntaxExpr& expr, Scope* scope) {
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
      hidden.emplace_back(name,
                          it == scope->names.end() ? std::nullopt : std::optional(it->second));
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
  ItemOr Indexed(const SyntaxExpr& expr, Scope* scope) {
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
  ItemOr Ranged(const SyntaxExpr& expr, Scope* scope) {
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

  // --- Calls -------------------------------------------------------------------------------------

  // The expressions that a call gives to parameters.
  absl::StatusOr<Arguments> Match(const SyntaxExpr& call, const std::vector<Parameter>& params) {
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
  ItemOr Call(const SyntaxExpr& call, Scope* scope) {
    const std::string& name = call.text;
    const auto own = fragments_.find(name);
    if (own != fragments_.end() && own->second->has_body)
      return CallFragment(call, *own->second, scope);
    if (name == "external" || name == "tract_core_external") return External(call, scope);
    if (name == "variable") return Variable(call, scope);
    if (name == "constant") return Constant(call, scope);
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
    return Unimplemented("operator '", name, "', which the file does not define either");
  }
  ItemOr Builtin(const SyntaxExpr& call, Scope* scope) {
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
  ItemOr CallFragment(const SyntaxExpr& call, const Fragment& fragment, Scope* scope) {
    if (scope->depth >= kMaxCalls) return Invalid("fragments call each other too deep");
    const size_t wanted_list = std::exchange(wanted_list_, 0);
    X2IR_ASSIGN_OR_RETURN(const Arguments arguments, Match(call, fragment.params));
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
    (void)wanted_list;
    X2IR_RETURN_IF_ERROR(Run(fragment, &inner));
    std::vector<Item> results;
    for (const Parameter& result : fragment.results) {
      const auto found = inner.names.find(result.name);
      if (found == inner.names.end()) return Invalid("'", result.name, "' is not defined");
      results.push_back(found->second);
    }
    return results.size() == 1 ? std::move(results[0]) : Item::List(std::move(results));
  }
  // An item as what a parameter of an operator takes.
  absl::Status Give(const Parameter& param, const Item& item, std::vector<Operand>* operands,
                    AttributeMap* attrs) {
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
  ItemOr CallOperator(const SyntaxExpr& call, const Fragment& op, Scope* scope) {
    const size_t wanted_list = std::exchange(wanted_list_, 0);
    X2IR_ASSIGN_OR_RETURN(const Arguments arguments, Match(call, op.params));
    std::vector<Operand> operands;
    AttributeMap attrs;
    for (const Parameter& param : op.params) {
      const auto given = arguments.find(param.name);
      if (given == arguments.end()) {
        if (!param.has_default())
          return Invalid("'", call.text, "': '", param.name, "' is missing");
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
    if (reads_as_tract_ && Pools().contains(call.text) &&
        attrs.String("border", "") == "constant") {
      attrs.Set("border", "ignore");
    }
    if (op.results.size() == 1 && op.results[0].is_array) {
      X2IR_ASSIGN_OR_RETURN(const size_t count, ListLength(call.text, attrs, wanted_list));
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
    return results.size() == 1 ? std::move(results[0]) : Item::List(std::move(results));
  }
  // How many tensors an operator gives whose result is a list of them.
  absl::StatusOr<size_t> ListLength(std::string_view op, const AttributeMap& attrs, size_t wanted) {
    size_t count = wanted;
    if (op == "split") count = attrs.Ints("ratios", {}).size();
    if (op == "copy_n")
      count = static_cast<size_t>(std::clamp<int64_t>(attrs.Int("times", 0), 0, 1 << 20));
    if (count == 0) {
      return Unimplemented("'", op, "' whose results are not named one by one: [a, b] = ", op,
                           "()");
    }
    return count;
  }

  // --- Tensors of the file -----------------------------------------------------------------------

  absl::StatusOr<Item> ArgumentOf(const SyntaxExpr& call, std::string_view name, Scope* scope) {
    for (size_t i = 0; i < call.args.size(); ++i) {
      if (call.names[i] == name) return Evaluate(*call.args[i], scope);
    }
    return NotFound("'", call.text, "': '", name, "' is missing");
  }
  absl::StatusOr<std::string> LabelOf(const SyntaxExpr& call, Scope* scope) {
    X2IR_ASSIGN_OR_RETURN(const Item label, ArgumentOf(call, "label", scope));
    if (label.kind != Item::kText) return Invalid("a label that is no text");
    return label.text;
  }
  // The label of an external tensor is not read: it has no file.
  ItemOr External(const SyntaxExpr& call, Scope* scope) {
    std::string type = call.type.empty() ? "scalar" : call.type;
    std::vector<Dim> dims;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const std::string& name = call.names[i];
      if (name == "label") continue;
      X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*call.args[i], scope));
      if (name == "datum_type" && item.kind == Item::kText) {
        type = item.text;
        continue;
      }
      if ((name != "shape" && !name.empty()) || item.kind != Item::kList) {
        return Invalid("'", call.text, "' has no such parameter '", name, "'");
      }
      for (const Item& size : item.items) {
        if (size.kind == Item::kSize) {
          dims.push_back(size.size);
        } else if (size.kind == Item::kInt && size.integer >= 0) {
          dims.emplace_back(size.integer);
        } else {
          return Invalid("a shape of what are no sizes");
        }
      }
    }
    const DType dtype = TypeNamed(type);
    if (dtype == DType::kUndefined) return Unimplemented("external tensors of type '", type, "'");
    if (graph_ != model_->graph.get())
      return Unimplemented("external tensors in the body of a scan");
    Value* input =
        graph_->AddInput(graph_->UniqueName("external"), Type::Tensor(dtype, Shape(dims)));
    for (size_t i = 0; i < dims.size(); ++i) {
      for (auto& [name, place] : symbols_) {
        if (!place.first && dims[i] == Dim::Symbol(name)) place = {input, static_cast<int64_t>(i)};
      }
    }
    return Item::Of(input);
  }
  ItemOr Variable(const SyntaxExpr& call, Scope* scope) {
    X2IR_ASSIGN_OR_RETURN(const std::string label, LabelOf(call, scope));
    X2IR_ASSIGN_OR_RETURN(const Item shape, ArgumentOf(call, "shape", scope));
    const auto again = variables_.find(label);
    if (again != variables_.end()) return Item::Of(again->second);
    X2IR_ASSIGN_OR_RETURN(StoredTensor stored, parts_.tensor(label));
    std::vector<int64_t> dims;
    for (const Item& size : shape.items)
      dims.push_back(size.kind == Item::kInt ? size.integer : -1);
    if (dims != stored.tensor.dims()) {
      return Invalid("variable '", label, "' is of shape [", Shape::FromInts(dims).ToString(),
                     "], and its file has [", stored.tensor.shape().ToString(), "]");
    }
    // Constants are of the whole model, not of the body of a scan.
    Graph* whole = model_->graph.get();
    const std::string name = whole->UniqueName(label);
    Value* value = whole->AddConstant(name, std::move(stored.tensor));
    named_.insert(value);
    model_->weights.push_back({name, {label}, true});
    if (stored.is_quantized) quantized_.insert(value);
    variables_[label] = value;
    return Item::Of(value);
  }
  ItemOr Constant(const SyntaxExpr& call, Scope* scope) {
    X2IR_ASSIGN_OR_RETURN(const Item shape, ArgumentOf(call, "shape", scope));
    X2IR_ASSIGN_OR_RETURN(const Item value, ArgumentOf(call, "value", scope));
    std::vector<int64_t> dims;
    for (const Item& size : shape.items) {
      if (size.kind != Item::kInt || size.integer < 0)
        return Invalid("a shape of what are no sizes");
      dims.push_back(size.integer);
    }
    const auto count = CheckedProduct(dims);
    if (!count || *count > int64_t{1} << 24 || value.is_computed()) {
      return Invalid("a constant of that size, or of computed numbers");
    }
    const auto given = static_cast<int64_t>(value.items.size());
    if (value.kind != Item::kList || (given != *count && given != 1)) {
      return Invalid("a constant of ", *count, " elements with ", given, " values");
    }
    Item all = value;
    if (given == 1 && *count != 1) all.items.assign(static_cast<size_t>(*count), value.items[0]);
    if (call.type == "scalar" || call.type.empty()) {
      for (Item& item : all.items) {
        if (item.kind == Item::kInt) item = Item::Real(item.number());
      }
    }
    X2IR_ASSIGN_OR_RETURN(const Tensor tensor, TensorOfItem(all));
    return Item::Of(graph_->AddConstant(graph_->UniqueName("constant"), tensor.Reshaped(dims)));
  }

  // --- Models in models --------------------------------------------------------------------------

  ItemOr CallSubmodel(const SyntaxExpr& call, Scope* scope) {
    X2IR_ASSIGN_OR_RETURN(const std::string label, LabelOf(call, scope));
    if (call.args.empty() || !call.names[0].empty()) return Invalid("a model without its input");
    X2IR_ASSIGN_OR_RETURN(const Item input, Evaluate(*call.args[0], scope));
    X2IR_ASSIGN_OR_RETURN(const ModelParts::Submodel inside, parts_.submodel(label));
    const std::vector<Parameter>& params = inside.document.graph.params;
    if (params.size() != 1) return Unimplemented("a model inside of a model with several inputs");
    // Its inputs are given to it, so what says that they are external is left out.
    GraphMaker maker(text_, inside.document, inside.parts, model_);
    maker.graph_ = graph_;
    maker.located_ = false;
    Scope inner;
    inner.depth = scope->depth + 1;
    inner.prefix = StrCat(label, ".");
    inner.names[params[0].name] = input;
    for (const Assignment& line : inside.document.graph.body) {
      if (line.results.size() == 1 && line.results[0] == params[0].name) continue;
      X2IR_RETURN_IF_ERROR(Annotate(maker.Assign(line, &inner), StrCat("model '", label, "'")));
    }
    std::vector<Item> results;
    for (const Parameter& result : inside.document.graph.results) {
      const auto found = inner.names.find(result.name);
      if (found == inner.names.end()) return Invalid("'", result.name, "' is not defined");
      results.push_back(found->second);
    }
    return results.size() == 1 ? std::move(results[0]) : Item::List(std::move(results));
  }

  // --- Loops -------------------------------------------------------------------------------------

  ItemOr Scan(const SyntaxExpr& call, Scope* scope) {
    X2IR_ASSIGN_OR_RETURN(const Item body_name, ArgumentOf(call, "body", scope));
    const auto found = fragments_.find(body_name.text);
    if (found == fragments_.end() || !found->second->has_body) {
      return Invalid("scan: there is no fragment '", body_name.text, "'");
    }
    if (scope->depth >= kMaxCalls) return Invalid("fragments call each other too deep");
    const auto list = [&](std::string_view name) -> ItemOr {
      ItemOr item = ArgumentOf(call, name, scope);
      if (absl::IsNotFound(item.status())) return Item::List({});
      return item;
    };
    X2IR_ASSIGN_OR_RETURN(const Item scans, list("scan"));
    X2IR_ASSIGN_OR_RETURN(const Item full, list("full"));
    X2IR_ASSIGN_OR_RETURN(const Item states, list("state"));
    X2IR_ASSIGN_OR_RETURN(const Item outputs, list("output"));
    for (size_t i = 0; i < call.args.size(); ++i) {
      if (call.names[i] != "skip" && call.names[i] != "seq_length") continue;
      X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*call.args[i], scope));
      if (item.kind != Item::kInt || item.integer > 0) {
        return Unimplemented("a scan with '", call.names[i], "'");
      }
    }
    return MakeScan(*found->second, scans, full, states, outputs, scope);
  }
  static absl::Status CheckEntries(const Item& list, size_t least, std::string_view what) {
    for (const Item& entry : list.items) {
      if (entry.kind != Item::kList || entry.items.size() < least ||
          entry.items[0].kind != Item::kText) {
        return Invalid("scan: an entry of '", what, "' that is none");
      }
    }
    return absl::OkStatus();
  }
  // The step along an axis: one element, forward or backward.
  static absl::Status CheckStep(const Item& axis, const Item& step) {
    if (axis.kind != Item::kInt || axis.integer < 0) return Invalid("scan: an axis that is none");
    if (step.kind != Item::kInt || (step.integer != 1 && step.integer != -1)) {
      return Unimplemented("a scan whose step is more than one element");
    }
    return absl::OkStatus();
  }
  // As `scan` of the IR: states and then what is scanned. There, a round sees elements without the
  // axis; here, with an axis of one.
  ItemOr MakeScan(const Fragment& fragment, const Item& scans, const Item& full, const Item& states,
                  const Item& outputs, Scope* scope) {
    X2IR_RETURN_IF_ERROR(CheckEntries(scans, 4, "scan"));
    X2IR_RETURN_IF_ERROR(CheckEntries(full, 2, "full"));
    X2IR_RETURN_IF_ERROR(CheckEntries(states, 3, "state"));
    X2IR_RETURN_IF_ERROR(CheckEntries(outputs, 2, "output"));
    std::vector<Operand> operands;
    auto body = std::make_shared<Graph>("body");
    Scope inner;
    inner.depth = scope->depth + 1;
    inner.prefix = StrCat(fragment.name, ".");
    for (const Item& state : states.items) {
      X2IR_ASSIGN_OR_RETURN(Value * first, TensorValue(state.items[1]));
      operands.emplace_back("state", first);
      inner.names[state.items[0].text] =
          Item::Of(body->AddInput(body->UniqueName("state"), Type()));
    }
    Attribute::Ints axes, directions, out_axes, out_directions;
    std::vector<Value*> elements;
    for (const Item& entry : scans.items) {
      X2IR_RETURN_IF_ERROR(CheckStep(entry.items[2], entry.items[3]));
      X2IR_ASSIGN_OR_RETURN(Value * whole, TensorValue(entry.items[1]));
      operands.emplace_back("scan", whole);
      axes.push_back(entry.items[2].integer);
      directions.push_back(entry.items[3].integer < 0);
      elements.push_back(body->AddInput(body->UniqueName("element"), Type()));
    }
    if (axes.empty()) return Unimplemented("a scan over nothing");
    for (const Item& entry : full.items) {
      X2IR_ASSIGN_OR_RETURN(Value * whole, TensorValue(entry.items[1]));
      inner.names[entry.items[0].text] = Item::Of(whole);
    }
    Graph* outer = std::exchange(graph_, body.get());
    const absl::Status made = [&]() -> absl::Status {
      for (size_t i = 0; i < elements.size(); ++i) {
        inner.names[scans.items[i].items[0].text] = Item::Of(AddNode(
            "unsqueeze", {{"input", elements[i]}}, {{"axes", Attribute::Ints{axes[i]}}}, 1)[0]);
      }
      X2IR_RETURN_IF_ERROR(Run(fragment, &inner));
      const auto result = [&](const Item& name) -> absl::StatusOr<Value*> {
        const auto it = inner.names.find(name.text);
        if (it == inner.names.end()) return Invalid("scan: '", name.text, "' is not defined");
        X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(it->second));
        return AddNode("copy", {{"x", value}}, {}, 1)[0];
      };
      for (const Item& state : states.items) {
        X2IR_ASSIGN_OR_RETURN(Value * value, result(state.items[2]));
        body->AddOutput(value);
      }
      for (const Item& output : outputs.items) {
        if (output.items[1].text != "full") continue;
        if (output.items.size() < 3) return Invalid("scan: an output without an axis");
        const Item step = output.items.size() > 3 ? output.items[3] : Item::Int(1);
        X2IR_RETURN_IF_ERROR(CheckStep(output.items[2], step));
        out_axes.push_back(output.items[2].integer);
        out_directions.push_back(step.integer < 0);
        X2IR_ASSIGN_OR_RETURN(Value * value, result(output.items[0]));
        body->AddOutput(AddNode("squeeze", {{"input", value}},
                                {{"axes", Attribute::Ints{out_axes.back()}}}, 1)[0]);
      }
      return absl::OkStatus();
    }();
    graph_ = outer;
    X2IR_RETURN_IF_ERROR(made);
    AttributeMap attrs = {{"num_scan_inputs", static_cast<int64_t>(axes.size())},
                          {"scan_input_axes", axes},
                          {"scan_input_directions", directions},
                          {"scan_output_axes", out_axes},
                          {"scan_output_directions", out_directions}};
    const size_t num_states = states.items.size();
    const std::vector<Value*> values =
        AddNode("tract_core_scan", operands, std::move(attrs), num_states + out_axes.size());
    values[0]->producer()->SetAttr("body", body);
    std::vector<Item> results;
    size_t stacked = num_states;
    for (const Item& output : outputs.items) {
      if (output.items[1].text == "full") {
        results.push_back(Item::Of(values[stacked++]));
        continue;
      }
      size_t i = 0;
      while (i < num_states && states.items[i].items[2].text != output.items[0].text) ++i;
      if (i == num_states || output.items[1].text != "last") {
        return Unimplemented("the last value of '", output.items[0].text, "', which is no state");
      }
      results.push_back(Item::Of(values[i]));
    }
    return results.size() == 1 ? std::move(results[0]) : Item::List(std::move(results));
  }

  const std::string& text_;
  const Document& document_;
  const ModelParts& parts_;
  Model* model_;
  Graph* graph_;
  absl::flat_hash_map<std::string, const Fragment*> fragments_;
  // Where the size of a symbol is first found.
  std::map<std::string, std::pair<Value*, int64_t>> symbols_;
  absl::flat_hash_map<std::string, Value*> variables_;
  absl::flat_hash_set<const Value*> named_, quantized_;
  bool reads_as_tract_ = false;
  int64_t steps_ = 0;
  size_t wanted_ = 0, wanted_list_ = 0;
  mutable bool located_ = false;
};

}  // namespace

absl::Status MakeNnefGraph(const std::string& text, const Document& document,
                           const ModelParts& parts, Model* model) {
  return GraphMaker(text, document, parts, model).Make();
}

}  // namespace nnef
}  // namespace x2ir
