#include "x2ir/handlers/checkpoint/quantized_forms.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/checkpoint/settings.h"

namespace x2ir::checkpoint {
namespace {

// Named as the weight, whatever the builder's names are.
Expr ConstantOf(Builder& b, std::string_view name, std::string_view part, Tensor tensor) {
  Graph& graph = b.graph();
  return {b, graph.AddConstant(graph.UniqueName(StrCat(name, part)), std::move(tensor))};
}

// Numbers as elements of 4 or 8 bits, two's complement where they are signed.
void PutNumbers(const uint8_t* numbers, int64_t count, int less, int bits, std::byte* to) {
  const auto code = [&](int64_t i) { return static_cast<uint8_t>(numbers[i] - less); };
  if (bits == 8) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>(code(i));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i / 2] |= static_cast<std::byte>((code(i) & 15) << (i % 2 * 4));
  }
}

// Blocks as kernels for products with weights of few bits have them, where they can be such: groups
// of another size are split, and each part has the scale of all.
int64_t BlockOf(const IntegerMatrix& m, int bits) {
  const bool known = m.group >= 16 && m.group <= 256 && (m.group & (m.group - 1)) == 0;
  const int64_t part = std::gcd(m.group, int64_t{128});
  return bits > 4 || m.groups() == 1 || known || part < 16 ? m.group : part;
}

}  // namespace

Expr IntegersAsIr(Builder& b, const IntegerMatrix& m, std::string_view name) {
  const int64_t groups = m.groups(), middle = int64_t{1} << (m.bits - 1);
  std::vector<int64_t> zeros;
  int64_t greatest = middle;
  if (m.zero) {
    bool differ = false;
    for (int64_t i = 0; i < m.rows; ++i) {
      for (int64_t g = 0; g < groups; ++g) {
        zeros.push_back(m.zero(i, g));
        differ |= zeros.back() != middle;
        greatest = std::max(greatest, zeros.back());
      }
    }
    if (!differ) zeros.clear();
  }
  if (greatest > 255) Refuse("weight '", name, "' has zero points of ", greatest);
  const int bits = m.bits <= 4 && m.width % 2 == 0 && greatest <= 15 ? 4 : 8;
  const bool is_signed = zeros.empty() || m.as_int8;
  const DType type = is_signed ? (bits == 4 ? DType::kInt4 : DType::kInt8)
                               : (bits == 4 ? DType::kUInt4 : DType::kUInt8);
  const int less = is_signed ? static_cast<int>(middle) : 0;
  const Tensor codes =
      m.as_int8 ? *m.as_int8
                : SpilledInParts(type, {m.rows, m.width}, [&](int64_t begin, int64_t end) {
                    std::vector<uint8_t> bytes(static_cast<size_t>((end - begin) * m.width));
                    m.codes(begin, end, bytes.data());
                    Tensor part = Tensor::Zeros(type, {end - begin, m.width});
                    PutNumbers(bytes.data(), part.num_elements(), less, bits,
                               part.mutable_bytes().data());
                    return part;
                  });
  const int64_t block = BlockOf(m, bits), blocks = m.width / block, split = m.group / block;
  Tensor scales =
      SpilledInParts(DType::kFloat32, {m.rows, blocks}, [&](int64_t begin, int64_t end) {
        Tensor part = Tensor::Zeros(DType::kFloat32, {end - begin, blocks});
        float* to = part.mutable_span<float>().data();
        for (int64_t i = begin; i < end; ++i) {
          for (int64_t k = 0; k < blocks; ++k) *to++ = m.scale(i, k / split);
        }
        return part;
      });
  for (const Tensor& tensor : m.read) DropPages(tensor);
  // One scale for each row needs no blocks.
  const std::vector<int64_t> dims =
      blocks == 1 ? std::vector<int64_t>{m.rows} : std::vector<int64_t>{m.rows, blocks};
  std::vector<Value*> operands = {ConstantOf(b, name, ".scales", scales.Reshaped(dims))};
  if (!zeros.empty()) {
    std::vector<uint8_t> numbers;
    for (int64_t i = 0; i < m.rows; ++i) {
      for (int64_t k = 0; k < blocks; ++k) {
        numbers.push_back(static_cast<uint8_t>(zeros[i * groups + k / split]));
      }
    }
    Tensor points = Tensor::Zeros(type, dims);
    PutNumbers(numbers.data(), points.num_elements(), less, bits, points.mutable_bytes().data());
    operands.push_back(ConstantOf(b, name, ".zero_points", std::move(points)));
  }
  AttributeMap attrs = {{"axis", int64_t{blocks == 1 ? 0 : 1}}};
  if (blocks != 1) attrs.Set("block_size", block);
  return ConstantOf(b, name, ".codes", codes).Op("dequantize_linear", operands, std::move(attrs));
}

Expr ScaledAsIr(Builder& b, const ScaledMatrix& m, std::string_view name) {
  const int64_t rows = m.numbers.dim(0), width = m.numbers.dim(1);
  const int64_t across = m.scales.dim(1);
  const auto scale = [&](int64_t row, int64_t column) {
    return static_cast<float>(
        m.scales.AsDouble(row / m.block_rows * across + column / m.block_columns));
  };
  const Expr numbers = ConstantOf(b, name, ".numbers", m.numbers);
  if (m.scales.num_elements() == 1) {
    const Expr one = ConstantOf(b, name, ".scale", Tensor::Scalar(scale(0, 0)));
    return numbers.Op("dequantize_linear", {one});
  }
  // Blocks that end within a row's last one are of another size, which divides the width.
  const int64_t block = across == 1 ? width : std::gcd(m.block_columns, width);
  const int64_t blocks = width / block;
  Tensor scales = SpilledInParts(DType::kFloat32, {rows, blocks}, [&](int64_t begin, int64_t end) {
    Tensor part = Tensor::Zeros(DType::kFloat32, {end - begin, blocks});
    float* to = part.mutable_span<float>().data();
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t k = 0; k < blocks; ++k) *to++ = scale(i, k * block);
    }
    return part;
  });
  if (blocks == 1) {
    return numbers.Op("dequantize_linear",
                      {ConstantOf(b, name, ".scales", scales.Reshaped({rows}))},
                      {{"axis", int64_t{0}}});
  }
  return numbers.Op("dequantize_linear", {ConstantOf(b, name, ".scales", std::move(scales))},
                    {{"axis", int64_t{1}}, {"block_size", block}});
}

Expr TableAsIr(Builder& b, const TableMatrix& m, std::string_view name) {
  // Both numbers of a byte at once.
  Tensor pairs = Tensor::Zeros(DType::kFloat32, {256, 2});
  float* to = pairs.mutable_span<float>().data();
  for (int byte = 0; byte < 256; ++byte) {
    *to++ = m.table[byte >> 4];
    *to++ = m.table[byte & 15];
  }
  const int64_t count = m.bytes.num_elements() * 2;
  const int64_t block = std::gcd(m.block, count);  // the last one may be shorter
  Tensor scales = Tensor::Zeros(DType::kFloat32, {count / block, 1});
  float* scale = scales.mutable_span<float>().data();
  for (int64_t i = 0; i < count / block; ++i) scale[i] = m.scales[i * block / m.block];
  const Expr numbers = Gather(ConstantOf(b, name, ".table", std::move(pairs)),
                              ConstantOf(b, name, ".codes", m.bytes).To(DType::kInt32), 0);
  const Expr scaled =
      Reshape(numbers, {-1, block}) * ConstantOf(b, name, ".scales", Spilled(std::move(scales)));
  return Reshape(scaled, m.dims);
}

}  // namespace x2ir::checkpoint
