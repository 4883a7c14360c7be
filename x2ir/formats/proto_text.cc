// Protobuf's text format, read and written.
#include "x2ir/formats/proto_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/formats/json.h"
#include "x2ir/formats/proto_text_internal.h"
#include "x2ir/formats/text_cursor_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// --- Reading ------------------------------------------------------------------------------------

bool IsTextSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsTextDigit(char c) { return c >= '0' && c <= '9'; }
bool IsTextWord(char c) {
  return IsTextDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
int TextHexDigit(char c) {
  if (IsTextDigit(c)) return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

class TextParser : TextCursor {
 public:
  TextParser(std::string_view text, ProtoUnknown unknown)
      : TextCursor(text, '#'), strict_(unknown == ProtoUnknown::kError) {}

  absl::StatusOr<std::string> Parse(const ProtoMessage& message) {
    WireWriter out;
    X2IR_RETURN_IF_ERROR(ParseFields(&message, '\0', 0, &out));
    return out.ToString();
  }

 private:
  // The name of a field, or of an extension in brackets (extensions are unknown).
  absl::StatusOr<std::string_view> TakeName() {
    SkipSpace();
    const size_t begin = pos_;
    if (Take('[')) {
      while (pos_ < text_.size() && text_[pos_] != ']' && text_[pos_] != '\n') ++pos_;
      if (!Take(']')) return Fail("a name is not terminated");
    } else {
      while (pos_ < text_.size() && IsTextWord(text_[pos_])) ++pos_;
    }
    if (pos_ == begin) return Fail("expected the name of a field");
    return text_.substr(begin, pos_ - begin);
  }

  // Fields up to `close` ('\0': the end). `message` is null in what is read over.
  absl::Status ParseFields(const ProtoMessage* message, char close, int depth, WireWriter* out) {
    if (depth > kMaxWireDepth) return Fail("messages are nested too deeply");
    ProtoSeen seen;
    while (true) {
      if (pos_ >= text_.size() || (SkipSpace(), pos_ >= text_.size())) {
        return close == '\0' ? absl::OkStatus() : Fail("the text ends inside of a message");
      }
      if (close != '\0' && Take(close)) return absl::OkStatus();
      X2IR_ASSIGN_OR_RETURN(const std::string_view name, TakeName());
      const ProtoField* field = message ? FindProtoField(*message, name) : nullptr;
      if (strict_) {
        const std::string problem = ProtoFieldProblem(*message, field, name, &seen);
        if (!problem.empty()) {
          pos_ = static_cast<size_t>(name.data() - text_.data());
          return Fail(problem);
        }
      }
      const bool colon = Take(':');
      if (Peek() == '[') {
        if (strict_ && field->rule != ProtoRule::kMany) {
          return Fail(StrCat("'", field->name, "' is not a list"));
        }
        Take('[');
        if (!Take(']')) {
          do {
            X2IR_RETURN_IF_ERROR(ParseValue(field, colon, depth, out));
          } while (Take(','));
          if (!Take(']')) return Fail("expected ']'");
        }
      } else {
        X2IR_RETURN_IF_ERROR(ParseValue(field, colon, depth, out));
      }
      if (!Take(',')) Take(';');
    }
  }

  absl::Status ParseValue(const ProtoField* field, bool colon, int depth, WireWriter* out) {
    const char open = Peek();
    if (open == '{' || open == '<') {
      ++pos_;
      const char close = open == '{' ? '}' : '>';
      if (!field) return ParseFields(nullptr, close, depth + 1, out);
      if (field->kind != ProtoKind::kMessage)
        return Fail(StrCat("'", field->name, "' is not a message"));
      out->Begin(field->number);
      X2IR_RETURN_IF_ERROR(ParseFields(field->message, close, depth + 1, out));
      out->End();
      return absl::OkStatus();
    }
    if (!colon) return Fail("expected ':'");
    if (field && field->kind == ProtoKind::kMessage) {
      return Fail(StrCat("'", field->name, "' is a message; expected '{'"));
    }
    if (open == '"' || open == '\'') {
      X2IR_ASSIGN_OR_RETURN(const std::string text, TakeStrings());
      if (!field) return absl::OkStatus();
      if (field->kind != ProtoKind::kBytes && field->kind != ProtoKind::kString) {
        return Fail(StrCat("'", field->name, "' is not a string"));
      }
      out->Bytes(field->number, text);
      return absl::OkStatus();
    }
    const bool negative = Take('-');
    SkipSpace();
    const size_t begin = pos_;
    while (pos_ < text_.size() &&
           (IsTextWord(text_[pos_]) || text_[pos_] == '.' ||
            ((text_[pos_] == '+' || text_[pos_] == '-') && pos_ > begin &&
             (text_[pos_ - 1] | 0x20) == 'e' && IsTextDigit(text_[begin])))) {
      ++pos_;
    }
    const std::string_view word = text_.substr(begin, pos_ - begin);
    if (word.empty()) return Fail("expected a value");
    return field ? WriteScalar(*field, word, negative, out) : absl::OkStatus();
  }

  absl::Status WriteScalar(const ProtoField& field, std::string_view word, bool negative,
                           WireWriter* out) {
    const auto bad = [&] {
      return Fail(StrCat("'", field.name, "' cannot be ", negative ? "-" : "", word));
    };
    switch (field.kind) {
      case ProtoKind::kBool:
        if (negative) return bad();
        if (word == "true" || word == "True" || word == "t" || word == "1") {
          out->Int(field.number, 1);
        } else if (word == "false" || word == "False" || word == "f" || word == "0") {
          out->Int(field.number, 0);
        } else {
          return bad();
        }
        return absl::OkStatus();
      case ProtoKind::kEnum:
        if (const auto number = negative ? std::nullopt : field.values->number(word)) {
          out->Int(field.number, *number);
          return absl::OkStatus();
        }
        [[fallthrough]];
      case ProtoKind::kInt32:
      case ProtoKind::kUInt32:
      case ProtoKind::kInt64:
      case ProtoKind::kUInt64: {
        const std::optional<uint64_t> value = Integer(word);
        if (!value || *value > Most(field.kind, negative)) return bad();
        out->Varint(field.number, negative ? ~*value + 1 : *value);
        return absl::OkStatus();
      }
      case ProtoKind::kFloat:
      case ProtoKind::kDouble: {
        const std::optional<double> value = Number(word, field.kind == ProtoKind::kFloat);
        if (!value) return bad();
        const double signed_value = negative ? -*value : *value;
        if (field.kind == ProtoKind::kFloat) {
          out->Float(field.number, static_cast<float>(signed_value));
        } else {
          out->Double(field.number, signed_value);
        }
        return absl::OkStatus();
      }
      default: return bad();
    }
  }

  // The largest number, without its sign, that a field can have.
  static uint64_t Most(ProtoKind kind, bool negative) {
    switch (kind) {
      case ProtoKind::kUInt32: return negative ? 0 : UINT32_MAX;
      case ProtoKind::kUInt64: return negative ? 0 : UINT64_MAX;
      case ProtoKind::kInt64: return uint64_t{INT64_MAX} + negative;
      default: return uint64_t{INT32_MAX} + negative;
    }
  }

  static std::optional<uint64_t> Integer(std::string_view word) {
    int base = 10;
    if (word.size() > 2 && word[0] == '0' && (word[1] | 0x20) == 'x') {
      base = 16;
      word.remove_prefix(2);
    } else if (word.size() > 1 && word[0] == '0') {
      base = 8;
      word.remove_prefix(1);
    }
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
  }

  // Rounded once: what is a float is read as one.
  static std::optional<double> Number(std::string_view word, bool is_float) {
    std::string lower;
    for (const char c : word)
      lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c);
    if (lower == "inf" || lower == "infinity") return std::numeric_limits<double>::infinity();
    if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (!IsTextDigit(lower[0]) && lower[0] != '.') return std::nullopt;
    if (const auto integer = Integer(lower); integer && lower[0] == '0') {
      return static_cast<double>(*integer);  // octal and hexadecimal
    }
    if (lower.ends_with('f')) lower.pop_back();
    const char* const end = lower.data() + lower.size();
    float f = 0;
    double d = 0;
    const auto result =
        is_float ? std::from_chars(lower.data(), end, f) : std::from_chars(lower.data(), end, d);
    if (result.ptr != end) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) {
      // Too large or too small: which, the C library says.
      return is_float ? static_cast<double>(std::strtof(lower.c_str(), nullptr))
                      : std::strtod(lower.c_str(), nullptr);
    }
    if (result.ec != std::errc()) return std::nullopt;
    return is_float ? static_cast<double>(f) : d;
  }

  // Adjacent strings are concatenated.
  absl::StatusOr<std::string> TakeStrings() {
    std::string text;
    for (char quote = Peek(); quote == '"' || quote == '\''; quote = Peek()) {
      ++pos_;
      while (true) {
        if (pos_ >= text_.size() || text_[pos_] == '\n') return Fail("a string is not terminated");
        const char c = text_[pos_++];
        if (c == quote) break;
        if (c != '\\') {
          text.push_back(c);
          continue;
        }
        X2IR_RETURN_IF_ERROR(TakeEscape(&text));
      }
    }
    return text;
  }

  absl::Status TakeEscape(std::string* text) {
    constexpr std::string_view kLetters = "abfnrtv\\\"'?";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\\"'?";
    if (pos_ >= text_.size()) return Fail("a string is not terminated");
    const char c = text_[pos_++];
    if (const size_t i = kLetters.find(c); i != std::string_view::npos) {
      text->push_back(kMeanings[i]);
      return absl::OkStatus();
    }
    const auto digits = [&](int base_bits, int most) {
      uint32_t value = 0;
      int n = 0;
      for (; n < most && pos_ < text_.size(); ++n, ++pos_) {
        const int digit = TextHexDigit(text_[pos_]);
        if (digit < 0 || digit >= 1 << base_bits) break;
        value = value << base_bits | static_cast<uint32_t>(digit);
      }
      return std::pair(value, n);
    };
    if (c >= '0' && c <= '7') {
      --pos_;
      text->push_back(static_cast<char>(digits(3, 3).first));
      return absl::OkStatus();
    }
    if (c == 'x' || c == 'X') {
      const auto [value, n] = digits(4, 2);
      if (n == 0) return Fail("expected a hexadecimal digit");
      text->push_back(static_cast<char>(value));
      return absl::OkStatus();
    }
    if (c == 'u' || c == 'U') {
      const int want = c == 'u' ? 4 : 8;
      const auto [value, n] = digits(4, want);
      if (n != want || value > 0x10ffff) return Fail("expected a character's number");
      AppendUtf8(text, value);
      return absl::OkStatus();
    }
    return Fail("an unknown escape");
  }

  const bool strict_;
};

