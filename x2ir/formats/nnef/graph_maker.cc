#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/formats/nnef/graph_maker_internal.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir {
namespace nnef {
namespace {

constexpr int64_t kMaxSteps = 1'000'000, kMaxElements = int64_t{1} << 22;
constexpr int kMaxListDepth = 64;

// Elements of lists in lists, and long texts; nullopt where these are nested too deep.
std::optional<int64_t> CountElements(const Item& item, int depth) {
  if (item.kind == Item::kText) return static_cast<int64_t>(item.text.size() / 32);
  if (item.kind != Item::kList) return 0;
  if (depth == kMaxListDepth) return std::nullopt;
  int64_t count = 0;
  for (const Item& part : item.items) {
    const auto inside = CountElements(part, depth + 1);
    if (!inside) return std::nullopt;
    count += 1 + *inside;
  }
  return count;
}

}  // namespace

GraphMaker::GraphMaker(const std::string& text, const Document& document, const ModelParts& parts,
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

absl::Status GraphMaker::Make() {
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
  MakeStates();
  for (const State& state : states_) {
    Value* next = AddNode("copy", {{"x", state.next}}, {}, 1)[0];
    graph_->Rename(next, graph_->UniqueName(state.variable->name() + "_out"));
    graph_->AddOutput(next);
  }
  return absl::OkStatus();
}

absl::Status GraphMaker::At(const SyntaxExpr& expr, const absl::Status& status) const {
  if (status.ok() || located_) return status;
  located_ = true;
  return Annotate(status, PlaceInText(text_, expr.place));
}
absl::Status GraphMaker::Spend(const Item& item) {
  if (++steps_ > kMaxSteps) return Invalid("more than ", kMaxSteps, " steps to make the graph");
  const auto elements = CountElements(item, 0);
  if (!elements) return Invalid("lists nested more than ", kMaxListDepth, " deep");
  elements_ += *elements;
  if (elements_ > kMaxElements) {
    return Invalid("lists of more than ", kMaxElements, " elements in all");
  }
  return absl::OkStatus();
}

// --- Nodes -------------------------------------------------------------------------------------

std::vector<Value*> GraphMaker::AddNode(std::string_view op, const std::vector<Operand>& operands,
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
absl::StatusOr<Value*> GraphMaker::TensorValue(const Item& item) {
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
absl::StatusOr<Value*> GraphMaker::SizeValue(const Dim& size) {
  for (const auto& [name, place] : symbols_) {
    if (!place.first || size != Dim::Symbol(name)) continue;
    Value* shape = AddNode("tract_core_shape_of", {{"input", place.first}}, {}, 1)[0];
    return AddNode("x2ir.element", {{"input", shape}}, {{"index", place.second}}, 1)[0];
  }
  return Unimplemented("the size ", size.ToString(), " as a tensor");
}

// --- Names -------------------------------------------------------------------------------------

absl::Status GraphMaker::Define(Scope* scope, const std::string& name, Item item) {
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
absl::Status GraphMaker::NameValue(const std::string& name, Value* value) {
  const bool outer = name.find('.') == name.npos;
  if (value->graph() != graph_ || named_.contains(value) || value->name() == name) {
    return absl::OkStatus();
  }
  if (outer) named_.insert(value);
  graph_->Rename(value, graph_->UniqueName(name));
  return absl::OkStatus();
}
absl::StatusOr<Value*> GraphMaker::QuantizedAs(const std::string& name, Value* value) {
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

Item ResultsItem(std::vector<Item> results) {
  return results.size() == 1 ? std::move(results[0]) : Item::List(std::move(results));
}

absl::Status MakeNnefGraph(const std::string& text, const Document& document,
                           const ModelParts& parts, Model* model) {
  return GraphMaker(text, document, parts, model).Make();
}

}  // namespace nnef
}  // namespace x2ir
