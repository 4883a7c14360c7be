// ONNX Runtime, or LiteRT, as a judge of many small models: a client of the servers in
// tests/oracle/.
#ifndef X2IR_TESTS_CONFORMANCE_ORT_UTIL_H_
#define X2IR_TESTS_CONFORMANCE_ORT_UTIL_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/line_process_util.h"

namespace x2ir {

// Questions are answered on a thread of its own while the caller goes on.
class OrtJudge {
 public:
  // `model` and `io` are files; `io` holds in_0, ... and the expected out_0, ... .
  struct Question {
    std::string model, io;
    double rtol = 0, atol = 0;
    int steps = 0;     // by which integers may differ
    std::string as{};  // another model, whose outputs are expected instead
  };
  struct Answer {
    bool agrees = false;
    std::string stage;  // "load", "run", "compare", "crash", "expected" (the other model): how far
                        // it came where it does not
    std::string error;
    // It does not know the op, the type or the opset: nothing is said about the model.
    bool cannot_run() const;
  };

  // Null when the runtime is not installed (tests/oracle/setup.sh). `script` runs it: "ort.mjs" or
  // "litert.mjs".
  static std::unique_ptr<OrtJudge> Start(const char* script = "ort.mjs");
  ~OrtJudge();
  // Returns the number of the question. The model's file is removed if it agrees.
  size_t Ask(Question question);
  // All answers so far, by number. Waits for them.
  const std::vector<Answer>& Answers();

 private:
  OrtJudge(const std::string& oracle, const std::string& script);
  void Work();
  Answer AskServer(const Question& question);

  LineProcess server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> questions_;
  std::vector<Answer> answers_;
  size_t asked_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

// Expects that all answers agree, and as many as were asked; `asked` names the questions in their
// order. Returns how many agree.
int ExpectAgreement(OrtJudge& judge, const std::vector<std::string>& asked);

}  // namespace x2ir

#endif  // X2IR_TESTS_CONFORMANCE_ORT_UTIL_H_
