// What optimizing and exporting a large graph costs. Times must grow with the number of nodes.
//
//   x2ir_optimizer_bench [NODES...]        by default 20000 200000
//
// Prints, for each kind of graph and each size, what each of the default passes did and how long it
// took, then the time of the export without passes, and the peak of memory so far.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

constexpr int64_t kWidth = 16;

// What an exporter leaves behind a dense layer: transposes there and back, a shape that nobody
// needs to compute, a scale and a shift.
Value* Block(Builder& b, Value* x, Value* weight, int64_t) {
  Value* y = b.Op("matmul", {x, weight});
  y = b.Op("add", {y, b.Scalar(DType::kFloat32, 0.5)});
  y = b.Op("relu", {y});
  y = b.Op("transpose", {y}, {{"perm", {1, 0}}});
  y = b.Op("sigmoid", {y});
  y = b.Op("transpose", {y}, {{"perm", {1, 0}}});
  Value* shape = b.Op("shape", {x});
  y = b.Op("reshape", {y, shape});
  y = b.Op("mul", {y, b.Scalar(DType::kFloat32, 2)});
  return b.Op("add", {y, x});
}

// Ten that are one in the end.
Value* Reshapes(Builder& b, Value* x, Value*, int64_t) {
  Value* y = x;
  for (int k = 0; k < 9; ++k) {
    y = b.Op("reshape", {y, b.Ints(k % 2 ? std::vector<int64_t>{-1, kWidth}
                                         : std::vector<int64_t>{-1, 4, kWidth / 4})});
  }
  return b.Op("reshape", {y, b.Ints({-1, kWidth})});
}

// The same ten nodes every time, all of them used.
Value* Twins(Builder& b, Value* x, Value* weight, int64_t i) {
  static Value* first = nullptr;
  if (i == 0) first = x;
  Value* y = first;
  for (int k = 0; k < 8; ++k) y = b.Op(k % 2 ? "relu" : "exp", {y});
  y = b.Op("matmul", {y, weight});
  return b.Op("add", {x, y});
}

// Constants all the way, and what they come to.
Value* Constants(Builder& b, Value* x, Value*, int64_t i) {
  Value* c = b.Scalar(DType::kFloat32, static_cast<double>(i % 100));
  for (int k = 0; k < 9; ++k) c = b.Op(k % 2 ? "neg" : "floor", {c});
  return b.Op("add", {x, c});
}

struct Kind {
  const char* name;
  Value* (*block)(Builder&, Value*, Value*, int64_t);
};
constexpr Kind kKinds[] = {
    {"blocks", Block}, {"reshapes", Reshapes}, {"twins", Twins}, {"constants", Constants}};

double Seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool Measure(const Kind& kind, int64_t nodes) {
  Model model;
  Graph& graph = *model.graph;
  Value* x =
      graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), kWidth}));
  Value* weight = graph.AddConstant("weight", Tensor::Zeros(DType::kFloat32, {kWidth, kWidth}));
  Value* last = x;
  for (int64_t i = 0; i < nodes / 10; ++i) {
    Builder b(graph, nullptr);
    last = kind.block(b, last, weight, i);
    for (Node* node : b.made()) graph.NameValues(node, "v");
  }
  graph.AddOutput(last);
  std::printf("%s, %lld nodes\n", kind.name, static_cast<long long>(graph.num_nodes()));
  absl::StatusOr<std::vector<PassResult>> results;
  const double optimizing = Seconds([&] {
    results = RunPasses(graph, DefaultPasses(), {"onnx", 17});
  });
  if (!results.ok()) {
    std::printf("%s\n", results.status().ToString().c_str());
    return false;
  }
  for (const PassResult& result : *results) {
    std::printf("  %-24s %9lld changes %9.3f s\n", result.name.c_str(),
                static_cast<long long>(result.changes), result.seconds);
  }
  const size_t left = graph.num_nodes();
  absl::Status status;
  const double exporting = Seconds([&] {
    ExportOptions options;
    options.optimize = false;
    status = FromIr(model, "onnx", options);
    if (status.ok()) status = SerializeOnnx(model).status();
  });
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("  %zu nodes left; optimizing %.3f s, exporting %.3f s, at most %ld MB so far\n",
              left, optimizing, exporting, usage.ru_maxrss / 1024);
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok();
}

int Main(int argc, char** argv) {
  std::vector<int64_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {20000, 200000};
  bool ok = true;
  for (const Kind& kind : kKinds) {
    for (const int64_t size : sizes) ok = Measure(kind, size) && ok;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace x2ir

int main(int argc, char** argv) { return x2ir::Main(argc, argv); }
