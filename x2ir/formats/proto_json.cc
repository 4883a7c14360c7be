// Protobuf's JSON mapping, read and written.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/formats/proto_text_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// --- Reading ------------------------------------------------------------------------------------

class JsonToWire {
 public:
  explicit JsonToWire(std::string_view text) : in_(text) {}

  absl::StatusOr<std::string> Read(const ProtoMessage& message) {
    ReadMessage(message, 0);
    in_.Finish();
    if (!in_.ok()) return in_.status();
    return out_.ToString();
  }

 private:
  void ReadMessage(const ProtoMessage& message, int depth) {
    if (depth > kMaxWireDepth) return in_.Fail("messages are nested too deeply");
    ProtoSeen seen;
    in_.Object([&](std::string_view key) {
      const ProtoField* field = FindProtoJsonField(message, key);
      if (const auto problem = ProtoFieldProblem(message, field, key, &seen); !problem.empty()) {
        return in_.Fail(problem);
      }
      if (in_.Peek() == JsonReader::Kind::kNull) return in_.Skip();  // as if it were not there
      if (field->rule == ProtoRule::kMany) {
        in_.Array([&](size_t) { ReadValue(*field, depth); });
      } else {
        ReadValue(*field, depth);
      }
    });
  }

  void ReadValue(const ProtoField& field, int depth) {
    switch (field.kind) {
      case ProtoKind::kMessage:
        out_.Begin(field.number);
        ReadMessage(*field.message, depth + 1);
        out_.End();
        return;
      case ProtoKind::kString: return out_.Bytes(field.number, in_.String());
      case ProtoKind::kBytes: return ReadBytes(field);
      case ProtoKind::kBool: return out_.Int(field.number, in_.Bool());
      case ProtoKind::kFloat:
      case ProtoKind::kDouble: return ReadFloat(field);
      case ProtoKind::kEnum:
        if (in_.Peek() == JsonReader::Kind::kString) {
          const std::string_view name = in_.String();
          if (const auto number = field.values->number(name)) {
            return out_.Int(field.number, *number);
          }
          if (in_.ok())
            in_.Fail(StrCat("'", name.substr(0, 100), "' is not a value of this field"));
          return;
        }
        [[fallthrough]];
      default: return ReadInteger(field);
    }
  }

  // A number, or a string that is one.
  std::string_view NumberText() {
    return in_.Peek() == JsonReader::Kind::kString ? in_.String() : in_.Number().text;
  }

  void ReadInteger(const ProtoField& field) {
    const std::string_view text = NumberText();
    if (!in_.ok()) return;
    const bool wide = field.kind == ProtoKind::kInt64 || field.kind == ProtoKind::kUInt64;
    uint64_t bits = 0;
    bool good = false;
    if (field.kind == ProtoKind::kUInt64 || field.kind == ProtoKind::kUInt32) {
      uint64_t value = 0;
      good = ParseIntegral(text, &value) && (wide || value <= UINT32_MAX);
      bits = value;
    } else {
      int64_t value = 0;
      good = ParseIntegral(text, &value) && (wide || (value >= INT32_MIN && value <= INT32_MAX));
      bits = static_cast<uint64_t>(value);
    }
    if (!good)
      return in_.Fail(StrCat("'", text.substr(0, 100), "' is not an ", IntegerName(field.kind)));
    out_.Varint(field.number, bits);
  }

  static std::string_view IntegerName(ProtoKind kind) {
    switch (kind) {
      case ProtoKind::kInt64: return "integer of 64 bits";
      case ProtoKind::kUInt32: return "integer of 32 bits without a sign";
      case ProtoKind::kUInt64: return "integer of 64 bits without a sign";
      default: return "integer of 32 bits";
    }
  }

