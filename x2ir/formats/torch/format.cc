// Registers the formats "torch" and "torchscript".
#include "x2ir/formats/format.h"

#include "x2ir/formats/module_passes.h"
#include "x2ir/formats/torch/torch.h"

namespace x2ir {
namespace {

std::vector<OptionDef> ScriptOptions() {
  return {
      OptionDef::Text("function", "NAME",
                      "Which method of a TorchScript module is read, forward by default"),
      OptionDef::List("arguments", "NAME=VALUE",
                      "Arguments of a TorchScript method that are no inputs: NAME=5, NAME=none; "
                      "NAME=input for one that has a default; of a list how many items it has")};
}

std::vector<OptionDef> ArchiveOptions() {
  std::vector<OptionDef> options = ScriptOptions();
  options.insert(options.begin(),
                 OptionDef::Text("model", "NAME", "Which model of an archive that holds several"));
  return options;
}

// Many formats are zip archives. Which of the two an archive is the reader tells.
Match RecognizeArchive(const Candidate& file) {
  return LooksLikeTorch(file.head, file.size) ? Match::kPossible : Match::kNo;
}

absl::StatusOr<Model> ReadArchive(const Source& source, const ReadRequest& request) {
  return ReadTorch(source, {.model = request.options.Text("model"),
                            .method = request.options.Text("function"),
                            .arguments = request.options.List("arguments")});
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "torch",
    .dialect = "torch",
    .extensions = {".pt2"},
    .doc = "Programs of torch.export.save",
    .recognize = RecognizeArchive,
    .read_options = ArchiveOptions(),
    .read = ReadArchive,
    .write = [](const Model& model, const Sink& sink,
                const FormatOptions&) { return WriteTorch(model, sink); },
    // A user may train the program and look for its weights by name.
    .passes = PassesThatKeepLayers,
    .keeps_modules = true,
});

[[maybe_unused]] const bool kScriptIsRegistered = RegisterFormat({
    .name = "torchscript",
    .dialect = "torch",
    .extensions = {".pt", ".ptl"},
    .doc = "TorchScript of torch.jit.save",
    .recognize = RecognizeArchive,
    .read_options = ScriptOptions(),
    .read = ReadArchive,
});

}  // namespace

}  // namespace x2ir
