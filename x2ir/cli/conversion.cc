// Reads a model, converts it, writes it.
#include "x2ir/cli/conversion.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "x2ir/cli/batch.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/libonnx_check.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/option_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/runtime_flags.h"
#include "x2ir/cli/summary.h"
#include "x2ir/core/calibrate.h"
#include "x2ir/core/composites.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/edit/weights_from.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/core/schema_check.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/checkpoint/checkpoint.h"
#include "x2ir/formats/checkpoint/genai.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/constant_order.h"
#include "x2ir/graph_wrapper/descriptors.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/runtimes/converted.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir::cli {
namespace {

using Strings = std::vector<std::string>;

constexpr char kStandardOutput[] = "-";

struct ConversionFlags {
  std::string model, out, from, to, report, summary;
  OptionFlags conversion, writing;
  BatchFlags batch;
  RuntimeFlags runtime;
  bool genai = false;
  std::string part;  // of a checkpoint that becomes several files
};

// What is to be done with each model.
struct Plan {
  ImportOptions from;
  ExportOptions to;
  const Format* target = nullptr;
  bool to_stdout = false;
  bool named = false;  // whether the user said what the output is called
  bool genai = false;  // what ONNX Runtime GenAI needs is written beside the output
  // What runs an int8 model when it is written; null: nothing, or it is loaded then.
  RuntimeFlags with;
  std::shared_ptr<const Runtime> runtime;
  Strings warnings;
};

// The format called `name`; InvalidArgument with the list of formats if there is none.
absl::StatusOr<const Format*> FormatCalled(std::string_view flag, const std::string& name,
                                           bool written) {
  const Format* format = FindFormat(name);
  if (format && (!written || format->write)) return format;
  if (format) {
    return Invalid(flag, ": format '", name,
                   "' can only be read; formats that can be written: ", FormatNames(true));
  }
  Strings known;
  for (const Format* each : AllFormats()) known.push_back(each->name);
  const std::string meant = DidYouMean(name, known);
  return Invalid(flag, ": there is no format '", name, "'",
                 meant.empty() ? StrCat("; expected one of: ", FormatNames(written)) : meant);
}

// What is to be written.
absl::StatusOr<const Format*> TargetOf(const ConversionFlags& flags, const ConversionVerb& words) {
  if (!flags.to.empty()) return FormatCalled("--to", flags.to, /*written=*/true);
  const Format* usual = FindFormat(words.format);
  if (flags.out.empty() || flags.out == kStandardOutput || !flags.batch.list.empty()) return usual;
  const Format* format = FormatOfExtension(flags.out);
  if (format == usual) return usual;
  if (!words.by_name) {
    // A name of no format in particular may be anything.
    if (!format && !HasExtension(flags.out, ".safetensors")) return usual;
    return Invalid("-o '", flags.out, "': format '", usual->name, "' is written; expected OUT",
                   usual->extensions.front(), " (or --to)");
  }
  if (!format) {
    return Invalid("-o '", flags.out,
                   "': the name does not say in which format to write; expected ", "one of ",
                   FormatNames(true), ", or --to");
  }
  if (format->write) return format;
  return Invalid("-o '", flags.out, "': format '", format->name,
                 "' can only be read; formats that can be written: ", FormatNames(true));
}

// --with: an int8 model is run as the file that is written.
absl::Status PlanRuntime(const ConversionFlags& flags, Plan& plan) {
  if (!flags.runtime) return absl::OkStatus();
  if (!plan.to.int8) {
    return OptionError("with", "needs ", OptionText("int8"),
                       ", whose accuracy it measures; x2ir verify compares any model with what a "
                       "runtime computes");
  }
  const std::string& written = plan.target->name;
  const std::string_view read = RuntimeFormat(flags.runtime.with);
  if (read != written) {
    return OptionError("with", flags.runtime.with, " reads format '", read, "', and '", written,
                       "' is written");
  }
  if (plan.to_stdout) {
    return OptionError("with", flags.runtime.with, " reads a file, and the model is on standard ",
                       "output; -o names a file");
  }
  plan.with = flags.runtime;
  return absl::OkStatus();
}

// --int8 needs inputs to calibrate with, unless the model's format rounds weights alone.
absl::Status SettleInt8Of(const std::string& model, const ConversionFlags& flags, Plan& plan) {
  if (!plan.to.int8 || !plan.to.int8->calibrate.empty()) return absl::OkStatus();
  if (flags.runtime) return CheckCalibrates(plan.to);
  const std::string format =
      plan.from.format.empty() ? DetectFormat(model).value_or("") : plan.from.format;
  return SettleInt8(FindFormat(format), plan.from, plan.to);
}

absl::StatusOr<Plan> PlanOf(const ConversionFlags& flags, const ConversionVerb& words) {
  Plan plan;
  plan.named = !flags.out.empty();
  plan.to_stdout = flags.out == kStandardOutput;
  plan.genai = flags.genai;
  X2IR_ASSIGN_OR_RETURN(plan.target, TargetOf(flags, words));

  if (!flags.from.empty()) {
    X2IR_RETURN_IF_ERROR(FormatCalled("--from", flags.from, /*written=*/false).status());
  }
  ConversionValues values;
  X2IR_ASSIGN_OR_RETURN(values.conversion, ParseConversionOptions(flags.conversion.Texts()));
  const std::vector<OptionDef>& defs = plan.target->write_options;
  X2IR_ASSIGN_OR_RETURN(values.writing, flags.writing.For(defs));
  for (const std::string& option : flags.writing.Others(defs)) {
    if (option == "opset" && !values.conversion.Has("from_opset")) {
      // What it was before formats other than IR were written.
      X2IR_ASSIGN_OR_RETURN(OptionValue value,
                            ParseOption({.name = option,
                                         .type = OptionDef::kInt,
                                         .min = 1,
                                         .max = std::numeric_limits<int32_t>::max()},
                                        flags.writing.Text(option)));
      values.conversion.Set("from_opset", std::move(value));
      plan.warnings.push_back(StrCat("--opset is used as the opset of MODEL, because format '",
                                     plan.target->name,
                                     "' has no opsets; use --from-opset instead"));
      continue;
    }
    return OptionError(option, "format '", plan.target->name, "', which is written, has no ",
                       "such option");
  }
  X2IR_ASSIGN_OR_RETURN(ConvertOptions options, ConversionOf(values, plan.target));
  plan.from = std::move(options.from);
  plan.to = std::move(options.to);
  plan.from.format = flags.from;
  if (!flags.part.empty()) plan.from.format_options.Set("part", flags.part);
  // A list of files may say what each is measured on.
  if (flags.batch.list.empty()) X2IR_RETURN_IF_ERROR(SettleInt8Of(flags.model, flags, plan));
  X2IR_RETURN_IF_ERROR(PlanRuntime(flags, plan));
  return plan;
}

// Which file has a name now, and when it was written: another one after each writing.
using Identity = std::optional<std::tuple<ino_t, time_t, long>>;  // NOLINT: as POSIX has it
Identity IdentityOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return Identity({info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec});
}

