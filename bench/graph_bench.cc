// Costs of the parts, per node: building, sorting, inferring and converting a chain of
// blocks. Times per item must not grow with the number of items.
#include <benchmark/benchmark.h>

#include <string>

#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// n nodes: relu, add, sigmoid, mul over and over, in ONNX's dialect.
Model Chain(int64_t n) {
  Model model;
  model.source_dialect = "onnx";
  model.SetOpset("", 17);
  Graph& graph = *model.graph;
  const Type type = Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), 64});
  Value* x = graph.AddInput("x", type);
  Value* last = x;
  static constexpr const char* kOps[] = {"Relu", "Add", "Sigmoid", "Mul"};
  for (int64_t i = 0; i < n; ++i) {
    const char* op = kOps[i % 4];
    const bool binary = i % 2 == 1;
    Node* node =
        binary ? graph.AppendNode("onnx", op, {last, x}) : graph.AppendNode("onnx", op, {last});
    node->set_name(StrCat("node", i));
    last = graph.AddNodeOutput(node, StrCat("value", i));
  }
  graph.AddOutput(last);
  return model;
}

void BuildGraph(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Chain(state.range(0)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BuildGraph)->Arg(2000)->Arg(200000)->Unit(benchmark::kMillisecond);

void SortGraph(benchmark::State& state) {
  Model model = Chain(state.range(0));
  for (auto _ : state) {
    if (!model.graph->Sort().ok()) state.SkipWithError("sort failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(SortGraph)->Arg(2000)->Arg(200000)->Unit(benchmark::kMillisecond);

void ToIrAndBack(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Model model = Chain(state.range(0));
    state.ResumeTiming();
    if (!ToIr(model).ok() || !FromIr(model, "onnx").ok()) state.SkipWithError("conversion failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ToIrAndBack)->Arg(2000)->Arg(200000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace x2ir
