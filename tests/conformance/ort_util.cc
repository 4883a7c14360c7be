#include "tests/conformance/ort_util.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

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

// What it logs stands in its answers as well.
OrtJudge::OrtJudge(const std::string& oracle, const std::string& script)
    : server_({"node", script, "--oracle", oracle}, X2IR_BUILD_DIR "/conformance/ort.log") {
  thread_ = std::thread([this] { Work(); });
}

OrtJudge::~OrtJudge() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
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
  nlohmann::json request = {{"model", question.model}, {"io", question.io},
                            {"case", "all"},           {"rtol", question.rtol},
                            {"atol", question.atol},   {"steps", question.steps}};
  if (!question.as.empty()) request["as"] = question.as;
  const LineProcess::Answer reply = server_.Ask(request.dump());
  if (reply.outcome == LineProcess::Outcome::kNotStarted) {
    return {false, "crash", "cannot start node"};
  }
  if (reply.outcome != LineProcess::Outcome::kAnswered) {
    return {false, "crash", "the runtime ended"};
  }
  const auto answer = nlohmann::json::parse(reply.line, nullptr, false);
  if (answer.is_discarded()) return {false, "crash", "no JSON came back"};
  return {answer.value("ok", false), answer.value("stage", ""), answer.value("error", "")};
}

int ExpectAgreement(OrtJudge& judge, const std::vector<std::string>& asked) {
  const auto& answers = judge.Answers();
  EXPECT_EQ(answers.size(), asked.size());
  int agree = 0;
  for (size_t i = 0; i < answers.size() && i < asked.size(); ++i) {
    agree += answers[i].agrees;
    EXPECT_TRUE(answers[i].agrees)
        << asked[i] << " (" << answers[i].stage << "): " << answers[i].error;
  }
  return agree;
}

}  // namespace x2ir
