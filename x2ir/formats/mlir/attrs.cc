// Attributes in MLIR's text.
#include <bit>
#include <cctype>

#include "x2ir/formats/mlir/scanner_internal.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

constexpr int kDeepestAttr = 32;

bool IsSign(char c) { return c == '-' || c == '+'; }

// "#stablehlo.x": the dialects of MHLO and StableHLO print alike.
std::string StructName(std::string_view name) {
  if (name.starts_with("mhlo.")) return StrCat("stablehlo.", name.substr(5));
  return std::string(name);
}

}  // namespace

absl::StatusOr<Attr> AttrParser::ParseAttr() {
  if (++depth_ > kDeepestAttr) return Fail("attributes are nested too deeply");
  absl::StatusOr<Attr> attr = ParseAttrInside();
  --depth_;
  return attr;
}

absl::StatusOr<Attr> AttrParser::ParseUntypedAttr() {
  untyped_ = true;
  absl::StatusOr<Attr> attr = ParseAttr();
  untyped_ = false;
  return attr;
}

absl::StatusOr<Attr> AttrParser::ParseAttrInside() {
  const char c = Next();
  Attr attr;
  if (c == '[') return ParseArray();
  if (c == '"') {
    attr.kind = Attr::kString;
    X2IR_ASSIGN_OR_RETURN(attr.s, String());
    if (!untyped_ && TakeChar(':')) {
      X2IR_ASSIGN_OR_RETURN(attr.type, ParseType());
    }
    return attr;
  }
  if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) return ParseNumber();
  if (c == '{') {
    attr.kind = Attr::kDict;
    X2IR_RETURN_IF_ERROR(ParseDict(&attr.fields));
    return attr;
  }
  if (c == '@') {
    attr.kind = Attr::kSymbol;
    X2IR_ASSIGN_OR_RETURN(attr.s, SymbolName());
    return attr;
  }
  if (c == '#') return ParseDialectAttr();
  if (c == '(' || c == '!') {
    attr.kind = Attr::kType;
    X2IR_ASSIGN_OR_RETURN(attr.type, ParseType());
    return attr;
  }
  const std::string_view word = PeekWord();
  if (word == "true" || word == "false") {
    pos_ += word.size();
    attr.kind = Attr::kBool;
    attr.i = word == "true";
    return attr;
  }
  if (word == "unit") {
    pos_ += word.size();
    return attr;
  }
  if (word == "dense") return ParseDense();
  if (word == "array") return ParseDenseArray();
  if (word == "dense_resource") return ParseDenseResource();
  if (word == "loc") {
    X2IR_RETURN_IF_ERROR(SkipLocation());
    attr.kind = Attr::kOther;
    attr.s = "loc";
    return attr;
  }
  if (word == "affine_map" || word == "affine_set" || word == "sparse" || word == "distinct") {
    const size_t from = pos_;
    pos_ += word.size();
    if (Next() == '[') X2IR_RETURN_IF_ERROR(Balanced().status());
    if (Next() == '<') X2IR_RETURN_IF_ERROR(Balanced().status());
    attr.kind = Attr::kOther;
    attr.s = text_.substr(from, pos_ - from);
    if (TakeChar(':')) {
      X2IR_ASSIGN_OR_RETURN(attr.type, ParseType());
    }
    return attr;
  }
  const bool is_type = word == "tensor" || word == "tuple" || word == "index" || word == "none" ||
                       word == "complex" || word == "memref" || word == "vector" ||
                       ElementOf(word) != DType::kUndefined || word == "tf32";
  if (is_type) {
    attr.kind = Attr::kType;
    X2IR_ASSIGN_OR_RETURN(attr.type, ParseType());
    return attr;
  }
  if (word.empty()) return Fail("expected an attribute");
  // An enum's case in the printed form of an operation or a struct.
  pos_ += word.size();
  attr.kind = Attr::kEnum;
  attr.s = word;
  return attr;
}

