// ONNX's node tests as models of NNEF, through their files, and back: the same results. Half of
// them are written as folders, half as archives, of which half are compressed. What is not written
// stands in tests/golden/nnef_one_way.txt with the reason, and in nnef_standard_one_way.txt what is
// not written where the file must not need tract.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes these lists
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/conformance/node_back_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/compare.h"

namespace x2ir {
namespace {

// Written to memory, and read from there.
ThroughFile ThroughModel(size_t kind, bool standard) {
  return [kind, standard](const Model& written) -> absl::StatusOr<Model> {
    const auto files = std::make_shared<std::map<std::string, std::string>>();
    const std::string name = kind == 1 ? "m.nnef.tar" : kind == 3 ? "m.nnef.tgz" : "m.nnef";
    X2IR_RETURN_IF_ERROR(WriteNnef(written, IntoMemory(name, files), standard));
    if (kind % 2 != 0) return ReadNnef(FromMemory("", name, files));
    return ReadNnef(FromMemory("m.nnef/", "graph.nnef", files));
  };
}

TEST(NnefBack, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "nnef", [](size_t number) { return ThroughModel(number % 4, /*standard=*/false); },
      "tests/golden/nnef_one_way.txt", "Node tests that are not written as models of NNEF.");
}

TEST(NnefBack, NodeTestsComeBackByTheStandard) {
  ExpectNodeTestsComeBack(
      "nnef", [](size_t number) { return ThroughModel(number % 4, /*standard=*/true); },
      "tests/golden/nnef_standard_one_way.txt",
      "Node tests that are not written as models of NNEF by its standard alone.");
}

// Networks through a file and back, compared node by node. Where sizes of inputs are not known and
// NNEF needs them, the error says how to give them, and then the network is written.
TEST(NnefBack, NetworksComeBack) {
  const std::filesystem::path root = Shared("models");
  if (root.empty()) GTEST_SKIP() << kNotShared;
  size_t networks = 0, with_sizes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".onnx" || !IsWantedCase(path.string())) continue;
    SCOPED_TRACE(path.lexically_relative(root).string());
    ImportOptions from;
    auto ir = Import(path.string(), from);
    ASSERT_TRUE(ir.ok()) << ir.status();
    const std::string io = (path.parent_path() / "io.safetensors").string();
    auto cases = ReadIoFile(io, *ir->graph);
    ASSERT_TRUE(cases.ok() && !cases->empty()) << cases.status();
    cases->resize(1);
    auto files = std::make_shared<std::map<std::string, std::string>>();
    const auto write = [&] {
      files->clear();
      return Export(ir->Clone(), IntoMemory("m.nnef", files), {.format = "nnef"});
    };
    absl::Status written = write();
    if (!written.ok()) {
      EXPECT_THAT(std::string(written.message()), testing::HasSubstr("option 'shapes' in_0:"));
      for (size_t i = 0; i < ir->graph->inputs().size(); ++i) {
        from.shapes.emplace_back(ir->graph->inputs()[i]->name(), (*cases)[0].inputs[i]->shape());
      }
      ir = Import(path.string(), from);
      ASSERT_TRUE(ir.ok()) << ir.status();
      written = write();
      ++with_sizes;
    }
    ASSERT_TRUE(written.ok()) << written;
    const auto again = Import(FromMemory("m.nnef/", "graph.nnef", files), {.format = "nnef"});
    ASSERT_TRUE(again.ok()) << again.status();
    const auto compared = CompareModels(*ir, *again, *cases);
    ASSERT_TRUE(compared.ok()) << compared.status();
    EXPECT_TRUE(compared->agrees()) << compared->ToText();
    ++networks;
  }
  std::printf("nnef: %zu networks are written and come back, %zu of them with sizes of inputs\n",
              networks, with_sizes);
}

}  // namespace
}  // namespace x2ir
