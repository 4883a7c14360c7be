// Transformers as data: what a family says of its layers, and the one builder that makes all of
// them. Decoders, encoders, and the towers of models for images and sound are stacks of these
// layers; a family fills in a Stack by its configuration.
#ifndef X2IR_HANDLERS_CHECKPOINT_TRANSFORMER_H_
#define X2IR_HANDLERS_CHECKPOINT_TRANSFORMER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "x2ir/handlers/checkpoint/net.h"
#include "x2ir/handlers/checkpoint/rope.h"

namespace x2ir::checkpoint {

// --- Attention -----------------------------------------------------------------------------------

// Queries and keys of few numbers (DeepSeek): the width is `q_rank` (0: queries are not compressed)
// and `kv_rank` in between; a head has `plain` elements without a position and `turned` ones with.
struct Latent {
  int64_t q_rank = 0, kv_rank = 0, plain = 0, turned = 0;
};

struct Attention {
  int64_t heads = 0, kv_heads = 0, size = 0;
  int64_t value_size = 0;  // of a head's values; 0: as of its keys
  // Names, after the layer's prefix.
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj",
              out = "self_attn.o_proj";
  // All three in one: queries of all heads, then keys, then values; or for each head of keys its
  // queries, its key and its value.
  enum Fused : uint8_t { kApart, kConcat, kByHead };
  Fused fused = kApart;
  std::string qkv;
  bool transposed = false;  // weights are [in, out]
  bool q_bias = false, k_bias = false, v_bias = false, out_bias = false;

  std::optional<double> scale;  // of scores; none: 1 over the root of the head's size
  double softcap = 0;
  int64_t window = 0;  // keys that a query sees, itself included; 0: all
  int64_t chunk = 0;   // a query sees keys of its own chunk of that many; 0: no chunks
  double clip = 0;     // queries, keys and values are kept within; 0: no bound
  std::optional<Rope> rope;
  // Norms of queries and keys: of each head, or of all heads as one, before positions or after.
  NormSpec qk_norm = {};
  std::string q_norm = "self_attn.q_norm", k_norm = "self_attn.k_norm";
  bool norm_all = false, norm_after_rope = false;
  bool norm_by_head = false;  // the weights are [heads, size]
  std::string sinks;          // [heads]: a score that takes part in the softmax and has no value
  std::optional<Latent> latent;
  bool alibi = false;
  // The scale of queries by their position: 1 + beta * log(1 + floor((position + 1) / length)).
  double temperature_beta = 0;
  int64_t temperature_length = 0;
  bool no_cache = false;
};

// --- Feed-forward --------------------------------------------------------------------------------

struct Mlp {
  int64_t hidden = 0;
  std::string activation;
  std::string gate{};  // empty: not gated
  std::string up = "mlp.up_proj", down = "mlp.down_proj";
  std::string gate_up{};  // both in one, the gate first
  bool bias = false, transposed = false;
  std::string norm{};  // between (BERT-like towers of images); empty: none
  NormSpec norm_spec = {};
};

// Some experts for each token, picked by a router.
struct Experts {
  int64_t count = 0, picked = 0;
  std::string router = "mlp.gate";
  bool router_bias = false;
  enum Score : uint8_t { kSoftmax, kSigmoid, kSoftmaxOfPicked };
  Score score = kSoftmax;
  std::string correction;  // a bias [count] of scores that counts only for the pick
  int64_t groups = 1, picked_groups = 1;
  int64_t best_of_group = 2;  // a group's score is the sum of its best ones; 1: the best
  bool normalize = false;     // weights of the picked ones sum up to 1
  double factor = 1;          // of the weights
  bool weigh_input = false;   // the weight is the factor of the expert's operand, not of its result
  // Expert i; "{}" is the number. `mlp` has its names after this prefix.
  std::string prefix = "mlp.experts.{}.";
  Mlp mlp;
  // For all tokens, added; its weight is sigmoid(x by `shared_gate`), where there is one.
  std::optional<Mlp> shared;
  std::string shared_gate;
};

// --- Layers --------------------------------------------------------------------------------------

struct Layer {
  std::string prefix;  // "model.layers.0."
  Attention attention;
  Mlp mlp;
  std::optional<Experts> experts;  // instead of mlp
  NormSpec norm;
  // Names of norms; empty: none. Before a branch, of its result, and of the sum with what the
  // branch was added to.
  std::string before_attention = "input_layernorm", after_attention, of_attention_sum;
  std::string before_mlp = "post_attention_layernorm", after_mlp, of_mlp_sum;
  // Both branches have the same operand; without a norm before_mlp that of the attention.
  bool parallel = false;
  // Bloom: what is added is the result of the norm.
  bool residual_of_norm = false;
  double residual_factor = 1;              // of branches
  std::string attention_scale, mlp_scale;  // factors [width] of branches (layer scale)
  // Attention over the encoder's output; its names are those of `cross`.
  std::optional<Attention> cross;
  std::string before_cross, of_cross_sum;
  // In place of attention or the whole layer, where set.
  std::function<Expr(Net& net, const Layer& layer, const Expr& x)> mixer;
};

// What the layers of a stack share while they are built: sizes, positions and masks, each made
// once.
class Context {
 public:
  Context(Net& net, x2ir::Size batch, x2ir::Size length)
      : net_(net), batch_(batch), length_(length) {}

