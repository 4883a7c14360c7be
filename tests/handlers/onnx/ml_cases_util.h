// Small models of ai.onnx.ml over all its ops and modes, for the comparison with ONNX Runtime.
#ifndef X2IR_TESTS_HANDLERS_ONNX_ML_CASES_UTIL_H_
#define X2IR_TESTS_HANDLERS_ONNX_ML_CASES_UTIL_H_

#include <string>
#include <vector>

namespace x2ir {

struct MlCase {
  std::string lines;  // of a graph in ONNX's dialect, without inputs
  std::string outputs = "y";
  int version = 3;  // of ai.onnx.ml
};

std::vector<MlCase> AllMlCases();

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_ONNX_ML_CASES_UTIL_H_
