// Decodes attributes of MLIR bytecode.
#include <bit>
#include <cmath>
#include <utility>

#include "x2ir/formats/mlir/bytecode_values_internal.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/graph_wrapper/small_floats.h"

namespace x2ir::mlir {
namespace {

constexpr int kMaxNesting = 100;  // of attributes and types in each other

Attr Make(Attr::Kind kind, std::string text = "") {
  Attr attr;
  attr.kind = kind;
  attr.s = std::move(text);
  return attr;
}

int64_t CostOf(const Attr& attr) {
  int64_t cost = 1 + static_cast<int64_t>(
                         (attr.s.size() + 8 * attr.ints.size() + 8 * attr.floats.size()) / 64);
  for (const Attr& item : attr.items) cost += CostOf(item);
  for (const auto& [name, field] : attr.fields) cost += CostOf(field);
  return cost;
}

double FloatOf(DType dtype, uint64_t bits) {
  if (dtype == DType::kFloat64) return std::bit_cast<double>(bits);
  if (dtype == DType::kFloat32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return DecodeSmallFloat(dtype, static_cast<uint32_t>(bits));
}

// The bits of a number of known width: one byte, or a varint.
uint64_t BitsOf(ByteReader& in, int width) {
  const uint64_t bits = width <= 8 ? in.Byte() : static_cast<uint64_t>(in.Signed());
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

}  // namespace

BytecodeValues::BytecodeValues(const BytecodeFile& file)
    : file_(file),
      attrs_(file.attrs.size()),
      types_(file.types.size()),
      budget_((int64_t{1} << 18) + 4 * static_cast<int64_t>(file.size)) {}

template <typename T, typename Decode>
T* BytecodeValues::Resolve(std::vector<Slot<T>>& slots,
                           const std::vector<BytecodeFile::Entry>& entries, uint64_t index,
                           ByteReader& in, const Decode& decode) {
  if (!in.ok()) return nullptr;
  if (index >= slots.size()) {
    in.Fail("no such attribute or type");
    return nullptr;
  }
  Slot<T>& slot = slots[index];
  if (slot.value != nullptr) return slot.value.get();
  if (slot.busy || depth_ >= kMaxNesting) {
    in.Fail(slot.busy ? "an attribute or type contains itself"
                      : "attributes or types are nested too deeply");
    return nullptr;
  }
  const BytecodeFile::Entry& entry = entries[index];
  ByteReader own(entry.bytes, entry.begin);
  slot.busy = true;
  ++depth_;
  auto value = std::make_unique<T>(decode(entry, own));
  --depth_;
  slot.busy = false;
  if (own.ok() && !own.empty()) own.Fail("bytes behind an attribute or type");
  if (!own.ok()) {
    in.Fail(own.status());
    return nullptr;
  }
  slot.value = std::move(value);
  return slot.value.get();
}

const Attr& BytecodeValues::AttrAt(uint64_t index, ByteReader& in) {
  static const Attr& none = *new Attr;
  const Attr* attr = Resolve(attrs_, file_.attrs, index, in,
                             [&](const auto& entry, auto& own) { return DecodeAttr(entry, own); });
  if (attr == nullptr) return none;
  int64_t& cost = attrs_[index].cost;
  if (cost == 0) cost = CostOf(*attr);
  budget_ -= cost;
  if (budget_ < 0) in.Fail("attributes that repeat each other are too large");
  return in.ok() ? *attr : none;
}

Attr BytecodeValues::NextOptionalAttr(ByteReader& in, bool* present) {
  const uint64_t index = in.Flagged(present);
  return *present ? AttrAt(index, in) : Attr();
}

TypeRef BytecodeValues::TypeAt(uint64_t index, ByteReader& in) {
  const TypeRef* type = Resolve(types_, file_.types, index, in, [&](const auto& entry, auto& own) {
    return DecodeType(entry, own);
  });
  return type == nullptr ? PlainType(MlirType::kNone) : *type;
}

Attr BytecodeValues::DecodeAttr(const BytecodeFile::Entry& entry, ByteReader& in) {
  if (!entry.custom) {
    const std::string_view text = in.Text();
    absl::StatusOr<Attr> attr = ParseAttrText(text);
    return attr.ok() ? *std::move(attr) : Make(Attr::kOther, std::string(text));
  }
  const std::string& dialect = file_.dialects[entry.dialect];
  return dialect == "builtin" ? BuiltinAttr(in) : CodedAttr(dialect, in);
}

Attr BytecodeValues::BuiltinAttr(ByteReader& in) {
  using namespace builtin_attr;
  const uint64_t code = in.Varint();
  switch (code) {
    case kArray: return Array(in);
    case kDictionary: return Dictionary(in);
    case kString: return Make(Attr::kString, std::string(file_.String(in)));
    case kTypedString: {
      Attr attr = Make(Attr::kString, std::string(file_.String(in)));
      attr.type = NextType(in);
      return attr;
    }
    case kFlatSymbol: return Make(Attr::kSymbol, NextAttr(in).s);
    case kSymbol: {
      Attr attr = Make(Attr::kSymbol, NextAttr(in).s);
      const size_t nested = in.Count();
      for (size_t i = 0; i < nested && in.ok(); ++i) {
        attr.s += "::";
        attr.s += NextAttr(in).s;
      }
      return attr;
    }
    case kType: {
      Attr attr = Make(Attr::kType);
      attr.type = NextType(in);
      return attr;
    }
    case kUnit: return Make(Attr::kUnit);
    case kInteger: return Integer(in);
    case kFloat: return Float(in);
    case kDenseResource: return DenseResource(in);
    case kDenseArray: return DenseArray(in);
    case kDenseElements: {
      const TypeRef type = NextType(in);
      return Blob(type, in);
    }
    case kDenseStrings: return DenseStrings(in);
    case kSparseElements:
    case kDistinct:
      in.Bytes(in.remaining());
      return Make(Attr::kOther, code == kDistinct ? "distinct[]<>" : "sparse<>");
    case kCallSiteLoc:
    case kFileLineColLoc:
    case kFusedLoc:
    case kFusedLocWithMetadata:
    case kNameLoc:
    case kUnknownLoc:
    case kFileLineColRange: in.Bytes(in.remaining()); return Make(Attr::kOther, "loc(unknown)");
  }
  in.Fail(StrCat("an attribute of builtin code ", code, ", which is not known"));
  return {};
}

Attr BytecodeValues::CodedAttr(std::string_view dialect, ByteReader& in) {
  const uint64_t code = in.Varint();
  const std::optional<Coded> coded = AttrByCode(dialect, code);
  if (!coded) {
    in.Fail(Unimplemented("MLIR bytecode: attributes of dialect '", dialect, "' with code ", code,
                          " are not read (producer '", file_.producer, "')"));
    return {};
  }
  if (dialect == "vhlo") {
    if (coded->name == "array") return Array(in);
    if (coded->name == "dict") return Dictionary(in);
    if (coded->name == "integer") return Integer(in);
    if (coded->name == "float") return Float(in);
    if (coded->name == "bool") {
      Attr attr = Make(Attr::kBool);
      attr.i = in.Varint() != 0;
      return attr;
    }
    if (coded->name == "tensor") {
      const TypeRef type = NextType(in);
      return Blob(type, in);
    }
    if (coded->name == "string" || coded->name == "type") {
      return Field(coded->fields[0], *coded, in);
    }
  }
  if (!coded->cases.empty()) return Field(coded->fields[0], *coded, in);
  Attr attr = Make(Attr::kStruct);
  attr.name = StrCat(dialect == "chlo" ? "chlo." : "stablehlo.", coded->name);
  for (const CodedField& field : coded->fields) {
    if (field.kind == FieldKind::kOptionalAttr) {
      // Its presence is a number of its own.
      if (in.Varint() != 0) attr.fields.emplace_back(field.name, NextAttr(in));
    } else {
      attr.fields.emplace_back(field.name, Field(field, *coded, in));
    }
  }
  return attr;
}

Attr BytecodeValues::Field(const CodedField& field, const Coded& coded, ByteReader& in) {
  Attr attr;
  switch (field.kind) {
    case FieldKind::kVarint:
    case FieldKind::kInt:
      attr.kind = Attr::kInt;
      attr.i = field.kind == FieldKind::kInt ? in.Signed() : static_cast<int64_t>(in.Varint());
      return attr;
    case FieldKind::kEnum: {
      const uint64_t number = in.Varint();
      attr.kind = Attr::kEnum;
      attr.name = StrCat(coded.dialect == "chlo" ? "chlo." : "stablehlo.", coded.name);
      for (const EnumCase& c : coded.cases) {
        if (static_cast<uint64_t>(c.number) == number) attr.s = c.name;
      }
      if (in.ok() && attr.s.empty()) in.Fail(StrCat("no ", coded.name, " has number ", number));
      return attr;
    }
    case FieldKind::kInts:
      attr.kind = Attr::kInts;
      attr.ints = Ints(in);
      attr.s = "i64";
      return attr;
    case FieldKind::kAttr: return NextAttr(in);
    case FieldKind::kType:
      attr.kind = Attr::kType;
      attr.type = NextType(in);
      return attr;
    case FieldKind::kFloat:
      attr.kind = Attr::kFloat;
      attr.f = FloatOf(DType::kFloat64, BitsOf(in, 64));
      attr.type = ScalarType("f64");
      return attr;
    case FieldKind::kString: return Make(Attr::kString, std::string(file_.String(in)));
    default: in.Fail(StrCat("attribute ", coded.name, " is not read")); return attr;
  }
}

Attr BytecodeValues::Array(ByteReader& in) {
  Attr attr = Make(Attr::kArray);
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i) attr.items.push_back(NextAttr(in));
  return attr;
}

Attr BytecodeValues::Dictionary(ByteReader& in) {
  Attr attr = Make(Attr::kDict);
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const Attr& name = NextAttr(in);
    if (in.ok() && name.kind != Attr::kString) in.Fail("a name in a dictionary is not a string");
    if (in.ok()) attr.fields.emplace_back(Symbol(name.s), NextAttr(in));
  }
  return attr;
}

Attr BytecodeValues::Integer(ByteReader& in) {
  Attr attr = Make(Attr::kInt);
  attr.type = NextType(in);
  const std::string name = ElementText(*attr.type);
  int width = attr.type->kind == MlirType::kIndex ? 64 : 0;
  const size_t digits = name.find_first_of("0123456789");
  if (width == 0 && digits != std::string::npos && name.find_first_not_of("iu s") == digits &&
      name.size() - digits <= 3) {
    width = std::stoi(name.substr(digits));
  }
  if (width == 0 || width > 64) {
    in.Fail(Unimplemented("MLIR bytecode: an integer attribute of type ", name));
    return attr;
  }
  const uint64_t bits = BitsOf(in, width);
  attr.i = static_cast<int64_t>(bits);
  if (width == 1) {
    attr.kind = Attr::kBool;
    attr.type = nullptr;
  } else if (name[0] != 'u' && width < 64 && (bits >> (width - 1)) != 0) {
    attr.i -= int64_t{1} << width;
  }
  return attr;
}

Attr BytecodeValues::Float(ByteReader& in) {
  Attr attr = Make(Attr::kFloat);
  attr.type = NextType(in);
  const DType dtype = attr.type->type.dtype();
  if (attr.type->kind != MlirType::kScalar || !IsFloating(dtype)) {
    in.Fail(Unimplemented("MLIR bytecode: a float attribute of type ", ElementText(*attr.type)));
    return attr;
  }
  attr.f = FloatOf(dtype, BitsOf(in, BitWidth(dtype)));
  return attr;
}

std::vector<int64_t> BytecodeValues::Ints(ByteReader& in) {
  std::vector<int64_t> ints(in.Count());
  for (int64_t& i : ints) i = in.Signed();
  return ints;
}

std::vector<TypeRef> BytecodeValues::Types(ByteReader& in) {
  const size_t count = in.Count();
  std::vector<TypeRef> types;
  for (size_t i = 0; i < count && in.ok(); ++i) types.push_back(NextType(in));
  return types;
}

}  // namespace x2ir::mlir
