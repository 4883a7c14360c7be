// Models of an encoder, which reads a text or a sound, and a decoder, which writes a text and looks
// at what the encoder made of it. As one graph:
//
//   input_ids, attention_mask (or input_features), decoder_input_ids
//   -> logits, encoder_last_hidden_state
//
// Or as two, by the option "part", with the names that Optimum gives. The encoder:
//
//   input_ids, attention_mask (or input_features) -> last_hidden_state
//
// The decoder (S: decoder or encoder; K: key or value):
//
//   input_ids, encoder_hidden_states, encoder_attention_mask, past_key_values.N.S.K
//   -> logits, present.N.S.K
//
// The past may be empty. Keys and values of the encoder's result are computed of the positions that
// past_key_values.N.encoder.K does not hold: of all in the first step, of none in those after it.
// encoder_hidden_states is the same in all steps.
#ifndef X2IR_HANDLERS_CHECKPOINT_SEQ2SEQ_H_
#define X2IR_HANDLERS_CHECKPOINT_SEQ2SEQ_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/architectures.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// What the layers of an encoder begin with.
struct Front {
  Expr x = nullptr;  // [tokens, width]
  x2ir::Size batch = 0, length = 0;
  Expr padding = nullptr;  // bool [batch, length]; null: all count
};

struct Positions {
  enum Kind : uint8_t {
    kNone,
    kTable,    // rows of a weight
    kSines,    // sines, then cosines; a table, where there is no weight of that name
    kCounted,  // the same of tokens that are no padding, counted after it, from its number on
  };
  Kind kind = kNone;
  std::string name = "embed_positions";
  int64_t count = 0;    // rows of the table
  int64_t offset = 0;   // added to each position
  int64_t padding = 0;  // kCounted: the number of the token that is padding
};

struct Stack {
  std::string prefix;  // "model.encoder."
  int64_t vocab = 0;
  double embed_factor = 1;
  Positions positions;
  std::string embed_norm;  // empty: none
  bool norm_before_positions = false;
  std::vector<Layer> layers;
  std::string final_norm;  // empty: none
  // In place of a text: makes its own inputs.
  std::function<Front(Net& net)> front;
  bool front_has_padding = false;  // where the option "attention_mask" asks for it
};

struct Seq2Seq {
  int64_t width = 0;
  NormSpec norm;
  std::string prefix = "model.";  // of the embedding that both share
  bool tied = true;               // embeddings and head, where they are not stored apart
  bool encoder_apart = false;     // the encoder's embedding is its own in any case
  Stack encoder, decoder;
  std::string shared = "shared", embed = "embed_tokens", head = "lm_head";
  std::string head_bias;   // [1, vocab]; used if there is one
  double head_factor = 1;  // of the head's operand
  // The class for sequences: the decoder reads the text itself, one token later, and its last
  // state at this token is classified.
  int64_t end_token = -1, start_token = -1;
};

// Positions of kCounted, [batch, length, width].
Expr CountedPositions(Net& net, const Expr& ids, int64_t padding, int64_t width,
                      const std::optional<x2ir::Size>& past);

using DescribeSeq2Seq = Seq2Seq (*)(Net& net);
// Registers STEM + "ForConditionalGeneration", STEM + "Model", STEM + "EncoderModel" and `more`.
bool RegisterSeq2Seq(std::string model_type, std::string stem, DescribeSeq2Seq describe,
                     std::vector<std::string> more = {});

void BuildSeq2Seq(Net& net, Seq2Seq model, const std::string& class_name);

// Bart and its like: `norm_first` is before branches, else of sums.
Seq2Seq BartLike(Net& net, bool norm_first);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_SEQ2SEQ_H_
