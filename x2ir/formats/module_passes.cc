#include "x2ir/formats/module_passes.h"

namespace x2ir {
namespace {

// Whether images have their channels last: ops say so, or most convolutions and pools come
// after a transpose.
bool IsChannelsLast(const Graph& graph) {
  int64_t windows = 0, behind = 0;
  for (const Node* node : graph.nodes()) {
    const Attribute* layout = node->attrs().Find("layout");
    const std::string* text = layout ? layout->get<std::string>() : nullptr;
    if (!text) continue;
    if (*text == "channels_last") return true;
    ++windows;
    const Node* before = node->input(0) ? node->input(0)->producer() : nullptr;
    behind += before && before->Is("transpose");
  }
  return 2 * behind > windows;
}

}  // namespace

std::vector<std::string> PassesThatKeepLayers(const Graph& graph) {
  std::vector<std::string> passes = {"dead_code",
                                     "inline_control_flow",
                                     "simplify",
                                     "fold_numbers",
                                     "common_subexpressions",
                                     "fuse_activations",
                                     "fuse_normalizations",
                                     "fold_pad",
                                     "spell_out"};
  if (IsChannelsLast(graph)) passes.insert(passes.end() - 2, {"layout", "transposes"});
  return passes;
}

}  // namespace x2ir
