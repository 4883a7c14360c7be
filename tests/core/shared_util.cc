#include "tests/core/shared_util.h"

#include <cstdlib>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"

namespace x2ir {

namespace fs = std::filesystem;

std::filesystem::path Shared(const std::string& below) {
  const std::string users = Env("X2IR_SHARED_USERS");
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (!users.empty() && test) {
    // One short write to the end: tests of several processes come together here.
    std::ofstream(users, std::ios::app)
        << std::string(test->test_suite_name()) + "." + test->name() + "\n";
  }
  const char* given = std::getenv("X2IR_SHARED");
  if (given && !*given) return {};
  const fs::path path = fs::path(given ? given : X2IR_SHARED_DIR) / below;
  return fs::exists(path) ? path : fs::path();
}

}  // namespace x2ir