// The files that writing `out` may make, each once.
Strings OutputsOf(const Format& target, const std::string& out) {
  Strings outputs = {out};
  if (target.companions) {
    std::set<std::string> seen;
    for (std::string& file : target.companions(out)) {
      if (seen.insert(file).second) outputs.push_back(std::move(file));
    }
  }
  return outputs;
}

// An existing output whose name was not given is replaced only if it is of the format that is
// written.
absl::Status CheckReplaces(const Plan& plan, const std::string& out) {
  constexpr size_t kHeadSize = 4096;
  if (plan.named || plan.to.format_options.Flag("force") || ::access(out.c_str(), F_OK) != 0)
    return absl::OkStatus();
  std::error_code ignored;
  Candidate there{.path = out, .is_folder = std::filesystem::is_directory(out, ignored)};
  std::string head(kHeadSize, '\0');
  if (!there.is_folder) {
    std::ifstream file(out, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    const auto got = static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0));
    if (file.bad() || !file.is_open()) return SystemError("cannot read '", out, "'");
    if (got == 0) return absl::OkStatus();
    there.size = std::filesystem::file_size(out, ignored);
    there.head = {reinterpret_cast<const std::byte*>(head.data()), got};
  }
  if (plan.target->recognize && plan.target->recognize(there) != Match::kNo) {
    return absl::OkStatus();
  }
  return Invalid("'", out, "' exists and is not of format '", plan.target->name,
                 "'; choose another output with -o, or replace this file with --force");
}

