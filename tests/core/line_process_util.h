// A program that answers each line with a line, such as a runtime that judges models: it is started
// when it is first asked, and again after it ended.
#ifndef X2IR_TESTS_CORE_LINE_PROCESS_UTIL_H_
#define X2IR_TESTS_CORE_LINE_PROCESS_UTIL_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace x2ir {

class LineProcess {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  // The program, found as a shell finds it, and its arguments. What it logs (standard error) is
  // appended to the file `log`.
  LineProcess(std::vector<std::string> command, std::string log, Environment environment = {});
  ~LineProcess();  // closes its input, and waits for its end
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  enum class Outcome : uint8_t { kAnswered, kNotStarted, kEnded, kTooLate };
  struct Answer {
    Outcome outcome = Outcome::kAnswered;
    std::string line{};  // without its end
  };
  // `most_ms`: it is killed when it says nothing for so long; -1: it may take for ever.
  Answer Ask(const std::string& line, int most_ms = -1);

 private:
  bool Start();
  void Stop(bool kill);

  const std::vector<std::string> command_;
  const std::string log_;
  const Environment environment_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string unread_;
};

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_LINE_PROCESS_UTIL_H_
