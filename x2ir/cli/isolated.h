// Work in a separate process, which may crash, take too much memory or too long without harm to
// others.
#ifndef X2IR_CLI_ISOLATED_H_
#define X2IR_CLI_ISOLATED_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace x2ir::cli {

struct Limits {
  int64_t seconds = 0;  // of time on the clock; 0: as many as it takes
  int64_t bytes = 0;    // of memory, without files that are mapped; 0: as many as there are
};

class Isolated {
 public:
  // Starts `work` in a child process, which is ended, and its temporary files are removed, when the
  // time is over. Unavailable: no process could be started. Only for programs without other working
  // threads.
  static absl::StatusOr<Isolated> Start(const std::function<std::string()>& work,
                                        const Limits& limits);
  pid_t pid() const { return pid_; }

  // The result of a child that has ended (`status` of waitpid): the return value of `work`.
  // DeadlineExceeded: its time was over. Aborted: it was killed, or crashed; the message says how.
  absl::StatusOr<std::string> Take(int status) const;
  // Whether the system killed it, and not its own fault.
  static bool KilledBySystem(int status);

 private:
  pid_t pid_ = -1;
  Limits limits_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> said_{nullptr, &std::fclose};
};

}  // namespace x2ir::cli

#endif  // X2IR_CLI_ISOLATED_H_
