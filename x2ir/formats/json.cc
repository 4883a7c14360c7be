// The JSON reader: grammar of RFC 8259, nothing more (no comments, no trailing commas).
#include "x2ir/formats/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether the byte is written in a JSON string unchanged, as one character.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();
bool IsPlain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

// How many bytes from `at` on are plain.
size_t PlainRun(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsPlain(text[end])) ++end;
  return end - at;
}

std::string_view KindName(JsonReader::Kind kind) {
  switch (kind) {
    case JsonReader::Kind::kObject: return "an object";
    case JsonReader::Kind::kArray: return "a list";
    case JsonReader::Kind::kString: return "a string";
    case JsonReader::Kind::kNumber: return "a number";
    case JsonReader::Kind::kBool: return "true or false";
    case JsonReader::Kind::kNull: return "null";
    case JsonReader::Kind::kBad: break;
  }
  return "no JSON";
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    uint64_t eight;
    if (i + sizeof(eight) <= text.size()) {
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      if ((eight & 0x8080808080808080u) == 0) {
        i += sizeof(eight);
        continue;
      }
    }
    const size_t length = Utf8Length(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

// --- Errors and white space -----------------------------------------------------------------

void JsonReader::SetError(absl::StatusCode code, std::string_view message) {
  if (!ok()) return;
  std::string where = PlaceInText(text_, value_start_);
  // A deep path says enough by its ends.
  constexpr size_t kShownSteps = 12;
  std::string path;
  for (size_t i = 0; i < depth_; ++i) {
    if (depth_ > kShownSteps && i == kShownSteps / 2) {
      path += "...";
      i = depth_ - kShownSteps / 2;
    }
    const Step& step = path_[i];
    if (!step.is_key) {
      StrAppend(&path, "[", step.index, "]");
    } else {
      StrAppend(&path, path.empty() ? "" : ".", step.key.substr(0, 100));
    }
  }
  if (!path.empty()) StrAppend(&where, ": ", path);
  status_ = absl::Status(code, StrCat(where, ": ", message));
}

void JsonReader::Expected(std::string_view what) {
  const Kind kind = Peek();
  value_start_ = position_;
  if (kind != Kind::kBad) return Fail(StrCat("expected ", what, ", got ", KindName(kind)));
  if (position_ >= text_.size()) return Broken("the text ends too early");
  Broken(StrCat("expected ", what));
}

inline void JsonReader::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c > ' ' || (c != ' ' && c != '\n' && c != '\t' && c != '\r')) return;
    ++position_;
  }
}

bool JsonReader::Take(char c) {
  SkipSpace();
  if (position_ >= text_.size() || text_[position_] != c) return false;
  ++position_;
  return true;
}

JsonReader::Mark JsonReader::Here() {
  SkipSpace();
  return {position_};
}

JsonReader::Kind JsonReader::Peek() {
  if (!ok()) return Kind::kBad;
  SkipSpace();
  if (position_ >= text_.size()) return Kind::kBad;
  switch (const char c = text_[position_]) {
    case '{': return Kind::kObject;
    case '[': return Kind::kArray;
    case '"': return Kind::kString;
    case 't':
    case 'f': return Kind::kBool;
    case 'n': return Kind::kNull;
    case 'N':
    case 'I': return python_ ? Kind::kNumber : Kind::kBad;
    default: return c == '-' || IsDigit(c) ? Kind::kNumber : Kind::kBad;
  }
}

// --- Structure ------------------------------------------------------------------------------

bool JsonReader::Open(char c, std::string_view what) {
  if (!ok()) return false;
  SkipSpace();
  value_start_ = position_;
  if (Take(c)) return true;
  Expected(what);
  return false;
}

bool JsonReader::More(bool first, char close) {
  if (!ok()) return false;
  if (Take(close)) return false;
  if (first || Take(',')) return true;
  value_start_ = position_;
  Broken(position_ >= text_.size() ? "the text ends too early"
                                   : "expected ',' or the end of a list");
  return false;
}

bool JsonReader::NextKey(std::string_view* key) {
  SkipSpace();
  value_start_ = position_;
  if (position_ >= text_.size() || text_[position_] != '"') {
    Broken("expected a key in quotes");
    return false;
  }
  *key = ReadString();
  if (!ok()) return false;
  if (Take(':')) return true;
  value_start_ = position_;
  Broken("expected ':' after a key");
  return false;
}

