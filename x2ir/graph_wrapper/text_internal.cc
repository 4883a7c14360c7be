// Names and quoted strings of the text forms.
#include "x2ir/graph_wrapper/text_internal.h"

#include <cstdint>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::text_internal {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits at text[*pos], or -1.
int32_t ReadHex4(std::string_view text, size_t* pos) {
  if (text.size() - *pos < 4) return -1;
  int32_t code = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = HexDigit(text[*pos + i]);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  *pos += 4;
  return code;
}

// The code point of a \u escape whose digits start at text[*pos]; -1 when malformed. Two
// halves of a surrogate pair are one code point, half a pair is malformed.
int32_t ReadCodePoint(std::string_view text, size_t* pos) {
  const int32_t code = ReadHex4(text, pos);
  if (code < 0xd800 || code > 0xdfff) return code;
  if (code > 0xdbff || text.substr(*pos, 2) != "\\u") return -1;
  *pos += 2;
  const int32_t low = ReadHex4(text, pos);
  if (low < 0xdc00 || low > 0xdfff) return -1;
  return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

}  // namespace

bool IsIdentifier(std::string_view text) {
  size_t pos = 0;
  return !text.empty() && ReadIdentifier(text, &pos).size() == text.size();
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          out += "\\u00";
          out += kHex[byte >> 4];
          out += kHex[byte & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
  return out;
}

std::string QuoteUnlessIdentifier(std::string_view text) {
  return IsIdentifier(text) ? std::string(text) : Quote(text);
}

std::string_view ReadPlainName(std::string_view text, size_t* pos) {
  auto letter = [](char c) { return IsAlpha(c) || c == '/'; };
  auto inner = [&](char c) { return letter(c) || IsDigit(c) || c == '.' || c == '-'; };
  const size_t start = *pos;
  size_t end = start;
  if (end >= text.size() || !letter(text[end])) return {};
  while (end < text.size()) {
    if (inner(text[end])) {
      ++end;
    } else if (text.substr(end, 2) == "::" && end + 2 < text.size() && inner(text[end + 2])) {
      end += 2;
    } else {
      break;
    }
  }
  if (text.substr(start, end - start) == "_") return {};
  *pos = end;
  return text.substr(start, end - start);
}

std::string NameText(std::string_view name) {
  size_t pos = 0;
  const bool plain = !name.empty() && ReadPlainName(name, &pos).size() == name.size();
  return plain ? std::string(name) : Quote(name);
}

void SkipSpace(std::string_view text, size_t* pos) {
  while (*pos < text.size()) {
    if (text[*pos] == '#') {
      while (*pos < text.size() && text[*pos] != '\n') ++*pos;
    } else if (IsSpace(text[*pos])) {
      ++*pos;
    } else {
      return;
    }
  }
}

std::string_view ReadIdentifier(std::string_view text, size_t* pos) {
  const size_t start = *pos;
  if (start < text.size() && IsAlpha(text[start])) {
    while (*pos < text.size() && (IsAlpha(text[*pos]) || IsDigit(text[*pos]))) ++*pos;
  }
  return text.substr(start, *pos - start);
}

absl::StatusOr<std::string> ReadQuoted(std::string_view text, size_t* pos) {
  if (*pos >= text.size() || text[*pos] != '"') return Invalid("expected a quoted string");
  const size_t start = (*pos)++;
  std::string out;
  while (*pos < text.size()) {
    const char c = text[(*pos)++];
    if (c == '"') return out;
    if (c == '\n') break;
    if (c != '\\') {
      out += c;
      continue;
    }
    const size_t escape = *pos - 1;
    const char kind = *pos < text.size() ? text[(*pos)++] : '\0';
    switch (kind) {
      case '"':
      case '\\':
      case '/': out += kind; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'u': {
        const int32_t code = ReadCodePoint(text, pos);
        if (code < 0) {
          *pos = escape;
          return Invalid("malformed \\u escape in a string");
        }
        AppendUtf8(&out, static_cast<uint32_t>(code));
        break;
      }
      default: *pos = escape; return Invalid("unknown escape in a string");
    }
  }
  *pos = start;
  return Invalid("a string that does not end on its line");
}

}  // namespace x2ir::text_internal
