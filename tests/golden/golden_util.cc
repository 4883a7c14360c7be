#include "tests/golden/golden_util.h"

#include <sstream>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

std::string PathOf(const std::string& file) { return StrCat(X2IR_SOURCE_DIR, "/", file); }

}  // namespace

bool UpdatesGolden() { return !Env("X2IR_UPDATE_GOLDEN").empty(); }

std::string ReadGolden(const std::string& file) {
  const std::string text = ReadFile(PathOf(file));
  EXPECT_FALSE(text.empty()) << file;
  return text;
}

void ExpectGolden(const std::string& file, const std::string& text) {
  if (UpdatesGolden()) {
    WriteFile(PathOf(file), text);
  } else {
    EXPECT_EQ(FirstDifference(text, ReadFile(PathOf(file))), "") << file;
  }
}

std::string FirstDifference(const std::string& got, const std::string& want) {
  if (got == want) return "";
  std::stringstream a(want), b(got);
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, x));
    const bool more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return "the end of the last line";
    if (more_a == more_b && x == y) continue;
    return StrCat("line ", line, "\n  expected: ", more_a ? x : "(end)",
                  "\n  got:      ", more_b ? y : "(end)");
  }
}

Reasons ReadReasons(const std::string& file) {
  Reasons reasons;
  std::istringstream lines(ReadGolden(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, line.npos) << file << ": no reason: " << line;
    const std::string name = line.substr(0, colon);
    const std::string reason = colon == line.npos ? "" : line.substr(colon + 2);
    EXPECT_TRUE(reasons.emplace(name, reason).second) << file << ": twice: " << name;
  }
  return reasons;
}

void ExpectReasons(const std::string& file, const std::string& about, const Reasons& found) {
  if (UpdatesGolden()) {
    std::string text = StrCat("# ", about, " (X2IR_UPDATE_GOLDEN=1 writes this file.)\n");
    for (const auto& [name, reason] : found) StrAppend(&text, name, ": ", reason, "\n");
    WriteFile(PathOf(file), text);
    return;
  }
  const Reasons listed = ReadReasons(file);
  for (const auto& [name, reason] : found) {
    EXPECT_TRUE(listed.contains(name)) << file << " lacks " << name << ": " << reason;
  }
  for (const auto& [name, reason] : listed) {
    EXPECT_TRUE(found.contains(name)) << file << " has " << name << ", which is no exception";
  }
}

}  // namespace x2ir
