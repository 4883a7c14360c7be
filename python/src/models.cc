// Model: load, save, run, verify; and conversions without one.
#include "models.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <map>

#include "errors.h"
#include "tensors.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/io_file.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/info.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/infer.h"
#include "x2ir/runtimes/check.h"

namespace x2ir::python {

void Settle(ModelScope& scope) {
  if (!scope.edited) return;
  scope.CheckEditable();
  Graph& graph = *scope.model.graph;
  Check(graph.Sort());
  if (const auto wrong = graph.Validate(); !wrong.empty()) {
    throw py::value_error("the graph is not valid: " + wrong.front());
  }
  if (scope.is_ir) Check(InferGraph(graph));
  ImportWhatNodesNeed(scope);
  scope.edited = false;
}

void NeedIr(const ModelScope& scope) {
  if (!scope.is_ir) throw py::value_error("the model is not IR; to_ir() makes it so");
}

std::vector<IoCase> CasesOf(const py::object& io, const Graph& graph) {
  std::vector<IoCase> cases;
  if (py::isinstance<py::str>(io)) {
    cases = Get(ReadIoFile(io.cast<std::string>(), graph));
  } else if (!io.is_none()) {
    std::vector<NamedTensor> tensors;
    for (const auto& [name, tensor] : io.cast<py::dict>()) {
      tensors.push_back({Words(name), tensor.cast<const PyTensor&>().tensor});
    }
    absl::StatusOr<std::vector<IoCase>> bound = BindIo(tensors, graph);
    CheckInput(bound.status());
    cases = *std::move(bound);
  }
  return cases;
}

namespace {

using ReportPtr = std::shared_ptr<Report>;
using ModelPtr = std::shared_ptr<ModelScope>;

// Asks Python for a file that a model in memory names.
Source::Resolver ResolverOf(const py::object& resolve) {
  if (resolve.is_none()) return {};
  // The function may be copied and dropped without the GIL.
  const std::shared_ptr<const void> kept = Keep(resolve);
  return [kept](const std::string& name) -> absl::StatusOr<HeldBytes> {
    const py::gil_scoped_acquire acquire;
    try {
      const py::handle callable(static_cast<PyObject*>(const_cast<void*>(kept.get())));
      const py::object bytes = callable(TextOf(name));
      if (bytes.is_none()) return NotFound("there is no file '", name, "'");
      return BytesOf(bytes);
    } catch (py::error_already_set& error) {
      return NotFound("file '", name, "': ", std::string(error.what()));
    }
  };
}

// A path (str), or bytes and what they are called.
Source SourceOf(const py::object& source, const std::string& name, const py::object& resolve) {
  if (py::isinstance<py::str>(source)) return Source(source.cast<std::string>());
  return Source::Bytes(BytesOf(source), ResolverOf(resolve), name);
}

// The text of an option that says a format ("from", "to"), which is taken out.
std::string TakeFormat(OptionTexts& texts, std::string_view key) {
  std::string name;
  const auto is = [&](const auto& option) { return option.first == key; };
  for (const auto& option : texts) {
    if (is(option)) name = option.second;
  }
  texts.erase(std::remove_if(texts.begin(), texts.end(), is), texts.end());
  return name;
}

// What is written to a file of that name: what "to" says, the name, or ONNX.
const Format& TargetOf(OptionTexts& texts, const std::string& name) {
  const std::string to = TakeFormat(texts, "to");
  if (to.empty() && name.empty()) return *FindFormat("onnx");
  const absl::StatusOr<const Format*> format = FormatToWrite(to, name);
  if (format.ok()) return **format;
  // The option that it is about is `to` here, or none: then it is the name that is wrong.
  std::string problem(format.status().message());
  const std::string about = OptionText("format") + ": ";
  if (problem.starts_with(about)) problem.erase(0, about.size());
  Raise(to.empty() ? Invalid(problem, "; to= sets the format for any name")
                   : OptionError("to", problem),
        nullptr, Fault::kOption);
}

// What is read: what "from" says, or the file.
absl::StatusOr<const Format*> FormatOf(const std::string& from, const Source& source) {
  if (from.empty()) return RecognizeFormat(source);
  if (const Format* format = FindFormat(from)) return format;
  return OptionError("format", "there is no format '", from,
                     "' to read; expected one of: ", FormatNames());
}

// --- Reading and converting -------------------------------------------------------------------

ModelPtr LoadModel(const py::object& from, const std::string& name, const py::object& resolve,
                   bool raw, OptionTexts named, const py::object& progress) {
  const Source source = SourceOf(from, name, resolve);
  const std::string format = TakeFormat(named, "from");
  ImportOptions options;
  const auto report = std::make_shared<Report>();
  Watch watch(progress);
  auto model = watch.Run([&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(const Format* from, FormatOf(format, source));
    X2IR_ASSIGN_OR_RETURN(ConvertOptions parsed, ParseConversion(named, from, nullptr));
    options = std::move(parsed.from);
    options.progress = watch.fn();
    return raw ? Load(source, options.format, options.Loading())
               : Import(source, options, report.get());
  });
  auto scope = std::make_shared<ModelScope>(Get(std::move(model), report));
  scope->report = report;
  scope->format = options.format;
  scope->is_ir = !raw || FindFormat(options.format)->dialect == kIrDialect;
  return scope;
}

py::object ConvertModel(const py::object& from, const std::string& name, const py::object& resolve,
                        const std::string& out, OptionTexts named, const py::object& progress) {
  const Source source = SourceOf(from, name, resolve);
  const Format& target = TargetOf(named, out);
  const std::string format = TakeFormat(named, "from");
  const auto report = std::make_shared<Report>();
  Watch watch(progress);
  std::string bytes;
  const absl::Status status = watch.Run([&]() -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const Format* from_format, FormatOf(format, source));
    X2IR_ASSIGN_OR_RETURN(ConvertOptions options, ParseConversion(named, from_format, &target));
    options.from.progress = options.to.progress = watch.fn();
    return AtLeastOpset(target, options.to, *report, [&](const ExportOptions& to, Report& said) {
      bytes.clear();
      const Sink sink = out.empty() ? Sink::To(&bytes) : Sink(out);
      return Convert(source, sink, {options.from, to}, &said);
    });
  });
  Check(status, report);
  if (out.empty()) return py::bytes(bytes);
  return py::cast(report);
}

