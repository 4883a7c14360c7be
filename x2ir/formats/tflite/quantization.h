// How the integers of a tensor represent floats: (q - zero_point) * scale. A value of a graph of
// dialect "tflite" carries it as an annotation until import makes nodes of it.
#ifndef X2IR_FORMATS_TFLITE_QUANTIZATION_H_
#define X2IR_FORMATS_TFLITE_QUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {
namespace tflite {

inline constexpr char kQuantizationKey[] = "tflite.quantization";

struct Quantization {
  std::vector<float> scales;         // one, or one for each index of the axis
  std::vector<int64_t> zero_points;  // as many
  int64_t axis = 0;
  // Of blocks: scales (row-major, of the tensor's shape with the last axis divided by it) for that
  // many elements of the last axis. 0: none.
  int64_t block_size = 0;
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

// nullopt: the value is not quantized. InvalidArgument: the annotation is not one of x2ir's.
absl::StatusOr<std::optional<Quantization>> QuantizationOf(const Value& value);
bool IsQuantized(const Value& value);
void SetQuantization(Value& value, const Quantization& quantization);
void ClearQuantization(Value& value);

// The scales of sums of products of the two: x has one.
Quantization ProductOf(const Quantization& x, const Quantization& weights);
// Whether scales are the same but for the last digits, and zero points the same.
bool IsNear(const Quantization& a, const Quantization& b);

}  // namespace tflite
}  // namespace x2ir

#endif  // X2IR_FORMATS_TFLITE_QUANTIZATION_H_
