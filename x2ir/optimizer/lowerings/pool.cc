// Lowering of pools: ceil_mode, which ONNX has since opset 10, as padding at the end.
#include <algorithm>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/window.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// Padding never changes a maximum, nor a mean that leaves it out, so it may be as much as the
// last window needs. How much that is depends on the input's size.
absl::StatusOr<Values> CeilModeAsPads(Rewrite& r) {
  if (r.attrs().Int("ceil_mode") == 0) return CannotExpress("no lowering without ceil_mode");
  if (r.attrs().Int("count_include_pad", 0) != 0) {
    return CannotExpress("ceil_mode with count_include_pad; opset 10 has both");
  }
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(r.attrs()));
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(r.attrs(), r.attrs().Ints("kernel_shape")));
  AttributeMap attrs = r.attrs();
  attrs.Set("ceil_mode", 0);
  const int64_t n = static_cast<int64_t>(window.rank());
  if (window.auto_pad == AutoPad::kNotSet) {
    const Shape* x = r.in(0) ? r.in(0)->shape() : nullptr;
    if (x == nullptr || x->rank() != n + 2) return CannotExpress("ceil_mode of an unknown shape");
    for (int64_t i = 0; i < n; ++i) {
      const Dim& in = (*x)[SpatialAxis(last, i)];
      X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, in));
      if (!in.is_static() || !out.is_static()) {
        return CannotExpress("ceil_mode of an input of unknown size; opset 10 has it");
      }
      const int64_t covered = (out.value() - 1) * window.strides[i] + window.extent(i);
      window.pads[i + n] = std::max<int64_t>(0, covered - in.value() - window.pad_begin(i));
    }
    attrs.Set("pads", window.pads);
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops(r.node.op(), {r.in(0)}, std::move(attrs), wanted);
}
X2IR_LOWERING(max_pool, CeilModeAsPads);
X2IR_LOWERING(average_pool, CeilModeAsPads);

}  // namespace
}  // namespace x2ir
