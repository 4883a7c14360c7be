// Registers the format "torch".
#include "x2ir/formats/format.h"

#include "x2ir/formats/module_passes.h"
#include "x2ir/formats/torch/torch.h"

namespace x2ir {
namespace {

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
    .read_options = {OptionDef::Text("model", "NAME",
                                     "Which model of an archive that holds several")},
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

}  // namespace x2ir
