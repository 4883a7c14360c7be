// DeBERTa of all versions: scores of content, of content by position and of position by content.
#include <algorithm>
#include <cmath>
#include <memory>
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

constexpr int64_t kMaxSpan = int64_t{1} << 20;

// What the layers share: the table of positions [2 * span, width], and its rows by the distance of
// a key from its query, and of a query from its key.
struct Relative {
  int64_t span = 0;      // rows of one side
  int64_t buckets = 0;   // far distances share rows; 0: none do
  int64_t farthest = 0;  // with buckets: the distance that the last one begins before
  bool normed = false;   // the table has a norm
  bool from_key = false, from_query = false;  // p2c, c2p
  std::string key, query;                     // of positions, after the layer's prefix
  bool key_bias = false;
  double scale = 1;
  int64_t heads = 0, size = 0, width = 0;
  NormSpec norm{};
  Expr table = nullptr, by_query = nullptr, by_key = nullptr;
};

// Rounded as PyTorch does it, in float32.
int64_t BucketOf(int64_t distance, int64_t buckets, int64_t farthest) {
  const int64_t middle = buckets / 2, far = std::abs(distance);
  if (far <= middle) return distance;
  const auto of = static_cast<float>(middle);
  const float ratio = portable::log(static_cast<float>(far) / of) /
                      portable::log(static_cast<float>(static_cast<double>(farthest - 1) /
                                                       static_cast<double>(middle)));
  const auto bucket =
      static_cast<int64_t>(std::ceil(ratio * static_cast<float>(middle - 1))) + middle;
  return distance < 0 ? -bucket : bucket;
}

// The row of the table for each distance of a query from a key, from -n to n.
std::vector<int64_t> TableRows(const Relative& r) {
  const auto row = [&](int64_t distance) {
    const int64_t bucket = r.buckets > 0 ? BucketOf(distance, r.buckets, r.farthest) : distance;
    return std::clamp<int64_t>(bucket + r.span, 0, 2 * r.span - 1);
  };
  int64_t most = r.span;
  while (row(most) < 2 * r.span - 1 || row(-most) > 0) {
    if (++most > kMaxSpan) Refuse("config.json: positions are too far from each other");
  }
  std::vector<int64_t> rows;
  for (int64_t distance = -most; distance <= most; ++distance) rows.push_back(row(distance));
  return rows;
}

void PrepareRelative(Relative& r, Context& context, const std::string& base) {
  Net& net = context.net();
  r.table = net.Weight(base + "encoder.rel_embeddings.weight", {2 * r.span, r.width});
  if (r.normed) r.table = net.Norm(r.table, r.norm, base + "encoder.LayerNorm", r.width);
  const std::vector<int64_t> rows = TableRows(r);
  const Expr of_key = DistanceRow(net, context.length());
  if (r.from_query) r.by_query = ByDistance(net, rows, -of_key);
  if (r.from_key) r.by_key = ByDistance(net, rows, of_key);
}

Expr ScoreBias(const Relative& r, Context& context, const std::string& prefix, const Expr& q,
               const Expr& k) {
  Net& net = context.net();
  // x [batch, heads, length, size] by the table's rows.
  const auto scores = [&](const Expr& x, const std::string& name, bool bias, const Expr& rows) {
    const Expr all = net.Linear(r.table, prefix + name, r.width, r.heads * r.size, bias);
    const Expr picked = Reshape(Gather(all, rows, 0), std::vector<int64_t>{-1, r.heads, r.size});
    return Skewed(net, MatMul(x, Transpose(picked, {1, 2, 0})), context.batch(), r.heads,
                  context.length());
  };
  Expr sum = nullptr;
  if (r.from_query) sum = scores(q, r.key, r.key_bias, r.by_query);
  if (r.from_key) {
    const Expr by_key = SwapLast(scores(k, r.query, true, r.by_key));
    sum = sum.value() ? sum + by_key : by_key;
  }
  return Scaled(sum, r.scale);
}

