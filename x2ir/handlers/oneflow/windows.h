// Windows of convolutions and pools: what OneFlow's attributes say of them, both ways.
#ifndef X2IR_HANDLERS_ONEFLOW_WINDOWS_H_
#define X2IR_HANDLERS_ONEFLOW_WINDOWS_H_

#include <vector>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace X2IR_API x2ir {

// data_format: "channels_last" and NHWC, or "channels_first" and NCHW, which it is where nothing
// is said.
bool TakeChannelsLast(OneflowArgs& a);
// A number for each spatial axis; a single number applies to all.
std::vector<int64_t> PerAxis(OneflowArgs& a, Symbol attr, size_t spatial, int64_t fallback);
// With the channels after the batch, and back.
Expr ChannelsFirst(const Expr& x, bool channels_last);
Expr ChannelsBack(const Expr& x, bool channels_last);

// The window of operand 0, with the pads that auto_pad means. FailedPrecondition where these
// depend on sizes that are not known.
absl::StatusOr<PlacedWindow> PlacedOver(OneflowWriter& w, std::vector<int64_t> kernel);
// Operand 0; where pads differ between begin and end, padded with that number, and the window
// without pads.
Value* PaddedEvenly(OneflowWriter& w, PlacedWindow& placed, double number);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONEFLOW_WINDOWS_H_
