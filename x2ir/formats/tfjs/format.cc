// Registers the format "tfjs".
#include "x2ir/formats/format.h"

#include <filesystem>
#include <system_error>

#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/tfjs/tfjs.h"

namespace x2ir {
namespace {

bool LooksLikeTfjsFile(const std::string& path) {
  const auto file = Blob::Open(path);
  return file.ok() && LooksLikeTfjs((*file)->view().substr(0, 4096));
}

Match RecognizeTfjs(const Candidate& file) {
  namespace fs = std::filesystem;
  if (file.is_folder) {
    const fs::path model = fs::path(file.path) / "model.json";
    std::error_code error;
    const bool is_one = fs::is_regular_file(model, error) && LooksLikeTfjsFile(model.string());
    return is_one ? Match::kCertain : Match::kNo;
  }
  const std::string_view head = file.text();
  return LooksLikeTfjs(head) ? Match::kCertain : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "tfjs",
    .dialect = "tfjs",  // of what is written; readers say what they read
    .extensions = {".tfjs.json"},
    .doc = "Layers models and graph models of TensorFlow.js; graph models are written",
    .recognize = RecognizeTfjs,
    .names_files = true,
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadTfjs(source, {.outputs = request.outputs});
        },
    .write_options =
        {{.name = "quantize",
          .type = OptionDef::kChoice,
          .help = "Store weights of float32 in this type, each with a scale and a minimum of its "
                  "own; TensorFlow.js computes in float32 all the same",
          .placeholder = "uint8|uint16|float16",
          .choices = {"none", "uint8", "uint16", "float16"}},
         OptionDef::Flag("float64_as_float32",
                         "Inputs and outputs of float64 become float32, as TensorFlow.js has no "
                         "float64"),
         ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          const std::string& quantize = options.Text("quantize");
          return WriteTfjs(
              model, sink,
              {.quantize = quantize == "none" ? "" : quantize, .force = options.Flag("force")});
        },
    .companions = TfjsFiles,
});

}  // namespace
}  // namespace x2ir
