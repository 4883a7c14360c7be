// ONNX's own text (docs/Syntax.md of ONNX), turned into the wire form of ModelProto. What it leaves
// to be guessed is refused: lists of integers and floats without a type, tensors without data.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/onnx_text/onnx_text_internal.h"
#include "x2ir/formats/text_cursor_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::onnx_text {
namespace {

using onnx_format::AttrType;
namespace attr_field = onnx_format::attr_field;
namespace entry_field = onnx_format::entry_field;
namespace function_field = onnx_format::function_field;
namespace graph_field = onnx_format::graph_field;
namespace model_field = onnx_format::model_field;
namespace node_field = onnx_format::node_field;
namespace opset_field = onnx_format::opset_field;
namespace tensor_field = onnx_format::tensor_field;
namespace type_field = onnx_format::type_field;
namespace value_field = onnx_format::value_field;

// Element types in the order of their numbers, and where their numbers are in a TensorProto.
struct ElementType {
  std::string_view name;
  uint32_t field;
};
constexpr ElementType kElementTypes[] = {
    {"float", tensor_field::kFloatData},        {"uint8", tensor_field::kInt32Data},
    {"int8", tensor_field::kInt32Data},         {"uint16", tensor_field::kInt32Data},
    {"int16", tensor_field::kInt32Data},        {"int32", tensor_field::kInt32Data},
    {"int64", tensor_field::kInt64Data},        {"string", tensor_field::kStringData},
    {"bool", tensor_field::kInt32Data},         {"float16", tensor_field::kInt32Data},
    {"double", tensor_field::kDoubleData},      {"uint32", tensor_field::kUInt64Data},
    {"uint64", tensor_field::kUInt64Data},      {"complex64", tensor_field::kFloatData},
    {"complex128", tensor_field::kDoubleData},  {"bfloat16", tensor_field::kInt32Data},
    {"float8e4m3fn", tensor_field::kInt32Data}, {"float8e4m3fnuz", tensor_field::kInt32Data},
    {"float8e5m2", tensor_field::kInt32Data},   {"float8e5m2fnuz", tensor_field::kInt32Data},
    {"uint4", tensor_field::kInt32Data},        {"int4", tensor_field::kInt32Data},
    {"float4e2m1", tensor_field::kInt32Data},   {"float8e8m0", tensor_field::kInt32Data},
    {"uint2", tensor_field::kInt32Data},        {"int2", tensor_field::kInt32Data},
};
constexpr std::string_view kOtherTypes[] = {"seq", "map", "optional", "sparse_tensor", "opaque"};

int64_t ElementNumber(std::string_view name) {
  const auto* found = std::ranges::find(kElementTypes, name, &ElementType::name);
  return found == std::end(kElementTypes) ? 0 : 1 + (found - std::begin(kElementTypes));
}

// What is allowed after the ':' of an attribute: one value, and a list of them.
struct AttrKindName {
  std::string_view one, many;
  AttrType one_type, many_type;
  uint32_t many_field;
};
constexpr AttrKindName kAttrKinds[] = {
    {"float", "floats", AttrType::kFloat, AttrType::kFloats, attr_field::kFloats},
    {"int", "ints", AttrType::kInt, AttrType::kInts, attr_field::kInts},
    {"string", "strings", AttrType::kString, AttrType::kStrings, attr_field::kStrings},
    {"tensor", "tensors", AttrType::kTensor, AttrType::kTensors, attr_field::kTensors},
    {"graph", "graphs", AttrType::kGraph, AttrType::kGraphs, attr_field::kGraphs},
    {"type_proto", "type_protos", AttrType::kType, AttrType::kTypes, attr_field::kTypeProtos},
};

bool IsIdChar(char c) { return IsIdStart(c) || (c >= '0' && c <= '9'); }

class SyntaxParser : TextCursor {
 public:
  explicit SyntaxParser(std::string_view text) : TextCursor(text, '#') {}

  absl::StatusOr<std::string> Parse() {
    WireWriter out;
    X2IR_RETURN_IF_ERROR(ParseModel(out));
    return out.ToString();
  }

