// Transformers as data: what a family says of its layers, and the one builder that makes all of
// them. Decoders, encoders, and the towers of models for images and sound are stacks of these
// layers; a family fills in a description by its configuration.
#ifndef X2IR_HANDLERS_CHECKPOINT_TRANSFORMER_H_
#define X2IR_HANDLERS_CHECKPOINT_TRANSFORMER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/net.h"
#include "x2ir/handlers/checkpoint/rope.h"

namespace X2IR_API x2ir {
namespace checkpoint {

class Context;

// --- Attention -----------------------------------------------------------------------------------

// Queries and keys of few numbers (DeepSeek): the width is `q_rank` (0: queries are not compressed)
// and `kv_rank` in between; a head has `plain` elements without a position and `turned` ones with.
struct Latent {
  int64_t q_rank = 0, kv_rank = 0, plain = 0, turned = 0;
};

// A bias of scores by the distance of key and query (T5): rows of a table [count, heads], of which
// the far half of the distances share some, on a scale of logarithms, up to `max_distance`.
struct DistanceBias {
  std::string table;  // its whole name: layers may share one
  int64_t count = 32, max_distance = 128;
  bool both_ways = true;  // half of the rows are of keys after the query
  // WavLM: factors of the bias by query, of its part of the layer's operand. Names after the
  // layer's prefix: of a dense layer [8, size] and of a factor [1, heads, 1, 1].
  std::string gate{}, gate_factor{};
};

struct Attention {
  int64_t heads = 0, kv_heads = 0, size = 0;
  int64_t value_size = 0;  // of a head's values; 0: as of its keys
  // Names, after the layer's prefix.
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj",
              out = "self_attn.o_proj";
  // All three in one: queries of all heads, then keys, then values; or in groups, each of which has
  // the queries, keys and values of its heads.
  enum Fused : uint8_t { kApart, kConcat, kByHead };
  Fused fused = kApart;
  std::string qkv;
  int64_t fused_groups = 0;   // kByHead: 0: each head of keys is a group
  bool values_first = false;  // kByHead: before the keys
  bool transposed = false;    // weights are [in, out]
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
  // Each head's norm has weights of its own, by its number: "self_attn.q_norm.norms.{}".
  bool norm_each = false;
  NormSpec out_norm = {};  // of all heads as one, before the last projection
  std::string out_norm_name;
  std::string sinks;  // [heads]: a score that takes part in the softmax and has no value
  std::optional<Latent> latent;
  bool alibi = false;
  double alibi_max = 8;         // the exponent of the smallest slope is minus that
  double alibi_factor = 1;      // of what is added
  bool alibi_bfloat16 = false;  // rounded so (Falcon)
  bool alibi_of_cache = false;  // by the place of a key among all; else padding does not count
  std::optional<DistanceBias> distance_bias;
  // The scale of queries by their position: 1 + beta * log(1 + floor((position + 1) / length)).
  double temperature_beta = 0;
  int64_t temperature_length = 0;
  double temperature_offset = 1;  // what is added to the position
  bool no_cache = false;
  bool rope_of_values = false;  // values are turned, too
  // [heads * size], added to queries and values of kByHead; empty: none.
  std::string q_shift, v_shift;
  // What is added to scaled scores and depends on the queries and keys, [batch, heads, length,
  // size]; none where it is not set.
  std::function<Expr(Context& context, const std::string& prefix, const Expr& q, const Expr& k)>
      score_bias;
};

// --- Feed-forward --------------------------------------------------------------------------------

struct Mlp {
  int64_t hidden = 0;
  std::string activation;
  std::string gate{};  // empty: not gated
  std::string up = "mlp.up_proj", down = "mlp.down_proj";
  std::string gate_up{};   // both in one, the gate first
  bool gate_last = false;  // of gate_up: the gate is the second half
  bool bias = false, transposed = false;
  bool neighbors = false;  // gate_up: columns in turns
  double limit = 0;        // what the activation is of is at most that, the other within; 0: none
  double up_shift = 0;     // added to what is not activated
  std::string learned{};   // numbers that the activation has (xIELU)
  std::string norm{};      // between (BERT-like towers of images); empty: none
  NormSpec norm_spec = {};
};

// Some experts for each token, picked by a router.
struct Experts {
  int64_t count = 0, picked = 0;
  std::string router = "mlp.gate";
  bool router_bias = false;
  // kSparseMixer (Phi): two are picked; the weight of each is a softmax over those that are close.
  enum Score : uint8_t { kSoftmax, kSigmoid, kSoftmaxOfPicked, kSigmoidOfPicked, kSparseMixer };
  Score score = kSoftmax;
  double closeness = 0;    // kSparseMixer
  std::string correction;  // a bias [count] of scores that counts only for the pick
  int64_t groups = 1, picked_groups = 1;
  int64_t best_of_group = 2;  // a group's score is the sum of its best ones; 1: the best
  bool normalize = false;     // weights of the picked ones sum up to 1
  double least_sum = 0;       // what they are divided by is at least that
  double sum_shift = 1e-20;   // and grows by that, where scores are sigmoids
  double factor = 1;          // of the weights
  bool weigh_input = false;   // the weight is the factor of the expert's operand, not of its result
  // Expert i; "{}" is the number. `mlp` has its names after this prefix.
  std::string prefix = "mlp.experts.{}.";
  Mlp mlp;
  // For all tokens, added; its weight is sigmoid(x by `shared_gate`), where there is one.
  std::optional<Mlp> shared;
  std::string shared_gate;
};

// --- Recurrent layers ----------------------------------------------------------------------------

// A convolution over the last positions, and for Mamba a state that each position changes. Earlier
// steps leave the last `kernel` operands of the convolution and the state.
struct StateSpace {
  // kLightning (MiniMax): no convolution; the state is a sum of products of keys and values.
  enum Kind : uint8_t { kShortConv, kMamba, kMamba2, kLightning };
  Kind kind = kMamba;
  std::string prefix = "mixer.", conv = "conv1d";
  int64_t inner = 0;  // width of what is convolved (kMamba2: without its B and C)
  int64_t kernel = 0, states = 0;
  bool bias = false, conv_bias = true;
  std::string activation = "silu";
  int64_t step_rank = 0;  // kMamba
  // kMamba: norms of the step, of B and of C; empty names: none, with a scale of one.
  NormSpec parts_norm = {};
  std::string step_norm{}, b_norm{}, c_norm{};
  int64_t heads = 0, groups = 1;         // kMamba2
  double least_step = 0, most_step = 0;  // kMamba2; 0: no bound
  double norm_eps = 1e-5;                // kMamba2, kLightning
  std::vector<double> decays = {};       // kLightning: of each head's state from step to step

