// Bart and the translators and writers that differ from it in little.
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/seq2seq.h"

namespace x2ir::checkpoint {
namespace {

void BartPositions(Net& net, Seq2Seq& m, Positions::Kind kind, int64_t offset = 0) {
  Positions p;
  p.kind = kind;
  p.offset = offset;
  p.count = net.settings().Size("max_position_embeddings") + offset;
  m.encoder.positions = m.decoder.positions = p;
}

void EmbedNorms(Seq2Seq& m) { m.encoder.embed_norm = m.decoder.embed_norm = "layernorm_embedding"; }

// What the class for sequences needs more.
void LabelsOfEnd(Net& net, Seq2Seq& m, int64_t start_token) {
  Settings& s = net.settings();
  const std::vector<int64_t> ends = s.Ints("eos_token_id");
  m.end_token = ends.empty() ? 2 : ends[0];
  m.start_token = s.Int("decoder_start_token_id", start_token);
  s.Ignore({"num_labels"});
}

Seq2Seq Bart(Net& net) {
  Seq2Seq m = BartLike(net, false);
  BartPositions(net, m, Positions::kTable, 2);
  EmbedNorms(m);
  LabelsOfEnd(net, m, 2);
  return m;
}

Seq2Seq MBart(Net& net) {
  Seq2Seq m = BartLike(net, true);
  BartPositions(net, m, Positions::kTable, 2);
  EmbedNorms(m);
  return m;
}

Seq2Seq M2M100(Net& net) {
  Seq2Seq m = BartLike(net, true);
  BartPositions(net, m, Positions::kCounted);
  m.encoder.positions.padding = m.decoder.positions.padding = net.settings().Int("pad_token_id", 1);
  net.IgnoreWeights(
      {"model.encoder.embed_positions.weights", "model.decoder.embed_positions.weights"});
  return m;
}

Seq2Seq Marian(Net& net) {
  Seq2Seq m = BartLike(net, false);
  BartPositions(net, m, Positions::kSines);
  Settings& s = net.settings();
  const int64_t vocab = s.Size("decoder_vocab_size", m.decoder.vocab);
  if (!s.Flag("share_encoder_decoder_embeddings", true)) {
    m.decoder.vocab = vocab;
    m.encoder_apart = true;
  }
  return m;
}

Seq2Seq Pegasus(Net& net) {
  Seq2Seq m = BartLike(net, true);
  BartPositions(net, m, Positions::kSines);
  return m;
}

Seq2Seq Blenderbot(Net& net) {
  Seq2Seq m = BartLike(net, true);
  BartPositions(net, m, Positions::kTable);
  return m;
}

Seq2Seq BlenderbotSmall(Net& net) {
  Seq2Seq m = BartLike(net, false);
  BartPositions(net, m, Positions::kTable);
  EmbedNorms(m);
  m.decoder.norm_before_positions = true;
  return m;
}

[[maybe_unused]] const bool kBartsRegistered[] = {
    RegisterSeq2Seq("bart", "Bart", Bart, {"BartForSequenceClassification"}),
    RegisterSeq2Seq("mbart", "MBart", MBart),
    RegisterSeq2Seq("m2m_100", "M2M100", M2M100),
    RegisterSeq2Seq("marian", "Marian", Marian, {"MarianMTModel"}),
    RegisterSeq2Seq("pegasus", "Pegasus", Pegasus),
    RegisterSeq2Seq("blenderbot", "Blenderbot", Blenderbot),
    RegisterSeq2Seq("blenderbot-small", "BlenderbotSmall", BlenderbotSmall),
};

}  // namespace
}  // namespace x2ir::checkpoint
