// What a model gives, as text in and text out.
#ifndef X2IR_TESTS_CORE_RUN_TEXT_UTIL_H_
#define X2IR_TESTS_CORE_RUN_TEXT_UTIL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir {

// The results on inputs that are given as text ("float32[2]{1, 2}"): "float32[2]{3, 4}", with "; "
// between several. "error: ..." where there is no model, or it fails.
std::string ResultsText(const absl::StatusOr<Model>& model, const std::vector<std::string>& inputs);

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_RUN_TEXT_UTIL_H_
