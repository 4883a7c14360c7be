// What optimizing and exporting a large graph costs. Times must grow with the number of nodes.
//
//   x2ir_optimizer_bench [KIND] [NODES...]   by default all kinds, and 20000 200000
//
// Prints, for each kind of graph and each size, what each of the default passes did and how long it
// took, then the time of the export without passes, and the peak of memory so far; at last, how
// many times as long as the first size the last one took. That is of the shortest of three runs, or
// of as many as half a second has room for.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

struct LinearOps : Target {
  bool Holds(const Fact& fact) const override { return fact.op == "gemm" || fact.op == "conv"; }
};

// What an exporter adds after a dense layer: transposes there and back, a shape that need not be
// computed, a scale and a shift.
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

// A layer of a transformer, of three tens of nodes.
Value* Layers(Builder& b, Value* x, Value*, int64_t i) {
  if (i % 3 != 0) return x;
  if (i == 0) x = b.Op("reshape", {x, b.Ints({-1, 8, kWidth})});
  static int32_t count = 0;  // no two are the same
  const auto weights = [&](std::vector<int64_t> dims) {
    Tensor tensor = Tensor::Zeros(DType::kFloat32, std::move(dims));
    ++count;
    std::memcpy(tensor.mutable_bytes().data(), &count, sizeof(count));
    return b.Constant(std::move(tensor));
  };
  const auto linear = [&](Value* of, int64_t from, int64_t to) {
    return b.Op("add", {weights({to}), b.Op("matmul", {of, weights({from, to})})});
  };
  const auto norm = [&](Value* of) {
    return b.Op("layer_normalization", {of, weights({kWidth}), weights({kWidth})});
  };
  const auto heads = [&](Value* of, std::vector<int64_t> perm) {
    Value* y = b.Op("reshape", {linear(of, kWidth, kWidth), b.Ints({0, 0, 4, kWidth / 4})});
    return b.Op("transpose", {y}, {{"perm", std::move(perm)}});
  };
  Value* n = norm(x);
  Value* scores = b.Op("matmul", {heads(n, {0, 2, 1, 3}), heads(n, {0, 2, 3, 1})});
  scores = b.Op("softmax", {b.Op("mul", {scores, b.Scalar(DType::kFloat32, 0.5)})});
  Value* y = b.Op("matmul", {scores, heads(n, {0, 2, 1, 3})});
  y = b.Op("transpose", {y}, {{"perm", {0, 2, 1, 3}}});
  y = b.Op("reshape", {y, b.Ints({0, 0, kWidth})});
  x = b.Op("add", {x, linear(y, kWidth, kWidth)});
  y = b.Op("relu", {linear(norm(x), kWidth, 2 * kWidth)});
  return b.Op("add", {x, linear(y, 2 * kWidth, kWidth)});
}

struct Kind {
  const char* name;
  Value* (*block)(Builder&, Value*, Value*, int64_t);
};
constexpr Kind kKinds[] = {{"blocks", Block},
                           {"reshapes", Reshapes},
                           {"twins", Twins},
                           {"constants", Constants},
                           {"layers", Layers}};

double Seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Optimizing and exporting together, in seconds; below 0 if that fails.
double Measure(const Kind& kind, int64_t nodes, bool print) {
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
  const auto made = static_cast<long long>(graph.num_nodes());
  absl::StatusOr<std::vector<PassResult>> results;
  const double optimizing = Seconds([&] {
    const LinearOps target;
    results = RunPasses(graph, DefaultPasses(), {.target = &target});
  });
  if (!results.ok()) {
    std::printf("%s\n", results.status().ToString().c_str());
    return -1;
  }
  if (print) std::printf("%s, %lld nodes\n", kind.name, made);
  for (const PassResult& result : *results) {
    if (!print) break;
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
  if (!status.ok()) {
    std::printf("%s\n", status.ToString().c_str());
    return -1;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (print) {
    std::printf("  %zu nodes left; optimizing %.3f s, exporting %.3f s, at most %ld MB so far\n",
                left, optimizing, exporting, usage.ru_maxrss / 1024);
  }
  return optimizing + exporting;
}

double Shortest(const Kind& kind, int64_t nodes) {
  double shortest = Measure(kind, nodes, true), all = shortest;
  for (int runs = 1; shortest >= 0 && (runs < 3 || all < 0.5); ++runs) {
    const double again = Measure(kind, nodes, false);
    if (again < 0) return again;
    all += again;
    shortest = std::min(shortest, again);
  }
  return shortest;
}

int Main(int argc, char** argv) {
  std::vector<int64_t> sizes;
  const auto is_kind = [&](const Kind& kind) {
    return argc > 1 && argv[1] == std::string(kind.name);
  };
  const bool one = std::any_of(std::begin(kKinds), std::end(kKinds), is_kind);
  for (int i = one ? 2 : 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {20000, 200000};
  bool ok = true;
  for (const Kind& kind : kKinds) {
    if (one && !is_kind(kind)) continue;
    double first = 0, last = 0;
    for (const int64_t size : sizes) {
      last = Shortest(kind, size);
      if (size == sizes[0]) first = last;
      ok = ok && last >= 0;
    }
    if (first > 0) {
      std::printf("  %.3f s, %.1f times what %lld nodes take\n", last, last / first,
                  static_cast<long long>(sizes[0]));
    }
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace x2ir

int main(int argc, char** argv) { return x2ir::Main(argc, argv); }
