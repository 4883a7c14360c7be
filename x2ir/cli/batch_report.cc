#include "x2ir/cli/batch_report.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::cli {
namespace {

std::vector<FileStamp> ReadStamps(JsonReader& json) {
  std::vector<FileStamp> stamps;
  json.Array([&](size_t) {
    FileStamp stamp;
    json.Array([&](size_t i) {
      if (i == 0) {
        stamp.path = json.String();
      } else if (i == 1) {
        stamp.size = json.Int();
      } else if (i == 2) {
        stamp.changed = json.Int();
      } else {
        json.Skip();
      }
    });
    stamps.push_back(std::move(stamp));
  });
  return stamps;
}

void AppendStamps(std::string* out, std::string_view key, const std::vector<FileStamp>& stamps) {
  StrAppend(out, ", \"", key, "\": [");
  for (size_t i = 0; i < stamps.size(); ++i) {
    StrAppend(out, i == 0 ? "[" : ", [");
    AppendJsonString(out, stamps[i].path);
    StrAppend(out, ", ", stamps[i].size, ", ", stamps[i].changed, "]");
  }
  StrAppend(out, "]");
}

// The same JSON on one line: a line break in it is always between tokens.
std::string OnOneLine(std::string_view json) {
  std::string line;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '\n') {
      line += json[i];
    } else {
      while (i + 1 < json.size() && json[i + 1] == ' ') ++i;
    }
  }
  return line;
}

bool AllUnchanged(const std::vector<FileStamp>& stamps) {
  return std::all_of(stamps.begin(), stamps.end(),
                     [](const FileStamp& stamp) { return StampOf(stamp.path) == stamp; });
}

}  // namespace

std::optional<BatchRecord> ReadRecord(std::string_view line) {
  BatchRecord record;
  bool has_input = false, has_code = false;
  JsonReader json(line);
  json.Object([&](std::string_view key) {
    if (key == "input") {
      record.input = json.String();
      has_input = true;
    } else if (key == "output") {
      record.output = json.String();
    } else if (key == "settings") {
      record.settings = json.String();
    } else if (key == "exit_code") {
      record.exit_code = static_cast<int>(json.Int());
      has_code = true;
    } else if (key == "error") {
      record.error = json.String();
    } else if (key == "final") {
      record.final = json.Bool();
    } else if (key == "skipped") {
      record.skipped = json.Bool();
    } else if (key == "limits") {
      record.limits = json.String();
    } else if (key == "read") {
      record.read = ReadStamps(json);
    } else if (key == "written") {
      record.written = ReadStamps(json);
    } else {
      json.Skip();
    }
  });
  json.Finish();
  if (!json.ok() || !has_input || !has_code) return std::nullopt;
  return record;
}

std::string LineOf(const BatchRecord& record, const Report& report) {
  std::string line = "{";
  const auto text = [&](std::string_view key, std::string_view value) {
    StrAppend(&line, line.size() > 1 ? ", \"" : "\"", key, "\": ");
    AppendJsonString(&line, value);
  };
  text("input", record.input);
  text("output", record.output);
  StrAppend(&line, ", \"exit_code\": ", record.exit_code);
  text("error", record.error);
  if (record.final) StrAppend(&line, ", \"final\": true");
  if (!record.limits.empty()) text("limits", record.limits);
  StrAppend(&line, ", \"seconds\": ", record.seconds);
  text("settings", record.settings);
  AppendStamps(&line, "read", record.read);
  AppendStamps(&line, "written", record.written);
  // The report's own members follow.
  StrAppend(&line, ", ", std::string_view(OnOneLine(report.ToJson())).substr(1), "\n");
  return line;
}

std::optional<FileStamp> StampOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileStamp{
      path, static_cast<int64_t>(info.st_size),
      static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

absl::StatusOr<BatchReport> BatchReport::Open(const std::string& path) {
  BatchReport report;
  report.path_ = path;
  const auto fail = [&](std::string_view what) {
    return SystemError("cannot write '", path, "': ", what);
  };
  report.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (report.fd_ < 0) return fail(std::strerror(errno));
  struct stat info;
  if (::fstat(report.fd_, &info) != 0) return fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return Invalid("--report '", path, "' is not a regular file");
  if (::flock(report.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail("another batch is writing it");
  }

  // An incomplete last line of a killed run is removed.
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::string_view all = file->view();
  size_t end = 0;
  for (size_t next; end < all.size() && (next = all.find('\n', end)) != all.npos; end = next + 1) {
    std::optional<BatchRecord> record = ReadRecord(all.substr(end, next - end));
    if (!record) return Invalid("--report '", path, "' exists and is not a report of a batch");
    // What was skipped is known by an earlier line.
    if (!record->skipped) report.records_[record->output] = *std::move(record);
  }
  if (end != all.size()) {
    if (all[end] != '{')
      return Invalid("--report '", path, "' exists and is not a report of a batch");
    if (::ftruncate(report.fd_, static_cast<off_t>(end)) != 0) return fail(std::strerror(errno));
  }
  return report;
}

BatchReport::BatchReport(BatchReport&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      records_(std::move(other.records_)) {}

BatchReport::~BatchReport() {
  if (fd_ >= 0) ::close(fd_);
}

const BatchRecord* BatchReport::Known(const std::string& input, const std::string& output,
                                      const std::string& settings,
                                      const std::string& limits) const {
  const auto it = records_.find(output);
  if (it == records_.end()) return nullptr;
  const BatchRecord& record = it->second;
  const bool same = record.input == input && record.settings == settings && !record.read.empty() &&
                    AllUnchanged(record.read);
  const bool done =
      record.exit_code == 0 && !record.written.empty() && AllUnchanged(record.written);
  const bool cannot = record.final && (record.limits.empty() || record.limits == limits);
  return same && (done || cannot) ? &record : nullptr;
}

absl::Status BatchReport::AddSkipped(const BatchRecord& known) {
  std::string line = "{\"input\": ";
  AppendJsonString(&line, known.input);
  line += ", \"output\": ";
  AppendJsonString(&line, known.output);
  StrAppend(&line, ", \"exit_code\": ", known.exit_code, ", \"error\": ");
  AppendJsonString(&line, known.error);
  return AddLine(line + ", \"skipped\": true}\n");
}

absl::Status BatchReport::AddLine(std::string_view line) {
  const std::lock_guard lock(mutex_);
  // One call, so that a line is there or not, as far as the system can.
  for (std::string_view left = line; !left.empty();) {
    const ssize_t n = ::write(fd_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("cannot write '", path_, "': ", std::strerror(errno));
    left.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace x2ir::cli
