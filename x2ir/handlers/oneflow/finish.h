// What is done to a graph of OneFlow's ops before it is written.
#ifndef X2IR_HANDLERS_ONEFLOW_FINISH_H_
#define X2IR_HANDLERS_ONEFLOW_FINISH_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Products take up transposes of their operands, and ops with a number beside a tensor have it as
// an attribute, as OneFlow's own graphs do.
absl::Status FinishOneflow(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONEFLOW_FINISH_H_
