// What the programs may take: memory that follows the graph and not the weights, and time in
// proportion to the nodes. bench/whole_program.sh has the exact bounds.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/sanitized.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Sanitizers take memory and time of their own.
class Resources : public TempDirTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's own needs would be measured";
  }
  struct Usage {
    double cpu_seconds = 0;
    double megabytes = 0;
  };
  // Of a command of one of our programs, which must not fail.
  Usage Run(const std::string& command) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      // The shell in between: a process begins with the peak of the one that it was made from.
      const std::string line =
          StrCat("cd '", folder_.string(), "' && '", X2IR_BIN_DIR, "'/", command, " -q; exit $?");
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    rusage usage{};
    EXPECT_EQ(::wait4(pid, &status, 0, &usage), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return {seconds(usage.ru_utime) + seconds(usage.ru_stime),
            static_cast<double>(usage.ru_maxrss) * 1024e-6};
  }
};

Model Empty() {
  Model model;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.SetOpset("", 17);
  return model;
}

// Convolutions whose weights of 4 MB lie in a file, the second with a batch normalization behind it
// that folds into it; two of the weights have the same bytes.
TEST_F(Resources, MemoryFollowsTheGraph) {
  constexpr int64_t kWidth = 1024, kBytes = kWidth * kWidth * 4, kCount = 24;
  std::ofstream(Path("w.bin"), std::ios::binary).flush();
  ASSERT_EQ(::truncate(Path("w.bin").c_str(), kBytes * kCount), 0);
  {
    std::fstream file(Path("w.bin"), std::ios::binary | std::ios::in | std::ios::out);
    for (int64_t i = 0; i + 1 < kCount; ++i) {
      const float mark = static_cast<float>(i);
      file.seekp(i * kBytes).write(reinterpret_cast<const char*>(&mark), sizeof(mark));
    }
  }
  auto mapped = MappedFile::Open(Path("w.bin"));
  ASSERT_TRUE(mapped.ok());
  Model model = Empty();
  Graph& graph = *model.graph;
  Value* last =
      graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("n"), kWidth, 1, 1}));
  const auto append = [&](const char* op, std::vector<Value*> inputs) {
    Node* node = graph.AppendNode("onnx", op, inputs);
    return graph.AddNodeOutput(node, graph.UniqueName("v"));
  };
  for (int64_t i = 0; i < kCount; ++i) {
    // The last two are all zeros.
    const int64_t at = i + 2 == kCount ? i + 1 : i;
    Value* weight = graph.AddConstant(
        StrCat("w", i), *Tensor::FromFile(DType::kFloat32, {kWidth, kWidth, 1, 1}, *mapped,
                                          static_cast<uint64_t>(at * kBytes), kBytes));
    last = append("Conv", {last, weight});
    if (i % 2 == 1) {
      std::vector<Value*> inputs = {last};
      for (const char* name : {"scale", "bias", "mean", "var"}) {
        Tensor tensor = Tensor::Zeros(DType::kFloat32, {kWidth});
        for (float& x : tensor.mutable_span<float>()) x = 0.5f;
        inputs.push_back(graph.AddConstant(graph.UniqueName(name), std::move(tensor)));
      }
      last = append("BatchNormalization", inputs);
    }
    last = append("Relu", {last});
  }
  graph.AddOutput(last);
  ASSERT_TRUE(
      WriteOnnx(model, Path("m.onnx"), {.external = OnnxWriteOptions::External::kReference}).ok());
  // 20 MB are the program and its tables; of 100 MB of weights half are changed.
  constexpr double kLimit = 76;
  EXPECT_LT(Run("x2ir convert m.onnx --weights reference").megabytes, kLimit);
  EXPECT_LT(Run("ir2onnx export m.json -o r.onnx --external-data reference").megabytes, kLimit);
  // Only what was folded is new.
  EXPECT_LT(fs::file_size(Path("r.onnx.data")), static_cast<uint64_t>(kBytes * kCount * 6 / 10));
  EXPECT_LT(Run("x2ir convert m.onnx -o copy.json --optimize").megabytes, kLimit);
  EXPECT_LT(Run("ir2onnx export copy.json -o copy.onnx --external-data always").megabytes, kLimit);
}

