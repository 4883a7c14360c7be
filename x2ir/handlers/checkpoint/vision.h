// Models for images, what they share: the input, towers of transformer layers over patches,
// convolutions with their norms, positions that are stretched to the size of an image, heads.
//
//   pixel_values [batch_size, channels, height, width] -> last_hidden_state, pooler_output, logits
//
// Height and width are those of the configuration where the network knows no others, else dynamic.
#ifndef X2IR_HANDLERS_CHECKPOINT_VISION_H_
#define X2IR_HANDLERS_CHECKPOINT_VISION_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/architectures.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace X2IR_API x2ir {
namespace checkpoint {

using BuildVision = std::function<void(Net& net, const std::string& class_name)>;
// Registers the classes STEM + suffix; none given: ForImageClassification and Model.
bool RegisterVision(std::string model_type, const std::string& stem, BuildVision build,
                    const std::vector<std::string>& suffixes = {"ForImageClassification", "Model"});
inline bool IsImageClassifier(const std::string& class_name) {
  return class_name.ends_with("ForImageClassification");
}

// --- Settings
// --------------------------------------------------------------------------------------

using Sides = std::array<int64_t, 2>;  // rows, columns
// One size for both, or a list of two.
Sides SidesOf(Settings& settings, std::string_view names, int64_t fallback);
// A list of `count` sizes, each at least `least`.
std::vector<int64_t> SizesOf(Settings& settings, std::string_view names,
                             std::vector<int64_t> fallback, size_t count = 0, int64_t least = 1);
// A product with a ratio, rounded down, that is a size.
int64_t ScaledSize(int64_t size, double ratio);
// A number of channels as a multiple of the divisor that is not much smaller.
int64_t DivisibleWidth(double channels, int64_t divisor, int64_t least);
// Takes what says only which results a backbone gives.
void IgnoreStages(Settings& settings);

// --- Input, convolutions, heads
// --------------------------------------------------------------------

Expr PixelValues(Net& net, int64_t channels, const std::optional<Sides>& sides = std::nullopt);

// Whether the base model's weights are stored with its prefix ("vit."), by one of its weights.
std::string StoredPrefix(Net& net, const std::string& prefix, const std::string& weight);

// A convolution without bias and its batch norm, and what activates the result (empty: nothing).
struct NormedConv {
  std::string conv, norm;
  Net::ConvSpec spec;
  double eps = 1e-5;
  std::string activation{};
};
Expr Convolved(Net& net, const Expr& x, const NormedConv& conv);
// As much padding on both sides as a window of that size needs to leave sizes as they are.
inline std::vector<int64_t> SamePads(int64_t kernel, int64_t dilation = 1) {
  return {(kernel - 1) / 2 * dilation, (kernel - 1) / 2 * dilation};
}

// The mean of rows and columns, [batch, channels].
Expr MeanOfImage(const Expr& x);
// Over the channels of [batch, channels, rows, columns].
Expr ChannelNorm(Net& net, const Expr& x, const NormSpec& norm, const std::string& name,
                 int64_t channels);
// The layers of a sequence of linear ones, with relu between: NAME.layers.0, ...
Expr Perceptron(Net& net, const Expr& x, const std::string& name, int64_t in, int64_t hidden,
                int64_t out, int64_t layers);
// x [batch, in] by NAME, as the output "logits". No labels: x itself.
void Classify(Net& net, const Expr& x, const std::string& name, int64_t in);
// How many labels the classifier has.
int64_t LabelCount(Net& net, const std::string& weight);

// --- Towers of patches
// -----------------------------------------------------------------------------

// A token that is no patch, or some of them: a weight [1, count, width] (or [width]).
struct ExtraTokens {
  std::string name;
  int64_t count = 1;
  bool last = false;  // after the patches
  bool has_position = true;
};

struct ImageTower {
  std::string prefix;
  int64_t width = 0, channels = 3;
  Sides image = {}, patch = {};
  std::string patches = "embeddings.patch_embeddings.projection";
  bool patch_bias = true;
  std::vector<ExtraTokens> extra;
  // [1, tokens, width], or of an embedding [tokens, width]; empty: none. Positions of the patches
  // are stretched to the image where it is of any size; kSquare: they are those of a square.
  std::string positions;
  enum Stretch : uint8_t { kFixed, kAny, kSquare, kSquareSmooth, kSquareLinear };
  Stretch stretch = kFixed;
  std::string pre_norm;  // of the embedding
  std::vector<Layer> layers;
  NormSpec norm;
  std::string final_norm;
  // [layers - 1, 1, tokens, width]: positions that are added after each layer but the last.
  std::string mid_positions;
};

// What becomes of an image.
struct Encoded {
  Expr x = nullptr;  // [batch, tokens, width]
  x2ir::Size batch, length, rows, columns;
  std::vector<Expr> stages;  // before the layers and after each: [tokens, width]
};
// Given before each layer, where the tower does not say it all.
using BeforeLayer = std::function<void(Context& context, const Encoded& encoded, size_t layer)>;
Encoded RunTower(Net& net, const ImageTower& tower, const Expr& pixels,
                 const BeforeLayer& before_layer = nullptr);
inline Expr PixelsOf(Net& net, const ImageTower& tower) {
  return PixelValues(
      net, tower.channels,
      tower.stretch == ImageTower::kFixed ? std::optional(tower.image) : std::nullopt);
}

// A tower by the usual settings (hidden_size, image_size, patch_size, ...), with layers of no
// names.
ImageTower TowerOf(Settings& settings, std::string prefix, double eps);
// That of ViT, whose weights may have the prefix; heads of other tasks are left out. And that of
// DINOv2.
ImageTower VitTower(Net& net, Settings& settings, const std::string& prefix, double eps);
ImageTower Dinov2Tower(Net& net, Settings& settings, const std::string& prefix, bool registers);
int64_t ExtraCount(const ImageTower& tower);  // tokens that are no patches
// Names and biases of the layers of ViT, and of CLIP.
Layer VitLayer(Settings& settings, const ImageTower& tower);
struct ClipDefaults {
  int64_t heads, hidden;
  std::string activation;
};
Layer ClipLayer(Settings& settings, int64_t width, const NormSpec& norm,
                const ClipDefaults& defaults);
// That many layers, whose prefix has the number in the place of "{}".
std::vector<Layer> Layers(const Layer& layer, int64_t count, const std::string& prefix);

Expr TokenAt(const Encoded& encoded, int64_t i);  // [batch, width]
// The mean of the tokens from that one on, [batch, width].
Expr MeanFrom(const Encoded& encoded, int64_t first);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_VISION_H_
