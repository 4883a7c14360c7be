// Windows of convolutions and pools, as MIL and layers of networks say them.
#ifndef X2IR_HANDLERS_COREML_WINDOWS_H_
#define X2IR_HANDLERS_COREML_WINDOWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/builder/layers/pool.h"

namespace X2IR_API x2ir {

// pad_type: "valid", "same" (what is odd goes to the end), "same_lower", or "custom": of these
// pads.
void SetPadding(NodeReader& a, const std::string& type, std::vector<int64_t> pads, Window* window);

// "max", "average" or "l2"; sizes that are rounded up as PyTorch does, where windows that begin in
// the padding at the end are left out (if anything is padded). `include`: padding counts in means.
Expr Pooled(NodeReader& a, const Expr& x, std::string_view kind, const Window& window,
            bool include);

// A transposed convolution of weights [in, out / groups, kernel...]. `sizes`: of the result's
// spatial axes, where they are given.
Expr Deconvolved(NodeReader& a, const Expr& x, Value* weights, Value* bias, const Window& window,
                 int64_t groups, const std::vector<int64_t>& sizes);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_WINDOWS_H_
