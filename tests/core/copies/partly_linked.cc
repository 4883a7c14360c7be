// A program that links the archive as any other, not whole: nothing registers itself.
#include <cstdio>

#include "x2ir/core/convert.h"

int main() {
  x2ir::Model model;
  model.source_dialect = "onnx";
  model.SetOpset("", 17);
  x2ir::Graph& graph = *model.graph;
  x2ir::Value* x = graph.AddInput("x", x2ir::Type::Tensor(x2ir::DType::kFloat32));
  graph.AddOutput(graph.AddNodeOutput(graph.AppendNode("onnx", "Conv", {x, x}), "y"));
  std::printf("%s\n--\n", x2ir::ToIr(model).ToString().c_str());

  x2ir::Model ir;
  x2ir::Value* in = ir.graph->AddInput("x", x2ir::Type::Tensor(x2ir::DType::kFloat32));
  ir.graph->AddOutput(ir.graph->AddNodeOutput(ir.graph->AppendNode("", "relu", {in}), "y"));
  std::printf("%s\n", x2ir::FromIr(ir, "onnx", {.optimize = false}).ToString().c_str());
  return 0;
}
