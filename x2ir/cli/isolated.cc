#include "x2ir/cli/isolated.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "x2ir/graph_wrapper/descriptors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

// The end of what a child said: without it the child did not say all.
constexpr char kEnd = '\0';

[[noreturn]] void Child(const std::function<std::string()>& work, const Limits& limits, int fd) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // without the parent no process waits for it
#endif
  if (limits.bytes > 0) {
    // Data, not address space: a mapped file takes no memory that others could have.
    const rlimit most{static_cast<rlim_t>(limits.bytes), static_cast<rlim_t>(limits.bytes)};
    ::setrlimit(RLIMIT_DATA, &most);
  }
  if (limits.seconds > 0) {
    ::alarm(
        static_cast<unsigned>(std::min<int64_t>(limits.seconds, std::numeric_limits<int>::max())));
  }
  std::string said = work();
  ::alarm(0);
  said += kEnd;
  // Whatever the parent has not printed yet is its own: no buffer is flushed.
  ::_exit(WriteAll(fd, said.data(), said.size()) == 0 ? 0 : 1);
}

}  // namespace

absl::StatusOr<Isolated> Isolated::Start(const std::function<std::string()>& work,
                                         const Limits& limits) {
  Isolated run;
  run.limits_ = limits;
  const int fd = OpenUnnamedFile();
  if (fd >= 0) run.said_.reset(::fdopen(fd, "r+"));
  if (!run.said_) return SystemError("cannot make a temporary file: ", std::strerror(errno));
  run.pid_ = ::fork();
  if (run.pid_ < 0) return SystemError("cannot start a process: ", std::strerror(errno));
  if (run.pid_ == 0) Child(work, limits, fd);
  return run;
}

absl::StatusOr<std::string> Isolated::Take(int status) const {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return absl::DeadlineExceededError(StrCat("took longer than ", limits_.seconds,
                                              limits_.seconds == 1 ? " second" : " seconds"));
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return absl::AbortedError(StrCat("its process was killed by signal ", signal, " (",
                                     ::strsignal(signal), ")",
                                     signal == SIGKILL ? ", maybe for lack of memory" : ""));
  }
  std::string said;
  std::rewind(said_.get());
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, said_.get())) != 0;) said.append(part, n);
  if (said.empty() || said.back() != kEnd) {
    return absl::AbortedError(StrCat("its process ended with exit code ", WEXITSTATUS(status)));
  }
  said.pop_back();
  return said;
}

bool Isolated::KilledBySystem(int status) {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU);
}

}  // namespace x2ir::cli
