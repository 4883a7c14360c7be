// The front door: formats and the two directions put together.
#include "x2ir/core/convert.h"

#include "x2ir/core/calibrate.h"
#include "x2ir/core/composites.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/core/convert_internal.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/core/schema_check.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/constant_order.h"
#include "x2ir/graph_wrapper/mappings.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/out_of_memory.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// What `work` gives, a Status or a StatusOr, unless a file that it reads failed it on the way: then
// nothing is as it seems.
template <typename Work>
auto Guarded(const Work& work) -> decltype(work()) {
  auto result = WithinMemory(work);
  if (absl::Status fault = TakeMappingFault(); !fault.ok()) return fault;
  if (!result.ok()) return WithShortMessage(StatusOf(result));
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

// For work that a caller's model must survive.
template <typename Work>
absl::Status InPlace(Model& model, const Work& work) {
  Model before;
  X2IR_RETURN_IF_ERROR(Guarded([&] {
    before = model.Clone();
    return absl::OkStatus();
  }));
  const absl::Status status = Guarded(model, work);
  if (!status.ok()) model = std::move(before);
  return status;
}

absl::Status SetOption(FormatOptions& options, const std::string& name, OptionValue value) {
  const auto it = options.values().find(name);
  if (it != options.values().end() && it->second != value) {
    return OptionError(name, "is given as ", OptionValueText(value), " and, by its name, as ",
                       OptionValueText(it->second));
  }
  options.Set(name, std::move(value));
  return absl::OkStatus();
}

// The options of the target by name, the members of ExportOptions that are such among them.
absl::StatusOr<FormatOptions> TargetOptions(const ExportOptions& options) {
  FormatOptions target = options.format_options;
  if (options.opset) X2IR_RETURN_IF_ERROR(SetOption(target, "opset", int64_t{*options.opset}));
  if (!options.extra_opsets.empty()) {
    std::vector<std::string> texts;
    for (const OpsetImport& import : options.extra_opsets) {
      texts.push_back(StrCat(import.domain, ":", import.version));
    }
    X2IR_RETURN_IF_ERROR(SetOption(target, "extra_opsets", std::move(texts)));
  }
  return target;
}

std::string Whose(const Format& format) { return StrCat("format '", format.name, "'"); }

// What would be lost without a word.
absl::Status CheckHolds(const Graph& graph, const ExportOptions& options, const Format& format) {
  if (!options.metadata.empty() && !format.metadata) {
    return OptionError("metadata", Whose(format), ", which is written, has no metadata");
  }
  if (format.input_defaults) return absl::OkStatus();
  if (options.params_as_inputs) {
    return OptionError("params_as_inputs", "inputs have no default values in ", Whose(format),
                       ", which is written");
  }
  for (const Value* input : graph.inputs()) {
    if (!input->constant()) continue;
    return CannotExpress("input '", input->name(),
                         "' has a default value, but inputs cannot have default values in ",
                         Whose(format), "; ", OptionText("freeze_params"), " makes it a constant");
  }
  return absl::OkStatus();
}

ExportOptions WithPassesOf(const Format& format, const Model& model, ExportOptions options) {
  if (!options.passes && format.passes) options.passes = format.passes(*model.graph);
  options.keep_modules = options.keep_modules || format.keeps_modules;
  return options;
}

// What ExportOptions::int8 asks for, before anything else.
absl::Status Quantize(Model& model, const std::string& dialect, const ExportOptions& options,
                      Report& report) {
  if (!options.int8) return absl::OkStatus();
  X2IR_RETURN_IF_ERROR(CheckCalibrates(options));
  X2IR_RETURN_IF_ERROR(
      ExportFunctions(model, dialect, nullptr, WhyNoFunctions(nullptr, options), report));
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases,
                        ReadCalibration(options.int8->calibrate, *model.graph));
  X2IR_ASSIGN_OR_RETURN(const Int8Result result, QuantizeAsAsked(model, cases, options, dialect));
  for (std::string& note : result.Notes()) report.notes.push_back(std::move(note));
  return absl::OkStatus();
}

// An IR model in a dialect.
absl::Status Express(Model& model, const std::string& dialect, const ExportOptions& options,
                     const FormatOptions& target, Report& report) {
  X2IR_RETURN_IF_ERROR(Quantize(model, dialect, options, report));
  return dialect == kIrDialect ? ExportIr(model, options, target, report)
                               : ExportModel(model, dialect, options, target, report);
}

