// Layers that symbols of MXNet and NNVM have in common, once their attributes are read; those that
// take a NodeReader serve other worlds of such layers as well.
#ifndef X2IR_HANDLERS_NNVM_LAYERS_H_
#define X2IR_HANDLERS_NNVM_LAYERS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/nnvm/symbol.h"

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

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNVM_LAYERS_H_
