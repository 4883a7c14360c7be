// Registers the format "tflite".
#include "x2ir/formats/format.h"

#include "x2ir/formats/tflite/schema.h"
#include "x2ir/formats/tflite/tflite.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "tflite",
    .dialect = std::string(tflite::kDialect),
    .extensions = {".tflite"},
    .doc = "Models of LiteRT (TensorFlow Lite)",
    .recognize =
        [](const Candidate& file) {
          return !file.is_folder && LooksLikeTflite(file.head) ? Match::kCertain : Match::kNo;
        },
    .read_options = {OptionDef::Text(
                         "signature", "NAME",
                         "Which signature of the model; by default serving_default, of TFLite "
                         "that of the first subgraph"),
                     OptionDef::Flag(
                         "dequantize",
                         "Read a quantized model as the float network that it approximates")},
    .names_files = true,
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadTflite(source, {.signature = request.options.Text("signature"),
                                     .dequantize = request.options.Flag("dequantize")});
        },
    .write_options = {OptionDef::Flag("float16", "Write the weights as float16, half as large"),
                      OptionDef::Flag(
                          "dynamic_range",
                          "Write large weights of convolutions and matrix products as int8 with a "
                          "scale for each channel; LiteRT also rounds the other operand to int8"),
                      {.name = "io_type",
                       .type = OptionDef::kChoice,
                       .help = "The element type of inputs and outputs of a quantized model",
                       .placeholder = "TYPE",
                       .choices = {"keep", "int8", "uint8", "float32"}}},
    .write = [](const Model& model, const Sink& sink,
                const FormatOptions&) { return WriteTflite(model, sink); },
    .metadata = true,
});

}  // namespace
}  // namespace x2ir
