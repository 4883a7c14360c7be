// Small checkpoints of Hugging Face, made for tests: tests/data/checkpoint/NAME.json has the
// configuration that transformers wrote of a network of a family, and the shapes of its weights.
#ifndef X2IR_TESTS_FORMATS_CHECKPOINT_FILES_UTIL_H_
#define X2IR_TESTS_FORMATS_CHECKPOINT_FILES_UTIL_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/json_tree.h"

namespace x2ir {

struct SmallCheckpoint {
  Json config;
  std::map<std::string, std::vector<int64_t>> weights;  // shapes by name
  std::string type = "F32";                             // of all weights, as safetensors has it

  std::string Config() const { return config.ToString(); }
  // The whole file; the numbers are small, and the same each time.
  std::string Safetensors() const;
};

// Families that there are: "bert", "llama", ...
const std::vector<std::string>& SmallCheckpointNames();
SmallCheckpoint SmallCheckpointOf(std::string_view name);  // a failure where there is none

}  // namespace x2ir

#endif  // X2IR_TESTS_FORMATS_CHECKPOINT_FILES_UTIL_H_
