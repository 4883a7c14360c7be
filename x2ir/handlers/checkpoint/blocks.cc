#include "x2ir/handlers/checkpoint/blocks.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/checkpoint/block_types.h"

namespace x2ir::checkpoint {
namespace {

// The rows of a weight, each of whole blocks.
struct Rows {
  const BlockType* type;
  const uint8_t* bytes;
  int64_t count, width;        // rows, numbers of a row
  int64_t block, block_bytes;  // numbers and bytes of a block

  int64_t blocks() const { return width / block; }  // of a row
  int64_t groups() const { return width / type->group; }

  // Calls f(block, its number from row `begin` on) for the blocks of rows [begin, end).
  template <typename F>
  void ForEach(int64_t begin, int64_t end, const F& f) const {
    const uint8_t* at = bytes + begin * blocks() * block_bytes;
    const int64_t number = (end - begin) * blocks();
    for (int64_t i = 0; i < number; ++i, at += block_bytes) f(at, i);
  }
};

absl::StatusOr<Rows> RowsOf(const BlockWeight& weight) {
  const ggml::Type* layout = ggml::FindType(static_cast<uint64_t>(weight.ggml_type));
  const BlockType* type = FindBlockType(weight.ggml_type);
  if (!type || !layout) {
    return Unimplemented("blocks of type ", layout ? layout->name : StrCat(weight.ggml_type),
                         " are not read");
  }
  const std::optional<int64_t> elements = CheckedProduct(weight.dims);
  const int64_t width = weight.dims.empty() ? 0 : weight.dims.back();
  if (!elements || width <= 0 || width % layout->block != 0 ||
      weight.bytes.nbytes() / layout->bytes != static_cast<size_t>(*elements / layout->block) ||
      weight.bytes.nbytes() % layout->bytes != 0) {
    return DataLoss(weight.bytes.nbytes(), " bytes of ", layout->name, " are not [",
                    Shape::FromInts(weight.dims).ToString(), "]");
  }
  return Rows{type,
              reinterpret_cast<const uint8_t*>(weight.bytes.bytes().data()),
              *elements / width,
              width,
              layout->block,
              layout->bytes};
}

// Codes of a block as the bytes of their type; `count` is a multiple of 16.
void Pack(DType type, const int8_t* codes, int64_t count, std::byte* to) {
  if (type == DType::kInt8) {
    std::memcpy(to, codes, static_cast<size_t>(count));
    return;
  }
  // Two codes become one byte, sixteen at once.
  using Pairs [[gnu::vector_size(16)]] = uint16_t;
  using Packed [[gnu::vector_size(8)]] = uint8_t;
  for (int64_t i = 0; i < count; i += 16, to += 8) {
    Pairs pairs;
    std::memcpy(&pairs, codes + i, 16);
    pairs &= 0x0f0f;
    pairs = (pairs | pairs >> 4) & 0x00ff;
    const Packed packed = __builtin_convertvector(pairs, Packed);
    std::memcpy(to, &packed, 8);
  }
}

Tensor Codes(const Rows& rows, DType type, const Tensor& source) {
  const int64_t bytes = rows.block * BitWidth(type) / 8;
  return MadeInParts(
      type, {rows.count, rows.width},
      [rows, type, bytes](int64_t begin, int64_t end, std::byte* to) {
        rows.ForEach(begin, end, [&](const uint8_t* block, int64_t i) {
          int8_t codes[kMaxBlock];
          rows.type->unpack(block, codes);
          Pack(type, codes, rows.block, to + i * bytes);
        });
      },
      source);
}

// Scales, or minima.
Tensor Scales(const Rows& rows, bool minima, const Tensor& source) {
  const int64_t groups = rows.block / rows.type->group;
  return MadeInParts(
      DType::kFloat32, {rows.count, rows.groups()},
      [rows, minima, groups](int64_t begin, int64_t end, std::byte* to) {
        rows.ForEach(begin, end, [&](const uint8_t* block, int64_t i) {
          float scales[kMaxBlock / kMinGroup], less[kMaxBlock / kMinGroup];
          rows.type->scale(block, scales, less);
          const float* wanted = minima ? less : scales;
          for (int64_t g = 0; g < groups; ++g) {
            std::memcpy(to + (i * groups + g) * int64_t{sizeof(float)}, wanted + g, sizeof(float));
          }
        });
      },
      source);
}

void Dequantize(const Rows& rows, const uint8_t* block, float* to) {
  int8_t codes[kMaxBlock];
  float scales[kMaxBlock / kMinGroup], minima[kMaxBlock / kMinGroup] = {};
  rows.type->unpack(block, codes);
  rows.type->scale(block, scales, minima);
  const int64_t group = rows.type->group;
  for (int64_t g = 0; g < rows.block / group; ++g) {
    const float scale = scales[g], minimum = minima[g];
    for (int64_t i = g * group; i < (g + 1) * group; ++i) {
      to[i] = static_cast<float>(codes[i]) * scale;
    }
    if (!rows.type->has_minima) continue;
    for (int64_t i = g * group; i < (g + 1) * group; ++i) to[i] -= minimum;
  }
}

// As float32, float16 or bfloat16.
void Round(const float* numbers, int64_t count, DType type, std::byte* to) {
  if (type == DType::kFloat32) {
    std::memcpy(to, numbers, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t bits =
        type == DType::kFloat16 ? FloatToHalf(numbers[i]).bits : FloatToBFloat16(numbers[i]).bits;
    std::memcpy(to + 2 * i, &bits, 2);
  }
}

std::vector<int64_t> WithLast(std::vector<int64_t> dims, std::vector<int64_t> last) {
  dims.pop_back();
  dims.insert(dims.end(), last.begin(), last.end());
  return dims;
}

}  // namespace

namespace {

// The parts of a weight as constants.
class Parts {
 public:
  Parts(Builder& b, const BlockWeight& weight, std::string_view name)
      : b_(b), weight_(weight), name_(name), rows_(RowsOf(weight)) {
    if (!rows_.ok()) b.Fail(Annotate(rows_.status(), StrCat("weight '", name, "'")));
  }

