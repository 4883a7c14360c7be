// Models that write texts: a stack of causal layers between an embedding and a head, with the
// interface that runtimes expect (Optimum, transformers.js, ONNX Runtime GenAI):
//
//   input_ids, attention_mask, position_ids, past_key_values.N.key, past_key_values.N.value
//   -> logits, present.N.key, present.N.value
//
// Batch and lengths are dynamic; the past may be empty. Positions are an input of models that use
// them. A family fills in a Decoder by its configuration.
#ifndef X2IR_HANDLERS_CHECKPOINT_DECODER_H_
#define X2IR_HANDLERS_CHECKPOINT_DECODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/architectures.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace X2IR_API x2ir {
namespace checkpoint {

struct Decoder {
  int64_t width = 0, vocab = 0;
  std::string prefix = "model.";  // of all weights but the head's
  std::string embed = "embed_tokens";
  int64_t embed_width = 0;              // 0: width; else projections in and out
  std::string project_in, project_out;  // without bias
  std::string embed_norm;               // of the embedding; empty: none
  double embed_factor = 1;
  std::string positions;           // learned ones; empty: none
  int64_t position_count = 0;      // rows of their table
  int64_t position_offset = 0;     // added to each position
  bool positions_of_mask = false;  // counted by attention_mask, not given
  bool sinusoids = false;          // sines and cosines of positions are added
  std::vector<Layer> layers;
  NormSpec norm;
  std::string final_norm = "norm";  // empty: none
  std::string head = "lm_head";
  bool head_bias = false, tied = false;
  double logit_factor = 1, logit_softcap = 0;
  // Between the stack and the head: a dense layer, an activation, a norm (ModernBERT).
  std::string head_dense, head_activation, head_norm;
  bool head_dense_bias = false;
};

// Describes itself by its configuration.
using DescribeDecoder = Decoder (*)(Net& net);
// Registers the classes STEM + "ForCausalLM" (or "LMHeadModel") and STEM + "Model".
// Also STEM + "ForSequenceClassification" and "ForTokenClassification", and `others`.
bool RegisterDecoder(std::string model_type, std::string stem, DescribeDecoder describe,
                     const std::vector<std::string>& others = {});

// What most of them have in common with Llama, or with GPT-2: a family changes what differs.
struct LlamaDefaults {
  bool tied = false;
  double eps = 1e-6;
  std::string_view eps_names = "rms_norm_eps";
  NormSpec::Kind norm = NormSpec::kRms;
  bool turns = true;
  RopeDefaults rope = {};
  std::string_view activation = "silu", activation_names = "hidden_act|hidden_activation";
  bool attention_bias = false;
  int64_t kv_heads = 0;  // 0: as many as of queries
  std::string_view hidden_names = "intermediate_size", count_names = "num_hidden_layers";
};
Decoder LlamaLike(Net& net, const LlamaDefaults& defaults = {});
struct GptDefaults {
  std::string_view prefix = "transformer.", layers = "h";
  std::string_view hidden_names = "n_inner|intermediate_size";  // empty: 4 times the width
  std::string_view activation = "gelu_new";
  bool tied = true;
};
Decoder GptLike(Net& net, const GptDefaults& defaults = {});

template <typename F>
void ForEach(Decoder& d, F&& f) {
  for (Layer& layer : d.layers) f(layer);
}
// A window of the layers of type "sliding_attention".
void SetWindows(Decoder& d, int64_t window, const std::vector<std::string>& types);
// Types by layer_types, or all sliding but every n-th.
std::vector<std::string> EveryNthFull(Settings& settings, size_t layers, int64_t n);
void HeadNorms(Decoder& d);                      // of queries and keys, as those of layers
void SetNorm(Decoder& d, const NormSpec& norm);  // of all layers and the last one
void GraniteFactors(Net& net, Decoder& d);       // of embedding, scores, branches and logits

// Whether each layer of that many is of sliding windows, by layer_types, or by `fallback`.
std::vector<std::string> LayerTypes(Settings& settings, size_t layers,
                                    const std::function<std::string(size_t)>& fallback);

// All experts in two weights, as Granite has them.
Experts GraniteExperts(Net& net, const Decoder& d);

void BuildDecoder(Net& net, Decoder decoder, const std::string& class_name);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_DECODER_H_