 private:
  struct TypeText {
    std::string wire;  // the fields of a TypeProto
    int64_t element = 0;
    std::optional<std::vector<int64_t>> dims;  // of a tensor, where all are numbers
  };
  struct AttrText {
    AttrType type = AttrType::kUndefined;
    int64_t i = 0;
    float f = 0;
    std::string bytes;  // of a string; the fields of a tensor, a graph or a type
  };

  // --- Characters -----------------------------------------------------------------------------

  absl::Status ExpectArrow() {
    X2IR_RETURN_IF_ERROR(Expect('='));
    if (pos_ >= text_.size() || text_[pos_] != '>') return Fail("expected '=>'");
    ++pos_;
    return absl::OkStatus();
  }

  // An identifier that begins here; empty where none does.
  std::string_view PeekId() {
    SkipSpace();
    size_t end = pos_;
    if (end < text_.size() && IsIdStart(text_[end])) {
      while (end < text_.size() && IsIdChar(text_[end])) ++end;
    }
    return text_.substr(pos_, end - pos_);
  }
  absl::StatusOr<std::string_view> TakeId() {
    const std::string_view id = PeekId();
    if (id.empty()) return Fail("expected a name");
    pos_ += id.size();
    return id;
  }

  // A backslash makes the next character literal.
  absl::StatusOr<std::string> TakeQuoted() {
    X2IR_RETURN_IF_ERROR(Expect('"'));
    std::string text;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      if (text_[pos_] == '\\') ++pos_;
      if (pos_ < text_.size()) text.push_back(text_[pos_++]);
    }
    if (pos_ >= text_.size()) return Fail("a string is not terminated");
    ++pos_;
    return text;
  }
  absl::StatusOr<std::string> TakeName() {
    if (Peek() == '"') return TakeQuoted();
    X2IR_ASSIGN_OR_RETURN(const std::string_view id, TakeId());
    return std::string(id);
  }

  // "a.b.c"
  absl::StatusOr<std::string> TakeDotted() {
    X2IR_ASSIGN_OR_RETURN(std::string_view id, TakeId());
    std::string name(id);
    while (Take('.')) {
      X2IR_ASSIGN_OR_RETURN(id, TakeId());
      StrAppend(&name, ".", id);
    }
    return name;
  }

  // A number as it is written, with its sign.
  struct Literal {
    std::string_view text;
    bool is_float = false;
  };
  absl::StatusOr<Literal> TakeNumber() {
    SkipSpace();
    Literal literal;
    const size_t begin = pos_;
    if (pos_ < text_.size() && text_[pos_] == '-') ++pos_;
    if (pos_ < text_.size() && IsIdStart(text_[pos_])) {  // inf, nan
      literal.is_float = true;
      while (pos_ < text_.size() && IsIdChar(text_[pos_])) ++pos_;
    } else {
      const auto digits = [&] {
        while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
      };
      digits();
      if (pos_ < text_.size() && text_[pos_] == '.') {
        literal.is_float = true;
        ++pos_;
        digits();
      }
      if (pos_ < text_.size() && (text_[pos_] | 0x20) == 'e') {
        literal.is_float = true;
        ++pos_;
        if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-')) ++pos_;
        digits();
      }
    }
    literal.text = text_.substr(begin, pos_ - begin);
    if (literal.text.empty() || literal.text == "-") return Fail("expected a value");
    return literal;
  }

  template <typename T>
  absl::StatusOr<T> TakeInteger() {
    SkipSpace();
    const size_t begin = pos_;
    X2IR_ASSIGN_OR_RETURN(const Literal literal, TakeNumber());
    T value = 0;
    const char* const end = literal.text.data() + literal.text.size();
    const auto result = std::from_chars(literal.text.data(), end, value);
    if (literal.is_float || result.ec != std::errc() || result.ptr != end) {
      pos_ = begin;
      return Fail(
          StrCat("'", literal.text.substr(0, 100), "' is not an integer that is allowed here"));
    }
    return value;
  }

