#include <algorithm>
#include <cctype>

#include "x2ir/formats/mlir/scanner_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

char Scanner::Next() {
  while (Peek() == '/' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '/') {
    pos_ = std::min(text_.find('\n', pos_), text_.size());
  }
  return Peek();
}

bool Scanner::TakeChar(char c) {
  Next();
  return Take(c);
}

absl::Status Scanner::ExpectChar(char c) {
  Next();
  return Expect(c);
}

bool Scanner::TakeText(std::string_view text) {
  Next();
  if (!text_.substr(pos_).starts_with(text)) return false;
  const size_t end = pos_ + text.size();
  if (IsWordChar(text.back()) && end < text_.size() && IsWordChar(text_[end])) return false;
  pos_ = end;
  return true;
}

absl::Status Scanner::ExpectText(std::string_view text) {
  if (TakeText(text)) return absl::OkStatus();
  return Fail(StrCat("expected '", text, "'"));
}

std::string_view Scanner::PeekWord() {
  Next();
  size_t end = pos_;
  while (end < text_.size() && IsWordChar(text_[end])) ++end;
  return text_.substr(pos_, end - pos_);
}

absl::StatusOr<std::string_view> Scanner::Word() {
  const std::string_view word = PeekWord();
  if (word.empty()) return Fail("expected a word");
  pos_ += word.size();
  return word;
}

absl::StatusOr<int64_t> Scanner::Integer() {
  Next();
  size_t end = pos_;
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end]))) ++end;
  const auto value = ParseNumber<int64_t>(text_.substr(pos_, end - pos_));
  if (!value) return Fail("expected an integer");
  pos_ = end;
  return *value;
}

absl::StatusOr<std::string> Scanner::String() {
  X2IR_RETURN_IF_ERROR(ExpectChar('"'));
  std::string out;
  while (pos_ < text_.size() && text_[pos_] != '"') {
    char c = text_[pos_++];
    if (c == '\n') return Fail("a string is not terminated");
    if (c != '\\') {
      out += c;
      continue;
    }
    if (pos_ >= text_.size()) break;
    c = text_[pos_++];
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (c == '"' || c == '\\') {
      out += c;
    } else {
      const std::string_view hex = text_.substr(pos_ - 1, 2);
      unsigned value = 0;
      const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
      if (error != std::errc() || end != hex.data() + 2) return Fail("an unknown escape");
      ++pos_;
      out += static_cast<char>(value);
    }
  }
  if (pos_ >= text_.size()) return Fail("a string is not terminated");
  ++pos_;
  return out;
}

absl::Status Scanner::SkipString() {
  size_t end = pos_;
  for (;;) {
    end = text_.find('"', end + 1);
    if (end == text_.npos) return Fail("a string is not terminated");
    // A quotation mark after an odd number of backslashes is inside.
    size_t before = end;
    while (before > pos_ && text_[before - 1] == '\\') --before;
    if ((end - before) % 2 == 0) break;
  }
  pos_ = end + 1;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Scanner::SymbolName() {
  X2IR_RETURN_IF_ERROR(ExpectChar('@'));
  std::string name;
  for (;;) {
    if (pos_ < text_.size() && text_[pos_] == '"') {
      X2IR_ASSIGN_OR_RETURN(const std::string part, String());
      name += part;
    } else {
      const size_t from = pos_;
      while (pos_ < text_.size() && (IsWordChar(text_[pos_]) || text_[pos_] == '-')) ++pos_;
      if (pos_ == from) return Fail("expected the name of a symbol");
      name += text_.substr(from, pos_ - from);
    }
    if (!text_.substr(pos_).starts_with("::@")) return name;
    name += "::";
    pos_ += 3;
  }
}

absl::StatusOr<std::string_view> Scanner::Balanced() {
  const size_t from = pos_;
  int depth = 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '"') {
      X2IR_RETURN_IF_ERROR(SkipString());
      continue;
    }
    ++pos_;
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    const bool arrow = c == '>' && text_[pos_ - 2] == '-';
    if ((c == '>' && !arrow) || c == ')' || c == ']' || c == '}') {
      if (--depth == 0) return text_.substr(from, pos_ - from);
      if (depth < 0) break;
    }
  }
  return Fail("brackets do not match");
}

absl::Status Scanner::SkipLocation() {
  if (Next() != 'l' || !TakeText("loc")) return absl::OkStatus();
  if (Next() != '(') return Fail("expected a location");
  return Balanced().status();
}

}  // namespace x2ir::mlir
