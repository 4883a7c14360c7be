// Graphs of TensorFlow's ops on constants whose result is compared as numbers, to a tolerance.
#ifndef X2IR_TESTS_HANDLERS_TF_NUMBERS_UTIL_H_
#define X2IR_TESTS_HANDLERS_TF_NUMBERS_UTIL_H_

#include <string>
#include <vector>

namespace x2ir {

struct TfNumbersRow {
  std::string lines;         // of a graph without inputs whose output is y
  std::string type;          // of the result, or "" and ...
  std::vector<double> want;  // the result
  std::string error;         // or a part of the error
  double tolerance = 1e-6;
};
void ExpectTfNumbers(const std::vector<TfNumbersRow>& rows);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_TF_NUMBERS_UTIL_H_