// A SavedModel's variables stay in its data file.
TEST_F(Resources, VariablesAreNotRead) {
  using namespace tf_proto;  // NOLINT
  constexpr int64_t kWidth = 1024, kBytes = kWidth * kWidth * 4, kCount = 24;
  fs::create_directories(Path("m/variables"));
  const std::string data = Path("m/variables/variables.data-00000-of-00001");
  std::ofstream(data, std::ios::binary).flush();
  ASSERT_EQ(::truncate(data.c_str(), kBytes * kCount), 0);
  const Attrs variable = {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr({kWidth, kWidth})}};
  std::vector<std::string> nodes = {NodeDef(
      "x", "Placeholder", {}, {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr({1, kWidth})}})};
  Entries index = {{"", Int(1, 1)}};
  std::string last = "x";
  for (int64_t i = 0; i < kCount; ++i) {
    const std::string name = StrCat("w", i + 10);
    nodes.push_back(NodeDef(name, "VarHandleOp", {}, variable));
    nodes.push_back(NodeDef(name + "/read", "ReadVariableOp", {name}));
    nodes.push_back(NodeDef(name + "/m", "MatMul", {last, name + "/read"}));
    index.emplace_back(name, Int(1, kFloat) + Bytes(2, ShapeProto({kWidth, kWidth})) +
                                 Int(4, i * kBytes) + Int(5, kBytes));
    last = name + "/m";
  }
  std::ofstream(Path("m/saved_model.pb"), std::ios::binary)
      << SavedModel(GraphDef(nodes), "s", {{"x", "x:0", kFloat, {1, kWidth}}},
                    {{"y", last + ":0", kFloat, {1, kWidth}}});
  std::ofstream(Path("m/variables/variables.index"), std::ios::binary) << SortedTable({index});
  EXPECT_LT(Run("x2ir convert m -o n.json").megabytes, 60);
  EXPECT_GT(fs::file_size(Path("n.safetensors")), static_cast<uint64_t>(kBytes * kCount));
  EXPECT_LT(Run("x2ir convert m -o r.json --weights reference").megabytes, 60);
}

TEST_F(Resources, TimeFollowsTheNodes) {
  double before_convert = 0, before_export = 0;
  for (const int64_t count : {10000, 40000}) {
    Model model = Empty();
    Graph& graph = *model.graph;
    Value* x = graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("n"), 64}));
    Value* last = x;
    for (int64_t i = 0; i < count; ++i) {
      Node* node = i % 2 ? graph.AppendNode("onnx", "Add", {last, x})
                         : graph.AppendNode("onnx", "Relu", {last});
      last = graph.AddNodeOutput(node, StrCat("value", i));
    }
    graph.AddOutput(last);
    const std::string name = StrCat("n", count);
    ASSERT_TRUE(WriteOnnx(model, Path(name + ".onnx")).ok());
    const Usage convert = Run(StrCat("x2ir convert ", name, ".onnx"));
    const Usage exported = Run(StrCat("ir2onnx export ", name, ".json -o back.onnx"));
    // Two kilobytes a node, and as much again on other systems.
    EXPECT_LT(convert.megabytes, 60 + 4e-3 * static_cast<double>(count));
    EXPECT_LT(exported.megabytes, 60 + 4e-3 * static_cast<double>(count));
    // Four times the nodes; twenty times the time would not be linear.
    if (before_convert > 0) {
      EXPECT_LT(convert.cpu_seconds, 20 * before_convert + 1);
      EXPECT_LT(exported.cpu_seconds, 20 * before_export + 1);
    }
    before_convert = convert.cpu_seconds;
    before_export = exported.cpu_seconds;
  }
}

}  // namespace
}  // namespace x2ir
