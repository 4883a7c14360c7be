// ONNX: boxes and regions of detectors.

#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(non_max_suppression).Is("NonMaxSuppression", Since(10));
X2IR_ONNX(roi_align)
    .Is("RoiAlign", In(10, 15), Fixed("coordinate_transformation_mode", "output_half_pixel"))
    .Is("RoiAlign", Since(16));
X2IR_ONNX(max_roi_pool).Is("MaxRoiPool", Since(1));

}  // namespace x2ir
