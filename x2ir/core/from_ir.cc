// From IR to a model as a file of the target has it.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/core/convert_internal.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/dialect_target.h"
#include "x2ir/core/driver.h"
#include "x2ir/core/edit/edit.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/edit/interface.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/core/loop_as_while.h"
#include "x2ir/core/schema_check.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/narrow_floats.h"
#include "x2ir/optimizer/transpose/io_layout.h"
#include "x2ir/optimizer/widen_weights.h"

namespace x2ir {
namespace {

// "com.acme:2", each.
absl::StatusOr<std::vector<OpsetImport>> ExtraOpsets(const FormatOptions& target,
                                                     const Dialect* dialect) {
  std::vector<OpsetImport> all;
  for (const std::string& text : target.List("extra_opsets")) {
    const size_t colon = text.rfind(':');
    const auto version =
        colon == text.npos ? std::nullopt : ParseNumber<int64_t>(text.substr(colon + 1));
    if (!version || colon == 0) {
      return OptionError("extra_opsets", "'", text, "': expected DOMAIN:V, as in com.acme:2");
    }
    const OpsetImport import{text.substr(0, colon), *version};
    const int newest = dialect ? DomainVersion(dialect, import.domain, dialect->latest_opset) : 0;
    if (import.version < 1 || (newest != 0 && import.version > newest)) {
      return OptionError("extra_opsets", "there is no version ", import.version, " of ",
                         import.domain, newest ? StrCat("; expected 1 to ", newest) : "");
    }
    all.push_back(import);
  }
  return all;
}

// The opset to write: the one that is asked for, or the model's own if it came from that dialect
// (`own`, else 0), or the dialect's default.
absl::StatusOr<int> OpsetToWrite(const Dialect* known, const std::string& dialect,
                                 std::optional<int64_t> wanted, int own) {
  const int oldest = known ? known->oldest_written_opset : 1;
  const int latest = known ? known->latest_opset : std::numeric_limits<int32_t>::max();
  if (!wanted) {
    const int usual = !known ? 1 : known->default_opset != 0 ? known->default_opset : latest;
    // A model that was read at an older opset is written at the oldest supported opset.
    return std::max(oldest, std::min(latest, own != 0 ? own : usual));
  }
  if (*wanted < 1 || *wanted > latest) {
    return OptionError("opset", "there is no opset ", *wanted, " of ", dialect, "; expected 1 to ",
                       latest);
  }
  if (*wanted < oldest) {
    return OptionError("opset", "opset ", *wanted, " of ", dialect,
                       " is not written; the oldest is ", oldest);
  }
  return static_cast<int>(*wanted);
}

// A target that has some more ops, as its newest version has them.
class TargetWithMore : public Target {
 public:
  TargetWithMore(const Target& target, const Target& newest, std::vector<Symbol> ops)
      : target_(target), newest_(newest), ops_(std::move(ops)) {}
  bool Holds(const Fact& fact) const override {
    const bool more = std::find(ops_.begin(), ops_.end(), fact.op) != ops_.end();
    return target_.Holds(fact) || (more && newest_.Holds(fact));
  }
  FirstVersion Later(const Fact& fact) const override { return target_.Later(fact); }
  std::string_view layout() const override { return target_.layout(); }