// The message names the file that was read, and why it was taken for one of the format where its
// content does not show it. An error about an option does not depend on the file.
absl::Status NamingFile(absl::Status status, const Format& format, const Source& source) {
  if (OptionOf(status)) return status;
  const bool malformed = absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
  if (malformed && IsByName(format, source)) {
    status = absl::Status(status.code(),
                          StrCat(std::string(status.message()), "; the file is read as format '",
                                 format.name, "' because of its name"));
  }
  const std::string_view message(status.message().data(), status.message().size());
  if (message.find(source.name()) != message.npos) return status;
  return Annotate(status, StrCat("'", source.name(), "'"));
}

}  // namespace

bool ChangesIr(const ImportOptions& options) {
  return !options.weights_from.empty() || !options.shapes.empty() || !options.dynamic.empty() ||
         !options.dtypes.empty() || !options.example.empty() || !options.inputs.empty() ||
         !options.outputs.empty() || !options.fold_inputs.empty() || !options.rename.empty() ||
         options.from_opset || options.freeze_params.value_or(false) || options.optimize;
}

absl::StatusOr<std::string> DetectFormat(const Source& source) {
  return Guarded([&]() -> absl::StatusOr<std::string> {
    X2IR_ASSIGN_OR_RETURN(const Format* format, RecognizeFormat(source));
    return format->name;
  });
}

absl::StatusOr<Model> Load(const Source& source, const std::string& format,
                           const LoadOptions& options) {
  std::string name = format;
  if (name.empty()) {
    X2IR_ASSIGN_OR_RETURN(name, DetectFormat(source));
  }
  const Format* found = FindFormat(name);
  if (!found || !found->read) {
    return OptionError("format", "there is no format '", name,
                       "' to read; expected one of: ", FormatNames());
  }
  ReadRequest request{{}, options.inputs, options.outputs};
  X2IR_ASSIGN_OR_RETURN(request.options,
                        CheckOptions(options.format_options, found->read_options, Whose(*found)));
  (void)TakeMappingFault();  // whatever went before
  absl::StatusOr<Model> model = Guarded([&]() -> absl::StatusOr<Model> {
    // A folder's files are looked at when something is written of them.
    const auto file = source.Open();
    Source allowed = source;
    if (found->names_files) allowed.AllowOutside(request.options.Flag(kAllowOutside));
    X2IR_ASSIGN_OR_RETURN(Model result, found->read(allowed, request));
    if (file.ok() && (*file)->mapped()) X2IR_RETURN_IF_ERROR(CheckUnchanged(*(*file)->mapped()));
    return result;
  });
  if (!model.ok()) return NamingFile(model.status(), *found, source);
  // IR files hold models of any dialect, and some readers read several: they say which it was.
  if (found->dialect != kIrDialect && model->source_dialect.empty()) {
    model->source_dialect = found->dialect;
  }
  return model;
}

absl::StatusOr<Model> Import(const Source& source, const ImportOptions& options, Report* report) {
  ImportOptions import = options;
  if (import.format.empty()) {
    X2IR_ASSIGN_OR_RETURN(import.format, DetectFormat(source));
  }
  X2IR_ASSIGN_OR_RETURN(Model model, Load(source, import.format, options.Loading()));
  const Format* format = FindFormat(import.format);
  if (!import.freeze_params) import.freeze_params = format->dialect != kIrDialect;
  return ToIr(std::move(model), import, report);
}

absl::Status ToIr(Model& model, const ImportOptions& options, Report* report) {
  Report own;
  return InPlace(model, [&] { return ImportModel(model, options, report ? *report : own); });
}

absl::StatusOr<Model> ToIr(Model&& model, const ImportOptions& options, Report* report) {
  Report own;
  Model ir = std::move(model);
  X2IR_RETURN_IF_ERROR(
      Guarded(ir, [&] { return ImportModel(ir, options, report ? *report : own); }));
  return ir;
}

absl::Status FromIr(Model& model, const std::string& dialect, const ExportOptions& options,
                    Report* report) {
  Report own;
  X2IR_ASSIGN_OR_RETURN(const FormatOptions target, TargetOptions(options));
  return InPlace(model,
                 [&] { return Express(model, dialect, options, target, report ? *report : own); });
}

