#include "x2ir/formats/mlir/module.h"

#include <algorithm>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

constexpr std::pair<std::string_view, DType> kElements[] = {
    {"f32", DType::kFloat32},
    {"i1", DType::kBool},
    {"i32", DType::kInt32},
    {"i64", DType::kInt64},
    {"bf16", DType::kBFloat16},
    {"f16", DType::kFloat16},
    {"f64", DType::kFloat64},
    {"i8", DType::kInt8},
    {"i16", DType::kInt16},
    {"ui8", DType::kUInt8},
    {"ui16", DType::kUInt16},
    {"ui32", DType::kUInt32},
    {"ui64", DType::kUInt64},
    {"complex<f32>", DType::kComplex64},
    {"complex<f64>", DType::kComplex128},
    {"i2", DType::kInt2},
    {"ui2", DType::kUInt2},
    {"i4", DType::kInt4},
    {"ui4", DType::kUInt4},
    {"f4E2M1FN", DType::kFloat4E2M1},
    {"f8E4M3FN", DType::kFloat8E4M3FN},
    {"f8E4M3FNUZ", DType::kFloat8E4M3FNUZ},
    {"f8E5M2", DType::kFloat8E5M2},
    {"f8E5M2FNUZ", DType::kFloat8E5M2FNUZ},
    {"f8E8M0FNU", DType::kFloat8E8M0},
    // Other spellings, which are only read.
    {"si8", DType::kInt8},
    {"si16", DType::kInt16},
    {"si32", DType::kInt32},
    {"si64", DType::kInt64},
};

const Attr* FindIn(const AttrList& list, Symbol name) {
  for (const auto& [key, value] : list) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

const Attr* Attr::Find(Symbol field) const { return FindIn(fields, field); }
const Attr* Op::Find(Symbol attr) const { return FindIn(attrs, attr); }

TypeRef TensorType(Type type) {
  auto made = std::make_shared<MlirType>();
  made->kind = MlirType::kTensor;
  made->type = std::move(type);
  return made;
}

TypeRef FunctionType(std::vector<TypeRef> arguments, std::vector<TypeRef> results) {
  auto made = std::make_shared<MlirType>();
  made->kind = MlirType::kFunction;
  made->num_arguments = arguments.size();
  made->items = std::move(arguments);
  for (TypeRef& result : results) made->items.push_back(std::move(result));
  return made;
}

TypeRef PlainType(MlirType::Kind kind) {
  auto made = std::make_shared<MlirType>();
  made->kind = kind;
  return made;
}

std::string_view ElementName(DType dtype) {
  for (const auto& [name, known] : kElements) {
    if (known == dtype) return name;
  }
  return {};
}

DType ElementOf(std::string_view name) {
  for (const auto& [known, dtype] : kElements) {
    if (known == name) return dtype;
  }
  return DType::kUndefined;
}

std::optional<std::vector<int64_t>> IntsOf(const Attr& attr) {
  switch (attr.kind) {
    case Attr::kInts: return attr.ints;
    case Attr::kInt:
    case Attr::kBool: return std::vector<int64_t>{attr.i};
    case Attr::kArray: {
      std::vector<int64_t> ints;
      for (const Attr& item : attr.items) {
        if (item.kind != Attr::kInt && item.kind != Attr::kBool) return std::nullopt;
        ints.push_back(item.i);
      }
      return ints;
    }
    case Attr::kTensor: {
      auto ints = attr.tensor.ToInts();
      if (!ints.ok()) return std::nullopt;
      if (!attr.splat || attr.type == nullptr) return *std::move(ints);
      // A list of sizes or axes: never long.
      const Shape* shape = attr.type->type.shape();
      const auto dims = shape ? shape->Static() : std::nullopt;
      int64_t count = 1;
      for (const int64_t dim : dims.value_or(std::vector<int64_t>{-1})) {
        if (dim < 0 || dim > 4096 || (count *= dim) > 4096) return std::nullopt;
      }
      return std::vector<int64_t>(static_cast<size_t>(count), ints->at(0));
    }
    default: return std::nullopt;
  }
}

absl::StatusOr<Tensor> ExpandSplat(const Tensor& element, const std::vector<int64_t>& dims) {
  const auto count = CheckedProduct(dims);
  const auto size = count ? ByteSize(element.dtype(), *count) : std::nullopt;
  if (!size) return Invalid("a tensor is too large");
  if (*count == 1) return element.Reshaped(dims);
  Tensor all = Tensor::Zeros(element.dtype(), dims);
  const auto from = element.bytes();
  const auto to = all.mutable_bytes();
  const int bits = BitWidth(element.dtype());
  if (bits < 8) {  // several in a byte
    unsigned byte = 0;
    const unsigned one = static_cast<unsigned>(from[0]) & ((1u << bits) - 1);
    for (int at = 0; at < 8; at += bits) byte |= one << at;
    std::fill(to.begin(), to.end(), static_cast<std::byte>(byte));
    // The bits after the last element are 0.
    const auto used = static_cast<int>(*count * bits % 8);
    if (used != 0) to.back() &= static_cast<std::byte>((1u << used) - 1);
    return all;
  }
  for (size_t at = 0; at < to.size(); at += from.size()) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<ptrdiff_t>(at));
  }
  return all;
}

}  // namespace x2ir::mlir