  // Rounded once.
  template <typename T>
  absl::StatusOr<T> ToFloat(std::string_view text) const {
    const bool negative = text.starts_with('-');
    const std::string digits(text.substr(negative));
    const char* const end = digits.data() + digits.size();
    T value = 0;
    const auto result = std::from_chars(digits.data(), end, value);
    bool good = result.ptr == end && !digits.empty() && !digits.starts_with('-');
    if (good && result.ec == std::errc::result_out_of_range) {
      value = sizeof(T) == sizeof(float) ? static_cast<T>(std::strtof(digits.c_str(), nullptr))
                                         : static_cast<T>(std::strtod(digits.c_str(), nullptr));
      good = std::isfinite(value);
    }
    if (!good)
      return Fail(StrCat("'", text.substr(0, 100), "' is not a number that is allowed here"));
    return negative ? -value : value;
  }
  template <typename T>
  absl::StatusOr<T> TakeFloat() {
    X2IR_ASSIGN_OR_RETURN(const Literal literal, TakeNumber());
    return ToFloat<T>(literal.text);
  }

  // Calls f for each item between commas, up to `close`; `open` was taken.
  template <typename F>
  absl::Status List(char close, const F& f) {
    if (Take(close)) return absl::OkStatus();
    do {
      X2IR_RETURN_IF_ERROR(f());
    } while (Take(','));
    return Expect(close);
  }

  // --- Types and values -----------------------------------------------------------------------

  // Whether a type begins here. Before a name, a word alone is the name.
  bool TypeIsNext(bool before_name) {
    const std::string_view word = PeekId();
    if (!IsTypeWord(word)) return false;
    if (!before_name) return true;
    const size_t begin = pos_;
    pos_ += word.size();
    const char next = Peek();
    pos_ = begin;
    return next == '[' || next == '(' || next == '"' || IsIdStart(next);
  }

