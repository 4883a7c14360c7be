// A small strict JSON reader, and the pieces of a JSON writer. The reader pulls values out
// of a text that stays in memory (a mapped file): no tree is built, strings without escapes
// are views of the text, and every error says line, column and path.
//
// Strings may hold any bytes. Bytes that are not UTF-8 are written as the escapes \udc80..\udcff
// (lone surrogates, which no Unicode text has), and read back as the byte.
//
//   JsonReader r(text);
//   r.Object([&](std::string_view key) {
//     if (key == "size") size = r.Int(); else r.Skip();
//   });
//   r.Finish();
//   if (!r.ok()) return r.status();
#ifndef X2IR_FORMATS_JSON_H_
#define X2IR_FORMATS_JSON_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

// Errors are sticky: after the first one every call returns at once with an empty value, and
// Object and Array stop, so callers test ok() only before they use the values. Broken JSON is
// DataLoss; JSON that is not what the caller expects is InvalidArgument.
class JsonReader {
 public:
  // `text` must outlive the reader, and the reader must outlive the views that it returns.
  // `python`: NaN, Infinity and -Infinity are numbers too, as Python's json writes them.
  explicit JsonReader(std::string_view text, bool python = false) : text_(text), python_(python) {}
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kBool, kNull, kBad };
  Kind Peek();  // of the next value; kBad at the end, after an error, or for broken JSON

  // Calls f(key) for each member (f consumes the value), or f(index) for each element.
  template <typename F>
  void Object(F&& f);
  template <typename F>
  void Array(F&& f);
  // An object of known keys: f(i) for keys[i]. An unknown or repeated key is an error. Returns a
  // bit set of the keys that were there (at most 32 keys).
  template <typename F>
  uint32_t Members(absl::Span<const std::string_view> keys, F&& f);

  std::string_view String();
  // A number as it is written. `is_float` when it has a fraction or an exponent.
  struct NumberText {
    std::string_view text;
    bool is_float = false;
  };
  NumberText Number();
  int64_t Int();        // without fraction or exponent, within int64
  uint64_t Unsigned();  // the same, not negative
  bool Bool();
  void Skip();    // one value of any kind, of any depth
  void Finish();  // nothing but white space may follow

  // Where the next value starts, to come back to it later in the same reader.
  struct Mark {
    size_t position;
  };
  Mark Here();
  void GoTo(Mark mark) { position_ = mark.position; }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  // Records an error at the value that was read last, unless there already is one.
  void Fail(std::string_view message) { SetError(absl::StatusCode::kInvalidArgument, message); }
  void Fail(const absl::Status& status) { SetError(status.code(), AsView(status)); }

 private:
  struct Step {  // one step of the path to the current value
    std::string_view key;
    size_t index;
    bool is_key;
  };
  static std::string_view AsView(const absl::Status& status) {
    return {status.message().data(), status.message().size()};
  }
  void SetError(absl::StatusCode code, std::string_view message);
  void Broken(std::string_view message) { SetError(absl::StatusCode::kDataLoss, message); }
  void Expected(std::string_view what);
  void SkipSpace();
  bool Take(char c);  // after white space
  void Enter(Step step) {
    if (depth_ == path_.size()) path_.emplace_back();
    path_[depth_++] = step;
  }
  bool Open(char c, std::string_view what);
  bool More(bool first, char close);  // whether another member or element follows
  bool NextKey(std::string_view* key);
  bool ReadWord(std::string_view word);
  std::string_view ReadString();
  bool ReadEscape(std::string* out);
  bool ReadHex4(uint32_t* unit);
  NumberText ReadNumber();
  // Looks at keys[likely] and those after it first: members are in the order of `keys` mostly.
  int FindKey(absl::Span<const std::string_view> keys, std::string_view key, uint32_t seen,
              size_t likely);

  std::string_view text_;
  bool python_;
  size_t position_ = 0;
  size_t value_start_ = 0;  // of the value that was read last, for errors
  absl::Status status_;
  std::vector<Step> path_;  // its first depth_ ones
  size_t depth_ = 0;
  std::deque<std::string> unescaped_;  // strings that had escapes; views of them stay valid
};

// `text` in quotes, any bytes (see above).
void AppendJsonString(std::string* out, std::string_view text);
std::string JsonString(std::string_view text);
// The shortest decimal that reads back as the same value, always with '.' or an exponent,
// so that it is not an integer. The value must be finite.
void AppendJsonFloat(std::string* out, float value);
void AppendJsonDouble(std::string* out, double value);

bool IsValidUtf8(std::string_view text);

// --- Implementation -------------------------------------------------------------------------

template <typename F>
void JsonReader::Object(F&& f) {
  if (!Open('{', "an object")) return;
  for (bool first = true; More(first, '}'); first = false) {
    std::string_view key;
    if (!NextKey(&key)) return;
    Enter({key, 0, true});
    f(key);
    if (!ok()) return;
    --depth_;
  }
}

template <typename F>
void JsonReader::Array(F&& f) {
  if (!Open('[', "a list")) return;
  size_t index = 0;
  for (; More(index == 0, ']'); ++index) {
    Enter({{}, index, false});
    f(index);
    if (!ok()) return;
    --depth_;
  }
}

template <typename F>
uint32_t JsonReader::Members(absl::Span<const std::string_view> keys, F&& f) {
  uint32_t seen = 0;
  size_t likely = 0;
  Object([&](std::string_view key) {
    const int i = FindKey(keys, key, seen, likely);
    if (i < 0) return;
    seen |= uint32_t{1} << i;
    likely = static_cast<size_t>(i) + 1;
    f(i);
  });
  return seen;
}

}  // namespace x2ir

#endif  // X2IR_FORMATS_JSON_H_
