// What benchmarks run on.
#ifndef X2IR_BENCH_BENCH_CHAIN_H_
#define X2IR_BENCH_BENCH_CHAIN_H_

#include <vector>

#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

// A model in ONNX's dialect without nodes.
inline Model EmptyModel() {
  Model model;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.SetOpset("", 17);
  return model;
}

// A node of layer i, named as exporters do.
inline Value* Append(Graph& graph, const char* op, const std::vector<Value*>& inputs, int64_t i) {
  Node* node = graph.AppendNode("onnx", op, inputs);
  node->set_name(StrCat("/layers/", i, "/", op));
  return graph.AddNodeOutput(node, StrCat("/layers/", i, "/", op, "_output_0"));
}

// So many nodes: relu, add, sigmoid, mul over and over.
inline Model Chain(int64_t count) {
  Model model = EmptyModel();
  Graph& graph = *model.graph;
  Value* x = graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), 64}));
  Value* last = x;
  static constexpr const char* kOps[] = {"Relu", "Add", "Sigmoid", "Mul"};
  for (int64_t i = 0; i < count; ++i) {
    const bool binary = i % 2 == 1;
    last = Append(graph, kOps[i % 4], binary ? std::vector{last, x} : std::vector{last}, i);
  }
  graph.AddOutput(last);
  return model;
}

}  // namespace x2ir

#endif  // X2IR_BENCH_BENCH_CHAIN_H_