// "wrote a.json and a.safetensors"; of many files only how many. What lies in a folder that was
// written is part of it.
std::string WroteText(const Strings& written) {
  constexpr size_t kLimit = 3;
  Strings files;
  for (const std::string& file : written) {
    if (files.empty() || !file.starts_with(files[0] + "/")) files.push_back(file);
  }
  if (files.size() > kLimit) {
    return StrCat("wrote ", files[0], " and ", files.size() - 1, " files beside it");
  }
  std::string text;
  for (const std::string& file : files) StrAppend(&text, text.empty() ? "wrote " : " and ", file);
  return text;
}

// Which other checkers have passed a model of ONNX.
absl::StatusOr<std::string> CheckWithOthers(const Model& model) {
  X2IR_ASSIGN_OR_RETURN(const std::string why_not, CheckWithLibonnx(model));
  return why_not.empty() ? "libonnx's checker" : StrCat("not by libonnx's checker: ", why_not);
}

// Of all files that a model was read from, each once; of a folder, those that are in it.
int64_t BytesOf(const Strings& files) {
  namespace fs = std::filesystem;
  std::map<std::string, int64_t> sizes;
  const auto add = [&](const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (!error) sizes[fs::weakly_canonical(path, error).string()] = static_cast<int64_t>(size);
  };
  for (const std::string& file : files) {
    std::error_code error;
    if (!fs::is_directory(file, error)) {
      add(file);
      continue;
    }
    for (fs::recursive_directory_iterator it(file, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file(error)) add(it->path());
    }
  }
  int64_t bytes = 0;
  for (const auto& entry : sizes) bytes += entry.second;
  return bytes;
}

absl::Status WriteToStdout(std::string_view bytes) {
  // A closed pipe is not a failure.
  const int error = WriteAll(STDOUT_FILENO, bytes.data(), bytes.size());
  if (error == 0 || error == EPIPE) return absl::OkStatus();
  return SystemError("cannot write to standard output: ", std::strerror(error));
}

// How far off the int8 file is where a runtime computes it, as notes.
absl::Status Measure(const Int8InRuntime& measured, const Plan& plan, const std::string& out,
                     Report& report) {
  std::shared_ptr<const Runtime> runtime = plan.runtime;
  if (!runtime) {
    X2IR_ASSIGN_OR_RETURN(runtime, LoadRuntime(plan.with.with, plan.with.library));
  }
  const auto errors = measured.Measure(out, report.interface, runtime);
  if (!errors.ok()) {
    return CannotExpress("'", out, "' is written, but ", plan.with.with,
                         " was not run on it: ", std::string(errors.status().message()));
  }
  const std::string by = StrCat(runtime->name(), " ", runtime->version());
  for (const OutputError& error : *errors) report.notes.push_back(error.Note(by));
  return absl::OkStatus();
}

