#include "x2ir/handlers/coreml/images.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "x2ir/core/suggest.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using Images = std::vector<std::optional<ImageInput>>;

constexpr std::string_view kLayouts[] = {"RGB", "BGR", "GRAYSCALE", "GRAYSCALE_FLOAT16"};

int64_t ChannelsOf(std::string_view layout) { return layout.starts_with("GRAYSCALE") ? 1 : 3; }

bool IsImageOf(const Value& input, int64_t channels) {
  const Shape* shape = input.shape();
  const auto is = [&](int64_t axis, int64_t size) {
    const Dim& dim = (*shape)[axis];
    return dim.is_static() && dim.value() == size;
  };
  const bool floats = input.dtype() == DType::kFloat32 || input.dtype() == DType::kFloat16 ||
                      input.dtype() == DType::kFloat64;
  return floats && shape && shape->rank() == 4 && is(0, 1) && is(1, channels);
}

// Where the input of that name is; an option error where there is none.
absl::StatusOr<size_t> InputCalled(const Graph& graph, std::string_view option,
                                   const std::string& name) {
  std::vector<std::string> names;
  for (const Value* input : graph.inputs()) {
    if (input->name() == name) return names.size();
    names.push_back(input->name());
  }
  std::string all;
  for (const std::string& each : names) StrAppend(&all, all.empty() ? "" : ", ", each);
  const std::string meant = DidYouMean(name, names);
  return OptionError(option, "there is no input '", name, "'",
                     meant.empty() ? StrCat("; inputs are: ", all) : meant);
}

// What may make it an image.
std::string HintFor(const Value& input) {
  const Shape* shape = input.shape();
  if (!shape || shape->rank() != 4) return "";
  const auto size = [&](int64_t axis) {
    return (*shape)[axis].is_static() ? (*shape)[axis].value() : -1;
  };
  if (size(1) != 3 && size(1) != 1 && (size(3) == 3 || size(3) == 1)) {
    return StrCat("; ", OptionText("inputs_as_nchw"), " ", input.name(),
                  " makes it channels first");
  }
  if (size(0) == 1 || (size(1) != 3 && size(1) != 1)) return "";
  std::string dims = "1";
  for (int64_t axis = 1; axis < 4; ++axis) StrAppend(&dims, ",", (*shape)[axis].ToString());
  return StrCat("; ", OptionText("shapes"), " ", input.name(), ":", dims, " makes it one image");
}

// "NAME" or "NAME:LAYOUT"; a name may have colons.
absl::Status AddImage(const Graph& graph, const std::string& text, Images* images) {
  std::string name = text, layout;
  const size_t colon = text.rfind(':');
  if (colon != text.npos && !std::any_of(graph.inputs().begin(), graph.inputs().end(),
                                         [&](const Value* v) { return v->name() == text; })) {
    name = text.substr(0, colon);
    layout = text.substr(colon + 1);
    if (std::find(std::begin(kLayouts), std::end(kLayouts), layout) == std::end(kLayouts)) {
      return OptionError("image", "'", text, "': there is no layout of colours '", layout,
                         "'; expected RGB, BGR, GRAYSCALE or GRAYSCALE_FLOAT16");
    }
  }
  X2IR_ASSIGN_OR_RETURN(const size_t at, InputCalled(graph, "image", name));
  const Value& input = *graph.inputs()[at];
  if (layout.empty()) layout = IsImageOf(input, 1) ? "GRAYSCALE" : "RGB";
  if (!IsImageOf(input, ChannelsOf(layout))) {
    return OptionError("image", "input '", name, "' is ", input.type().ToString(), "; an image of ",
                       layout, " is float32[1,", ChannelsOf(layout), ",height,width]",
                       HintFor(input));
  }
  if ((*images)[at]) return OptionError("image", "'", name, "' is given twice");
  (*images)[at] = ImageInput{std::move(layout)};
  return absl::OkStatus();
}

// Calls `set` with each image that an option means and a number: "NUMBER" means all, "NAME:NUMBER"
// one, and numbers after it without a name mean the same image.
template <typename Set>
absl::Status ForNumbers(const Graph& graph, std::string_view option, const FormatOptions& options,
                        Images* images, const Set& set) {
  std::optional<size_t> one;
  for (const std::string& text : options.List(option)) {
    const size_t colon = text.rfind(':');
    if (colon != text.npos) {
      X2IR_ASSIGN_OR_RETURN(one, InputCalled(graph, option, text.substr(0, colon)));
      if (!(*images)[*one]) {
        return OptionError(option, "input '", text.substr(0, colon), "' is no image; ",
                           OptionText("image"), " says which are");
      }
    }
    const auto number =
        ParseNumber<double>(std::string_view(text).substr(colon == text.npos ? 0 : colon + 1));
    if (!number || !std::isfinite(*number)) {
      return OptionError(option, "'", text, "': expected a number, or NAME:NUMBER");
    }
    bool any = false;
    for (size_t i = 0; i < images->size(); ++i) {
      if (!(*images)[i] || (one && *one != i)) continue;
      any = true;
      X2IR_RETURN_IF_ERROR(set(*graph.inputs()[i], *(*images)[i], *number));
    }
    if (!any) return OptionError(option, "needs ", OptionText("image"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Images> ImagesOf(const Graph& graph, const FormatOptions& options) {
  Images images(graph.inputs().size());
  for (const std::string& text : options.List("image")) {
    X2IR_RETURN_IF_ERROR(AddImage(graph, text, &images));
  }
  for (size_t i = 0; i < images.size(); ++i) {
    const Annotations* notes = graph.inputs()[i]->annotations().get();
    if (!notes || images[i]) continue;
    const auto it = notes->extra.find(coreml::kImage);
    if (it != notes->extra.end() && IsImageOf(*graph.inputs()[i], ChannelsOf(it->second))) {
      images[i] = ImageInput{it->second};
    }
  }
  X2IR_RETURN_IF_ERROR(ForNumbers(
      graph, "image_scale", options, &images,
      [&](const Value& input, ImageInput& image, double number) {
        if (number == 0) {
          return OptionError("image_scale", "0 leaves nothing of '", input.name(), "'");
        }
        if (image.scale != 1) {
          return OptionError("image_scale", "'", input.name(), "' has two scales; expected one");
        }
        image.scale = number;
        return absl::OkStatus();
      }));
  X2IR_RETURN_IF_ERROR(ForNumbers(graph, "image_bias", options, &images,
                                  [&](const Value&, ImageInput& image, double number) {
                                    image.bias.push_back(number);
                                    return absl::OkStatus();
                                  }));
  for (size_t i = 0; i < images.size(); ++i) {
    if (!images[i] || images[i]->bias.empty()) continue;
    std::vector<double>& bias = images[i]->bias;
    const auto channels = static_cast<size_t>(ChannelsOf(images[i]->layout));
    if (bias.size() == 1) bias.resize(channels, bias[0]);
    if (bias.size() != channels) {
      return OptionError("image_bias", bias.size(), " numbers for '", graph.inputs()[i]->name(),
                         "', which has ", channels, channels == 1 ? " channel" : " channels");
    }
  }
  return images;
}

}  // namespace x2ir
