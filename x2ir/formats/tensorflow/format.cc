// Registers the format "tensorflow".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
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
    .extensions = {".pb", ".pbtxt", ".savedmodel"},
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
    .write_options = {OptionDef::Flag("decompose",
                                      "Operators of a graph of TensorFlow for which x2ir has "
                                      "several, and those with channels first, become these. By "
                                      "default they stay as they are"),
                      OptionDef::Flag("freeze",
                                      "A SavedModel's weights are constants of its graph, of which "
                                      "it can hold 2 GB; by default they are variables"),
                      OptionDef::Flag("keep_nchw",
                                      "Convolutions, pools and norms with channels first stay so "
                                      "(NCHW), for GPUs; TensorFlow has no kernels of them for "
                                      "CPUs. By default they are NHWC"),
                      OptionDef::Text("signature_name", "NAME",
                                      "What a SavedModel's signature is called; by default "
                                      "serving_default, and also what the source calls it, if it "
                                      "is a SavedModel"),
                      ForceOption()},
    .write =
        [](const Model& model, const Sink& sink, const FormatOptions& options) {
          TensorFlowWriteOptions write;
          write.signature = options.Text("signature_name");
          write.freeze = options.Flag("freeze");
          write.force = options.Flag("force");
          return WriteTensorFlow(model, sink, write);
        },
    .companions = SavedModelFiles,
});

}  // namespace
}  // namespace x2ir
