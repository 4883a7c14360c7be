// Where a runtime is known to differ or to refuse: docs/runtimes.md says why.
#ifndef X2IR_TESTS_RANDOM_RANDOM_KNOWN_UTIL_H_
#define X2IR_TESTS_RANDOM_RANDOM_KNOWN_UTIL_H_

#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/graph.h"

namespace x2ir {

struct KnownDifference {
  const char* runtime;    // "ONNX Runtime", "LiteRT"
  const char* op;         // of IR; "": any
  const char* condition;  // "", or the name of a condition in random_known_util.cc
  int first, last;        // opsets
  const char* error;      // a part of what the runtime says; "": any, other numbers too
  const char* reason;     // docs/runtimes.md says more
};

// The first row that fits a node of the graph, or of one nested in it, and the error; null: none.
const KnownDifference* FindKnown(const Graph& graph, std::string_view runtime, int opset,
                                 const std::string& error);

}  // namespace x2ir

#endif  // X2IR_TESTS_RANDOM_RANDOM_KNOWN_UTIL_H_