// --- Writing ------------------------------------------------------------------------------------

class TextWriter {
 public:
  explicit TextWriter(const ProtoPut& put) : out_(put) {}

  absl::Status Write(std::string_view wire, const ProtoMessage& message) {
    X2IR_RETURN_IF_ERROR(WriteFields(wire, message, 0));
    return out_.Flush();
  }

 private:
  absl::Status WriteFields(std::string_view wire, const ProtoMessage& message, int depth) {
    if (depth > kMaxWireDepth) return CannotExpress("messages are nested too deeply");
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    ProtoSeen seen;
    WireReader in(wire, wire.data());
    while (in.Next()) {
      X2IR_ASSIGN_OR_RETURN(const ProtoField* field, KnownProtoField(message, in.field(), &seen));
      if (field->kind == ProtoKind::kMessage) {
        const std::string_view inner = in.Bytes();
        if (!in.status().ok()) break;
        out_.text() += StrCat(indent, field->name, " {\n");
        X2IR_RETURN_IF_ERROR(WriteFields(inner, *field->message, depth + 1));
        out_.text() += StrCat(indent, "}\n");
        continue;
      }
      X2IR_RETURN_IF_ERROR(ForEachProtoScalar(in, *field, [&](const ProtoScalar& value) {
        out_.text() += StrCat(indent, field->name, ": ");
        X2IR_RETURN_IF_ERROR(WriteScalar(*field, value));
        out_.text().push_back('\n');
        return out_.FlushIfLarge();
      }));
    }
    return in.status();
  }

