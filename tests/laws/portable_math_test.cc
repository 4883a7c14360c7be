// The law of portable functions: what a C library rounds in its own way is not called, so that a
// file has the same bytes wherever it is written (graph_wrapper/portable_math.h).
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "gtest/gtest.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

bool CallsTheCLibrary(const std::string& line) {
  static const std::regex* const function = new std::regex(
      R"(\bstd::(a?(sin|cos|tan)h?|atan2|exp(2|m1)?|log(1p|2|10)?|pow|erfc?|[lt]gamma|cbrt|hypot|polar)f?\b)");
  return std::regex_search(line.substr(0, line.find("//")), *function);
}

TEST(PortableMath, NoOtherFunctionsAreCalled) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(X2IR_SOURCE_DIR) / "x2ir")) {
    const std::string extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      EXPECT_FALSE(CallsTheCLibrary(line))
          << entry.path() << ":" << number << ": " << line
          << "\ncall the function of the same name in portable (graph_wrapper/portable_math.h)";
    }
  }
  EXPECT_GT(files, 500);
}

TEST(PortableMath, SeesCalls) {
  for (const char* line : {"y = std::sin(x);", "{\"log10\", std::log10},", "std::atanh(x)"}) {
    EXPECT_TRUE(CallsTheCLibrary(line)) << line;
  }
  for (const char* line :
       {"y = std::sqrt(x);", "portable::sin(x)", "// std::sin", "std::expected"}) {
    EXPECT_FALSE(CallsTheCLibrary(line)) << line;
  }
}

}  // namespace
}  // namespace x2ir
