#include "x2ir/core/unknown.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// Handlers and lowerings say in these words that they miss a rank, a size or a number.
bool SpeaksOfUnknown(std::string_view why) {
  constexpr std::string_view kWords[] = {"unknown",   "not known", "known rank",   "known size",
                                         "computed",  "depend on", "not constant", "known shape",
                                         "are known", "rounded up"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return why.find(word) != why.npos; });
}

enum class Missing { kNothing, kRank, kSizes };

Missing MissingOf(const Value& value) {
  const Type& type = value.type();
  if (value.fixed_constant() || (type.is_known() && !type.is_tensor())) return Missing::kNothing;
  if (!value.shape()) return Missing::kRank;
  return value.shape()->Static() ? Missing::kNothing : Missing::kSizes;
}

// Integers and bools say sizes, axes, positions and conditions.
bool SaysSizes(const Value& value) {
  return value.dtype() != DType::kUndefined && !IsFloating(value.dtype()) &&
         !value.fixed_constant() && (!value.shape() || value.shape()->rank() <= 1);
}

// Inputs of the outermost graph that a value is computed from, in the model's order, and the
// nearest node with nested graphs among what computes it.
struct Origins {
  std::vector<const Value*> inputs;
  const Node* nested = nullptr;
};
Origins OriginsOf(const Value& value) {
  Origins origins;
  std::vector<const Value*> inputs, todo = {&value};
  absl::flat_hash_set<const Value*> seen = {&value};
  const auto add = [&](const Value* next) {
    if (next && seen.insert(next).second) todo.push_back(next);
  };
  while (!todo.empty()) {
    const Value* next = todo.back();
    todo.pop_back();
    const Node* node = next->producer();
    if (!node && next->is_input()) {
      node = next->graph()->parent_node();
      if (!node) inputs.push_back(next);
    }
    if (!node) continue;
    if (!origins.nested && node->has_subgraphs()) origins.nested = node;
    for (const Value* operand : node->inputs()) add(operand);
    for (const Graph* inner : node->subgraphs()) {
      for (const Value* output : inner->outputs()) add(output);
    }
  }
  const Graph* graph = value.graph();
  while (graph->parent()) graph = graph->parent();
  for (const Value* input : graph->inputs()) {
    const bool is_origin = std::find(inputs.begin(), inputs.end(), input) != inputs.end();
    if (is_origin && !input->constant()) origins.inputs.push_back(input);
  }
  return origins;
}

// "1,3,..." as many sizes as there are axes.
std::string SizesOf(const Value& input) {
  if (!input.shape()) return "1,3,...";
  std::string text;
  for (const Dim& dim : *input.shape()) {
    StrAppend(&text, text.empty() ? "" : ",", dim.is_static() ? StrCat(dim.value()) : "N");
  }
  return text;
}

std::string Quoted(const Value& value) { return StrCat("'", value.name(), "'"); }

// How the missing information about a value can be given; "" if there is no way.
std::string WayTo(const Value& value) {
  const Origins origins = OriginsOf(value);
  std::string states, shapes, numbers;
  for (const Value* input : origins.inputs) {
    if (MissingOf(*input) == Missing::kNothing) continue;
    StrAppend(&states, states.empty() ? "" : ", ",
              input == &value ? "the input" : StrCat("input ", Quoted(*input)), " states ",
              input->shape() ? input->type().ToString() : "no shape");
    StrAppend(&shapes, shapes.empty() ? "" : " ", OptionText("shapes"), " ", input->name(), ":",
              SizesOf(*input));
  }
  if (!shapes.empty()) return StrCat(states, "; ", shapes, " sets the sizes");
  // Sizes of inputs are known: what numbers they give decides.
  const bool is_input = origins.inputs.size() == 1 && origins.inputs[0] == &value;
  const std::string where = is_input          ? "it is an input"
                            : !origins.nested ? "it is computed"
                            : origins.nested->name().empty()
                                ? StrCat("it is a result of ", origins.nested->op().str())
                                : StrCat("it is a result of ", origins.nested->op().str(), " '",
                                         origins.nested->name(), "'");
  for (const Value* input : origins.inputs) {
    if (!SaysSizes(*input)) continue;
    StrAppend(&numbers, numbers.empty() ? "" : " ", OptionText("fold_inputs"), " ", input->name(),
              "=VALUE");
  }
  if (!numbers.empty()) {
    return StrCat(where, "; ", numbers, " makes ",
                  is_input ? "it constant" : "the operands constant that it is computed from");
  }
  return origins.inputs.empty() ? "" : StrCat(where, ", from the values of inputs");
}

}  // namespace

std::string HintOfUnknown(const Node& node, std::string_view why) {
  if (!SpeaksOfUnknown(why)) return "";
  std::vector<Value*> values = node.inputs();
  values.insert(values.end(), node.outputs().begin(), node.outputs().end());
  // Ranks first: without them sizes mean nothing.
  for (const Missing wanted : {Missing::kRank, Missing::kSizes}) {
    for (const Value* value : values) {
      if (!value || MissingOf(*value) != wanted) continue;
      const std::string way = WayTo(*value);
      if (!way.empty()) return StrCat(Quoted(*value), " is ", value->type().ToString(), ": ", way);
    }
  }
  for (const Value* operand : node.inputs()) {
    if (!operand || !SaysSizes(*operand)) continue;
    const std::string way = WayTo(*operand);
    if (!way.empty()) return StrCat(Quoted(*operand), " is not constant: ", way);
  }
  return "";
}

}  // namespace x2ir