 private:
  const Target &target_, &newest_;
  const std::vector<Symbol> ops_;
};

// Whether the file will refer to weights that lie in other files.
bool RefersToWeights(const FormatOptions& target) {
  return target.Text("external_data") == "reference" || target.Text("weights") == "reference";
}

bool HasUnknownSizes(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    for (const Value* value : node->outputs()) {
      if (!value || !value->type().is_tensor()) continue;
      const Shape* shape = value->shape();
      if (!shape || std::any_of(shape->begin(), shape->end(),
                                [](const Dim& dim) { return dim.is_unknown(); })) {
        return true;
      }
    }
  }
  return false;
}

// Inputs and outputs get the layout that options say.
absl::Status ReorderAxes(Graph& graph, const ExportOptions& options, Interface& interface) {
  struct Row {
    const std::vector<std::string>& names;
    absl::Status (*reorder)(Graph&, const std::vector<std::string>&);
    Perm (*perm)(int64_t);
    std::vector<InterfaceChange>& ports;
  };
  for (const Row& row :
       {Row{options.inputs_as_nchw, InputsAsChannelsFirst, ToChannelsFirst, interface.inputs},
        Row{options.inputs_as_nhwc, InputsAsChannelsLast, ToChannelsLast, interface.inputs},
        Row{options.outputs_as_nchw, OutputsAsChannelsFirst, ToChannelsFirst, interface.outputs},
        Row{options.outputs_as_nhwc, OutputsAsChannelsLast, ToChannelsLast, interface.outputs}}) {
    X2IR_RETURN_IF_ERROR(row.reorder(graph, row.names));
    for (const std::string& name : row.names) {
      NotePerm(AsInts(row.perm(graph.Find(name)->shape()->rank())), name, row.ports);
    }
  }
  return absl::OkStatus();
}

// Weights of float16 and bfloat16 stay where an option asks for it.
bool WidensWeights(const ExportOptions& options, const FormatOptions& target) {
  return !options.keep_weight_types && !options.narrow_floats && !target.Flag("float16");
}

// The passes, on weights that are float32 where the graph computes in it: those that were found so,
// and those that passes left so.
absl::Status OptimizeWidened(Graph& graph, const ExportOptions& options,
                             const std::vector<std::string>& passes, const FormatOptions& target,
                             const PassContext& context, Report& report) {
  Widened now;
  int64_t all = 0;
  for (bool first = true; !passes.empty(); first = false) {
    if (WidensWeights(options, target)) {
      X2IR_ASSIGN_OR_RETURN(now, WidenWeights(graph, context));
    }
    if (!first && now.weights == 0) break;
    all += now.weights;
    X2IR_RETURN_IF_ERROR(Optimize(graph, passes, context, options.progress, report));
  }
  const auto weights = [](int64_t n) {
    return StrCat(n, n == 1 ? " weight" : " weights", " of float16 or bfloat16");
  };
  if (all > 0) {
    report.notes.push_back(StrCat(weights(all), " became float32, without rounding; ",
                                  OptionText("keep_weight_types"), " keeps the type"));
  }
  if (now.in_file > 0) {
    report.notes.push_back(StrCat(weights(now.in_file), now.in_file == 1 ? " stays" : " stay",
                                  " so, with a cast: the file refers to where ",
                                  now.in_file == 1 ? "it lies" : "they lie"));
  }
  return absl::OkStatus();
}

// Float32 becomes what the options say; then the passes again, for what that left.
absl::Status NarrowAsAsked(Graph& graph, const ExportOptions& options,
                           const std::vector<std::string>& passes, const PassContext& context,
                           Report& report) {
  if (!options.narrow_floats) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(Narrowed narrowed, NarrowFloats(graph, {*options.narrow_floats,
                                                                options.keep_io, options.keep}));
  for (const std::string& name : narrowed.unknown) {
    std::vector<std::string> known;
    for (const Node* node : graph.nodes()) {
      known.push_back(node->op().str());
      known.push_back(node->name());
    }
    return OptionError("keep", "there is no op and no node '", name, "' where float32 becomes ",
                       Name(*options.narrow_floats),
                       "; passes may have merged the node into another one",
                       DidYouMean(name, known));
  }
  X2IR_RETURN_IF_ERROR(graph.Sort());
  std::string stays;
  for (const auto& [op, count] : narrowed.stays) {
    StrAppend(&stays, stays.empty() ? "; stay float32: " : ", ", op,
              count > 1 ? StrCat(" ", count) : "");
  }
  report.notes.push_back(StrCat(Name(*options.narrow_floats), ": ", narrowed.weights,
                                narrowed.weights == 1 ? " weight, " : " weights, ", narrowed.casts,
                                narrowed.casts == 1 ? " cast" : " casts", stays));
  for (std::string& note : narrowed.notes) report.notes.push_back(std::move(note));
  for (std::string& warning : narrowed.warnings) report.warnings.push_back(std::move(warning));
  return Optimize(graph, passes, context, options.progress, report);
}

int64_t CountTransposes(const Graph& graph) {
  int64_t count = 0;
  for (const Node* node : graph.nodes()) count += node->Is("transpose");
  return count;
}

}  // namespace

