// --batch: a verb's work for each of many files, several at a time, in one process.
//
// LIST has one file per line ("-": standard input), and comments (#); a tab may be followed by the
// file to write, relative to the folder of -o (by default the file's own path there), and further
// tabs by other arguments for the file (--calibrate).
//
// The report has one line of JSON per file, written when the file is done, and the next run reads
// it: a file that was done with the same settings by the same version is skipped when all files
// that were read and written then have the size and the time of change that they had, and so is a
// file that failed permanently. docs/batch.md describes the lines.
#ifndef X2IR_CLI_BATCH_H_
#define X2IR_CLI_BATCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/isolated.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/session.h"
#include "x2ir/core/report.h"

namespace x2ir::cli {

struct BatchFlags {
  std::string list;
  std::string threads;
  std::string shard;  // "I/N": of every N files of the list the I-th
  std::string timeout, memory;
  bool isolate = false, retry_failed = false;
};
// --batch and the flags that need it.
void AddBatchFlags(Verb& verb, BatchFlags& flags);

// The result of a verb for one file. Files that are processed at the same time share nothing else.
struct BatchOutcome {
  absl::Status status;
  Phase phase = Phase::kReading;
  std::vector<std::string> read, written;  // files

  BatchOutcome Ended(absl::Status end, Phase where) {
    status = std::move(end);
    phase = where;
    return std::move(*this);
  }
  // Further files that the model of `in` (which is in `read`) is mapped from: paths, sorted.
  void Reads(const std::string& in, const Mapped& files);
};
// A file of the list.
struct BatchFile {
  std::string input, output;
  bool named = false;               // the list says what the output is called
  std::vector<std::string> beside;  // fields after the output: other files that are read
};
using BatchWork = std::function<BatchOutcome(const BatchFile& file, Report& report)>;

struct Batch {
  BatchFlags flags;
  std::string what;       // for the progress line: "converting"
  std::string extension;  // of outputs
  std::string folder;     // for outputs; empty: the current one
  std::string report;     // empty: batch.jsonl in `folder`, of a shard batch-I-of-N.jsonl
  std::string settings;   // Settings::Text: whatever makes the result another one
  BatchWork work;
  Limits limits{};  // of the flags
};
// The exit code: kDone if every file is done, now or before.
int RunBatch(Batch batch, Session& session);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_BATCH_H_
