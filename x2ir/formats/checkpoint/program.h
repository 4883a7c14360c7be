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
  bool sound_mask = false;  // models of sound take attention_mask, too
};

struct Program : SourceProgram {
  std::string origin;  // the file or folder, for messages
  // config.json, or what GGUF's metadata is in its terms.
  Json config;
  // Keys of config.json's kind that stand in other files of the folder: "pooling" and "normalize"
  // of sentence-transformers.
  Json extras;
  // By the names that transformers gives them.
  Checkpoint weights;
  StringMap<BlockWeight> blocks;
  Request request;
};

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_PROGRAM_H_
