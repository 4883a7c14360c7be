// Encoders made small by layers of their own kinds: ConvBERT, MobileBERT, SqueezeBERT.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/encoder.h"

namespace x2ir::checkpoint {
namespace {

Expr SumNorm(Net& net, const NormSpec& norm, const std::string& name, const Expr& x, const Expr& y,
             int64_t width) {
  return net.Norm(x + y, norm, name, width);
}

// --- ConvBERT ------------------------------------------------------------------------------------

// Half of each layer's heads are convolutions whose kernels are computed for each token.
struct ConvSpans {
  int64_t width = 0, kernel = 0, groups = 1;
  Expr neighbors = nullptr;  // int64 [length, kernel]: places in the padded text
};

// [groups, in, out], each group of the numbers by its own matrix.
Expr GroupedLinear(Net& net, const Expr& x, const std::string& name, int64_t in, int64_t out,
                   int64_t groups) {
  if (groups == 1) return net.Linear(x, name, in, out);
  if (in % groups != 0 || out % groups != 0) {
    Broken("config.json: ", in, " and ", out, " numbers in ", groups, " groups");
  }
  const Expr w = net.Weight(name + ".weight", {groups, in / groups, out / groups});
  const Expr parts =
      Transpose(Reshape(x, std::vector<int64_t>{-1, groups, in / groups}), {1, 0, 2});
  const Expr y = Reshape(Transpose(MatMul(parts, w), {1, 0, 2}), std::vector<int64_t>{-1, out});
  return y + net.Weight(name + ".bias", {out});
}

Expr ConvBertLayer(const ConvSpans& spans, Context& context, const Layer& layer, const Expr& x) {
  Net& net = context.net();
  const int64_t width = spans.width, k = spans.kernel, heads = layer.attention.heads,
                size = layer.attention.size, all = heads * size;
  const std::string self = layer.prefix + "attention.self.";
  const Expr attended = Attend(context, layer.attention, layer.prefix, x, width);
  // The kernels, by the token and its neighbors.
  const Expr channels = Transpose(context.ByTokens(x, width), {0, 2, 1});
  const Expr deep = net.Conv(channels, self + "key_conv_attn_layer.depthwise",
                             {.in = width,
                              .out = width,
                              .kernel = {k},
                              .padding = {k / 2},
                              .groups = width,
                              .bias = false});
  const Expr wide =
      net.Conv(deep, self + "key_conv_attn_layer.pointwise",
               {.in = width, .out = all, .kernel = {1}, .padding = {0}, .bias = false}) +
      net.Weight(self + "key_conv_attn_layer.bias", {all, 1});
  const Expr keys = Reshape(Transpose(wide, {0, 2, 1}), std::vector<int64_t>{-1, all});
  const Expr queries = net.Linear(x, self + "query", width, all);
  const Expr scores = net.Linear(keys * queries, self + "conv_kernel_layer", all, heads * k);
  const Expr kernels =
      Reshape(scores, std::vector<int64_t>{-1, heads, 1, k}).Op("softmax", {}, {{"axis", -1}});
  // What they are applied to.
  const Expr values = context.ByTokens(net.Linear(x, self + "conv_out_layer", width, all), all);
  const Expr edge = Filled(net.b(), DType::kFloat32, {context.batch(), Size(k / 2), Size(all)}, 0);
  const Expr padded = k > 1 ? Concat(net.b(), {edge, values, edge}, 1) : values;
  const Expr around = Reshape(Gather(padded, spans.neighbors, 1),
                              std::vector<int64_t>{-1, k, heads, size});  // [tokens, ...]
  const Expr mixed = MatMul(kernels, Transpose(around, {0, 2, 1, 3}));
  const Expr both = Concat(net.b(), {attended, Reshape(mixed, std::vector<int64_t>{-1, all})}, 1);
  const Expr y =
      SumNorm(net, layer.norm, layer.prefix + layer.of_attention_sum,
              net.Linear(both, layer.prefix + "attention.output.dense", 2 * all, width), x, width);
  const Expr inner =
      GroupedLinear(net, y, layer.prefix + layer.mlp.up, width, layer.mlp.hidden, spans.groups);
  const Expr fed =
      GroupedLinear(net, net.Activate(inner, layer.mlp.activation), layer.prefix + layer.mlp.down,
                    layer.mlp.hidden, width, spans.groups);
  return SumNorm(net, layer.norm, layer.prefix + layer.of_mlp_sum, fed, y, width);
}

Encoder ConvBert(Net& net) {
  Encoder e = BertLike(net, "convbert.");
  Settings& s = net.settings();
  e.embed_width = s.Size("embedding_size", 768);
  if (e.embed_width != e.width) e.project = "embeddings_project";
  const auto spans = std::make_shared<ConvSpans>();
  spans->width = e.width;
  spans->kernel = s.Size("conv_kernel_size", 9);
  spans->groups = s.Size("num_groups", 1);
  if (spans->kernel % 2 == 0 || spans->kernel > 1023) {
    Broken("config.json: 'conv_kernel_size' is ", spans->kernel,
           "; expected an odd number below 1024");
  }
  const int64_t heads = std::max<int64_t>(e.layers[0].attention.heads / s.Size("head_ratio", 2), 1);
  if (e.width % (2 * heads) != 0) {
    Broken("config.json: ", heads, " heads cannot share half of ", e.width, " numbers");
  }
  for (Layer& layer : e.layers) {
    Attention& a = layer.attention;
    a.heads = a.kv_heads = heads;
    a.size = e.width / heads / 2;
    a.out.clear();
    layer.whole = [spans](Context& context, const Layer& of, const Expr& x) {
      return ConvBertLayer(*spans, context, of, x);
    };
  }
  e.prepare = [spans](Context& context, const std::string&) {
    Builder& b = context.net().b();
    spans->neighbors = Unsqueeze(Iota(Scalar(b, context.length())), {1}) +
                       Unsqueeze(Ints(b, CountedFrom(0, spans->kernel)), {0});
  };
  e.pooler.reset();
  e.heads = {{.of_class = "ForMaskedLM",
              .steps = {{.dense = "generator_predictions.dense",
                         .activation = "gelu",
                         .norm = "generator_predictions.LayerNorm",
                         .width = e.embed_width}},
              .gives = Head::kWords,
              .out = "generator_lm_head"},
             DenseLabelsHead(e.layers[0].mlp.activation),
             SummaryHead(s),
             TagsHead(),
             SpanHead()};
  return e;
}

// --- MobileBERT ----------------------------------------------------------------------------------

// A layer of few numbers between two projections.
struct NarrowPlan {
  int64_t width = 0, narrow = 0, networks = 1;
  bool bottleneck = true, shares = true, all_narrow = false;
  NormSpec norm{}, plain_norm{};  // the latter with the library's default
};

Expr MobileBertLayer(const NarrowPlan& n, Context& context, const Layer& layer, const Expr& x) {
  Net& net = context.net();
  const std::string& p = layer.prefix;
  const Attention& a = layer.attention;
  const auto dense = [&](const std::string& name, const Expr& of, int64_t in, int64_t out) {
    return net.Linear(of, p + name, in, out);
  };
  const auto squeezed = [&](const std::string& name) {
    return net.Norm(dense(name + ".dense", x, n.width, n.narrow), n.norm, p + name + ".LayerNorm",
                    n.narrow);
  };
  Expr residual = x, queries = x, values = x;
  if (n.bottleneck) {
    residual = squeezed("bottleneck.input");
    if (n.all_narrow) {
      queries = values = residual;
    } else if (n.shares) {
      queries = squeezed("bottleneck.attention");
    }
  }
  const int64_t all = a.heads * a.size, value_width = n.all_narrow ? n.narrow : n.width;
  const auto heads = [&](const Expr& of) { return context.Heads(of, a.heads, a.size); };
  std::vector<Value*> operands = {heads(dense(a.k, queries, n.narrow, all)),
                                  heads(dense(a.v, values, value_width, all))};
  if (const Expr mask = context.MaskOf(a); mask.value()) operands.push_back(mask);
  const Expr attended = heads(dense(a.q, queries, n.narrow, all)).Op("attention", operands);
  Expr y =
      SumNorm(net, n.norm, p + layer.of_attention_sum,
              dense(a.out, context.Rows(attended, all), n.narrow, n.narrow), residual, n.narrow);
  const auto feed = [&](const std::string& name, const NormSpec& norm) {
    Mlp mlp = layer.mlp;
    mlp.up = name + "intermediate.dense", mlp.down = name + "output.dense";
    y = SumNorm(net, norm, p + name + "output.LayerNorm", FeedForward(net, mlp, p, y, n.narrow), y,
                n.narrow);
  };
  for (int64_t i = 0; i + 1 < n.networks; ++i) feed(StrCat("ffn.", i, "."), n.norm);
  feed("", n.plain_norm);
  if (!n.bottleneck) return y;
  return SumNorm(net, n.norm, p + "output.bottleneck.LayerNorm",
                 dense("output.bottleneck.dense", y, n.narrow, n.width), x, n.width);
}

// Each word with its neighbors, [batch, length, 3 * size].
Expr Trigrams(Net& net, const Expr& words, const Size& batch, int64_t size) {
  const Expr edge = Filled(net.b(), DType::kFloat32, {batch, Size(1), Size(size)}, 0);
  const Expr next = Concat(net.b(), {Slice(words, 1, Size(1), Size(kToEnd)), edge}, 1),
             last = Concat(net.b(), {edge, Slice(words, 1, Size(0), Size(-1))}, 1);
  return Concat(net.b(), {next, words, last}, 2);
}

Encoder MobileBert(Net& net) {
  Settings& s = net.settings();
  Encoder e =
      BertLike(net, "mobilebert.",
               {.width = 512, .layers = 24, .heads = 4, .hidden = 512, .activation = "relu"});
  const auto n = std::make_shared<NarrowPlan>();
  n->width = e.width;
  n->bottleneck = s.Flag("use_bottleneck", true);
  n->narrow = n->bottleneck ? s.Size("intra_bottleneck_size", 128) : e.width;
  s.Ignore({"intra_bottleneck_size", "true_hidden_size"});
  n->all_narrow = s.Flag("use_bottleneck_attention", false) && n->bottleneck;
  n->shares = s.Flag("key_query_shared_bottleneck", true);
  if (n->bottleneck && !n->shares && !n->all_narrow && n->narrow != n->width) {
    Refuse(
        "config.json: queries of another width ('key_query_shared_bottleneck' is false) are not "
        "supported");
  }
  n->networks = s.Count("num_feedforward_networks", 4);
  if (static_cast<int64_t>(e.layers.size()) * n->networks > 65536) {
    Broken("config.json: ", e.layers.size(), " layers of ", n->networks, " networks");
  }
  const std::string kind = s.Text("normalization_type", "no_norm");
  if (kind != "no_norm" && kind != "layer_norm") {
    Refuse("config.json: 'normalization_type' is '", kind,
           "'; no_norm and layer_norm are supported");
  }
  const NormSpec layer_norm = e.norm;
  n->norm = e.norm;
  if (kind == "no_norm") n->norm.kind = NormSpec::kAffine;
  n->plain_norm = n->norm;
  n->plain_norm.eps = 1e-5;
  e.norm = n->plain_norm;
  e.word_width = s.Size("embedding_size", 128);
  const bool trigrams = s.Flag("trigram_input", true);
  if (trigrams || e.word_width != e.width) {
    e.of_words = [trigrams, size = e.word_width, width = e.width](Net& of, const Tokens& tokens,
                                                                  const Expr& words) {
      const Expr x = trigrams ? Trigrams(of, words, SizeAt(tokens.ids, 0), size) : words;
      return of.Linear(x, tokens.base + "embeddings.embedding_transformation",
                       trigrams ? 3 * size : size, width);
    };
  } else {
    net.IgnoreWeights({"embeddings.embedding_transformation.*",
                       "mobilebert.embeddings.embedding_transformation.*"});
  }
  for (Layer& layer : e.layers) {
    if (n->narrow % layer.attention.heads != 0) {
      Broken("config.json: ", layer.attention.heads, " heads cannot share ", n->narrow, " numbers");
    }
    layer.attention.size = n->narrow / layer.attention.heads;
    if (n->all_narrow) {  // stored, and not used
      net.IgnoreWeights({layer.prefix + "bottleneck.attention.*",
                         "mobilebert." + layer.prefix + "bottleneck.attention.*"});
    }
    layer.whole = [n](Context& context, const Layer& of, const Expr& x) {
      return MobileBertLayer(*n, context, of, x);
    };
  }
  if (!s.Flag("classifier_activation", true)) e.pooler = Step{};
  Head& words = e.heads[0];
  words.steps[0].norm_spec = layer_norm;
  if (e.width > e.word_width) {
    words.more = "cls.predictions.dense.weight";
  } else {
    net.IgnoreWeights({"cls.predictions.dense.weight"});  // of no elements
  }
  AddPretraining(e);
  return e;
}

// --- SqueezeBERT ---------------------------------------------------------------------------------

// Dense layers whose numbers are in groups: convolutions of one element.
struct SqueezeGroups {
  int64_t width = 0, q = 1, k = 1, v = 1, out = 1, up = 1, down = 1;
};

Expr SqueezeBertLayer(const SqueezeGroups& g, Context& context, const Layer& layer, const Expr& x) {
  Net& net = context.net();
  const Attention& a = layer.attention;
  const int64_t width = g.width, hidden = layer.mlp.hidden;
  const auto conv = [&](const Expr& of, const std::string& name, int64_t in, int64_t out,
                        int64_t groups) {
    if (in % groups != 0 || out % groups != 0) {
      Broken("config.json: ", in, " and ", out, " numbers in ", groups, " groups");
    }
    return net.Conv(of, layer.prefix + name,
                    {.in = in, .out = out, .kernel = {1}, .padding = {0}, .groups = groups});
  };
  // [batch, width, length], and of heads [batch, heads, length, size].
  const auto channels = [&](const Expr& rows) {
    return Transpose(context.ByTokens(rows, width), {0, 2, 1});
  };
  const auto rows = [&](const Expr& of) {
    return Reshape(Transpose(of, {0, 2, 1}), std::vector<int64_t>{-1, width});
  };
  const Expr in = channels(x);
  const auto heads = [&](const std::string& name, int64_t groups) {
    const Expr y = conv(in, name, width, width, groups);
    const Expr apart =
        ReshapeTo(y, {context.batch(), Size(a.heads), Size(a.size), context.length()});
    return Transpose(apart, {0, 1, 3, 2});
  };
  std::vector<Value*> operands = {heads("attention.key", g.k), heads("attention.value", g.v)};
  if (const Expr mask = context.MaskOf(a); mask.value()) operands.push_back(mask);
  const Expr attended = heads("attention.query", g.q).Op("attention", operands);
  const Expr together = ReshapeTo(Transpose(attended, {0, 1, 3, 2}),
                                  {context.batch(), Size(width), context.length()});
  const Expr y =
      SumNorm(net, layer.norm, layer.prefix + "post_attention.layernorm",
              rows(conv(together, "post_attention.conv1d", width, width, g.out)), x, width);
  const Expr inner = net.Activate(conv(channels(y), "intermediate.conv1d", width, hidden, g.up),
                                  layer.mlp.activation);
  return SumNorm(net, layer.norm, layer.prefix + "output.layernorm",
                 rows(conv(inner, "output.conv1d", hidden, width, g.down)), y, width);
}

Encoder SqueezeBert(Net& net) {
  Settings& s = net.settings();
  Encoder e = BertLike(net, "transformer.");
  if (s.Size("embedding_size", 768) != e.width) {
    Refuse("config.json: an 'embedding_size' other than 'hidden_size' is not supported");
  }
  const SqueezeGroups groups = {.width = e.width,
                                .q = s.Size("q_groups", 4),
                                .k = s.Size("k_groups", 4),
                                .v = s.Size("v_groups", 4),
                                .out = s.Size("post_attention_groups", 1),
                                .up = s.Size("intermediate_groups", 4),
                                .down = s.Size("output_groups", 4)};
  for (size_t i = 0; i < e.layers.size(); ++i) {
    e.layers[i].prefix = StrCat("encoder.layers.", i, ".");
    e.layers[i].whole = [groups](Context& context, const Layer& of, const Expr& x) {
      return SqueezeBertLayer(groups, context, of, x);
    };
  }
  AddPretraining(e);
  return e;
}

[[maybe_unused]] const bool kCompactEncoders[] = {
    RegisterEncoder("convbert", "ConvBert", ConvBert),
    RegisterEncoder("mobilebert", "MobileBert", MobileBert,
                    {"ForPreTraining", "ForNextSentencePrediction"}),
    RegisterEncoder("squeezebert", "SqueezeBert", SqueezeBert),
};

}  // namespace
}  // namespace x2ir::checkpoint
