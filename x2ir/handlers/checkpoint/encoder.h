// Models that read texts: a stack of layers that see the whole text, between an embedding and a
// head. The interface is that of Optimum and transformers.js:
//
//   input_ids, attention_mask, token_type_ids
//   -> last_hidden_state, pooler_output | logits | start_logits, end_logits
//
// Folders of sentence-transformers give token_embeddings and sentence_embedding (sentence.h). Batch
// and length are dynamic. A family fills in an Encoder by its configuration.
#ifndef X2IR_HANDLERS_CHECKPOINT_ENCODER_H_
#define X2IR_HANDLERS_CHECKPOINT_ENCODER_H_

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

// --- Heads ---------------------------------------------------------------------------------------

// A dense layer, an activation and a norm, of which any may be missing.
struct Step {
  std::string dense{}, activation{}, norm{};
  int64_t width = 0;  // of the result; 0: of the operand
  bool bias = true;
  std::optional<NormSpec> norm_spec{};  // none: that of the encoder
};

// What a class makes of the stack's result.
struct Head {
  std::string of_class{};  // the end of the class's name: "ForMaskedLM"
  // The operand: all tokens, the first or the last one, the mean of those that count, what the
  // pooler gives.
  enum From : uint8_t { kTokens, kFirst, kLast, kMean, kPooled };
  From from = kTokens;
  std::vector<Step> steps{};
  // Labels; a score for each word, by a matrix that may be the embedding's; scores of the first and
  // the last token of an answer; one score for each choice; one for each token.
  enum Gives : uint8_t { kLabels, kWords, kSpan, kChoice, kScore };
  Gives gives = kLabels;
  std::string out{};   // the last dense layer
  std::string bias{};  // kWords: its bias; empty: OUT.bias
  bool has_bias = true;
  std::string more{};  // kWords: a matrix [width - embed_width, words] of the other numbers
  std::string output = "logits";
};

// --- Encoders ------------------------------------------------------------------------------------

// What an embedding is made of.
struct Tokens {
  Expr ids, mask;    // [batch, length], int64
  std::string base;  // the prefix of all weights but the heads'
};

struct Encoder {
  int64_t width = 0, vocab = 0;
  // Prefix of all weights but those of heads; a model without a head is stored without it.
  std::string base;
  std::string embed = "embeddings.word_embeddings";
  int64_t embed_width = 0;  // of the sum of embeddings; 0: width
  int64_t word_width = 0;   // of words; 0: embed_width
  double embed_factor = 1;
  // In place of words, [batch, length, word_width], where set: [batch, length, embed_width].
  std::function<Expr(Net& net, const Tokens& tokens, const Expr& words)> of_words;
  std::string types = "embeddings.token_type_embeddings";  // empty: none
  int64_t type_count = 0;
  bool types_given = true;  // token_type_ids is an input; else all are 0
  std::string positions = "embeddings.position_embeddings";
  int64_t position_count = 0;
  // Positions count the words that are not this one, whose position it is; none: from 0.
  std::optional<int64_t> position_padding;
  NormSpec norm;
  std::string embed_norm = "embeddings.LayerNorm";  // empty: none
  std::string project;                              // dense, from embed_width to width; empty: none
  bool project_bias = true, project_first = false;  // before the norm
  bool embed_masked = false;                        // 0 for tokens that do not count
  std::vector<Layer> layers;                        // their prefixes without the base
  // Before the layers, for what they share.
  std::function<void(Context& context, const std::string& base)> prepare;
  // In place of the layers, where set. x is [tokens, width]; types may be null.
  std::function<Expr(Context& context, const Encoder& encoder, const Tokens& tokens,
                     const Expr& types, const Expr& x)>
      stack;
  std::string final_norm;      // empty: none
  std::optional<Step> pooler;  // of the first token; its names after the base
  std::vector<Head> heads;
  bool tied = true;  // the matrix of kWords is the embedding's
};

// Describes itself by its configuration.
using DescribeEncoder = Encoder (*)(Net& net);
// Registers the classes STEM + "Model" and STEM + each of these.
bool RegisterEncoder(std::string model_type, std::string stem, DescribeEncoder describe,
                     std::vector<std::string> more_classes = {});

void BuildEncoder(Net& net, Encoder encoder, const std::string& class_name);

// What most of them have in common with BERT: a family changes what differs. `base` is "bert.".
struct BertDefaults {
  int64_t vocab = 30522, width = 768, layers = 12, heads = 12, hidden = 3072, positions = 512,
          types = 2;
  std::string activation = "gelu";
  double eps = 1e-12;
};
Encoder BertLike(Net& net, const std::string& base, const BertDefaults& defaults = {});
// Keys of old files, which say nothing about results.
void IgnoreOldKeys(Settings& settings);
// A layer of BERT: norms of the sums of branches.
Layer BertLayer(Settings& settings, const NormSpec& norm, int64_t width,
                const BertDefaults& defaults = {});
// Adds that layer as often as num_hidden_layers says; "{}" is its number.
void AddLayers(Encoder& encoder, const Layer& layer, int64_t count,
               const std::string& prefix = "encoder.layer.{}.");
// The heads of BERT, by the names that most families use.
Head WordsHead(const Encoder& encoder, const std::string& activation);
Head LabelsHead(Head::From from, std::vector<Step> steps = {}, std::string out = "classifier");
Head ChoiceHead(Head::From from, std::vector<Step> steps = {}, std::string out = "classifier");
Head TagsHead(std::vector<Step> steps = {}, std::string out = "classifier");
Head SpanHead(std::vector<Step> steps = {}, std::string out = "qa_outputs");
// Dense, activation and "out_proj" of the first token, as RoBERTa has them.
Head DenseLabelsHead(const std::string& activation);
// RoBERTa's head for words: lm_head.
Head LmHead();
// A sequence summary of transformers, for choices.
struct SummaryDefaults {
  std::string type = "last", activation{};
  bool projects = false;
};
Head SummaryHead(Settings& settings, const SummaryDefaults& defaults = {});
// The two heads that BERT was trained with, together and alone.
void AddPretraining(Encoder& encoder);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_ENCODER_H_
