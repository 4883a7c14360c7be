// The report of a batch: read when it starts, written line by line as files are done.
#ifndef X2IR_CLI_BATCH_REPORT_H_
#define X2IR_CLI_BATCH_REPORT_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::cli {

// A file as it was at some time.
struct FileStamp {
  std::string path;
  int64_t size = 0;
  int64_t changed = 0;  // nanoseconds since 1970
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
std::optional<FileStamp> StampOf(const std::string& path);

struct BatchRecord {
  std::string input, output, settings, error;
  int exit_code = 0;
  // For a failure: whether it is permanent, and the limits that may have caused it.
  bool final = false;
  std::string limits;
  bool skipped = false;  // only read: the line says that an earlier one still holds
  double seconds = 0;
  std::vector<FileStamp> read, written;
};

// A line of the report, and its parsed form; nullopt if it is not such a line.
std::string LineOf(const BatchRecord& record, const Report& report);
std::optional<BatchRecord> ReadRecord(std::string_view line);

class BatchReport {
 public:
  // Reads an existing report, and opens the file to append. InvalidArgument: the file is not such a
  // report. Unavailable: another batch is writing it, or it cannot be written.
  static absl::StatusOr<BatchReport> Open(const std::string& path);
  BatchReport(BatchReport&& other) noexcept;
  ~BatchReport();

  // The record of a file that need not be processed again: it was done, or failed permanently.
  // Null: the file must be processed.
  const BatchRecord* Known(const std::string& input, const std::string& output,
                           const std::string& settings, const std::string& limits) const;
  // Thread-safe. AddLine takes the result of LineOf.
  absl::Status AddLine(std::string_view line);
  // Adds a line that the file was skipped, with the result of `known`.
  absl::Status AddSkipped(const BatchRecord& known);

 private:
  BatchReport() = default;
  std::string path_;
  int fd_ = -1;
  StringMap<BatchRecord> records_;  // those that were there, by output; the last of each
  std::mutex mutex_;
};

}  // namespace x2ir::cli

#endif  // X2IR_CLI_BATCH_REPORT_H_