// --- Writing ----------------------------------------------------------------------------------

// The properties of the file of a model that was built node by node.
Model Finished(const ModelScope& scope, const FormatOptions& options) {
  Model model = scope.model.Clone();
  const Dialect* dialect = FindDialect(model.source_dialect);
  if (dialect && dialect->before_write) Check(dialect->before_write(model, options));
  return model;
}

py::object WriteModel(const ModelPtr& self, const std::string& out, OptionTexts named,
                      const py::object& progress) {
  Settle(*self);
  const Format& target = TargetOf(named, out);
  ExportOptions options = GetOptions(ParseConversion(named, nullptr, &target)).to;
  if (options.int8 && !self->is_ir) {
    Raise(OptionError("int8", "the model is not IR; to_ir() makes it so"), nullptr, Fault::kOption);
  }
  const auto report = std::make_shared<Report>();
  Watch watch(progress);
  options.progress = watch.fn();
  std::string bytes;
  absl::Status status;
  std::optional<Model> finished;
  if (self->made && !self->is_ir) finished = Finished(*self, options.format_options);
  {
    const Reading reading(*self);
    status = watch.Run([&] {
      const auto sink = [&] {
        bytes.clear();
        return out.empty() ? Sink::To(&bytes) : Sink(out);
      };
      if (!self->is_ir) {
        const Model* model = finished ? &*finished : &self->model;
        return Write(*model, sink(), target.name, options.format_options);
      }
      return AtLeastOpset(target, options, *report, [&](const ExportOptions& to, Report& said) {
        return Export(self->model.Clone(), sink(), to, &said);
      });
    });
  }
  Check(status, report);
  self->report = report;
  if (out.empty()) return py::bytes(bytes);
  return py::none();
}

// To IR, or to a dialect: another model.
ModelPtr Rewritten(const ModelPtr& self, const std::string& dialect, OptionTexts named,
                   const py::object& progress) {
  Settle(*self);
  const bool to_ir = dialect.empty();
  const std::string other = to_ir ? self->model.source_dialect : dialect;
  const Format* format = FindFormat(other);
  Format plain;  // of a dialect without files
  plain.name = plain.dialect = other;
  if (!format) format = &plain;
  auto [from, to] =
      GetOptions(ParseConversion(named, to_ir ? format : nullptr, to_ir ? nullptr : format));
  Watch watch(progress);
  from.progress = to.progress = watch.fn();
  const auto report = std::make_shared<Report>();
  absl::StatusOr<Model> model = [&] {
    const Reading reading(*self);
    return watch.Run([&] {
      return to_ir ? ToIr(self->model.Clone(), from, report.get())
                   : FromIr(self->model.Clone(), dialect, to, report.get());
    });
  }();
  auto scope = std::make_shared<ModelScope>(Get(std::move(model), report));
  scope->report = report;
  scope->is_ir = to_ir;
  return scope;
}

