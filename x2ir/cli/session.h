// Session: one run of a program: its output, its verbosity, and its exit code.
#ifndef X2IR_CLI_SESSION_H_
#define X2IR_CLI_SESSION_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/cli/option_flags.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"

namespace x2ir::cli {

enum ExitCode {
  kDone = 0,
  kCannot = 1,    // the model cannot be converted, or differs
  kUsage = 2,     // wrong usage
  kBadInput = 3,  // unreadable or malformed input
  kSystem = 4,    // the system failed: disk full, no permission
};

// The phase in which a status occurred, since equal codes have different exit codes.
enum class Phase { kReading, kConverting, kWriting };

// The exit code of a failure. Failures of single ops in `report` (may be null) are more precise
// than the status: one unsupported op makes it kCannot. An error about an option is wrong usage.
ExitCode ExitCodeOf(const absl::Status& status, Phase phase, const Report* report = nullptr);

class Session {
 public:
  explicit Session(std::string program) : program_(std::move(program)) {}

  // Flags that every verb has.
  bool quiet = false;
  bool verbose = false;
  // Of readers. Those that a model's format does not have mean nothing for that model.
  OptionFlags reading;
  // For --help: the formats whose options are listed under a title, and the format that a verb
  // writes by default.
  struct FormatTitle {
    bool reading;
    std::vector<std::string> formats;
  };
  std::map<std::string, FormatTitle> format_titles;
  std::map<std::string, std::string> usual_targets;
  // The requested verb; set while the command line is parsed, called afterwards.
  std::function<int()> verb;

  // For a model of that format that is read now. InvalidArgument for an invalid value of a flag.
  absl::StatusOr<LoadOptions> Loading(const std::string& format) const;
  // Warns of flags of readers that no model had which was read; none if none was read.
  void WarnOfUnusedReading();

  const std::string& program() const { return program_; }

  // Results, to stdout. Verdicts are colored on a terminal, as are "error:" and "warning:", unless
  // NO_COLOR is set. Control characters of the model's names cannot reach a terminal.
  void Print(std::string_view text);
  // To stderr. Warnings are not printed when quiet.
  void Warn(std::string_view message);
  void Error(std::string_view message);
  // Prints the failure and gives its exit code.
  int Fail(const absl::Status& status, Phase phase, const Report* report = nullptr);
  int Usage(std::string_view message);
  int Usage(const absl::Status& status) { return Usage(std::string(status.message())); }

  // Whether all of stdout was written. A closed pipe (`| head`) is not a failure; a full disk is:
  // it is reported, and the exit code becomes kSystem.
  int Finish(int code);

 private:
  void Flush();

  std::string program_;
  // The formats that Loading was asked for, by several threads at a time.
  mutable std::mutex mutex_;
  mutable std::set<const Format*> read_;
  std::string out_;
  int write_error_ = 0;
};

// A message of the library, with options replaced by the flags of the programs.
std::string WithFlags(std::string_view text);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_SESSION_H_
