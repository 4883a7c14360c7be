// See random_torch_util.h.
#include "tests/random/random_torch_util.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/core/host_util.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

std::string TorchInterpreter() {
  const std::string given = Env("X2IR_PYTHON");
  return given.empty() ? "/usr/bin/python3" : given;
}

}  // namespace

std::unique_ptr<TorchJudge> TorchJudge::Start() {
  signal(SIGPIPE, SIG_IGN);  // a process that died shows as an error of write
  if (std::system(StrCat(TorchInterpreter(), " -c 'import torch' >/dev/null 2>&1").c_str()) != 0) {
    return nullptr;
  }
  return std::unique_ptr<TorchJudge>(new TorchJudge());
}

TorchJudge::~TorchJudge() { StopProcess(); }

bool TorchJudge::StartProcess() {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return false;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return false;
  }
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    const int log = open("/dev/null", O_WRONLY);
    if (log >= 0) dup2(log, STDERR_FILENO);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    const std::string python = TorchInterpreter();
    execlp(python.c_str(), python.c_str(), X2IR_SOURCE_DIR "/tests/python/run_programs.py",
           "/dev/stdin", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  unread_.clear();
  return pid_ > 0;
}

void TorchJudge::StopProcess() {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);  // it may be busy for ever
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string TorchJudge::Ask(const std::string& program, const std::string& io) {
  if (pid_ < 0 && !StartProcess()) return "skip: no process";
  const std::string line = StrCat(program, "\t", io, "\n");
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = write(to_, line.data() + done, line.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  size_t end;
  while ((end = unread_.find('\n')) == std::string::npos) {
    pollfd ready = {from_, POLLIN, 0};
    if (poll(&ready, 1, 120'000) <= 0) {
      StopProcess();
      return "no answer in two minutes";
    }
    char buffer[1 << 14];
    const ssize_t n = read(from_, buffer, sizeof buffer);
    if (n <= 0) {
      StopProcess();  // the next question starts another
      return "PyTorch ended";
    }
    unread_.append(buffer, static_cast<size_t>(n));
  }
  const std::string answer = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  const size_t tab = answer.find('\t');
  return tab == std::string::npos ? answer : answer.substr(tab + 1);
}

}  // namespace x2ir
