// docs/checkpoints.md lists the architectures that are registered, each once.
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "x2ir/handlers/checkpoint/architectures.h"

namespace x2ir {
namespace {

TEST(Checkpoints, TheListOfArchitecturesIsTrue) {
  const std::string page = ReadFile(std::string(X2IR_SOURCE_DIR) + "/docs/checkpoints.md");
  const size_t from = page.find("## Architectures"), to = page.find("\n\n", page.find("| kind |"));
  ASSERT_NE(from, page.npos);
  ASSERT_NE(to, page.npos);
  const std::string table = page.substr(page.find("| kind |"), to - page.find("| kind |"));
  std::vector<std::string> listed;
  const std::regex name("`([^`]+)`");
  for (std::sregex_iterator it(table.begin(), table.end(), name), end; it != end; ++it) {
    if ((*it)[1] != "model_type") listed.push_back((*it)[1]);
  }
  std::sort(listed.begin(), listed.end());
  std::vector<std::string> registered;
  for (const checkpoint::Architecture* a : checkpoint::AllArchitectures()) {
    registered.push_back(a->model_type);
  }
  EXPECT_EQ(listed, registered);
}

}  // namespace
}  // namespace x2ir
