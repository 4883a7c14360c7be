// Models of PaddlePaddle with outputs (tests/data/cases/README.md); framework_util.h says what is
// checked.
//
//   X2IR_PADDLE=FOLDER  those of another folder
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Cases that give other numbers, and why.
const std::map<std::string, std::string>& PaddleDifferences() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"win_json_lcnet1_doc_ori_dropout_0",
       "downgrade_in_infer scales by 1 - p at inference; the stored numbers are unscaled"},
      {"win_json_lcnet1_doc_ori_matmul_0", "the same dropout"},
  };
  return *known;
}

TEST(Paddle, ConvertAndAgree) {
  fs::path root = Env("X2IR_PADDLE");
  if (root.empty()) root = Unpacked("paddle-cases.tar.xz", "paddle-cases") / "paddle-cases";
  const std::vector<FrameworkCase> cases = CasesOfFolders(root);
  ASSERT_FALSE(cases.empty());
  CheckFramework({.name = "paddle", .differences = PaddleDifferences()}, cases);
}

}  // namespace
}  // namespace x2ir