// `progress` may be null: one of many.
BatchOutcome Convert(Plan plan, const std::string& in, const std::string& out,
                     const Session& session, Progress* progress, Report& report) {
  const auto say = [&](std::string_view what, std::string_view file) {
    if (progress) progress->SetWhat(StrCat(what, " ", file));
  };
  BatchOutcome outcome;
  outcome.read = {in};
  say("reading", in);
  ImportOptions& from = plan.from;
  ExportOptions& to = plan.to;
  absl::StatusOr<Model> model = LoadFile(session, in, &from.format, from.Loading());
  if (!model.ok()) return outcome.Ended(model.status(), Phase::kReading);
  if (!from.weights_from.empty()) {
    // They are files that are read, which no output may replace.
    const Strings checkpoints = std::exchange(from.weights_from, {});
    absl::Status status = TakeWeights(*model, checkpoints, report);
    if (!status.ok()) {
      if (!OptionOf(status)) status = Annotate(status, OptionText("weights_from"));
      return outcome.Ended(status, Phase::kReading);
    }
  }
  const Mapped files = MappedFiles(*model);
  outcome.Reads(in, files);
  std::shared_ptr<const checkpoint::Program> genai;
  if (plan.genai) {
    genai = std::dynamic_pointer_cast<const checkpoint::Program>(model->program);
    absl::Status possible;
    if (!genai || plan.target->name != "onnx" || plan.to_stdout) {
      possible = OptionError("genai", "is for a checkpoint that becomes an ONNX file");
    } else {
      possible = checkpoint::GenaiConfig(*genai, "").status();
    }
    if (!possible.ok()) return outcome.Ended(possible, Phase::kReading);
  }
  Strings inputs = {in};
  if (to.int8) {
    // Files in a folder, and the folder, which changes when others are put there.
    const Strings& paths = to.int8->calibrate;
    const auto found = CalibrationFiles(paths);
    if (!found.ok()) return outcome.Ended(found.status(), Phase::kReading);
    inputs.insert(inputs.end(), found->begin(), found->end());
    Strings& read = outcome.read;
    read.insert(read.end(), found->begin(), found->end());
    std::copy_if(paths.begin(), paths.end(), std::back_inserter(read), [&](const auto& path) {
      return std::find(found->begin(), found->end(), path) == found->end();
    });
  }
  std::map<std::string, Identity> before;
  if (!plan.to_stdout) {
    const Strings outputs = OutputsOf(*plan.target, out);
    absl::Status writable = CheckOutputs(inputs, files, outputs);
    writable.Update(CheckReplaces(plan, out));
    if (!writable.ok()) return outcome.Ended(writable, Phase::kWriting);
    for (const std::string& file : outputs) before[file] = IdentityOf(file);
  }

  if (to.check) {
    const Format* source = FindFormat(from.format);
    absl::Status checked = CheckCanCheck(source, plan.target);
    if (checked.ok()) checked = CheckAsRead(*model, source->dialect, report);
    if (!checked.ok()) return outcome.Ended(checked, Phase::kReading);
    if (source->dialect == "onnx") {
      const auto others = CheckWithOthers(*model);
      if (!others.ok()) {
        const absl::Status failed = Invalid("'", in, "' ", others.status().message());
        return outcome.Ended(failed, Phase::kReading);
      }
      report.checks.push_back(StrCat("the model that was read: ", *others));
    }
  }

  say("converting", in);
  if (progress) from.progress = to.progress = progress->fn();
  const bool is_ir = FindFormat(from.format)->dialect == kIrDialect;
  const bool to_ir = plan.target->dialect == kIrDialect;
  // IR is not changed by default.
  if (!from.freeze_params) from.freeze_params = !is_ir;
  // New shapes of an IR model are found on the way out.
  if (is_ir && !to_ir) {
    to.shapes = std::exchange(from.shapes, {});
    to.dynamic = std::exchange(from.dynamic, {});
  }
  bool as_it_is = is_ir && !to_ir && !ChangesIr(from);
  if ((as_it_is || from.keep_functions) && MustInline(*model, *plan.target, to, report)) {
    as_it_is = from.keep_functions = false;
  }
  DecomposeAsAsked(model->source_dialect, to, from);
  if (!as_it_is) {
    model = ToIr(*std::move(model), from, &report);
    if (!model.ok()) return outcome.Ended(model.status(), Phase::kConverting);
  }
  if (progress) KeepUntilTheEnd(model->graph);
  if (!as_it_is && !to_ir) {
    // As if it came out of an IR file.
    report = std::move(report).OfBoth();
    model->graph = MadeAnew(*model->graph);
    if (progress) KeepUntilTheEnd(model->graph);
  }
  std::optional<Int8InRuntime> measured;
  if (to.int8) {
    say("calibrating", in);
    auto cases = ReadCalibration(to.int8->calibrate, *model->graph);
    if (!cases.ok()) return outcome.Ended(cases.status(), Phase::kReading);
    auto int8 = QuantizeAsAsked(*model, *cases, to, plan.target->dialect);
    if (!int8.ok()) return outcome.Ended(int8.status(), Phase::kConverting);
    for (std::string& note : int8->Notes()) report.notes.push_back(std::move(note));
    to.int8.reset();  // it is done
    if (plan.with) {
      measured.emplace(*model->graph, report.interface, *std::move(cases), std::move(int8->floats));
    }
    say("converting", in);
  }
  if (to.check && plan.target->dialect == "onnx") {
    to.before_writing = [&report](const Model& onnx) -> absl::Status {
      const auto others = CheckWithOthers(onnx);
      if (!others.ok()) return CannotExpress("the exported model ", others.status().message());
      report.checks.insert(report.checks.begin(), {"ONNX's schemas", *others});
      return absl::OkStatus();
    };
  }
  if (to_ir) say("writing", out);
  // A failed conversion leaves no files.
  absl::StatusOr<NewFolders> folders = NewFolders::For(plan.to_stdout ? "" : out);
  if (!folders.ok()) return outcome.Ended(folders.status(), Phase::kWriting);
  if (!plan.to_stdout) {
    // Names may lead elsewhere now.
    const absl::Status writable = CheckOutputs(inputs, files, OutputsOf(*plan.target, out));
    if (!writable.ok()) return outcome.Ended(writable, Phase::kWriting);
  }
  // Writing is part of it; what fails there and is not the system's fault is the model's.
  const Sink sink = plan.to_stdout ? Sink::Stream(WriteToStdout, plan.target->name) : Sink(out);
  absl::Status status = Export(*std::move(model), sink, to, &report);
  if (!plan.to_stdout) {
    // Files of a format's own choice are known by what changed.
    for (const std::string& file : OutputsOf(*plan.target, out)) {
      const Identity now = IdentityOf(file);
      if (now && now != before[file]) outcome.written.push_back(file);
    }
  }
  if (status.ok() && genai) {
    const auto beside = checkpoint::WriteGenaiFiles(*genai, out, to.format_options.Flag("force"));
    if (!beside.ok()) return outcome.Ended(beside.status(), Phase::kWriting);
    outcome.written.insert(outcome.written.end(), beside->begin(), beside->end());
  }
  if (status.ok() && measured) {
    say("running", out);
    status = Measure(*measured, plan, out, report);
  }
  return outcome.Ended(status, Phase::kConverting);
}

