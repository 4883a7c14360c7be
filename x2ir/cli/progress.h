// Progress on a terminal: a line with a bar on stderr that appears when work takes more than a
// second, and is removed when it is done. Nothing is printed in a pipe, or with -q.
#ifndef X2IR_CLI_PROGRESS_H_
#define X2IR_CLI_PROGRESS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "x2ir/cli/session.h"
#include "x2ir/core/convert.h"

namespace x2ir::cli {

class Progress {
 public:
  // `unit`: what is counted.
  Progress(const Session& session, std::string_view what, std::string_view unit = "nodes");
  ~Progress() { Stop(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The callback for the work; valid only as long as this object lives.
  ProgressFn fn();
  void SetWhat(std::string_view what);
  void Stop();  // removes the line; before anything else is printed

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  void Draw(const std::string& what) const;
  void DrawFromCallback();

  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> total_{0};
  const std::string unit_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string what_;    // guarded by mutex_
  bool stop_ = false;   // guarded by mutex_
  std::thread thread_;  // only on a terminal
  // Where no thread can be started, the callback draws: when next. Not used otherwise.
  bool draws_from_callback_ = false;
  Clock::time_point next_{};
  bool drawn_ = false;
};

}  // namespace x2ir::cli

#endif  // X2IR_CLI_PROGRESS_H_
