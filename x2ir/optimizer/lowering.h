// Lowerings: IR -> IR. An op that a target cannot express at some opset becomes ops that
// it can. They are exact: a lowering that cannot be exact refuses (FailedPrecondition). A lowering
// with nothing to do refuses without a reason: NothingToDo().
//
//   X2IR_LOWERING(gelu, GeluAsErf);     // absl::StatusOr<Values> GeluAsErf(Rewrite& r)
//
// The export driver tries a node's own form first, then its lowerings in their order in the source,
// by file and line, then lowers the result, if needed. X2IR_LOWERING_OF_OPS registers one for all
// ops of a kind; it is tried before the op's own.
#ifndef X2IR_OPTIMIZER_LOWERING_H_
#define X2IR_OPTIMIZER_LOWERING_H_

#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// The refusal of a lowering that has nothing to do for a node. It has no message.
inline absl::Status NothingToDo() { return absl::FailedPreconditionError(""); }

struct Lowering {
  Symbol op;              // empty: of all ops of which `which` is true
  std::string_view name;  // of the function, for reports and docs
  Handler run;
  SourcePlace place{};
  bool (*which)(const OpDef& op) = nullptr;
};

// Lowerings of an op, in the order in which they are tried; may be empty.
std::vector<const Lowering*> LoweringsOf(Symbol op);
// Every (op, lowering), ordered by op.
std::vector<std::pair<Symbol, const Lowering*>> AllLowerings();
bool RegisterLowering(std::string_view op, std::string_view name, Handler run,
                      SourcePlace place = SourcePlace::Here());
bool RegisterLoweringOfOps(bool (*which)(const OpDef& op), std::string_view name, Handler run,
                           SourcePlace place = SourcePlace::Here());

#define X2IR_LOWERING(op, function)                                              \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_lowering_, __COUNTER__) = \
      ::x2ir::RegisterLowering(#op, #function, function)
#define X2IR_LOWERING_OF_OPS(which, function)                                    \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_lowering_, __COUNTER__) = \
      ::x2ir::RegisterLoweringOfOps(which, #function, function)

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERING_H_