absl::Status CheckGoOn(const ProgressFn& progress, const Graph& graph) {
  if (!progress) return absl::OkStatus();
  const auto nodes = static_cast<int64_t>(graph.TotalNodes());
  return progress(nodes, nodes) ? absl::OkStatus() : absl::CancelledError("cancelled");
}

absl::Status Optimize(Graph& graph, const std::vector<std::string>& names, PassContext context,
                      const ProgressFn& progress, Report& report) {
  // Most of the work is that of the first round, in which each pass runs once.
  int64_t begun = 0;
  if (progress) {
    context.go_on = [&, all = static_cast<int64_t>(names.size()) + 1] {
      const auto nodes = static_cast<int64_t>(graph.TotalNodes());
      begun = std::min(begun + 1, all - 1);
      return progress(nodes * begun / all, nodes);
    };
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<PassResult> passes, RunPasses(graph, names, context));
  report.passes.insert(report.passes.end(), passes.begin(), passes.end());
  return absl::OkStatus();
}

namespace {

// What makes a graph of IR one that is to be written: passes, what the dialect fuses, and the
// element types that options ask for.
struct Preparation {
  const ExportOptions& options;
  const FormatOptions& target;
  const Dialect* known;  // of the target; may be null
  const DialectTarget& facts;
  const std::vector<std::string>& passes;
  PassContext context;

  absl::Status Run(Graph& graph, Report& report) {
    bool fuses = false;
    if (known && known->fuse && known->fused_ops) {
      if (std::vector<Symbol> fused = known->fused_ops(target); !fused.empty()) {
        const DialectTarget newest(known->name, {{"", known->latest_opset}});
        const TargetWithMore more(facts, newest, std::move(fused));
        context.target = &more;
        X2IR_RETURN_IF_ERROR(OptimizeWidened(graph, options, passes, target, context, report));
        known->fuse(graph, facts);
        X2IR_RETURN_IF_ERROR(graph.Sort());
        context.target = &facts;
        fuses = true;
      }
    }
    X2IR_RETURN_IF_ERROR(fuses ? Optimize(graph, passes, context, options.progress, report)
                               : OptimizeWidened(graph, options, passes, target, context, report));
    if (known && known->fuse && !known->fused_ops) {
      known->fuse(graph, facts);
      X2IR_RETURN_IF_ERROR(graph.Sort());
    }
    X2IR_RETURN_IF_ERROR(NarrowAsAsked(graph, options, passes, context, report));
    MarkOwnConditions(graph);
    // What passes made constant may tell sizes that were not known.
    return passes.empty() || !HasUnknownSizes(graph) ? absl::OkStatus() : InferGraph(graph);
  }
};

// Counts, warnings and notes of a function that is written.
void Add(Report part, Report& report) {
  for (const auto& [op, count] : part.ops) {
    OpCount& all = report.ops[op];
    all.mapped += count.mapped;
    all.foreign += count.foreign;
    all.lowered += count.lowered;
  }
  for (auto member : {&Report::warnings, &Report::notes}) {
    for (std::string& text : part.*member) {
      auto& all = report.*member;
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    }
  }
}

}  // namespace

