// The law of targets (ops/target.h): what is decided in ops/ and optimizer/ is decided by facts
// about the target, not by the number of an opset nor by the name of a dialect, which say something
// about one framework alone.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// The one place that may have an opset: for handlers, which are written for one dialect.
constexpr std::string_view kMember = "int opset;";

// The line without comments, and without what stands in string literals.
std::string Code(const std::string& line) {
  static const std::regex literal("\"(\\\\.|[^\"\\\\])*\""), comment("//.*");
  return std::regex_replace(std::regex_replace(line, literal, "\"\""), comment, "");
}

// What is wrong with a line; "" when nothing is.
std::string Violation(const std::string& line) {
  static const std::regex opset("[a-z_0-9]*opset[a-z_0-9]*", std::regex::icase);
  // A literal that is a dialect's name, or a comparison with what Rewrite knows of it.
  static const std::regex dialect(
      "\"onnx\"|(\\.|->)dialect\\s*(==|!=)|(==|!=)\\s*\\w+(\\.|->)dialect\\b");
  const std::string code = Code(line);
  if (std::regex_search(code, opset) && code.find(kMember) == std::string::npos) {
    return "asks for an opset; ask the target for a fact (ops/target.h)";
  }
  if (std::regex_search(line.substr(0, line.find("//")), dialect)) {
    return "asks for a dialect; ask the target for a fact (ops/target.h)";
  }
  return "";
}

TEST(Targets, AreAskedForFacts) {
  int files = 0;
  for (const char* room : {"ops", "optimizer"}) {
    const fs::path root = fs::path(X2IR_SOURCE_DIR) / "x2ir" / room;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      ++files;
      std::ifstream in(entry.path());
      std::string line;
      for (int number = 1; std::getline(in, line); ++number) {
        const std::string violation = Violation(line);
        EXPECT_EQ(violation, "") << entry.path() << ":" << number << ": " << line;
      }
    }
  }
  EXPECT_GT(files, 100);
}

TEST(Targets, TheLawCanFail) {
  const struct {
    const char* line;
    bool allowed;
  } cases[] = {
      {"  if (r.opset < 11) return x;", false},
      {"  if (11 <= r.opset) return x;", false},
      {"  if (opset_ >= 12) return x;", false},
      {"  switch (r.opset) {", false},
      {"  const int target_opset = r.opset;", false},
      {"  explicit Math(Rewrite& r) : opset_(r.opset) {}", false},
      {"  int opset;", true},
      {"  // Before opset 14 it has not.", true},
      {"  x = 1;  // opset < 14", true},
      {"  return CannotExpress(\"opset < 14\");", true},
      {"  if (r.target.Has(\"conv\")) return x;", true},
      {"  if (r.dialect == \"torch\") return x;", false},
      {"  if (target.dialect != \"onnx\") return x;", false},
      {"  if (d == r.dialect) return x;", false},
      {"  Symbol dialect;", true},
      {"  StrCat(node.dialect().str(), \".\");", true},
  };
  for (const auto& c : cases) EXPECT_EQ(Violation(c.line).empty(), c.allowed) << c.line;
}

}  // namespace
}  // namespace x2ir
