// Lines as black has them. A logical line that is too long is split at brackets, the last first,
// or put into parentheses; the content of brackets is split at its loosest operators. The rules are
// those of black 23: right_hand_split, delimiter_split, and when parentheses are left out.
#include <algorithm>

#include "x2ir/formats/python/classes_internal.h"

namespace x2ir::python {
namespace {

constexpr size_t kBlackColumns = 88;

bool IsOpening(char c) { return c == '(' || c == '[' || c == '{'; }
bool IsClosing(char c) { return c == ')' || c == ']' || c == '}'; }
bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The end of the string literal that begins at `at`.
size_t BehindString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

struct Bracket {
  size_t open, close;
};
// Those outside of all others, from left to right.
std::vector<Bracket> OuterBrackets(std::string_view text) {
  std::vector<Bracket> brackets;
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = BehindString(text, i);
      continue;
    }
    if (IsOpening(c) && ++depth == 1) brackets.push_back({i, text.size()});
    if (IsClosing(c) && --depth == 0) brackets.back().close = i;
    ++i;
  }
  return brackets;
}

// How tightly black takes operators to bind, loosest highest.
enum Priority {
  kDot = 1,
  kPowerOf,
  kTerm,
  kArithmetic,
  kShifts,
  kAnd,
  kXor,
  kOr,
  kComparator,
  kLogic,
  kComma = 18,
  kComprehension = 20
};

struct Delimiter {
  size_t at;  // where a new line begins
  int priority;
};

// Operators outside of all brackets.
std::vector<Delimiter> DelimitersOf(std::string_view text) {
  struct Row {
    std::string_view text;
    int priority;
  };
  constexpr Row kRows[] = {{" for ", kComprehension},
                           {" and ", kLogic},
                           {" or ", kLogic},
                           {" == ", kComparator},
                           {" != ", kComparator},
                           {" < ", kComparator},
                           {" <= ", kComparator},
                           {" > ", kComparator},
                           {" >= ", kComparator},
                           {" | ", kOr},
                           {" ^ ", kXor},
                           {" & ", kAnd},
                           {" << ", kShifts},
                           {" >> ", kShifts},
                           {" + ", kArithmetic},
                           {" - ", kArithmetic},
                           {" * ", kTerm},
                           {" @ ", kTerm},
                           {" / ", kTerm},
                           {" // ", kTerm},
                           {" % ", kTerm},
                           {" ** ", kPowerOf}};
  std::vector<Delimiter> found;
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = BehindString(text, i);
      continue;
    }
    depth += IsOpening(c) - IsClosing(c);
    if (depth == 0 && c == ',') found.push_back({i + 1, kComma});
    if (depth == 0 && c == '.' && i > 0 && IsClosing(text[i - 1])) found.push_back({i, kDot});
    if (depth == 0 && c == ' ') {
      for (const Row& row : kRows) {
        if (text.substr(i, row.text.size()) == row.text) found.push_back({i + 1, row.priority});
      }
    }
    ++i;
  }
  // There is nothing after the last comma.
  if (!found.empty() && found.back().at >= text.size()) found.pop_back();
  return found;
}

