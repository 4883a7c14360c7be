// Models of Keras and of TensorFlow.js with outputs of tf.js, or those that Keras stored
// (tests/data/cases/README.md); framework_util.h says what is checked.
#include <algorithm>
#include <filesystem>
#include <map>
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

// Cases whose expected outputs are others, and why.
const std::map<std::string, std::string>& Differences() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"dl4j-test-resources__embedding_conv1d_flatten_theano_2.h5",
       "tf.js takes Theano's kernels as they are; Keras turns them round"},
      {"dl4j-test-resources__embedding_conv1d_theano_2.h5",
       "tf.js takes Theano's kernels as they are; Keras turns them round"},
  };
  return *known;
}

// Models that nothing else runs, and why they are no IR: a part of the message.
const std::map<std::string, std::string>& Refused() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"dl4j-test-resources__model_lambda.h5", "keras.Lambda (2 nodes)"},
      {"dl4j-test-resources__sequential_lambda.h5", "keras.Lambda (2 nodes)"},
      {"dl4j-test-resources__space_to_depth_graph_tensorflow_2.h5", "keras.Lambda (1 node)"},
      {"dl4j-test-resources__space_to_depth_simple_tensorflow_1.h5", "keras.Lambda (1 node)"},
  };
  return *known;
}

std::vector<FrameworkCase> KerasCases(const fs::path& root) {
  std::vector<FrameworkCase> cases;
  const auto add = [&](FrameworkCase c) {
    if (IsWantedCase(c.name)) cases.push_back(std::move(c));
  };
  for (const char* folder : {"keras_h5", "keras3"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".h5") && !name.ends_with(".keras")) continue;
      FrameworkCase c = {name, entry.path(), {}};
      for (const char* end : {".io.safetensors", ".stored_io.safetensors"}) {
        const fs::path io = entry.path().string() + end;
        if (fs::exists(io)) c.ios.push_back(io);
      }
      add(std::move(c));
    }
  }
  for (const auto& entry : fs::directory_iterator(root / "tfjs")) {
    const fs::path& path = entry.path();
    add({path.filename().string(), path, {path / "io.safetensors"}});
  }
  std::sort(cases.begin(), cases.end(),
            [](const FrameworkCase& a, const FrameworkCase& b) { return a.name < b.name; });
  return cases;
}

fs::path KerasRoot() {
  const fs::path archive = Unpacked("keras-cases.tar.xz", "keras-cases");
  return archive.empty() ? archive : archive / "keras-cases";
}

TEST(KerasModels, ConvertAndAgree) {
  const fs::path root = KerasRoot();
  ASSERT_FALSE(root.empty());
  CheckFramework({.name = "keras",
                  .differences = Differences(),
                  .closeness =
                      [](const std::string& name) {
                        // Halves have three digits.
                        return name.find("float16") == name.npos ? Closeness()
                                                                 : Closeness{.rtol = 4e-3};
                      }},
                 KerasCases(root));
}

// Graph models made by tests/oracle/tfjs_graphs.mjs.
TEST(TfjsGraphs, ConvertAndAgree) {
  const fs::path root = Unpacked("tfjs-graphs.tar.xz", "tfjs-graphs");
  ASSERT_FALSE(root.empty());
  CheckFramework({.name = "tfjs"}, CasesOfFolders(root / "tfjs-graphs"));
}

TEST(KerasModels, OthersAreReadOrRefused) {
  const fs::path root = KerasRoot();
  ASSERT_FALSE(root.empty());
  for (const auto& entry : fs::directory_iterator(root / "keras_h5" / "reader_only")) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const absl::StatusOr<Model> model = Import(entry.path().string());
    const auto refused = Refused().find(name);
    if (refused == Refused().end()) {
      EXPECT_TRUE(model.ok()) << model.status();
    } else {
      ASSERT_FALSE(model.ok());
      EXPECT_NE(model.status().message().find(refused->second), std::string::npos)
          << model.status();
    }
  }
}

}  // namespace
}  // namespace x2ir