absl::StatusOr<Attr> AttrParser::ParseNumber() {
  const size_t from = pos_;
  while (pos_ < text_.size() && (IsWordChar(text_[pos_]) ||
                                 (IsSign(text_[pos_]) && (pos_ == from || text_[pos_ - 1] == 'e' ||
                                                          text_[pos_ - 1] == 'E')))) {
    ++pos_;
  }
  const std::string_view text = text_.substr(from, pos_ - from);
  Attr attr;
  if (!untyped_ && TakeChar(':')) {
    X2IR_ASSIGN_OR_RETURN(attr.type, ParseType());
  }
  const DType dtype = attr.type ? attr.type->type.dtype() : DType::kUndefined;
  const bool hex = text.starts_with("0x");
  if (hex || text.find_first_of(".eE") == text.npos) {
    uint64_t bits = 0;
    const std::string_view digits = text.substr(hex ? 2 : text.starts_with("-") ? 1 : 0);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, hex ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size()) return Fail("not a number");
    if (hex && IsFloating(dtype)) {  // the bits
      attr.kind = Attr::kFloat;
      attr.f = dtype == DType::kFloat32 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                                        : std::bit_cast<double>(bits);
      if (BitWidth(dtype) < 32) return Fail("bits of a small float");
      return attr;
    }
    attr.kind = Attr::kInt;
    attr.i = static_cast<int64_t>(text.starts_with("-") ? -bits : bits);
    if (IsFloating(dtype)) {
      attr.kind = Attr::kFloat;
      attr.f = static_cast<double>(attr.i);
    }
    return attr;
  }
  const auto number = x2ir::ParseNumber<double>(text);
  if (!number) return Fail("not a number");
  attr.kind = Attr::kFloat;
  attr.f = *number;
  return attr;
}

absl::StatusOr<std::vector<int64_t>> AttrParser::ParseInts() {
  X2IR_RETURN_IF_ERROR(ExpectChar('['));
  std::vector<int64_t> ints;
  if (TakeChar(']')) return ints;
  do {
    X2IR_ASSIGN_OR_RETURN(ints.emplace_back(), Integer());
  } while (TakeChar(','));
  X2IR_RETURN_IF_ERROR(ExpectChar(']'));
  return ints;
}

absl::StatusOr<Attr> AttrParser::ParseArray() {
  Attr attr;
  // A list of plain integers, which most are, takes no attribute for each.
  const size_t from = pos_;
  if (auto ints = ParseInts(); ints.ok()) {
    attr.kind = Attr::kInts;
    attr.ints = *std::move(ints);
    return attr;
  }
  pos_ = from + 1;
  attr.kind = Attr::kArray;
  if (TakeChar(']')) return attr;
  do {
    X2IR_ASSIGN_OR_RETURN(attr.items.emplace_back(), ParseAttr());
  } while (TakeChar(','));
  X2IR_RETURN_IF_ERROR(ExpectChar(']'));
  return attr;
}

absl::StatusOr<Attr> AttrParser::ParseDenseArray() {
  X2IR_RETURN_IF_ERROR(ExpectText("array"));
  X2IR_RETURN_IF_ERROR(ExpectChar('<'));
  Attr attr;
  X2IR_ASSIGN_OR_RETURN(attr.s, Word());
  attr.kind = attr.s.starts_with("f") ? Attr::kFloats : Attr::kInts;
  if (TakeChar('>')) return attr;
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  do {
    X2IR_ASSIGN_OR_RETURN(const Attr item, ParseAttr());
    if (attr.kind == Attr::kFloats) {
      if (item.kind != Attr::kFloat && item.kind != Attr::kInt) return Fail("not a number");
      attr.floats.push_back(item.kind == Attr::kFloat ? item.f : static_cast<double>(item.i));
    } else {
      if (item.kind != Attr::kInt && item.kind != Attr::kBool) return Fail("not an integer");
      attr.ints.push_back(item.i);
    }
  } while (TakeChar(','));
  X2IR_RETURN_IF_ERROR(ExpectChar('>'));
  return attr;
}

