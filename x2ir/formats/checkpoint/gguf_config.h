// The metadata of a GGUF file in the terms of config.json.
#ifndef X2IR_FORMATS_CHECKPOINT_GGUF_CONFIG_H_
#define X2IR_FORMATS_CHECKPOINT_GGUF_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/checkpoint/gguf_families.h"
#include "x2ir/formats/checkpoint/gguf_file.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace gguf {

// What the config needs to know of the tensors.
struct Stored {
  StringMap<std::vector<int64_t>> dims;  // of all tensors, by GGUF's names
  // Divisors of the frequencies of rotary positions; those for short texts where there are two.
  std::vector<double> rope_factors, long_rope_factors;
};

struct Config {
  Json config, extras;
};

// Unimplemented: an unknown architecture. DataLoss: none is given.
absl::StatusOr<const Family*> FamilyOf(const File& file, const Stored& stored);

// Unimplemented: a key that is not known, or a value of which the meaning is not; DataLoss: a value
// that cannot be.
absl::StatusOr<Config> ConfigOf(const File& file, const Family& family, const Stored& stored);

}  // namespace gguf
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GGUF_CONFIG_H_
