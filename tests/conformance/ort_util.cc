#include "tests/conformance/ort_util.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace x2ir {

bool OrtJudge::Answer::cannot_run() const {
  for (const char* what : {"NOT_IMPLEMENTED", "Could not find an implementation",
                           "under development", "is not a registered function/op",
                           "does not support", "Unsupported data type", "cannot hold it"}) {
    if (error.find(what) != std::string::npos) return true;
  }
  return false;
}

std::unique_ptr<OrtJudge> OrtJudge::Start(const char* script) {
  const char* given = std::getenv("X2IR_ORACLE");
  const std::string oracle = given ? given : X2IR_BUILD_DIR "/oracle";
  if (!std::filesystem::exists(oracle + "/installed")) return nullptr;
  return std::unique_ptr<OrtJudge>(
      new OrtJudge(oracle, std::string(X2IR_SOURCE_DIR "/tests/oracle/") + script));
}

OrtJudge::OrtJudge(std::string oracle, std::string script)
    : oracle_(std::move(oracle)), script_(std::move(script)) {
  signal(SIGPIPE, SIG_IGN);  // a server that died shows as an error of write
  thread_ = std::thread([this] { Work(); });
}

OrtJudge::~OrtJudge() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  StopServer();
}

size_t OrtJudge::Ask(Question question) {
  std::lock_guard lock(mutex_);
  questions_.push_back(std::move(question));
  changed_.notify_all();
  return asked_++;
}

const std::vector<OrtJudge::Answer>& OrtJudge::Answers() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return answers_.size() == asked_; });
  return answers_;
}

void OrtJudge::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !questions_.empty(); });
    if (stop_) return;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    Answer answer = AskServer(question);
    if (answer.agrees) std::remove(question.model.c_str());
    lock.lock();
    answers_.push_back(std::move(answer));
    changed_.notify_all();
  }
}

OrtJudge::Answer OrtJudge::AskServer(const Question& question) {
  if (pid_ < 0 && !StartServer()) return {false, "crash", "cannot start node"};
  nlohmann::json request = {{"model", question.model}, {"io", question.io},
                            {"case", "all"},           {"rtol", question.rtol},
                            {"atol", question.atol},   {"steps", question.steps}};
  if (!question.as.empty()) request["as"] = question.as;
  const std::string line = request.dump() + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = write(to_, line.data() + done, line.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  size_t end;
  while ((end = unread_.find('\n')) == std::string::npos) {
    char buffer[1 << 14];
    const ssize_t n = read(from_, buffer, sizeof buffer);
    if (n <= 0) {
      StopServer();  // the next question starts another
      return {false, "crash", "the runtime ended"};
    }
    unread_.append(buffer, static_cast<size_t>(n));
  }
  const auto answer = nlohmann::json::parse(unread_.substr(0, end), nullptr, false);
  unread_.erase(0, end + 1);
  if (answer.is_discarded()) return {false, "crash", "no JSON came back"};
  return {answer.value("ok", false), answer.value("stage", ""), answer.value("error", "")};
}

bool OrtJudge::StartServer() {
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
    // What it logs stands in its answers as well.
    const int log =
        open(X2IR_BUILD_DIR "/conformance/ort.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (log >= 0) dup2(log, STDERR_FILENO);
    execlp("node", "node", script_.c_str(), "--oracle", oracle_.c_str(),
           static_cast<char*>(nullptr));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  unread_.clear();
  return pid_ > 0;
}

void OrtJudge::StopServer() {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace x2ir
