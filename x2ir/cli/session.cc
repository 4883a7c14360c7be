// Output and exit codes.
#include "x2ir/cli/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/descriptors.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr size_t kBufferSize = size_t{1} << 16;

int WriteText(int fd, std::string_view text) { return WriteAll(fd, text.data(), text.size()); }

// Escape sequences of colors.
constexpr std::string_view kRed = "\x1b[1;31m", kGreen = "\x1b[32m", kYellow = "\x1b[1;33m",
                           kPlain = "\x1b[0m";

// A terminal, unless NO_COLOR (no-color.org) or a terminal that has none says otherwise.
bool HasColors(int fd) {
  const char *none = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return !(none && *none) && terminal && std::string_view(terminal) != "dumb" && ::isatty(fd);
}

std::string Colored(std::string_view text, std::string_view color, bool colored) {
  return colored ? StrCat(color, text, kPlain) : std::string(text);
}

// Verdicts at the beginning of lines.
std::string WithColoredVerdicts(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kVerdicts[] = {{"DIFFERS ", kRed},
                                                                         {"agrees ", kGreen}};
  std::string out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    for (const auto& [word, color] : kVerdicts) {
      if (!line.starts_with(word)) continue;
      out += Colored(word, color, true);
      line.remove_prefix(word.size());
      break;
    }
    out += line;
  }
  return out;
}

bool IsMalformed(absl::StatusCode code) {
  return code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kDataLoss;
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status, Phase phase, const Report* report) {
  if (status.ok()) return kDone;
  if (report && !report->failures.empty()) {
    const bool malformed =
        std::all_of(report->failures.begin(), report->failures.end(),
                    [](const Failure& failure) { return IsMalformed(failure.code); });
    return malformed ? kBadInput : kCannot;
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      if (OptionOf(status)) return kUsage;
      // A model that was read is fine: it is the name of the output that is not.
      return phase == Phase::kWriting ? kUsage : kBadInput;
    case absl::StatusCode::kAlreadyExists: return kUsage;  // as for other names of outputs
    case absl::StatusCode::kDataLoss: return kBadInput;
    case absl::StatusCode::kNotFound: return phase == Phase::kReading ? kBadInput : kCannot;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kPermissionDenied: return kSystem;
    default: return kCannot;
  }
}

std::string WithFlags(std::string_view text) {
  // A model may speak of options, too.
  return WithOptionNames(
      text, [](std::string_view name) { return IsOption(name) ? FlagOf(name) : OptionText(name); });
}

absl::StatusOr<LoadOptions> Session::Loading(const std::string& format) const {
  const Format* found = FindFormat(format);
  if (!found) return LoadOptions();  // Load says what is wrong with it
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    read_.insert(found);
  }
  X2IR_ASSIGN_OR_RETURN(FormatOptions options, reading.For(found->read_options));
  return LoadOptions{std::move(options), {}, {}};
}

void Session::WarnOfUnusedReading() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (read_.empty()) return;
  // In the order of their list.
  std::string models = read_.size() == 1 ? "a model of format " : "models of formats ";
  const size_t start = models.size();
  std::vector<OptionDef> known;
  for (const Format* format : AllFormats()) {
    if (!read_.contains(format)) continue;
    StrAppend(&models, models.size() == start ? "'" : ", '", format->name, "'");
    known.insert(known.end(), format->read_options.begin(), format->read_options.end());
  }
  for (const std::string& option : reading.Others(known)) {
    std::string others;
    for (const Format* format : AllFormats()) {
      if (!FindOption(format->read_options, option)) continue;
      StrAppend(&others, others.empty() ? "" : ", ", format->name);
    }
    Warn(StrCat(FlagOf(option), " has no effect on ", models,
                "; formats that have this option: ", others));
  }
}

void Session::Print(std::string_view text) {
  static const bool colored = HasColors(STDOUT_FILENO);
  out_ += colored ? WithColoredVerdicts(Printable(text)) : Printable(text);
  if (out_.size() >= kBufferSize) Flush();
}

void Session::Flush() {
  if (write_error_ == 0) write_error_ = WriteText(STDOUT_FILENO, out_);
  out_.clear();
}

void Session::Warn(std::string_view message) {
  if (quiet) return;
  Flush();  // what belongs before it comes before it
  WriteText(STDERR_FILENO, StrCat(Colored("warning:", kYellow, HasColors(STDERR_FILENO)), " ",
                                  ShortMessage(Printable(WithFlags(message))), "\n"));
}

void Session::Error(std::string_view message) {
  Flush();
  while (message.ends_with('\n')) message.remove_suffix(1);
  WriteText(STDERR_FILENO, StrCat(Colored("error:", kRed, HasColors(STDERR_FILENO)), " ",
                                  ShortMessage(Printable(WithFlags(message))), "\n"));
}

int Session::Fail(const absl::Status& status, Phase phase, const Report* report) {
  std::string message(status.message());
  if (message.empty()) message = std::string(absl::StatusCodeToString(status.code()));
  if (verbose && report && !report->failures.empty()) {
    // The same with every node, and what was tried.
    message = StrCat(message.substr(0, message.find('\n') + 1),
                     report->FailuresText(std::numeric_limits<size_t>::max(), /*with_tried=*/true));
  }
  if (absl::IsInternal(status)) {
    if (!message.ends_with('\n')) message += "\n";
    StrAppend(&message, "This is a bug in x2ir; please report it with the model, if you can.");
  }
  Error(message);
  return ExitCodeOf(status, phase, report);
}

int Session::Usage(std::string_view message) {
  Error(message);
  return kUsage;
}

int Session::Finish(int code) {
  Flush();
  if (write_error_ == 0 || write_error_ == EPIPE) return code;
  Error(StrCat("cannot write to standard output: ", std::strerror(write_error_)));
  return code == kDone ? kSystem : code;
}

}  // namespace x2ir::cli
