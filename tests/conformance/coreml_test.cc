// Small models in Core ML's files whose layers are compared with what they are by the comments of
// Core ML's schema, in NumPy and PyTorch (tests/data/cases/README.md); framework_util.h says what
// is checked.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/core/host_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

TEST(CoremlModels, ConvertAndAgree) {
  const fs::path root = Unpacked("coreml-cases.tar.xz", "coreml-cases") / "coreml-cases";
  std::vector<FrameworkCase> cases;
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".mlmodel" || !IsWantedCase(path.stem().string())) continue;
    cases.push_back({path.stem().string(), path, {StrCat(path.string(), ".io.safetensors")}});
  }
  ASSERT_FALSE(cases.empty());
  std::sort(cases.begin(), cases.end(),
            [](const FrameworkCase& a, const FrameworkCase& b) { return a.name < b.name; });
  CheckFramework({.name = "coreml"}, cases);
}

}  // namespace
}  // namespace x2ir