// --- Copies -----------------------------------------------------------------------------------

constexpr char kPickled[] = "model.json";

// The files of the IR that hold the model, of whatever dialect, by their names.
py::dict FilesOf(const ModelPtr& self) {
  Settle(*self);
  std::map<std::string, std::string, std::less<>> files;
  const Sink sink = Sink::Files(kPickled, [&](std::string_view file, std::string_view bytes) {
    files[std::string(file)] += bytes;
    return absl::OkStatus();
  });
  {
    const Reading reading(*self);
    const py::gil_scoped_release release;
    const absl::Status status = Write(self->model, sink, "ir", {});
    if (!status.ok()) {
      const py::gil_scoped_acquire acquire;
      Raise(status);
    }
  }
  py::dict all;
  for (const auto& [name, bytes] : files) all[TextOf(name)] = py::bytes(bytes);
  return all;
}

ModelPtr ModelOfFiles(const py::dict& files, bool is_ir, bool made, const std::string& format) {
  const Source source =
      Source::Bytes(BytesOf(files[kPickled]), ResolverOf(files.attr("get")), kPickled);
  auto scope = std::make_shared<ModelScope>(Get(Load(source, "ir")));
  scope->is_ir = is_ir;
  scope->made = made;
  scope->format = format;
  return scope;
}

// --- Running ----------------------------------------------------------------------------------

std::vector<Datum> RunOn(ModelScope& scope, const IoCase& io, const py::object& progress) {
  CheckInput(CheckInputs(*scope.model.graph, io.inputs));
  Watch watch(progress);
  const Reading reading(scope);
  return Get(watch.Run([&] { return RunCase(*scope.model.graph, io, watch.fn()); }));
}

py::dict RunModel(const ModelPtr& self, const py::dict& inputs, const py::object& progress) {
  NeedIr(*self);
  Settle(*self);
  const Graph& graph = *self->model.graph;
  IoCase io;
  io.inputs.resize(graph.inputs().size());
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    names.push_back(graph.inputs()[i]->name());
    const py::str name = TextOf(names.back());
    if (inputs.contains(name)) io.inputs[i] = inputs[name].cast<const PyTensor&>().tensor;
  }
  for (const auto& [key, tensor] : inputs) {
    const std::string name = Words(key);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string all;
    for (const std::string& each : names) StrAppend(&all, all.empty() ? "" : ", ", each);
    CheckInput(Invalid("the model has no input '", name, "'", DidYouMean(name, names),
                       "; its inputs are: ", all.empty() ? "none" : all));
  }
  const std::vector<Datum> results = RunOn(*self, io, progress);
  py::dict outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    outputs[TextOf(graph.outputs()[i]->name())] = FromDatum(results[i]);
  }
  return outputs;
}

Verification VerifyModel(const ModelPtr& self, const py::object& io, const ModelPtr& other,
                         const std::string& runtime, const std::string& library, double rtol,
                         double atol, const std::string& metric, double bound,
                         const py::object& progress) {
  NeedIr(*self);
  Settle(*self);
  if (other) {
    NeedIr(*other);
    Settle(*other);
  }
  const std::vector<IoCase> cases = CasesOf(io, *self->model.graph);
  Watch watch(progress);
  VerifyOptions options{{rtol, atol}, watch.fn(), std::nullopt};
  if (!metric.empty()) {
    const Metric* found = FindMetric(metric);
    if (!found) throw py::value_error(StrCat("there is no metric '", metric, "'"));
    options.criterion = Criterion{found, bound};
  }
  const Reading reading(*self);
  std::optional<Reading> reading_other;
  if (other) reading_other.emplace(*other);
  return Get(watch.Run([&]() -> absl::StatusOr<Verification> {
    if (!runtime.empty()) {
      X2IR_ASSIGN_OR_RETURN(const auto loaded, LoadRuntime(runtime, library));
      X2IR_ASSIGN_OR_RETURN(const auto there, ModelInRuntime::Convert(self->model, loaded));
      const auto verify = [&](absl::Span<const IoCase> some) {
        return VerifyInRuntime(self->model, there, some, options);
      };
      return cases.empty() ? VerifyOnRandomInputs(self->model, verify) : verify(cases);
    }
    if (!other) return VerifyOutputs(self->model, cases, options);
    return cases.empty() ? VerifyOnRandomInputs(self->model, other->model, options)
                         : VerifyModels(self->model, other->model, cases, options);
  }));
}

