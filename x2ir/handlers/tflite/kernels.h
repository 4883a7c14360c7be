// What LiteRT's kernels take, as rows: element types and ranks of operators. A node that none of
// them runs is never written.
#ifndef X2IR_HANDLERS_TFLITE_KERNELS_H_
#define X2IR_HANDLERS_TFLITE_KERNELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// What LiteRT would refuse of a node; empty: nothing.
std::vector<std::string> CheckTfliteNode(const Node& node);

// Whether the operator has a kernel for floats or integers of that type that are not
// quantized.
bool HasTfliteKernel(std::string_view op, DType type);

// How many axes operands of different shapes may have.
int64_t MostBroadcastAxes(std::string_view op);

// How a kernel for quantized integers takes their scales.
enum class Scales : uint8_t {
  kOwn,       // each operand and result has its own
  kFixed,     // results have those that the operator says (FixedQuantization)
  kSame,      // all have the same
  kCommutes,  // all have the same, and the operator may be exchanged with rounding: it moves or
              // selects elements
  kCompares,  // operands have the same, results are no floats
  kWeights    // a sum of products (WeightSlots)
};
struct QuantizedKernel {
  std::string_view op;
  uint32_t types;  // bit d: DType d
  Scales scales;
  bool Takes(DType t) const { return (types >> static_cast<int>(t) & 1) != 0; }
};
// Null: LiteRT computes it in floats alone.
const QuantizedKernel* QuantizedKernelOf(std::string_view op);
// Of the result of an operator of kFixed.
struct FixedScale {
  float scale;
  int64_t zero_point;
};
std::optional<FixedScale> FixedScaleOf(std::string_view op, DType type);

// Which operands of a sum of products are what, and the axis of the weights that channels of the
// result are. The scale of a bias is the product of the scales of the other two.
struct WeightSlots {
  std::string_view op;
  size_t x, weights, bias;
  int64_t axis;
};
const WeightSlots* WeightSlotsOf(std::string_view op);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_KERNELS_H_
