// Registers the formats "python" and "oneflow".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/python/python.h"

namespace x2ir {
namespace {

// Whether images have their channels last: ops say so, or most convolutions and pools stand behind
// a transpose.
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

// Those that keep the layers and the names that the source has.
std::vector<std::string> PassesFor(const Graph& graph) {
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

Format FormatFor(std::string name, std::string doc, bool oneflow) {
  return {
      .name = std::move(name),
      .dialect = "torch",
      .extensions = {".py"},
      .only_by_name = oneflow,
      .doc = std::move(doc),
      .write_options = {{.name = "frozen", .help = "Weights are not trained"}, ForceOption()},
      .write =
          [oneflow](const Model& model, const Sink& sink, const FormatOptions& options) {
            return WritePython(model, sink,
                               {.frozen = options.Flag("frozen"),
                                .force = options.Flag("force"),
                                .oneflow = oneflow});
          },
      .companions = [](const std::string& path) -> std::vector<std::string> {
        return {PythonWeightsPath(path)};
      },
      .passes = PassesFor,
      .keeps_modules = true,
  };
}

[[maybe_unused]] const bool kRegistered =
    RegisterFormat(FormatFor("python",
                             "A module of PyTorch as Python source, weights as safetensors beside "
                             "it",
                             /*oneflow=*/false)) &&
    RegisterFormat(FormatFor("oneflow", "The same for OneFlow", /*oneflow=*/true));

}  // namespace
}  // namespace x2ir
