// Encodes attributes for MLIR bytecode.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "x2ir/formats/mlir/bytecode_encoder_internal.h"
#include "x2ir/formats/mlir/bytecode_file_internal.h"
#include "x2ir/formats/mlir/bytecode_values_internal.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::mlir {
namespace {

constexpr size_t kInlineBytes = 1024;  // elements that are copied
constexpr int kMaxEncodedNesting = 100;

// The name of an enum or struct without its dialect: "conv" of "stablehlo.conv".
std::string_view Mnemonic(std::string_view name) {
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// "[1, 2]", which text keeps without an attribute for each.
bool IsPlainList(const Attr& attr) { return attr.kind == Attr::kInts && attr.s.empty(); }

std::vector<Attr> ItemsOf(const Attr& attr) {
  std::vector<Attr> items(attr.ints.size());
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].kind = Attr::kInt;
    items[i].i = attr.ints[i];
  }
  return items;
}

// Dictionaries are ordered.
AttrList ByName(AttrList fields) {
  std::sort(fields.begin(), fields.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return fields;
}

void NumberBits(uint64_t bits, int width, ByteWriter& out) {
  if (width <= 8) {
    out.Byte(static_cast<uint8_t>(bits & ((1u << width) - 1)));
  } else {
    out.Signed(static_cast<int64_t>(width < 64 ? bits & ((uint64_t{1} << width) - 1) : bits));
  }
}

uint64_t FloatBits(DType dtype, double value) {
  if (dtype == DType::kFloat64) return std::bit_cast<uint64_t>(value);
  if (dtype == DType::kFloat32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return EncodeSmallFloat(dtype, value);
}

Tensor TensorOfNumbers(const Attr& attr) {
  if (attr.kind == Attr::kFloats) {
    Tensor values = Tensor::Zeros(attr.s == "f64" ? DType::kFloat64 : DType::kFloat32,
                                  {static_cast<int64_t>(attr.floats.size())});
    for (size_t i = 0; i < attr.floats.size(); ++i) {
      const double value = attr.floats[i];
      const auto narrow = static_cast<float>(value);
      if (attr.s == "f64") std::memcpy(values.mutable_bytes().data() + 8 * i, &value, 8);
      if (attr.s != "f64") std::memcpy(values.mutable_bytes().data() + 4 * i, &narrow, 4);
    }
    return values;
  }
  const DType named = ElementOf(attr.s);
  const DType dtype = named == DType::kBool || IsInteger(named) ? named : DType::kInt64;
  Tensor values = Tensor::Zeros(dtype, {static_cast<int64_t>(attr.ints.size())});
  const auto width = static_cast<size_t>(BitWidth(dtype) / 8);
  for (size_t i = 0; i < attr.ints.size() && width != 0; ++i) {
    std::memcpy(values.mutable_bytes().data() + width * i, &attr.ints[i], width);
  }
  return values;
}

}  // namespace

void BytecodeEncoder::Fail(std::string what) {
  if (status_.ok()) status_ = CannotExpress(what);
}

uint64_t BytecodeEncoder::Add(std::vector<Entry>& entries, std::string_view dialect,
                              ByteWriter head, std::optional<Tensor> tensor) {
  Entry entry{dialects_.IndexOf(dialect), head.bytes(), std::move(tensor)};
  std::string key = StrCat(&entries == &attrs_ ? "a" : "t", entry.dialect, ":", entry.bytes);
  if (entry.tensor) {
    StrAppend(&key, "@", reinterpret_cast<uintptr_t>(entry.tensor->data_id()), "+",
              entry.tensor->nbytes());
  }
  const auto [at, added] = known_.emplace(std::move(key), entries.size());
  if (added) entries.push_back(std::move(entry));
  return at->second;
}

uint64_t BytecodeEncoder::AttrIndex(const Attr& attr, Flavor flavor) {
  ByteWriter out;
  std::optional<Tensor> tensor;
  if (depth_ > kMaxEncodedNesting) {
    Fail("attributes are nested too deeply for bytecode");
    return 0;
  }
  ++depth_;
  std::string_view dialect = "builtin";
  if (flavor == kVhlo) {
    dialect = "vhlo";
    VhloAttr(attr, out, &tensor);
  } else if (attr.kind == Attr::kEnum || attr.kind == Attr::kStruct) {
    dialect = std::string_view(attr.name).substr(0, attr.name.find('.'));
    const std::optional<Coded> coded = AttrByName(dialect, Mnemonic(attr.name));
    if (coded && coded->dialect != "vhlo") {
      CodedFields(attr, *coded, flavor, out);
    } else {
      Fail(StrCat("attribute '", attr.name, "' has no form in bytecode"));
    }
  } else {
    BuiltinAttr(attr, out, &tensor);
  }
  --depth_;
  return Add(attrs_, dialect, std::move(out), std::move(tensor));
}

uint64_t BytecodeEncoder::StringAttr(std::string_view text) {
  ByteWriter out;
  out.Varint(builtin_attr::kString);
  out.Varint(strings_.IndexOf(text));
  return Add(attrs_, "builtin", std::move(out));
}

uint64_t BytecodeEncoder::UnknownLocation() {
  ByteWriter out;
  out.Varint(builtin_attr::kUnknownLoc);
  return Add(attrs_, "builtin", std::move(out));
}

uint64_t BytecodeEncoder::Dictionary(const AttrList& fields, Flavor flavor) {
  ByteWriter out;
  out.Varint(builtin_attr::kDictionary);
  out.Varint(fields.size());
  for (const auto& [name, value] : ByName(fields)) {
    out.Varint(StringAttr(name));
    out.Varint(AttrIndex(value, flavor));
  }
  return Add(attrs_, "builtin", std::move(out));
}

void BytecodeEncoder::Items(const std::vector<Attr>& items, Flavor flavor, ByteWriter& out) {
  out.Varint(items.size());
  for (const Attr& item : items) out.Varint(AttrIndex(item, flavor));
}

void BytecodeEncoder::Number(const Attr& attr, Flavor flavor, ByteWriter& out) {
  static const TypeRef& i64 = *new TypeRef(ScalarType("i64"));
  static const TypeRef& f64 = *new TypeRef(ScalarType("f64"));
  const TypeRef& type = attr.type != nullptr ? attr.type : attr.kind == Attr::kInt ? i64 : f64;
  const DType dtype = type->type.dtype();
  const bool is_index = type->kind == MlirType::kIndex;
  const bool fits = attr.kind == Attr::kInt ? is_index || IsInteger(dtype) || dtype == DType::kBool
                                            : IsFloating(dtype);
  if (type->quantization != nullptr || !fits) {
    return Fail(StrCat("a number of type ", ElementText(*type), " has no form in bytecode"));
  }
  out.Varint(TypeIndex(*type, flavor));
  const int width = is_index ? 64 : dtype == DType::kBool ? 1 : BitWidth(dtype);
  NumberBits(attr.kind == Attr::kInt ? static_cast<uint64_t>(attr.i) : FloatBits(dtype, attr.f),
             width, out);
}

void BytecodeEncoder::VhloAttr(const Attr& attr, ByteWriter& out, std::optional<Tensor>* tensor) {
  const auto code = [&](std::string_view name) {
    const std::optional<Coded> coded = AttrByName("vhlo", name);
    out.Varint(coded ? static_cast<uint64_t>(coded->code) : 0);
  };
  switch (attr.kind) {
    case Attr::kBool:
      code("bool");
      out.Varint(attr.i != 0);
      return;
    case Attr::kInt:
    case Attr::kFloat:
      code(attr.kind == Attr::kInt ? "integer" : "float");
      return Number(attr, kVhlo, out);
    case Attr::kString:
    case Attr::kSymbol:
      code("string");
      out.Varint(strings_.IndexOf(attr.s));
      return;
    case Attr::kType:
      code("type");
      out.Varint(TypeIndex(*attr.type, kVhlo));
      return;
    case Attr::kTensor:
    case Attr::kInts:
    case Attr::kFloats:
      if (IsPlainList(attr)) {
        code("array");
        return Items(ItemsOf(attr), kVhlo, out);
      }
      code("tensor");
      return Elements(attr, kVhlo, out, tensor);
    case Attr::kArray: code("array"); return Items(attr.items, kVhlo, out);
    case Attr::kDict: {
      code("dict");
      out.Varint(attr.fields.size());
      for (const auto& [name, value] : ByName(attr.fields)) {
        Attr key;
        key.kind = Attr::kString;
        key.s = name.str();
        out.Varint(AttrIndex(key, kVhlo));
        out.Varint(AttrIndex(value, kVhlo));
      }
      return;
    }
    case Attr::kEnum:
    case Attr::kStruct:
      if (const std::optional<Coded> coded = AttrByName("vhlo", Mnemonic(attr.name))) {
        return CodedFields(attr, *coded, kVhlo, out);
      }
      return Fail(StrCat("attribute '", attr.name, "' has no form in VHLO"));
    case Attr::kUnit:
    case Attr::kOther:
      return Fail(
          StrCat("an attribute has no form in VHLO: ", attr.kind == Attr::kUnit ? "unit" : attr.s));
  }
}

void BytecodeEncoder::BuiltinAttr(const Attr& attr, ByteWriter& out,
                                  std::optional<Tensor>* tensor) {
  using namespace builtin_attr;
  switch (attr.kind) {
    case Attr::kUnit: return out.Varint(kUnit);
    case Attr::kBool:
      out.Varint(kInteger);
      out.Varint(TypeIndex(*ScalarType("i1"), kBuiltin));
      return out.Byte(attr.i != 0);
    case Attr::kInt:
    case Attr::kFloat:
      out.Varint(attr.kind == Attr::kInt ? kInteger : kFloat);
      return Number(attr, kBuiltin, out);
    case Attr::kString: out.Varint(kString); return out.Varint(strings_.IndexOf(attr.s));
    case Attr::kSymbol:
      if (attr.s.find("::") != std::string::npos) {
        return Fail(StrCat("a nested symbol has no form in bytecode that is written: ", attr.s));
      }
      out.Varint(kFlatSymbol);
      return out.Varint(StringAttr(attr.s));
    case Attr::kType: out.Varint(kType); return out.Varint(TypeIndex(*attr.type, kBuiltin));
    case Attr::kTensor: out.Varint(kDenseElements); return Elements(attr, kBuiltin, out, tensor);
    case Attr::kInts:
    case Attr::kFloats: {
      if (IsPlainList(attr)) {
        out.Varint(kArray);
        return Items(ItemsOf(attr), kBuiltin, out);
      }
      const Tensor values = TensorOfNumbers(attr);
      out.Varint(kDenseArray);
      out.Varint(TypeIndex(*ScalarType(ElementName(values.dtype())), kBuiltin));
      out.Varint(static_cast<uint64_t>(values.num_elements()));
      out.Varint(values.nbytes());
      return out.Raw({reinterpret_cast<const char*>(values.bytes().data()), values.nbytes()});
    }
    case Attr::kArray: out.Varint(kArray); return Items(attr.items, kBuiltin, out);
    case Attr::kDict:
      out.Varint(kDictionary);
      out.Varint(attr.fields.size());
      for (const auto& [name, value] : ByName(attr.fields)) {
        out.Varint(StringAttr(name));
        out.Varint(AttrIndex(value, kBuiltin));
      }
      return;
    case Attr::kEnum:
    case Attr::kStruct:
    case Attr::kOther: return Fail(StrCat("an attribute has no form in bytecode: ", attr.s));
  }
}

void BytecodeEncoder::CodedFields(const Attr& attr, const Coded& coded, Flavor flavor,
                                  ByteWriter& out) {
  out.Varint(static_cast<uint64_t>(coded.code));
  if (attr.kind == Attr::kEnum) return Field(attr, coded.fields[0], coded, flavor, out);
  for (const CodedField& field : coded.fields) {
    const Attr* value = attr.Find(field.name);
    if (field.kind == FieldKind::kOptionalAttr) {
      out.Varint(value != nullptr);
      if (value != nullptr) out.Varint(AttrIndex(*value, flavor));
    } else if (value == nullptr) {
      Fail(StrCat("attribute '", attr.name, "' has no field '", field.name, "'"));
    } else {
      Field(*value, field, coded, flavor, out);
    }
  }
}

void BytecodeEncoder::Field(const Attr& value, const CodedField& field, const Coded& coded,
                            Flavor flavor, ByteWriter& out) {
  switch (field.kind) {
    case FieldKind::kVarint: return out.Varint(static_cast<uint64_t>(value.i));
    case FieldKind::kInt: return out.Signed(value.i);
    case FieldKind::kEnum:
      for (const EnumCase& c : coded.cases) {
        if (c.name == value.s) return out.Varint(static_cast<uint64_t>(c.number));
      }
      return Fail(StrCat("no ", coded.name, " is called '", value.s, "'"));
    case FieldKind::kInts: {
      const std::vector<int64_t> ints = IntsOf(value).value_or(std::vector<int64_t>());
      out.Varint(ints.size());
      for (const int64_t i : ints) out.Signed(i);
      return;
    }
    case FieldKind::kAttr: return out.Varint(AttrIndex(value, flavor));
    case FieldKind::kType:
      if (value.type == nullptr) return Fail(StrCat("no type in ", coded.name));
      return out.Varint(TypeIndex(*value.type, flavor));
    case FieldKind::kFloat: return NumberBits(std::bit_cast<uint64_t>(value.f), 64, out);
    case FieldKind::kString: return out.Varint(strings_.IndexOf(value.s));
    default: return Fail(StrCat("field '", field.name, "' of ", coded.name, " is not written"));
  }
}

void BytecodeEncoder::Elements(const Attr& attr, Flavor flavor, ByteWriter& out,
                               std::optional<Tensor>* tensor) {
  if (attr.kind != Attr::kTensor) {
    const Tensor values = TensorOfNumbers(attr);
    out.Varint(TypeIndex(*TensorType(values.type()), flavor));
    return Blob(values, /*splat=*/false, out, tensor);
  }
  if (attr.tensor.is_string() || attr.tensor.is_sparse()) {
    return Fail("a tensor of strings, or a sparse one, has no form in bytecode that is written");
  }
  out.Varint(
      TypeIndex(attr.type != nullptr ? *attr.type : *TensorType(attr.tensor.type()), flavor));
  Blob(attr.tensor, attr.splat, out, tensor);
}

void BytecodeEncoder::Blob(const Tensor& values, bool splat, ByteWriter& out,
                           std::optional<Tensor>* tensor) {
  const int bits = BitWidth(values.dtype());
  const bool is_bool = values.dtype() == DType::kBool;
  std::string bytes;
  if (bits < 8) {
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      bytes += static_cast<char>(GetPacked(values.bytes().data(), i, bits));
    }
  } else if (is_bool || values.nbytes() <= kInlineBytes) {
    bytes.assign(reinterpret_cast<const char*>(values.bytes().data()), values.nbytes());
  } else {
    out.Varint(values.nbytes());
    *tensor = values;
    return;
  }
  // Elements that are all the same are written once.
  const auto width = static_cast<size_t>((bits + 7) / 8);
  const bool same =
      bytes.size() >= width && std::string_view(bytes).substr(width) ==
                                   std::string_view(bytes).substr(0, bytes.size() - width);
  if (splat || same) bytes.resize(width);
  if (is_bool && (splat || same)) {
    bytes[0] = static_cast<char>(bytes[0] != 0 ? 0xFF : 0);
  } else if (is_bool) {
    std::string packed((bytes.size() + 7) / 8, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != 0) packed[i / 8] = static_cast<char>(packed[i / 8] | (1 << (i % 8)));
    }
    bytes = std::move(packed);
  }
  out.Varint(bytes.size());
  out.Raw(bytes);
}

}  // namespace x2ir::mlir
