// Quantization as an annotation: JSON.
#include "x2ir/formats/tflite/quantization.h"

#include <cmath>
#include <string>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tflite {
bool IsQuantized(const Value& value) {
  const Annotations* annotations = value.annotations().get();
  return annotations && annotations->extra.count(kQuantizationKey) != 0;
}

absl::StatusOr<std::optional<Quantization>> QuantizationOf(const Value& value) {
  if (!IsQuantized(value)) return std::nullopt;
  Quantization q;
  JsonReader json(value.annotations().get()->extra.at(kQuantizationKey));
  json.Object([&](std::string_view key) {
    if (key == "scale") {
      json.Array([&](size_t) {
        q.scales.push_back(std::strtof(std::string(json.Number().text).c_str(), nullptr));
      });
    } else if (key == "zero_point") {
      json.Array([&](size_t) { q.zero_points.push_back(json.Int()); });
    } else if (key == "axis") {
      q.axis = json.Int();
    } else if (key == "block_size") {
      q.block_size = json.Int();
    } else {
      json.Fail("unknown key");
    }
  });
  json.Finish();
  X2IR_RETURN_IF_ERROR(Annotate(json.status(), kQuantizationKey));
  if (q.scales.empty() || q.scales.size() != q.zero_points.size() || q.block_size < 0) {
    return Invalid(kQuantizationKey, ": expected as many zero points as scales");
  }
  return q;
}

void SetQuantization(Value& value, const Quantization& q) {
  std::string text = "{\"scale\":[";
  for (size_t i = 0; i < q.scales.size(); ++i) {
    if (i) text += ',';
    AppendJsonFloat(&text, q.scales[i]);
  }
  text += "],\"zero_point\":[";
  for (size_t i = 0; i < q.zero_points.size(); ++i) {
    if (i) text += ',';
    StrAppend(&text, q.zero_points[i]);
  }
  StrAppend(&text, "],\"axis\":", q.axis);
  if (q.block_size != 0) StrAppend(&text, ",\"block_size\":", q.block_size);
  value.annotations().GetOrMake().extra[kQuantizationKey] = text + "}";
}

void ClearQuantization(Value& value) {
  if (IsQuantized(value)) value.annotations().GetOrMake().extra.erase(kQuantizationKey);
}

Quantization ProductOf(const Quantization& x, const Quantization& weights) {
  Quantization product;
  for (const float scale : weights.scales) product.scales.push_back(x.scales[0] * scale);
  product.zero_points.resize(product.scales.size());
  return product;
}

bool IsNear(const Quantization& a, const Quantization& b) {
  if (a.scales.size() != b.scales.size() || a.zero_points != b.zero_points) return false;
  for (size_t i = 0; i < a.scales.size(); ++i) {
    if (std::fabs(a.scales[i] - b.scales[i]) > 1e-5f * std::fabs(b.scales[i])) return false;
  }
  return true;
}

}  // namespace x2ir::tflite