BatchOutcome ConvertAtItsOpset(const Plan& plan, const std::string& in, const std::string& out,
                               const Session& session, Progress* progress, Report& report) {
  std::vector<BatchOutcome> outcomes;
  const absl::Status status =
      AtLeastOpset(*plan.target, plan.to, report, [&](const ExportOptions& to, Report& said) {
        Plan attempt = plan;
        attempt.to = to;
        outcomes.push_back(Convert(std::move(attempt), in, out, session, progress, said));
        return outcomes.back().status;
      });
  return status.ok() ? outcomes.back() : outcomes.front();
}

// Inputs that the list gives for a file take precedence over --calibrate.
absl::Status CalibrateBy(const BatchFile& file, const ConversionFlags& flags, Plan& plan) {
  ExportOptions& to = plan.to;
  if (!file.beside.empty()) {
    if (!to.int8) {
      return OptionError("int8", "is not given, but the list names inputs to calibrate with: '",
                         file.beside[0], "'");
    }
    to.int8->calibrate = file.beside;
  }
  if (SettleInt8Of(file.input, flags, plan).ok()) return absl::OkStatus();
  return OptionError("int8", "the list names no inputs to calibrate with after a second tab, ",
                     "and ", OptionText("calibrate"), " is not given");
}

int RunConversion(const ConversionFlags& flags, const Settings& settings,
                  const ConversionVerb& words, Session& session);

