#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "x2ir/formats/relay/text_cursor_internal.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir {
namespace relay {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "i64", "u8", "f16", "f": what stands behind a number.
std::optional<DType> SuffixType(std::string_view suffix) {
  if (suffix.empty()) return DType::kInt32;
  if (suffix == "f") return DType::kFloat32;
  if (suffix == "h") return DType::kFloat16;
  if (suffix == "b") return DType::kBool;
  const std::string_view kind = suffix[0] == 'i'   ? "int"
                                : suffix[0] == 'u' ? "uint"
                                : suffix[0] == 'f' ? "float"
                                                   : "";
  if (kind.empty()) return std::nullopt;
  return ParseDType(StrCat(kind, suffix.substr(1)));
}

}  // namespace

absl::StatusOr<Tensor> TensorOfScalar(const Scalar& scalar) {
  const std::string& text = scalar.number;
  const DType t = scalar.dtype;
  if (text == "True" || text == "False") return Tensor::ScalarOf(DType::kBool, text == "True");
  if (t == DType::kUInt64) {
    if (const auto number = ParseNumber<uint64_t>(text)) return Tensor::Scalar<uint64_t>(*number);
    return Invalid("'", text, "' is no number of type uint64");
  }
  if (IsInteger(t) || t == DType::kBool) {
    const auto number = ParseNumber<int64_t>(text);
    const int bits = BitWidth(t);
    const int64_t low = IsSignedInt(t) ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t high = t == DType::kBool ? 1 : (int64_t{1} << (bits - IsSignedInt(t))) - 1;
    if (!number || (bits < 64 && (*number < low || *number > high))) {
      return Invalid("'", text, "' is no number of type ", x2ir::Name(t));
    }
    return t == DType::kInt64 ? Tensor::Scalar<int64_t>(*number)
                              : Tensor::ScalarOf(t, static_cast<double>(*number));
  }
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  double number = 0;
  if (rest == "inf") {
    number = HUGE_VAL;
  } else if (rest == "nan") {
    number = std::nan("");
  } else {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (end != rest.data() + rest.size() || error == std::errc::invalid_argument) {
      return Invalid("'", text, "' is no number");
    }
  }
  if (!IsFloating(t) || BitWidth(t) < 16) return Invalid("a number of type ", x2ir::Name(t));
  return Tensor::ScalarOf(t, negative ? -number : number);
}

void RelayCursor::SkipSpace() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    const std::string_view rest = text_.substr(pos_);
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++pos_;
    } else if (rest.starts_with("/*")) {
      // Comments may be nested.
      size_t depth = 1, at = pos_ + 2;
      for (; at < text_.size() && depth > 0; ++at) {
        if (text_.substr(at).starts_with("/*")) {
          ++depth, ++at;
        } else if (text_.substr(at).starts_with("*/")) {
          --depth, ++at;
        }
      }
      NoteComment(text_.substr(pos_, at - pos_));
      pos_ = at;
    } else if (rest.starts_with("//") || (c == '#' && !rest.starts_with("#["))) {
      const size_t end = text_.find('\n', pos_);
      pos_ = end == text_.npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

void RelayCursor::NoteComment(std::string_view comment) {
  constexpr std::string_view kSpan = "span=", kNoLine = ":0:0";
  const size_t at = comment.find(kSpan);
  if (at == comment.npos) return;
  std::string_view name = comment.substr(at + kSpan.size());
  name = name.substr(0, name.find_first_of(" *,"));
  // Places in sources have lines; what frontends call a layer has none.
  if (name.ends_with(kNoLine)) span_ = std::string(name.substr(0, name.size() - kNoLine.size()));
}

bool RelayCursor::LooksWord(std::string_view word) {
  if (!Looks(word)) return false;
  const size_t end = pos_ + word.size();
  return end >= text_.size() || !(IsLetter(text_[end]) || IsDigit(text_[end]));
}

bool RelayCursor::TakeWord(std::string_view word) {
  if (!LooksWord(word)) return false;
  pos_ += word.size();
  return true;
}

std::string_view RelayCursor::Name(NameKind kind) {
  SkipSpace();
  const size_t begin = pos_;
  if (begin >= text_.size() || (!IsLetter(text_[begin]) && kind != NameKind::kAny)) return {};
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    const char next = pos_ + 1 < text_.size() ? text_[pos_ + 1] : '\0';
    const bool plain = IsLetter(c) || IsDigit(c);
    const bool dotted =
        c == '.' && (kind == NameKind::kAny ? IsLetter(next) || IsDigit(next)
                                            : kind == NameKind::kDots && IsLetter(next));
    // "%x: T" declares a type, "%a::b" and "%a:0" are names.
    const bool other =
        kind == NameKind::kAny &&
        ((c == '/' && next != '*' && next != '/') || c == '$' || c == '@' ||
         (c == '-' && next != '>' && (IsLetter(next) || IsDigit(next))) ||
         (c == ':' && (next == ':' || IsDigit(next) || (pos_ > begin && text_[pos_ - 1] == ':'))));
    if (!plain && !dotted && !other) break;
    ++pos_;
  }
  return text_.substr(begin, pos_ - begin);
}

