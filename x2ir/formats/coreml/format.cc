// Registers the format "coreml".
#include "x2ir/formats/format.h"

#include <filesystem>

#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/io/side_file.h"

namespace x2ir {
namespace {

Match RecognizeCoreml(const Candidate& file) {
  if (!file.is_folder) {
    return LooksLikeCoreml(file.head, file.size) ? Match::kCertain : Match::kNo;
  }
  if (IsMlPackage(file.path)) return Match::kCertain;
  return OnlyModelIn(file.path).empty() ? Match::kNo : Match::kPossible;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "coreml",
    .dialect = std::string(coreml::kDialect),
    .extensions = {".mlpackage", ".mlmodel"},
    .doc = "Models of Core ML: ML Programs, neural networks and others; ML Programs are written",
    .recognize = RecognizeCoreml,
    .read_options = {{.name = "raw_images", .help = "Leave the scale and bias of image inputs out"},
                     {.name = "function",
                      .type = OptionDef::kText,
                      .help = "Which function of an ML Program that has several",
                      .placeholder = "NAME"}},
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadCoreml(source, {.raw_images = request.options.Flag("raw_images"),
                                     .function = request.options.Text("function")});
        },
    .write_options =
        {{.name = "float16", .help = "Write floats as float16"},
         {.name = "float64_as_float32",
          .help = "Inputs and outputs of float64 become float32, as Core ML has no float64"},
         ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          return WriteMlPackage(model, sink, options.Flag("force"));
        },
    .companions = MlPackageFiles,
});

}  // namespace
}  // namespace x2ir
