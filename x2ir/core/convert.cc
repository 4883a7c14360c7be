// The front door: formats, the driver and the options put together.
#include "x2ir/core/convert.h"

#include <algorithm>
#include <filesystem>

#include "x2ir/core/dialect.h"
#include "x2ir/core/driver.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/ir/ir.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/mappings.h"
#include "x2ir/graph_wrapper/out_of_memory.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/transpose/io_layout.h"

namespace x2ir {
namespace {

// The formats that we read. A new one is a row.
struct Format {
  std::string_view name;
  std::string_view dialect;
  std::string_view extension;
  bool (*looks_like)(absl::Span<const std::byte> head, uint64_t file_size);
  absl::StatusOr<Model> (*read)(const std::string& path, const LoadOptions& options);
};

// What `work` gives, a Status or a StatusOr, unless a file that it reads failed it on the way: then
// nothing is as it seems.
template <typename Work>
auto Guarded(const Work& work) -> decltype(work()) {
  auto result = WithinMemory(work);
  if (absl::Status fault = TakeMappingFault(); !fault.ok()) return fault;
  return result;
}

// The same for work that reads and changes a model.
template <typename Work>
absl::Status Guarded(const Model& model, const Work& work) {
  const auto files = MappedFiles(model);
  const absl::Status status = Guarded(work);
  for (const auto& file : files) X2IR_RETURN_IF_ERROR(CheckUnchanged(*file));
  return status;
}

constexpr size_t kHeadSize = 4096;
constexpr int kDefaultOpset = 17;

const Format kFormats[] = {
    {"ir", kIrDialect, ".json",
     [](absl::Span<const std::byte> head, uint64_t) { return LooksLikeIr(head); },
     [](const std::string& path, const LoadOptions& options) {
       return ReadIr(path, {.allow_outside = options.allow_outside});
     }},
    {"tensorflow", "tf", ".pb", LooksLikeTensorFlow,
     [](const std::string& path, const LoadOptions& options) {
       return ReadTensorFlow(path, {options.signature, options.inputs, options.outputs,
                                    options.model, options.allow_outside});
     }},
    {"onnx", "onnx", ".onnx", LooksLikeOnnx,
     [](const std::string& path, const LoadOptions&) { return ReadOnnx(path); }},
    {"torch", "torch", ".pt2", LooksLikeTorch,
     [](const std::string& path, const LoadOptions& options) {
       return ReadTorch(path, {.model = options.model});
     }},
};

const Format* FindFormat(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::string FormatNames() {
  std::string names;
  for (const Format& format : kFormats) StrAppend(&names, names.empty() ? "" : ", ", format.name);
  return names;
}

Value* FindInput(const Graph& graph, const std::string& name) {
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

absl::Status OverrideInputs(Graph& graph, const std::vector<std::pair<std::string, Shape>>& shapes,
                            const std::vector<std::pair<std::string, DType>>& dtypes) {
  if (shapes.empty() && dtypes.empty()) return absl::OkStatus();
  auto input_of = [&](const std::string& name, std::string_view flag) -> absl::StatusOr<Value*> {
    Value* input = FindInput(graph, name);
    if (!input) {
      return Invalid(flag, ": the model has no input '", name,
                     "'; its inputs are: ", InputNames(graph));
    }
    if (input->type().is_known() && !input->type().is_tensor()) {
      return Invalid(flag, ": input '", name, "' is no tensor but ", input->type().ToString());
    }
    return input;
  };
  for (const auto& [name, shape] : shapes) {
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(name, "--shape"));
    if (input->shape() && input->shape()->rank() != shape.rank()) {
      return Invalid("--shape: input '", name, "' is ", input->type().ToString(),
                     "; expected rank ", input->shape()->rank(), ", got ", shape.rank());
    }
    input->set_type(Type::Tensor(input->dtype(), shape));
  }
  for (const auto& [name, dtype] : dtypes) {
    X2IR_ASSIGN_OR_RETURN(Value * input, input_of(name, "--dtype"));
    Type type = input->type().is_known() ? input->type() : Type::Tensor(dtype);
    type.set_dtype(dtype);
    input->set_type(std::move(type));
  }
  ForgetTypes(graph, !dtypes.empty());
  return absl::OkStatus();
}

// --outputs A,B:0 makes exactly these values the model's outputs ("node:k" is output k of a
// node of that name).
absl::StatusOr<Value*> FindByName(const Graph& graph, const std::string& name) {
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
  return Invalid("there is no value or node '", name, "'");
}

// Cuts the graph: `inputs` become its inputs, `outputs` its outputs; what is then not
// needed goes.
absl::Status Cut(Graph& graph, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs) {
  if (!outputs.empty()) {
    std::vector<Value*> values;
    for (const std::string& name : outputs) {
      auto value = FindByName(graph, name);
      if (!value.ok()) return Annotate(value.status(), "--outputs");
      values.push_back(*value);
    }
    graph.ClearOutputs();
    for (Value* value : values) graph.AddOutput(value);
  }
  if (!inputs.empty()) {
    std::vector<Value*> wanted;
    for (const std::string& name : inputs) {
      auto found = FindByName(graph, name);
      if (!found.ok()) return Annotate(found.status(), "--inputs");
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
        return Invalid("--inputs names '", wanted[i]->name(), "' twice");
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
  if (!missing.empty()) return Invalid("--inputs: the outputs also need ", missing);
  return absl::OkStatus();
}

// Cutting at a value needs its type, which the file may not say: a trial conversion of a copy
// finds it out.
absl::Status FindTypesOf(Model& model, const std::vector<std::string>& names,
                         const ImportOptions& options) {
  Graph& graph = *model.graph;
  bool known = true;
  for (const std::string& name : names) {
    auto value = FindByName(graph, name);
    if (!value.ok()) return Annotate(value.status(), "--inputs");
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
  X2IR_RETURN_IF_ERROR(RewriteToIr(trial, model.source_dialect, keep, /*keep_functions=*/false,
                                   options.progress, ignored));
  for (const std::string& name : names) {
    Value* value = *FindByName(graph, name);
    const Value* found = trial.graph->Find(value->name());
    if (found && found->type().is_known()) value->set_type(found->type());
  }
  return absl::OkStatus();
}

// Runtimes need the element type of every input.
absl::Status CheckInputTypes(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    const Type& type = input->type();
    if (type.is_known() && (!type.is_tensor() || type.dtype() != DType::kUndefined)) continue;
    return Invalid("--dtype: the element type of input '", input->name(),
                   "' is not known; x2ir convert --dtype '", input->name(), ":float32' says it");
  }
  return absl::OkStatus();
}

std::vector<Type> OutputTypes(const Graph& graph) {
  std::vector<Type> types;
  for (const Value* output : graph.outputs()) types.push_back(output->type());
  return types;
}

// What the model declares of its outputs against what they turned out to be. Another element
// type is an error; another shape is a stale annotation, which happens, and a warning.
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

// Constants of a nested graph need file version 4: before it they had to be inputs too.
bool HasNestedConstants(const Graph& root) {
  std::vector<const Graph*> todo = {&root};
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    if (graph->parent_node() && graph->num_constants() != 0) return true;
    for (const Graph* inner : graph->NestedGraphs()) todo.push_back(inner);
  }
  return false;
}

// The oldest file version that has what the model uses: functions came with 8, defaults of their
// attributes with 9, their overloads and types, and metadata of nodes and graphs with 10.
int64_t OldestFileVersion(const Model& model, int64_t oldest) {
  for (const auto& function : model.functions) {
    if (!function->body) continue;  // the writer refuses it
    bool types = !function->overload.empty();
    for (const Node* node = function->body->first(); node; node = node->next()) {
      for (const Value* value : node->outputs()) types |= value && value->type().is_known();
    }
    for (const Value* value : function->body->inputs()) types |= value->type().is_known();
    const int64_t needs = types ? 10 : function->attribute_defaults.empty() ? 8 : 9;
    oldest = std::max(oldest, needs);
  }
  const auto has_metadata = [](const AnnotationsPtr& annotations) {
    return annotations.get() && !annotations.get()->metadata.empty();
  };
  std::vector<const Graph*> todo = {model.graph.get()};
  while (!todo.empty() && oldest < 10) {
    const Graph* graph = todo.back();
    todo.pop_back();
    bool metadata = has_metadata(graph->annotations());
    for (const Node* node : graph->nodes()) {
      metadata = metadata || has_metadata(node->annotations());
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
    }
    if (metadata) oldest = 10;
  }
  return oldest;
}

// The oldest file version for the other domains that the model imports.
int64_t OldestFileVersionOfDomains(const Model& model, const Dialect& dialect) {
  int64_t oldest = 0;
  for (const OpsetImport& import : model.opset_imports) {
    if (import.domain.empty() || import.domain == "ai.onnx") continue;
    for (int opset = 1; opset <= dialect.latest_opset; ++opset) {
      if (DomainVersion(&dialect, import.domain, opset) < import.version) continue;
      oldest = std::max<int64_t>(oldest, dialect.oldest_file_version(opset));
      break;
    }
  }
  return oldest;
}

absl::Status CheckExtraOpsets(const std::vector<OpsetImport>& extra, const Dialect* dialect) {
  for (const OpsetImport& import : extra) {
    const int newest = dialect ? DomainVersion(dialect, import.domain, dialect->latest_opset) : 0;
    if (import.version >= 1 && (newest == 0 || import.version <= newest)) continue;
    return Invalid("there is no version ", import.version, " of ", import.domain,
                   newest ? StrCat("; expected 1 to ", newest) : "");
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
  report.warnings.push_back(
      StrCat("inputs with unknown dims (", names, "); --shape NAME:1,3,... fixes them"));
}

// Whether a dialect has an op of its own for an IR op on operands of that type, without lowering
// or casts.
bool HasNatively(const Dialect* known, Symbol dialect, Symbol ir_op, DType type, int opset) {
  const Form* form = FindExportForm(dialect, ir_op, opset);
  if (!form) return false;
  if (!known || !known->schema) return true;
  const OpSchema* schema = known->schema(form->op, opset);
  const OperandSchema* operand = schema ? schema->InputAt(0) : nullptr;
  return operand && (operand->dtypes >> static_cast<int>(type) & 1) != 0;
}

absl::Status Optimize(Graph& graph, const std::vector<std::string>& names,
                      const PassContext& context, Report& report) {
  X2IR_ASSIGN_OR_RETURN(report.passes, RunPasses(graph, names, context));
  return absl::OkStatus();
}

absl::StatusOr<std::string> FormatOf(const std::string& path) {
  if (std::error_code error;
      std::filesystem::is_directory(path, error) && IsSavedModelFolder(path)) {
    return "tensorflow";
  }
  X2IR_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const absl::Span<const std::byte> head(file->data(), std::min(file->size(), kHeadSize));
  if (head.empty()) return DataLoss("'", path, "' is empty");
  for (const Format& format : kFormats) {
    if (format.looks_like(head, file->size())) return std::string(format.name);
  }
  // A broken file is what it is called, so that the reader can say where it breaks.
  for (const Format& format : kFormats) {
    if (path.ends_with(format.extension)) return std::string(format.name);
  }
  return DataLoss("'", path, "' is in no format that x2ir knows (", FormatNames(), ")");
}

}  // namespace

absl::StatusOr<std::string> DetectFormat(const std::string& path) {
  return Guarded([&] { return FormatOf(path); });
}

absl::StatusOr<Model> Load(const std::string& path, const std::string& format,
                           const LoadOptions& options) {
  std::string name = format;
  if (name.empty()) {
    X2IR_ASSIGN_OR_RETURN(name, DetectFormat(path));
  }
  const Format* found = FindFormat(name);
  if (!found)
    return Invalid("--from: there is no format '", name, "'; expected one of: ", FormatNames());
  (void)TakeMappingFault();  // whatever went before
  absl::StatusOr<Model> model = Guarded([&]() -> absl::StatusOr<Model> {
    // A folder's files are looked at when something is written of them.
    const auto file = MappedFile::Open(path);
    X2IR_ASSIGN_OR_RETURN(Model result, found->read(path, options));
    if (file.ok()) X2IR_RETURN_IF_ERROR(CheckUnchanged(**file));
    return result;
  });
  if (model.ok() && found->dialect != kIrDialect) model->source_dialect = found->dialect;
  return model;
}

namespace {
absl::Status ImportModel(Model& model, const ImportOptions& options, Report& report) {
  Graph& graph = *model.graph;
  if (!options.layout.empty() && options.layout != "channels_first" &&
      options.layout != "channels_last") {
    return Invalid("--layout: expected channels_first or channels_last, got '", options.layout,
                   "'");
  }
  if (options.opset) {
    if (*options.opset < 1) return Invalid("--opset: expected a positive number");
    model.SetOpset("", *options.opset);
  }
  if (const Dialect* known = FindDialect(model.source_dialect);
      known && known->schema && model.Opset("") > known->latest_opset) {
    return Unimplemented("the model is of opset ", model.Opset(""), " of ", known->name,
                         "; the newest that is known is ", known->latest_opset, " (--opset ",
                         known->latest_opset, " reads it as that)");
  }
  if (options.freeze_params) graph.FreezeInputs();
  if (const Dialect* known = FindDialect(model.source_dialect); known && known->prepare) {
    X2IR_RETURN_IF_ERROR(known->prepare(model, report.warnings));
  }
  if (!options.inputs.empty()) {
    X2IR_RETURN_IF_ERROR(FindTypesOf(model, options.inputs, options));
  }
  X2IR_RETURN_IF_ERROR(Cut(graph, options.inputs, options.outputs));
  X2IR_RETURN_IF_ERROR(OverrideInputs(graph, options.shapes, options.dtypes));
  X2IR_RETURN_IF_ERROR(graph.Sort());
  const std::vector<Type> declared = OutputTypes(graph);
  X2IR_RETURN_IF_ERROR(RewriteToIr(model, model.source_dialect, options.foreign,
                                   options.keep_functions, options.progress, report));
  X2IR_RETURN_IF_ERROR(report.ToStatus("cannot convert to IR"));
  if (!options.inputs.empty()) X2IR_RETURN_IF_ERROR(CheckInputTypes(graph));
  X2IR_RETURN_IF_ERROR(CompareOutputs(declared, graph, report));
  WarnUnknownDims(graph, report);
  if (options.optimize) {
    const PassContext context{.layout = options.layout};
    X2IR_RETURN_IF_ERROR(
        Optimize(graph, options.passes.value_or(DefaultPasses()), context, report));
  }
  report.nodes_written = static_cast<int64_t>(graph.TotalNodes());
  return absl::OkStatus();
}

absl::Status ExportModel(Model& model, const std::string& dialect, const ExportOptions& options,
                         Report& report) {
  Graph& graph = *model.graph;
  const Dialect* known = FindDialect(dialect);
  const bool home = model.source_dialect == dialect;  // back to where it came from
  const int source_opset = home ? static_cast<int>(model.Opset("")) : 0;
  int opset = options.opset.value_or(source_opset != 0 ? source_opset : kDefaultOpset);
  if (known && !options.opset) opset = std::min(opset, known->latest_opset);
  if (opset < 1 || (known && opset > known->latest_opset)) {
    return Invalid("there is no opset ", opset, " of ", dialect, "; expected 1 to ",
                   known ? known->latest_opset : opset);
  }
  // A model that was read at an older opset goes to the oldest that is written.
  const int oldest = known ? known->oldest_written_opset : 1;
  if (!options.opset) opset = std::max(opset, oldest);
  if (opset < oldest) {
    return Invalid("opset ", opset, " of ", dialect, " is not written; the oldest is ", oldest);
  }
  X2IR_RETURN_IF_ERROR(CheckExtraOpsets(options.extra_opsets, known));
  X2IR_RETURN_IF_ERROR(OverrideInputs(graph, options.shapes, {}));
  X2IR_RETURN_IF_ERROR(graph.Sort());
  const std::vector<Type> declared = OutputTypes(graph);
  X2IR_RETURN_IF_ERROR(InferGraph(graph));
  X2IR_RETURN_IF_ERROR(CompareOutputs(declared, graph, report));
  if (known && known->schema) X2IR_RETURN_IF_ERROR(CheckInputTypes(graph));
  X2IR_RETURN_IF_ERROR(InputsAsChannelsFirst(graph, options.inputs_as_nchw));
  X2IR_RETURN_IF_ERROR(OutputsAsChannelsFirst(graph, options.outputs_as_nchw));
  const std::vector<std::string> passes =
      !options.optimize ? std::vector<std::string>() : options.passes.value_or(DefaultPasses());
  const auto has_op = [&](Symbol ir_op, DType type) {
    return HasNatively(known, dialect, ir_op, type, opset);
  };
  const PassContext context{
      .dialect = dialect, .opset = opset, .has_op = has_op, .layout = known ? known->layout : ""};
  X2IR_RETURN_IF_ERROR(Optimize(graph, passes, context, report));

  if (!home) model.opset_imports.clear();
  const std::vector<OpsetImport> source_opsets = model.opset_imports;
  model.SetOpset("", opset);
  for (const OpsetImport& extra : options.extra_opsets) model.SetOpset(extra.domain, extra.version);
  X2IR_RETURN_IF_ERROR(
      RewriteFromIr(model, dialect, source_opsets, options.foreign.all, options.progress, report));
  if (options.foreign.all && !report.failures.empty()) {
    report.warnings.push_back(
        StrCat("kept as custom ops, which no runtime knows:\n", report.FailuresText()));
    report.ClearFailures();
  }
  X2IR_RETURN_IF_ERROR(
      report.ToStatus(StrCat("cannot express the model in ", dialect, " at opset ", opset)));

  if (known && known->oldest_file_version) {
    // The model's own file version where it stays at its opset; else the oldest that will do.
    if (!home || opset != source_opset || model.ir_version == 0) {
      model.ir_version = OldestFileVersion(model, known->oldest_file_version(opset));
    }
    model.ir_version = std::max(model.ir_version, OldestFileVersionOfDomains(model, *known));
    if (model.ir_version < 4 && HasNestedConstants(graph)) model.ir_version = 4;
  }
  model.source_dialect = dialect;
  report.nodes_written = static_cast<int64_t>(graph.TotalNodes());
  if (options.check && known) {
    const std::vector<std::string> problems = CheckAgainstSchemas(model, *known);
    if (!problems.empty()) {
      std::string text;
      for (const std::string& problem : problems) StrAppend(&text, "\n  ", problem);
      return CannotExpress("the exported model does not pass the check:", text);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Model> Import(const std::string& path, const ImportOptions& options,
                             Report* report) {
  X2IR_ASSIGN_OR_RETURN(Model model, Load(path, options.format, options.Loading()));
  X2IR_RETURN_IF_ERROR(ToIr(model, options, report));
  return model;
}

absl::Status ToIr(Model& model, const ImportOptions& options, Report* report) {
  Report own;
  return Guarded(model, [&] { return ImportModel(model, options, report ? *report : own); });
}

absl::Status FromIr(Model& model, const std::string& dialect, const ExportOptions& options,
                    Report* report) {
  Report own;
  return Guarded(model,
                 [&] { return ExportModel(model, dialect, options, report ? *report : own); });
}

absl::Status Export(Model ir, const std::string& path, const ExportOptions& options,
                    Report* report) {
  X2IR_RETURN_IF_ERROR(FromIr(ir, "onnx", options, report));
  if (options.before_writing) X2IR_RETURN_IF_ERROR(options.before_writing(ir));
  OnnxWriteOptions write;
  switch (options.external_data) {
    case ExportOptions::External::kAuto: write.external = OnnxWriteOptions::External::kAuto; break;
    case ExportOptions::External::kAlways:
      write.external = OnnxWriteOptions::External::kAlways;
      break;
    case ExportOptions::External::kNever:
      write.external = OnnxWriteOptions::External::kNever;
      break;
    case ExportOptions::External::kReference:
      write.external = OnnxWriteOptions::External::kReference;
      break;
  }
  write.max_external = options.external_data_limit;
  return Guarded([&] { return WriteOnnx(ir, path, write); });
}

absl::Status SaveIr(const Model& ir, const std::string& path, Weights weights) {
  IrWriteOptions options;
  options.reference_weights = weights == Weights::kReference;
  return Guarded([&] { return WriteIr(ir, path, options); });
}

}  // namespace x2ir
