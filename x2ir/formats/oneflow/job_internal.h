// Numbers of the fields of OneFlow's messages.
#ifndef X2IR_FORMATS_ONEFLOW_JOB_INTERNAL_H_
#define X2IR_FORMATS_ONEFLOW_JOB_INTERNAL_H_

#include <cstdint>

namespace x2ir::oneflow {

namespace job_field {
inline constexpr uint32_t kNet = 1, kPlacement = 2, kConf = 3;
}
namespace op_field {
inline constexpr uint32_t kName = 1, kDeviceTag = 4, kScope = 8, kVariable = 122, kInput = 137,
                          kOutput = 138, kUser = 199;
}
namespace attr_field {
inline constexpr uint32_t kInt32 = 1, kInt64 = 2, kBool = 3, kFloat = 4, kDouble = 5, kString = 6,
                          kShape = 7, kDataType = 8, kInt32s = 9, kInt64s = 10, kFloats = 11,
                          kDataTypes = 12, kShapes = 13, kStrings = 14, kStride = 15, kStrides = 16,
                          kDevice = 17, kComplex = 18, kMemoryFormat = 19, kBytes = 20;
}

}  // namespace x2ir::oneflow

#endif  // X2IR_FORMATS_ONEFLOW_JOB_INTERNAL_H_
