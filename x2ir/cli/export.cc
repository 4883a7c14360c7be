// ir2onnx export: an IR model becomes an ONNX file.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/cli/batch.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/libonnx_check.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/summary.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  ir2onnx export model.json                     # model.onnx in this folder\n"
    "  ir2onnx export model.json -o old.onnx --opset 11\n"
    "  ir2onnx export model.json --extra-opset com.acme:2 --check\n"
    "  ir2onnx export model.json --passes simplify,dead_code\n"
    "  ir2onnx export model.json --inputs-as-nchw image  # inputs keep their names and order\n"
    "\n"
    "Without --opset the model's own opset is written, else 17. If an op cannot be expressed at\n"
    "that opset, all such ops are named, nothing is written, and the exit code is 1.";

struct Flags {
  std::string model, out, opset, passes, inputs_nchw, outputs_nchw, report;
  std::string external = "auto", external_limit;
  Strings extra_opsets, shapes;
  bool no_optimize = false;
  bool continue_on_error = false;
  bool check = false;
  BatchFlags batch;
};

absl::StatusOr<ExportOptions> ToOptions(const Flags& flags) {
  ExportOptions options;
  const Dialect* onnx = FindDialect("onnx");
  if (!flags.opset.empty()) {
    X2IR_ASSIGN_OR_RETURN(options.opset, ParseInt("--opset", flags.opset,
                                                  onnx->oldest_written_opset, onnx->latest_opset));
  }
  X2IR_ASSIGN_OR_RETURN(options.extra_opsets, ParseExtraOpsets(flags.extra_opsets));
  X2IR_ASSIGN_OR_RETURN(options.shapes, ParseShapes(flags.shapes));
  X2IR_ASSIGN_OR_RETURN(options.inputs_as_nchw, ParseList("--inputs-as-nchw", flags.inputs_nchw));
  X2IR_ASSIGN_OR_RETURN(options.outputs_as_nchw,
                        ParseList("--outputs-as-nchw", flags.outputs_nchw));
  options.optimize = !flags.no_optimize;
  if (!flags.passes.empty()) {
    X2IR_ASSIGN_OR_RETURN(options.passes, ParsePasses("--passes", flags.passes));
  }
  options.format = "onnx";
  options.format_options.Set("external_data", flags.external);
  if (!flags.external_limit.empty()) {
    X2IR_ASSIGN_OR_RETURN(const uint64_t limit,
                          ParseSize("--external-data-limit", flags.external_limit));
    options.format_options.Set("external_data_limit", static_cast<int64_t>(limit));
  }
  options.check = flags.check;
  options.foreign.all = flags.continue_on_error;
  return options;
}

// The files that may be written. How many there are of external data is not known before; those
// that are there already would be overwritten.
Strings OutputsOf(const std::string& out) {
  Strings outputs = {out, StrCat(out, ".data")};
  for (int i = 2;; ++i) {
    const std::string next = StrCat(out, ".data.", i);
    if (::access(next.c_str(), F_OK) != 0) return outputs;
    outputs.push_back(next);
  }
}

// `progress` may be null: one of many.
BatchOutcome DoExport(ExportOptions options, const std::string& in, const std::string& out,
                      const Session& session, Progress* progress, Report& report) {
  BatchOutcome outcome;
  outcome.read = {in};
  outcome.written = {out};
  const absl::StatusOr<std::string> format = DetectFormat(in);
  if (!format.ok()) return outcome.Ended(format.status(), Phase::kReading);
  absl::StatusOr<Model> model = Load(in, *format, session.Loading(*format));
  if (!model.ok()) return outcome.Ended(model.status(), Phase::kReading);
  const Mapped files = MappedFiles(*model);
  outcome.Reads(in, files);
  if (absl::Status s = CheckOutputs({in}, files, OutputsOf(out)); !s.ok()) {
    return outcome.Ended(s, Phase::kWriting);
  }
  if (progress) progress->SetWhat(StrCat("converting ", in));
  // A model of another format is converted first. Ops that an IR file holds as foreign ones
  // were allowed to stay when it was made.
  if (FindFormat(*format)->dialect != kIrDialect) {
    ImportOptions import;
    import.foreign = options.foreign;
    if (progress) import.progress = progress->fn();
    model = ToIr(*std::move(model), import, &report);
    if (!model.ok()) return outcome.Ended(model.status(), Phase::kConverting);
    report = Report();
  }
  if (progress) {
    options.progress = progress->fn();
    KeepUntilTheEnd(model->graph);
  }
  if (options.check) {
    options.before_writing = [&report](const Model& onnx) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const std::string why_not, CheckWithLibonnx(onnx));
      report.checks = {"ONNX's schemas"};
      if (why_not.empty()) {
        report.checks.push_back("libonnx's checker");
      } else {
        report.checks.push_back(StrCat("not by libonnx's checker: ", why_not));
      }
      return absl::OkStatus();
    };
  }
  // Writing is part of it; what fails there and is not the system's fault is the model's.
  return outcome.Ended(Export(*std::move(model), out, options, &report), Phase::kConverting);
}

