// x2ir convert: a model of any format becomes an IR file.
#include "x2ir/core/convert.h"

#include <limits>
#include <memory>
#include <string>

#include "x2ir/cli/batch.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/summary.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr char kFooter[] =
    "Writes NAME.json, the graph, and NAME.safetensors, the weights.\n"
    "\n"
    "Examples:\n"
    "  x2ir convert model.onnx                       # model.json in this folder\n"
    "  x2ir convert model.onnx -o out/net.json --shape x:1,3,224,224\n"
    "  x2ir convert model.onnx --shape 'tokens:batch,seq' --optimize\n"
    "  x2ir convert model.onnx --optimize --layout channels_last\n"
    "  x2ir convert model.onnx --allow-foreign com.acme --report report.json\n"
    "  x2ir convert --batch list.txt -j 4 -o out     # out/batch.jsonl says how each went\n"
    "\n"
    "If an op cannot be converted, all such ops are named, nothing is written, and the exit\n"
    "code is 1. --continue-on-error keeps them as they are; export writes them back.";

struct Flags {
  std::string model, out, from, inputs, outputs, opset, passes, layout, report;
  std::string weights = "copy";
  Strings shapes, dtypes, allow_foreign;
  bool freeze_params = true;
  bool says_freeze = false;
  bool keep_functions = false;
  bool optimize = false;
  bool continue_on_error = false;
  BatchFlags batch;
};

absl::StatusOr<ImportOptions> ToOptions(const Flags& flags) {
  ImportOptions options;
  options.format = flags.from;
  X2IR_ASSIGN_OR_RETURN(options.shapes, ParseShapes(flags.shapes));
  X2IR_ASSIGN_OR_RETURN(options.dtypes, ParseDTypes(flags.dtypes));
  X2IR_ASSIGN_OR_RETURN(options.inputs, ParseList("--inputs", flags.inputs));
  X2IR_ASSIGN_OR_RETURN(options.outputs, ParseList("--outputs", flags.outputs));
  if (!flags.opset.empty()) {
    X2IR_ASSIGN_OR_RETURN(options.from_opset,
                          ParseInt("--opset", flags.opset, 1, std::numeric_limits<int32_t>::max()));
  }
  options.freeze_params = flags.freeze_params;
  options.keep_functions = flags.keep_functions;
  options.optimize = flags.optimize || !flags.passes.empty();
  if (!flags.passes.empty()) {
    X2IR_ASSIGN_OR_RETURN(options.passes, ParsePasses("--passes", flags.passes));
  }
  if (!flags.layout.empty() && !options.optimize) {
    return Invalid("--layout needs --optimize, or --passes with the pass 'layout'");
  }
  options.layout = flags.layout;
  options.foreign.all = flags.continue_on_error;
  for (const std::string& list : flags.allow_foreign) {
    X2IR_ASSIGN_OR_RETURN(const Strings domains, ParseList("--allow-foreign", list));
    options.foreign.domains.insert(options.foreign.domains.end(), domains.begin(), domains.end());
  }
  return options;
}

// `progress` may be null.
BatchOutcome Convert(const Flags& flags, ImportOptions options, const std::string& in,
                     const std::string& out, const Session& session, Progress* progress,
                     Report& report) {
  const auto say = [&](std::string_view what, std::string_view file) {
    if (progress) progress->SetWhat(StrCat(what, " ", file));
  };
  say("reading", in);
  BatchOutcome outcome;
  outcome.read = {in};
  if (options.format.empty()) {
    absl::StatusOr<std::string> found = DetectFormat(in);
    if (!found.ok()) return outcome.Ended(found.status(), Phase::kReading);
    options.format = *std::move(found);
  }
  const Format* format = FindFormat(options.format);
  // IR has what it has because somebody wanted it.
  if (format && format->dialect == kIrDialect && !flags.says_freeze) options.freeze_params = false;
  LoadOptions load = session.Loading(options.format);
  load.inputs = options.inputs;
  load.outputs = options.outputs;
  absl::StatusOr<Model> model = Load(in, options.format, load);
  if (!model.ok()) return outcome.Ended(model.status(), Phase::kReading);
  const Mapped files = MappedFiles(*model);
  outcome.Reads(in, files);
  outcome.written = {out, WithExtension(out, ".safetensors")};
  if (absl::Status s = CheckOutputs({in}, files, outcome.written); !s.ok()) {
    return outcome.Ended(s, Phase::kWriting);
  }
  say("converting", in);
  if (progress) options.progress = progress->fn();
  model = ToIr(*std::move(model), options, &report);
  if (!model.ok()) return outcome.Ended(model.status(), Phase::kConverting);
  if (progress) KeepUntilTheEnd(model->graph);
  say("writing", out);
  return outcome.Ended(Write(*model, out, "ir", {{"weights", flags.weights}}), Phase::kWriting);
}

