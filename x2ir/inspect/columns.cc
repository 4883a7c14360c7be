#include "x2ir/inspect/columns.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

std::string Grouped(int64_t n) {
  const std::string digits = StrCat(n);
  const size_t sign = n < 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string SizeText(int64_t bytes) {
  if (bytes < 1024) return StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  double size = static_cast<double>(bytes);
  std::string_view unit;
  for (std::string_view next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.1f ", size);
  return StrCat(text, unit);
}

std::string ShortNumber(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

std::string ShortName(std::string_view name) {
  const size_t others = std::count(name.begin(), name.end(), ';');
  std::string_view first = name.substr(0, name.find(';'));
  const std::string more = others == 0 || first.empty() ? "" : StrCat(";+", others);
  if (first.empty()) first = name;
  constexpr std::string_view kDots = "...";
  if (first.size() + more.size() <= Columns::kWidest) return StrCat(first, more);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  // The end says more than the begin: it is the layer of the module.
  const size_t room = Columns::kWidest - kDots.size() - more.size();
  size_t front = room / 3, back = first.size() - (room - front);
  while (front > 0 && continues(first[front])) --front;
  while (back < first.size() && continues(first[back])) ++back;
  return StrCat(first.substr(0, front), kDots, first.substr(back), more);
}

std::string Columns::ToText() const {
  if (rows_.empty()) return "";
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].title.size());
    for (const auto& row : rows_) {
      widths[i] = std::max(widths[i], std::min(row[i].size(), kWidest));
    }
  }
  std::string text;
  const auto line = [&](const auto& cell_of) {
    std::string cells;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string blanks(cell.size() < widths[i] ? widths[i] - cell.size() : 0, ' ');
      StrAppend(&cells, i ? "  " : "", columns_[i].align == kRight ? blanks : "", cell,
                columns_[i].align == kRight ? "" : blanks);
    }
    cells.erase(cells.find_last_not_of(' ') + 1);
    StrAppend(&text, cells, "\n");
  };
  line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    line([&](size_t i) -> const std::string& { return row[i]; });
  }
  return text;
}

}  // namespace x2ir
