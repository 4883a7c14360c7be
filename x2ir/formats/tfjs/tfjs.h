// Reads models of TensorFlow.js: "model.json" with its files of weights. A layers model is read as
// one of Keras, a graph model as a graph of TensorFlow: nodes are of these dialects.
//
// Weights stay where they are, where one file has them; quantized ones (uint8, uint16, float16) are
// dequantized.
#ifndef X2IR_FORMATS_TFJS_TFJS_H_
#define X2IR_FORMATS_TFJS_TFJS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
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

bool LooksLikeTfjs(std::string_view head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TFJS_TFJS_H_
