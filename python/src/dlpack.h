// The structures of DLPack, version 0 of its ABI, as dmlc/dlpack describes them: a tensor that one
// library hands to another in a capsule called "dltensor".
#ifndef X2IR_PYTHON_DLPACK_H_
#define X2IR_PYTHON_DLPACK_H_

#include <cstdint>

namespace x2ir::python::dlpack {

inline constexpr int32_t kCpu = 1;
enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  int32_t type, id;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order
  uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

}  // namespace x2ir::python::dlpack

#endif  // X2IR_PYTHON_DLPACK_H_
