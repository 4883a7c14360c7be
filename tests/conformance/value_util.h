// Inputs and outputs of backend cases, which may be sequences and optionals.
#ifndef X2IR_TESTS_CONFORMANCE_VALUE_UTIL_H_
#define X2IR_TESTS_CONFORMANCE_VALUE_UTIL_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/ops/eval.h"

namespace x2ir {

// FOLDER/STEM_0.pb, FOLDER/STEM_1.pb, ...: one for each value, of the value's type; fewer where
// files end. A tensor that the file writes as bits becomes what the value's type says.
absl::StatusOr<std::vector<Datum>> ReadDatums(const std::string& folder, const std::string& stem,
                                              absl::Span<const Value* const> values);

// One of ONNX's node tests, read to the IR, with its first set of inputs.
struct NodeCase {
  Model ir;
  std::vector<Tensor> inputs;
  bool has_all_inputs;  // some may be sequences
};
// Nothing for what is not read, which conformance_test.cc tells.
std::optional<NodeCase> ReadNodeCase(const std::filesystem::path& folder);

// "" when both are alike, tensors by `difference`; else where they first are not.
std::string DatumDifference(
    const Datum& got, const Datum& want,
    const std::function<std::string(const Tensor&, const Tensor&)>& difference);

// "" when a value may be of that type, as far as it is known; else what it is.
std::string NotOfType(const Datum& datum, const Type& type);

}  // namespace x2ir

#endif  // X2IR_TESTS_CONFORMANCE_VALUE_UTIL_H_
