// The law of formats: core knows none of them. It looks them up in their registry, so that one more
// is a folder of its own (docs/design.md).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/core/dialect.h"
#include "x2ir/formats/format.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Strings = std::vector<std::string>;

std::string TextOf(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Folders of formats/ from which a format is registered.
std::set<std::string> FormatFolders() {
  std::set<std::string> folders;
  const fs::path root = fs::path(X2IR_SOURCE_DIR) / "x2ir/formats";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".cc") continue;
    if (TextOf(entry.path()).find(" = RegisterFormat(") == std::string::npos) continue;
    folders.insert(fs::relative(entry.path(), root).begin()->string());
  }
  return folders;
}

// Lines of a file of core that include a format or name one.
Strings Violations(const std::string& text, const std::set<std::string>& folders,
                   const std::set<std::string>& names) {
  static const std::regex include("\\s*#\\s*include\\s*\"x2ir/formats/([a-z_]+)/.*");
  static const std::regex literal("\"([^\"]*)\"");
  Strings found;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    std::smatch match;
    if (std::regex_match(line, match, include)) {
      if (folders.count(match[1])) found.push_back(line);
      continue;
    }
    const std::string code = line.substr(0, line.find("//"));
    // A name for rows, which says their dialect.
    if (code.starts_with("#define X2IR_ONNX(")) continue;
    for (std::sregex_iterator it(code.begin(), code.end(), literal), last; it != last; ++it) {
      if (names.count((*it)[1])) found.push_back(line);
    }
  }
  return found;
}

std::set<std::string> NamesOfFormats() {
  std::set<std::string> names;
  for (const Format* format : AllFormats()) {
    names.insert(format->name);
    if (!format->dialect.empty()) names.insert(format->dialect);
    names.insert(format->extensions.begin(), format->extensions.end());
  }
  return names;
}

TEST(Formats, CoreKnowsNone) {
  const std::set<std::string> folders = FormatFolders(), names = NamesOfFormats();
  EXPECT_THAT(folders, SizeIs(testing::Ge(4u)));
  EXPECT_THAT(names, testing::IsSupersetOf({"onnx", "tf", ".pt2"}));
  int files = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(X2IR_SOURCE_DIR) / "x2ir/core")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_THAT(Violations(TextOf(entry.path()), folders, names), IsEmpty()) << entry.path();
  }
  EXPECT_GT(files, 20);
}

TEST(Formats, TheLawCanFail) {
  const std::set<std::string> folders = {"onnx"}, names = {"onnx", ".onnx"};
  const struct {
    const char* line;
    bool allowed;
  } rows[] = {
      {"#include \"x2ir/formats/onnx/onnx.h\"", false},
      {"#include \"x2ir/formats/format.h\"", true},
      {"#include \"x2ir/formats/safetensors/safetensors.h\"", true},
      {"if (dialect == \"onnx\") {", false},
      {"path.ends_with(\".onnx\")", false},
      {"// as \"onnx\" does", true},
      {"Invalid(\"ONNX's onnx\")", true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Violations(row.line, folders, names).empty(), row.allowed) << row.line;
  }
}

// What is promised of bytes from strangers names every format that is read.
TEST(Formats, AreInThePageOnSecurity) {
  const std::string page = TextOf(fs::path(X2IR_SOURCE_DIR) / "docs/security.md");
  for (const Format* format : AllFormats()) {
    if (!format->read) continue;
    EXPECT_NE(page.find("`" + format->name + "`"), std::string::npos) << format->name;
  }
}

// What --help, `x2ir formats` and messages are made of.
TEST(Formats, SayWhatTheyAre) {
  for (const Format* format : AllFormats()) {
    SCOPED_TRACE(format->name);
    EXPECT_FALSE(format->doc.empty());
    EXPECT_FALSE(format->doc.ends_with("."));
    EXPECT_TRUE(format->read || format->write);
    EXPECT_EQ(static_cast<bool>(format->read), static_cast<bool>(format->recognize));
    // What is read of folders alone has no extension.
    EXPECT_TRUE(!format->extensions.empty() || !format->write);
    for (const std::string& extension : format->extensions) EXPECT_EQ(extension[0], '.');
    if (!format->dialect.empty()) {
      EXPECT_TRUE(FindDialect(format->dialect)) << format->dialect;
    }
    for (const auto* options : {&format->read_options, &format->write_options}) {
      std::set<std::string> names;
      for (const OptionDef& option : *options) {
        SCOPED_TRACE(option.name);
        EXPECT_TRUE(names.insert(option.name).second);
        EXPECT_TRUE(std::regex_match(option.name, std::regex("[a-z][a-z0-9]*(_[a-z0-9]+)*")));
        EXPECT_FALSE(option.help.empty());
        EXPECT_FALSE(option.help.ends_with("."));
        EXPECT_EQ(option.type == OptionDef::kChoice, !option.choices.empty());
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
