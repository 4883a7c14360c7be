// The frame around the verbs.
#include "x2ir/cli/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <new>

#include "x2ir/cli/help.h"
#include "x2ir/cli/pages.h"
#include "x2ir/cli/streams.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/io/temporaries.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/files_read.h"
#include "x2ir/graph_wrapper/mappings.h"
#include "x2ir/graph_wrapper/status.h"

#ifndef X2IR_VERSION
#define X2IR_VERSION "unknown"
#endif

namespace x2ir::cli {
namespace {

constexpr char kExitCodes[] =
    "Exit codes:\n"
    "  0  done\n"
    "  1  the model cannot be converted, or differs\n"
    "  2  wrong usage\n"
    "  3  unreadable or malformed input\n"
    "  4  the system failed (disk full, no permission)";

// A standard descriptor that the caller closed would be given to the next file that we open,
// and our words would end in it.
void KeepStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1) {
      // For reading, so that writing to a closed stdout is still an error.
      [[maybe_unused]] const int opened = ::open("/dev/null", O_RDONLY);
    }
  }
}

// Mapped files stay open, and a model may have thousands of them. Systems give few by default for
// the sake of programs that use select(), and let who does not have more.
void AllowManyFiles() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// " " and the value as JSON has it, so that no value looks like several.
std::string Quoted(const std::string& value) {
  std::string text = " ";
  AppendJsonString(&text, value);
  return text;
}

// A value that is there, but empty, is most often a shell variable that is not set.
CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& value) { return value.empty() ? "expected a value, got ''" : ""; }, "");
}

// A positional - is standard input.
std::string FromStandardInput(std::string value) { return value == "-" ? "/dev/stdin" : value; }

// What --help and error messages call an option: all its names with their dashes.
std::vector<std::string> NamesOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& l : option->get_lnames()) names.push_back(StrCat("--", l));
    for (const std::string& s : option->get_snames()) names.push_back(StrCat("-", s));
  }
  return names;
}

// The message for an unexpected argument; empty if the parser's message is good enough.
std::string Unexpected(const CLI::App& app, const std::vector<CLI::App*>& verbs, int argc,
                       char** argv) {
  for (int i = 1; verbs.empty() && i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) continue;
    std::vector<std::string> known;
    std::string list;
    for (const CLI::App* verb : app.get_subcommands({})) {
      known.push_back(verb->get_name());
      StrAppend(&list, list.empty() ? "" : ", ", verb->get_name());
    }
    const std::string meant = DidYouMean(word, known);
    return StrCat("there is no verb '", word, "'",
                  meant.empty() ? StrCat("; expected one of: ", list) : meant);
  }
  std::string more;
  for (const CLI::App* parsed : {&app, verbs.empty() ? &app : verbs.front()}) {
    for (const std::string& extra : parsed->remaining()) {
      if (extra.size() < 2 || extra[0] != '-') {
        more = extra;
        continue;
      }
      const std::string flag = extra.substr(0, extra.find('='));
      return StrCat("there is no flag '", flag, "'", DidYouMean(flag, NamesOf(*parsed)));
    }
  }
  return more.empty() ? "" : StrCat("'", more, "' is one argument too many");
}

// "--output: 1 required OUT.json missing" is how the parser says that a value is missing.
std::string MessageOf(const CLI::ParseError& error) {
  const std::string text = error.what();
  const size_t end = text.find(": 1 required ");
  return end == text.npos ? text : StrCat(text.substr(0, end), ": a value is missing");
}

int Parse(CLI::App& app, Session& session, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return kDone;
  } catch (const CLI::CallForHelp&) {
    // That of the verb, where one was given.
    const auto verbs = app.get_subcommands();
    session.Print((verbs.empty() ? &app : verbs.front())->help());
  } catch (const CLI::CallForAllHelp&) {
    session.Print(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion&) {
    session.Print(StrCat(session.program(), " ", X2IR_VERSION, "\n"));
  } catch (const CLI::ParseError& error) {
    const auto verbs = app.get_subcommands();
    const std::string verb = verbs.empty() ? "" : StrCat(" ", verbs.front()->get_name());
    std::string what = Unexpected(app, verbs, argc, argv);
    if (what.empty()) what = MessageOf(error);
    return session.Usage(StrCat(what, "\ntry: ", session.program(), verb, " --help"));
  }
  session.verb = nullptr;
  return kDone;
}

int Run(int argc, char** argv, Session& session, const std::string& description,
        const std::vector<AddVerb>& verbs) {
  CLI::App app(description, session.program());
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(X2IR_VERSION), "Print the version and end");
  app.set_help_flag("-h,--help", "Print this help and end");
  app.footer(StrCat(session.program(), " VERB --help describes a verb.\n\n", kExitCodes));
  app.formatter(MakeHelp(session));
  const Verb before(app, session);
  for (const AddVerb add : verbs) add(app, session);
  if (argc == 1) {
    session.Error(StrCat("a verb is missing\n", app.help()));
    return kUsage;
  }
  // For packages: `x2ir --page man`. What it prints is made of the flags above.
  if (argc == 3 && std::string_view(argv[1]) == "--page") {
    const auto page = PageOf(app, session.program(), X2IR_VERSION, argv[2]);
    if (!page) return session.Usage("--page: expected man, bash, zsh or fish");
    session.Print(*page);
    return kDone;
  }
  const int code = Parse(app, session, argc, argv);
  if (code != kDone || !session.verb) return code;
  if (session.quiet && session.verbose) return session.Usage("-q and -v contradict each other");
  const int result = session.verb();
  if (result != kUsage) session.WarnOfUnusedReading();
  return result;
}

}  // namespace

