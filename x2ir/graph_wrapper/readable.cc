#include "x2ir/graph_wrapper/readable.h"

#include <algorithm>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr size_t kMaxOfALine = 2000, kShownEnd = 200;
constexpr size_t kMaxOfAMessage = size_t{1} << 20;
constexpr char kHexDigits[] = "0123456789abcdef";

// The greatest end of whole letters at or before `end`.
size_t EndOfLetters(std::string_view text, size_t end) {
  size_t at = end;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;  // a continuation byte, or an overlong form
  if (lead < 0xe0) return tail(1) ? 2 : 0;
  if (lead < 0xf0) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;   // no overlong form
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;  // no surrogate
    return tail(1, low, high) && tail(2) ? 3 : 0;
  }
  if (lead < 0xf5) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;  // not past U+10FFFF
    return tail(1, low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

uint32_t Utf8Character(std::string_view sequence) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(sequence[i])}; };
  if (sequence.size() == 1) return byte(0);
  uint32_t character = byte(0) & (0xffu >> (sequence.size() + 1));
  for (size_t i = 1; i < sequence.size(); ++i) character = character << 6 | (byte(i) & 0x3f);
  return character;
}

bool IsControl(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto add_hex = [&](std::string_view begin, uint32_t number, int digits) {
    out += begin;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
      out += kHexDigits[number >> shift & 15];
    }
  };
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if (IsControl(byte) && byte != '\n' && byte != '\t') {
        add_hex("\\x", byte, 2);
      } else {
        out += text[i];
      }
      ++i;
      continue;
    }
    const size_t length = Utf8Length(text.substr(i));
    if (length == 0) {
      add_hex("\\x", byte, 2);
      ++i;
      continue;
    }
    const std::string_view letter = text.substr(i, length);
    if (const uint32_t character = Utf8Character(letter); IsControl(character)) {
      add_hex("\\u", character, 4);
    } else {
      out += letter;
    }
    i += length;
  }
  return out;
}

std::string ShortMessage(std::string_view message) {
  std::string out;
  for (size_t at = 0; at < message.size();) {
    const size_t newline = std::min(message.find('\n', at), message.size());
    const std::string_view line = message.substr(at, newline - at);
    if (out.size() > kMaxOfAMessage) {
      StrAppend(&out, "... (", message.size() - at, " bytes more)");
      break;
    }
    if (line.size() <= kMaxOfALine) {
      out += line;
    } else {
      const size_t head = EndOfLetters(line, kMaxOfALine - kShownEnd);
      const size_t tail = EndOfLetters(line, line.size() - kShownEnd);
      StrAppend(&out, line.substr(0, head), " ... (", tail - head, " bytes more) ... ",
                line.substr(tail));
    }
    if (newline < message.size()) out += '\n';
    at = newline + 1;
  }
  return out;
}

absl::Status WithShortMessage(const absl::Status& status) {
  if (status.ok() || status.message().size() <= kMaxOfALine) return status;
  absl::Status result(status.code(),
                      ShortMessage({status.message().data(), status.message().size()}));
  status.ForEachPayload(
      [&](absl::string_view name, const absl::Cord& payload) { result.SetPayload(name, payload); });
  return result;
}

}  // namespace x2ir
