// Models of NNEF with outputs of tract (tests/data/cases/README.md); framework_util.h says what is
// checked.
//
//   X2IR_NNEF=FOLDER  those of another folder
#include <filesystem>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

fs::path NnefCases() {
  const fs::path root = Env("X2IR_NNEF");
  return root.empty() ? Unpacked("nnef-cases.tar.xz", "nnef-cases") / "nnef-cases" : root;
}

TEST(Nnef, ConvertAndAgree) {
  const std::vector<FrameworkCase> cases = CasesOfFolders(NnefCases());
  ASSERT_GE(cases.size(), 22u);
  CheckFramework({.name = "nnef"}, cases);
}

// Those without outputs, too.
TEST(Nnef, EveryCaseIsRead) {
  size_t read = 0;
  for (const auto& entry : fs::directory_iterator(NnefCases())) {
    const absl::StatusOr<Model> model = Import(entry.path().string());
    EXPECT_TRUE(model.ok()) << entry.path().filename() << ": " << model.status();
    read += model.ok();
  }
  EXPECT_GE(read, 31u);
}

}  // namespace
}  // namespace x2ir