  Net& net() { return net_; }
  // Set before the first layer.
  bool causal = false;
  std::optional<x2ir::Size> past = std::nullopt;  // keys of earlier steps
  Expr padding = nullptr;                         // bool [batch, keys]: which keys count; null: all
  Expr positions = nullptr;                       // int64 [batch, length], for rotary positions
  Expr bias = nullptr;  // float, broadcast to [batch, heads, length, keys]: added to scores
  std::optional<Turn> turn = std::nullopt;  // of all rotary positions, in place of `positions`
  // Keys and values of earlier steps of the n-th attention, and what becomes of them.
  struct Cache {
    Expr key, value;
  };
  std::vector<Cache> pasts = {};
  std::vector<Cache> presents = {};
  // What cross attention looks at: [tokens, width] of [batch, keys], and which of them count.
  Expr encoded = nullptr;
  x2ir::Size encoded_length = 0;
  Expr encoded_padding = nullptr;

  const x2ir::Size& batch() const { return batch_; }
  const x2ir::Size& length() const { return length_; }
  x2ir::Size keys();
  // How many keys there are, those of earlier steps included; sets `past`.
  void SetKeys(const x2ir::Size& keys);
  Turn TurnBy(const Rope& rope);
  // What is added to scores: [1 or batch, 1 or heads, length, keys]; null: nothing.
  Expr MaskOf(const Attention& attention);
  Expr CrossMask();
  // Another bias from here on.
  void SetBias(const Expr& scores) {
    bias = scores;
    masks_.clear();
  }
  // [tokens, heads * size] as [batch, heads, length, size], and back.
  Expr Heads(const Expr& x, int64_t heads, int64_t size, bool encoded = false);
  Expr Rows(const Expr& x, int64_t width);
  Expr ByTokens(const Expr& x, int64_t width);  // [tokens, width] as [batch, length, width]

 private:
  Expr QueryPositions();
  Expr KeyPositions();
  Expr Alibi(int64_t heads);

  Net& net_;
  x2ir::Size batch_, length_;
  std::optional<x2ir::Size> keys_;
  std::vector<std::pair<Rope, Turn>> turns_;
  std::vector<std::pair<std::tuple<int64_t, int64_t, int64_t>, Expr>> masks_;
  Expr cross_mask_ = nullptr;
};

// x is [tokens, width] in all of these.
Expr Attend(Context& context, const Attention& attention, const std::string& prefix, const Expr& x,
            int64_t width, bool cross = false);
Expr FeedForward(Net& net, const Mlp& mlp, const std::string& prefix, const Expr& x, int64_t width);
Expr Consult(Net& net, const Experts& experts, const std::string& prefix, const Expr& x,
             int64_t width);
Expr RunLayer(Context& context, const Layer& layer, const Expr& x, int64_t width);

}  // namespace x2ir::checkpoint

#endif  // X2IR_HANDLERS_CHECKPOINT_TRANSFORMER_H_