absl::StatusOr<Attr> AttrParser::ParseDense() {
  X2IR_RETURN_IF_ERROR(ExpectText("dense"));
  if (Next() != '<') return Fail("expected '<'");
  const size_t at = pos_;
  X2IR_ASSIGN_OR_RETURN(const std::string_view inside, Balanced());
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  X2IR_ASSIGN_OR_RETURN(const TypeRef type, ParseType());
  absl::StatusOr<Attr> attr = DenseElements(inside.substr(1, inside.size() - 2), type);
  if (attr.ok()) return attr;
  pos_ = at;
  return Fail(std::string(attr.status().message()));
}

absl::StatusOr<Attr> AttrParser::ParseDenseResource() {
  X2IR_RETURN_IF_ERROR(ExpectText("dense_resource"));
  X2IR_RETURN_IF_ERROR(ExpectChar('<'));
  std::string key;
  if (Next() == '"') {
    X2IR_ASSIGN_OR_RETURN(key, String());
  } else {
    X2IR_ASSIGN_OR_RETURN(key, Word());
  }
  X2IR_RETURN_IF_ERROR(ExpectChar('>'));
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  Attr attr;
  X2IR_ASSIGN_OR_RETURN(attr.type, ParseType());
  const auto found = resources_.find(key);
  if (found == resources_.end()) {
    return Fail(StrCat("the file has no resource '", key, "'"));
  }
  X2IR_ASSIGN_OR_RETURN(std::string bytes, BytesOfHex(found->second));
  if (bytes.size() < 4) return Fail(StrCat("resource '", key, "' has no alignment"));
  bytes.erase(0, 4);
  attr.kind = Attr::kTensor;
  auto tensor = TensorOfBytes(std::move(bytes), attr.type->type, &attr.splat);
  if (!tensor.ok()) return Fail(std::string(tensor.status().message()));
  attr.tensor = *std::move(tensor);
  return attr;
}

absl::Status AttrParser::ParseDict(AttrList* list) {
  X2IR_RETURN_IF_ERROR(ExpectChar('{'));
  if (TakeChar('}')) return absl::OkStatus();
  do {
    std::string name;
    if (Next() == '"') {
      X2IR_ASSIGN_OR_RETURN(name, String());
    } else {
      X2IR_ASSIGN_OR_RETURN(name, Word());
    }
    Attr value;
    if (TakeChar('=')) {
      X2IR_ASSIGN_OR_RETURN(value, ParseAttr());
    }
    list->emplace_back(name, std::move(value));
  } while (TakeChar(','));
  return ExpectChar('}');
}

// "#stablehlo<precision HIGH>", "#stablehlo.conv<[b, 0, f]x[...]->[...]>", "#stablehlo.dot<a =
// [1]>", an alias, or something of another dialect.
absl::StatusOr<Attr> AttrParser::ParseDialectAttr() {
  const size_t from = pos_;
  X2IR_RETURN_IF_ERROR(ExpectChar('#'));
  X2IR_ASSIGN_OR_RETURN(const std::string_view word, Word());
  if (const auto alias = attr_aliases_.find(word); alias != attr_aliases_.end()) {
    return alias->second;
  }
  std::string name = StructName(word);
  const bool known = name.starts_with("stablehlo") || name.starts_with("chlo") || name == "mhlo";
  if (known && pos_ < text_.size() && text_[pos_] == '<') {
    if (name.find('.') == name.npos) {  // the struct's name is inside
      const size_t open = pos_;
      ++pos_;
      X2IR_ASSIGN_OR_RETURN(const std::string_view inside, Word());
      name = StrCat(name == "mhlo" ? "stablehlo" : name, ".", inside);
      const bool nested = Next() == '<';
      if (!nested) {
        X2IR_ASSIGN_OR_RETURN(Attr attr, ParseStructBody(std::move(name)));
        X2IR_RETURN_IF_ERROR(ExpectChar('>'));
        return attr;
      }
      pos_ = open + 1 + inside.size();
      Next();
      ++pos_;
      X2IR_ASSIGN_OR_RETURN(Attr attr, ParseStructBody(std::move(name)));
      X2IR_RETURN_IF_ERROR(ExpectChar('>'));
      X2IR_RETURN_IF_ERROR(ExpectChar('>'));
      return attr;
    }
    ++pos_;
    X2IR_ASSIGN_OR_RETURN(Attr attr, ParseStructBody(std::move(name)));
    X2IR_RETURN_IF_ERROR(ExpectChar('>'));
    return attr;
  }
  if (pos_ < text_.size() && text_[pos_] == '<') X2IR_RETURN_IF_ERROR(Balanced().status());
  Attr attr;
  attr.kind = Attr::kOther;
  attr.name = name;
  attr.s = text_.substr(from, pos_ - from);
  return attr;
}

