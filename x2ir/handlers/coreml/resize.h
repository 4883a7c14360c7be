// Images of other sizes, as operations of MIL and layers of networks have them.
#ifndef X2IR_HANDLERS_COREML_RESIZE_H_
#define X2IR_HANDLERS_COREML_RESIZE_H_

#include <string_view>
#include <vector>

#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/size.h"

namespace X2IR_API x2ir {

// The last axes of x interpolated linearly to these sizes, at the places that the sampling mode
// says: STRICT_ALIGN_CORNERS, ALIGN_CORNERS, DEFAULT, UNALIGN_CORNERS, OFFSET_CORNERS.
Expr ResizedLinear(NodeReader& a, const Expr& x, const std::vector<Size>& sizes,
                   std::string_view mode);
// The nearest elements: of output i input floor(i * in / out).
Expr ResizedNearest(NodeReader& a, const Expr& x, const std::vector<Size>& sizes);
// Sizes of the last two axes times factors, rounded down (Unimplemented where that changes them and
// they must be `whole`); they must be known where a factor is no integer.
std::vector<Size> ScaledSizes(NodeReader& a, const Expr& x, double height, double width,
                              bool whole);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_RESIZE_H_
