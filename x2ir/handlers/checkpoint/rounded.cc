#include "x2ir/handlers/checkpoint/rounded.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir::checkpoint {
namespace {

// Rows [begin, end) as float32.
Tensor FloatRows(const Tensor& weight, int64_t begin, int64_t end) {
  const size_t row = weight.nbytes() / static_cast<size_t>(weight.dim(0));
  auto part = Tensor::View(weight.dtype(), {end - begin, weight.dim(1)},
                           weight.bytes().subspan(static_cast<size_t>(begin) * row,
                                                  static_cast<size_t>(end - begin) * row),
                           std::make_shared<Tensor>(weight));
  if (part.ok()) part = CastTensor(part->AlignedCopyIfNeeded(), DType::kFloat32);
  return part.ok() ? *std::move(part)
                   : Tensor::Zeros(DType::kFloat32, {end - begin, weight.dim(1)});
}

float ScaleOf(const float* block, int most) {
  float largest = 0;
  for (int64_t i = 0; i < kRoundedBlock; ++i) largest = std::max(largest, std::abs(block[i]));
  return largest / static_cast<float>(most);
}

Tensor RoundedScales(const Tensor& weight, int most) {
  const int64_t blocks = weight.dim(1) / kRoundedBlock;
  return MadeInParts(
      DType::kFloat32, {weight.dim(0), blocks},
      [weight, most, blocks](int64_t begin, int64_t end, std::byte* to) {
        const Tensor rows = FloatRows(weight, begin, end);
        const float* from = rows.span<float>().data();
        for (int64_t k = 0; k < (end - begin) * blocks; ++k, from += kRoundedBlock) {
          const float scale = ScaleOf(from, most);
          std::memcpy(to + k * int64_t{sizeof(float)}, &scale, sizeof(float));
        }
      },
      weight);
}

Tensor RoundedCodes(const Tensor& weight, DType type, int most) {
  return MadeInParts(
      type, weight.dims(),
      [weight, type, most](int64_t begin, int64_t end, std::byte* bytes) {
        const Tensor rows = FloatRows(weight, begin, end);
        const float* from = rows.span<float>().data();
        auto* to = reinterpret_cast<uint8_t*>(bytes);
        const int64_t blocks = rows.num_elements() / kRoundedBlock;
        for (int64_t k = 0; k < blocks; ++k, from += kRoundedBlock) {
          const float scale = ScaleOf(from, most);
          const float factor = scale > 0 ? 1 / scale : 0;
          int8_t codes[kRoundedBlock];
          for (int64_t i = 0; i < kRoundedBlock; ++i) {
            const float code = std::nearbyint(from[i] * factor);
            codes[i] = static_cast<int8_t>(
                std::clamp(code, -static_cast<float>(most), static_cast<float>(most)));
          }
          if (type == DType::kInt8) {
            to = std::copy(codes, codes + kRoundedBlock, to);
            continue;
          }
          for (int64_t i = 0; i < kRoundedBlock; i += 2) {
            *to++ = static_cast<uint8_t>((codes[i] & 15) | (codes[i + 1] & 15) << 4);
          }
        }
      },
      weight);
}

}  // namespace

bool CanRound(const Tensor& weight) {
  const DType t = weight.dtype();
  return (t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16) &&
         !weight.is_sparse() && weight.rank() == 2 && weight.dim(0) > 0 && weight.dim(1) > 0 &&
         weight.dim(1) % kRoundedBlock == 0;
}

Expr RoundedAsIr(Builder& b, const Tensor& weight, int bits, std::string_view name) {
  const int most = bits == 4 ? 7 : 127;
  Graph& graph = b.graph();
  const auto constant = [&](std::string_view what, Tensor tensor) {
    return graph.AddConstant(graph.UniqueName(StrCat(name, what)), std::move(tensor));
  };
  Value* codes = constant("", RoundedCodes(weight, bits == 4 ? DType::kInt4 : DType::kInt8, most));
  Value* scales = constant("_scale", RoundedScales(weight, most));
  return {b, b.Op("dequantize_linear", {codes, scales},
                  {{"axis", int64_t{1}}, {"block_size", kRoundedBlock}})};
}

}  // namespace x2ir::checkpoint
