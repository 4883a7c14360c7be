#include "tests/core/line_process_util.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace x2ir {

LineProcess::LineProcess(std::vector<std::string> command, std::string log, Environment environment)
    : command_(std::move(command)), log_(std::move(log)), environment_(std::move(environment)) {
  signal(SIGPIPE, SIG_IGN);  // a program that died shows as an error of write
}

LineProcess::~LineProcess() { Stop(/*kill=*/false); }

LineProcess::Answer LineProcess::Ask(const std::string& line, int most_ms) {
  if (pid_ < 0 && !Start()) return {Outcome::kNotStarted};
  const std::string question = line + "\n";
  for (size_t done = 0; done < question.size();) {
    const ssize_t n = write(to_, question.data() + done, question.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  size_t end;
  while ((end = unread_.find('\n')) == std::string::npos) {
    pollfd ready = {from_, POLLIN, 0};
    if (poll(&ready, 1, most_ms) <= 0) {
      Stop(/*kill=*/true);
      return {Outcome::kTooLate};
    }
    char buffer[1 << 14];
    const ssize_t n = read(from_, buffer, sizeof buffer);
    if (n <= 0) {
      Stop(/*kill=*/false);
      return {Outcome::kEnded};
    }
    unread_.append(buffer, static_cast<size_t>(n));
  }
  Answer answer{Outcome::kAnswered, unread_.substr(0, end)};
  unread_.erase(0, end + 1);
  return answer;
}

bool LineProcess::Start() {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return false;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return false;
  }
  std::vector<char*> argv;
  for (const std::string& word : command_) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    const int log = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (log >= 0) dup2(log, STDERR_FILENO);
    for (const auto& [name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  unread_.clear();
  return pid_ > 0;
}

void LineProcess::Stop(bool kill) {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  if (kill) ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace x2ir
