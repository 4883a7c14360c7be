// Layers that symbols of MXNet and NNVM have in common, once their attributes are read; those that
// take a NodeReader serve the rows of other frameworks as well.
#ifndef X2IR_HANDLERS_NNVM_LAYERS_H_
#define X2IR_HANDLERS_NNVM_LAYERS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layouts.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/ops/window.h"

namespace X2IR_API x2ir {

// --- Windows -------------------------------------------------------------------------------------

// Whether "NHWC" (or "NWC", ...) rather than "NCHW"; Unimplemented for others ("NCHW8c", "CHWN").
bool IsChannelsLast(SymbolArgs& a, const std::string& layout);

// A convolution; weights [out, in of a group, kernel...], or with channels last
// [out, kernel..., in of a group].
Expr Convolve(NodeReader& a, const Expr& x, const Expr& weights, Value* bias, const Window& window,
              int64_t groups);

// --- Other layers --------------------------------------------------------------------------------

// A slope for each channel (axis), or one.
Expr PreluAlong(const Expr& x, const Expr& slope, int64_t axis);
// The other way round along these axes.
Expr Flipped(const Expr& x, const std::vector<int64_t>& axes);

// A form: as large as the second operand, in the axes that the attribute names, or all.
std::function<absl::StatusOr<Value*>(SymbolArgs&)> SliceLike(std::string_view axes);

// Sizes as a reshape says them (0: keep, -1: what is left, -2: the rest, -3: two as one,
// -4: one as two).
absl::StatusOr<Expr> ReshapeByCodes(SymbolArgs& a, const Expr& x, std::vector<int64_t> codes,
                                    bool reverse);

// Begins and ends from two numbers (both ends alike) or four.
inline std::vector<int64_t> TakePads(SymbolArgs& a) {
  std::vector<int64_t> pads = a.Tuple("padding", {0, 0});
  if (pads.size() == 1) pads.resize(2, pads[0]);
  if (pads.size() == 2) pads = BothEnds(pads);
  a.Require(pads.size() == 4, "pads of another number of axes");
  return pads;
}

inline Window TakeNnvmWindow(SymbolArgs& a, Symbol kernel) {
  Window w;
  w.kernel = a.Tuple(kernel);
  a.Require(w.kernel.size() == 2, "a window of another number of axes than two");
  w.strides = a.TupleOf("strides", 2, 1);
  w.dilations = a.TupleOf("dilation", 2, 1);
  w.pads = TakePads(a);
  const std::string layout = a.Text("layout", "NCHW");
  w.channels_last = !IsBlockedLayout(layout) && IsChannelsLast(a, layout);
  CheckWindow(a, w);
  return w;
}

// The layout of the result; that of the operand unless it is said.
inline std::string OutLayout(SymbolArgs& a) {
  const std::string out = a.Text("out_layout", "__undef__");
  return out == "__undef__" || out.empty() ? a.Text("layout", "NCHW") : out;
}

// Of what is computed in layout NCHW on an operand in blocks of channels ("NCHW8c").
inline Expr InChannelsFirst(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW");
  return IsBlockedLayout(layout) ? InLayout(a, a.in(0), layout, "NCHW") : a.in(0);
}

inline Expr InItsLayout(SymbolArgs& a, const Expr& y, bool channels_last) {
  return InLayout(a, y, channels_last ? "NHWC" : "NCHW", OutLayout(a));
}

inline void IgnoreTypes(SymbolArgs& a) {
  a.Ignore("channels"), a.Ignore("units");
  const std::string dtype = a.Text("out_dtype", "-1");
  a.Require(dtype == "-1" || dtype == "same" || dtype.empty() || dtype == "float32",
            StrCat("out_dtype ", dtype));
}

inline absl::Status CheckPlanar(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank != 4) return CannotExpress("NNVM has it for images alone, of two spatial axes");
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  return absl::OkStatus();
}

// SAME follows from the sizes.
inline absl::StatusOr<Window> WindowOf(SymbolWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (IsSame(window.auto_pad) && !KnownSizes(w.in(0), 2, 4)) {
    return CannotExpress("pads that depend on the size");
  }
  return *WithPads(std::move(window), w.shape(0));
}

// NNVM has no tensors without axes.
inline Expr AtLeastOneAxis(const Expr& x) {
  return x->shape() && x->shape()->rank() == 0 ? Reshape(x, {1}) : x;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNVM_LAYERS_H_
