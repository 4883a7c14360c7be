// Reads networks of Darknet: a configuration ("yolov3.cfg") and its weights ("yolov3.weights").
// Sections are copied as dialect "darknet", in the order of the file, options as the texts that
// they are; the operands of a node are what the section reads, then its weights. Source: parser.c
// of pjreddie/darknet, and of AlexeyAB/darknet for what that one added.
#ifndef X2IR_FORMATS_DARKNET_DARKNET_H_
#define X2IR_FORMATS_DARKNET_DARKNET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/model_files.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace darknet {
inline constexpr char kDialect[] = "darknet";
// Attributes that the reader adds: how many operands are weights, the size of the network's input
// (of heads: height, width), and whether a head's numbers are to be decoded.
inline constexpr char kWeights[] = "x2ir.weights";
inline constexpr char kImage[] = "x2ir.image";
inline constexpr char kDecode[] = "x2ir.decode";
// Of [gru] and [lstm]: the parts that a section's weights are of, in their order ("wz", "wr", ...).
inline constexpr char kParts[] = "x2ir.parts";

struct Section {
  std::string name;  // "convolutional"; short forms are written out
  int64_t line = 0;
  std::vector<std::pair<std::string, std::string>> options{};

  const std::string* Find(std::string_view key) const;
};
// InvalidArgument with the line for text that is not a configuration.
absl::StatusOr<std::vector<Section>> ParseConfig(std::string_view text);
// Whether a text begins with the section of a network.
bool LooksLikeConfig(std::string_view head);
// "-1, -4" as numbers, which end where something else begins, as in Darknet.
std::vector<int64_t> ParseIntegers(std::string_view text);
std::vector<double> ParseNumbers(std::string_view text);

// "net.cfg" with "net.weights", or with the only such file of its folder.
const ModelFileNames& DarknetFileNames();
}  // namespace darknet

struct DarknetOptions {
  std::string params{};       // the file of weights; empty: the one beside the configuration
  bool decode_heads = false;  // heads give boxes, rather than what goes into them
  // Who wrote the weights of [gru] and [lstm]: "pjreddie", "alexeyab", or "auto": as the version in
  // the file says.
  std::string fork = "auto";
};

// One input "data" [1, channels, height, width]; heads ([yolo], [region], [detection]) are outputs,
// and so is the last layer. InvalidArgument or DataLoss for files that are broken or of another
// format; NotFound as of OpenModelFiles; an option error about "params" where there are no weights,
// about "fork" where their order is not known.
absl::StatusOr<Model> ReadDarknet(const Source& source, const DarknetOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_FORMATS_DARKNET_DARKNET_H_