Arg& Arg::Required() {
  option_->required();
  return *this;
}
Arg& Arg::OneOf(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values).description(""));
  return *this;
}
Arg& Arg::Excludes(const std::string& flag) {
  option_->excludes(app_->get_option(flag));
  return *this;
}
Arg& Arg::Needs(const std::string& flag) {
  option_->needs(app_->get_option(flag));
  return *this;
}
Arg& Arg::SetsWhenGiven(bool& given) {
  option_->each([&given](const std::string&) { given = true; });
  settings_->flags_.push_back({settings_->flags_[flag_].name,
                               [&given]() -> std::string { return given ? "given" : ""; }, "",
                               settings_->flags_[flag_].counts});
  return *this;
}
Arg& Arg::Hidden() {
  option_->group("");
  return *this;
}
Arg& Arg::ChangesNothing() {
  for (size_t i = flag_; i < settings_->flags_.size(); ++i) settings_->flags_[i].counts = false;
  return *this;
}

std::string Settings::Text() const {
  std::string text = verb_;
  for (const Flag& flag : flags_) {
    if (!flag.counts) continue;
    const std::string value = flag.value();
    if (value != flag.by_default) StrAppend(&text, " ", flag.name, value);
  }
  return text;
}

Verb::Verb(CLI::App& app, Session& session, const std::string& name, const std::string& description,
           const std::string& footer, Reads reads)
    : app_(app.add_subcommand(name, description)), session_(session) {
  settings_->verb_ = name;
  app_->footer(footer);
  AddCommonFlags(reads);
}

Verb::Verb(CLI::App& app, Session& session) : app_(&app), session_(session) {
  AddCommonFlags(Reads::kNothing);
}

void Verb::AddCommonFlags(Reads reads) {
  Flag("-q,--quiet", session_.quiet, "Print no summary, no warnings and no progress")
      .ChangesNothing();
  Flag("-v,--verbose", session_.verbose, "Print more").ChangesNothing();
  session_.reading.AddTo(*this, &Format::read_options, /*hidden=*/reads == Reads::kNothing);
}

void Verb::Group(const std::string& title, bool reading, const std::vector<std::string>& formats) {
  Group(title);
  session_.format_titles[title] = {reading, formats};
}

Arg Verb::Added(CLI::Option* option, const std::string& flag, std::function<std::string()> value) {
  if (!group_.empty()) option->group(group_);
  const Arg arg(app_, option, settings_.get());
  if (!flag.starts_with('-')) return arg;
  // Of several names the first long one will do.
  std::string name = flag.substr(flag.find("--") == flag.npos ? 0 : flag.find("--"));
  name = name.substr(0, name.find(','));
  std::string by_default = value();
  settings_->flags_.push_back({std::move(name), std::move(value), std::move(by_default), true});
  return arg;
}

Arg Verb::Text(const std::string& flag, std::string& value, const std::string& type,
               const std::string& description) {
  CLI::Option* option =
      app_->add_option(flag, value, description)->check(NotEmpty())->type_name(type);
  if (!flag.starts_with('-')) option->transform(FromStandardInput);
  return Added(option, flag, [&value] { return Quoted(value); });
}

Arg Verb::Repeated(const std::string& flag, std::vector<std::string>& values,
                   const std::string& type, const std::string& description) {
  CLI::Option* option = app_->add_option(flag, values, description)
                            ->check(NotEmpty())
                            ->type_name(type)
                            ->type_size(1)
                            ->allow_extra_args(!flag.starts_with('-'))
                            ->take_all();
  if (!flag.starts_with('-')) option->transform(FromStandardInput);
  return Added(option, flag, [&values] {
    std::string text;
    for (const std::string& value : values) text += Quoted(value);
    return text;
  });
}

Arg Verb::Flag(const std::string& flag, bool& value, const std::string& description) {
  return Added(app_->add_flag(flag, value, description), flag,
               [&value]() -> std::string { return value ? "" : " no"; });
}

void Verb::Do(std::function<int()> action) {
  app_->callback(
      [this_session = &session_, action = std::move(action)] { this_session->verb = action; });
}

void KeepUntilTheEnd(std::shared_ptr<Graph> graph) {
  static auto* kept = new std::vector<std::shared_ptr<Graph>>;
  kept->push_back(std::move(graph));
}

int RunProgram(int argc, char** argv, const std::string& name, const std::string& description,
               const std::vector<AddVerb>& verbs) {
  KeepStandardDescriptors();
  AllowManyFiles();
  HandleMappingFaults();
  RemoveTemporariesOnSignals();
  RememberFilesRead();
  // A closed pipe and a file that may not grow are errors of write, which we look at.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  Session session(name);
  int code = kCannot;
  try {
    if (const absl::Status kept = KeepStreams({argv, static_cast<size_t>(argc)}); !kept.ok()) {
      return session.Finish(session.Fail(kept, Phase::kReading));
    }
    code = Run(argc, argv, session, description, verbs);
  } catch (const std::bad_alloc&) {
    session.Error("out of memory");
    code = kSystem;
  } catch (const std::exception& error) {
    code = session.Fail(Internal(error.what()), Phase::kConverting);
  }
  // What was printed or compared last may have been read from a file that is no longer there.
  if (const absl::Status fault = TakeMappingFault(); !fault.ok()) {
    code = session.Fail(fault, Phase::kReading);
  }
  return session.Finish(code);
}

}  // namespace x2ir::cli
