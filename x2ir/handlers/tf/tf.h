// How ops of TensorFlow become IR, and IR becomes ops of TensorFlow (writer.h). A row for an op
// that only has another name, a function for every other; several ops may share a function.
//
// A function sees the node through TfArgs (builder/node_reader.h).
#ifndef X2IR_HANDLERS_TF_TF_H_
#define X2IR_HANDLERS_TF_TF_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

// A node of dialect "tf". Its nested graphs: docs/adr/0009.
using TfArgs = NodeReader;

// Whether an attribute says nothing that operands do not say: their types, hints.
bool IsMeaninglessTfAttr(std::string_view name);

using TfFn = std::function<absl::StatusOr<Values>(TfArgs&)>;

// What a node of TensorFlow with these operands and attributes becomes, for a dialect whose ops are
// TensorFlow's under other names; results are those that `a` has.
Values AsTf(TfArgs& a, std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {});

// --- What operands say ---------------------------------------------------------------------------

// What a constant is, also one that was handed on; null where it is none.
const Tensor* ConstantBehind(const Value* v);
// Elements of an integer operand of rank 1 that are known or symbolic; nullopt where it is
// computed otherwise.
std::optional<std::vector<Dim>> PartlyKnownInts(const Value* value);
// Axes in [0, rank), each once.
absl::StatusOr<std::vector<int64_t>> KnownAxes(TfArgs& a, size_t i, int64_t rank);
Expr SizeAt(TfArgs& a, Value* v, int64_t axis);  // int64, rank 0

// --- Windows of convolutions and pools --------------------------------------------------------

// data_format as IR's layout: "channels_last" for NHWC and NDHWC, "channels_first" for NCHW and
// NCDHW; `vect` formats are Unimplemented.
struct TfLayout {
  bool channels_last = true;
  std::string_view name() const { return LayoutName(channels_last); }
  int64_t ChannelAxis(int64_t rank) const { return channels_last ? rank - 1 : 1; }
};
TfLayout TakeLayout(TfArgs& a, std::string_view fallback = "NHWC");
// One number a spatial axis out of one a axis of the tensor, whose others must be 1.
std::vector<int64_t> TakeSpatial(TfArgs& a, Symbol attr, TfLayout layout, size_t spatial);
// padding (SAME, VALID, EXPLICIT with explicit_paddings) of a window in that layout.
void TakePadding(TfArgs& a, size_t spatial, Window* window);
// strides, dilations and padding of a convolution; ksize, strides and padding of a pool.
Window TakeConvWindow(TfArgs& a, TfLayout layout, size_t spatial);
Window TakePoolWindow(TfArgs& a, TfLayout layout, size_t spatial);
// A kernel with its spatial axes first ([kernel..., in, out]) as [out, in, kernel...].
Value* KernelToOihw(TfArgs& a, Value* kernel);
// A constant relaid at once, a dequantized one before it is dequantized; else a transpose.
Value* Relaid(TfArgs& a, Value* v, const std::vector<int64_t>& perm);

// --- Registration -------------------------------------------------------------------------------

// Rows (core/dialect_spec.h).
struct TfDialect : DialectDefaults {
  static constexpr std::string_view kName = "tf";
  using Args = TfArgs;
  using Writer = TfWriter;
  static absl::Status Finish(TfArgs& args);
  // Attributes that mean nothing, and those that follow from the operands.
  static Lens OtherAttributes(std::string_view op);
};

#define X2IR_TF(ir_op) X2IR_ROWS(::x2ir::TfDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_TF_H_