int RunExport(const Flags& flags, const Settings& settings, Session& session) {
  absl::StatusOr<ExportOptions> options = ToOptions(flags);
  if (!options.ok()) return session.Usage(options.status());
  if (!flags.batch.list.empty()) {
    const auto work = [&](const std::string& in, const std::string& to, Report& report) {
      return DoExport(*options, in, to, session, nullptr, report);
    };
    return RunBatch(
        {flags.batch, "exporting", ".onnx", flags.out, flags.report, settings.Text(), work},
        session);
  }
  if (flags.model.empty()) return session.Usage("MODEL is required, or --batch");
  const std::string out = flags.out.empty() ? DefaultOutput(flags.model, ".onnx") : flags.out;
  if (HasExtension(out, ".json") || HasExtension(out, ".safetensors")) {
    return session.Usage(StrCat("-o '", out, "': an ONNX file is written; expected OUT.onnx"));
  }
  if (const auto format = DetectFormat(flags.model); !format.ok()) {
    return session.Fail(format.status(), Phase::kReading);
  }
  std::vector<std::string> outputs = OutputsOf(out);
  if (!flags.report.empty()) outputs.push_back(flags.report);
  if (absl::Status s = CheckOutputs({flags.model}, {}, outputs); !s.ok()) {
    return session.Usage(s);
  }
  absl::StatusOr<ReportFile> report_file = ReportFile::Open(flags.report);
  if (!report_file.ok()) return session.Fail(report_file.status(), Phase::kWriting);

  Report report;
  BatchOutcome outcome;
  {
    Progress progress(session, StrCat("reading ", flags.model));
    outcome = DoExport(*std::move(options), flags.model, out, session, &progress, report);
  }
  const absl::Status& status = outcome.status;
  int code = kDone;
  if (status.ok()) {
    PrintWarnings(session, report);
    PrintSummary(session, report, StrCat("wrote ", out));
    PrintChecks(session, report);
  } else {
    code = session.Fail(status, outcome.phase, &report);
  }
  return FinishReport(session, *report_file, report, std::string(status.message()), code);
}

}  // namespace

void AddExport(CLI::App& app, Session& session) {
  Verb verb(app, session, "export", "Write an IR model as ONNX", kFooter);
  auto flags = std::make_shared<Flags>();
  verb.Text("MODEL", flags->model, "", "The IR file, or a model of any format");
  AddBatchFlags(verb, flags->batch);
  verb.Text("-o,--output", flags->out, "OUT.onnx",
            "The ONNX file; by default MODEL's name with .onnx, in this folder")
      .ChangesNothing();
  verb.Text("--opset", flags->opset, "N", "The opset to write");
  verb.Repeated("--extra-opset", flags->extra_opsets, "DOMAIN:V", "The opset of another domain");
  verb.Repeated("--shape", flags->shapes, "NAME:2,3,seq",
                "The shape of an input: numbers, names, or ? for what is not known");
  verb.Flag("--no-optimize", flags->no_optimize, "Run no passes before writing");
  verb.Text("--passes", flags->passes, "A,B,...", "Run these passes instead of the default ones")
      .Excludes("--no-optimize");
  verb.Text("--external-data", flags->external, "auto|always|never|reference",
            "Put weights into OUT.onnx.data: only where the file would be too large for protobuf "
            "(default), always, or never; or name the files that they are in already, which must "
            "be in OUT's folder or below")
      .OneOf({"auto", "always", "never", "reference"});
  verb.Text("--external-data-limit", flags->external_limit, "SIZE",
            "The most that OUT.onnx.data may hold, as in 2GB; more goes to OUT.onnx.data.2, ...");
  verb.Text("--inputs-as-nchw", flags->inputs_nchw, "A,B",
            "Inputs that are channels last become channels first: NHWC to NCHW, NWC to NCW, NDHWC "
            "to NCDHW");
  verb.Text("--outputs-as-nchw", flags->outputs_nchw, "A,B", "The same for outputs");
  verb.Flag("--continue-on-error", flags->continue_on_error,
            "Write what cannot be expressed as ops of domain x2ir, which no runtime knows");
  verb.Flag("--check", flags->check,
            "Check the result against ONNX's schemas, and with libonnx's checker where that is "
            "installed and knows the opset; write nothing if it does not pass");
  verb.Text("--report", flags->report, "FILE.json",
            "Write what was done, and what could not be; also on failure. With --batch: a line a "
            "file, by default in batch.jsonl in the folder of -o")
      .ChangesNothing();
  verb.Do([flags, settings = verb.settings(), &session] {
    return RunExport(*flags, *settings, session);
  });
}

}  // namespace x2ir::cli
