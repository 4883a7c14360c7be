#include "x2ir/core/edit/inputs_outputs.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

Value* FindInput(Graph& graph, const std::string& name) {
  Value* value = graph.Find(name);
  return value && value->is_input() ? value : nullptr;
}

}  // namespace

absl::Status NoSuchInput(std::string_view option, const std::string& name, const Graph& graph) {
  std::vector<std::string> known;
  for (const Value* input : graph.inputs()) known.push_back(input->name());
  return OptionError(option, "the model has no input '", name,
                     "'; its inputs are: ", absl::StrJoin(known, ", "), DidYouMean(name, known));
}

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

absl::StatusOr<std::vector<TracedSize>> OverrideInputs(Graph& graph,
                                                       const InputOverrides& overrides) {
  std::vector<TracedSize> names;
  const auto& [shapes, dtypes, dynamic] = overrides;
  if (shapes.empty() && dtypes.empty() && dynamic.empty()) return names;
  auto input_of = [&](const std::string& name, const char* option) -> absl::StatusOr<Value*> {
    Value* input = FindInput(graph, name);
    if (!input) return NoSuchInput(option, name, graph);
    // A program's argument that is None unless its type is said.
    if (input->type() == Type::Optional(Type::Tensor(DType::kUndefined))) {
      input->set_type(Type::Tensor(DType::kUndefined));
    }
    if (input->type().is_known() && !input->type().is_tensor()) {
      return OptionError(option, "input '", name, "' is not a tensor but ",
                         input->type().ToString());
    }
    return input;
  };
  // A number that the graph was made for stays where a name is wanted.
  const auto set_dim = [&](Value* input, int64_t axis, const Dim& dim) {
    std::vector<Dim> dims(input->shape()->begin(), input->shape()->end());
    Dim& own = dims[static_cast<size_t>(axis)];
    if (own.is_static() && dim.is_symbolic()) {
      names.push_back({input, axis, dim.ToString()});
    } else {
      own = dim;
    }
    input->set_type(Type::Tensor(input->dtype(), Shape(std::move(dims))));
  };
  for (const auto& [name, shape] : shapes) {
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(name, "shapes"));
    if (input->shape() && input->shape()->rank() != shape.rank()) {
      return OptionError("shapes", "input '", name, "' is ", input->type().ToString(),
                         "; expected rank ", input->shape()->rank(), ", got ", shape.rank());
    }
    if (!input->shape()) input->set_type(Type::Tensor(input->dtype(), shape));
    for (int64_t i = 0; i < shape.rank(); ++i) set_dim(input, i, shape[i]);
  }
  for (const DynamicAxis& d : dynamic) {
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(d.input, "dynamic"));
    const int64_t rank = input->shape() ? input->shape()->rank() : 0;
    if (d.axis < -rank || d.axis >= rank) {
      return OptionError("dynamic", "input '", d.input, "' is ", input->type().ToString(),
                         "; it has no axis ", d.axis);
    }
    set_dim(input, d.axis < 0 ? d.axis + rank : d.axis, Dim::Symbol(d.name));
  }
  const auto set_dtype = [](Value* input, DType dtype) {
    Type type = input->type().is_known() ? input->type() : Type::Tensor(dtype);
    type.set_dtype(dtype);
    input->set_type(std::move(type));
  };
  for (const auto& [name, dtype] : dtypes) {
    if (name.empty()) {
      for (Value* input : graph.inputs()) {
        if (!input->type().is_known() || input->type().is_tensor()) set_dtype(input, dtype);
      }
      continue;
    }
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(name, "dtypes"));
    set_dtype(input, dtype);
  }
  ForgetTypes(graph, !dtypes.empty());
  return names;
}

absl::Status CheckInputTypes(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    const Type& type = input->type();
    if (type.is_known() && (!type.is_tensor() || type.dtype() != DType::kUndefined)) continue;
    return CannotExpress("the element type of input '", input->name(), "' is not known; ",
                         OptionText("dtypes"), " sets it, as in ", input->name(), ":float32");
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
  std::string warning = StrCat("inputs with unknown dims (", names, "); ", OptionText("shapes"),
                               " fixes them (NAME:1,3,...)");
  // A conversion that reads and writes says it once.
  if (absl::c_linear_search(report.warnings, warning)) return;
  report.warnings.push_back(std::move(warning));
}

std::vector<std::string> NamesOfValues(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value* input : graph.inputs()) names.push_back(input->name());
  for (const Value* constant : graph.constants()) names.push_back(constant->name());
  for (const Node* node : graph.nodes()) {
    for (const Value* output : node->outputs()) {
      if (output) names.push_back(output->name());
    }
  }
  return names;
}

}  // namespace x2ir