  int64_t channels() const { return kind == kMamba2 ? inner + 2 * groups * states : inner; }
  std::vector<int64_t> state_dims() const {
    if (kind == kShortConv) return {};
    if (kind == kMamba) return {inner, states};
    if (kind == kLightning) return {heads, inner / heads, inner / heads};
    return {heads, inner / heads, states};
  }
};

// --- Layers --------------------------------------------------------------------------------------

struct Layer {
  std::string prefix;  // "model.layers.0."
  Attention attention;
  Mlp mlp;
  std::optional<Experts> experts;         // instead of mlp
  std::optional<StateSpace> state_space;  // instead of attention
  bool has_mlp = true;
  NormSpec norm;
  // Names of norms; empty: none. Before a branch, of its result, and of the sum with what the
  // branch was added to.
  std::string before_attention = "input_layernorm", after_attention, of_attention_sum;
  std::string before_mlp = "post_attention_layernorm", after_mlp, of_mlp_sum;
  // Both branches have the same operand; without a norm before_mlp that of the attention.
  bool parallel = false;
  // Bloom: what is added is the result of the norm.
  bool residual_of_norm = false;
  double residual_factor = 1;  // of branches
  // The same of each, and factors of what they are added to.
  double attention_factor = 1, mlp_factor = 1, kept_by_attention = 1, kept_by_mlp = 1;
  std::string attention_scale, mlp_scale;  // factors [width] of branches (layer scale)
  // Attention over the encoder's output; its names are those of `cross`.
  std::optional<Attention> cross;
  std::string before_cross, of_cross_sum;
  // In place of attention or the whole layer, where set.
  std::function<Expr(Net& net, const Layer& layer, const Expr& x)> mixer;
  // In place of the whole layer, where set.
  std::function<Expr(Context& context, const Layer& layer, const Expr& x)> whole;
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
  // The same of recurrent layers: [batch, channels, kernel] and [batch, state...]. Null: none.
  struct State {
    Expr conv = nullptr, state = nullptr;
  };
  std::vector<State> past_states = {}, present_states = {};
  // What cross attention looks at: [tokens, width] of [batch, keys], and which of them count.
  Expr encoded = nullptr;
  x2ir::Size encoded_length = 0;
  Expr encoded_padding = nullptr;  // bool [batch, all keys, those of the cache first]
  // Keys and values of cross attention that earlier steps computed; `encoded` is the rest.
  std::vector<Cache> cross_pasts = {};
  std::vector<Cache> cross_presents = {};

  const x2ir::Size& batch() const { return batch_; }
  const x2ir::Size& length() const { return length_; }
  x2ir::Size keys();
  // How many keys there are, those of earlier steps included; sets `past`.
  void SetKeys(const x2ir::Size& keys);
  Turn TurnBy(const Rope& rope);
  // What is added to scores: [1 or batch, 1 or heads, length, keys]; null: nothing.
  Expr MaskOf(const Attention& attention);
  Expr CrossMask();
  Expr TokenMask();  // float [tokens, 1]: 1 where a token counts
  // [1, heads, length, keys].
  Expr DistanceBiasOf(const DistanceBias& bias, int64_t heads);
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
  Expr Alibi(const Attention& attention);
  Expr LeftPadding();

  Net& net_;
  x2ir::Size batch_, length_;
  std::optional<x2ir::Size> keys_;
  std::vector<std::pair<Rope, Turn>> turns_;
  std::vector<std::pair<std::tuple<int64_t, int64_t, int64_t, std::string>, Expr>> masks_;
  std::vector<std::pair<std::string, Expr>> distance_biases_;  // by their tables
  Expr cross_mask_ = nullptr, token_mask_ = nullptr;
};

// x is [tokens, width] in all of these.
Expr Attend(Context& context, const Attention& attention, const std::string& prefix, const Expr& x,
            int64_t width, bool cross = false);
Expr FeedForward(Net& net, const Mlp& mlp, const std::string& prefix, const Expr& x, int64_t width);
Expr Consult(Net& net, const Experts& experts, const std::string& prefix, const Expr& x,
             int64_t width);
Expr Recur(Context& context, const StateSpace& space, const std::string& prefix, const Expr& x,
           int64_t width);
Expr RunLayer(Context& context, const Layer& layer, const Expr& x, int64_t width);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_TRANSFORMER_H_
