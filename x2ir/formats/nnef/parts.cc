// What the files of a model hold: external tensors, variables, constants, models in the model.
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "x2ir/formats/nnef/graph_maker_internal.h"
#include "x2ir/formats/nnef/item_types.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
absl::StatusOr<std::string> GraphMaker::LabelOf(const SyntaxExpr& call, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const Item label, ArgumentOf(call, "label", scope));
  if (label.kind != Item::kText) return Invalid("a label that is no text");
  return label.text;
}
// The label of an external tensor is not read: it has no file.
ItemOr GraphMaker::External(const SyntaxExpr& call, Scope* scope) {
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
        return Invalid("a shape whose entries are not sizes");
      }
    }
  }
  const DType dtype = ItemTypeNamed(type);
  if (dtype == DType::kUndefined) return Unimplemented("external tensors of type '", type, "'");
  if (graph_ != model_->graph.get()) return Unimplemented("external tensors in the body of a scan");
  Value* input = graph_->AddInput(graph_->UniqueName("external"), Type::Tensor(dtype, Shape(dims)));
  for (size_t i = 0; i < dims.size(); ++i) {
    for (auto& [name, place] : symbols_) {
      if (!place.first && dims[i] == Dim::Symbol(name)) place = {input, static_cast<int64_t>(i)};
    }
  }
  return Item::Of(input);
}
ItemOr GraphMaker::Variable(const SyntaxExpr& call, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const std::string label, LabelOf(call, scope));
  X2IR_ASSIGN_OR_RETURN(const Item shape, ArgumentOf(call, "shape", scope));
  const auto again = variables_.find(label);
  if (again != variables_.end()) return Item::Of(again->second);
  X2IR_ASSIGN_OR_RETURN(StoredTensor stored, parts_.tensor(label));
  std::vector<int64_t> dims;
  for (const Item& size : shape.items) dims.push_back(size.kind == Item::kInt ? size.integer : -1);
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
ItemOr GraphMaker::Constant(const SyntaxExpr& call, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const Item shape, ArgumentOf(call, "shape", scope));
  X2IR_ASSIGN_OR_RETURN(const Item value, ArgumentOf(call, "value", scope));
  std::vector<int64_t> dims;
  for (const Item& size : shape.items) {
    if (size.kind != Item::kInt || size.integer < 0)
      return Invalid("a shape whose entries are not sizes");
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

// Its result is what the variable is after the run; others see what it was before.
ItemOr GraphMaker::Update(const SyntaxExpr& call, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const Arguments arguments,
                        MatchArguments(call, FindOperator("update")->params));
  if (arguments.size() != 2) return Invalid("'update' takes a variable and a value");
  X2IR_ASSIGN_OR_RETURN(const Item variable, Evaluate(*arguments.at("variable"), scope));
  X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*arguments.at("value"), scope));
  X2IR_ASSIGN_OR_RETURN(Value * next, TensorValue(item));
  if (graph_ != model_->graph.get()) return Unimplemented("an update in the body of a scan");
  const auto is = [&](const auto& entry) { return entry.second == variable.value; };
  if (variable.kind != Item::kTensor || std::none_of(variables_.begin(), variables_.end(), is)) {
    return Invalid("an update of a tensor that is no variable");
  }
  if (quantized_.contains(variable.value)) return Unimplemented("an update of quantized numbers");
  for (const State& state : states_) {
    if (state.variable == variable.value) return Invalid("a second update of one variable");
  }
  states_.push_back({variable.value, next});
  return Item::Of(next);
}

// A run takes the states as inputs and gives what they are next.
void GraphMaker::MakeStates() {
  for (State& state : states_) {
    const std::string name = state.variable->name();
    Value* input = graph_->AddInput(graph_->UniqueName(name), state.variable->type());
    input->annotations().GetOrMake().extra[kState] = "1";
    graph_->ReplaceAllUses(state.variable, input);
    for (State& other : states_) {
      if (other.next == state.variable) other.next = input;
    }
    std::erase_if(model_->weights, [&](const Weight& weight) { return weight.value == name; });
    graph_->RemoveConstant(state.variable);
    graph_->Rename(input, name);
    state.variable = input;
  }
}

// --- Models in models --------------------------------------------------------------------------

ItemOr GraphMaker::CallSubmodel(const SyntaxExpr& call, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const std::string label, LabelOf(call, scope));
  if (call.args.empty() || !call.names[0].empty()) return Invalid("a model without its input");
  X2IR_ASSIGN_OR_RETURN(const Item input, Evaluate(*call.args[0], scope));
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelParts::Submodel> inside,
                        parts_.submodel(label));
  const Fragment& graph = inside->document.graph;
  const std::vector<Parameter>& params = graph.params;
  if (params.size() != 1) return Unimplemented("a model inside of a model with several inputs");
  // Its inputs are given to it, so what says that they are external is left out.
  GraphMaker maker(inside->text, inside->document, inside->parts, model_);
  maker.graph_ = graph_;
  std::tie(maker.steps_, maker.elements_, maker.nesting_) = std::tie(steps_, elements_, nesting_);
  Scope inner;
  inner.depth = scope->depth + 1;
  inner.prefix = StrCat(label, ".");
  inner.names[params[0].name] = input;
  for (const Assignment& line : graph.body) {
    if (line.results.size() == 1 && line.results[0] == params[0].name) continue;
    const absl::Status made = maker.At(*line.value, maker.Assign(line, &inner));
    // The place is one in its text.
    located_ = located_ || !made.ok();
    X2IR_RETURN_IF_ERROR(Annotate(made, StrCat("model '", label, "'")));
  }
  if (!maker.states_.empty()) return Unimplemented("a variable that a model in a model updates");
  std::tie(steps_, elements_) = std::tie(maker.steps_, maker.elements_);
  return ResultsOf(graph.results, inner);
}

}  // namespace nnef
}  // namespace x2ir
