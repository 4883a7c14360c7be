// Complex inputs and outputs of a program as pairs of real numbers, which is what runtimes take.
#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/complex.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/prepare.h"

namespace x2ir {
namespace {

// The type of a complex tensor as pairs of its parts along a last axis of size 2.
Type PairsType(const Type& complex) {
  const DType part = PartType(complex.dtype());
  if (!complex.shape()) return Type::Tensor(part);
  Shape pairs = Shape::UnknownDims(complex.shape()->rank() + 1);
  for (int64_t i = 0; i < complex.shape()->rank(); ++i) pairs[i] = (*complex.shape())[i];
  pairs[pairs.rank() - 1] = Dim(2);
  return Type::Tensor(part, std::move(pairs));
}

std::string Told(std::string_view what, const Value& port, const Type& complex) {
  return StrCat(what, " '", port.name(), "' of the program is ", complex.ToString(),
                "; of the model it is ", port.type().ToString(),
                ", whose last axis has the real and the imaginary part");
}

Value* View(Graph& graph, Node* before, std::string_view op, Value* from, std::string_view name,
            Type type) {
  Node* node = graph.InsertNode(before, "torch", op, {from});
  node->SetAttr("operands", Attribute::Strings{"self"});
  node->set_name(std::string(name));
  return graph.AddNodeOutput(node, name, std::move(type));
}

}  // namespace

absl::Status ComplexPortsAsPairs(Model& model, std::vector<std::string>& warnings) {
  Graph& graph = *model.graph;
  bool any = false;
  for (Value* input : graph.inputs()) {
    if (!IsComplex(input->dtype())) continue;
    any = true;
    const Type complex = input->type();
    // The view takes what it makes only once every other use is one of the view.
    Value* view = View(graph, graph.first(), "aten::view_as_complex.default", input,
                       graph.UniqueName(StrCat(input->name(), "_complex")), complex);
    graph.ReplaceAllUses(input, view);
    view->producer()->SetInput(0, input);
    input->set_type(PairsType(complex));
    warnings.push_back(Told("input", *input, complex));
  }
  // A tensor that is handed out twice stays one.
  absl::flat_hash_map<const Value*, Value*> handed_out;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* output = graph.outputs()[i];
    if (!IsComplex(output->dtype())) continue;
    any = true;
    if (auto it = handed_out.find(output); it != handed_out.end()) {
      graph.SetOutput(i, it->second);
      continue;
    }
    const Type complex = output->type();
    std::string name(output->name());
    const bool keeps = output->is_input() || output->constant();
    if (keeps) {
      name = graph.UniqueName(StrCat(name, "_pairs"));
    } else {
      graph.Rename(output, graph.UniqueName(StrCat(name, "_complex")));
    }
    Value* pairs = View(graph, nullptr, "aten::view_as_real.default", output,
                        graph.UniqueName(name), PairsType(complex));
    handed_out[output] = pairs;
    graph.SetOutput(i, pairs);
    warnings.push_back(Told("output", *pairs, complex));
  }
  if (any && model.Opset("aten") == 0) model.SetOpset("aten", 1);
  return absl::OkStatus();
}

}  // namespace x2ir
