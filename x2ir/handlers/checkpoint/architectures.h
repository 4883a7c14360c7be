// The architectures that are known. A family registers itself from its own file in families/: the
// model_type of config.json, and what makes the graph. Decoders and encoders of texts only describe
// themselves (decoder.h, encoder.h).
#ifndef X2IR_HANDLERS_CHECKPOINT_ARCHITECTURES_H_
#define X2IR_HANDLERS_CHECKPOINT_ARCHITECTURES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/net.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// The kind of those that can be made in parts.
inline constexpr char kEncoderDecoder[] = "encoder-decoder";

struct Architecture {
  std::string model_type;  // "llama"
  std::string kind;        // for lists: "decoder", "encoder", "vision", ...
  // Classes of `architectures` that it makes; one that ends in '*' is a start of names.
  std::vector<std::string> classes;
  // `class_name` is one of `classes`.
  std::function<void(Net& net, const std::string& class_name)> build;
};

bool RegisterArchitecture(Architecture architecture);
// By model_type. Null: none of that name.
const Architecture* FindArchitecture(std::string_view model_type);
std::vector<const Architecture*> AllArchitectures();  // by name

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_ARCHITECTURES_H_
