// Graphs as text and as numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "x2ir/formats/ncnn/ncnn.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::ncnn {
namespace {

constexpr int32_t kMagic = 7767517;
constexpr int64_t kArrays = -23300;  // ids below are of lists
constexpr int64_t kEnd = -233;
constexpr int64_t kMaxLayers = 1 << 20;
constexpr int64_t kMaxId = 31;

// The numbers of types in binary graphs (the order of layers in ncnn's build).
constexpr std::string_view kTypes[] = {"AbsVal",
                                       "ArgMax",
                                       "BatchNorm",
                                       "Bias",
                                       "BNLL",
                                       "Concat",
                                       "Convolution",
                                       "Crop",
                                       "Deconvolution",
                                       "Dropout",
                                       "Eltwise",
                                       "ELU",
                                       "Embed",
                                       "Exp",
                                       "Flatten",
                                       "InnerProduct",
                                       "Input",
                                       "Log",
                                       "LRN",
                                       "MemoryData",
                                       "MVN",
                                       "Pooling",
                                       "Power",
                                       "PReLU",
                                       "Proposal",
                                       "Reduction",
                                       "ReLU",
                                       "Reshape",
                                       "ROIPooling",
                                       "Scale",
                                       "Sigmoid",
                                       "Slice",
                                       "Softmax",
                                       "Split",
                                       "SPP",
                                       "TanH",
                                       "Threshold",
                                       "Tile",
                                       "RNN",
                                       "LSTM",
                                       "BinaryOp",
                                       "UnaryOp",
                                       "ConvolutionDepthWise",
                                       "Padding",
                                       "Squeeze",
                                       "ExpandDims",
                                       "Normalize",
                                       "Permute",
                                       "PriorBox",
                                       "DetectionOutput",
                                       "Interp",
                                       "DeconvolutionDepthWise",
                                       "ShuffleChannel",
                                       "InstanceNorm",
                                       "Clip",
                                       "Reorg",
                                       "YoloDetectionOutput",
                                       "Quantize",
                                       "Dequantize",
                                       "Yolov3DetectionOutput",
                                       "PSROIPooling",
                                       "ROIAlign",
                                       "Packing",
                                       "Requantize",
                                       "Cast",
                                       "HardSigmoid",
                                       "SELU",
                                       "HardSwish",
                                       "Noop",
                                       "PixelShuffle",
                                       "DeepCopy",
                                       "Mish",
                                       "StatisticsPooling",
                                       "Swish",
                                       "Gemm",
                                       "GroupNorm",
                                       "LayerNorm",
                                       "Softplus",
                                       "GRU",
                                       "MultiHeadAttention",
                                       "GELU",
                                       "Convolution1D",
                                       "Pooling1D",
                                       "ConvolutionDepthWise1D",
                                       "Convolution3D",
                                       "ConvolutionDepthWise3D",
                                       "Pooling3D",
                                       "MatMul",
                                       "Deconvolution1D",
                                       "DeconvolutionDepthWise1D",
                                       "Deconvolution3D",
                                       "DeconvolutionDepthWise3D",
                                       "Einsum",
                                       "DeformableConv2D",
                                       "GLU",
                                       "Fold",
                                       "Unfold",
                                       "GridSample",
                                       "CumulativeSum",
                                       "CopyTo",
                                       "Erf",
                                       "Diag",
                                       "CELU",
                                       "Shrink",
                                       "RMSNorm"};

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
    size_t end = at;
    while (end < line.size() && line[end] != ' ' && line[end] != '\t' && line[end] != '\r') ++end;
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

bool IsRealText(std::string_view text) {
  return text.find_first_of(".eEn") != text.npos;  // "nan", "inf"
}
std::optional<double> RealOf(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && !copy.empty() ? std::optional(number) : std::nullopt;
}

std::optional<Attribute> ScalarOf(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return Attribute(text.substr(1, text.size() - 2));
  }
  if (IsRealText(text)) {
    const auto number = RealOf(text);
    return number ? std::optional<Attribute>(static_cast<float>(*number)) : std::nullopt;
  }
  const auto number = ParseNumber<int32_t>(text);
  return number ? std::optional<Attribute>(int64_t{*number}) : std::nullopt;
}
// "3,1,2.5": how many, and the numbers.
std::optional<Attribute> ListOf(std::string_view text, bool counted) {
  std::vector<int64_t> ints;
  std::vector<float> floats;
  bool real = false;
  std::optional<int64_t> count;
  for (bool first = true; !text.empty(); first = false) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (first && counted) {
      count = ParseNumber<int64_t>(part);
      if (!count) return std::nullopt;
      continue;
    }
    const auto number = RealOf(part);
    if (!number) return std::nullopt;
    real = real || IsRealText(part);
    floats.push_back(static_cast<float>(*number));
    const auto integer = ParseNumber<int32_t>(part);
    if (!integer && !IsRealText(part)) return std::nullopt;
    ints.push_back(integer.value_or(0));
  }
  if (count && *count != static_cast<int64_t>(floats.size())) return std::nullopt;
  return real ? Attribute(std::move(floats)) : Attribute(std::move(ints));
}

}  // namespace

int64_t Params::Int(int64_t id, int64_t fallback) const {
  const auto found = values.find(id);
  if (found == values.end()) return fallback;
  if (const auto* number = found->second.get<int64_t>()) return *number;
  const auto* real = found->second.get<float>();
  return real && std::fabs(*real) < 1e9f ? static_cast<int64_t>(*real) : fallback;
}

