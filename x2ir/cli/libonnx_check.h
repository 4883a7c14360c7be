// libonnx's checker as a second opinion on what was exported.
#ifndef X2IR_CLI_LIBONNX_CHECK_H_
#define X2IR_CLI_LIBONNX_CHECK_H_

#include <string>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::cli {

// "" when libonnx's checker passes the model, else the reason why it was not run: it is not
// installed, it is older than the model, or the model is larger than protobuf can hold.
// FailedPrecondition if the model does not pass.
absl::StatusOr<std::string> CheckWithLibonnx(const Model& onnx);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_LIBONNX_CHECK_H_