  absl::Status WriteScalar(const ProtoField& field, const ProtoScalar& value) {
    std::string& text = out_.text();
    switch (field.kind) {
      case ProtoKind::kBool: text += value.integer ? "true" : "false"; break;
      case ProtoKind::kUInt32:
      case ProtoKind::kUInt64: StrAppend(&text, static_cast<uint64_t>(value.integer)); break;
      case ProtoKind::kEnum: {
        const std::string_view name = field.values->name(value.integer);
        if (name.empty()) {
          StrAppend(&text, value.integer);
        } else {
          text += name;
        }
        break;
      }
      case ProtoKind::kFloat:
      case ProtoKind::kDouble:
        AppendProtoNumber(&text, field, value.number, {"nan", "inf", "-inf"});
        break;
      case ProtoKind::kString:
      case ProtoKind::kBytes: return WriteString(value.bytes);
      default: StrAppend(&text, value.integer);
    }
    return absl::OkStatus();
  }

  absl::Status WriteString(std::string_view bytes) {
    constexpr std::string_view kSpecial = "\n\r\t\"'\\";
    constexpr std::string_view kLetters = "nrt\"'\\";
    out_.text().push_back('"');
    for (const char c : bytes) {
      std::string& text = out_.text();
      if (const size_t i = kSpecial.find(c); i != std::string_view::npos) {
        text.push_back('\\');
        text.push_back(kLetters[i]);
      } else if (c >= ' ' && c <= '~') {
        text.push_back(c);
      } else {
        const auto byte = static_cast<unsigned char>(c);
        text.push_back('\\');
        text.push_back(static_cast<char>('0' + (byte >> 6)));
        text.push_back(static_cast<char>('0' + (byte >> 3 & 7)));
        text.push_back(static_cast<char>('0' + (byte & 7)));
      }
      X2IR_RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    out_.text().push_back('"');
    return absl::OkStatus();
  }

  ProtoOutput out_;
};

}  // namespace