// A text, "c2p|p2c", or a list.
std::vector<std::string> PositionKinds(Settings& s) {
  const Json& value = s.Raw("pos_att_type");
  if (!value.is_string()) return s.Texts("pos_att_type");
  std::vector<std::string> kinds(1);
  for (const char c : s.Text("pos_att_type")) {
    if (c == '|') {
      kinds.emplace_back();
    } else if (c != ' ') {
      kinds.back() += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  return kinds;
}

bool HasKind(const std::vector<std::string>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

// What both versions have in common.
Encoder DebertaLike(Net& net, const BertDefaults& defaults, Relative& r, bool counts_all_kinds) {
  Settings& s = net.settings();
  Encoder e = BertLike(net, "deberta.", defaults);
  e.embed_width = s.Size("embedding_size", e.width);
  if (e.embed_width != e.width) e.project = "embeddings.embed_proj";
  e.project_bias = false, e.project_first = true;
  e.embed_masked = true;
  if (!s.Flag("position_biased_input", true)) e.positions.clear();
  const std::vector<std::string> kinds = PositionKinds(s);
  const bool relative = s.Flag("relative_attention", false);
  r.from_query = relative && HasKind(kinds, "c2p"), r.from_key = relative && HasKind(kinds, "p2c");
  const auto count = counts_all_kinds
                         ? static_cast<int64_t>(kinds.size())
                         : int64_t{HasKind(kinds, "c2p")} + int64_t{HasKind(kinds, "p2c")};
  const Attention& a = e.layers[0].attention;
  r.heads = a.heads, r.size = a.size, r.width = e.width, r.norm = e.norm;
  const int64_t most = s.Int("max_relative_positions", -1);
  r.farthest = most < 1 ? e.position_count : most;
  r.span = r.farthest;
  r.scale = 1 / std::sqrt(static_cast<double>(a.size * (1 + count)));
  // Heads. The pooler belongs to them, and its width is a setting that must be the model's.
  if (s.Size("pooler_hidden_size", e.width) != e.width) {
    Refuse("config.json: a 'pooler_hidden_size' other than 'hidden_size' is not supported");
  }
  const Step pooler = {.dense = "pooler.dense", .activation = s.Text("pooler_hidden_act", "gelu")};
  e.pooler.reset();
  Head words = e.heads[0];
  words.steps[0].width = e.embed_width;
  if (!s.Flag("legacy", true)) {
    words.steps = {{.dense = "lm_predictions.lm_head.dense",
                    .activation = e.layers[0].mlp.activation,
                    .norm = "lm_predictions.lm_head.LayerNorm"}};
    words.out = "lm_predictions.lm_head", words.bias.clear();
    e.tied = true;
  }
  e.heads = {words, LabelsHead(Head::kFirst, {pooler}), ChoiceHead(Head::kFirst, {pooler}),
             TagsHead(), SpanHead()};
  net.IgnoreWeights({"lm_predictions.*", "mask_predictions.*", "cls.*"});
  s.Ignore({"pooler_dropout", "cls_dropout", "padding_idx"});
  return e;
}

void SetRelative(Encoder& e, Relative r) {
  const auto shared = std::make_shared<Relative>(std::move(r));
  for (Layer& layer : e.layers) layer.attention.scale = shared->scale;
  if (!shared->from_query && !shared->from_key) return;
  if (shared->span > kMaxSpan || shared->farthest > kMaxSpan) {
    Broken("config.json: relative positions up to ", shared->farthest);
  }
  e.prepare = [shared](Context& context, const std::string& base) {
    PrepareRelative(*shared, context, base);
  };
  for (Layer& layer : e.layers) {
    layer.attention.score_bias = [shared](Context& context, const std::string& prefix,
                                          const Expr& q, const Expr& k) {
      return ScoreBias(*shared, context, prefix, q, k);
    };
  }
}

// The table is there wherever the setting is, even if no score looks at it.
void IgnoreTable(Net& net) {
  net.IgnoreWeights({"encoder.rel_embeddings.weight", "deberta.encoder.rel_embeddings.weight",
                     "encoder.LayerNorm.*", "deberta.encoder.LayerNorm.*"});
}

Encoder DebertaV1(Net& net) {
  Relative r;
  Encoder e = DebertaLike(net, {.vocab = 50265, .types = 0, .eps = 1e-7}, r, true);
  net.settings().Only("talking_head", false);
  r.key = "attention.self.pos_proj", r.query = "attention.self.pos_q_proj";
  for (Layer& layer : e.layers) {
    Attention& a = layer.attention;
    a.fused = Attention::kByHead;
    a.qkv = "attention.self.in_proj";
    a.q_bias = false;
    a.q_shift = "attention.self.q_bias", a.v_shift = "attention.self.v_bias";
  }
  IgnoreTable(net);
  SetRelative(e, std::move(r));
  return e;
}

// --- Version 2 and 3 -----------------------------------------------------------------------------

// After the first layer: neighbors in the embedding, added to its result.
struct Neighbors {
  int64_t kernel = 0, groups = 1;
  std::string activation;
};

Expr WithNeighbors(Context& context, const Neighbors& n, const NormSpec& norm, int64_t width,
                   const std::string& base, const Expr& x, const Expr& y) {
  Net& net = context.net();
  const std::string name = base + "encoder.conv.";
  const Expr channels = Transpose(context.ByTokens(x, width), {0, 2, 1});
  const Expr mixed = net.Conv(channels, name + "conv",
                              {.in = width,
                               .out = width,
                               .kernel = {n.kernel},
                               .padding = {(n.kernel - 1) / 2},
                               .groups = n.groups});
  const Expr rows = Reshape(Transpose(mixed, {0, 2, 1}), std::vector<int64_t>{-1, width});
  const Expr counts = Reshape(context.padding.To(DType::kFloat32), std::vector<int64_t>{-1, 1});
  const Expr added = y + net.Activate(rows * counts, n.activation);
  return net.Norm(added, norm, name + "LayerNorm", width) * counts;
}

Encoder DebertaV2(Net& net) {
  Relative r;
  Settings& s = net.settings();
  Encoder e = DebertaLike(net,
                          {.vocab = 128100,
                           .width = 1536,
                           .layers = 24,
                           .heads = 24,
                           .hidden = 6144,
                           .types = 0,
                           .eps = 1e-7},
                          r, false);
  r.buckets = std::max<int64_t>(s.Int("position_buckets", -1), 0);
  if (r.buckets > 0) r.span = r.buckets;
  if (r.buckets > 0 && (r.buckets < 4 || r.farthest - 1 <= r.buckets / 2)) {
    Broken("config.json: relative positions with 'position_buckets' ", r.buckets,
           " and 'max_relative_positions' ", r.farthest);
  }
  const std::string normed = s.Text("norm_rel_ebd", "none");
  r.normed = normed == "layer_norm";
  if (normed != "none" && !r.normed) {
    Refuse("config.json: 'norm_rel_ebd' is '", normed, "'; none and layer_norm are supported");
  }
  const bool shared = s.Flag("share_att_key", false);  // with the projections of content
  r.key = shared ? "attention.self.key_proj" : "attention.self.pos_key_proj";
  r.query = shared ? "attention.self.query_proj" : "attention.self.pos_query_proj";
  r.key_bias = true;
  r.size = s.Size("attention_head_size", r.size);
  r.scale *=
      std::sqrt(static_cast<double>(e.layers[0].attention.size) / static_cast<double>(r.size));
  for (Layer& layer : e.layers) {
    Attention& a = layer.attention;
    a.size = r.size;
    a.q = "attention.self.query_proj", a.k = "attention.self.key_proj";
    a.v = "attention.self.value_proj";
  }
  const int64_t kernel = s.Int("conv_kernel_size", 0);
  if (kernel > 0) {
    Neighbors n = {.kernel = s.Size("conv_kernel_size"),
                   .groups = s.Size("conv_groups", 1),
                   .activation = s.Text("conv_act", "tanh")};
    if (n.kernel % 2 == 0 || n.kernel > 1023 || e.width % n.groups != 0) {
      Broken("config.json: a convolution of ", n.kernel, " neighbors in ", n.groups, " groups");
    }
    e.layers[0].whole = [n, norm = e.norm, width = e.width](Context& context, const Layer& layer,
                                                            const Expr& x) {
      Layer first = layer;
      first.whole = nullptr;
      const std::string base = layer.prefix.substr(0, layer.prefix.find("encoder."));
      return WithNeighbors(context, n, norm, width, base, x, RunLayer(context, first, x, width));
    };
  }
  s.Ignore({"conv_kernel_size", "conv_groups", "conv_act"});
  IgnoreTable(net);
  SetRelative(e, std::move(r));
  return e;
}

[[maybe_unused]] const bool kDeberta[] = {
    RegisterEncoder("deberta", "Deberta", DebertaV1),
    RegisterEncoder("deberta-v2", "DebertaV2", DebertaV2),
};

}  // namespace
}  // namespace x2ir::checkpoint
