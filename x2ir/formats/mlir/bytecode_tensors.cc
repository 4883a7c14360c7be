// Decodes the elements of tensors in MLIR bytecode. They stay in the file, but for bits and for
// elements of less than a byte, which are packed differently.
#include <utility>

#include "x2ir/formats/mlir/bytecode_values_internal.h"
#include "x2ir/graph_wrapper/small_floats.h"

namespace x2ir::mlir {
namespace {

// Booleans are packed, low bits first; for a time they were bytes. One byte of zeros or ones is all
// of the elements, however many they are.
bool BoolAt(std::string_view bytes, int64_t i, bool packed) {
  const auto byte = static_cast<uint8_t>(bytes[static_cast<size_t>(packed ? i / 8 : i)]);
  return packed ? (byte >> (i % 8)) & 1 : byte != 0;
}

}  // namespace

Attr BytecodeValues::Blob(const TypeRef& type, ByteReader& in) {
  const uint64_t size = in.Varint(), position = in.position();
  const std::string_view bytes = in.Bytes(size);
  return Elements(type, bytes, position, in);
}

Attr BytecodeValues::Elements(const TypeRef& type, std::string_view bytes, uint64_t position,
                              ByteReader& in) {
  Attr attr;
  attr.kind = Attr::kTensor;
  attr.type = type;
  const Shape* shape = type->type.shape();
  std::optional<std::vector<int64_t>> dims;
  if (type->kind == MlirType::kTensor && shape != nullptr) dims = shape->Static();
  const std::optional<int64_t> product = dims ? CheckedProduct(*dims) : std::nullopt;
  if (!in.ok()) return attr;
  if (!product) {
    in.Fail("elements of a tensor whose size is not known");
    return attr;
  }
  const auto count = static_cast<uint64_t>(*product);
  const int size = StoredSize(*type);
  if (size == 0) {
    // A type that no tensor of ours has. What it is said to be is enough for a message.
    attr.kind = Attr::kOther;
    attr.s = StrCat("dense<> of ", ElementText(*type));
    return attr;
  }
  const DType dtype = type->type.dtype();
  const bool is_bool = dtype == DType::kBool;
  const auto width = static_cast<uint64_t>(size);
  // count * size does not overflow where the bytes are as many.
  const bool whole = bytes.size() / width == count && bytes.size() % width == 0;
  const bool uniform_bool = is_bool && bytes.size() == 1 &&
                            (count == 1 || bytes[0] == 0 || static_cast<uint8_t>(bytes[0]) == 0xFF);
  const bool packed_bool =
      is_bool && !uniform_bool && bytes.size() == (count + 7) / 8 && (count != bytes.size());
  attr.splat = count > 1 && (is_bool ? uniform_bool : bytes.size() == width);
  if (attr.splat) dims->clear();
  if (!attr.splat && !whole && !packed_bool && !uniform_bool) {
    in.Fail(StrCat(bytes.size(), " bytes for ", count, " elements of ", ElementText(*type)));
    return attr;
  }
  const int64_t elements = attr.splat ? 1 : *product;
  const int bits = BitWidth(dtype);
  if (is_bool || bits < 8) {
    attr.tensor = Tensor::Zeros(dtype, *dims);
    std::byte* out = attr.tensor.mutable_bytes().data();
    for (int64_t i = 0; i < elements; ++i) {
      if (is_bool) {
        out[i] = std::byte{BoolAt(bytes, i, packed_bool)};
      } else {
        SetPacked(out, i, bits, static_cast<uint8_t>(bytes[static_cast<size_t>(i)]));
      }
    }
    return attr;
  }
  absl::StatusOr<Tensor> tensor =
      TensorOf(dtype, *std::move(dims), file_.blob, file_.begin + position, bytes.size());
  if (!tensor.ok()) {
    in.Fail(tensor.status());
  } else {
    attr.tensor = *std::move(tensor);
  }
  return attr;
}

Attr BytecodeValues::DenseResource(ByteReader& in) {
  const TypeRef type = NextType(in);
  const uint64_t index = in.Varint();
  if (in.ok() && index >= file_.resources.size()) in.Fail("no such resource");
  if (!in.ok()) return {};
  const BytecodeFile::Resource& resource = file_.resources[index];
  ByteReader own(resource.bytes, resource.begin);
  if (!resource.is_blob || own.empty()) {
    in.Fail(StrCat("resource '", resource.key, "' has no elements"));
    return {};
  }
  const uint64_t alignment = own.Varint(), size = own.Varint();
  own.AlignTo(alignment);
  const uint64_t position = own.position();
  const std::string_view bytes = own.Bytes(size);
  Attr attr = Elements(type, bytes, position, own);
  if (!own.ok()) in.Fail(own.status());
  return attr;
}

Attr BytecodeValues::DenseArray(ByteReader& in) {
  Attr attr;
  const TypeRef element = NextType(in);
  const uint64_t count = in.Varint(), size = in.Varint(), position = in.position();
  const std::string_view bytes = in.Bytes(size);
  attr.s = ElementText(*element);
  const int width = StoredSize(*element);
  if (!in.ok()) return attr;
  if (width == 0 || bytes.size() % static_cast<uint64_t>(width) != 0 ||
      bytes.size() / static_cast<uint64_t>(width) != count) {
    in.Fail(StrCat(bytes.size(), " bytes for an array of ", count, " elements of ", attr.s));
    return attr;
  }
  DType dtype = element->type.dtype();
  if (dtype == DType::kUndefined) dtype = DType::kInt64;
  const absl::StatusOr<Tensor> tensor =
      TensorOf(dtype, {static_cast<int64_t>(count)}, file_.blob, file_.begin + position, size);
  if (!tensor.ok()) {
    in.Fail(tensor.status());
    return attr;
  }
  attr.kind = IsFloating(dtype) ? Attr::kFloats : Attr::kInts;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    if (attr.kind == Attr::kFloats) {
      attr.floats.push_back(tensor->AsDouble(i));
    } else {
      attr.ints.push_back(tensor->AsInt(i));
    }
  }
  return attr;
}

Attr BytecodeValues::DenseStrings(ByteReader& in) {
  Attr attr;
  attr.kind = Attr::kTensor;
  attr.type = NextType(in);
  attr.splat = in.Varint() != 0;
  const Shape* shape = attr.type->type.shape();
  std::optional<std::vector<int64_t>> dims;
  if (shape != nullptr) dims = shape->Static();
  const std::optional<int64_t> count = dims ? CheckedProduct(*dims) : std::nullopt;
  if (!count || (!attr.splat && static_cast<uint64_t>(*count) > in.remaining())) {
    in.Fail("a tensor of strings whose size is not known");
    return attr;
  }
  std::vector<std::string> strings(attr.splat ? 1 : static_cast<size_t>(*count));
  for (std::string& each : strings) {
    each = file_.String(in);
    budget_ -= 1 + static_cast<int64_t>(each.size() / 64);
    if (budget_ < 0) in.Fail("strings that repeat are too large");
  }
  if (attr.splat) dims->clear();
  if (in.ok()) attr.tensor = Tensor::Strings(*std::move(dims), std::move(strings));
  return attr;
}

}  // namespace x2ir::mlir
