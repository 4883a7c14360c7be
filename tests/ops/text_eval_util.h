// Ops as text in, text out, for tests of evaluation and inference.
#ifndef X2IR_TESTS_OPS_TEXT_EVAL_UTIL_H_
#define X2IR_TESTS_OPS_TEXT_EVAL_UTIL_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace x2ir {

// "graph g(inputs) -> (outputs) { lines }", attributes that are left out having their defaults,
// inferred.
absl::StatusOr<std::shared_ptr<Graph>> ParseIr(std::string_view inputs, std::string_view lines,
                                               std::string_view outputs);

// "int64[2]{1, 2}".
std::string TensorText(const Tensor& tensor);

// Runs the lines of an IR graph without inputs, attributes that are left out having their
// defaults, and prints the named outputs ("y" or "a, b"): "int64[2]{1, 2}; float32[]{0.5}".
// "error: ..." when it fails. What inference says of the outputs must agree with the results,
// else "inference: ...".
std::string EvalText(std::string_view lines, std::string_view outputs = "y");

// Infers a graph "graph g(inputs) -> (y) { lines }" and prints the outputs' types, with known
// elements after them: "int64[2] {n, 3}". "error: ..." when it fails.
std::string InferText(std::string_view inputs, std::string_view lines,
                      std::string_view outputs = "y");

// Expects `got` to be `want`; a want of "error PART" is an error whose message has PART.
void ExpectText(const std::string& got, std::string_view want, std::string_view lines);

}  // namespace x2ir

#endif  // X2IR_TESTS_OPS_TEXT_EVAL_UTIL_H_
