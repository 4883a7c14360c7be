// Registers the format "coreml".
#include "x2ir/formats/format.h"

#include <filesystem>

#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/coreml/targets.h"
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

// The first one, because no option selects one.
std::vector<std::string> TargetChoices() {
  std::vector<std::string> choices = {"any"};
  const std::vector<std::string>& targets = coreml::DeploymentTargets();
  choices.insert(choices.end(), targets.begin(), targets.end());
  return choices;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "coreml",
    .dialect = std::string(coreml::kDialect),
    .extensions = {".mlpackage", ".mlmodel"},
    .doc = "Models of Core ML: ML Programs, neural networks and others; ML Programs are written",
    .recognize = RecognizeCoreml,
    .read_options = {OptionDef::Flag("raw_images", "Leave the scale and bias of image inputs out"),
                     OptionDef::Text("function", "NAME",
                                     "Which function of an ML Program that has several")},
    .names_files = true,
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadCoreml(source, {.raw_images = request.options.Flag("raw_images"),
                                     .function = request.options.Text("function")});
        },
    .write_options =
        {OptionDef::Flag("float16", "Write floats as float16"),
         OptionDef::Flag("float64_as_float32",
                         "Inputs and outputs of float64 become float32, as Core ML has no float64"),
         OptionDef::List("image", "NAME[:LAYOUT]",
                         "This input is an image for an app; LAYOUT, the order of its colours: RGB "
                         "(default), BGR, GRAYSCALE, GRAYSCALE_FLOAT16"),
         OptionDef::List(
             "image_scale", "[NAME:]NUMBER",
             "The model takes pixel * scale + bias, with pixels from 0 to 255; NUMBER alone: "
             "of all images"),
         OptionDef::List("image_bias", "[NAME:]B,G,R",
                         "The bias of all channels, or of each, in the order of LAYOUT"),
         OptionDef::Text(
             "labels", "FILE",
             "The model becomes a classifier; a text file with the label of each class on a "
             "line of its own"),
         OptionDef::Text(
             "label_name", "NAME",
             "What a classifier's label is called, classLabel by default; NAME_probs is its "
             "dictionary of probabilities"),
         OptionDef::Text(
             "probabilities", "NAME",
             "Which output has a classifier's probabilities; by default the only one of "
             "floats whose last size is the number of labels"),
         {.name = "minimum_deployment_target",
          .type = OptionDef::kChoice,
          .help = "The oldest system that the program must run on: what a later one brought is an "
                  "error; by default iOS16, or the first that has all that is needed",
          .placeholder = "iOS15|macOS13|...",
          .choices = TargetChoices()},
         ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          return WriteMlPackage(
              model, sink,
              {.force = options.Flag("force"),
               .opset = coreml::OpsetOfTarget(options.Text("minimum_deployment_target"))});
        },
    .companions = MlPackageFiles,
    .metadata = true,
});

}  // namespace
}  // namespace x2ir