absl::Status ExportModel(Model& model, const std::string& dialect, const ExportOptions& given,
                         const FormatOptions& target, Report& report) {
  Graph& graph = *model.graph;
  const Dialect* known = FindDialect(dialect);
  ExportOptions options = given;
  if (const Dialect* source = FindDialect(model.source_dialect);
      source && source->weights_keep_types && known && known->folds_constants) {
    options.keep_weight_types = true;
  }
  const bool home = model.source_dialect == dialect;  // back to where it came from
  const int source_opset = home ? static_cast<int>(model.Opset("")) : 0;
  X2IR_ASSIGN_OR_RETURN(const int opset,
                        OpsetToWrite(known, dialect, target.Int("opset"), source_opset));
  X2IR_ASSIGN_OR_RETURN(const std::vector<OpsetImport> extra_opsets, ExtraOpsets(target, known));
  X2IR_ASSIGN_OR_RETURN(const std::vector<TracedSize> sizes,
                        OverrideInputs(graph, {options.shapes, {}, options.dynamic}));
  X2IR_RETURN_IF_ERROR(graph.Sort());
  const std::vector<Type> declared = OutputTypes(graph);
  // What passes leave of them is something else.
  if (report.nodes_read == 0) report.nodes_read = static_cast<int64_t>(graph.TotalNodes());
  if (report.ops_read.empty()) report.ops_read = CountOps(graph);
  const std::vector<std::string> passes = options.optimize.value_or(true)
                                              ? options.passes.value_or(DefaultPasses())
                                              : std::vector<std::string>();
  std::vector<OpsetImport> imports = {{"", opset}};
  imports.insert(imports.end(), extra_opsets.begin(), extra_opsets.end());
  const DialectTarget facts(dialect, imports, target.List(kLacksOps));
  Preparation preparation{
      options,
      target,
      known,
      facts,
      passes,
      PassContext{.target = &facts,
                  .refers_to_weights = RefersToWeights(target),
                  .keeps_weight_types = options.keep_weight_types,
                  .layout = target.Flag("keep_nchw") ? "" : std::string(facts.layout()),
                  .keeps_modules = options.keep_modules}};
  std::vector<OpsetImport> of_functions;
  const auto write_function = [&](Model& part) -> absl::Status {
    Report own;
    part.opset_imports = imports;
    X2IR_RETURN_IF_ERROR(InferGraph(*part.graph));
    if (known && known->before_passes) X2IR_RETURN_IF_ERROR(known->before_passes(*part.graph));
    X2IR_RETURN_IF_ERROR(preparation.Run(*part.graph, own));
    X2IR_RETURN_IF_ERROR(RewriteFromIr(part, dialect, {}, /*keep_failed=*/false,
                                       target.List(kLacksOps), options.progress, own));
    if (!own.failures.empty()) {
      return CannotExpress(own.failures[0].op, ": ", own.failures[0].reason);
    }
    if (known && known->before_write) X2IR_RETURN_IF_ERROR(known->before_write(part, target));
    of_functions.insert(of_functions.end(), part.opset_imports.begin(), part.opset_imports.end());
    Add(std::move(own), report);
    return absl::OkStatus();
  };
  const Format* format = FindFormat(target.Text(kToFormat));
  X2IR_RETURN_IF_ERROR(
      ExportFunctions(model, dialect, write_function, WhyNoFunctions(format, options), report));
  X2IR_RETURN_IF_ERROR(InferGraph(graph));
  X2IR_RETURN_IF_ERROR(CompareOutputs(declared, graph, report));
  X2IR_RETURN_IF_ERROR(MakeSymbolic(graph, sizes, &report.warnings));
  WarnUnknownDims(graph, report);
  if (known && known->schema) X2IR_RETURN_IF_ERROR(CheckInputTypes(graph));
  if (!report.interface.known) report.interface = InterfaceOf(graph);
  if (known && known->before_passes) X2IR_RETURN_IF_ERROR(known->before_passes(graph));
  X2IR_RETURN_IF_ERROR(ReorderAxes(graph, options, report.interface));
  X2IR_RETURN_IF_ERROR(preparation.Run(graph, report));

  report.opset = !known || known->latest_opset > 1 ? opset : 0;
  report.transposes = CountTransposes(graph);
  if (options.strip_names) StripNames(graph);
  if (!home) model.opset_imports.clear();
  const std::vector<OpsetImport> source_opsets = model.opset_imports;
  model.SetOpset("", opset);
  for (const OpsetImport& extra : extra_opsets) model.SetOpset(extra.domain, extra.version);
  const bool keeps = options.foreign.all && (!known || known->holds_any_ops);
  X2IR_RETURN_IF_ERROR(RewriteFromIr(model, dialect, source_opsets, keeps, target.List(kLacksOps),
                                     options.progress, report));
  if (keeps && !report.failures.empty()) {
    report.warnings.push_back(
        StrCat("kept as custom ops, which no runtime supports:\n", report.FailuresText()));
    report.ClearFailures();
  }
  const bool has_opsets = !known || known->latest_opset > 1;
  X2IR_RETURN_IF_ERROR(report.ToStatus(StrCat("cannot express the model in ", dialect,
                                              has_opsets ? StrCat(" at opset ", opset) : "")));

  for (const OpsetImport& import : of_functions) {
    if (model.Opset(import.domain) == 0) model.SetOpset(import.domain, import.version);
  }
  if (options.params_as_inputs) ParamsAsInputs(graph);
  SetMetadata(model, options.metadata);
  // The file's own version holds where the model stays what it was; else the dialect says which.
  if (!home || opset != source_opset) model.ir_version = 0;
  if (known && known->before_write) X2IR_RETURN_IF_ERROR(known->before_write(model, target));
  model.source_dialect = dialect;
  Update(graph, report.interface);
  report.nodes_written = static_cast<int64_t>(graph.TotalNodes());
  report.ops_written = CountOps(graph);
  if (options.check && known) {
    const std::vector<std::string> problems = CheckAgainstSchemas(model, *known);
    if (!problems.empty()) {
      return CannotExpress("the exported model does not pass the check:", ProblemsText(problems));
    }
  }
  return absl::OkStatus();
}

