// Weights of layers, which lie in the model's own file.
#include <algorithm>
#include <cstring>

#include "x2ir/formats/coreml/decode.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::coreml {
namespace {

struct QuantizedSteps {
  int64_t bits = 0;
  std::vector<float> scale, bias, table;
  bool linear = false, lookup = false;
};

absl::Status ReadSteps(std::string_view bytes, const char* origin, QuantizedSteps* steps) {
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == quantization_params_field::kNumberOfBits) {
      steps->bits = in.Int();
    } else if (in.field() == quantization_params_field::kLinearQuantization) {
      steps->linear = true;
      WireReader linear(in.Bytes(), origin);
      while (linear.Next()) {
        if (linear.field() == linear_quantization_params_field::kScale)
          linear.AppendFloats(&steps->scale);
        if (linear.field() == linear_quantization_params_field::kBias)
          linear.AppendFloats(&steps->bias);
      }
      X2IR_RETURN_IF_ERROR(linear.status());
    } else if (in.field() == quantization_params_field::kLookupTableQuantization) {
      steps->lookup = true;
      WireReader table(in.Bytes(), origin);
      while (table.Next()) {
        if (table.field() == look_up_table_quantization_params_field::kFloatValue)
          table.AppendFloats(&steps->table);
      }
      X2IR_RETURN_IF_ERROR(table.status());
    }
  }
  return in.status();
}

// Numbers of `bits` bits, the first in the highest bits of a byte, without gaps.
std::vector<uint32_t> UnpackBits(std::string_view bytes, int64_t bits) {
  std::vector<uint32_t> numbers;
  const size_t count = bytes.size() * 8 / static_cast<size_t>(bits);
  numbers.reserve(count);
  uint32_t held = 0;
  int64_t have = 0;
  for (const char c : bytes) {
    held = (held << 8) | static_cast<unsigned char>(c);
    have += 8;
    while (have >= bits) {
      numbers.push_back((held >> (have - bits)) & ((1u << bits) - 1));
      have -= bits;
    }
  }
  return numbers;
}

// How many weights each of the parts has that so many bytes hold, of which the last may be filled
// up.
absl::StatusOr<size_t> SizeOfParts(size_t bytes, int64_t bits, size_t parts) {
  const size_t most = bytes * 8 / static_cast<size_t>(bits);
  if (parts == 1) return std::max<size_t>(most, 1);
  const size_t least = (bytes - 1) * 8 / static_cast<size_t>(bits) + 1;
  const size_t each = most / parts;
  if (each == 0 || each * parts < least || (each - 1) * parts >= least) {
    return Invalid(most, " weights in ", parts, " parts");
  }
  return each;
}

// What fills up the last byte counts as elements here; who uses the tensor knows how many there
// are.
absl::StatusOr<Tensor> Dequantize(std::string_view bytes, bool is_signed,
                                  const QuantizedSteps& steps, size_t inner) {
  if (steps.bits < 1 || steps.bits > 8) return Invalid("weights of ", steps.bits, " bits");
  if (is_signed && steps.bits != 8) return Invalid("signed weights of ", steps.bits, " bits");
  const std::vector<uint32_t> numbers = UnpackBits(bytes, steps.bits);
  const auto count = static_cast<int64_t>(numbers.size());
  Tensor result = Tensor::Zeros(DType::kFloat32, {count});
  const absl::Span<float> out = result.mutable_span<float>();
  if (steps.lookup) {
    if (steps.table.size() != size_t{1} << steps.bits) {
      return Invalid("a table of ", steps.table.size(), " weights for ", steps.bits, " bits");
    }
    for (size_t i = 0; i < numbers.size(); ++i) out[i] = steps.table[numbers[i]];
    return result;
  }
  if (!steps.linear || steps.scale.empty()) return Invalid("quantized weights without a scale");
  if (!steps.bias.empty() && steps.bias.size() != steps.scale.size() && steps.bias.size() != 1) {
    return Invalid("weights with ", steps.scale.size(), " scales and ", steps.bias.size(),
                   " biases");
  }
  const size_t parts = steps.scale.size();
  X2IR_ASSIGN_OR_RETURN(const size_t whole, SizeOfParts(bytes.size(), steps.bits, parts));
  const bool second = inner > 0 && parts > 1;
  const size_t each = second ? inner : whole;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t part = second ? i / each % parts : std::min(i / each, parts - 1);
    const float bias =
        steps.bias.empty() ? 0.0f : steps.bias[std::min(part, steps.bias.size() - 1)];
    const float number = is_signed ? static_cast<float>(static_cast<int8_t>(numbers[i]))
                                   : static_cast<float>(numbers[i]);
    out[i] = number * steps.scale[part] + bias;
  }
  return result;
}

}  // namespace

absl::StatusOr<Tensor> DecodeWeights(std::string_view bytes, const BlobPtr& file, size_t inner) {
  const char* const origin = file->view().data();
  std::vector<std::string_view> floats;  // fields, packed or not
  std::string_view halves, raw, signed_raw;
  bool quantized = false;
  QuantizedSteps steps;
  std::vector<float> loose;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case weight_params_field::kFloatValue:
        if (in.type() == WireType::kBytes && floats.empty() && loose.empty()) {
          floats.push_back(in.Bytes());
        } else {
          if (!floats.empty() && loose.empty()) {
            loose.resize(floats[0].size() / 4);
            std::memcpy(loose.data(), floats[0].data(), loose.size() * 4);
          }
          in.AppendFloats(&loose);
        }
        break;
      case weight_params_field::kFloat16Value: halves = in.Bytes(); break;
      case weight_params_field::kRawValue: raw = in.Bytes(); break;
      case weight_params_field::kInt8RawValue: signed_raw = in.Bytes(); break;
      case weight_params_field::kQuantization:
        quantized = true;
        X2IR_RETURN_IF_ERROR(ReadSteps(in.Bytes(), origin, &steps));
        break;
      default: break;  // whether it may be trained
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  const auto at = [&](std::string_view field) {
    return static_cast<uint64_t>(field.data() - origin);
  };
  if (!loose.empty()) return Tensor::Of<float>({static_cast<int64_t>(loose.size())}, loose);
  if (!floats.empty()) {
    if (floats[0].size() % 4 != 0) return DataLoss("floats of ", floats[0].size(), " bytes");
    return TensorOf(DType::kFloat32, {static_cast<int64_t>(floats[0].size() / 4)}, file,
                    at(floats[0]), floats[0].size());
  }
  if (!halves.empty()) {
    if (halves.size() % 2 != 0) return DataLoss("halves of ", halves.size(), " bytes");
    return TensorOf(DType::kFloat16, {static_cast<int64_t>(halves.size() / 2)}, file, at(halves),
                    halves.size());
  }
  if (quantized && !raw.empty()) return Dequantize(raw, false, steps, inner);
  if (quantized && !signed_raw.empty()) return Dequantize(signed_raw, true, steps, inner);
  if (!raw.empty() || !signed_raw.empty()) return Unimplemented("weights of unknown type");
  return Tensor::Zeros(DType::kFloat32, {0});
}

}  // namespace x2ir::coreml