// What is between the brackets of a struct; they stay.
absl::StatusOr<Attr> AttrParser::ParseStructBody(std::string name) {
  Attr attr;
  attr.name = std::move(name);
  if (attr.name == "stablehlo.conv") return ParseConvBody(std::move(attr.name));
  if (attr.name == "stablehlo.bounds" || attr.name == "stablehlo.type_extensions") {
    attr.kind = Attr::kInts;
    if (TakeText("bounds")) X2IR_RETURN_IF_ERROR(ExpectChar('='));
    const bool list = TakeChar('[');
    do {
      if (TakeChar('?')) {
        attr.ints.push_back(-1);
      } else {
        X2IR_ASSIGN_OR_RETURN(attr.ints.emplace_back(), Integer());
      }
    } while (TakeChar(','));
    if (list) X2IR_RETURN_IF_ERROR(ExpectChar(']'));
    return attr;
  }
  attr.kind = Attr::kStruct;
  while (Next() != '>' && Next() != '\0') {
    const size_t from = pos_;
    const std::string_view word = PeekWord();
    pos_ += word.size();
    if (!word.empty() && TakeChar('=')) {
      Attr value;
      if (Next() == '(') {  // "(2)4": a part of a mesh's axis
        const size_t begin = pos_;
        X2IR_RETURN_IF_ERROR(Balanced().status());
        X2IR_RETURN_IF_ERROR(Integer().status());
        value.kind = Attr::kOther;
        value.s = text_.substr(begin, pos_ - begin);
      } else {
        X2IR_ASSIGN_OR_RETURN(value, ParseAttr());
      }
      attr.fields.emplace_back(word, std::move(value));
    } else {  // a field without a name
      pos_ = from;
      X2IR_ASSIGN_OR_RETURN(attr.items.emplace_back(), ParseAttr());
    }
    if (!TakeChar(',')) break;
  }
  if (attr.fields.empty() && attr.items.size() == 1 && attr.items[0].kind == Attr::kEnum) {
    attr.kind = Attr::kEnum;
    attr.s = attr.items[0].s;
    attr.items.clear();
  }
  return attr;
}

absl::StatusOr<Attr> AttrParser::ParseConvBody(std::string name) {
  Attr attr;
  attr.kind = Attr::kStruct;
  attr.name = std::move(name);
  if (TakeText("raw")) {
    while (Next() != '>' && Next() != '\0') {
      X2IR_ASSIGN_OR_RETURN(const std::string_view field, Word());
      X2IR_RETURN_IF_ERROR(ExpectChar('='));
      X2IR_ASSIGN_OR_RETURN(Attr value, ParseAttr());
      attr.fields.emplace_back(field, std::move(value));
      if (!TakeChar(',')) break;
    }
    return attr;
  }
  X2IR_ASSIGN_OR_RETURN(attr.fields, ParseConvLists());
  return attr;
}