absl::StatusOr<std::string> ProtoTextToWire(std::string_view text, const ProtoMessage& message,
                                            ProtoUnknown unknown) {
  return TextParser(text, unknown).Parse(message);
}

absl::Status WireToProtoText(std::string_view wire, const ProtoMessage& message,
                             const ProtoPut& put) {
  return TextWriter(put).Write(wire, message);
}

std::string_view FirstProtoTextName(std::string_view head) {
  size_t pos = 0;
  while (pos < head.size() && (IsTextSpace(head[pos]) || head[pos] == '#')) {
    if (head[pos] == '#') {
      while (pos < head.size() && head[pos] != '\n') ++pos;
    } else {
      ++pos;
    }
  }
  size_t end = pos;
  while (end < head.size() && IsTextWord(head[end])) ++end;
  const std::string_view word = head.substr(pos, end - pos);
  while (end < head.size() && IsTextSpace(head[end])) ++end;
  if (end >= head.size() || (head[end] != ':' && head[end] != '{' && head[end] != '<')) return {};
  return word;
}

// --- What both ways of text share ---------------------------------------------------------------

const ProtoField* FindProtoField(const ProtoMessage& message, std::string_view name) {
  const auto* found = std::ranges::find(message.fields, name, &ProtoField::name);
  return found == message.fields.end() ? nullptr : found;
}

