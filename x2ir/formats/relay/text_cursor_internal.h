// What a text of Relay consists of: words, numbers, comments, and texts in quotes.
#ifndef X2IR_FORMATS_RELAY_TEXT_CURSOR_INTERNAL_H_
#define X2IR_FORMATS_RELAY_TEXT_CURSOR_INTERNAL_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir {
namespace relay {

// A number, or a flag, as the text has it: "1f" is a float32, "1" an int32.
struct Scalar {
  DType dtype = DType::kInt32;
  std::string number{};  // without its suffix: "1", "-1e-05", "inf", "True"
};
// The tensor of rank 0; Invalid for a number that its type does not hold.
absl::StatusOr<Tensor> TensorOfScalar(const Scalar& scalar);

class RelayCursor {
 public:
  explicit RelayCursor(std::string_view text) : text_(text) {}

 protected:
  absl::Status Fail(std::string_view what) const {
    return DataLoss(what, " in ", PlaceInText(text_, pos_));
  }
  // Comments, too; notes the name that a comment gives ("span=conv1:0:0").
  void SkipSpace();
  char Peek() {
    SkipSpace();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool AtEnd() { return SkipSpace(), pos_ >= text_.size(); }
  bool Looks(std::string_view word) {
    SkipSpace();
    return text_.substr(pos_).starts_with(word);
  }
  // Punctuation.
  bool Take(std::string_view word) {
    if (!Looks(word)) return false;
    pos_ += word.size();
    return true;
  }
  absl::Status Expect(std::string_view word) {
    return Take(word) ? absl::OkStatus() : Fail(StrCat("expected '", word, "'"));
  }
  // A word that ends there.
  bool LooksWord(std::string_view word);
  bool TakeWord(std::string_view word);
  // A name: letters, digits, '_'; with `dots` those of operators ("nn.conv2d"), with `any` also
  // what frontends put into names of variables ("layer1.0/weight:0"). Empty where there is none.
  enum class NameKind { kPlain, kDots, kAny };
  std::string_view Name(NameKind kind);
  bool LooksNumber();
  absl::StatusOr<Scalar> Number();
  absl::StatusOr<std::string> Quoted();
  // The span that was noted since the last call.
  std::string TakeSpan() {
    std::string span = std::move(span_);
    span_.clear();
    return span;
  }

  std::string_view text_;
  size_t pos_ = 0;

 private:
  void NoteComment(std::string_view comment);
  std::string span_;
};

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_TEXT_CURSOR_INTERNAL_H_