int JsonReader::FindKey(absl::Span<const std::string_view> keys, std::string_view key,
                        uint32_t seen, size_t likely) {
  size_t i = likely;
  for (size_t looked_at = 0; looked_at < keys.size(); ++looked_at, ++i) {
    if (i == keys.size()) i = 0;
    if (keys[i] != key) continue;
    if ((seen >> i & 1) == 0) return static_cast<int>(i);
    Fail("this key occurs twice");
    return -1;
  }
  Fail(StrCat("unknown key \"", key.substr(0, 100), "\""));
  return -1;
}

void JsonReader::Skip() {
  // An explicit stack of closing brackets: no depth can exhaust the call stack.
  std::string open;
  do {
    switch (Peek()) {
      case Kind::kString: String(); break;
      case Kind::kNumber: Number(); break;
      case Kind::kBool: Bool(); break;
      case Kind::kNull:
        value_start_ = position_;
        if (!ReadWord("null")) Broken("expected a value");
        break;
      case Kind::kBad: Expected("a value"); break;
      case Kind::kObject:
      case Kind::kArray: {
        const char close = text_[position_] == '{' ? '}' : ']';
        ++position_;
        if (Take(close)) break;
        open.push_back(close);
        if (std::string_view key; close == '}') NextKey(&key);
        continue;
      }
    }
    while (ok() && !open.empty() && Take(open.back())) open.pop_back();
    if (!ok() || open.empty()) return;
    if (!More(false, open.back())) return;
    if (std::string_view key; open.back() == '}') NextKey(&key);
  } while (ok());
}

void JsonReader::Finish() {
  if (!ok()) return;
  SkipSpace();
  value_start_ = position_;
  if (position_ < text_.size()) Broken("text after the end");
}

// --- Strings --------------------------------------------------------------------------------

std::string_view JsonReader::String() {
  if (Peek() != Kind::kString) {
    if (ok()) Expected("a string");
    return {};
  }
  return ReadString();
}

// At the opening quote.
std::string_view JsonReader::ReadString() {
  value_start_ = position_++;
  const size_t start = position_;
  std::string* copy = nullptr;  // once there was an escape
  size_t run = start;           // what is not yet in the copy
  while (position_ < text_.size()) {
    position_ += PlainRun(text_, position_);
    if (position_ == text_.size()) break;
    const char c = text_[position_];
    if (c == '"') {
      const std::string_view rest = text_.substr(run, position_ - run);
      ++position_;
      if (!copy) return rest;
      copy->append(rest);
      return *copy;
    } else if (c == '\\') {
      if (!copy) copy = &unescaped_.emplace_back();
      copy->append(text_.substr(run, position_ - run));
      ++position_;
      if (!ReadEscape(copy)) return {};
      run = position_;
    } else {
      const size_t length = Utf8Length(text_.substr(position_));
      if (static_cast<unsigned char>(c) < 0x20 || length == 0) {
        value_start_ = position_;
        Broken(length == 0 ? "a string that is not UTF-8" : "a control character in a string");
        return {};
      }
      position_ += length;
    }
  }
  Broken("a string is not terminated");
  return {};
}

bool JsonReader::ReadHex4(uint32_t* unit) {
  if (text_.size() - position_ < 4) return false;
  const char* begin = text_.data() + position_;
  // from_chars would take a sign.
  if (!std::all_of(begin, begin + 4, [](char c) {
        return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      })) {
    return false;
  }
  std::from_chars(begin, begin + 4, *unit, 16);
  position_ += 4;
  return true;
}

