// The library from several threads, each with models of its own: every thread converts, optimizes,
// evaluates and writes the same graphs, all at the same time, and all must come to what one thread
// alone comes to. `./dev tsan` runs it under the thread sanitizer.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Many ops, old forms, lowerings, folding, nested graphs, an op without a mapping.
constexpr const char* kGraphs[] = {
    R"(graph a(x: float32[2,3,8,8]) -> (y) {
      w = float32[3]{1, 2, 3}
      s = onnx.Shape(x)
      i = int64[]{0}
      n = onnx.Gather(s, i)
      f = onnx.Flatten(x) { axis = 2 }
      e = onnx.Sigmoid(f)
      t = onnx.Transpose(e) { perm = [1, 0] }
      u = onnx.Transpose(t) { perm = [1, 0] }
      y = onnx.Softmax(u) { axis = 1 }
    })",
    R"(graph b(x: float32[4,16]) -> (y) {
      w = float32[16]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
      l = onnx.LayerNormalization(x, w) { axis = -1 }
      g = onnx.Gelu(l)
      h = onnx.HardSwish(g)
      y = onnx.ReduceSum(h)
    })",
    R"(graph c(x: float32[n,5]) -> (y) {
      a = float32[2]{1.5, 2}
      b = onnx.Neg(a)
      c = onnx.Exp(b)
      m = onnx.ReduceMax(c)
      y = onnx.Mul(x, m)
    })",
    R"(graph d(x: float32[3]) -> (y) { y = onnx.NoSuchOp(x) })",
};

// All that happens to a graph, as text. Files go to `folder`.
std::string WorkOn(const char* graph, int opset, const fs::path& folder) {
  std::string result;
  ConvertTextOptions optimized;
  optimized.optimize = true;
  StrAppend(&result, ToIrText(graph, opset, optimized), "\n", ThereAndBackText(graph, opset, 11),
            "\n");
  auto model = ModelFromText(graph, "onnx", opset);
  if (!model.ok()) return StrCat(result, model.status().ToString());
  const std::string onnx = folder / "m.onnx", ir = folder / "m.json";
  Report report;
  if (absl::Status s = WriteOnnx(*model, onnx); !s.ok()) return StrCat(result, s.ToString());
  auto imported = Import(onnx, {}, &report);
  if (!imported.ok()) return StrCat(result, imported.status().ToString());
  std::vector<Datum> inputs;
  for (const Value* input : imported->graph->inputs()) {
    std::vector<int64_t> dims;
    for (const Dim& dim : *input->shape()) dims.push_back(dim.is_static() ? dim.value() : 2);
    inputs.emplace_back(Tensor::Zeros(input->dtype(), dims));
  }
  auto outputs = RunGraph(*imported->graph, std::move(inputs), {});
  StrAppend(&result, outputs.ok() ? "runs" : outputs.status().ToString(), "\n");
  absl::Status status = Write(*imported, ir);
  status.Update(Export(*Load(ir), folder / "n.onnx", {.opset = 18, .check = true}, &report));
  return StrCat(result, status.ToString(), "\n", ReadFile(ir), ReadFile(folder / "n.onnx"));
}

TEST(Threads, ModelsOfTheirOwn) {
  const TempDir dir;
  constexpr int kThreads = 4, kRounds = 3;
  // Together first, so that tables that are made on first use are made there.
  std::vector<std::vector<std::string>> results(kThreads);
  std::vector<std::thread> threads;
  const auto work = [&](int t) {
    const fs::path folder = dir.Path(StrCat(t));
    fs::create_directories(folder);
    for (int round = 0; round < kRounds; ++round) {
      for (const char* graph : kGraphs) {
        results[t].push_back(WorkOn(graph, round % 2 ? 13 : 20, folder));
      }
    }
  };
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> alone;
  std::swap(alone, results[0]);
  work(0);
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(results[t], results[0]) << t;
  EXPECT_EQ(alone, results[0]);
}

}  // namespace
}  // namespace x2ir