int LoosestOf(const std::vector<Delimiter>& delimiters) {
  int loosest = 0;
  for (const Delimiter& d : delimiters) loosest = std::max(loosest, d.priority);
  return loosest;
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

class LineWriter {
 public:
  // `inside`: the text is in brackets.
  void Put(size_t depth, std::string_view text, bool inside, bool must_split = false) {
    if (!must_split && Fits(depth, text)) {
      Emit(depth, text);
    } else if (text.starts_with("def ")) {
      const Bracket first = OuterBrackets(text)[0];
      Emit(depth, text.substr(0, first.open + 1));
      Put(depth + 1, text.substr(first.open + 1, first.close - first.open - 1), true);
      Emit(depth, text.substr(first.close));
    } else if (!inside || !SplitAtDelimiters(depth, text)) {
      SplitAtBrackets(depth, text, inside);
    }
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  static bool Fits(size_t depth, std::string_view text) {
    return 4 * depth + text.size() <= kBlackColumns;
  }
  void Emit(size_t depth, std::string_view text) {
    lines_.push_back(StrCat(std::string(4 * depth, ' '), text));
  }

  bool SplitAtDelimiters(size_t depth, std::string_view text) {
    const std::vector<Delimiter> delimiters = DelimitersOf(text);
    const int loosest = LoosestOf(delimiters);
    const auto is = [&](const Delimiter& d) { return d.priority == loosest; };
    const auto count = std::count_if(delimiters.begin(), delimiters.end(), is);
    // One attribute stays with its object.
    if (count == 0 || (loosest == kDot && count == 1)) return false;
    size_t start = 0;
    const auto put = [&](size_t end) {
      const std::string_view part = Trimmed(text.substr(start, end - start));
      const bool comma = loosest == kComma && !part.ends_with(',');
      Put(depth, comma ? StrCat(part, ",") : std::string(part), true);
      start = end;
    };
    for (const Delimiter& d : delimiters) {
      if (is(d)) put(d.at);
    }
    put(text.size());
    return true;
  }

  // A statement's expression: after "x = ", "return ", "if ", and before a colon.
  static std::pair<size_t, size_t> ExpressionIn(std::string_view statement) {
    size_t start = 0, end = statement.size();
    for (const std::string_view word : {"return ", "if ", "while "}) {
      if (statement.starts_with(word)) start = word.size();
    }
    const std::vector<Bracket> brackets = OuterBrackets(statement);
    for (size_t at = statement.find(" = "); at != statement.npos;
         at = statement.find(" = ", at + 1)) {
      const bool outside = std::none_of(brackets.begin(), brackets.end(), [&](const Bracket& b) {
        return b.open < at && at < b.close;
      });
      if (outside) {
        start = at + 3;
        break;
      }
    }
    if (statement.ends_with(':')) --end;
    return {start, end};
  }

  // Whether an expression reads well without parentheses around it.
  static bool NeedsNoParentheses(size_t depth, std::string_view text) {
    const std::vector<Delimiter> delimiters = DelimitersOf(text);
    if (delimiters.empty()) return true;
    const int loosest = LoosestOf(delimiters);
    const auto count = std::count_if(delimiters.begin(), delimiters.end(),
                                     [&](const Delimiter& d) { return d.priority == loosest; });
    if (count > 1) return false;
    if (loosest == kDot) return true;
    const std::vector<Bracket> brackets = OuterBrackets(text);
    if (brackets.empty()) return false;
    if (const Bracket first = brackets[0]; first.open == 0 && first.close > 1) {
      const size_t end = brackets.size() > 1 ? brackets[1].open + 1 : text.size();
      if (Fits(depth, text.substr(first.close, end - first.close))) return true;
    }
    const Bracket last = brackets.back();
    const bool list = text[last.open] == '[' && (last.open == 0 || text[last.open - 1] == ' ');
    if (last.close + 1 != text.size() || (text[last.open] == '[' && !list)) return false;
    if (last.open + 1 == last.close) return false;
    return brackets.size() > 1 || Fits(depth, text.substr(0, last.open + 1));
  }

  // The brackets that a line is split at: the last for which its beginning fits.
  static const Bracket* BracketOf(size_t depth, std::string_view text,
                                  const std::vector<Bracket>& brackets) {
    const Bracket* last = nullptr;
    for (size_t i = brackets.size(); i-- > 0;) {
      const Bracket& bracket = brackets[i];
      if (bracket.open + 1 == bracket.close) continue;
      if (last && !Fits(depth, text.substr(bracket.close))) break;
      if (Fits(depth, text.substr(0, bracket.open + 1))) return &bracket;
      if (!last) last = &bracket;
    }
    return last;
  }

  // "a, b = f(x)": each target on a line of its own.
  void SplitTargets(size_t depth, std::string_view text, size_t start) {
    Emit(depth, "(");
    SplitAtDelimiters(depth + 1, text.substr(0, start - 3));
    LineWriter rest;  // as if there were one target, of one character
    rest.Put(depth, StrCat("_", text.substr(start - 3)), false);
    rest.lines_[0][4 * depth] = ')';
    lines_.insert(lines_.end(), rest.lines_.begin(), rest.lines_.end());
  }

  void SplitAtBrackets(size_t depth, std::string_view text, bool inside) {
    const auto place = ExpressionIn(text);
    const size_t start = place.first, end = place.second;
    const std::string_view expression = text.substr(start, end - start);
    const bool is_expression = start > 0;
    const auto enclosed = [&](LineWriter& writer) {
      writer.Emit(depth, StrCat(text.substr(0, start), "("));
      const std::vector<Delimiter> delimiters = DelimitersOf(expression);
      writer.Put(depth + 1, expression, true, LoosestOf(delimiters) == kComma);
      writer.Emit(depth, StrCat(")", text.substr(end)));
    };
    std::vector<Bracket> brackets = OuterBrackets(text);
    // A tuple as a target stays.
    if (!inside && is_expression) {
      std::erase_if(brackets, [&](const Bracket& b) { return b.close < start; });
    }
    const Bracket* bracket = BracketOf(depth, text, brackets);
    const bool optional = !inside && is_expression;
    if (optional && bracket && !Fits(depth, text.substr(0, bracket->open + 1)) &&
        text.substr(0, start).find(',') != text.npos) {
      SplitTargets(depth, text, start);
      return;
    }
    if (optional && (!bracket || !NeedsNoParentheses(depth + 1, expression))) {
      if (!bracket && !Fits(depth + 1, expression)) {
        Emit(depth, text);
      } else {
        enclosed(*this);
      }
      return;
    }
    if (!bracket) {
      Emit(depth, text);
      return;
    }
    LineWriter split;
    const std::string_view body =
        text.substr(bracket->open + 1, bracket->close - bracket->open - 1);
    // The elements of a list or a tuple are one a line.
    const bool literal =
        bracket->open == 0 ||
        !(IsWordCharacter(text[bracket->open - 1]) || IsClosing(text[bracket->open - 1])) ||
        (bracket->open == start && optional);
    const bool each = literal && LoosestOf(DelimitersOf(body)) == kComma;
    const std::string_view head = text.substr(0, bracket->open + 1);
    split.Emit(depth, head);
    split.Put(depth + 1, body, true, each);
    split.Emit(depth, text.substr(bracket->close));
    if (optional && !Fits(depth, head)) {
      LineWriter second;
      enclosed(second);
      const auto& lines = second.lines();
      if (std::all_of(lines.begin(), lines.end(),
                      [](const std::string& line) { return line.size() <= kBlackColumns; })) {
        split = std::move(second);
      }
    }
    lines_.insert(lines_.end(), split.lines_.begin(), split.lines_.end());
  }

  std::vector<std::string> lines_;
};

}  // namespace

void AppendLine(std::string& out, size_t indent, std::string_view line) {
  while (line.starts_with("    ")) {
    ++indent;
    line.remove_prefix(4);
  }
  LineWriter writer;
  writer.Put(indent, line, /*inside=*/false);
  for (const std::string& text : writer.lines()) StrAppend(&out, text, "\n");
}

}  // namespace x2ir::python
