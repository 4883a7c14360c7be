// Networks of MXNet with PyTorch's outputs (tests/data/cases/README.md); framework_util.h says what
// is checked. What NNVM can say is written as its graph and read again.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// What an opset cannot say.
const std::map<std::string, std::string>& Refused() {
  static const auto* const refused = new std::map<std::string, std::string>{
      {"regions@13",
       "regions with half pixels and as many samples as they are large: from opset 16"}};
  return *refused;
}
// Those that NNVM's operators can say.
const std::set<std::string>& InNnvm() {
  static const auto* const all =
      new std::set<std::string>{"resnet_0_8", "resnet_0_9_5",  "resnet_1_7", "mobilenet_blocks",
                                "mtcnn",      "squeezenet1_1", "unet",       "foreach"};
  return *all;
}

fs::path MxnetRoot() {
  const fs::path archive = Unpacked("mxnet-cases.tar.xz", "mxnet-cases");
  return archive.empty() ? archive : archive / "mxnet-cases";
}

TEST(MxnetNetworks, ConvertAndAgree) {
  ASSERT_FALSE(MxnetRoot().empty());
  CheckFramework({.name = "mxnet", .refused = Refused()}, CasesOfFolders(MxnetRoot()));
}

// Written as NNVM's files and read again they compute the same; the second writing is the first,
// byte by byte.
TEST(MxnetNetworks, ThereAndBackAsNnvm) {
  ASSERT_FALSE(MxnetRoot().empty());
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "nnvm";
  fs::create_directories(dir);
  for (const auto& [name, folder, ios] : CasesOfFolders(MxnetRoot())) {
    SCOPED_TRACE(name);
    absl::StatusOr<Model> model = Import(folder.string());
    ASSERT_TRUE(model.ok()) << model.status();
    const std::string path = (dir / (name + ".json")).string();
    const auto to_nnvm = [](Model ir, const std::string& to) {
      return Export(std::move(ir), to, {.format = "nnvm", .format_options = {{"force", true}}});
    };
    const absl::Status written = to_nnvm(*std::move(model), path);
    EXPECT_EQ(written.ok(), InNnvm().contains(name)) << written;
    if (!written.ok()) continue;
    absl::StatusOr<Model> again = Import(path);
    ASSERT_TRUE(again.ok()) << again.status();
    const absl::Status same = AgreesWithIo(*again, ios[0]);
    EXPECT_TRUE(same.ok()) << same;
    // The numbers of its rounds are constants, which get other names when they are read.
    if (name == "foreach") continue;
    const std::string second = (dir / (name + ".again.json")).string();
    ASSERT_TRUE(to_nnvm(*std::move(again), second).ok());
    EXPECT_EQ(ReadFile(path), ReadFile(second));
    EXPECT_EQ(ReadFile(dir / (name + ".params")), ReadFile(dir / (name + ".again.params")));
  }
}

}  // namespace
}  // namespace x2ir