// After the backslash.
bool JsonReader::ReadEscape(std::string* out) {
  const auto bad = [this] {
    value_start_ = std::min(position_, text_.size());
    Broken("an invalid escape in a string");
    return false;
  };
  if (position_ >= text_.size()) return bad();
  switch (const char c = text_[position_++]) {
    case '"':
    case '\\':
    case '/': out->push_back(c); return true;
    case 'b': out->push_back('\b'); return true;
    case 'f': out->push_back('\f'); return true;
    case 'n': out->push_back('\n'); return true;
    case 'r': out->push_back('\r'); return true;
    case 't': out->push_back('\t'); return true;
    case 'u': break;
    default: return bad();
  }
  uint32_t unit;
  if (!ReadHex4(&unit)) return bad();
  if (unit < 0xd800 || unit > 0xdfff) {
    AppendUtf8(out, unit);
    return true;
  }
  if (unit >= 0xdc80 && unit <= 0xdcff) {  // a byte that is not UTF-8
    out->push_back(static_cast<char>(unit & 0xff));
    return true;
  }
  uint32_t low = 0;
  if (unit > 0xdbff || text_.substr(position_, 2) != "\\u") return bad();
  position_ += 2;
  if (!ReadHex4(&low) || low < 0xdc00 || low > 0xdfff) return bad();
  AppendUtf8(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
  return true;
}

// --- Numbers and words ----------------------------------------------------------------------

JsonReader::NumberText JsonReader::Number() {
  if (Peek() != Kind::kNumber) {
    if (ok()) Expected("a number");
    return {};
  }
  return ReadNumber();
}

JsonReader::NumberText JsonReader::ReadNumber() {
  value_start_ = position_;
  if (python_) {
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (ReadWord(word)) return {word, true};
    }
  }
  size_t i = position_;
  bool is_float = false;
  const auto digits = [&] {
    const size_t from = i;
    while (i < text_.size() && IsDigit(text_[i])) ++i;
    return i > from;
  };
  const auto at = [&](std::string_view chars) {
    return i < text_.size() && chars.find(text_[i]) != std::string_view::npos;
  };
  if (at("-")) ++i;
  bool good = true;
  if (at("0")) {
    ++i;
    good = !(i < text_.size() && IsDigit(text_[i]));
  } else {
    good = digits();
  }
  if (good && at(".")) {
    ++i;
    is_float = true;
    good = digits();
  }
  if (good && at("eE")) {
    ++i;
    is_float = true;
    if (at("+-")) ++i;
    good = digits();
  }
  if (!good) {
    Broken("a malformed number");
    return {};
  }
  const std::string_view text = text_.substr(position_, i - position_);
  position_ = i;
  return {text, is_float};
}

namespace {
template <typename T>
bool ParseInteger(const JsonReader::NumberText& number, T* value) {
  const char* end = number.text.data() + number.text.size();
  if (number.is_float) return false;
  if (number.text == "-0") {  // no unsigned text, yet zero
    *value = 0;
    return true;
  }
  const auto result = std::from_chars(number.text.data(), end, *value);
  return result.ec == std::errc() && result.ptr == end;
}
}  // namespace

int64_t JsonReader::Int() {
  const NumberText number = Number();
  int64_t value = 0;
  if (ok() && !ParseInteger(number, &value)) Fail("expected an integer of 64 bits");
  return ok() ? value : 0;
}

uint64_t JsonReader::Unsigned() {
  const NumberText number = Number();
  uint64_t value = 0;
  if (ok() && !ParseInteger(number, &value)) Fail("expected an integer that is not negative");
  return ok() ? value : 0;
}

bool JsonReader::ReadWord(std::string_view word) {
  if (text_.substr(position_, word.size()) != word) return false;
  position_ += word.size();
  return true;
}

bool JsonReader::Bool() {
  if (Peek() != Kind::kBool) {
    if (ok()) Expected("true or false");
    return false;
  }
  value_start_ = position_;
  if (ReadWord("true")) return true;
  if (!ReadWord("false")) Broken("expected true or false");
  return false;
}

// --- Writing --------------------------------------------------------------------------------

void AppendJsonString(std::string* out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out->push_back('"');
  size_t i = 0;
  while (i < text.size()) {
    const size_t run = PlainRun(text, i);
    out->append(text.substr(i, run));
    i += run;
    if (i == text.size()) break;
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      if (const size_t length = Utf8Length(text.substr(i)); length != 0) {
        // What is shown on a terminal must be JSON still.
        const std::string_view letter = text.substr(i, length);
        if (const uint32_t character = Utf8Character(letter); IsControl(character)) {
          out->append("\\u");
          for (int shift = 12; shift >= 0; shift -= 4)
            out->push_back(kHex[character >> shift & 15]);
        } else {
          out->append(letter);
        }
        i += length;
        continue;
      }
      out->append("\\udc");
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\t') {
      out->append("\\t");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (c >= 0x20 && c != 0x7f) {  // a quote or a backslash
      out->push_back('\\');
      out->push_back(text[i]);
    } else {
      out->append("\\u00");
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
    }
    ++i;
  }
  out->push_back('"');
}

std::string JsonString(std::string_view text) {
  std::string out;
  AppendJsonString(&out, text);
  return out;
}

namespace {
template <typename T>
void AppendShortest(std::string* out, T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  const std::string_view text(buffer, static_cast<size_t>(result.ptr - buffer));
  out->append(text);
  if (text.find_first_of(".e") == std::string_view::npos) out->append(".0");
}
}  // namespace

void AppendJsonFloat(std::string* out, float value) { AppendShortest(out, value); }
void AppendJsonDouble(std::string* out, double value) { AppendShortest(out, value); }

}  // namespace x2ir
