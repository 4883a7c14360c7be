#include "x2ir/cli/batch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_split.h"
#include "x2ir/cli/batch_report.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/isolated.h"
#include "x2ir/cli/progress.h"
#include "x2ir/graph_wrapper/status.h"

#ifndef X2IR_VERSION
#define X2IR_VERSION "unknown"
#endif

namespace x2ir::cli {

void BatchOutcome::Reads(const std::string& in, const Mapped& files) {
  std::set<std::string> paths;
  for (const auto& file : files) paths.insert(file->path());
  paths.erase(in);
  read.insert(read.end(), paths.begin(), paths.end());
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kShown = 10;  // failures that are printed; the report has all

struct Job : BatchFile {
  absl::Status status;  // not OK: it cannot be begun
};

// "a/b/net.onnx" gives "FOLDER/a/b/net.json"; so do "/a/b/net.onnx" and "../a/b/net.onnx", since
// what has no name of an output stays in the folder.
absl::StatusOr<std::string> OutputFor(const std::string& input, const Batch& batch) {
  fs::path inside;
  for (const fs::path& part : fs::path(input).lexically_normal().relative_path()) {
    if (part != "..") inside /= part;
  }
  if (!inside.has_filename() || inside == ".") {
    return Invalid("'", input,
                   "' does not determine the name of its output; give the name after a tab");
  }
  return WithExtension((fs::path(batch.folder) / inside).string(), batch.extension);
}

constexpr size_t kMaxLine = size_t{64} << 10;

// A device that gives bytes for ever.
bool IsEndless(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char byte;
  const bool endless = !::isatty(fd) && ::read(fd, &byte, 1) == 1;
  ::close(fd);
  return endless;
}

// As std::getline, but of a line that is longer no more than one byte more.
bool GetLine(std::istream& in, size_t most, std::string* line) {
  line->clear();
  for (int c; (c = in.get()) != std::istream::traits_type::eof();) {
    if (c == '\n') return true;
    line->push_back(static_cast<char>(c));
    if (line->size() > most) return true;
  }
  return !line->empty();
}

absl::StatusOr<std::vector<Job>> ReadList(const Batch& batch) {
  std::ifstream file;
  if (batch.flags.list != "-") {
    struct stat info;
    const bool is_there = ::stat(batch.flags.list.c_str(), &info) == 0;
    // A terminal is one, and so is nothing; others may not end.
    if (is_there && (S_ISDIR(info.st_mode) || S_ISBLK(info.st_mode) ||
                     (S_ISCHR(info.st_mode) && IsEndless(batch.flags.list)))) {
      return DataLoss("'", batch.flags.list, "' is not a list of files");
    }
    file.open(batch.flags.list);
    if (!file) return NotFound("cannot read the list '", batch.flags.list, "'");
  }
  std::istream& in = batch.flags.list == "-" ? std::cin : file;
  std::vector<Job> jobs;
  std::set<std::string> outputs;
  std::set<FileId> inputs;
  int64_t number = 0;
  for (std::string line; GetLine(in, kMaxLine, &line);) {
    ++number;
    if (line.size() > kMaxLine) {
      return DataLoss("the list '", batch.flags.list, "': line ", number,
                      " is too long for a file name");
    }
    if (line.ends_with('\r')) line.pop_back();
    // Blank lines and comments; a file of such a name is ./#name.
    if (line.find_first_not_of(" \t") == line.npos || line.front() == '#') continue;
    Job job;
    std::vector<std::string> columns = absl::StrSplit(line, '\t');
    job.input = columns[0];
    // Nothing between two tabs is nothing said.
    if (columns.size() > 2) job.beside.assign(columns.begin() + 2, columns.end());
    std::erase(job.beside, "");
    if (columns.size() == 2 || (columns.size() > 2 && !columns[1].empty())) {
      job.named = true;
      job.output = (fs::path(batch.folder) / columns[1]).string();
      if (!HasExtension(job.output, batch.extension)) {
        job.status = Invalid("expected a name that ends in ", batch.extension);
      }
    } else if (absl::StatusOr<std::string> output = OutputFor(job.input, batch); output.ok()) {
      job.output = *std::move(output);
    } else {
      job.status = output.status();
    }
    if (const auto id = FileIdOf(job.input)) inputs.insert(*id);
    for (const std::string& path : job.beside) {
      if (const auto id = FileIdOf(path)) inputs.insert(*id);
    }
    jobs.push_back(std::move(job));
  }
  if (in.bad()) return SystemError("cannot read the list '", batch.flags.list, "'");
  // No job may write what another one writes or reads.
  for (Job& job : jobs) {
    if (!job.status.ok()) continue;
    const auto id = FileIdOf(job.output);
    if (!outputs.insert(fs::absolute(job.output).lexically_normal().string()).second) {
      job.status = Invalid("'", job.output, "' would be written twice; give another output ",
                           "name after a tab");
    } else if (id && inputs.contains(*id)) {
      job.status =
          Invalid("'", job.output, "' is also an input of the list and would be overwritten");
    }
    // The output is another job's.
    if (!job.status.ok()) job.output.clear();
  }
  return jobs;
}

// What a conversion that failed may have read: the model's file, or all of a folder.
std::vector<std::string> FilesOf(const std::string& input) {
  constexpr size_t kLimit = 10'000;
  std::vector<std::string> files = {input};
  std::error_code error;
  for (fs::recursive_directory_iterator it(input, error), end; !error && it != end;
       it.increment(error)) {
    if (files.size() > kLimit) break;
    files.push_back(it->path().string());
  }
  return files;
}

std::vector<FileStamp> StampsOf(const std::vector<std::string>& paths) {
  std::vector<FileStamp> stamps;
  for (const std::string& path : paths) {
    // One that is gone has no stamp that it could have again.
    stamps.push_back(StampOf(path).value_or(FileStamp{path, -1, -1}));
  }
  return stamps;
}

BatchOutcome Work(const Batch& batch, const Job& job, Report& report) {
  if (!job.status.ok()) return {job.status, Phase::kReading, {}, {}};
  // Whatever one file needs too much of, the others may have.
  try {
    // Others may write there at the same time: what is empty stays.
    if (const fs::path folder = fs::path(job.output).parent_path(); !folder.empty()) {
      std::error_code error;
      fs::create_directories(folder, error);
      if (error) {
        return {SystemError("cannot make the folder '", folder.string(), "': ", error.message()),
                Phase::kWriting,
                {},
                {}};
      }
    }
    return batch.work(job, report);
  } catch (const std::bad_alloc&) {
    return {absl::ResourceExhaustedError("out of memory"), Phase::kConverting, {}, {}};
  } catch (const std::exception& error) {
    return {Internal(error.what()), Phase::kConverting, {}, {}};
  }
}

class Runner {
 public:
  Runner(const Batch& batch, std::vector<Job> jobs, BatchReport& report)
      : batch_(batch),
        settings_(StrCat("x2ir ", X2IR_VERSION, " ", batch.settings)),
        jobs_(std::move(jobs)),
        report_(report) {}

  // As many at a time, each in a process of its own.
  void RunIsolated(int64_t most, const ProgressFn& progress) {
    const auto finished = [&] {
      progress(finished_.fetch_add(1) + 1, static_cast<int64_t>(jobs_.size()));
    };
    // Who ignores it, as some that start us do, is not told how children end.
    std::signal(SIGCHLD, SIG_DFL);
    std::map<pid_t, Child> running;
    while (next_ < jobs_.size() || !running.empty()) {
      if (next_ < jobs_.size() && static_cast<int64_t>(running.size()) < most) {
        const size_t i = next_++;
        if (Skips(i)) {
          finished();
          continue;
        }
        Child child{i, Now(), {}};
        const auto work = [&] {
          Done done = Do(i);
          return StrCat(LineOf(done.record, done.report), done.reason);
        };
        absl::StatusOr<Isolated> run = Isolated::Start(work, batch_.limits);
        if (!run.ok()) {
          Finish(i, LineOf(RecordOf(i, child.began, run.status(), kSystem), {}), "");
          finished();
          continue;
        }
        child.run = *std::move(run);
        const pid_t pid = child.run->pid();
        running.emplace(pid, std::move(child));
        continue;
      }
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, 0);
      const auto it = running.find(pid);
      if (it == running.end()) continue;
      End(it->second, status);
      running.erase(it);
      finished();
    }
  }

  void Run(int64_t threads, const ProgressFn& progress) {
    std::vector<std::thread> others;
    try {
      while (static_cast<int64_t>(others.size()) + 1 < threads) {
        others.emplace_back([&] { TakeJobs(progress); });
      }
    } catch (const std::system_error&) {  // so many there cannot be
    }
    TakeJobs(progress);
    for (std::thread& other : others) other.join();
  }

  int Finish(Session& session) {
    SayFailures(session);
    if (!session.quiet) {
      const auto before = [](size_t n) { return n ? StrCat(", ", n, " of them before") : ""; };
      session.Print(StrCat(done_.load(), " of ", jobs_.size(), " files done",
                           before(skipped_done_.size()), ", ", failures_.size(), " failed",
                           before(skipped_failed_),
                           skipped_failed_ ? " (--retry-failed tries them again)" : "", "\n"));
    }
    if (session.verbose) {
      std::sort(skipped_done_.begin(), skipped_done_.end());
      for (const size_t i : skipped_done_) {
        session.Print(StrCat("done before: ", jobs_[i].input, "\n"));
      }
    }
    if (!report_status_.ok()) return session.Fail(report_status_, Phase::kWriting);
    return failures_.empty() ? kDone : kCannot;
  }

 private:
  struct Failed {
    size_t job;
    std::string error;
    std::string reason;  // the same for files that failed for the same reason
  };

  // Files that failed for one reason together, the reason of most files first.
  void SayFailures(Session& session) {
    std::sort(failures_.begin(), failures_.end(),
              [](const Failed& a, const Failed& b) { return a.job < b.job; });
    std::vector<std::vector<const Failed*>> groups;
    std::map<std::string, size_t> group_of;
    for (const Failed& failed : failures_) {
      const auto [it, is_new] = group_of.emplace(failed.reason, groups.size());
      if (is_new) groups.emplace_back();
      groups[it->second].push_back(&failed);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    size_t shown = 0;
    for (const auto& group : groups) {
      if (shown >= kShown) break;
      const Failed& first = *group.front();
      const std::string& path = jobs_[first.job].input;
      if (group.size() == 1) {
        // A path is there once.
        const bool names_it = first.error.find(path) != std::string::npos;
        session.Error(names_it ? first.error : StrCat(path, ": ", first.error));
        ++shown;
        continue;
      }
      std::string text = StrCat(group.size(), " files: ", first.reason, "\n ");
      const size_t few = std::min<size_t>(group.size(), kShown - shown);
      for (size_t i = 0; i < few; ++i) {
        StrAppend(&text, i ? ", " : " ", jobs_[group[i]->job].input);
      }
      if (group.size() > few) StrAppend(&text, ", and ", group.size() - few, " more");
      shown += few;
      session.Error(text);
    }
    if (failures_.size() > shown) {
      session.Error(StrCat("and ", failures_.size() - shown, " more; the report has all"));
    }
  }

  // What failed, without what is only of this file: its path, and the nodes' names.
  static std::string ReasonOf(const std::string& error, const std::string& path,
                              const Report& report) {
    std::string reason;
    for (const Failure& failure : report.failures) {
      StrAppend(&reason, reason.empty() ? "" : "; ", failure.op, ": ", failure.reason);
    }
    if (!reason.empty()) return WithFlags(reason);
    std::string text;
    size_t from = 0;
    for (size_t at; !path.empty() && (at = error.find(path, from)) != std::string::npos;) {
      StrAppend(&text, std::string_view(error).substr(from, at - from), "*");
      from = at + path.size();
    }
    return StrCat(text, std::string_view(error).substr(from));
  }

  void TakeJobs(const ProgressFn& progress) {
    for (size_t i; (i = next_.fetch_add(1)) < jobs_.size();) {
      if (!Skips(i)) {
        const Done done = Do(i);
        Finish(i, LineOf(done.record, done.report), done.reason);
      }
      progress(finished_.fetch_add(1) + 1, static_cast<int64_t>(jobs_.size()));
    }
  }

  using Clock = std::chrono::steady_clock;
  struct Began {
    std::chrono::system_clock::time_point at;
    Clock::time_point ticks;
  };
  static Began Now() { return {std::chrono::system_clock::now(), Clock::now()}; }

  struct Child {
    size_t job;
    Began began;
    std::optional<Isolated> run;
  };
  struct Done {
    BatchRecord record;
    Report report;
    std::string reason;
  };

  // Whether an earlier run tells how it would end. One thread only, or each of its own jobs.
  bool Skips(size_t i) {
    const Job& job = jobs_[i];
    if (!job.status.ok()) return false;
    const BatchRecord* known = report_.Known(job.input, job.output, SettingsOf(job), LimitsText());
    if (!known || (known->exit_code != kDone && batch_.flags.retry_failed)) return false;
    const absl::Status written = report_.AddSkipped(*known);
    const std::lock_guard lock(mutex_);
    report_status_.Update(written);
    if (known->exit_code == kDone) {
      skipped_done_.push_back(i);
      ++done_;
    } else {
      ++skipped_failed_;
      failures_.push_back({i, known->error, ReasonOf(known->error, job.input, {})});
    }
    return true;
  }

  // What makes the result another one: the flags, and what the list says of this file.
  std::string SettingsOf(const Job& job) const {
    std::string settings = settings_;
    for (const std::string& path : job.beside) StrAppend(&settings, " beside ", path);
    return settings;
  }

  std::string LimitsText() const {
    const auto [seconds, bytes] = batch_.limits;
    std::string text = seconds ? StrCat("--timeout ", seconds) : "";
    if (bytes) StrAppend(&text, text.empty() ? "" : " ", "--memory ", bytes >> 20);
    return text;
  }

  BatchRecord RecordOf(size_t i, const Began& began, const absl::Status& status,
                       int exit_code) const {
    BatchRecord record;
    record.input = jobs_[i].input;
    record.output = jobs_[i].output;
    record.settings = SettingsOf(jobs_[i]);
    record.seconds = std::chrono::duration<double>(Clock::now() - began.ticks).count();
    record.exit_code = exit_code;
    record.error = WithFlags(std::string(status.message()));
    return record;
  }

  void SetRead(BatchRecord& record, const std::vector<std::string>& files, const Began& began) {
    record.read = StampsOf(files);
    const int64_t began_at =
        std::chrono::duration_cast<std::chrono::nanoseconds>(began.at.time_since_epoch()).count();
    for (FileStamp& stamp : record.read) {
      if (stamp.changed >= began_at) stamp.changed = -1;
    }
  }

  Done Do(size_t i) {
    const Job& job = jobs_[i];
    // Before it is read: a file that changes while it is read will have changed since.
    const Began began = Now();
    Done done;
    BatchOutcome outcome = Work(batch_, job, done.report);
    const absl::Status& status = outcome.status;
    const int code = ExitCodeOf(status, outcome.phase, &done.report);
    done.record = RecordOf(i, began, status, code);
    // A file that is not there may be there the next time; so may memory.
    const bool no_memory = absl::IsResourceExhausted(status) && batch_.limits.bytes != 0;
    done.record.final =
        code == kCannot || (code == kBadInput && !absl::IsNotFound(status)) || no_memory;
    if (no_memory) done.record.limits = LimitsText();
    if (!status.ok() && outcome.read.size() < 2) outcome.read = FilesOf(job.input);
    SetRead(done.record, outcome.read, began);
    done.record.written = StampsOf(outcome.written);
    if (!status.ok()) done.reason = ReasonOf(done.record.error, job.input, done.report);
    return done;
  }

  void End(const Child& child, int status) {
    const absl::StatusOr<std::string> said = child.run->Take(status);
    if (said.ok()) {
      const size_t end = said->find('\n') + 1;
      Finish(child.job, said->substr(0, end), said->substr(end));
      return;
    }
    // It would be killed again, unless it gets more.
    BatchRecord record = RecordOf(child.job, child.began, said.status(), kSystem);
    record.final = true;
    if (absl::IsDeadlineExceeded(said.status()) || Isolated::KilledBySystem(status)) {
      record.limits = LimitsText();
    }
    SetRead(record, FilesOf(record.input), child.began);
    Finish(child.job, LineOf(record, {}), ReasonOf(record.error, record.input, {}));
  }

  // A file is done, or failed for that reason: the line is the report's.
  void Finish(size_t i, const std::string& line, std::string reason) {
    const std::optional<BatchRecord> record = ReadRecord(line);
    const absl::Status written = report_.AddLine(line);
    const std::lock_guard lock(mutex_);
    report_status_.Update(written);
    if (record && record->exit_code == kDone) {
      ++done_;
      return;
    }
    std::string error = record ? record->error : "its process ended without a result";
    if (reason.empty()) reason = error;
    failures_.push_back({i, std::move(error), std::move(reason)});
  }

  const Batch& batch_;
  const std::string settings_;
  const std::vector<Job> jobs_;
  BatchReport& report_;
  std::atomic<size_t> next_{0};
  std::atomic<int64_t> finished_{0}, done_{0};
  std::mutex mutex_;  // guards what follows
  std::vector<size_t> skipped_done_;
  size_t skipped_failed_ = 0;
  std::vector<Failed> failures_;
  absl::Status report_status_;
};

}  // namespace

void AddBatchFlags(Verb& verb, BatchFlags& flags) {
  verb.Text("--batch", flags.list, "LIST",
            "Process every file that LIST names, one per line (-: standard input), instead of one "
            "MODEL; -o is then a folder. A failure does not stop the other files; files that are "
            "done and have not changed since are skipped the next time. A line may give the output "
            "after a tab, and the value of --calibrate for this file after a second tab")
      .Excludes("MODEL")
      .ChangesNothing();
  verb.Text("-j,--jobs", flags.threads, "N",
            "How many files of --batch to process at a time; by default the number of processors")
      .Needs("--batch")
      .ChangesNothing();
  verb.Text("--shard", flags.shard, "I/N",
            "Process a part of LIST: the I-th of every N files, I from 1 to N; N runs on N "
            "machines process the whole list")
      .Needs("--batch")
      .ChangesNothing();
  verb.Flag("--isolate", flags.isolate,
            "Convert each file of --batch in its own process; a crash, or a kill by the system, is "
            "then a failure of that file only")
      .Needs("--batch")
      .ChangesNothing();
  verb.Text("--timeout", flags.timeout, "SECONDS",
            "A file of --batch that takes longer is a failure; each file has its own process")
      .Needs("--batch")
      .ChangesNothing();
  verb.Text("--memory", flags.memory, "MB",
            "A file of --batch that needs more memory is a failure; mapped files do not count; "
            "each file has its own process")
      .Needs("--batch")
      .ChangesNothing();
  verb.Flag("--retry-failed", flags.retry_failed,
            "Also retry files of --batch that failed permanently: files that cannot be converted, "
            "are malformed, or were killed")
      .Needs("--batch")
      .ChangesNothing();
}

namespace {

absl::StatusOr<Limits> ParseLimits(const BatchFlags& flags) {
  constexpr int64_t kLimit = 1'000'000'000;
  Limits limits;
  if (!flags.timeout.empty()) {
    X2IR_ASSIGN_OR_RETURN(limits.seconds, ParseInt("--timeout", flags.timeout, 1, kLimit));
  }
  if (!flags.memory.empty()) {
    X2IR_ASSIGN_OR_RETURN(limits.bytes, ParseInt("--memory", flags.memory, 1, kLimit));
    limits.bytes <<= 20;
  }
  return limits;
}

struct Shard {
  int64_t index = 1, count = 1;
};
absl::StatusOr<Shard> ParseShard(const std::string& text) {
  constexpr int64_t kMaxShards = 1'000'000;
  Shard shard;
  if (text.empty()) return shard;
  const size_t slash = text.find('/');
  if (slash == text.npos) return Invalid("--shard '", text, "': expected I/N, as in 1/8");
  const std::string_view whole(text);
  X2IR_ASSIGN_OR_RETURN(shard.count, ParseInt("--shard", whole.substr(slash + 1), 1, kMaxShards));
  X2IR_ASSIGN_OR_RETURN(shard.index, ParseInt("--shard", whole.substr(0, slash), 1, shard.count));
  return shard;
}

// All are read, so that no shard writes what another one writes or reads.
std::vector<Job> JobsOf(const Shard& shard, std::vector<Job> all) {
  std::vector<Job> jobs;
  for (size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int64_t>(i) % shard.count == shard.index - 1) {
      jobs.push_back(std::move(all[i]));
    }
  }
  return jobs;
}

}  // namespace

