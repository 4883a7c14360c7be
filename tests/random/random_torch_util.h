// PyTorch as a judge of programs in Python: a client of tests/python/run_programs.py.
#ifndef X2IR_TESTS_RANDOM_RANDOM_TORCH_UTIL_H_
#define X2IR_TESTS_RANDOM_RANDOM_TORCH_UTIL_H_

#include <memory>
#include <string>

#include "tests/core/line_process_util.h"

namespace x2ir {

class TorchJudge {
 public:
  static std::unique_ptr<TorchJudge> Start();  // null where there is no PyTorch
  // "" where the program gives the outputs of the file; "skip: ..." where PyTorch cannot tell; else
  // what is wrong.
  std::string Ask(const std::string& program, const std::string& io);

 private:
  TorchJudge();
  LineProcess process_;
};

}  // namespace x2ir

#endif  // X2IR_TESTS_RANDOM_RANDOM_TORCH_UTIL_H_