const ProtoField* FindProtoField(const ProtoMessage& message, uint32_t number) {
  const auto* found = std::ranges::find(message.fields, number, &ProtoField::number);
  return found == message.fields.end() ? nullptr : found;
}

std::string ProtoFieldProblem(const ProtoMessage& message, const ProtoField* field,
                              std::string_view name, ProtoSeen* seen) {
  if (!field) return StrCat(message.name, " has no field '", name.substr(0, 100), "'");
  if (field->rule == ProtoRule::kMany) return "";
  const auto place = static_cast<size_t>(field - message.fields.data());
  if (seen->test(place)) return StrCat("'", field->name, "' is set twice");
  seen->set(place);
  if (field->rule != ProtoRule::kOneOf) return "";
  for (size_t i = 0; i < message.fields.size(); ++i) {
    const ProtoField& other = message.fields[i];
    if (&other != field && other.rule == ProtoRule::kOneOf && seen->test(i)) {
      return StrCat("'", field->name, "' is set, but '", other.name, "' is already set");
    }
  }
  return "";
}

absl::StatusOr<const ProtoField*> KnownProtoField(const ProtoMessage& message, uint32_t number,
                                                  ProtoSeen* seen) {
  const ProtoField* field = FindProtoField(message, number);
  if (!field) {
    return CannotExpress("text has no name for field ", number, " of ", message.name,
                         ", which is unknown; a binary file can hold it");
  }
  const std::string problem = ProtoFieldProblem(message, field, field->name, seen);
  if (!problem.empty()) return CannotExpress("a ", message.name, ": ", problem);
  return field;
}

void AppendProtoNumber(std::string* text, const ProtoField& field, double number,
                       const ProtoNumberNames& names) {
  if (std::isnan(number)) {
    *text += names.nan;
  } else if (std::isinf(number)) {
    *text += number > 0 ? names.infinity : names.minus_infinity;
  } else if (field.kind == ProtoKind::kFloat) {
    AppendJsonFloat(text, static_cast<float>(number));
  } else {
    AppendJsonDouble(text, number);
  }
}

absl::Status ForEachProtoScalar(WireReader& in, const ProtoField& field,
                                const std::function<absl::Status(const ProtoScalar&)>& f) {
  const bool is_text = field.kind == ProtoKind::kString || field.kind == ProtoKind::kBytes;
  if (in.type() == WireType::kBytes && !is_text && field.rule != ProtoRule::kMany) {
    return CannotExpress("'", field.name, "' is a list where one value is expected");
  }
  switch (field.kind) {
    case ProtoKind::kString:
    case ProtoKind::kBytes: {
      const std::string_view bytes = in.Bytes();
      X2IR_RETURN_IF_ERROR(in.status());
      return f({.bytes = bytes});
    }
    case ProtoKind::kFloat: {
      std::vector<float> values;
      in.AppendFloats(&values);
      X2IR_RETURN_IF_ERROR(in.status());
      for (const float value : values) X2IR_RETURN_IF_ERROR(f({.number = value}));
      return absl::OkStatus();
    }
    case ProtoKind::kDouble: {
      std::vector<double> values;
      in.AppendDoubles(&values);
      X2IR_RETURN_IF_ERROR(in.status());
      for (const double value : values) X2IR_RETURN_IF_ERROR(f({.number = value}));
      return absl::OkStatus();
    }
    default: {
      std::vector<int64_t> values;
      in.AppendInts(&values);
      X2IR_RETURN_IF_ERROR(in.status());
      for (int64_t value : values) {
        // Numbers of 32 bits are the low ones of what the wire has.
        if (field.kind == ProtoKind::kInt32 || field.kind == ProtoKind::kEnum) {
          value = static_cast<int32_t>(value);
        } else if (field.kind == ProtoKind::kUInt32) {
          value = static_cast<uint32_t>(value);
        }
        X2IR_RETURN_IF_ERROR(f({.integer = value}));
      }
      return absl::OkStatus();
    }
  }
}

}  // namespace x2ir