  absl::Status ParseShape(WireWriter& out, std::optional<std::vector<int64_t>>* dims) {
    dims->emplace();
    if (!Take('[')) {  // no dims: a scalar
      out.Begin(type_field::kShape);
      out.End();
      return absl::OkStatus();
    }
    if (Take(']')) {  // of any rank
      dims->reset();
      return absl::OkStatus();
    }
    out.Begin(type_field::kShape);
    X2IR_RETURN_IF_ERROR(List(']', [&]() -> absl::Status {
      out.Begin(type_field::kDim);
      if (Take('?')) {
        dims->reset();
      } else if (Peek() == '"' || IsIdStart(Peek())) {
        X2IR_ASSIGN_OR_RETURN(const std::string name, TakeName());
        out.Bytes(type_field::kDimParam, name);
        dims->reset();
      } else {
        X2IR_ASSIGN_OR_RETURN(const int64_t size, TakeInteger<int64_t>());
        out.Int(type_field::kDimValue, size);
        if (*dims) (*dims)->push_back(size);
      }
      out.End();
      return absl::OkStatus();
    }));
    out.End();
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> TakeElement() {
    const std::string_view word = PeekId();
    const int64_t element = ElementNumber(word);
    if (element == 0) return Fail("expected an element type");
    pos_ += word.size();
    return element;
  }

  absl::StatusOr<TypeText> TakeType(int depth) {
    if (depth > kMaxWireDepth) return Fail("types are nested too deeply");
    TypeText type;
    WireWriter out;
    const std::string_view word = PeekId();
    type.element = ElementNumber(word);
    if (type.element != 0) {
      pos_ += word.size();
      out.Begin(type_field::kTensor);
      out.Int(type_field::kElemType, type.element);
      X2IR_RETURN_IF_ERROR(ParseShape(out, &type.dims));
      out.End();
      type.wire = out.ToString();
      return type;
    }
    if (std::ranges::find(kOtherTypes, word) == std::end(kOtherTypes))
      return Fail("expected a type");
    pos_ += word.size();
    X2IR_RETURN_IF_ERROR(Expect('('));
    if (word == "sparse_tensor") {
      std::optional<std::vector<int64_t>> dims;
      X2IR_ASSIGN_OR_RETURN(const int64_t element, TakeElement());
      out.Begin(type_field::kSparseTensor);
      out.Int(type_field::kElemType, element);
      X2IR_RETURN_IF_ERROR(ParseShape(out, &dims));
    } else if (word == "opaque") {
      std::string domain, name;
      if (Peek() != ')') {
        X2IR_ASSIGN_OR_RETURN(name, TakeDotted());
        if (Take(',')) {
          domain = std::move(name);
          X2IR_ASSIGN_OR_RETURN(const std::string_view id, TakeId());
          name = id;
        }
      }
      out.Begin(type_field::kOpaque);
      out.BytesUnlessEmpty(type_field::kOpaqueDomain, domain);
      out.BytesUnlessEmpty(type_field::kOpaqueName, name);
    } else {
      int64_t key = 0;
      if (word == "map") {
        X2IR_ASSIGN_OR_RETURN(key, TakeElement());
        X2IR_RETURN_IF_ERROR(Expect(','));
      }
      X2IR_ASSIGN_OR_RETURN(const TypeText inner, TakeType(depth + 1));
      out.Begin(word == "map"   ? type_field::kMap
                : word == "seq" ? type_field::kSequence
                                : type_field::kOptional);
      out.IntUnlessZero(type_field::kKeyType, key);
      out.Bytes(word == "map" ? type_field::kValueType : type_field::kElement, inner.wire);
    }
    out.End();
    X2IR_RETURN_IF_ERROR(Expect(')'));
    type.wire = out.ToString();
    return type;
  }

  // "type? name"
  absl::Status ParseValue(TypeText* type, std::string* name) {
    if (TypeIsNext(/*before_name=*/true)) {
      X2IR_ASSIGN_OR_RETURN(*type, TakeType(0));
    }
    X2IR_ASSIGN_OR_RETURN(*name, TakeName());
    return absl::OkStatus();
  }
  static void PutValue(WireWriter& out, uint32_t field, const TypeText& type,
                       std::string_view name) {
    out.Begin(field);
    out.Bytes(value_field::kName, name);
    if (!type.wire.empty()) out.Bytes(value_field::kType, type.wire);
    out.End();
  }

  // The fields of a TensorProto: "{1, 2}", or "["location": "x.bin"]" for external data.
  absl::Status ParseTensor(WireWriter& out, const TypeText& type, std::string_view name) {
    if (type.element == 0 || !type.dims) {
      return Fail("a tensor that has values needs an element type, and sizes that are numbers");
    }
    for (const int64_t size : *type.dims) out.Int(tensor_field::kDims, size);
    out.Int(tensor_field::kDataType, type.element);
    out.BytesUnlessEmpty(tensor_field::kName, name);
    if (Take('[')) {
      X2IR_RETURN_IF_ERROR(ParseEntries(out, tensor_field::kExternalData));
      out.Int(tensor_field::kDataLocation, 1);
      return absl::OkStatus();
    }
    if (Peek() == '.') return Fail("values that were left out ('...')");
    X2IR_RETURN_IF_ERROR(Expect('{'));
    const uint32_t field = kElementTypes[type.element - 1].field;
    return List('}', [&]() -> absl::Status {
      switch (field) {
        case tensor_field::kFloatData: {
          X2IR_ASSIGN_OR_RETURN(const float value, TakeFloat<float>());
          out.Float(field, value);
          break;
        }
        case tensor_field::kDoubleData: {
          X2IR_ASSIGN_OR_RETURN(const double value, TakeFloat<double>());
          out.Double(field, value);
          break;
        }
        case tensor_field::kStringData: {
          X2IR_ASSIGN_OR_RETURN(const std::string value, TakeQuoted());
          out.Bytes(field, value);
          break;
        }
        case tensor_field::kUInt64Data: {
          X2IR_ASSIGN_OR_RETURN(const uint64_t value, TakeInteger<uint64_t>());
          out.Varint(field, value);
          break;
        }
        case tensor_field::kInt64Data: {
          X2IR_ASSIGN_OR_RETURN(const int64_t value, TakeInteger<int64_t>());
          out.Int(field, value);
          break;
        }
        default: {
          X2IR_ASSIGN_OR_RETURN(const int32_t value, TakeInteger<int32_t>());
          out.Int(field, value);
        }
      }
      return absl::OkStatus();
    });
  }

  // "key": "value", ...]
  absl::Status ParseEntries(WireWriter& out, uint32_t field) {
    return List(']', [&]() -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const std::string key, TakeQuoted());
      X2IR_RETURN_IF_ERROR(Expect(':'));
      X2IR_ASSIGN_OR_RETURN(const std::string value, TakeQuoted());
      onnx_format::WriteEntry(out, field, key, value);
      return absl::OkStatus();
    });
  }

  // --- Attributes -----------------------------------------------------------------------------

  absl::StatusOr<AttrText> TakeAttrValue(int depth) {
    AttrText value;
    const char next = Peek();
    if (next == '"') {
      value.type = AttrType::kString;
      X2IR_ASSIGN_OR_RETURN(value.bytes, TakeQuoted());
      return value;
    }
    if (TypeIsNext(/*before_name=*/false)) {
      X2IR_ASSIGN_OR_RETURN(TypeText type, TakeType(0));
      const char after = Peek();
      if (after != '{' && after != '=' && after != '"' && after != '.' && !IsIdStart(after) &&
          !(after == '[' && type.dims)) {
        value.type = AttrType::kType;
        value.bytes = std::move(type.wire);
        return value;
      }
      std::string name;
      if (after == '"' || IsIdStart(after)) {
        X2IR_ASSIGN_OR_RETURN(name, TakeName());
      }
      (void)Take('=');
      WireWriter out;
      X2IR_RETURN_IF_ERROR(ParseTensor(out, type, name));
      value.type = AttrType::kTensor;
      value.bytes = out.ToString();
      return value;
    }
    if (IsIdStart(next)) {
      const std::string_view word = PeekId();
      std::string lower(word);
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      if (lower != "inf" && lower != "infinity" && lower != "nan") {
        WireWriter out;
        X2IR_RETURN_IF_ERROR(ParseGraph(out, depth + 1));
        value.type = AttrType::kGraph;
        value.bytes = out.ToString();
        return value;
      }
    }
    X2IR_ASSIGN_OR_RETURN(const Literal literal, TakeNumber());
    if (literal.is_float) {
      value.type = AttrType::kFloat;
      X2IR_ASSIGN_OR_RETURN(value.f, ToFloat<float>(literal.text));
      return value;
    }
    pos_ -= literal.text.size();
    value.type = AttrType::kInt;
    X2IR_ASSIGN_OR_RETURN(value.i, TakeInteger<int64_t>());
    value.f = static_cast<float>(value.i);
    return value;
  }

  absl::Status ParseAttr(WireWriter& out, int depth) {
    X2IR_ASSIGN_OR_RETURN(const std::string_view name, TakeId());
    out.Bytes(attr_field::kName, name);
    const AttrKindName* kind = nullptr;  // as it is said
    bool many = false;
    if (Take(':')) {
      const std::string_view word = PeekId();
      for (const AttrKindName& known : kAttrKinds) {
        if (word == known.one || word == known.many) {
          kind = &known;
          many = word == known.many;
        }
      }
      if (!kind)
        return Fail(StrCat("'", word, "' is not a type of attributes that the text syntax has"));
      pos_ += word.size();
    }
    X2IR_RETURN_IF_ERROR(Expect('='));
    if (Take('@')) {
      X2IR_ASSIGN_OR_RETURN(const std::string ref, TakeName());
      out.Bytes(attr_field::kRefAttrName, ref);
      if (kind)
        out.Int(attr_field::kType, static_cast<int64_t>(many ? kind->many_type : kind->one_type));
      return absl::OkStatus();
    }
    const bool said = kind != nullptr;
    const auto take = [&]() -> absl::StatusOr<AttrText> {
      SkipSpace();
      const size_t begin = pos_;
      X2IR_ASSIGN_OR_RETURN(AttrText value, TakeAttrValue(depth));
      if (!kind) {
        kind = std::ranges::find(kAttrKinds, value.type, &AttrKindName::one_type);
      } else if (kind->one_type == AttrType::kFloat && value.type == AttrType::kInt && said) {
        value.type = AttrType::kFloat;
      }
      if (value.type != kind->one_type) {
        pos_ = begin;
        return Fail(StrCat("expected a value of type '", kind->one, "'"));
      }
      return value;
    };
    if (Take('[')) {
      if (kind && !many) return Fail("a list where one value is expected");
      if (!kind && Peek() == ']') return Fail("an empty list needs a type, as in 'a: ints = []'");
      X2IR_RETURN_IF_ERROR(List(']', [&]() -> absl::Status {
        X2IR_ASSIGN_OR_RETURN(const AttrText value, take());
        Put(out, kind->many_field, value);
        return absl::OkStatus();
      }));
      out.Int(attr_field::kType, static_cast<int64_t>(kind->many_type));
      return absl::OkStatus();
    }
    if (many) return Fail("expected a list");
    X2IR_ASSIGN_OR_RETURN(const AttrText value, take());
    constexpr uint32_t kOneFields[] = {attr_field::kF, attr_field::kI, attr_field::kS,
                                       attr_field::kT, attr_field::kG, attr_field::kTp};
    Put(out, kOneFields[kind - std::begin(kAttrKinds)], value);
    out.Int(attr_field::kType, static_cast<int64_t>(kind->one_type));
    return absl::OkStatus();
  }

  static void Put(WireWriter& out, uint32_t field, const AttrText& value) {
    switch (value.type) {
      case AttrType::kFloat: return out.Float(field, value.f);
      case AttrType::kInt: return out.Int(field, value.i);
      default: return out.Bytes(field, value.bytes);
    }
  }

  // "<a = 1, b = 2>" or nothing. Whether there was any.
  absl::StatusOr<bool> ParseAttrs(WireWriter& out, int depth) {
    if (!Take('<')) return false;
    X2IR_RETURN_IF_ERROR(List('>', [&]() -> absl::Status {
      out.Begin(node_field::kAttribute);
      X2IR_RETURN_IF_ERROR(ParseAttr(out, depth));
      out.End();
      return absl::OkStatus();
    }));
    return true;
  }

  // --- Nodes and graphs -----------------------------------------------------------------------

  // Names between commas; nothing before a comma is the empty name.
  absl::Status ParseNames(WireWriter& out, uint32_t field) {
    do {
      const char next = Peek();
      std::string name;
      if (next == '"' || IsIdStart(next)) {
        X2IR_ASSIGN_OR_RETURN(name, TakeName());
      } else if (next != ',') {
        return absl::OkStatus();
      }
      out.Bytes(field, name);
    } while (Take(','));
    return absl::OkStatus();
  }

  absl::Status ParseNode(WireWriter& out, int depth) {
    if (Take('[')) {
      std::string name;
      if (Peek() != ']') {
        X2IR_ASSIGN_OR_RETURN(name, TakeName());
      }
      X2IR_RETURN_IF_ERROR(Expect(']'));
      out.Bytes(node_field::kName, name);
    }
    X2IR_RETURN_IF_ERROR(ParseNames(out, node_field::kOutput));
    X2IR_RETURN_IF_ERROR(Expect('='));
    X2IR_ASSIGN_OR_RETURN(const std::string op, TakeDotted());
    const size_t dot = op.rfind('.');
    if (dot != op.npos) out.Bytes(node_field::kDomain, std::string_view(op).substr(0, dot));
    out.Bytes(node_field::kOpType, std::string_view(op).substr(dot == op.npos ? 0 : dot + 1));
    if (Take(':')) {
      X2IR_ASSIGN_OR_RETURN(const std::string_view overload, TakeId());
      out.Bytes(node_field::kOverload, overload);
    }
    X2IR_ASSIGN_OR_RETURN(const bool attrs, ParseAttrs(out, depth));
    X2IR_RETURN_IF_ERROR(Expect('('));
    X2IR_RETURN_IF_ERROR(ParseNames(out, node_field::kInput));
    X2IR_RETURN_IF_ERROR(Expect(')'));
    return attrs ? absl::OkStatus() : ParseAttrs(out, depth).status();
  }

  absl::Status ParseNodes(WireWriter& out, uint32_t field, int depth) {
    X2IR_RETURN_IF_ERROR(Expect('{'));
    while (!Take('}')) {
      if (Peek() == '\0' && pos_ >= text_.size()) return Fail("the text ends inside of a graph");
      out.Begin(field);
      X2IR_RETURN_IF_ERROR(ParseNode(out, depth));
      out.End();
    }
    return absl::OkStatus();
  }

  // The fields of a GraphProto.
  absl::Status ParseGraph(WireWriter& out, int depth) {
    if (depth > kMaxWireDepth) return Fail("graphs are nested too deeply");
    X2IR_ASSIGN_OR_RETURN(const std::string name, TakeName());
    out.Bytes(graph_field::kName, name);
    // "type name = data": the value is named in `field` too, if that is not 0.
    const auto value_or_initializer = [&](uint32_t field, uint32_t otherwise) -> absl::Status {
      TypeText type;
      std::string value;
      X2IR_RETURN_IF_ERROR(ParseValue(&type, &value));
      const bool initializer = Take('=');
      const uint32_t info = initializer ? field : otherwise;
      if (info != 0) PutValue(out, info, type, value);
      if (!initializer) return absl::OkStatus();
      out.Begin(graph_field::kInitializer);
      X2IR_RETURN_IF_ERROR(ParseTensor(out, type, value));
      out.End();
      return absl::OkStatus();
    };
    X2IR_RETURN_IF_ERROR(Expect('('));
    X2IR_RETURN_IF_ERROR(
        List(')', [&] { return value_or_initializer(graph_field::kInput, graph_field::kInput); }));
    X2IR_RETURN_IF_ERROR(ExpectArrow());
    X2IR_RETURN_IF_ERROR(Expect('('));
    X2IR_RETURN_IF_ERROR(List(')', [&]() -> absl::Status {
      TypeText type;
      std::string value;
      X2IR_RETURN_IF_ERROR(ParseValue(&type, &value));
      PutValue(out, graph_field::kOutput, type, value);
      return absl::OkStatus();
    }));
    if (Take('<')) {
      X2IR_RETURN_IF_ERROR(
          List('>', [&] { return value_or_initializer(0, graph_field::kValueInfo); }));
    }
    return ParseNodes(out, graph_field::kNode, depth);
  }

  // --- The model ------------------------------------------------------------------------------

  absl::Status ParseOpsets(WireWriter& out, uint32_t field) {
    X2IR_RETURN_IF_ERROR(Expect('['));
    return List(']', [&]() -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const std::string domain, TakeQuoted());
      X2IR_RETURN_IF_ERROR(Expect(':'));
      X2IR_ASSIGN_OR_RETURN(const int64_t version, TakeInteger<int64_t>());
      out.Begin(field);
      out.BytesUnlessEmpty(opset_field::kDomain, domain);
      out.Int(opset_field::kVersion, version);
      out.End();
      return absl::OkStatus();
    });
  }

  enum class Holds : uint8_t { kInteger, kText, kOpsets, kEntries };
  struct Header {
    std::string_view key;
    uint32_t field;
    Holds holds;
  };
  // "<key: value, ...>" or nothing.
  absl::Status ParseHeader(WireWriter& out, absl::Span<const Header> known) {
    if (!Take('<')) return absl::OkStatus();
    uint32_t seen = 0;
    return List('>', [&]() -> absl::Status {
      const std::string_view key = PeekId();
      const auto* header = std::ranges::find(known, key, &Header::key);
      if (header == known.end()) return Fail(StrCat("'", key, "' is not allowed here"));
      const uint32_t bit = uint32_t{1} << (header - known.begin());
      if (seen & bit) return Fail(StrCat("'", key, "' is set twice"));
      seen |= bit;
      pos_ += key.size();
      X2IR_RETURN_IF_ERROR(Expect(':'));
      switch (header->holds) {
        case Holds::kInteger: {
          X2IR_ASSIGN_OR_RETURN(const int64_t value, TakeInteger<int64_t>());
          out.Int(header->field, value);
          return absl::OkStatus();
        }
        case Holds::kText: {
          X2IR_ASSIGN_OR_RETURN(const std::string value, TakeQuoted());
          out.Bytes(header->field, value);
          return absl::OkStatus();
        }
        case Holds::kOpsets: return ParseOpsets(out, header->field);
        case Holds::kEntries: break;
      }
      X2IR_RETURN_IF_ERROR(Expect('['));
      return ParseEntries(out, header->field);
    });
  }

  absl::Status ParseFunction(WireWriter& out) {
    static constexpr Header kKeys[] = {
        {"domain", function_field::kDomain, Holds::kText},
        {"opset_import", function_field::kOpsetImport, Holds::kOpsets},
        {"doc_string", function_field::kDocString, Holds::kText},
        {"overload", function_field::kOverload, Holds::kText},
    };
    X2IR_RETURN_IF_ERROR(ParseHeader(out, kKeys));
    X2IR_ASSIGN_OR_RETURN(const std::string name, TakeName());
    out.Bytes(function_field::kName, name);
    if (Take('<')) {
      X2IR_RETURN_IF_ERROR(List('>', [&]() -> absl::Status {
        const size_t begin = (SkipSpace(), pos_);
        X2IR_ASSIGN_OR_RETURN(const std::string attr, TakeName());
        if (Peek() != ':' && Peek() != '=') {
          out.Bytes(function_field::kAttribute, attr);
          return absl::OkStatus();
        }
        pos_ = begin;
        out.Begin(function_field::kAttributeProto);
        X2IR_RETURN_IF_ERROR(ParseAttr(out, 0));
        out.End();
        return absl::OkStatus();
      }));
    }
    const auto values = [&](uint32_t field) -> absl::Status {
      X2IR_RETURN_IF_ERROR(Expect('('));
      return List(')', [&]() -> absl::Status {
        TypeText type;
        std::string value;
        X2IR_RETURN_IF_ERROR(ParseValue(&type, &value));
        out.Bytes(field, value);
        if (!type.wire.empty()) PutValue(out, function_field::kValueInfo, type, value);
        return absl::OkStatus();
      });
    };
    X2IR_RETURN_IF_ERROR(values(function_field::kInput));
    X2IR_RETURN_IF_ERROR(ExpectArrow());
    X2IR_RETURN_IF_ERROR(values(function_field::kOutput));
    if (Take('<')) {
      X2IR_RETURN_IF_ERROR(List('>', [&]() -> absl::Status {
        TypeText type;
        std::string value;
        X2IR_RETURN_IF_ERROR(ParseValue(&type, &value));
        PutValue(out, function_field::kValueInfo, type, value);
        return absl::OkStatus();
      }));
    }
    return ParseNodes(out, function_field::kNode, 0);
  }

  absl::Status ParseModel(WireWriter& out) {
    static constexpr Header kKeys[] = {
        {"ir_version", model_field::kIrVersion, Holds::kInteger},
        {"opset_import", model_field::kOpsetImport, Holds::kOpsets},
        {"producer_name", model_field::kProducerName, Holds::kText},
        {"producer_version", model_field::kProducerVersion, Holds::kText},
        {"domain", model_field::kDomain, Holds::kText},
        {"model_version", model_field::kModelVersion, Holds::kInteger},
        {"doc_string", model_field::kDocString, Holds::kText},
        {"metadata_props", model_field::kMetadata, Holds::kEntries},
    };
    X2IR_RETURN_IF_ERROR(ParseHeader(out, kKeys));
    out.Begin(model_field::kGraph);
    X2IR_RETURN_IF_ERROR(ParseGraph(out, 0));
    out.End();
    while ((SkipSpace(), pos_ < text_.size())) {
      out.Begin(model_field::kFunctions);
      X2IR_RETURN_IF_ERROR(ParseFunction(out));
      out.End();
    }
    return absl::OkStatus();
  }
};

}  // namespace