// Each part of a checkpoint as a file in the folder that -o names.
int RunParts(const std::vector<checkpoint::ModelPart>& parts, const ConversionFlags& flags,
             const Settings& settings, const ConversionVerb& words, Session& session) {
  ConversionFlags own = flags;
  if (own.to.empty()) own.to = "onnx";
  const auto target = FormatCalled("--to", own.to, /*written=*/true);
  if (!target.ok()) return session.Usage(target.status());
  if (parts.size() > 1 && !flags.report.empty()) {
    return session.Usage("--report: one file for each part; --part converts one of them");
  }
  std::error_code error;
  std::filesystem::create_directories(flags.out, error);
  if (error) {
    return session.Fail(
        absl::UnavailableError(StrCat("cannot make folder '", flags.out, "': ", error.message())),
        Phase::kWriting);
  }
  for (const checkpoint::ModelPart& part : parts) {
    own.part = part.part;
    own.out =
        (std::filesystem::path(flags.out) / (part.name + (*target)->extensions.front())).string();
    if (const int code = RunConversion(own, settings, words, session); code != kDone) return code;
  }
  return kDone;
}

// Whether -o names a folder, into which a checkpoint's files go by their usual names.
bool NamesFolder(const ConversionFlags& flags) {
  std::error_code ignored;
  return flags.batch.list.empty() && !flags.out.empty() && !FormatOfExtension(flags.out) &&
         (flags.out.ends_with('/') || std::filesystem::is_directory(flags.out, ignored));
}

int RunConversion(const ConversionFlags& flags, const Settings& settings,
                  const ConversionVerb& words, Session& session) {
  if (NamesFolder(flags)) {
    const auto parts = checkpoint::PartsOf(Source(flags.model));
    if (!parts.ok()) return session.Fail(parts.status(), Phase::kReading);
    if (!parts->empty()) return RunParts(*parts, flags, settings, words, session);
  }
  absl::StatusOr<Plan> plan = PlanOf(flags, words);
  if (!plan.ok()) return session.Usage(plan.status());
  for (const std::string& warning : plan->warnings) session.Warn(warning);
  // A runtime that is loaded has threads, which a forked process does not get.
  const BatchFlags& batch = flags.batch;
  const bool forks = batch.isolate || !batch.timeout.empty() || !batch.memory.empty();
  if (int code = kDone; !forks && !LoadRuntimeFor(plan->with, session, &plan->runtime, &code)) {
    return code;
  }
  const std::string extension =
      plan->target->extensions.empty() ? "" : plan->target->extensions.front();
  if (!flags.batch.list.empty()) {
    if (plan->to_stdout) return session.Usage("-o is a folder with --batch, not standard output");
    plan->named = false;
    const auto work = [&](const BatchFile& file, Report& report) {
      Plan own = *plan;
      own.named = file.named;
      if (absl::Status s = CalibrateBy(file, flags, own); !s.ok()) {
        return BatchOutcome{s, Phase::kReading, {file.input}, {}};
      }
      return ConvertAtItsOpset(own, file.input, file.output, session, nullptr, report);
    };
    return RunBatch(
        {flags.batch, words.doing, extension, flags.out, flags.report, settings.Text(), work},
        session);
  }
  if (flags.model.empty()) return session.Usage("MODEL is required, or --batch");
  const std::string out = flags.out.empty() ? DefaultOutput(flags.model, extension) : flags.out;
  std::vector<std::string> outputs;
  if (!plan->to_stdout) outputs = OutputsOf(*plan->target, out);
  if (!flags.report.empty()) outputs.push_back(flags.report);
  if (plan->to_stdout && !flags.summary.empty()) {
    return session.Usage("--summary: with -o - the model is on standard output");
  }
  if (plan->to_stdout && ::isatty(STDOUT_FILENO)) {
    return session.Usage("-o -: standard output is a terminal, and models are binary");
  }
  if (const auto format = DetectFormat(flags.model); flags.from.empty() && !format.ok()) {
    return session.Fail(format.status(), Phase::kReading);
  }
  if (absl::Status s = CheckOutputs({flags.model}, {}, outputs); !s.ok()) return session.Usage(s);
  absl::StatusOr<ReportFile> report_file = ReportFile::Open(flags.report);
  if (!report_file.ok()) return session.Fail(report_file.status(), Phase::kWriting);

  Report report;
  BatchOutcome outcome;
  {
    Progress progress(session, "");
    outcome = ConvertAtItsOpset(*plan, flags.model, out, session, &progress, report);
  }
  const absl::Status& status = outcome.status;
  int code = kDone;
  if (status.ok()) {
    PrintWarnings(session, report);
    const std::string wrote = WroteText(outcome.written);
    // With a model on standard output nothing else can be printed there.
    if (!wrote.empty()) {
      PrintSummary(session, report, wrote);
      int64_t bytes = 0;
      for (const std::string& file : outcome.written) {
        std::error_code ignored;
        const auto size = std::filesystem::file_size(file, ignored);
        if (!ignored) bytes += static_cast<int64_t>(size);
      }
      PrintFacts(session, report, bytes);
      if (!flags.summary.empty()) PrintOps(session, report, BytesOf(outcome.read), bytes);
      PrintChecks(session, report);
    }
  } else {
    const bool writing = outcome.phase == Phase::kWriting;
    code =
        session.Fail(writing ? status : NamingModel(status, flags.model), outcome.phase, &report);
  }
  // It may be one of the files that the model names, which was not known before it was read.
  if (!flags.report.empty()) {
    if (absl::Status s = CheckOutputs(outcome.read, {}, {flags.report}); !s.ok()) {
      return session.Usage(s);
    }
  }
  return FinishReport(session, *report_file, report, std::string(status.message()), code);
}

}  // namespace

