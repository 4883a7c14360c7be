// Models of TensorFlow.js: "model.json" with its files of weights. A layers model is read as one of
// Keras, a graph model as a graph of TensorFlow: nodes are of these dialects. Graph models are
// written.
//
// Weights stay where they are, where one file has them; quantized ones (uint8, uint16, float16) are
// dequantized.
#ifndef X2IR_FORMATS_TFJS_TFJS_H_
#define X2IR_FORMATS_TFJS_TFJS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

struct TfjsOptions {
  std::vector<std::string> outputs{};  // of a graph model; empty: the signature's
};

// A model.json, or a folder with one. Files of weights are those of its own folder. InvalidArgument
// or DataLoss for files that are broken or of another format, NotFound for weights that are not
// there.
absl::StatusOr<Model> ReadTfjs(const Source& source, const TfjsOptions& options = {});

struct TfjsWriteOptions {
  // uint8, uint16 or float16: weights of float32 are quantized, each with a scale and a minimum of
  // its own, as tensorflowjs_converter does it. Else empty.
  std::string quantize{};
  bool force = false;  // files of others beside the model may be replaced
};

// A graph model of a graph of dialect "tf" whose ops TensorFlow.js has (dialect "tfjs"). A sink
// whose name ends in .json is that file, with files of weights beside it:
// MODEL.group1-shard1of2.bin of MODEL.tfjs.json; else it is a folder with model.json and
// group1-shard1of2.bin. int64 is written as int32, float16 as float16, int8 and uint8 as a byte
// each. FailedPrecondition for what the files cannot hold, AlreadyExists for files of others.
absl::Status WriteTfjs(const Model& model, const Sink& sink, const TfjsWriteOptions& options = {});
// The files that writing to `path` may make besides it: those that the model at `path` has, and one
// more.
std::vector<std::string> TfjsFiles(const std::string& path);

bool LooksLikeTfjs(std::string_view head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TFJS_TFJS_H_
