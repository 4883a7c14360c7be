#include "x2ir/core/ports.h"

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

Value* FindInput(Graph& graph, const std::string& name) {
  Value* value = graph.Find(name);
  return value && value->is_input() ? value : nullptr;
}

std::string InputNames(const Graph& graph) {
  std::string names;
  for (const Value* input : graph.inputs()) {
    StrAppend(&names, names.empty() ? "" : ", ", input->name());
  }
  return names;
}

// Shapes and element types of everything but inputs and constants are no longer what the
// file says; inference finds them again.
void ForgetTypes(Graph& graph, bool dtypes) {
  for (Node* node : graph.nodes()) {
    for (Value* output : node->outputs()) {
      if (!output) continue;
      output->clear_elements();
      if (!output->type().is_tensor()) continue;
      output->set_type(dtypes ? Type() : Type::Tensor(output->dtype()));
    }
    for (Graph* inner : node->subgraphs()) ForgetTypes(*inner, dtypes);
  }
}

}  // namespace

absl::Status OverrideInputs(Graph& graph, const std::vector<std::pair<std::string, Shape>>& shapes,
                            const std::vector<std::pair<std::string, DType>>& dtypes) {
  if (shapes.empty() && dtypes.empty()) return absl::OkStatus();
  auto input_of = [&](const std::string& name, const char* option) -> absl::StatusOr<Value*> {
    Value* input = FindInput(graph, name);
    if (!input) {
      return OptionError(option, "the model has no input '", name,
                         "'; its inputs are: ", InputNames(graph));
    }
    if (input->type().is_known() && !input->type().is_tensor()) {
      return OptionError(option, "input '", name, "' is no tensor but ", input->type().ToString());
    }
    return input;
  };
  for (const auto& [name, shape] : shapes) {
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(name, "shapes"));
    if (input->shape() && input->shape()->rank() != shape.rank()) {
      return OptionError("shapes", "input '", name, "' is ", input->type().ToString(),
                         "; expected rank ", input->shape()->rank(), ", got ", shape.rank());
    }
    input->set_type(Type::Tensor(input->dtype(), shape));
  }
  for (const auto& [name, dtype] : dtypes) {
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(name, "dtypes"));
    Type type = input->type().is_known() ? input->type() : Type::Tensor(dtype);
    type.set_dtype(dtype);
    input->set_type(std::move(type));
  }
  ForgetTypes(graph, !dtypes.empty());
  return absl::OkStatus();
}

absl::Status CheckInputTypes(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    const Type& type = input->type();
    if (type.is_known() && (!type.is_tensor() || type.dtype() != DType::kUndefined)) continue;
    return OptionError("dtypes", "the element type of input '", input->name(),
                       "' is not known; import with this option says it, as in ", input->name(),
                       ":float32");
  }
  return absl::OkStatus();
}

std::vector<Type> OutputTypes(const Graph& graph) {
  std::vector<Type> types;
  for (const Value* output : graph.outputs()) types.push_back(output->type());
  return types;
}

absl::Status CompareOutputs(const std::vector<Type>& declared, const Graph& graph, Report& report) {
  for (size_t i = 0; i < declared.size() && i < graph.outputs().size(); ++i) {
    const Value& output = *graph.outputs()[i];
    if (MergeTypes(declared[i], output.type()).ok()) continue;
    if (declared[i].kind() != output.type().kind() ||
        declared[i].dtype() != output.type().dtype()) {
      return Invalid("output '", output.name(), "' is declared as ", declared[i].ToString(),
                     ", but it is ", output.type().ToString());
    }
    report.warnings.push_back(StrCat("output '", output.name(), "' is declared as ",
                                     declared[i].ToString(), ", but it is ",
                                     output.type().ToString()));
  }
  return absl::OkStatus();
}

void WarnUnknownDims(const Graph& graph, Report& report) {
  std::string names;
  for (const Value* input : graph.inputs()) {
    bool unknown = input->type().is_tensor() && !input->shape();
    if (input->shape()) {
      for (const Dim& d : *input->shape()) unknown |= d.is_unknown();
    }
    if (unknown)
      StrAppend(&names, names.empty() ? "" : ", ", input->name(), ": ", input->type().ToString());
  }
  if (names.empty()) return;
  report.warnings.push_back(StrCat("inputs with unknown dims (", names, "); ", OptionText("shapes"),
                                   " fixes them (NAME:1,3,...)"));
}

}  // namespace x2ir
