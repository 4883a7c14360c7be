// X2IR_CHECK: a broken invariant of x2ir ends the program with a message. For programming errors
// only; whatever a file or a caller's data can cause is a Status.
#ifndef X2IR_GRAPH_WRAPPER_CHECK_H_
#define X2IR_GRAPH_WRAPPER_CHECK_H_

#include <string>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& message);

}  // namespace x2ir

#define X2IR_CHECK(condition, message)                                              \
  do {                                                                              \
    if (!(condition)) ::x2ir::CheckFailed(__FILE__, __LINE__, #condition, message); \
  } while (false)

#endif  // X2IR_GRAPH_WRAPPER_CHECK_H_
