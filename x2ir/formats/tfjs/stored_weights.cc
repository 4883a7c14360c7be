// How weights are stored: as they are, as narrower integers, or quantized.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "x2ir/formats/tfjs/writer_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tfjs {
namespace {

constexpr size_t kPiece = size_t{1} << 20;  // elements that are converted at a time

// `convert` for each element of type From, in pieces.
template <typename From, typename Convert>
absl::Status Converted(const Tensor& tensor, const PutBytes& put, const Convert& convert) {
  using To = decltype(convert(From()));
  const auto count = static_cast<size_t>(tensor.num_elements());
  std::vector<std::byte> from(std::min(count, kPiece) * sizeof(From));
  std::string to(std::min(count, kPiece) * sizeof(To), '\0');
  for (size_t at = 0; at < count; at += kPiece) {
    const size_t n = std::min(kPiece, count - at);
    tensor.Read(at * sizeof(From), absl::MakeSpan(from.data(), n * sizeof(From)));
    for (size_t i = 0; i < n; ++i) {
      const To value = convert(LoadNumber<From>(from.data() + i * sizeof(From)));
      std::memcpy(to.data() + i * sizeof(To), &value, sizeof(To));
    }
    X2IR_RETURN_IF_ERROR(put(std::string_view(to).substr(0, n * sizeof(To))));
  }
  return absl::OkStatus();
}

// The least and the largest number; nullopt where there is none, or one that is not finite.
std::optional<std::pair<float, float>> RangeOf(const Tensor& tensor) {
  float least = std::numeric_limits<float>::infinity(), largest = -least;
  bool finite = tensor.num_elements() != 0;
  const absl::Span<const std::byte> bytes = tensor.bytes();
  for (size_t i = 0; i < bytes.size() && finite; i += sizeof(float)) {
    const float x = LoadNumber<float>(bytes.data() + i);
    finite = std::isfinite(x);
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
  if (!finite) return std::nullopt;
  return std::pair(least, largest);
}

// The steps of tensorflowjs_converter: 0 is one of the numbers where it is in the range.
void Quantize(const Tensor& tensor, int64_t steps, StoredForm* form) {
  const auto range = RangeOf(tensor);
  if (!range) return;
  const double least = range->first, largest = range->second;
  form->kind = steps == 255 ? StoredForm::kUInt8 : StoredForm::kUInt16;
  form->min = least;
  form->scale = 1;
  if (least == largest) return;
  form->scale = (largest - least) / static_cast<double>(steps);
  if (least <= 0 && 0 <= largest)
    form->min = 0 - std::nearbyint(-least / form->scale) * form->scale;
}

template <typename Q>
absl::Status PutQuantized(const Tensor& tensor, const StoredForm& form, const PutBytes& put) {
  constexpr double kSteps = std::numeric_limits<Q>::max();
  return Converted<float>(tensor, put, [&](float x) {
    const double q = std::nearbyint((x - form.min) / form.scale);
    return static_cast<Q>(std::clamp(q, 0.0, kSteps));
  });
}

uint32_t TextSize(const std::string& text) { return static_cast<uint32_t>(text.size()); }

}  // namespace

absl::StatusOr<StoredForm> FormOf(const Tensor& tensor, std::string_view quantize) {
  StoredForm form;
  const auto count = static_cast<uint64_t>(tensor.num_elements());
  switch (tensor.dtype()) {
    case DType::kFloat32:
      if (quantize == "float16") form.kind = StoredForm::kFloat16;
      if (quantize == "uint8") Quantize(tensor, 255, &form);
      if (quantize == "uint16") Quantize(tensor, 65535, &form);
      break;
    case DType::kFloat16: form.kind = StoredForm::kFloat16; break;
    case DType::kInt32: form.dtype = "int32"; break;
    case DType::kInt64: form.dtype = "int32"; break;
    case DType::kUInt8:
    case DType::kInt8:
      form.dtype = "int32";
      form.kind = StoredForm::kUInt8;
      form.min = tensor.dtype() == DType::kInt8 ? -128 : 0;
      break;
    case DType::kBool: form.dtype = "bool"; break;
    case DType::kString: form.dtype = "string"; break;
    default: return CannotExpress("TensorFlow.js has no ", Name(tensor.dtype()));
  }
  if (tensor.is_string()) {
    for (const std::string& text : tensor.strings()) {
      if (text.size() > std::numeric_limits<uint32_t>::max()) {
        return CannotExpress("a string of ", text.size(), " bytes");
      }
      form.nbytes += 4 + text.size();
    }
    return form;
  }
  switch (form.kind) {
    case StoredForm::kUInt8: form.nbytes = count; break;
    case StoredForm::kUInt16:
    case StoredForm::kFloat16: form.nbytes = count * 2; break;
    case StoredForm::kPlain: form.nbytes = form.dtype == "bool" ? count : count * 4; break;
  }
  return form;
}

Json StoredForm::Quantization() const {
  static constexpr const char* kNames[] = {"", "uint8", "uint16", "float16"};
  Json json = Json::Object();
  json.Set("dtype", Json(std::string(kNames[kind])));
  if (kind != kFloat16) {
    json.Set("min", Json(min));
    json.Set("scale", Json(scale));
  }
  return json;
}

absl::Status PutStored(const Tensor& tensor, const StoredForm& form, const PutTensor& put_tensor,
                       const PutBytes& put) {
  if (tensor.is_string()) {
    for (const std::string& text : tensor.strings()) {
      const uint32_t size = TextSize(text);
      X2IR_RETURN_IF_ERROR(put({reinterpret_cast<const char*>(&size), sizeof(size)}));
      X2IR_RETURN_IF_ERROR(put(text));
    }
    return absl::OkStatus();
  }
  switch (tensor.dtype()) {
    case DType::kInt64:  // in the range of int32: handlers/tfjs/finish.h
      return Converted<int64_t>(tensor, put, [](int64_t x) { return static_cast<int32_t>(x); });
    case DType::kInt8:
      return Converted<int8_t>(tensor, put, [](int8_t x) { return static_cast<uint8_t>(x + 128); });
    case DType::kFloat32:
      if (form.kind == StoredForm::kUInt8) return PutQuantized<uint8_t>(tensor, form, put);
      if (form.kind == StoredForm::kUInt16) return PutQuantized<uint16_t>(tensor, form, put);
      if (form.kind == StoredForm::kFloat16) {
        return Converted<float>(tensor, put, [](float x) { return FloatToHalf(x).bits; });
      }
      break;
    default: break;
  }
  return put_tensor(tensor);
}

}  // namespace x2ir::tfjs