absl::StatusOr<Model> FromIr(Model&& model, const std::string& dialect,
                             const ExportOptions& options, Report* report) {
  Report own;
  Model result = std::move(model);
  X2IR_ASSIGN_OR_RETURN(const FormatOptions target, TargetOptions(options));
  X2IR_RETURN_IF_ERROR(Guarded(
      result, [&] { return Express(result, dialect, options, target, report ? *report : own); }));
  return result;
}

absl::Status Export(Model&& ir, const Sink& sink, const ExportOptions& options, Report* report) {
  Report own;
  Report& said = report ? *report : own;
  Model model = std::move(ir);
  X2IR_ASSIGN_OR_RETURN(const Format* format, FormatToWrite(options.format, sink.name()));
  X2IR_ASSIGN_OR_RETURN(FormatOptions target, TargetOptions(options));
  X2IR_ASSIGN_OR_RETURN(target, CheckOptions(target, format->write_options, Whose(*format)));
  X2IR_RETURN_IF_ERROR(CheckHolds(*model.graph, options, *format));
  FormatOptions dialect_options = target;
  dialect_options.Set(kLacksOps, format->lacks_ops);
  dialect_options.Set(kToFormat, format->name);
  X2IR_RETURN_IF_ERROR(Guarded(model, [&] {
    const bool is_ir = format->dialect == kIrDialect;
    return Express(model, format->dialect, is_ir ? options : WithPassesOf(*format, model, options),
                   dialect_options, said);
  }));
  if (options.before_writing) X2IR_RETURN_IF_ERROR(options.before_writing(model));
  X2IR_RETURN_IF_ERROR(CheckGoOn(options.progress, *model.graph));
  return Guarded([&] { return format->write(model, sink, target); });
}

absl::Status Convert(const Source& source, const Sink& sink, const ConvertOptions& options,
                     Report* report) {
  Report own;
  Report& said = report ? *report : own;
  // What cannot be written is not read.
  X2IR_ASSIGN_OR_RETURN(const Format* format, FormatToWrite(options.to.format, sink.name()));
  X2IR_ASSIGN_OR_RETURN(const FormatOptions target, TargetOptions(options.to));
  X2IR_RETURN_IF_ERROR(CheckOptions(target, format->write_options, Whose(*format)).status());
  ImportOptions from = options.from;
  from.foreign.target = format->dialect;
  if (from.format.empty()) {
    X2IR_ASSIGN_OR_RETURN(from.format, DetectFormat(source));
  }
  const Format* source_format = FindFormat(from.format);
  ExportOptions to = options.to;
  X2IR_RETURN_IF_ERROR(SettleInt8(source_format, from, to));
  const bool holds_ir = source_format && source_format->dialect == kIrDialect;
  if (options.to.check) X2IR_RETURN_IF_ERROR(CheckCanCheck(source_format, format));
  X2IR_ASSIGN_OR_RETURN(Model loaded, Load(source, from.format, from.Loading()));
  bool as_it_is = holds_ir && !ChangesIr(from);
  if ((as_it_is || from.keep_functions) && MustInline(loaded, *format, to, said)) {
    as_it_is = from.keep_functions = false;
  }
  if (as_it_is) return Export(std::move(loaded), sink, to, &said);
  if (!from.freeze_params) from.freeze_params = !holds_ir;
  DecomposeAsAsked(loaded.source_dialect, to, from);
  if (options.to.check) X2IR_RETURN_IF_ERROR(CheckAsRead(loaded, source_format->dialect, said));
  X2IR_ASSIGN_OR_RETURN(Model model, ToIr(std::move(loaded), from, &said));
  if (format->dialect != kIrDialect) {
    said = std::move(said).OfBoth();
    X2IR_RETURN_IF_ERROR(Guarded([&] {
      model.graph = MadeAnew(*model.graph);
      return absl::OkStatus();
    }));
  }
  return Export(std::move(model), sink, to, &said);
}

absl::Status Write(const Model& model, const Sink& sink, const std::string& format,
                   const FormatOptions& options) {
  X2IR_ASSIGN_OR_RETURN(const Format* found, FormatToWrite(format, sink.name()));
  X2IR_ASSIGN_OR_RETURN(const FormatOptions checked,
                        CheckOptions(options, found->write_options, Whose(*found)));
  return Guarded([&] { return found->write(model, sink, checked); });
}

}  // namespace x2ir
