// Registers the formats "python" and "oneflow".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/module_passes.h"
#include "x2ir/formats/python/python.h"

namespace x2ir {
namespace {

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
      .passes = PassesThatKeepLayers,
      .keeps_modules = true,
  };
}

[[maybe_unused]] const bool kRegistered =
    RegisterFormat(FormatFor("python",
                             "A module of PyTorch as Python source, weights as safetensors beside "
                             "it",
                             /*oneflow=*/false)) &&
    RegisterFormat(FormatFor(
        "oneflow", "A module of OneFlow as Python source, weights as safetensors beside it",
        /*oneflow=*/true));

}  // namespace
}  // namespace x2ir