  bool ok() const { return rows_.ok(); }
  const BlockType& type() const { return *rows_->type; }
  int64_t groups() const { return rows_->groups(); }

  Expr Codes(DType dtype) const {
    return Constant(checkpoint::Codes(*rows_, dtype, weight_.bytes), weight_.dims, ".codes");
  }
  Expr Scales(const std::vector<int64_t>& last) const {
    return Constant(checkpoint::Scales(*rows_, false, weight_.bytes), WithLast(weight_.dims, last),
                    ".scales");
  }
  Expr Minima(const std::vector<int64_t>& last) const {
    return Constant(checkpoint::Scales(*rows_, true, weight_.bytes), WithLast(weight_.dims, last),
                    ".minima");
  }
  Expr Dequantized(const Expr& codes, const Expr& scales) const {
    const auto axis = static_cast<int64_t>(weight_.dims.size()) - 1;
    return codes.Op("dequantize_linear", {scales},
                    {{"axis", axis}, {"block_size", rows_->type->group}});
  }

 private:
  // Named as the weight, whatever the builder's names are.
  Expr Constant(const Tensor& tensor, const std::vector<int64_t>& dims,
                std::string_view part) const {
    Graph& graph = b_.graph();
    return {b_, graph.AddConstant(graph.UniqueName(StrCat(name_, part)), tensor.Reshaped(dims))};
  }

  Builder& b_;
  const BlockWeight& weight_;
  std::string_view name_;
  absl::StatusOr<Rows> rows_;
};

Expr Nothing(Builder& b) { return {b, b.Constant(Tensor::Zeros(DType::kFloat32, {}))}; }

}  // namespace

Expr BlockWeightAsIr(Builder& b, const BlockWeight& weight, std::string_view name) {
  const Parts parts(b, weight, name);
  if (!parts.ok()) return Nothing(b);
  const int64_t groups = parts.groups();
  const Expr y = parts.Dequantized(parts.Codes(parts.type().codes), parts.Scales({groups}));
  if (!parts.type().has_minima) return y;
  return Reshape(
      Reshape(y, WithLast(weight.dims, {groups, parts.type().group})) - parts.Minima({groups, 1}),
      weight.dims);
}

Expr BlockRowsAsIr(Builder& b, const BlockWeight& weight, const Expr& ids, std::string_view name) {
  const Parts parts(b, weight, name);
  if (parts.ok() && weight.dims.size() != 2) {
    b.Fail(Invalid("weight '", name, "' is no matrix, of which rows could be picked"));
  }
  if (!parts.ok() || weight.dims.size() != 2) return Nothing(b);
  const Expr flat = ids.rank() == 1 ? ids : Flat(ids);
  const int64_t groups = parts.groups(), width = weight.dims[1];
  Expr y = parts.Dequantized(Gather(parts.Codes(DType::kInt8), flat, 0),
                             Gather(parts.Scales({groups}), flat, 0));
  if (parts.type().has_minima) {
    y = Reshape(y, {-1, groups, parts.type().group}) - Gather(parts.Minima({groups, 1}), flat, 0);
    y = Reshape(y, {-1, width});
  }
  if (ids.rank() == 1) return y;
  std::vector<Size> sizes = AllSizes(ids);
  sizes.emplace_back(width);
  return ReshapeTo(y, sizes);
}

absl::StatusOr<Tensor> DequantizedBlock(const BlockWeight& weight, DType type) {
  X2IR_ASSIGN_OR_RETURN(const Rows rows, RowsOf(weight));
  if (type != DType::kFloat32 && type != DType::kFloat16 && type != DType::kBFloat16) {
    return Invalid("blocks become float32, float16 or bfloat16, not ", Name(type));
  }
  const Tensor all = MadeInParts(
      type, {rows.count, rows.width},
      [rows, type](int64_t begin, int64_t end, std::byte* to) {
        rows.ForEach(begin, end, [&](const uint8_t* block, int64_t i) {
          float numbers[kMaxBlock];
          Dequantize(rows, block, numbers);
          Round(numbers, rows.block, type, to + i * rows.block * BitWidth(type) / 8);
        });
      },
      weight.bytes);
  return all.Reshaped(weight.dims);
}

}  // namespace x2ir::checkpoint
