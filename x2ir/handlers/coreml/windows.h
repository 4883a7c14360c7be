// Windows of convolutions and pools, as MIL and layers of networks say them.
#ifndef X2IR_HANDLERS_COREML_WINDOWS_H_
#define X2IR_HANDLERS_COREML_WINDOWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

struct CoremlWindow {
  std::vector<int64_t> kernel, strides, dilations;  // one number a spatial axis
  // "valid", "same" (what is odd goes to the end), "same_lower", "custom": of `begins`, `ends`.
  std::string padding = "valid";
  std::vector<int64_t> begins, ends;
  bool ceil_mode = false;
  size_t rank() const { return strides.size(); }
};

// strides, dilations and padding of a conv or pool of the IR.
AttributeMap WindowAttrs(NodeReader& a, const CoremlWindow& window);

// "max", "average" or "l2"; sizes that are rounded up as PyTorch does, where windows that begin in
// the padding at the end are left out (if anything is padded). `include`: padding counts in means.
Expr Pooled(NodeReader& a, const Expr& x, std::string_view kind, const CoremlWindow& window,
            bool include);

// A transposed convolution of weights [in, out / groups, kernel...]. `sizes`: of the result's
// spatial axes, where they are given.
Expr Deconvolved(NodeReader& a, const Expr& x, Value* weights, Value* bias,
                 const CoremlWindow& window, int64_t groups, const std::vector<int64_t>& sizes);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_WINDOWS_H_
