// What formulas of special functions are made of: polynomials, and sums over a few nodes.
#ifndef X2IR_BUILDER_SERIES_H_
#define X2IR_BUILDER_SERIES_H_

#include <vector>

#include "x2ir/builder/arrays.h"

namespace X2IR_API x2ir {

// c[0] + c[1] x + c[2] x^2 ...
Expr Polynomial(const Expr& x, const std::vector<double>& c);

// x[..., 1], of any rank, to broadcast with nodes.
Expr Beside(const Expr& x);
// x[..., j] = x * nodes[j], and the sum of y[..., j] * weights[j].
Expr Spread(const Expr& x, const std::vector<double>& nodes);
Expr Weigh(const Expr& y, const std::vector<double>& weights);

// The rule of Gauss and Legendre with n nodes on [0, 1].
const std::vector<double>& GaussNodes(int n);
const std::vector<double>& GaussWeights(int n);

}  // namespace x2ir

#endif  // X2IR_BUILDER_SERIES_H_