  template <typename T>
  static bool ParseIntegral(std::string_view text, T* value) {
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, *value);
    if (result.ec == std::errc() && result.ptr == end) return true;
    // 1.0 and 1e3 are integers, too, as far as a double counts exactly.
    constexpr double kExact = 9007199254740992;
    double number = 0;
    const auto [last, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || last != end || !(std::abs(number) <= kExact) ||
        number != std::floor(number) || (number < 0 && !std::numeric_limits<T>::is_signed)) {
      return false;
    }
    *value = static_cast<T>(number);
    return true;
  }

  void ReadFloat(const ProtoField& field) {
    const std::string_view text = NumberText();
    if (!in_.ok()) return;
    const auto put = [&](auto value) {
      if (field.kind == ProtoKind::kFloat) {
        out_.Float(field.number, static_cast<float>(value));
      } else {
        out_.Double(field.number, static_cast<double>(value));
      }
    };
    using Limits = std::numeric_limits<double>;
    if (text == "NaN") return put(Limits::quiet_NaN());
    if (text == "Infinity") return put(Limits::infinity());
    if (text == "-Infinity") return put(-Limits::infinity());
    const bool good = field.kind == ProtoKind::kFloat ? ParseFloat<float>(text, put)
                                                      : ParseFloat<double>(text, put);
    if (!good)
      in_.Fail(StrCat("'", text.substr(0, 100), "' is not a number that this field can hold"));
  }

  // Rounded once. Numbers that are too small become zero, numbers that are too large are an error.
  template <typename T, typename F>
  static bool ParseFloat(std::string_view text, const F& put) {
    const char* const end = text.data() + text.size();
    T value = 0;
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ptr != end || text.empty()) return false;
    if (result.ec == std::errc::result_out_of_range) {
      const std::string copy(text);
      if constexpr (sizeof(T) == sizeof(float)) {
        value = std::strtof(copy.c_str(), nullptr);
      } else {
        value = std::strtod(copy.c_str(), nullptr);
      }
    } else if (result.ec != std::errc()) {
      return false;
    }
    if (!std::isfinite(value)) return false;
    put(value);
    return true;
  }

  void ReadBytes(const ProtoField& field) {
    const std::string_view text = in_.String();
    if (!in_.ok()) return;
    std::string bytes;
    if (!absl::Base64Unescape(ForAbsl(text), &bytes) &&
        !absl::WebSafeBase64Unescape(ForAbsl(text), &bytes)) {
      return in_.Fail("invalid base64");
    }
    out_.Bytes(field.number, bytes);
  }

  JsonReader in_;
  WireWriter out_;
};

// --- Writing ------------------------------------------------------------------------------------

class JsonWriter {
 public:
  JsonWriter(const ProtoPut& put, ProtoJsonStyle style)
      : out_(put), compact_(style == ProtoJsonStyle::kCompact) {}

  absl::Status Write(std::string_view wire, const ProtoMessage& message) {
    X2IR_RETURN_IF_ERROR(WriteMessage(wire, message, 0));
    if (!compact_) out_.text().push_back('\n');
    return out_.Flush();
  }

