// A short text for a result: its type, the first elements, and statistics.
#ifndef X2IR_CLI_TENSOR_SUMMARY_H_
#define X2IR_CLI_TENSOR_SUMMARY_H_

#include <string>

#include "x2ir/ops/eval.h"

namespace x2ir::cli {

// "float32[1,1000]  min -3.2, max 8.1, mean 0.01  {0.5, 1.25, ...}"
std::string SummaryText(const Datum& datum);
// Members of a JSON object: "type": ..., "shape": ..., "min": ..., "values": [...]; all values
// of a small tensor, the first ones of a large one.
std::string SummaryJson(const Datum& datum);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_TENSOR_SUMMARY_H_
