// Tensors that are broadcast, as TensorFlow writes them.
#ifndef X2IR_HANDLERS_TF_CONCAT_SPLIT_H_
#define X2IR_HANDLERS_TF_CONCAT_SPLIT_H_

#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

// expand as BroadcastTo, or Fill.
Value* ToTfExpand(TfWriter& w);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_CONCAT_SPLIT_H_
