#include "x2ir/core/edit/cut.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> FindByName(Graph& graph, const std::string& name) {
  if (Value* value = graph.Find(name)) return value;
  std::string node_name = name;
  size_t k = 0;
  if (const size_t colon = name.rfind(':'); colon != std::string::npos) {
    const std::string digits = name.substr(colon + 1);
    if (!digits.empty() && digits.size() < 6 &&
        digits.find_first_not_of("0123456789") == std::string::npos) {
      node_name = name.substr(0, colon);
      k = std::stoul(digits);
      if (Value* value = k == 0 ? graph.Find(node_name) : nullptr) return value;
    }
  }
  for (const Node* node : graph.nodes()) {
    if (node->name() != node_name) continue;
    if (Value* value = node->output(k)) return value;
    return Invalid("node '", node_name, "' has no output ", k);
  }
  std::vector<std::string> known = NamesOfValues(graph);
  for (const Node* node : graph.nodes()) known.push_back(node->name());
  return Invalid("there is no value or node '", name, "'", DidYouMean(name, known));
}

// Where what the outputs need beside `wanted` meets what is computed of `wanted`: values to cut at
// as well.
std::string AlsoToCut(const Graph& graph, const std::vector<Value*>& wanted,
                      const std::vector<Value*>& missing) {
  // What is computed of some values, and they themselves.
  const auto users_of = [&](const std::vector<Value*>& values) {
    absl::flat_hash_set<const Value*> found(values.begin(), values.end());
    for (const Node* node : graph.nodes()) {
      const auto operands = node->inputs();
      const bool reads = std::any_of(operands.begin(), operands.end(), [&](const Value* operand) {
        return operand && found.contains(operand);
      });
      if (!reads) continue;
      for (const Value* output : node->outputs()) found.insert(output);
    }
    return found;
  };
  const auto of_wanted = users_of(wanted), of_missing = users_of(missing);
  std::vector<std::string> names;
  const auto look_at = [&](const Value* value) {
    if (!value || of_wanted.contains(value) || !of_missing.contains(value)) return;
    bool meets = value->is_graph_output();
    for (const Use& use : value->uses()) {
      meets = meets || (use.node->output(0) && of_wanted.contains(use.node->output(0)));
    }
    if (meets) names.push_back(value->name());
  };
  for (const Value* input : graph.inputs()) look_at(input);
  for (const Node* node : graph.nodes()) {
    for (const Value* output : node->outputs()) look_at(output);
  }
  constexpr size_t kFew = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kFew; ++i) {
    StrAppend(&text, i ? ", '" : "'", names[i], "'");
  }
  return names.size() > kFew ? StrCat(text, " and ", names.size() - kFew, " more") : text;
}

}  // namespace

absl::Status Cut(Graph& graph, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs) {
  if (!outputs.empty()) {
    std::vector<Value*> values;
    for (const std::string& name : outputs) {
      auto value = FindByName(graph, name);
      if (!value.ok()) return OptionError("outputs", value.status().message());
      values.push_back(*value);
    }
    graph.ClearOutputs();
    for (Value* value : values) graph.AddOutput(value);
  }
  if (!inputs.empty()) {
    std::vector<Value*> wanted;
    for (const std::string& name : inputs) {
      auto found = FindByName(graph, name);
      if (!found.ok()) return OptionError("inputs", found.status().message());
      Value* value = *found;
      if (!value->is_input()) {
        const std::string own = value->name();
        graph.Rename(value, graph.UniqueName(own + "_cut"));
        Value* input = graph.AddInput(own, value->type());
        graph.ReplaceAllUses(value, input);
        value = input;
      }
      wanted.push_back(value);
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::find(wanted.begin(), wanted.begin() + i, wanted[i]) != wanted.begin() + i) {
        return OptionError("inputs", "names '", wanted[i]->name(), "' twice");
      }
    }
    // In the order of the option; the others follow until they are found to be unused.
    std::vector<Value*> order = wanted;
    for (Value* input : graph.inputs()) {
      if (std::find(wanted.begin(), wanted.end(), input) == wanted.end()) order.push_back(input);
    }
    for (size_t i = 0; i < order.size(); ++i) graph.ReplaceInputAt(i, order[i]);
  }
  if (inputs.empty() && outputs.empty()) return absl::OkStatus();
  X2IR_RETURN_IF_ERROR(graph.Sort());
  for (Node* node = graph.last(); node;) {
    Node* previous = node->prev();
    const bool used = std::any_of(node->outputs().begin(), node->outputs().end(),
                                  [](const Value* v) { return v && !v->is_unused(); });
    if (!used) graph.EraseUnused(node);
    node = previous;
  }
  for (Value* constant : graph.constants()) {
    if (constant->is_unused()) graph.RemoveConstant(constant);
  }
  if (inputs.empty()) return absl::OkStatus();
  const std::vector<Value*> now = graph.inputs();
  std::string missing;
  for (size_t i = inputs.size(); i < now.size(); ++i) {
    if (now[i]->is_unused()) {
      graph.RemoveInput(now[i]);
    } else {
      StrAppend(&missing, missing.empty() ? "" : ", ", now[i]->name());
    }
  }
  if (!missing.empty()) {
    return OptionError("inputs", "the outputs also need ", missing, "; cut at ",
                       AlsoToCut(graph, {now.begin(), now.begin() + inputs.size()},
                                 {now.begin() + inputs.size(), now.end()}),
                       " too");
  }
  return absl::OkStatus();
}

absl::Status FindTypesOf(Model& model, const std::vector<std::string>& names,
                         const ProgressFn& progress) {
  Graph& graph = *model.graph;
  bool known = true;
  for (const std::string& name : names) {
    auto value = FindByName(graph, name);
    if (!value.ok()) return OptionError("inputs", value.status().message());
    const Type& type = (*value)->type();
    known = known && type.is_known() && (!type.is_tensor() || type.has_shape());
  }
  if (known) return absl::OkStatus();
  Model trial;
  trial.graph = graph.Clone();
  trial.source_dialect = model.source_dialect;
  trial.opset_imports = model.opset_imports;
  trial.functions = model.functions;
  X2IR_RETURN_IF_ERROR(trial.graph->Sort());
  Report ignored;
  ForeignPolicy keep;
  keep.all = true;
  X2IR_RETURN_IF_ERROR(
      RewriteToIr(trial, model.source_dialect, keep, /*keep_functions=*/false, progress, ignored));
  for (const std::string& name : names) {
    Value* value = *FindByName(graph, name);
    const Value* found = trial.graph->Find(value->name());
    if (found && found->type().is_known()) value->set_type(found->type());
  }
  return absl::OkStatus();
}

}  // namespace x2ir
