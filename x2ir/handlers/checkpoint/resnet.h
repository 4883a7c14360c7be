// Residual stages of convolutions, of ResNet and RegNet; also the backbone of others.
#ifndef X2IR_HANDLERS_CHECKPOINT_RESNET_H_
#define X2IR_HANDLERS_CHECKPOINT_RESNET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/net.h"

namespace X2IR_API x2ir {
namespace checkpoint {

struct ConvStages {
  int64_t channels = 3, embedding = 64, embedding_kernel = 7;
  bool pooled = true;  // the embedding, by windows of 3 and steps of 2
  std::vector<int64_t> widths, depths;
  std::string activation, inner_activation = "relu";  // of sums, and between convolutions
  int64_t first_stride = 1;
  // Two convolutions of 3 by 3; one between two of 1 by 1 with a fourth of the channels; one in
  // groups between two of 1 by 1.
  enum Kind : uint8_t { kBasic, kBottleneck, kGrouped };
  Kind kind = kBottleneck;
  bool stride_first = false;  // kBottleneck: steps are those of the first convolution
  int64_t group_width = 1;
  bool squeezes = false;  // kGrouped: channels are weighed by the mean of the image
};

ConvStages ResNetStages(Settings& settings);
// The embedding and the result of each stage.
std::vector<Expr> RunStages(Net& net, const ConvStages& stages, const std::string& prefix,
                            const Expr& pixels);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_RESNET_H_
