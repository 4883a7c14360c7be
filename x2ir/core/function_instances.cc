// Import's part of kept_functions.h: instances of functions.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "x2ir/core/functions.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/graph_wrapper/op_name.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

NamedRegistry<FunctionFiles>& AllFunctionFiles() {
  static auto* all = new NamedRegistry<FunctionFiles>("dialect with functions");
  return *all;
}

bool SameAttrs(const AttributeMap& a, const AttributeMap& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& entry) {
           const Attribute* other = b.Find(entry.first);
           return other && *other == entry.second;
         });
}

// Whether what holds for all values of type `of` holds for one of type `value`.
bool IsOf(const Type& value, const Type& of) {
  if (!of.is_known()) return true;
  if (value.kind() != of.kind() || value.dtype() != of.dtype()) return false;
  if (!of.is_tensor()) return value == of;
  if (!of.shape()) return true;
  if (!value.shape() || value.shape()->rank() != of.shape()->rank()) return false;
  for (int64_t i = 0; i < of.shape()->rank(); ++i) {
    const Dim& dim = (*of.shape())[i];
    if (!dim.is_unknown() && !ProvablyEqual((*value.shape())[i], dim)) return false;
  }
  return true;
}

absl::Status CheckCallsIn(const Graph& graph, const Functions& functions) {
  for (const Node* node : graph.nodes()) {
    for (const Graph* inner : node->subgraphs()) {
      X2IR_RETURN_IF_ERROR(CheckCallsIn(*inner, functions));
    }
    const Function* function = functions.Called(*node);
    if (!function || !IsInstance(*function)) continue;
    X2IR_RETURN_IF_ERROR(CheckCallOf(*function, *node));
  }
  return absl::OkStatus();
}

}  // namespace

bool RegisterFunctionFiles(FunctionFiles files, SourcePlace place) {
  AllFunctionFiles().Add(std::move(files), place);
  return true;
}

const FunctionFiles* FindFunctionFiles(std::string_view dialect) {
  return AllFunctionFiles().Find(dialect);
}

std::string WhyNoFunctions(const Format* target, const ExportOptions& options) {
  const FunctionFiles* files = target ? FindFunctionFiles(target->dialect) : nullptr;
  if (files && std::ranges::count(files->but_formats, target->name) != 0) {
    return StrCat("files of format '", target->name, "' hold no functions");
  }
  if (options.int8) return StrCat(OptionText("int8"), " changes the whole model");
  if (options.narrow_floats) return "element types of the whole model change";
  const bool sizes = !options.shapes.empty() || !options.dynamic.empty();
  return sizes ? "sizes of the whole model change" : "";
}

bool MustInline(const Model& model, const Format& target, const ExportOptions& options,
                Report& report) {
  const std::string why = WhyNoFunctions(&target, options);
  if (why.empty() || model.functions.empty()) return false;
  report.warnings.push_back(StrCat("all functions are inlined: ", why));
  return true;
}

bool FunctionsStayAsTheyAre(std::string_view source, std::string_view target) {
  const FunctionFiles* files = FindFunctionFiles(source);
  return files && files->any_types && (target.empty() || target == source);
}

bool IsInstance(const Function& function) { return function.opset_imports.empty(); }

FunctionInstances::FunctionInstances(const Model& model) {
  for (const auto& function : model.functions) source_ops_.insert(OpOf(*function));
}

// The function's own name for its first instance; no name of another function of the source.
void FunctionInstances::GiveName(const Function& function, Function& instance) {
  int& next = next_[OpOf(function)];
  for (bool taken = true; taken; ++next) {
    instance.name = next == 0 ? function.name : StrCat(function.name, "_", next);
    const Symbol op = OpOf(instance);
    taken = (next != 0 && source_ops_.contains(op)) || !ops_.insert(op).second;
  }
}

