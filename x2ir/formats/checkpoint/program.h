// A checkpoint: the configuration of a network of a known architecture, and its weights. There is
// no graph in it: the dialect "checkpoint" knows the architectures and makes the graph
// (handlers/checkpoint).
#ifndef X2IR_FORMATS_CHECKPOINT_PROGRAM_H_
#define X2IR_FORMATS_CHECKPOINT_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/json_tree.h"
#include "x2ir/formats/safetensors/checkpoint.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace checkpoint {

inline constexpr char kDialect[] = "checkpoint";

// A weight in blocks of a GGUF type: the bytes as the file has them (uint8, rank 1) and the sizes
// of the weight that they hold, outermost first, as PyTorch orders them.
struct BlockWeight {
  int ggml_type = 0;  // number of the type in GGUF
  std::vector<int64_t> dims;
  Tensor bytes;
};

// What a user asks for (the options of reading).
struct Request {
  std::string task;   // which head; empty: the one of the checkpoint's class
  bool cache = true;  // decoders take and give keys and values of earlier steps
  // Of a model of an encoder and a decoder.
  enum Part : uint8_t { kWhole, kEncoder, kDecoder };
  Part part = kWhole;
  int weight_bits = 0;  // 4, 8: weights of layers are rounded to that; 0: they are not
  // The type that quantized weights become numbers of; kUndefined: they stay as they are stored.
  DType unpack = DType::kUndefined;
  bool sound_mask = false;  // models of sound take attention_mask, too
};

struct Program : SourceProgram {
  std::string origin;  // the file or folder, for messages
  // config.json, or what GGUF's metadata is in its terms.
  Json config;
  // Keys of config.json's kind that stand in other files of the folder: "pooling", "dense" and
  // "normalize" of sentence-transformers. And where weights are stored in another form than
  // transformers has (GGUF), each true or absent:
  //   "rope_interleaved": rows of q and k are in the order of pairs, 0, half, 1, half + 1, ... of
  //     each head, so that rotary positions turn neighbours and not halves (weights and biases)
  //   "norm_has_one": weights of norms that transformers adds 1 to (Gemma) have it added
  //   "conv1d_transposed": weights of GPT-2's Conv1D are [out, in], not [in, out]
  //   "qkv_concatenated": fused queries, keys and values are those of all heads one after another,
  //     not head by head (BLOOM, Falcon, GPT-NeoX)
  Json extras;
  // By the names that transformers gives them.
  Checkpoint weights;
  StringMap<BlockWeight> blocks;
  Request request;
};

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_PROGRAM_H_
