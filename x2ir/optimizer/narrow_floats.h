// Converts a float32 model to float16 or bfloat16: weights, activations, inputs and outputs.
//
// Ops whose results are useless with fewer digits stay float32 (OpDef::NeedsFloat32), and so do ops
// and nodes that the caller names, foreign nodes, quantized units, and computations that only give
// sizes, indices and angles. Casts are inserted at the borders, one for each value that crosses.
#ifndef X2IR_OPTIMIZER_NARROW_FLOATS_H_
#define X2IR_OPTIMIZER_NARROW_FLOATS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct NarrowOptions {
  DType to = DType::kFloat16;       // or kBFloat16
  bool keep_io = false;             // inputs and outputs stay float32
  std::vector<std::string> keep{};  // ops ("softmax", "LayerNormalization") and names of nodes
};

struct Narrowed {
  int64_t weights = 0;                   // that became narrow
  int64_t casts = 0;                     // that were added
  std::map<std::string, int64_t> stays;  // nodes that stay float32, by op
  // Weights with numbers beyond the type's range, which become its largest ones; and single
  // numbers, which masks are made of.
  std::vector<std::string> warnings, notes;
  // Names of `keep` that are neither an op nor a node of the graph; then nothing was changed.
  std::vector<std::string> unknown;
};

// The graph is of inferred IR, sorted, and is so afterwards.
absl::StatusOr<Narrowed> NarrowFloats(Graph& graph, const NarrowOptions& options);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_NARROW_FLOATS_H_
