#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/settings_internal.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir::keras {
namespace {

// Settings that are true or false; attributes have them as integers.
constexpr std::string_view kFlags[] = {
    "bidirectional", "center",           "go_backwards",     "keepdims",    "mask_zero",
    "reset_after",   "return_sequences", "return_state",     "rms_scaling", "scale",
    "stateful",      "trainable",        "unit_forget_bias", "use_bias"};
// Settings of two numbers for each axis.
constexpr std::string_view kPairs[] = {"cropping", "padding"};

bool IsOneOf(std::string_view name, absl::Span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Settings that are layers.
constexpr std::string_view kNested[] = {"backward_layer", "layer"};

Json ArrayOf(absl::Span<const int64_t> numbers) {
  std::vector<Json> items;
  for (const int64_t number : numbers) items.emplace_back(number);
  return Json::Array(std::move(items));
}

// 0.001 where that is what the nearest float is of.
double NumberOf(float number) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), number);
  return ParseNumber<double>(std::string_view(text, end.ptr)).value_or(number);
}

}  // namespace

Json SettingJson(std::string_view name, const Attribute& attr) {
  if (const auto* number = attr.get<int64_t>()) {
    return IsOneOf(name, kFlags) ? Json::Bool(*number != 0) : Json(*number);
  }
  if (const auto* real = attr.get<double>()) return Json(*real);
  if (const auto* real = attr.get<float>()) return Json(NumberOf(*real));
  if (const auto* text = attr.get<std::string>()) {
    if (!IsOneOf(name, kNested)) return Json(*text);
    return Json::Parse(*text).value_or(Json());
  }
  const auto* ints = attr.get<Attribute::Ints>();
  if (!ints) return {};
  if (!IsOneOf(name, kPairs) || ints->size() % 2 != 0 || ints->size() < 4) return ArrayOf(*ints);
  std::vector<Json> pairs;
  for (size_t i = 0; i < ints->size(); i += 2) {
    pairs.push_back(ArrayOf(absl::MakeSpan(*ints).subspan(i, 2)));
  }
  return Json::Array(std::move(pairs));
}

Json NestedLayer(std::string_view class_name, std::string_view name, std::string_view dtype,
                 const AttributeMap& config) {
  Json settings = Json::Object();
  settings.Set("name", Json(std::string(name)));
  settings.Set("trainable", Json::Bool(true));
  settings.Set("dtype", Json(std::string(dtype)));
  for (const auto& [key, attr] : config) settings.Set(key.view(), SettingJson(key.view(), attr));
  Json layer = Json::Object();
  layer.Set("module", Json("keras.layers"));
  layer.Set("class_name", Json(std::string(class_name)));
  layer.Set("config", std::move(settings));
  layer.Set("registered_name", Json());
  return layer;
}

}  // namespace x2ir::keras
