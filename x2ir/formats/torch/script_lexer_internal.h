// The words of TorchScript, one at a time: names, numbers, texts, operators, and the lines and
// their indentation.
#ifndef X2IR_FORMATS_TORCH_SCRIPT_LEXER_INTERNAL_H_
#define X2IR_FORMATS_TORCH_SCRIPT_LEXER_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace x2ir::torch_script {

class ScriptLexer {
 protected:
  enum Kind : uint8_t {
    kEnd,
    kNewline,
    kIndent,
    kDedent,
    kWord,  // a name
    kInteger,
    kReal,
    kImaginary,
    kText,
    kOpen,  // ( ) [ ] { }
    kClose,
    kOpenSquare,
    kCloseSquare,
    kOpenBrace,
    kCloseBrace,
    kComma,
    kColon,
    kDot,
    kDots,  // ... and Ellipsis
    kAssign,
    kAugmented,  // += and the like
    kArrow,
    kAt,
    kTilde,
    // The operators with two sides, those that bind least first.
    kOr,
    kAnd,
    kCompare,  // < > <= >= == !=
    kIn,
    kIs,
    kPipe,
    kCaret,
    kAmpersand,
    kShift,
    kSign,   // + -
    kStar,   // *
    kTimes,  // / // %
    kPower,
    // Other words.
    kNot,
    kDef,
    kIf,
    kElse,
    kElif,
    kWhile,
    kReturn,
    kTrue,
    kFalse,
    kNone,
    kFor,
    kRaise,
    kAssert,
    kBreak,
    kContinue,
    kDelete,
    kPass,
    kClass,
    kImport,
    kWith,
    kAs,
    kReserved,  // a word of Python that the language does not have
  };
  struct Token {
    Kind kind = kEnd;
    uint32_t offset = 0;
    std::string_view text;  // as it is written; of a kText what it means
    uint64_t integer = 0;   // at most 2^63
    double real = 0;
  };

  // Texts with escapes go to `strings`.
  ScriptLexer(std::string_view text, std::deque<std::string>* strings);

  // Moves token_ on. The last token is a kEnd, after the ends of all lines and blocks.
  void Next() {
    if (error_.ok()) Read();
  }
  bool Is(Kind kind) const { return token_.kind == kind; }
  bool Take(Kind kind) {
    if (!Is(kind)) return false;
    Next();
    return true;
  }
  // "expected `what`, but there is ..." where token_ is of another kind, which is left there.
  bool Expect(Kind kind, std::string_view what) {
    if (Take(kind)) return true;
    Expected(what);
    return false;
  }
  void Expected(std::string_view what);
  // The text is not of the language. What is said first counts; from here on there are no tokens.
  void Fail(size_t at, std::string_view what);
  bool failed() const { return !error_.ok(); }

  const std::string_view text_;
  Token token_;
  absl::Status error_;  // without the file's name

 private:
  void Read();
  bool ReadIndentation();
  bool SkipBlanks();
  void ReadNumber();
  void ReadWord();
  void ReadOperator();
  void ReadText(size_t quote);
  void ReadEscape(size_t end, std::string* out);
  size_t SkipDigits(size_t at) const;
  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  void Put(Kind kind, size_t length);

  std::deque<std::string>* const strings_;
  size_t pos_ = 0;
  size_t open_ = 0;  // brackets
  bool at_line_start_ = true;
  std::vector<size_t> indents_;  // of the blocks around
  size_t dedents_ = 0;           // to come
};

}  // namespace x2ir::torch_script

#endif  // X2IR_FORMATS_TORCH_SCRIPT_LEXER_INTERNAL_H_
