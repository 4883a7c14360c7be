// Converts a float32 model to int8: units of dequantize_linear, an op and quantize_linear, which
// runtimes run as one op on integers. A table has the ops that become units (IntegerRows);
// core/calibrate.h measures the ranges of values.
//
// Activations are int8, (n - zero_point) * scale, 0 among them; weights are int8, from -127 to 127
// or of fewer bits, without a zero point, one scale for all or one for each channel of the result;
// a bias is int32 in steps of the product of both scales.
#ifndef X2IR_OPTIMIZER_QUANTIZE_FLOATS_H_
#define X2IR_OPTIMIZER_QUANTIZE_FLOATS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// How a unit gets its scales. Ops that only move elements (OpDef::moves) are kShared without a row.
enum class Steps : uint8_t {
  kOwn,      // each operand and result has its own
  kWeights,  // the same; operand 1 are weights and operand 2 is a bias, where they are constants
  kShared,   // operands and results have the same
  kFixed,    // the result has those of the row, which LiteRT's kernels require
};
struct IntegerRow {
  std::string_view op;
  Steps steps;
  uint32_t operands;  // bit i: operand i is quantized; kAllOperands
  float scale = 0;    // of kFixed
  int zero_point = 0;
};
inline constexpr uint32_t kAllOperands = ~0u;
absl::Span<const IntegerRow> IntegerRows();

// Numbers that a value has lain between.
struct NumberRange {
  double low, high;
};
using NumberRanges = absl::flat_hash_map<const Value*, NumberRange>;

struct QuantizedFloats {
  std::map<std::string, int64_t> ops;                           // that became units, by op
  std::map<std::pair<std::string, std::string>, int64_t> left;  // op and reason: that stay float32
  int64_t weights = 0;                                          // that became int8
};

struct QuantizeFloatsOptions {
  bool per_channel = false;  // weights have a scale for each channel of the result
  // 7: weights are from -63 to 63, and in a product of two activations the operand in place of the
  // weights has 7 bits as well.
  int weight_bits = 8;
};

// The graph is of inferred IR, sorted, and is so afterwards. Nested graphs stay as they are. A
// value that `ranges` does not have keeps its node in float32.
absl::StatusOr<QuantizedFloats> QuantizeFloats(Graph& graph, const NumberRanges& ranges,
                                               const QuantizeFloatsOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_QUANTIZE_FLOATS_H_