void AddConversion(CLI::App& app, Session& session, const ConversionVerb& words) {
  Verb verb(app, session, words.name, words.description, words.footer);
  auto flags = std::make_shared<ConversionFlags>();
  if (!words.by_name) session.usual_targets[words.name] = words.format;
  const std::string extension = FindFormat(words.format)->extensions.front();
  verb.Text("MODEL", flags->model, "", "The model file, of any format that is read");
  AddBatchFlags(verb, flags->batch);
  verb.Text("-o,--output", flags->out, StrCat("OUT", extension),
            StrCat("The file to write; by default MODEL's name with ", extension,
                   ", in this folder. -: standard output, for what is one file"))
      .ChangesNothing();
  verb.Text("--to", flags->to, "FORMAT",
            StrCat("What is written: one of ", FormatNames(true), "; by default ",
                   words.by_name ? "what the name of -o says, else " : "", words.format));
  verb.Text("--report", flags->report, "FILE.json",
            "Write a report of what was converted and what failed, also on failure. With --batch: "
            "one line per file, by default in batch.jsonl in the folder of -o")
      .ChangesNothing();

  verb.Text("--summary", flags->summary, "ops",
            "Print a table at the end; ops: nodes by op, before and after, and the sizes of the "
            "files")
      .OneOf({"ops"})
      .Excludes("--batch")
      .ChangesNothing();

  verb.Group("Reading");
  verb.Text("--from", flags->from, "FORMAT",
            StrCat("The format of MODEL, one of ", FormatNames(), "; by default detected from ",
                   "the file"));
  for (const ConversionOption& option : ConversionOptions()) {
    verb.Group(option.reading ? "Reading" : "Converting");
    flags->conversion.Add(verb, option.def, option.switches);
  }
  verb.Group("Converting");
  AddRuntimeFlags(verb, flags->runtime,
                  "With --int8: also run the written file with this runtime, and report the errors "
                  "of its outputs");
  verb.Flag(
          "--genai", flags->genai,
          "Of a checkpoint of a decoder: also write genai_config.json for ONNX Runtime GenAI, and "
          "copy the tokenizer's files, into the folder of -o")
      .Excludes("--batch");
  flags->writing.AddTo(verb, &Format::write_options);
  verb.Do([flags, words, settings = verb.settings(), &session] {
    return RunConversion(*flags, *settings, words, session);
  });
}

}  // namespace x2ir::cli
