// IR models from text, the pass `transposes` run on them, and whether they still are the same.
#ifndef X2IR_TESTS_OPTIMIZER_TRANSPOSE_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_TRANSPOSE_UTIL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir {

// Attributes that the text of a graph of IR leaves out, as their ops have them by default.
void SetDefaults(Graph& graph);

// Attributes that are left out have their defaults. Float constants that are named with their
// type only get small positive elements, the same in every call.
absl::StatusOr<Model> IrFromText(std::string_view inputs, std::string_view lines,
                                 std::string_view outputs);

int64_t CountOps(const Graph& graph, std::string_view op);

// Runs the pass (and dead_code). "" when the graph is valid then, has the types that inference
// finds, and gives the numbers that `before` gives; else what is wrong.
std::string RunTransposes(const Model& before, Model& after);

// What is left: the graph's lines as text, or "error: ..." with what is wrong.
std::string TransposesText(std::string_view inputs, std::string_view lines,
                           std::string_view outputs = "y");

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_TRANSPOSE_UTIL_H_
