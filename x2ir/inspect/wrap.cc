#include "x2ir/inspect/wrap.h"

#include <algorithm>

namespace x2ir {
namespace {

constexpr size_t kIndent = 6;  // of what follows, more than that of a line

// Where text may be broken after text[i], outside of quotes.
bool MayBreakAfter(std::string_view text, size_t i) {
  return text[i] == ' ' || (text[i] == ',' && i + 1 < text.size() && text[i + 1] != ' ');
}

void AppendLine(std::string_view line, size_t width, std::string* out) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  size_t start = 0, last_break = 0;  // a break is before line[last_break]
  size_t column = 0;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i, ++column) {
    const size_t first = start == 0 ? indent : start;
    if (column >= width && last_break > first) {
      std::string_view part = line.substr(start, last_break - start);
      while (part.ends_with(' ')) part.remove_suffix(1);
      out->append(part).append("\n").append(indent + kIndent, ' ');
      start = last_break;
      column = indent + kIndent + (i - start);
    }
    if (line[i] == '\\' && quoted) {
      ++i;
      ++column;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && MayBreakAfter(line, i)) {
      last_break = i + 1;
    }
  }
  out->append(line.substr(start));
}

}  // namespace

std::vector<std::string> Wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string WrapGraphText(std::string_view text, size_t width) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.size() <= width) {
      out += line;
    } else {
      AppendLine(line, width, &out);
    }
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

}  // namespace x2ir
