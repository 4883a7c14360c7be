// What files of MXNet are called, and how they begin.
#ifndef X2IR_FORMATS_MXNET_NAMES_H_
#define X2IR_FORMATS_MXNET_NAMES_H_

#include <string_view>

#include "x2ir/formats/io/model_files.h"

namespace X2IR_API x2ir {

// "net-symbol.json" with "net-0003.params", the last one if there are several, or "net.params".
const ModelFileNames& MxnetFileNames();

// Whether a graph that looks like a symbol has operators of NNVM's own compiler rather than
// MXNet's, or was compiled.
bool HasNnvmMarks(std::string_view head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_MXNET_NAMES_H_
