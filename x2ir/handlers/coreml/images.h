// Inputs of a program that are images for an app.
#ifndef X2IR_HANDLERS_COREML_IMAGES_H_
#define X2IR_HANDLERS_COREML_IMAGES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// What the network computes with is pixel * scale + bias, pixels being 0 to 255.
struct ImageInput {
  std::string layout;  // of colours, as coreml::kImage says it
  double scale = 1;
  std::vector<double> bias{};  // one for each channel, in the layout's order; empty: none
};

// The inputs that are images, by their places; nullopt: an array. They are those that the option
// `image` names ("NAME", "NAME:BGR"), and those that were images of a model of Core ML
// (coreml::kImage) and still have the shape of one. `image_scale` ("S", "NAME:S") and `image_bias`
// ("B", "R,G,B", each after "NAME:") are about them. Option errors: an input that there is not, or
// that is no float32, float16 or float64 [1,3,height,width] (grayscale: [1,1,height,width]).
absl::StatusOr<std::vector<std::optional<ImageInput>>> ImagesOf(const Graph& graph,
                                                                const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_IMAGES_H_
