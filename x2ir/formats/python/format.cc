// Registers the format "python".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/python/python.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "python",
    .dialect = "torch",
    .extensions = {".py"},
    .doc = "A module of PyTorch as Python source, weights as safetensors beside it",
    .write_options = {{.name = "frozen", .help = "Weights are not trained"}, ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          return WritePython(model, sink,
                             {.frozen = options.Flag("frozen"), .force = options.Flag("force")});
        },
    .companions = [](const std::string& path) -> std::vector<std::string> {
      return {PythonWeightsPath(path)};
    },
    // What keeps the layers and the names that the source has.
    .passes = {{"dead_code", "inline_control_flow", "simplify", "fold_numbers",
                "common_subexpressions", "fuse_activations", "fuse_normalizations", "layout",
                "transposes", "fold_pad", "spell_out"}},
});

}  // namespace
}  // namespace x2ir
