// Rotary positions: the angles by which pairs of numbers of a head are turned, of all kinds that
// transformers has (modeling_rope_utils.py): default, linear, dynamic, yarn, longrope, llama3,
// proportional.
#ifndef X2IR_HANDLERS_CHECKPOINT_ROPE_H_
#define X2IR_HANDLERS_CHECKPOINT_ROPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/net.h"

namespace X2IR_API x2ir {
namespace checkpoint {

struct Rope {
  int64_t dim = 0;           // elements of a head that are turned: the first ones, an even number
  bool interleaved = false;  // pairs are neighbors; else the halves
  std::vector<double> frequencies;  // dim / 2: angle of each pair at position 1
  double factor = 1;                // of cosines and sines
  // longrope: the frequencies where the last position is not below this.
  std::vector<double> long_frequencies;
  int64_t original_length = 0;
  double long_factor = 0;  // of cosines and sines there; 0: the same
  // dynamic: theta grows with the length beyond that many positions.
  struct Dynamic {
    double theta, factor;
    int64_t length;
    bool operator==(const Dynamic&) const = default;
  };
  std::optional<Dynamic> dynamic;
  // A weight [count, dim] of the sines and the cosines of all positions; empty: by frequencies.
  std::string table{};
  int64_t table_count = 0;

  bool operator==(const Rope&) const = default;
};

// What a model that has all heads alike says of it: rope_parameters, or the older rope_theta,
// rope_scaling and partial_rotary_factor. `head_size`: elements of a head that may be turned.
// `layer_type`: whose parameters, where each type of layer has its own ("sliding_attention").
struct RopeDefaults {
  double theta = 10000;
  double partial = 1;
  std::string_view theta_name = "rope_theta";
  bool whole = false;  // positions of kind "default" turn whole heads, whatever part is given
  // Parameters where the configuration has none, in JSON.
  std::string_view absent{};
  // rope_scaling of the older style holds for these layers, too.
  bool scaled = true;
};
Rope RopeOf(Settings& settings, int64_t head_size, const RopeDefaults& defaults = {},
            std::string_view layer_type = "");

// Cosines and sines, [batch, length, dim / 2], of positions [batch, length].
struct Turn {
  Expr cos, sin;
};
Turn TurnOf(Net& net, const Rope& rope, const Expr& positions);
// x [batch, heads, length, size], turned.
Expr Turned(const Expr& x, const Rope& rope, const Turn& turn);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_ROPE_H_
