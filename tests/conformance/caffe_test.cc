// Networks of Caffe, Darknet, ncnn and Caffe2 with outputs of others (tests/data/cases/README.md);
// framework_util.h says what is checked. The two public networks of ncnn and Caffe2 are in
// ../shared.
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

class CaffeFrameworks : public ::testing::TestWithParam<std::string> {};

TEST_P(CaffeFrameworks, ConvertAndAgree) {
  const fs::path archive = Unpacked("caffe-cases.tar.xz", "caffe-cases");
  ASSERT_FALSE(archive.empty());
  Framework framework = {.name = GetParam()};
  if (framework.name == "darknet") framework.import.format_options = {{"decode_heads", true}};
  const std::vector<FrameworkCase> cases = CasesOfFolders(archive / framework.name);
  EXPECT_FALSE(cases.empty());
  for (const FrameworkCase& c : cases) EXPECT_EQ(*DetectFormat(c.model.string()), framework.name);
  CheckFramework(framework, cases);
}

// Public networks that are not a part of this project.
TEST(CaffeFrameworksShared, PublicNetworksAgree) {
  const fs::path shared = Shared("formats");
  if (shared.empty()) GTEST_SKIP() << kNotShared;
  for (const char* folder : {"caffe2/superres", "ncnn/face_slim320"}) {
    SCOPED_TRACE(folder);
    const absl::StatusOr<Model> model = Import((shared / folder).string());
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status same =
        AgreesWithIo(*model, shared / folder / "io.safetensors", {1e-3, 1e-3});
    EXPECT_TRUE(same.ok()) << same;
  }
}

INSTANTIATE_TEST_SUITE_P(Frameworks, CaffeFrameworks,
                         ::testing::Values("caffe", "darknet", "ncnn", "caffe2"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace x2ir
