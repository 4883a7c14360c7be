// A thread of its own draws the line, so that long work without reports is seen too. Where there
// can be no thread, what reports draws it.
#include "x2ir/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kPeriod{200};

void Write(const std::string& text) {
  // Nothing depends on it.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string Bar(int64_t done, int64_t total) {
  constexpr int64_t kWidth = 24;
  const auto full = static_cast<size_t>(std::clamp<int64_t>(done, 0, total) /
                                        static_cast<double>(total) * kWidth);
  std::string bar = StrCat("[", std::string(full, '='));
  bar.resize(1 + kWidth, ' ');
  return bar + "]";
}

}  // namespace

Progress::Progress(const Session& session, std::string_view what, std::string_view unit)
    : unit_(unit), what_(what) {
  if (session.quiet || !::isatty(STDERR_FILENO)) return;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    draws_from_callback_ = true;
    next_ = Clock::now() + kPatience;
  }
}

ProgressFn Progress::fn() {
  return [this](int64_t done, int64_t total) {
    done_.store(done, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
    if (draws_from_callback_) DrawFromCallback();
    return true;
  };
}

void Progress::SetWhat(std::string_view what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  done_ = 0;
  total_ = 0;
}

void Progress::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (std::exchange(drawn_, false)) Write("\r\x1b[K");
}

void Progress::DrawFromCallback() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kPeriod;
  drawn_ = true;
  Draw(what_);
}

void Progress::Draw(const std::string& what) const {
  const int64_t done = done_;
  const int64_t total = total_;
  std::string line = StrCat("\r\x1b[K", Printable(what), " ...");
  if (total > 0) StrAppend(&line, " ", Bar(done, total), " ", done, " of ", total, " ", unit_);
  Write(line);
}

void Progress::Run() {
  std::unique_lock lock(mutex_);
  const auto stopped = [this] { return stop_; };
  if (wake_.wait_for(lock, kPatience, stopped)) return;
  do {
    Draw(what_);
  } while (!wake_.wait_for(lock, kPeriod, stopped));
  Write("\r\x1b[K");
}

}  // namespace x2ir::cli