std::pair<FunctionInstances::Instance*, bool> FunctionInstances::Of(const Function& function,
                                                                    const Node& call) {
  std::string key = StrCat(OpOf(function).view(), ":", function.overload);
  for (const Value* operand : call.inputs()) {
    StrAppend(&key, "|", operand ? operand->type().ToString() : "-");
  }
  std::vector<std::unique_ptr<Instance>>& instances = of_[key];
  for (const auto& instance : instances) {
    if (SameAttrs(instance->attrs, call.attrs())) return {instance.get(), false};
  }
  Instance& instance = *instances.emplace_back(std::make_unique<Instance>());
  instance.attrs = call.attrs();
  if (!function.body) return {&instance, false};

  auto made = std::make_shared<Function>();
  made->domain = function.domain;
  GiveName(function, *made);
  made->annotations.CopyFrom(function.annotations);
  made->body = std::make_shared<Graph>(made->name);
  Graph& body = *made->body;
  const Graph& source = *function.body;
  std::vector<Value*> operands;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    const Value* operand = call.input(i);
    const std::string name = i < source.inputs().size() ? source.inputs()[i]->name() : "x";
    operands.push_back(operand ? body.AddInput(body.UniqueName(name), operand->type()) : nullptr);
  }
  Node* copy = body.AppendNode(call.dialect(), call.op(), operands);
  for (const auto& [name, attr] : call.attrs()) copy->SetAttr(name, attr);
  copy->annotations().CopyFrom(call.annotations());
  for (const Value* output : source.outputs()) {
    const std::string name = body.UniqueName(output ? output->name() : "y");
    const Type declared = output ? WithoutSymbols(output->type()) : Type();
    body.AddOutput(body.AddNodeOutput(copy, name, declared));
  }
  instance.function = std::move(made);
  return {&instance, true};
}

void FunctionInstances::Keep(const Instance& instance) { made_.push_back(instance.function); }

void FunctionInstances::GiveUp(Instance& instance, const Function& function, std::string why) {
  instance.function.reset();
  NoteInlined(function, std::move(why));
}

void FunctionInstances::NoteInlined(const Function& function, std::string why) {
  if (noted_.insert(&function).second) inlined_.emplace_back(function.name, std::move(why));
}

void FunctionInstances::Replace(Node* call, const Instance& instance) {
  Graph& graph = *call->graph();
  const Function& function = *instance.function;
  std::vector<Value*> operands = call->inputs();
  operands.erase(std::remove(operands.begin(), operands.end(), nullptr), operands.end());
  Node* made = graph.InsertNode(call, call->dialect(), OpOf(function), operands);
  made->set_name(call->TakeName());
  CopyMetadata(*call, *made);
  const auto& outputs = function.body->outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value* result = call->output(i);
    Value* fresh = graph.AddNodeOutput(made, result ? "" : graph.UniqueName(outputs[i]->name()));
    if (result) graph.AdoptOutput(fresh, result);
    SetInferredType(result ? *result : *fresh, outputs[i]->type());
  }
  graph.EraseUnused(call);
}

std::vector<std::shared_ptr<Function>> FunctionInstances::UsedBy(const Graph& graph) const {
  Model all;
  all.functions = made_;
  return Functions(all).UsedBy(graph);
}

void WarnOfInlined(const InlinedFunctions& inlined, Report& report) {
  if (inlined.empty()) return;
  constexpr size_t kFew = 8;
  std::string text;
  for (size_t i = 0; i < inlined.size() && i < kFew; ++i) {
    StrAppend(&text, i ? "; '" : "'", inlined[i].first, "': ", inlined[i].second);
  }
  if (inlined.size() > kFew) StrAppend(&text, "; and ", inlined.size() - kFew, " more");
  report.warnings.push_back(StrCat("functions that cannot be kept are inlined: ", text));
}

absl::Status CheckCallOf(const Function& instance, const Node& call) {
  const auto &inputs = instance.body->inputs(), &outputs = instance.body->outputs();
  if (call.num_inputs() != inputs.size() || call.num_outputs() > outputs.size()) {
    return Invalid("function '", instance.name, "' has ", inputs.size(), " operands and ",
                   outputs.size(), " results; a call has ", call.num_inputs(), " and ",
                   call.num_outputs());
  }
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    const Value* operand = call.input(i);
    if (!operand) return Invalid("a call of function '", instance.name, "' leaves out an operand");
    const Type& type = inputs[i]->type();
    if (IsOf(operand->type(), type)) continue;
    return Unimplemented("function '", instance.name, "' was converted for an operand of type ",
                         type.ToString(), ", but '", operand->name(), "' is found to be ",
                         operand->type().ToString(), "; it can only be inlined");
  }
  return absl::OkStatus();
}

absl::Status CheckCallTypes(const Model& model) {
  const Functions functions(model);
  for (const auto& function : model.functions) {
    if (IsInstance(*function)) X2IR_RETURN_IF_ERROR(CheckCallsIn(*function->body, functions));
  }
  return CheckCallsIn(*model.graph, functions);
}

}  // namespace x2ir
