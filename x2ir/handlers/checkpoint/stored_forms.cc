#include "x2ir/handlers/checkpoint/stored_forms.h"

namespace x2ir::checkpoint {

void UseStoredForms(const Json& extras, Decoder& decoder) {
  const bool interleaved = extras["rope_interleaved"].Flag();
  const bool has_one = extras["norm_has_one"].Flag();
  const bool transposed = extras["conv1d_transposed"].Flag();
  const bool concatenated = extras["qkv_concatenated"].Flag();
  if (has_one) decoder.norm.plus_one = false;
  for (Layer& layer : decoder.layers) {
    Attention& attention = layer.attention;
    if (interleaved && attention.rope) attention.rope->interleaved = true;
    if (has_one) layer.norm.plus_one = attention.qk_norm.plus_one = false;
    if (transposed) attention.transposed = layer.mlp.transposed = false;
    if (concatenated && attention.fused == Attention::kByHead) {
      attention.fused = Attention::kConcat;
    }
  }
}

}  // namespace x2ir::checkpoint
