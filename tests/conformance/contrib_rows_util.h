// Small models of ONNX Runtime's own ops, for oracle_test.cc.
#ifndef X2IR_TESTS_CONFORMANCE_CONTRIB_ROWS_UTIL_H_
#define X2IR_TESTS_CONFORMANCE_CONTRIB_ROWS_UTIL_H_

#include <string>
#include <vector>

namespace x2ir {

struct ContribRow {
  std::string inputs;  // "x: float32[2,3], y: ..."
  std::string body;
  double rtol = 1e-5;  // the absolute tolerance is a tenth of it
  double scale = 1;    // of float inputs, which are random in [-1, 1)
  std::string outputs = "y";
};

std::vector<ContribRow> ContribRows();
std::vector<ContribRow> ContribLlmRows();  // those of language models

}  // namespace x2ir

#endif  // X2IR_TESTS_CONFORMANCE_CONTRIB_ROWS_UTIL_H_
