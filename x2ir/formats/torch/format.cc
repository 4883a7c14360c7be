// Registers the format "torch".
#include "x2ir/formats/format.h"

#include "x2ir/formats/torch/torch.h"

namespace x2ir {
namespace {

// Whether images have their channels last: ops say so, or most convolutions and pools follow a
// transpose.
bool IsChannelsLast(const Graph& graph) {
  int64_t windows = 0, after_transpose = 0;
  for (const Node* node : graph.nodes()) {
    const Attribute* layout = node->attrs().Find("layout");
    const std::string* text = layout ? layout->get<std::string>() : nullptr;
    if (!text) continue;
    if (*text == "channels_last") return true;
    ++windows;
    const Node* before = node->input(0) ? node->input(0)->producer() : nullptr;
    after_transpose += before && before->Is("transpose");
  }
  return 2 * after_transpose > windows;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "torch",
    .dialect = "torch",
    .extensions = {".pt2"},
    .doc = "Programs of torch.export.save",
    // Many formats are zip archives.
    .recognize =
        [](const Candidate& file) {
          return LooksLikeTorch(file.head, file.size) ? Match::kPossible : Match::kNo;
        },
    .read_options = {{.name = "model",
                      .type = OptionDef::kText,
                      .help = "Which model of an archive that holds several",
                      .placeholder = "NAME"}},
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadTorch(source, {.model = request.options.Text("model")});
        },
    .write = [](const Model& model, const Sink& sink,
                const FormatOptions&) { return WriteTorch(model, sink); },
    // A user may train the program and look for its weights by name.
    .passes = PassesThatKeepLayers,
    .keeps_modules = true,
});

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
