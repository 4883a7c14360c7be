// Our programs in lines of shell, each in the same fresh folder.
#ifndef X2IR_TESTS_CLI_SHELL_UTIL_H_
#define X2IR_TESTS_CLI_SHELL_UTIL_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"

namespace x2ir {

class ShellTest : public TempDirTest {
 protected:
  // Writes a graph of ONNX's ops, as text has it, to a file; it imports the domain com.acme, too.
  void PutOnnx(const std::string& name, const std::string& graph, int opset = 17) const;

  struct Result {
    int code = -1;  // or minus the signal
    std::string out, err;
  };
  // A line of bash; what takes more than a minute ends with 124.
  Result Run(const std::string& command) const;

  struct Row {
    std::string command;
    int code;
    std::string out, err;  // regular expressions; empty: nothing is printed
  };
  void Check(const std::vector<Row>& rows) const;
};

}  // namespace x2ir

#endif  // X2IR_TESTS_CLI_SHELL_UTIL_H_
