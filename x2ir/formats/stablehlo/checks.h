// The checks of StableHLO's programs: operations of the dialect check, and custom calls of their
// names.
#ifndef X2IR_FORMATS_STABLEHLO_CHECKS_H_
#define X2IR_FORMATS_STABLEHLO_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/checks.h"
#include "x2ir/formats/mlir/module.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {
namespace stablehlo {

// stablehlo.custom_call @check.expect_close(...).
bool IsCheckCall(const mlir::Op& op);

class CheckReader {
 public:
  // `operands` are the operation's; an expected value that is an attribute becomes a constant.
  absl::Status Add(const mlir::Op& op, const std::vector<Value*>& operands, Graph& graph);
  void LeaveOut() { ++left_out_; }
  // Operands of the checks, two of each, which are outputs after those of the program.
  const std::vector<Value*>& values() const { return values_; }
  // To be called when `values` are outputs of the model's graph.
  void StoreIn(Model& model);

 private:
  std::vector<Value*> values_;
  std::vector<ResultCheck> checks_;
  int64_t left_out_ = 0;
};

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_CHECKS_H_