absl::StatusOr<AttrList> AttrParser::ParseConvLists() {
  Next();
  const size_t from = pos_;
  for (int part = 0; part < 3; ++part) {
    if (part == 1) X2IR_RETURN_IF_ERROR(ExpectChar('x'));
    if (part == 2) X2IR_RETURN_IF_ERROR(ExpectText("->"));
    if (Next() != '[') return Fail("expected '['");
    X2IR_RETURN_IF_ERROR(Balanced().status());
  }
  auto fields = ConvFields(text_.substr(from, pos_ - from));
  if (!fields.ok()) return Fail(std::string(fields.status().message()));
  return fields;
}

absl::Status AttrParser::ParseAlias() {
  const char sigil = text_[pos_++];
  X2IR_ASSIGN_OR_RETURN(const std::string_view name, Word());
  X2IR_RETURN_IF_ERROR(ExpectChar('='));
  if (sigil == '!') {
    X2IR_ASSIGN_OR_RETURN(type_aliases_[name], ParseType());
  } else {
    X2IR_ASSIGN_OR_RETURN(attr_aliases_[name], ParseAttr());
  }
  return absl::OkStatus();
}

absl::Status AttrParser::ParseResources() {
  const size_t last = text_.find_last_not_of(" \t\r\n");
  if (last == text_.npos || !text_.substr(0, last + 1).ends_with("#-}")) return absl::OkStatus();
  // By characters: the digits of a large weight may be before it, or after.
  size_t begin = last;
  do {
    begin = begin == 0 ? text_.npos : text_.rfind('{', begin - 1);
    if (begin == text_.npos) return absl::OkStatus();
  } while (!text_.substr(begin).starts_with("{-#"));
  const std::string_view all = text_;
  pos_ = begin + 3;
  // "dialect_resources: { builtin: { name: "0x..." } }, external_resources: { ... }"
  int depth = 0;
  std::string_view section;
  while (Next() != '\0' && !text_.substr(pos_).starts_with("#-}")) {
    if (TakeChar('{')) {
      ++depth;
    } else if (TakeChar('}')) {
      --depth;
    } else if (TakeChar(',')) {
      continue;
    } else {
      std::string key;
      if (Next() == '"') {
        X2IR_ASSIGN_OR_RETURN(key, String());
      } else {
        const size_t from = pos_;
        while (pos_ < text_.size() && (IsWordChar(text_[pos_]) || text_[pos_] == '-')) ++pos_;
        if (pos_ == from) return Fail("expected the name of a resource");
        key = text_.substr(from, pos_ - from);
        if (depth == 0) section = text_.substr(from, pos_ - from);
      }
      X2IR_RETURN_IF_ERROR(ExpectChar(':'));
      if (Next() == '"') {
        const size_t from = pos_ + 1;
        const size_t end = text_.find('"', from);
        if (end == text_.npos) return Fail("a string is not terminated");
        pos_ = end + 1;
        if (section == "dialect_resources") resources_[key] = text_.substr(from, end - from);
      } else if (Next() != '{') {
        X2IR_RETURN_IF_ERROR(ParseAttr().status());
      }
    }
  }
  if (depth != 0 || !text_.substr(pos_).starts_with("#-}")) {
    return Fail("the resources at the end of the file do not end");
  }
  text_ = all.substr(0, begin);
  pos_ = 0;
  return absl::OkStatus();
}

namespace {

class Alone : public AttrParser {
 public:
  using AttrParser::AttrParser;
  template <typename T>
  absl::StatusOr<T> Whole(absl::StatusOr<T> parsed) {
    if (parsed.ok() && !AtEnd()) return Fail("unexpected text");
    return parsed;
  }
};

}  // namespace

absl::StatusOr<Attr> ParseAttrText(std::string_view text) {
  Alone parser(text);
  return parser.Whole(parser.ParseAttr());
}

absl::StatusOr<TypeRef> ParseTypeText(std::string_view text) {
  Alone parser(text);
  return parser.Whole(parser.ParseType());
}

}  // namespace x2ir::mlir