int RunBatch(Batch batch, Session& session) {
  const absl::StatusOr<Limits> limits = ParseLimits(batch.flags);
  if (!limits.ok()) return session.Usage(limits.status());
  batch.limits = *limits;
  int64_t threads = std::max(1u, std::thread::hardware_concurrency());
  if (!batch.flags.threads.empty()) {
    const absl::StatusOr<int64_t> given = ParseInt("-j", batch.flags.threads, 1, kMaxThreads);
    if (!given.ok()) return session.Usage(given.status());
    threads = *given;
  }
  const absl::StatusOr<Shard> shard = ParseShard(batch.flags.shard);
  if (!shard.ok()) return session.Usage(shard.status());
  absl::StatusOr<std::vector<Job>> jobs = ReadList(batch);
  if (!jobs.ok()) return session.Fail(jobs.status(), Phase::kReading);
  jobs = JobsOf(*shard, *std::move(jobs));
  std::string path = batch.report;
  if (path.empty()) {
    std::error_code ignored;  // what cannot be made cannot be written to
    if (!batch.folder.empty()) fs::create_directories(batch.folder, ignored);
    const std::string part =
        batch.flags.shard.empty() ? "" : StrCat("-", shard->index, "-of-", shard->count);
    path = (fs::path(batch.folder) / StrCat("batch", part, ".jsonl")).string();
  }
  absl::StatusOr<BatchReport> report = BatchReport::Open(path);
  if (!report.ok()) return session.Fail(report.status(), Phase::kWriting);
  threads = std::clamp<int64_t>(static_cast<int64_t>(jobs->size()), 1, threads);
  Runner runner(batch, *std::move(jobs), *report);
  {
    Progress progress(session, batch.what, "files");
    if (batch.flags.isolate || limits->seconds || limits->bytes) {
      runner.RunIsolated(threads, progress.fn());
    } else {
      runner.Run(threads, progress.fn());
    }
  }
  return runner.Finish(session);
}

}  // namespace x2ir::cli
