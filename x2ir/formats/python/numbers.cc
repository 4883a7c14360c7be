// Numbers in the lines of a forward that may differ between modules of one class: sizes that calls
// are given, and ends of ranges. Places, axes and numbers that are computed with stay what they
// are.
#include "x2ir/graph_wrapper/numbers.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "x2ir/formats/python/classes_internal.h"
#include "x2ir/graph_wrapper/name_pair.h"

namespace x2ir::python {
namespace {

// Calls whose numbers are sizes, and what one of them would be called.
constexpr NamePair kSizedCalls[] = {
    {"reshape", "size"},
    {"view", "size"},
    {"expand", "size"},
    {"repeat", "repeats"},
    {"split", "size"},
    {"broadcast_to", "size"},
    {"zeros", "size"},
    {"ones", "size"},
    {"interpolate", "size"},
    {"adaptive_avg_pool2d", "size"},
    {"roll", "shift"},
    {"pad", "padding"},
    {"avg_pool2d", "kernel_size"},
    {"max_pool2d", "kernel_size"},
};
// Arguments by name that say sizes.
constexpr std::string_view kSizedNames[] = {"size",       "kernel_size", "stride",
                                            "padding",    "groups",      "shifts",
                                            "num_groups", "output_size", "dilation"};

class Scanner {
 public:
  Scanner(std::string_view line, size_t number, std::vector<ForwardNumber>& out)
      : line_(line), number_(number), out_(out) {}

  void Run() {
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (c == '"') {
        SkipString();
      } else if (c == '(' || c == '[' || c == '{') {
        Open(c);
      } else if (c == ')' || c == ']' || c == '}') {
        if (!open_.empty()) open_.pop_back();
        word_ = {};
        ++at_;
      } else if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
        Number();
      } else if (IsWord(c)) {
        const size_t begin = at_;
        while (at_ < line_.size() && IsWord(line_[at_])) ++at_;
        word_ = line_.substr(begin, at_ - begin);
      } else {
        if (c == '=' && !open_.empty()) open_.back().argument = word_;
        if (c == ',' && !open_.empty()) open_.back().argument = {};
        if (c != ' ') word_ = {};
        ++at_;
      }
    }
  }

 private:
  struct Bracket {
    char kind;                  // '(', '[', or 'x' of a subscript
    std::string_view call;      // whose arguments are in it
    std::string_view argument;  // that is given by name
  };

  static bool IsWord(char c) {
    return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
  }
  void SkipString() {
    for (++at_; at_ < line_.size() && line_[at_] != '"'; ++at_) at_ += line_[at_] == '\\';
    ++at_;
    word_ = {};
  }
  void Open(char c) {
    const char before = at_ == 0 ? ' ' : line_[at_ - 1];
    const bool after_word = IsWord(before) || before == ')' || before == ']';
    Bracket bracket{c == '[' && after_word ? 'x' : c, {}, {}};
    if (c == '(' && after_word) {
      bracket.call = word_;
    } else if (c != '{' && !open_.empty() && bracket.kind != 'x') {
      bracket.call = open_.back().call;  // a tuple or a list among the arguments
      bracket.argument = open_.back().argument;
    }
    open_.push_back(bracket);
    word_ = {};
    ++at_;
  }
  // 3, or 1e-05 and 3.5, which are left alone.
  void Number() {
    const size_t begin = at_;
    while (at_ < line_.size() && (IsWord(line_[at_]) || line_[at_] == '.')) {
      const bool exponent = line_[at_] == 'e' && at_ + 1 < line_.size() && line_[at_ + 1] == '-';
      at_ += exponent ? 2 : 1;
    }
    word_ = {};
    const auto number = ParseNumber<int64_t>(line_.substr(begin, at_ - begin));
    if (!number || *number < 2 || open_.empty()) return;
    const auto first_of = [&](std::string_view text) {
      const size_t i = text.find_first_not_of(' ');
      return i == text.npos ? ' ' : text[i];
    };
    const size_t last = line_.substr(0, begin).find_last_not_of(' ');
    const char before = last == line_.npos ? ' ' : line_[last], after = first_of(line_.substr(at_));
    const Bracket& in = open_.back();
    if (in.kind == 'x') {
      if (before == ':' && last > 0 && line_[last - 1] == ':') return;  // a step
      const bool range = (before == ':' && (after == ',' || after == ']')) ||
                         (after == ':' && (before == '[' || before == ',' || before == ':')) ||
                         (before == ':' && after == ':');
      if (range) Add(begin, *number, before == ':' ? "stop" : "start", true);
      return;
    }
    const bool alone = (before == '(' || before == ',' || before == '=' || before == '[') &&
                       (after == ')' || after == ',' || after == ']');
    if (!alone) return;
    if (!in.argument.empty()) {
      if (std::find(std::begin(kSizedNames), std::end(kSizedNames), in.argument) !=
          std::end(kSizedNames)) {
        Add(begin, *number, in.argument, false);
      }
      return;
    }
    for (const NamePair& call : kSizedCalls) {
      if (call.from == in.call) return Add(begin, *number, call.to, false);
    }
  }
  void Add(size_t begin, int64_t number, std::string_view hint, bool of_range) {
    out_.push_back({number_, begin, at_, number, std::string(hint), of_range});
  }

  std::string_view line_;
  size_t number_;
  std::vector<ForwardNumber>& out_;
  size_t at_ = 0;
  std::string_view word_;  // that is directly before
  std::vector<Bracket> open_;
};

}  // namespace

std::vector<ForwardNumber> NumbersOf(const std::vector<std::string>& lines) {
  std::vector<ForwardNumber> numbers;
  for (size_t i = 0; i < lines.size(); ++i) Scanner(lines[i], i, numbers).Run();
  return numbers;
}

std::string WithNumbers(const std::vector<std::string>& lines,
                        const std::vector<ForwardNumber>& numbers,
                        const std::vector<std::string>& texts) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    size_t at = 0;
    for (; next < numbers.size() && numbers[next].line == i; ++next) {
      const ForwardNumber& number = numbers[next];
      if (texts[next].empty()) continue;
      out += line.substr(at, number.begin - at);
      at = number.end;
      const bool spaced = number.of_range && texts[next].size() > 1;
      // x[:, : self.size], x[:, self.size : 2 * self.size]
      if (spaced && out.ends_with(':')) {
        const char before = out.size() > 1 ? out[out.size() - 2] : ' ';
        if (before != ' ' && before != '[') out.insert(out.size() - 1, " ");
        out += ' ';
      }
      out += texts[next];
      if (spaced && line.substr(at).starts_with(':')) {
        out += " :";
        ++at;
        if (at < line.size() && line[at] != ',' && line[at] != ']') out += ' ';
      }
    }
    StrAppend(&out, line.substr(at), "\n");
  }
  return out;
}

}  // namespace x2ir::python