bool RelayCursor::LooksNumber() {
  const char c = Peek();
  if (IsDigit(c)) return true;
  const std::string_view rest = text_.substr(std::min(pos_ + (c == '-' ? 1 : 0), text_.size()));
  if (c == '-' && !rest.empty() && (IsDigit(rest[0]) || rest[0] == '.')) return true;
  for (const std::string_view word : {"inf", "nan"}) {
    if (!rest.starts_with(word)) continue;
    // "inff", "nanf64", and nothing else behind them.
    size_t end = word.size();
    while (end < rest.size() && (IsLetter(rest[end]) || IsDigit(rest[end]))) ++end;
    const std::string_view suffix = rest.substr(word.size(), end - word.size());
    if (suffix.empty() || suffix[0] == 'f') return true;
  }
  return false;
}

absl::StatusOr<Scalar> RelayCursor::Number() {
  SkipSpace();
  size_t end = pos_;
  bool real = false;
  if (end < text_.size() && text_[end] == '-') ++end;
  const auto rest = [&] { return text_.substr(end); };
  if (rest().starts_with("inf") || rest().starts_with("nan")) {
    end += 3;
    real = true;
  } else {
    while (end < text_.size()) {
      const char c = text_[end];
      if ((c == 'e' || c == 'E') && end + 1 < text_.size() &&
          (IsDigit(text_[end + 1]) || text_[end + 1] == '-' || text_[end + 1] == '+')) {
        real = true;
        end += 2;
        continue;
      }
      if (c == '.') real = true;
      if (!IsDigit(c) && c != '.') break;
      ++end;
    }
  }
  Scalar scalar;
  scalar.number = std::string(text_.substr(pos_, end - pos_));
  size_t after = end;
  while (after < text_.size() && (IsLetter(text_[after]) || IsDigit(text_[after]))) ++after;
  const std::string_view suffix = text_.substr(end, after - end);
  const auto dtype = SuffixType(suffix);
  if (!dtype) return Fail(StrCat("a number of an unknown type '", suffix, "'"));
  scalar.dtype = suffix.empty() && real ? DType::kFloat32 : *dtype;
  pos_ = after;
  return scalar;
}

absl::StatusOr<std::string> RelayCursor::Quoted() {
  X2IR_RETURN_IF_ERROR(Expect("\""));
  std::string value;
  while (pos_ < text_.size() && text_[pos_] != '"') {
    if (text_[pos_] == '\\' && pos_ + 1 < text_.size()) {
      ++pos_;
      const char c = text_[pos_];
      value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      value += text_[pos_];
    }
    ++pos_;
  }
  if (pos_ >= text_.size()) return Fail("a text that does not end");
  ++pos_;
  return value;
}

}  // namespace relay
}  // namespace x2ir