 private:
  void AppendName(std::string_view name) {
    std::string& text = out_.text();
    bool upper = false;
    for (const char c : name) {
      if (compact_ && c == '_') {
        upper = true;
        continue;
      }
      text.push_back(upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
      upper = false;
    }
  }

  absl::Status WriteMessage(std::string_view wire, const ProtoMessage& message, int depth) {
    if (depth > kMaxWireDepth) return CannotExpress("messages are nested too deeply");
    // The values of one field need not be contiguous in the wire form.
    std::vector<std::vector<std::string_view>> fields(message.fields.size());
    ProtoSeen seen;
    WireReader in(wire, wire.data());
    while (in.Next()) {
      X2IR_ASSIGN_OR_RETURN(const ProtoField* field, KnownProtoField(message, in.field(), &seen));
      fields[static_cast<size_t>(field - message.fields.data())].push_back(in.raw());
    }
    X2IR_RETURN_IF_ERROR(in.status());
    const std::string indent(static_cast<size_t>(depth) * 2 + 2, ' ');
    out_.text().push_back('{');
    bool first = true;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].empty()) continue;
      const ProtoField& field = message.fields[i];
      if (!first) out_.text().push_back(',');
      if (!compact_) out_.text() += StrCat("\n", indent);
      out_.text().push_back('"');
      AppendName(field.name);
      out_.text() += compact_ ? "\":" : "\": ";
      first = false;
      X2IR_RETURN_IF_ERROR(compact_ && IsMap(field) ? WriteMap(field, fields[i], depth)
                                                    : WriteField(field, fields[i], depth));
    }
    if (!first && !compact_) out_.text() += StrCat("\n", indent.substr(2));
    out_.text().push_back('}');
    return absl::OkStatus();
  }

  // A map's entries are messages of a key, which is a string here, and a value.
  static bool IsMap(const ProtoField& field) {
    return field.kind == ProtoKind::kMessage && field.rule == ProtoRule::kMany &&
           field.message->name.ends_with("Entry") && field.message->fields.size() == 2 &&
           field.message->fields[0].kind == ProtoKind::kString;
  }

  absl::Status WriteMap(const ProtoField& map, const std::vector<std::string_view>& entries,
                        int depth) {
    out_.text().push_back('{');
    bool first = true;
    for (const std::string_view raw : entries) {
      WireReader in(raw, raw.data());
      if (!in.Next()) return in.status();
      WireReader entry(in.Bytes(), raw.data());
      std::string_view key;
      std::vector<std::string_view> value;
      while (entry.Next()) {
        if (entry.field() == map.message->fields[0].number) key = entry.Bytes();
        if (entry.field() == map.message->fields[1].number) value = {entry.raw()};
      }
      X2IR_RETURN_IF_ERROR(entry.status());
      if (!IsValidUtf8(key))
        return CannotExpress("a key that is not UTF-8, which JSON cannot hold");
      if (!std::exchange(first, false)) out_.text().push_back(',');
      AppendJsonString(&out_.text(), key);
      out_.text().push_back(':');
      if (value.empty()) {
        out_.text() += "null";
        continue;
      }
      X2IR_RETURN_IF_ERROR(WriteField(map.message->fields[1], value, depth + 1));
    }
    out_.text().push_back('}');
    return absl::OkStatus();
  }

  absl::Status WriteField(const ProtoField& field, const std::vector<std::string_view>& values,
                          int depth) {
    const std::string_view comma = compact_ ? "," : ", ";
    const bool many = field.rule == ProtoRule::kMany;
    if (many) out_.text().push_back('[');
    bool first = true;
    for (const std::string_view raw : values) {
      WireReader in(raw, raw.data());
      if (!in.Next()) return in.status();
      if (field.kind == ProtoKind::kMessage) {
        const std::string_view inner = in.Bytes();
        X2IR_RETURN_IF_ERROR(in.status());
        if (!std::exchange(first, false)) out_.text() += comma;
        X2IR_RETURN_IF_ERROR(WriteMessage(inner, *field.message, depth + 1));
        continue;
      }
      X2IR_RETURN_IF_ERROR(ForEachProtoScalar(in, field, [&](const ProtoScalar& value) {
        if (!std::exchange(first, false)) out_.text() += comma;
        X2IR_RETURN_IF_ERROR(WriteScalar(field, value));
        return out_.FlushIfLarge();
      }));
    }
    if (many) out_.text().push_back(']');
    return absl::OkStatus();
  }

  absl::Status WriteScalar(const ProtoField& field, const ProtoScalar& value) {
    std::string& text = out_.text();
    switch (field.kind) {
      case ProtoKind::kBool: text += value.integer ? "true" : "false"; break;
      case ProtoKind::kInt64: text += StrCat("\"", value.integer, "\""); break;
      case ProtoKind::kUInt64:
        text += StrCat("\"", static_cast<uint64_t>(value.integer), "\"");
        break;
      case ProtoKind::kEnum: {
        const std::string_view name = field.values->name(value.integer);
        text += name.empty() ? StrCat(value.integer) : StrCat("\"", name, "\"");
        break;
      }
      case ProtoKind::kFloat:
      case ProtoKind::kDouble:
        AppendProtoNumber(&text, field, value.number, {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""});
        break;
      case ProtoKind::kString:
        if (!IsValidUtf8(value.bytes)) {
          return CannotExpress("'", field.name,
                               "' is a string that is not UTF-8, which JSON cannot hold");
        }
        AppendJsonString(&text, value.bytes);
        break;
      case ProtoKind::kBytes: return WriteBytes(value.bytes);
      default: StrAppend(&text, value.integer);
    }
    return absl::OkStatus();
  }

  absl::Status WriteBytes(std::string_view bytes) {
    constexpr size_t kPiece = size_t{3} << 14;  // whole groups of base64
    out_.text().push_back('"');
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
      out_.text() += absl::Base64Escape(ForAbsl(bytes.substr(0, kPiece)));
      X2IR_RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    out_.text().push_back('"');
    return absl::OkStatus();
  }

  ProtoOutput out_;
  const bool compact_;
};

bool IsJsonSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Whether `name` is `field` in lowerCamelCase.
bool IsCamelCaseOf(std::string_view name, std::string_view field) {
  size_t at = 0;
  for (size_t i = 0; i < field.size(); ++i) {
    char c = field[i];
    if (c == '_' && i + 1 < field.size()) {
      c = field[++i];
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    if (at >= name.size() || name[at++] != c) return false;
  }
  return at == name.size();
}

}  // namespace

absl::StatusOr<std::string> ProtoJsonToWire(std::string_view text, const ProtoMessage& message) {
  return JsonToWire(text).Read(message);
}

absl::Status WireToProtoJson(std::string_view wire, const ProtoMessage& message,
                             const ProtoPut& put, ProtoJsonStyle style) {
  return JsonWriter(put, style).Write(wire, message);
}

std::string_view FirstJsonKey(std::string_view head) {
  size_t pos = 0;
  const auto skip = [&] {
    while (pos < head.size() && IsJsonSpace(head[pos])) ++pos;
  };
  skip();
  if (pos >= head.size() || head[pos++] != '{') return {};
  skip();
  if (pos >= head.size() || head[pos++] != '"') return {};
  const size_t end = head.find('"', pos);
  if (end == std::string_view::npos) return {};
  const std::string_view key = head.substr(pos, end - pos);
  pos = end + 1;
  skip();
  return pos < head.size() && head[pos] == ':' ? key : std::string_view();
}

const ProtoField* FindProtoJsonField(const ProtoMessage& message, std::string_view name) {
  if (const ProtoField* field = FindProtoField(message, name)) return field;
  for (const ProtoField& field : message.fields) {
    if (IsCamelCaseOf(name, field.name)) return &field;
  }
  return nullptr;
}

}  // namespace x2ir