absl::Status ExportIr(Model& model, const ExportOptions& options, const FormatOptions& target,
                      Report& report) {
  Graph& graph = *model.graph;
  if (report.ops_read.empty()) report.ops_read = CountOps(graph);
  if (!options.shapes.empty() || !options.dynamic.empty()) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<TracedSize> sizes,
                          OverrideInputs(graph, {options.shapes, {}, options.dynamic}));
    X2IR_RETURN_IF_ERROR(graph.Sort());
    X2IR_RETURN_IF_ERROR(InferGraph(graph));
    X2IR_RETURN_IF_ERROR(MakeSymbolic(graph, sizes, &report.warnings));
  }
  if (!report.interface.known) report.interface = InterfaceOf(graph);
  X2IR_RETURN_IF_ERROR(ReorderAxes(graph, options, report.interface));
  PassContext context;
  std::vector<std::string> passes;
  if (options.optimize.value_or(options.passes.has_value())) {
    const std::string& layout = target.Text("layout");
    context = {.refers_to_weights = RefersToWeights(target),
               .layout = layout == "keep" ? "" : layout};
    passes = options.passes.value_or(DefaultPasses());
    X2IR_RETURN_IF_ERROR(OptimizeWidened(graph, options, passes, target, context, report));
  }
  X2IR_RETURN_IF_ERROR(NarrowAsAsked(graph, options, passes, context, report));
  if (options.strip_names) StripNames(graph);
  if (options.params_as_inputs) ParamsAsInputs(graph);
  SetMetadata(model, options.metadata);
  Update(graph, report.interface);
  report.nodes_written = static_cast<int64_t>(graph.TotalNodes());
  report.ops_written = CountOps(graph);
  report.transposes = CountTransposes(graph);
  return absl::OkStatus();
}

}  // namespace x2ir