ModelInfo InfoOf(const ModelScope& scope) {
  ModelInfo info = DescribeModel(scope.model);
  info.format = scope.format.empty() ? "none" : scope.format;
  return info;
}

void BindVerification(py::module_& m) {
  py::class_<OutputVerdict>(m, "OutputVerdict", "How one output compares with what was expected.")
      .def_property_readonly("case", [](const OutputVerdict& v) { return TextOf(v.case_name); })
      .def_property_readonly("output", [](const OutputVerdict& v) { return TextOf(v.output); })
      .def_readonly("type", &OutputVerdict::type)
      .def_property_readonly("agrees", [](const OutputVerdict& v) { return v.comparison.agrees; })
      .def_property_readonly("problem", [](const OutputVerdict& v) { return v.comparison.problem; })
      .def_property_readonly("max_abs", [](const OutputVerdict& v) { return v.comparison.max_abs; })
      .def_property_readonly("max_rel", [](const OutputVerdict& v) { return v.comparison.max_rel; })
      .def_property_readonly("cosine", [](const OutputVerdict& v) { return v.comparison.cosine; })
      .def_property_readonly("snr", [](const OutputVerdict& v) { return v.comparison.snr; })
      .def_property_readonly("step", [](const OutputVerdict& v) {
        return v.step > 0 ? std::optional<double>(v.step) : std::nullopt;
      });
  m.def("_metrics", [] {
    std::vector<std::pair<std::string, bool>> metrics;
    for (const Metric& metric : Metrics()) {
      metrics.emplace_back(metric.name, metric.more_is_better);
    }
    return metrics;
  });
  py::class_<Verification>(m, "Verification", "How outputs compare; true where all agree.")
      .def_property_readonly("agrees", &Verification::agrees)
      .def_readonly("outputs", &Verification::outputs)
      .def_readonly("note", &Verification::note)
      .def("to_json", &Verification::ToJson)
      .def("__bool__", &Verification::agrees)
      .def("__str__", [](const Verification& v) { return TextOf(v.ToText()); })
      .def("__repr__", [](const Verification& v) { return TextOf(v.ToText()); });
}

}  // namespace

void BindModel(py::module_& m) {
  BindVerification(m);
  py::class_<ModelScope, ModelPtr>(
      m, "Model",
      "A model: a graph, in the IR or in a dialect, with opsets, functions and metadata.")
      .def_property_readonly("report", [](const ModelPtr& self) { return self->report; })
      .def_property_readonly("graph",
                             [](const ModelPtr& self) { return self->Of(self->model.graph.get()); })
      .def_property_readonly("is_ir", [](const ModelPtr& self) { return self->is_ir; })
      .def_property_readonly(
          "dialect",
          [](const ModelPtr& self) { return self->is_ir ? "" : self->model.source_dialect; })
      .def_property_readonly("source_dialect",
                             [](const ModelPtr& self) { return self->model.source_dialect; })
      .def_property_readonly("opsets",
                             [](const ModelPtr& self) {
                               py::dict opsets;
                               for (const OpsetImport& import : self->model.opset_imports) {
                                 opsets[TextOf(import.domain)] = import.version;
                               }
                               return opsets;
                             })
      .def_property_readonly("_made", [](const ModelPtr& self) { return self->made; })
      .def_property_readonly("_format", [](const ModelPtr& self) { return self->format; })
      .def("_info_text", [](const ModelPtr& self) { return TextOf(InfoOf(*self).ToText()); })
      .def("_info_json", [](const ModelPtr& self) { return TextOf(InfoOf(*self).ToJson()); })
      .def("_write", &WriteModel)
      .def("_rewritten", &Rewritten)
      .def("_run_tensors", &RunModel)
      .def("_verify_tensors", &VerifyModel)
      .def("_files", &FilesOf)
      .def("clone", [](const ModelPtr& self) {
        Settle(*self);
        return CopyOf(*self);
      });
  m.def("model_of_files", &ModelOfFiles);
  m.def("new_model",
        [](const std::string& dialect, std::optional<int64_t> opset, const std::string& name) {
          const Dialect* known = FindDialect(dialect);
          const int usual = !known                 ? 1
                            : known->default_opset ? known->default_opset
                                                   : known->latest_opset;
          Model model;
          model.source_dialect = dialect;
          model.SetOpset("", opset.value_or(usual));
          model.graph->set_name(name);
          auto scope = std::make_shared<ModelScope>(std::move(model));
          scope->is_ir = dialect.empty();
          scope->made = true;
          return scope;
        });
  m.def("load", &LoadModel);
  m.def("convert", &ConvertModel);
}

}  // namespace x2ir::python