bool IsIdStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsIdentifier(std::string_view text) {
  return !text.empty() && IsIdStart(text[0]) && std::ranges::all_of(text, IsIdChar);
}
bool IsTypeWord(std::string_view word) {
  return ElementNumber(word) != 0 || std::ranges::find(kOtherTypes, word) != std::end(kOtherTypes);
}
std::string_view ElementName(int64_t number) {
  return number < 1 || number > static_cast<int64_t>(std::size(kElementTypes))
             ? std::string_view()
             : kElementTypes[number - 1].name;
}
std::string_view AttrKindWord(AttrType type) {
  for (const AttrKindName& kind : kAttrKinds) {
    if (type == kind.one_type) return kind.one;
    if (type == kind.many_type) return kind.many;
  }
  return {};
}

absl::StatusOr<std::string> SyntaxToWire(std::string_view text) {
  return SyntaxParser(text).Parse();
}

bool LooksLikeSyntax(std::string_view head) {
  const size_t open = head.find_first_not_of(" \t\r\n");
  if (open == head.npos || head[open] != '<') return false;
  const size_t begin = head.find_first_not_of(" \t\r\n", open + 1);
  if (begin == head.npos) return false;
  size_t end = begin;
  while (end < head.size() && IsIdChar(head[end])) ++end;
  const std::string_view word = head.substr(begin, end - begin);
  const size_t colon = head.find_first_not_of(" \t\r\n", end);
  return colon != head.npos && head[colon] == ':' &&
         FindProtoField(ModelMessage(), word) != nullptr;
}

}  // namespace x2ir::onnx_text
