// A place in a text that is parsed: what the readers of text formats have in common.
#ifndef X2IR_FORMATS_TEXT_CURSOR_INTERNAL_H_
#define X2IR_FORMATS_TEXT_CURSOR_INTERNAL_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir {

class TextCursor {
 public:
  // `comment` begins a comment, which ends with the line; '\0': there are none.
  explicit TextCursor(std::string_view text, char comment = '\0')
      : text_(text), comment_(comment) {}

 protected:
  // DataLoss that says where.
  absl::Status Fail(std::string_view what) const {
    return DataLoss(what, " in ", PlaceInText(text_, pos_));
  }

  void SkipSpace() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (comment_ != '\0' && c == comment_) {
        while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++pos_;
      } else {
        return;
      }
    }
  }
  // The next character that is not a space; '\0' at the end.
  char Peek() {
    SkipSpace();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c || pos_ >= text_.size()) return false;
    ++pos_;
    return true;
  }
  absl::Status Expect(char c) {
    if (Take(c)) return absl::OkStatus();
    return Fail(StrCat("expected '", std::string_view(&c, 1), "'"));
  }

  std::string_view text_;
  size_t pos_ = 0;

 private:
  char comment_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_TEXT_CURSOR_INTERNAL_H_
