// ONNX's node tests written for a dialect, through its files, and read again.
#ifndef X2IR_TESTS_CONFORMANCE_NODE_BACK_UTIL_H_
#define X2IR_TESTS_CONFORMANCE_NODE_BACK_UTIL_H_

#include <cstddef>
#include <functional>
#include <string>

#include "tests/core/back_util.h"

namespace x2ir {

// Tries every case whose inputs are tensors; each must give the same results, or be refused.
// `through`: of the case's number, the files that it goes through. Prints how many come back.
// `golden`: the file that lists the others by the first part of the reason (X2IR_UPDATE_GOLDEN=1
// writes it), `about` its first line. X2IR_CASES=REGEX tries only the cases whose names match.
// Skips the test where the cases are missing.
void ExpectNodeTestsComeBack(const std::string& dialect,
                             const std::function<ThroughFile(size_t number)>& through,
                             const std::string& golden, const std::string& about);

}  // namespace x2ir

#endif  // X2IR_TESTS_CONFORMANCE_NODE_BACK_UTIL_H_
