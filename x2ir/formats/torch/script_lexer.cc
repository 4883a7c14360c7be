#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/charconv.h"
#include "x2ir/formats/torch/script_lexer_internal.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir::torch_script {
namespace {

bool IsScriptDigit(char c) { return c >= '0' && c <= '9'; }
bool IsScriptLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsScriptBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
// -1: none.
int ScriptHexDigit(char c) {
  if (IsScriptDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ScriptLexer::ScriptLexer(std::string_view text, std::deque<std::string>* strings)
    : text_(text), strings_(strings) {
  if (text_.size() > std::numeric_limits<uint32_t>::max()) {
    Fail(0, "the text has more than 4 GiB");
  } else {
    Next();
  }
}

void ScriptLexer::Fail(size_t at, std::string_view what) {
  if (failed()) return;
  error_ = DataLoss(PlaceInText(text_, at), ": ", what);
  token_ = Token();
  token_.offset = static_cast<uint32_t>(std::min(at, text_.size()));
}

void ScriptLexer::Expected(std::string_view what) {
  if (failed()) return;
  std::string found;
  switch (token_.kind) {
    case kEnd: found = "the end of the file"; break;
    case kNewline: found = "the end of the line"; break;
    case kIndent: found = "a line that is indented more"; break;
    case kDedent: found = "a line that is indented less"; break;
    case kText: found = "a text"; break;
    default: {
      constexpr size_t kShown = 60;
      found = StrCat("'", Printable(token_.text.substr(0, kShown)),
                     token_.text.size() > kShown ? "..." : "", "'");
    }
  }
  Fail(token_.offset, StrCat("expected ", what, ", but there is ", found));
}

void ScriptLexer::Put(Kind kind, size_t length) {
  token_.kind = kind;
  token_.offset = static_cast<uint32_t>(pos_);
  token_.text = text_.substr(pos_, length);
  pos_ += length;
}

// Spaces and comments up to the next token or the end of the line; false where there is an error.
bool ScriptLexer::SkipBlanks() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (IsScriptBlank(c) || (c == '\n' && open_ > 0)) {
      ++pos_;
    } else if (c == '#') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else if (c == '\\') {
      const size_t end = pos_ + (At(pos_ + 1) == '\r' ? 2 : 1);
      if (At(end) != '\n') {
        Fail(pos_, "a '\\' that does not end its line");
        return false;
      }
      pos_ = end + 1;
    } else {
      return true;
    }
  }
  return true;
}

// At the start of a line; true where it made a token. Lines without code do not count.
bool ScriptLexer::ReadIndentation() {
  size_t start = pos_;
  size_t end = pos_;
  while (true) {
    while (IsScriptBlank(At(end))) ++end;
    if (At(end) == '#') end = std::min(text_.find('\n', end), text_.size());
    if (At(end) != '\n') break;
    start = ++end;
  }
  pos_ = end;
  at_line_start_ = false;
  if (indents_.empty()) indents_.push_back(end - start);
  const size_t indent = end < text_.size() ? end - start : indents_.front();
  if (indent == indents_.back()) return false;
  if (indent > indents_.back()) {
    indents_.push_back(indent);
    Put(kIndent, 0);
    return true;
  }
  while (!indents_.empty() && indents_.back() > indent) {
    indents_.pop_back();
    ++dedents_;
  }
  if (indents_.empty() || indents_.back() != indent) {
    Fail(pos_, "the line is indented less than the one before, but as no other block is");
    return true;
  }
  --dedents_;
  Put(kDedent, 0);
  return true;
}

void ScriptLexer::Read() {
  if (at_line_start_ && ReadIndentation()) return;
  if (dedents_ > 0) {
    --dedents_;
    return Put(kDedent, 0);
  }
  if (!SkipBlanks()) return;
  if (pos_ >= text_.size()) {
    // The last line may lack its end, and blocks end with the file.
    if (open_ == 0 && !Is(kNewline) && !Is(kDedent) && !Is(kEnd)) {
      at_line_start_ = true;
      return Put(kNewline, 0);
    }
    return Put(kEnd, 0);
  }
  const char c = text_[pos_];
  if (c == '\n') {
    at_line_start_ = true;
    return Put(kNewline, 1);
  }
  if (IsScriptLetter(c)) return ReadWord();
  if (IsScriptDigit(c) || (c == '.' && IsScriptDigit(At(pos_ + 1)))) return ReadNumber();
  if (c == '"' || c == '\'') return ReadText(pos_);
  ReadOperator();
}

void ScriptLexer::ReadWord() {
  static const auto* const kWords = new absl::flat_hash_map<std::string_view, Kind>{
      {"Ellipsis", kDots}, {"False", kFalse},     {"None", kNone},
      {"True", kTrue},     {"and", kAnd},         {"as", kAs},
      {"assert", kAssert}, {"async", kReserved},  {"await", kReserved},
      {"break", kBreak},   {"class", kClass},     {"continue", kContinue},
      {"def", kDef},       {"del", kDelete},      {"elif", kElif},
      {"else", kElse},     {"except", kReserved}, {"finally", kReserved},
      {"for", kFor},       {"from", kImport},     {"global", kReserved},
      {"if", kIf},         {"import", kImport},   {"in", kIn},
      {"is", kIs},         {"lambda", kReserved}, {"nonlocal", kReserved},
      {"not", kNot},       {"or", kOr},           {"pass", kPass},
      {"raise", kRaise},   {"return", kReturn},   {"try", kReserved},
      {"while", kWhile},   {"with", kWith},       {"yield", kReserved},
  };
  constexpr size_t kLongest = 8;
  size_t end = pos_ + 1;
  while (IsScriptLetter(At(end)) || IsScriptDigit(At(end))) ++end;
  const size_t length = end - pos_;
  if (length <= 2 && (At(end) == '"' || At(end) == '\'')) return ReadText(end);
  Kind kind = kWord;
  if (length <= kLongest) {
    const auto it = kWords->find(text_.substr(pos_, length));
    if (it != kWords->end()) kind = it->second;
  }
  Put(kind, length);
}

size_t ScriptLexer::SkipDigits(size_t at) const {
  while (IsScriptDigit(At(at))) ++at;
  return at;
}

void ScriptLexer::ReadNumber() {
  int base = 10;
  size_t digits = pos_;
  size_t end = pos_;
  if (At(pos_) == '0') {
    switch (At(pos_ + 1) | 0x20) {
      case 'x': base = 16; break;
      case 'o': base = 8; break;
      case 'b': base = 2; break;
      default: break;
    }
  }
  bool real = false;
  if (base != 10) {
    digits += 2;
    end = digits;
    for (int d = ScriptHexDigit(At(end)); d >= 0 && d < base; d = ScriptHexDigit(At(end))) ++end;
    if (end == digits) return Fail(pos_, "a number without digits");
  } else {
    end = SkipDigits(end);
    if (At(end) == '.') {
      real = true;
      end = SkipDigits(end + 1);
    }
    if (const char e = At(end); e == 'e' || e == 'E') {
      const size_t exponent = end + (At(end + 1) == '+' || At(end + 1) == '-' ? 2 : 1);
      if (IsScriptDigit(At(exponent))) {
        real = true;
        end = SkipDigits(exponent);
      }
    }
  }
  const bool imaginary = base == 10 && (At(end) == 'j' || At(end) == 'J');
  const char* const begin = text_.data() + digits;
  if (real || imaginary) {
    token_.real = 0;
    const auto result = absl::from_chars(begin, text_.data() + end, token_.real);
    if (result.ec == std::errc::result_out_of_range && token_.real > 1) {
      token_.real = std::numeric_limits<double>::infinity();
    }
    return Put(imaginary ? kImaginary : kReal, end - pos_ + imaginary);
  }
  token_.integer = 0;
  const auto result = std::from_chars(begin, text_.data() + end, token_.integer, base);
  if (result.ec != std::errc() || token_.integer > uint64_t{1} << 63) {
    return Fail(pos_, "an integer that 64 bits do not hold");
  }
  Put(kInteger, end - pos_);
}

// A text of which the quote is at `quote`, after its prefix.
void ScriptLexer::ReadText(size_t quote) {
  bool raw = false;
  for (size_t i = pos_; i < quote; ++i) {
    switch (text_[i] | 0x20) {
      case 'r': raw = true; break;
      case 'u': break;
      case 'f': return Fail(pos_, "texts with a format (f'...') are not read");
      case 'b': return Fail(pos_, "texts of bytes (b'...') are not read");
      default: return Fail(pos_, "a text with an unknown prefix");
    }
  }
  const char c = text_[quote];
  const size_t marks = At(quote + 1) == c && At(quote + 2) == c ? 3 : 1;
  const size_t begin = quote + marks;
  bool plain = true;
  size_t end = begin;
  while (true) {
    if (end >= text_.size()) return Fail(pos_, "a text without its end");
    const char d = text_[end];
    if (d == c && (marks == 1 || (At(end + 1) == c && At(end + 2) == c))) break;
    if (d == '\n' && marks == 1) return Fail(pos_, "a text that does not end in its line");
    if (d == '\\') {
      plain = false;
      ++end;
    }
    ++end;
  }
  const size_t start = pos_;
  std::string_view meaning = text_.substr(begin, end - begin);
  if (!plain && !raw) {
    std::string& out = strings_->emplace_back();
    out.reserve(end - begin);
    pos_ = begin;
    while (pos_ < end && !failed()) {
      if (text_[pos_] == '\\') {
        ReadEscape(end, &out);
      } else {
        const size_t next = std::min(text_.find('\\', pos_), end);
        out.append(text_, pos_, next - pos_);
        pos_ = next;
      }
    }
    if (failed()) return;
    meaning = out;
  }
  pos_ = start;
  Put(kText, end + marks - start);
  token_.text = meaning;
}

// The escape at pos_, in a text that ends at `end`.
void ScriptLexer::ReadEscape(size_t end, std::string* out) {
  const size_t start = pos_;
  const auto rest = [&](size_t i) { return start + i < end ? text_[start + i] : '\0'; };
  const char c = rest(1);
  pos_ = start + 2;
  const auto put_hex = [&](size_t digits) {
    uint32_t code = 0;
    for (size_t i = 0; i < digits; ++i) {
      const int digit = ScriptHexDigit(rest(2 + i));
      if (digit < 0) return Fail(start, StrCat("an escape that lacks its ", digits, " digits"));
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    if (code > 0x10ffff) return Fail(start, "an escape of no character");
    pos_ += digits;
    // \x is a byte: the escapes of a text are those of its UTF-8.
    if (digits == 2) {
      out->push_back(static_cast<char>(code));
    } else {
      AppendUtf8(out, code);
    }
  };
  // Where bytes have a sign, PyTorch writes those that are not ASCII as three octal digits, each
  // with the sign: "0" - 3 is "-".
  const auto digit_with_sign = [&](size_t i) { return rest(i) - '0'; };
  if ((c == '0' || c == '/' || c == '.') && rest(2) >= ')' && rest(2) <= '0' && rest(3) >= ')' &&
      rest(3) <= '0') {
    pos_ = start + 4;
    out->push_back(
        static_cast<char>(64 * digit_with_sign(1) + 8 * digit_with_sign(2) + digit_with_sign(3)));
    return;
  }
  switch (c) {
    case '\n': return;
    case '\r':
      if (rest(2) == '\n') ++pos_;
      return;
    case 'a': out->push_back('\a'); return;
    case 'b': out->push_back('\b'); return;
    case 'f': out->push_back('\f'); return;
    case 'n': out->push_back('\n'); return;
    case 'r': out->push_back('\r'); return;
    case 't': out->push_back('\t'); return;
    case 'v': out->push_back('\v'); return;
    case '\\':
    case '\'':
    case '"': out->push_back(c); return;
    case 'x': return put_hex(2);
    case 'u': return put_hex(4);
    case 'U': return put_hex(8);
    case 'N': return Fail(start, "characters by name (\\N) are not read");
    default: break;
  }
  if (c >= '0' && c <= '7') {
    int code = 0;
    pos_ = start + 1;
    for (size_t i = 1; i <= 3 && rest(i) >= '0' && rest(i) <= '7'; ++i, ++pos_) {
      code = code * 8 + (rest(i) - '0');
    }
    if (code > 0xff) return Fail(start, "an escape of no byte");
    out->push_back(static_cast<char>(code));
    return;
  }
  // Any other is no escape.
  out->push_back('\\');
  pos_ = start + 1;
}

void ScriptLexer::ReadOperator() {
  const char c = text_[pos_];
  const char second = At(pos_ + 1);
  const bool assigns = second == '=';
  const auto close = [&](Kind kind) {
    if (open_ > 0) --open_;
    Put(kind, 1);
  };
  const auto open = [&](Kind kind) {
    ++open_;
    Put(kind, 1);
  };
  // An operator of one or two characters, or that with "=".
  const auto arithmetic = [&](Kind kind, Kind twice) {
    const size_t length = second == c && twice != kEnd ? 2 : 1;
    if (At(pos_ + length) == '=') return Put(kAugmented, length + 1);
    Put(length == 2 ? twice : kind, length);
  };
  switch (c) {
    case '(': return open(kOpen);
    case ')': return close(kClose);
    case '[': return open(kOpenSquare);
    case ']': return close(kCloseSquare);
    case '{': return open(kOpenBrace);
    case '}': return close(kCloseBrace);
    case ',': return Put(kComma, 1);
    case ':': return Put(kColon, 1);
    case '~': return Put(kTilde, 1);
    case '.':
      if (second == '.' && At(pos_ + 2) == '.') return Put(kDots, 3);
      return Put(kDot, 1);
    case '=': return assigns ? Put(kCompare, 2) : Put(kAssign, 1);
    case '!':
      if (assigns) return Put(kCompare, 2);
      break;
    case '<':
    case '>':
      if (second == c) return arithmetic(kShift, kShift);
      return Put(kCompare, assigns ? 2 : 1);
    case '-':
      if (second == '>') return Put(kArrow, 2);
      [[fallthrough]];
    case '+': return arithmetic(kSign, kEnd);
    case '*': return arithmetic(kStar, kPower);
    case '/': return arithmetic(kTimes, kTimes);
    case '%': return arithmetic(kTimes, kEnd);
    case '@': return arithmetic(kAt, kEnd);
    case '|': return arithmetic(kPipe, kEnd);
    case '^': return arithmetic(kCaret, kEnd);
    case '&': return arithmetic(kAmpersand, kEnd);
    default: break;
  }
  Fail(pos_, "a character that the language does not have");
}

}  // namespace x2ir::torch_script
