// How operators of MXNet become IR: rows and forms as of symbols (handlers/nnvm/symbol.h). The
// meaning is that of MXNet's kernels. Names that begin with "_npi_", "_np_" or "_npx_" are NumPy's
// functions, whose results have NumPy's types and shapes; others give numbers of their operands'
// type, and reduce a tensor to no less than one axis.
#ifndef X2IR_HANDLERS_MXNET_MXNET_H_
#define X2IR_HANDLERS_MXNET_MXNET_H_

#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/symbol.h"

namespace X2IR_API x2ir {

// Whether the node is one of NumPy's functions, or the symbol was made with NumPy's shapes.
bool HasNumpyShapes(const SymbolArgs& a);
// x, with one axis of size 1 where it has none and the symbol cannot say that.
Expr AtLeastOneAxis(const SymbolArgs& a, const Expr& x);

// Invalid for the number of a diagonal that no tensor has.
absl::Status CheckDiagonal(int64_t k);
// The k-th diagonal above the main one (below 0: beneath it) of two axes of x, which is of operand
// 0's rank; it is the last axis, after the others.
absl::StatusOr<Expr> DiagonalAt(SymbolArgs& a, const Expr& x, const std::vector<int64_t>& axes,
                                int64_t k);

// kernel, stride, dilate, pad and layout of a layer.
Window TakeMxnetWindow(SymbolArgs& a);
// x pooled as the layer says.
Expr MxnetPool(SymbolArgs& a, const Expr& x, PoolKind kind);
// Numbers in equal steps from "start" to "stop", each as `of` makes it.
Expr SpacedNumbers(SymbolArgs& a, absl::FunctionRef<double(double)> of);

// A layer that a backend fused and quantized: what its subgraph gives, as integers with their
// range.
absl::StatusOr<Values> QuantizedSubgraph(SymbolArgs& a);

inline Value* BiasOf(SymbolArgs& a, size_t i, bool fallback) {
  const bool none = a.Flag("no_bias", fallback);
  return none ? nullptr : a.in(i).value();
}

inline Expr SoftmaxOf(const Expr& x, Symbol op, int64_t axis) {
  return x.Op(op, {}, {{"axis", axis}});
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_MXNET_MXNET_H_
