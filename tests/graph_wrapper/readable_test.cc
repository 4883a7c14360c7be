// What people read of bytes from strangers.
#include "x2ir/graph_wrapper/readable.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"
#include "x2ir/graph_wrapper/option_error.h"

namespace x2ir {
namespace {

TEST(Readable, ControlCharactersAreWritten) {
  const struct {
    std::string text, shown;
  } kRows[] = {
      {"plain \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80\n\ttext",
       "plain \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80\n\ttext"},
      {"\x1b[31m\x7f\r", "\\x1b[31m\\x7f\\x0d"},
      {"\xc2\x9b"
       "2J \xc2\x80 \xc2\xa0",
       "\\u009b2J \\u0080 \xc2\xa0"},
      {"a\xe2\x80\xae"
       "b\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8",
       "a\\u202eb\\u2066\\u061c\\u2028"},
      {"\x9b \xff \xe2\x80 \xed\xa0\x80", "\\x9b \\xff \\xe2\\x80 \\xed\\xa0\\x80"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Printable(row.text), row.shown);
    EXPECT_EQ(Printable(row.shown), row.shown);
  }
}

TEST(Readable, MessagesAreShort) {
  EXPECT_EQ(ShortMessage("a\nb\n"), "a\nb\n");
  const std::string name(10'000, 'n');
  const std::string shown = ShortMessage("first\nno op '" + name + "' here\nlast");
  EXPECT_LT(shown.size(), 2'200u);
  EXPECT_EQ(shown.substr(0, 16), "first\nno op 'nnn");
  EXPECT_NE(shown.find(" bytes more) ... nnn"), shown.npos);
  EXPECT_EQ(shown.substr(shown.size() - 12), "n' here\nlast");
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "some failure of a node\n";
  EXPECT_LT(ShortMessage(lines).size(), size_t{2} << 20);
  std::string letters;
  for (int i = 0; i < 3'000; ++i) letters += "\xe4\xb8\xad";
  const std::string cut = ShortMessage(letters);
  EXPECT_EQ(Printable(cut), cut);
  const absl::Status status = WithShortMessage(OptionError("shapes", name));
  EXPECT_LT(status.message().size(), 2'200u);
  EXPECT_EQ(OptionOf(status), "shapes");
}

}  // namespace
}  // namespace x2ir
