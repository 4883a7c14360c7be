// See random_torch_util.h.
#include "tests/random/random_torch_util.h"

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
  if (std::system(StrCat(TorchInterpreter(), " -c 'import torch' >/dev/null 2>&1").c_str()) != 0) {
    return nullptr;
  }
  return std::unique_ptr<TorchJudge>(new TorchJudge());
}

TorchJudge::TorchJudge()
    : process_({TorchInterpreter(), X2IR_SOURCE_DIR "/tests/python/run_programs.py", "/dev/stdin"},
               "/dev/null", {{"PYTHONDONTWRITEBYTECODE", "1"}, {"OMP_NUM_THREADS", "1"}}) {}

std::string TorchJudge::Ask(const std::string& program, const std::string& io) {
  using Outcome = LineProcess::Outcome;
  const auto [outcome, answer] = process_.Ask(StrCat(program, "\t", io), /*most_ms=*/120'000);
  switch (outcome) {
    case Outcome::kNotStarted: return "skip: no process";
    case Outcome::kTooLate: return "no answer in two minutes";
    case Outcome::kEnded: return "PyTorch ended";
    case Outcome::kAnswered: break;
  }
  const size_t tab = answer.find('\t');
  return tab == std::string::npos ? answer : answer.substr(tab + 1);
}

}  // namespace x2ir