std::string_view TypeOfNumber(int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(std::size(kTypes))
             ? kTypes[static_cast<size_t>(number)]
             : std::string_view();
}
bool IsKnownType(std::string_view type) {
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool LooksLikeParam(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const std::vector<std::string_view> words = Words(line);
  return line.size() < head.size() && words.size() == 1 && words[0] == "7767517";
}
bool LooksLikeBinaryParam(std::string_view head) {
  return head.size() >= 12 && LoadNumber<int32_t>(head.data()) == kMagic;
}

absl::StatusOr<std::vector<Layer>> ParseParam(std::string_view text) {
  std::vector<Layer> layers;
  int64_t number = 0, counted = -1;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> words = Words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    const auto wrong = [&](std::string_view what) { return Invalid("line ", number, ": ", what); };
    if (number == 1) {
      if (words[0] != "7767517")
        return wrong("not a graph of ncnn, or one of an old version (without the magic number)");
      continue;
    }
    if (counted < 0) {
      const auto count = words.size() == 2 ? ParseIndex(words[0]) : std::nullopt;
      if (!count || !ParseIndex(words[1])) return wrong("expected the numbers of layers and blobs");
      counted = *count;
      continue;
    }
    const auto bottoms = words.size() < 4 ? std::nullopt : ParseIndex(words[2]);
    const auto tops = words.size() < 4 ? std::nullopt : ParseIndex(words[3]);
    const auto rest = static_cast<int64_t>(words.size()) - 4;
    if (!bottoms || !tops || *bottoms > rest || *tops > rest - *bottoms) {
      return wrong("a layer is incomplete");
    }
    Layer& layer = layers.emplace_back();
    layer.type = words[0];
    layer.name = words[1];
    auto word = words.begin() + 4;
    for (int64_t i = 0; i < *bottoms; ++i) layer.bottoms.emplace_back(*word++);
    for (int64_t i = 0; i < *tops; ++i) layer.tops.emplace_back(*word++);
    for (; word != words.end(); ++word) {
      const size_t equal = word->find('=');
      const auto id = ParseNumber<int64_t>(word->substr(0, equal));
      if (equal == word->npos || !id) return wrong(StrCat("'", *word, "' is not a parameter"));
      const std::string_view value = word->substr(equal + 1);
      const bool list = *id <= kArrays;
      const int64_t own = list ? kArrays - *id : *id;
      const std::optional<Attribute> attr =
          list || (value.find(',') != value.npos && value.front() != '"') ? ListOf(value, list)
                                                                          : ScalarOf(value);
      // Hints of tools have larger parameter numbers than layers.
      if (!attr || own < 0) return wrong(StrCat("'", *word, "' is not a parameter"));
      if (own <= kMaxId) layer.params.values.insert_or_assign(own, *attr);
    }
  }
  if (counted != static_cast<int64_t>(layers.size())) {
    return DataLoss("the graph should have ", counted, " layers, but the file has ", layers.size());
  }
  return layers;
}

absl::StatusOr<std::vector<Layer>> ParseBinaryParam(std::string_view bytes) {
  size_t at = 0;
  bool ok = true;
  const auto next = [&]() -> int64_t {
    if (at + 4 > bytes.size()) {
      ok = false;
      return 0;
    }
    const auto number = LoadNumber<int32_t>(bytes.data() + at);
    at += 4;
    return number;
  };
  const auto cut_off = [&] { return DataLoss("the graph ends at byte ", bytes.size()); };
  if (next() != kMagic) return Invalid("not a graph of ncnn");
  const int64_t count = next();
  next();  // blobs
  if (!ok) return cut_off();
  if (count < 0 || count > kMaxLayers) return Invalid("a graph of ", count, " layers");
  std::vector<Layer> layers;
  for (int64_t i = 0; i < count; ++i) {
    Layer& layer = layers.emplace_back();
    const int64_t type = next(), bottoms = next(), tops = next();
    if (!ok) return cut_off();
    layer.type = TypeOfNumber(type);
    if (layer.type.empty()) layer.type = StrCat("type ", type);
    layer.name = StrCat("layer_", i);
    layer.params.bits = true;
    const auto left = static_cast<int64_t>((bytes.size() - at) / 4);
    if (bottoms < 0 || tops < 0 || bottoms > left || tops > left - bottoms) return cut_off();
    for (int64_t k = 0; k < bottoms; ++k) layer.bottoms.push_back(StrCat("blob_", next()));
    for (int64_t k = 0; k < tops; ++k) layer.tops.push_back(StrCat("blob_", next()));
    for (int64_t id = next(); ok && id != kEnd; id = next()) {
      if (id > kArrays) {
        if (id < 0) return Invalid("layer ", i, " has a parameter ", id);
        const int64_t value = next();
        if (id <= kMaxId) layer.params.values.insert_or_assign(id, Attribute(value));
        continue;
      }
      const int64_t length = next(), own = kArrays - id;
      if (!ok || length < 0 || length > static_cast<int64_t>((bytes.size() - at) / 4)) {
        return cut_off();
      }
      std::vector<int64_t> list;
      for (int64_t k = 0; k < length; ++k) list.push_back(next());
      if (own <= kMaxId) layer.params.values.insert_or_assign(own, Attribute(std::move(list)));
    }
    if (!ok) return cut_off();
  }
  if (at != bytes.size()) return DataLoss("unexpected bytes after the graph, from byte ", at);
  return layers;
}

}  // namespace x2ir::ncnn
