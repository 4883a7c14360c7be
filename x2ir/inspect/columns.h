// Tables for people: columns as wide as their content, and readable numbers.
#ifndef X2IR_INSPECT_COLUMNS_H_
#define X2IR_INSPECT_COLUMNS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// 1234567 as "1,234,567".
std::string Grouped(int64_t n);
// 1536 as "1.5 KiB".
std::string SizeText(int64_t bytes);
// Three significant digits: "0.0123", "1.5e+06".
std::string ShortNumber(double v);

// The short form of a name in a table: for joined names ("a;b;c", as TFLite calls a fused operator)
// the first and the number of others, "a;+2"; for a long name its two ends.
std::string ShortName(std::string_view name);

class Columns {
 public:
  enum Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = kLeft;
  };
  explicit Columns(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell a column. A cell may be longer than kWidest; then the others of its row shift.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  static constexpr size_t kWidest = 48;
  // The titles, and a line a row; "" without rows.
  std::string ToText() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace x2ir

#endif  // X2IR_INSPECT_COLUMNS_H_
