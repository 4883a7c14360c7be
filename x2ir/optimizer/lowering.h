// Lowerings: IR -> IR. An op that a target cannot express at some opset becomes ops that
// it can. They are exact: a lowering that cannot be exact refuses (FailedPrecondition).
//
//   X2IR_LOWERING(gelu, GeluAsErf);     // absl::StatusOr<Values> GeluAsErf(Rewrite& r)
//
// The export driver tries a node's own form first, then its lowerings in the order they
// stand in the source, by file and line, then lowers what came out, if need be.
#ifndef X2IR_OPTIMIZER_LOWERING_H_
#define X2IR_OPTIMIZER_LOWERING_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

struct Lowering {
  Symbol op;
  std::string_view name;  // of the function, for reports and docs
  Handler run;
  SourcePlace place{};
};

// Lowerings of an op, may be empty.
absl::Span<const Lowering> LoweringsOf(Symbol op);
// Every (op, lowering), ordered by op.
std::vector<const Lowering*> AllLowerings();
bool RegisterLowering(std::string_view op, std::string_view name, Handler run,
                      SourcePlace place = SourcePlace::Here());

#define X2IR_LOWERING(op, function)                                              \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_lowering_, __COUNTER__) = \
      ::x2ir::RegisterLowering(#op, #function, function)

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERING_H_
