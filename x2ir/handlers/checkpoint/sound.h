// Models that hear: convolutions over the samples of a sound, and layers over what they give
// (Wav2Vec2 and its like). A family fills in a Listener by its configuration.
//
//   input_values (and attention_mask, by the option "attention_mask")
//   -> last_hidden_state, or logits
#ifndef X2IR_HANDLERS_CHECKPOINT_SOUND_H_
#define X2IR_HANDLERS_CHECKPOINT_SOUND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/architectures.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// What a convolution without padding leaves of lengths (int64).
Expr WindowsIn(const Expr& lengths, int64_t kernel, int64_t stride);
// bool [batch, length]: the first `lengths` [batch] of each row.
Expr FirstOf(Net& net, const Expr& lengths, const x2ir::Size& length);
// The halves of axis 1: a * sigmoid(b).
Expr GatedHalves(const Expr& x, int64_t channels);

struct Listener {
  std::string prefix;  // "wav2vec2."; of all weights but the head's
  int64_t width = 0;
  NormSpec norm;
  // Convolutions of samples: with a norm of all, or of the first, over time (kGroup).
  std::vector<int64_t> channels, kernels, strides;
  bool conv_bias = false;
  enum ConvNorm : uint8_t { kGroup, kLayer };
  ConvNorm conv_norm = kGroup;
  std::string activation = "gelu";  // of all convolutions
  // Of the last convolution's result; empty: none.
  std::string feature_norm = "feature_projection.layer_norm";
  std::string projection = "feature_projection.projection";
  // Positions: convolutions of what the layers begin with, added to it. `position_layers` of them
  // have a norm without weights; 0: one, whose weight is a direction and a length, or is normed
  // first.
  int64_t position_kernel = 128, position_groups = 16, position_layers = 0;
  bool position_batch_norm = false;
  // The layers see the mean of that many steps, and their result becomes as long again.
  int64_t squeeze = 1;
  std::vector<Layer> layers;
  bool norm_first = false;    // the norm of all layers' result, else of what they begin with
  int64_t layer_adapter = 0;  // width of what is added to each layer's result; 0: none
  // After the layers: convolutions that make the sequence shorter.
  struct Adapter {
    int64_t width = 0, kernel = 3, stride = 2, count = 3;
  };
  std::optional<Adapter> adapter;
  int64_t vocab = 0;          // of the class for texts
  int64_t projector = 0;      // of the class for sequences
  bool weighted_sum = false;  // classes for labels see the sum of all layers' results
};

using DescribeListener = Listener (*)(Net& net);
// Registers the classes STEM + "Model", "ForCTC", "ForSequenceClassification" and
// "ForAudioFrameClassification".
bool RegisterListener(std::string model_type, std::string stem, DescribeListener describe);

void BuildListener(Net& net, Listener listener, const std::string& class_name);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_SOUND_H_
