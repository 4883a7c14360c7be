// From a model as its file has it to IR.
#include "x2ir/core/convert_internal.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/driver.h"
#include "x2ir/core/edit/cut.h"
#include "x2ir/core/edit/edit.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/edit/interface.h"
#include "x2ir/core/edit/weights_from.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/complex_parts.h"

namespace x2ir {
namespace {

void SetNamedSize(Value& input, int64_t axis, const std::string& name) {
  std::vector<Dim> dims = input.shape()->dims();
  dims[static_cast<size_t>(axis)] = Dim::Symbol(name);
  input.set_type(Type::Tensor(input.dtype(), Shape(std::move(dims))));
}

}  // namespace

absl::Status ImportModel(Model& model, const ImportOptions& options, Report& report) {
  report.ops_read = CountOps(*model.graph);
  if (!options.weights_from.empty()) {
    X2IR_RETURN_IF_ERROR(TakeWeights(model, options.weights_from, report));
  }
  X2IR_RETURN_IF_ERROR(CheckHasWeights(model));
  model.weights.clear();
  if (!options.layout.empty() && options.layout != "channels_first" &&
      options.layout != "channels_last") {
    return OptionError("layout", "expected channels_first or channels_last, got '", options.layout,
                       "'");
  }
  if (options.from_opset) {
    if (*options.from_opset < 1) return OptionError("from_opset", "expected a positive number");
    model.SetOpset("", *options.from_opset);
  }
  if (const Dialect* known = FindDialect(model.source_dialect);
      known && known->schema && model.Opset("") > known->latest_opset) {
    return Unimplemented("the model is of opset ", model.Opset(""), " of ", known->name,
                         "; the newest that is known is ", known->latest_opset, " (",
                         OptionText("from_opset"), " ", known->latest_opset,
                         " reads it as that opset)");
  }
  if (options.freeze_params.value_or(true)) model.graph->FreezeInputs();
  const Dialect* known_dialect = FindDialect(model.source_dialect);
  std::vector<TracedSize> sizes;
  const InputOverrides overrides{options.shapes, options.dtypes, options.dynamic};
  const bool runs = model.program && known_dialect && known_dialect->run_program;
  bool typed = false;  // before the program runs: one without inputs makes them
  if (runs) {
    if (!options.example.empty()) {
      X2IR_RETURN_IF_ERROR(TypesFromIoFile(options.example, *model.graph, options.example_cases));
    }
    typed = !model.graph->inputs().empty();
    if (typed) {
      X2IR_ASSIGN_OR_RETURN(sizes, OverrideInputs(*model.graph, overrides));
    }
    // No graph was made for numbers yet.
    for (const TracedSize& size : sizes) SetNamedSize(*size.input, size.axis, size.name);
    sizes.clear();
    X2IR_RETURN_IF_ERROR(known_dialect->run_program(model, report.warnings));
    model.program.reset();
    report.ops_read = CountOps(*model.graph);
  }
  Graph& graph = *model.graph;
  if (known_dialect && known_dialect->after_read) {
    X2IR_RETURN_IF_ERROR(known_dialect->after_read(model, report.warnings));
  }
  if (!options.inputs.empty()) {
    X2IR_RETURN_IF_ERROR(FindTypesOf(model, options.inputs, options.progress));
  }
  X2IR_RETURN_IF_ERROR(Cut(graph, options.inputs, options.outputs));
  Interface& interface = report.interface = InterfaceOf(graph);
  X2IR_RETURN_IF_ERROR(FoldInputs(graph, options.fold_inputs));
  for (const auto& [name, file] : options.fold_inputs) NoteConstant(file, name, interface.inputs);
  if (!typed) {
    X2IR_ASSIGN_OR_RETURN(sizes, OverrideInputs(graph, overrides));
  }
  X2IR_RETURN_IF_ERROR(graph.Sort());
  const std::vector<Type> declared = OutputTypes(graph);
  // Names for sizes that the file has as numbers are found through all of the graph.
  const bool keeps_functions = options.keep_functions && sizes.empty();
  if (options.keep_functions && !keeps_functions && !model.functions.empty()) {
    report.warnings.push_back(StrCat("all functions are inlined: ", OptionText("dynamic"),
                                     " gives names to sizes of the whole model"));
  }
  ForeignPolicy policy = options.foreign;
  if (!sizes.empty()) policy.target.clear();  // no operator of the source stays as it is
  X2IR_RETURN_IF_ERROR(
      RewriteToIr(model, model.source_dialect, policy, keeps_functions, options.progress, report));
  X2IR_RETURN_IF_ERROR(report.ToStatus("cannot convert to IR"));
  if (absl::Status s = SplitComplexNumbers(graph); !s.ok()) {
    return Annotate(s, "cannot convert to IR");
  }
  if (!options.inputs.empty()) X2IR_RETURN_IF_ERROR(CheckInputTypes(graph));
  X2IR_RETURN_IF_ERROR(CompareOutputs(declared, graph, report));
  X2IR_RETURN_IF_ERROR(MakeSymbolic(graph, sizes, &report.warnings));
  WarnUnknownDims(graph, report);
  NoteTypes(graph, /*but_elements=*/!options.dtypes.empty(), interface);
  X2IR_RETURN_IF_ERROR(RenameValues(graph, options.rename));
  Update(graph, interface);
  if (options.optimize) {
    const PassContext context{.layout = options.layout};
    X2IR_RETURN_IF_ERROR(Optimize(graph, options.passes.value_or(DefaultPasses()), context,
                                  options.progress, report));
  }
  report.nodes_written = static_cast<int64_t>(graph.TotalNodes());
  report.ops_written = CountOps(graph);
  return absl::OkStatus();
}

}  // namespace x2ir
