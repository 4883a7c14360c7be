// A tensor by the name that a file has for it.
#ifndef X2IR_FORMATS_IO_NAMED_TENSOR_H_
#define X2IR_FORMATS_IO_NAMED_TENSOR_H_

#include <string>

#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_NAMED_TENSOR_H_
