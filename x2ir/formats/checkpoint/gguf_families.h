// What GGUF says of each architecture, as data: keys of the metadata, names of tensors, and what
// llama.cpp has in its code in place of keys (convert_hf_to_gguf.py and src/models of llama.cpp).
#ifndef X2IR_FORMATS_CHECKPOINT_GGUF_FAMILIES_H_
#define X2IR_FORMATS_CHECKPOINT_GGUF_FAMILIES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace gguf {

// A key after the architecture's prefix, and its name in config.json. Empty: it says nothing that
// is not known otherwise.
struct KeyRow {
  std::string_view key, setting;
};

// A tensor without its ending (.weight, .bias), and its name in transformers. '#' is the number of
// the layer. '@': the tensor is a stack, of which part i has that number there.
struct NameRow {
  std::string_view tensor, name;
  bool as_row = false;  // [n] is [1, n] in transformers
};

// A setting that is true where the file has this tensor.
struct PresenceRow {
  std::string_view tensor, setting;
};

// What settings that no key has are made of.
struct Facts {
  int64_t layers = 0, heads = 0, kv_heads = 0, width = 0, head_size = 0;
  bool variant = false;  // of the family
};

struct Family {
  std::string_view architecture;  // general.architecture
  // Of two rows of an architecture: the one with experts, or with a norm for each branch.
  bool variant = false;
  std::string_view model_type, model_class;
  absl::Span<const NameRow> names, more_names;  // the first that fits counts
  absl::Span<const KeyRow> keys;                // before those that all have
  absl::Span<const PresenceRow> presence = {};
  std::string_view settings = "{}", extras = "{}";  // JSON
  bool rotary = true;
  void (*finish)(const Facts& facts, Json& config) = nullptr;
};

// Null where it is not known.
const Family* FindFamily(std::string_view architecture, bool variant);
std::string FamilyNames();  // of all architectures: "bert, bloom, ..."

// Null where it is not known.
const KeyRow* FindKey(const Family& family, std::string_view key);
// `tensor`: with '#' for the layer, without its ending.
const NameRow* FindName(const Family& family, std::string_view tensor);

}  // namespace gguf
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GGUF_FAMILIES_H_