int RunConvert(const Flags& flags, const Settings& settings, Session& session) {
  absl::StatusOr<ImportOptions> options = ToOptions(flags);
  if (!options.ok()) return session.Usage(options.status());
  if (!flags.batch.list.empty()) {
    const auto work = [&](const std::string& in, const std::string& to, Report& report) {
      return Convert(flags, *options, in, to, session, nullptr, report);
    };
    return RunBatch(
        {flags.batch, "converting", ".json", flags.out, flags.report, settings.Text(), work},
        session);
  }
  if (flags.model.empty()) return session.Usage("MODEL is required, or --batch");
  const std::string out = flags.out.empty() ? DefaultOutput(flags.model, ".json") : flags.out;
  if (!HasExtension(out, ".json")) {
    return session.Usage(
        StrCat("-o '", out, "': expected a name that ends in .json (ir2onnx export writes ONNX)"));
  }
  const std::string weights = WithExtension(out, ".safetensors");
  std::vector<std::string> outputs = {out, weights};
  if (!flags.report.empty()) outputs.push_back(flags.report);
  if (absl::Status s = CheckOutputs({flags.model}, {}, outputs); !s.ok()) {
    return session.Usage(s);
  }
  absl::StatusOr<ReportFile> report_file = ReportFile::Open(flags.report);
  if (!report_file.ok()) return session.Fail(report_file.status(), Phase::kWriting);

  Report report;
  BatchOutcome outcome;
  {
    Progress progress(session, "");
    outcome = Convert(flags, *std::move(options), flags.model, out, session, &progress, report);
  }
  const absl::Status& status = outcome.status;
  int code = kDone;
  if (status.ok()) {
    PrintWarnings(session, report);
    PrintSummary(session, report, StrCat("wrote ", out, " and ", weights));
  } else {
    code = session.Fail(status, outcome.phase, &report);
  }
  return FinishReport(session, *report_file, report, std::string(status.message()), code);
}

}  // namespace

void AddConvert(CLI::App& app, Session& session) {
  Verb verb(app, session, "convert", "Convert a model to IR", kFooter);
  auto flags = std::make_shared<Flags>();
  verb.Text("MODEL", flags->model, "", "The model file");
  AddBatchFlags(verb, flags->batch);
  verb.Text("-o,--output", flags->out, "OUT.json",
            "The IR file; by default MODEL's name with .json, in this folder")
      .ChangesNothing();
  verb.Text("--from", flags->from, "FORMAT",
            "The format of MODEL; by default found by looking at it");
  verb.Repeated("--shape", flags->shapes, "NAME:2,3,seq",
                "The shape of an input: numbers, names, or ? for what is not known");
  verb.Repeated("--dtype", flags->dtypes, "NAME:TYPE", "The element type of an input");
  verb.Text("--inputs", flags->inputs, "A,B", "Cut the graph: these values are its inputs");
  verb.Text("--outputs", flags->outputs, "C,D:1",
            "Cut the graph: these values, or outputs of nodes, are its outputs");
  verb.Text("--opset", flags->opset, "N", "The opset of MODEL, instead of what it says");
  verb.Flag("--freeze-params,!--no-freeze-params", flags->freeze_params,
            "Make initializers that are inputs too constants (default), or keep them as "
            "inputs with a default value")
      .SetsWhenGiven(flags->says_freeze);
  verb.Flag("--keep-functions", flags->keep_functions,
            "Keep MODEL's local functions, and the calls of them; by default each call becomes "
            "what its function says");
  verb.Flag("--optimize", flags->optimize, "Run the optimizer's default passes");
  verb.Text("--passes", flags->passes, "A,B,...", "Run these passes");
  verb.Text("--layout", flags->layout, "channels_first|channels_last",
            "With --optimize: the layout that convolutions, pools and norms get; inputs and "
            "outputs keep theirs")
      .OneOf({"channels_first", "channels_last"});
  verb.Text("--weights", flags->weights, "copy|reference",
            "Copy the weights beside the IR (default), or name byte ranges of MODEL's files")
      .OneOf({"copy", "reference"});
  verb.Repeated("--allow-foreign", flags->allow_foreign, "DOMAIN,...",
                "Keep ops of these domains that have no mapping");
  verb.Flag("--continue-on-error", flags->continue_on_error,
            "Keep every op that cannot be converted")
      .Excludes("--allow-foreign");
  verb.Text("--report", flags->report, "FILE.json",
            "Write what was done, and what could not be; also on failure. With --batch: a line a "
            "file, by default in batch.jsonl in the folder of -o")
      .ChangesNothing();
  verb.Do([flags, settings = verb.settings(), &session] {
    return RunConvert(*flags, *settings, session);
  });
}

}  // namespace x2ir::cli
