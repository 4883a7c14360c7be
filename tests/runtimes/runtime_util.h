// Where the tests find a runtime's library.
#ifndef X2IR_TESTS_RUNTIMES_RUNTIME_UTIL_H_
#define X2IR_TESTS_RUNTIMES_RUNTIME_UTIL_H_

#include <string>

namespace x2ir {

// ONNX Runtime's, of the package that tests/oracle/setup.sh installs; empty where it is not there.
std::string OnnxRuntimeLibrary();

}  // namespace x2ir

#endif  // X2IR_TESTS_RUNTIMES_RUNTIME_UTIL_H_
