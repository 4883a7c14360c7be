// Convolutions, pools and norms with channels first, as TensorFlow computes them on GPUs.
#ifndef X2IR_HANDLERS_TF_NCHW_H_
#define X2IR_HANDLERS_TF_NCHW_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// In a graph of TensorFlow's nodes: ops of images between transposes from NCHW to NHWC and back
// (NCDHW and NDHWC) become the same with data_format NCHW (NCDHW), without the transposes. What has
// channels last without transposes stays so.
void KeepTfChannelsFirst(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_NCHW_H_
