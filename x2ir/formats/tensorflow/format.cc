// Registers the format "tensorflow".
#include "x2ir/formats/format.h"

#include "x2ir/formats/tensorflow/tensorflow.h"

namespace x2ir {
namespace {

Match RecognizeTensorFlowFile(const Candidate& file) {
  const bool is_one =
      file.is_folder ? IsSavedModelFolder(file.path) : LooksLikeTensorFlow(file.head, file.size);
  return is_one ? Match::kCertain : Match::kNo;
}

absl::StatusOr<Model> ReadTensorFlowFile(const Source& source, const ReadRequest& request) {
  return ReadTensorFlow(source, {.signature = request.options.Text("signature"),
                                 .inputs = request.inputs,
                                 .outputs = request.outputs,
                                 .tags = request.options.Text("model")});
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "tensorflow",
    .dialect = "tf",
    .extensions = {".pb", ".pbtxt"},
    .doc = "Frozen graphs and SavedModels of TensorFlow",
    .recognize = RecognizeTensorFlowFile,
    .read_options = {OptionDef::Text("model", "TAG,...",
                                     "Which graph of a SavedModel, by its tags"),
                     OptionDef::Text(
                         "signature", "NAME",
                         "Which signature of the model; by default serving_default, of TFLite "
                         "that of the first subgraph")},
    .names_files = true,
    .read = ReadTensorFlowFile,
    .write = [](const Model& model, const Sink& sink,
                const FormatOptions&) { return WriteFrozenGraph(model, sink); },
});

}  // namespace
}  // namespace x2ir
