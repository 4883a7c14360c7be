// BERT and the encoders that differ from it in little.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/encoder.h"
#include "x2ir/handlers/checkpoint/relative.h"

namespace x2ir::checkpoint {
namespace {

// Tables of relative positions, which were in older versions of the library, are refused.
Encoder AbsoluteBert(Net& net, const std::string& base, const BertDefaults& defaults = {}) {
  net.settings().Only("position_embedding_type", "absolute");
  return BertLike(net, base, defaults);
}

Encoder Bert(Net& net) {
  Encoder e = AbsoluteBert(net, "bert.");
  AddPretraining(e);
  return e;
}

Encoder Ernie(Net& net) {
  Encoder e = AbsoluteBert(net, "ernie.");
  AddPretraining(e);
  Settings& s = net.settings();
  const int64_t tasks = s.Size("task_type_vocab_size", 3);
  if (s.Flag("use_task_id", false)) {
    // All texts are of task 0.
    e.of_words = [tasks, width = e.width](Net& n, const Tokens& tokens, const Expr& words) {
      const std::string name = tokens.base + "embeddings.task_type_embeddings.weight";
      return words + ElementAt(n.Weight(name, {tasks, width}), 0, 0);
    };
  }
  return e;
}

// --- RoBERTa -------------------------------------------------------------------------------------

Encoder RobertaLike(Net& net, const BertDefaults& defaults = {}) {
  Encoder e = AbsoluteBert(net, "roberta.", defaults);
  e.types_given = false;
  e.position_padding = net.settings().Int("pad_token_id", 1);
  e.heads = {LmHead(), DenseLabelsHead("tanh"), ChoiceHead(Head::kPooled), TagsHead(), SpanHead()};
  return e;
}

Encoder Roberta(Net& net) { return RobertaLike(net, {.vocab = 50265}); }

Encoder RobertaXl(Net& net) {
  Encoder e = RobertaLike(net, {.vocab = 250880,
                                .width = 2560,
                                .layers = 36,
                                .heads = 32,
                                .hidden = 10240,
                                .positions = 514,
                                .types = 1,
                                .eps = 1e-5});
  e.embed_norm.clear();
  e.final_norm = "encoder.LayerNorm";
  for (Layer& layer : e.layers) {
    layer.of_attention_sum.clear(), layer.of_mlp_sum.clear();
    layer.before_attention = "attention.self_attn_layer_norm", layer.before_mlp = "LayerNorm";
  }
  return e;
}

// --- ALBERT, ELECTRA, RemBERT: embeddings of their own width
// ---------------------------------------

// Layers share weights, by groups; a group is `inner_group_num` layers.
Encoder Albert(Net& net) {
  Encoder e = AbsoluteBert(
      net, "albert.",
      {.vocab = 30000, .width = 4096, .heads = 64, .hidden = 16384, .activation = "gelu_new"});
  Settings& s = net.settings();
  e.embed_width = s.Size("embedding_size", 128);
  e.project = "encoder.embedding_hidden_mapping_in";
  const int64_t count = s.Count("num_hidden_layers", 12), groups = s.Count("num_hidden_groups", 1),
                inner = s.Count("inner_group_num", 1);
  if (groups > count || count * inner > 65536) {
    Broken("config.json: ", count, " layers of ", inner, " in ", groups, " groups");
  }
  Layer layer = e.layers[0];
  layer.attention.q = "attention.query", layer.attention.k = "attention.key";
  layer.attention.v = "attention.value", layer.attention.out = "attention.dense";
  layer.of_attention_sum = "attention.LayerNorm", layer.of_mlp_sum = "full_layer_layer_norm";
  layer.mlp.up = "ffn", layer.mlp.down = "ffn_output";
  e.layers.clear();
  for (int64_t i = 0; i < count; ++i) {
    const auto group = static_cast<int64_t>(
        static_cast<double>(i) / (static_cast<double>(count) / static_cast<double>(groups)));
    for (int64_t j = 0; j < inner; ++j) {
      layer.prefix = StrCat("encoder.albert_layer_groups.", group, ".albert_layers.", j, ".");
      e.layers.push_back(layer);
    }
  }
  e.pooler->dense = "pooler";
  Head& words = e.heads[0];
  words.steps = {{.dense = "predictions.dense",
                  .activation = layer.mlp.activation,
                  .norm = "predictions.LayerNorm",
                  .width = e.embed_width}};
  words.out = "predictions.decoder", words.bias = "predictions.bias";
  Head pretrained = words;
  pretrained.of_class = "ForPreTraining", pretrained.output = "prediction_logits";
  e.heads.push_back(std::move(pretrained));
  e.heads.push_back({.of_class = "ForPreTraining",
                     .from = Head::kPooled,
                     .out = "sop_classifier.classifier",
                     .output = "sop_logits"});
  s.Ignore({"net_structure_type", "gap_size", "num_memory_blocks", "down_scale_factor"});
  return e;
}

Encoder Electra(Net& net) {
  Encoder e = AbsoluteBert(net, "electra.", {.width = 256, .heads = 4, .hidden = 1024});
  Settings& s = net.settings();
  e.embed_width = s.Size("embedding_size", 128);
  if (e.embed_width != e.width) e.project = "embeddings_project";
  e.pooler.reset();
  e.heads = {{.of_class = "ForMaskedLM",
              .steps = {{.dense = "generator_predictions.dense",
                         .activation = "gelu",
                         .norm = "generator_predictions.LayerNorm",
                         .width = e.embed_width}},
              .gives = Head::kWords,
              .out = "generator_lm_head"},
             DenseLabelsHead("gelu"),
             SummaryHead(s, {.type = "first", .activation = "gelu", .projects = true}),
             TagsHead(),
             SpanHead(),
             {.of_class = "ForPreTraining",
              .steps = {{.dense = "discriminator_predictions.dense",
                         .activation = e.layers[0].mlp.activation}},
              .gives = Head::kScore,
              .out = "discriminator_predictions.dense_prediction"}};
  return e;
}

Encoder RemBert(Net& net) {
  Encoder e = AbsoluteBert(
      net, "rembert.", {.vocab = 250300, .width = 1152, .layers = 32, .heads = 18, .hidden = 4608});
  Settings& s = net.settings();
  e.embed_width = s.Size("input_embedding_size", 256);
  e.project = "encoder.embedding_hidden_mapping_in";
  e.tied = false;
  s.Ignore({"tie_word_embeddings"});
  e.heads[0].steps = {{.dense = "cls.predictions.dense",
                       .activation = e.layers[0].mlp.activation,
                       .norm = "cls.predictions.LayerNorm",
                       .width = s.Size("output_embedding_size", 1664)}};
  e.heads[0].bias.clear();
  return e;
}

// --- MPNet, LayoutLM, BigBird
// ----------------------------------------------------------------------

// As T5 has it: small distances each their own, far ones together by their logarithm. Rounded in
// float32, as PyTorch does it.
std::vector<int64_t> MpNetBuckets() {
  constexpr int64_t kSide = 16, kExact = 8, kFarthest = 128;
  std::vector<int64_t> buckets;
  for (int64_t distance = -kFarthest; distance <= kFarthest; ++distance) {
    const int64_t far = std::abs(distance);
    int64_t bucket = far;
    if (far >= kExact) {
      const float ratio =
          portable::log(static_cast<float>(far) / static_cast<float>(kExact)) /
          static_cast<float>(portable::log(static_cast<double>(kFarthest) / kExact));
      bucket = std::min(kExact + static_cast<int64_t>(ratio * (kSide - kExact)), kSide - 1);
    }
    buckets.push_back(bucket + (distance > 0 ? kSide : 0));
  }
  return buckets;
}

Encoder MpNet(Net& net) {
  Encoder e = BertLike(net, "mpnet.", {.vocab = 30527});
  Settings& s = net.settings();
  e.types.clear(), e.type_count = 0;
  e.position_padding = 1;
  // The library always counts 32.
  const int64_t buckets = s.Size("relative_attention_num_buckets", 32);
  if (buckets < 32)
    Refuse("config.json: 'relative_attention_num_buckets' is ", buckets, ", below 32");
  const int64_t heads = e.layers[0].attention.heads;
  e.prepare = [buckets, heads](Context& context, const std::string& base) {
    Net& n = context.net();
    const Expr table = n.Weight(base + "encoder.relative_attention_bias.weight", {buckets, heads});
    const Expr rows = ByDistance(n, MpNetBuckets(), Distances(n, context.length()));
    context.bias = Unsqueeze(Transpose(Gather(table, rows, 0), {2, 0, 1}), {0});
  };
  for (Layer& layer : e.layers) {
    Attention& a = layer.attention;
    a.q = "attention.attn.q", a.k = "attention.attn.k", a.v = "attention.attn.v";
    a.out = "attention.attn.o";
    layer.of_attention_sum = "attention.LayerNorm";
  }
  e.heads = {LmHead(), DenseLabelsHead("tanh"), ChoiceHead(Head::kPooled), TagsHead(), SpanHead()};
  return e;
}

// Words lie on a page: an input of their boxes, whose sides and sizes are embedded, too.
Encoder LayoutLm(Net& net) {
  Encoder e = BertLike(net, "layoutlm.");
  const int64_t count = net.settings().Size("max_2d_position_embeddings", 1024);
  net.settings().Only("position_embedding_type", "absolute");
  e.of_words = [count, width = e.width](Net& n, const Tokens& tokens, const Expr& words) {
    const Expr box = n.Input("bbox", DType::kInt64, {"batch_size", "sequence_length", int64_t{4}});
    const auto side = [&](int64_t i) { return ElementAt(box, 2, i); };
    const auto of = [&](const char* axis, const Expr& at) {
      return n.Embedding(at, StrCat(tokens.base, "embeddings.", axis, "_position_embeddings"),
                         count, width);
    };
    return words + of("x", side(0)) + of("y", side(1)) + of("x", side(2)) + of("y", side(3)) +
           of("h", side(3) - side(1)) + of("w", side(2) - side(0));
  };
  return e;
}

Encoder BigBird(Net& net) {
  Encoder e = BertLike(net, "bert.", {.vocab = 50358, .positions = 4096, .activation = "gelu_new"});
  Settings& s = net.settings();
  s.Only("position_embedding_type", "absolute");
  if (s.Text("attention_type", "block_sparse") != "original_full") {
    Refuse(
        "config.json: 'attention_type' is block_sparse; only original_full is supported, which "
        "is the same for texts of up to (5 + 2 * num_random_blocks) * block_size tokens");
  }
  s.Ignore({"block_size", "num_random_blocks"});
  const bool bias = s.Flag("use_bias", true);
  for (Layer& layer : e.layers) {
    layer.attention.q_bias = layer.attention.k_bias = layer.attention.v_bias = bias;
  }
  if (s.Flag("rescale_embeddings", false)) e.embed_factor = std::sqrt(static_cast<double>(e.width));
  e.pooler->dense = "pooler";
  e.heads[1] = DenseLabelsHead(e.layers[0].mlp.activation);
  e.heads.pop_back();  // that of answers looks for the end of the question
  net.IgnoreWeights({"cls.seq_relationship.*"});
  return e;
}

// --- DistilBERT ----------------------------------------------------------------------------------

Encoder DistilBert(Net& net) {
  Settings& s = net.settings();
  Encoder e;
  e.base = "distilbert.";
  e.width = e.embed_width = s.Size("dim|hidden_size", 768);
  e.vocab = s.Size("vocab_size", 30522);
  e.position_count = s.Size("max_position_embeddings", 512);
  e.norm = {.kind = NormSpec::kLayer, .eps = 1e-12};
  e.tied = s.Flag("tie_word_embeddings", true);
  Layer layer;
  layer.norm = e.norm;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("n_heads|num_attention_heads", 12);
  if (e.width % a.heads != 0) {
    Broken("config.json: ", a.heads, " heads cannot share ", e.width, " numbers");
  }
  a.size = e.width / a.heads;
  a.q = "attention.q_lin", a.k = "attention.k_lin", a.v = "attention.v_lin";
  a.out = "attention.out_lin";
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
  layer.before_attention.clear(), layer.before_mlp.clear();
  layer.of_attention_sum = "sa_layer_norm", layer.of_mlp_sum = "output_layer_norm";
  layer.mlp = {.hidden = s.Size("hidden_dim|intermediate_size", 3072),
               .activation = s.Text("activation", "gelu"),
               .up = "ffn.lin1",
               .down = "ffn.lin2",
               .bias = true};
  AddLayers(e, layer, net.LayerCount("n_layers|num_hidden_layers", 6), "transformer.layer.{}.");
  const Step dense = {.dense = "pre_classifier", .activation = "relu"};
  e.heads = {{.of_class = "ForMaskedLM",
              .steps = {{.dense = "vocab_transform",
                         .activation = layer.mlp.activation,
                         .norm = "vocab_layer_norm"}},
              .gives = Head::kWords,
              .out = "vocab_projector"},
             LabelsHead(Head::kFirst, {dense}),
             ChoiceHead(Head::kFirst, {dense}),
             TagsHead(),
             SpanHead()};
  // Sinusoidal positions are stored as a table, too.
  IgnoreOldKeys(s);
  s.Ignore({"sinusoidal_pos_embds", "seq_classif_dropout", "qa_dropout", "tie_weights_"});
  return e;
}

[[maybe_unused]] const bool kBertLike[] = {
    RegisterEncoder("bert", "Bert", Bert, {"ForPreTraining", "ForNextSentencePrediction"}),
    RegisterEncoder("ernie", "Ernie", Ernie, {"ForPreTraining", "ForNextSentencePrediction"}),
    RegisterEncoder("roberta", "Roberta", Roberta),
    RegisterEncoder("xlm-roberta", "XLMRoberta", Roberta),
    RegisterEncoder("camembert", "Camembert", Roberta),
    RegisterEncoder("xlm-roberta-xl", "XLMRobertaXL", RobertaXl),
    RegisterEncoder("albert", "Albert", Albert, {"ForPreTraining"}),
    RegisterEncoder("electra", "Electra", Electra, {"ForPreTraining"}),
    RegisterEncoder("rembert", "RemBert", RemBert),
    RegisterEncoder("distilbert", "DistilBert", DistilBert),
    RegisterEncoder("mpnet", "MPNet", MpNet),
    RegisterEncoder("layoutlm", "LayoutLM", LayoutLm),
    RegisterEncoder("big_bird", "BigBird", BigBird),
};

}  // namespace
}  // namespace x2ir::checkpoint
