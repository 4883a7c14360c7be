#include "x2ir/builder/complex_ports.h"

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {
namespace {

std::string ToldAbout(std::string_view what, std::string_view name) {
  return StrCat(what, " '", name,
                "' is complex; of the model it is real, and its last axis has the ",
                "real and the imaginary part");
}

}  // namespace

absl::Status ComplexPortsAsPairs(Graph& graph, std::vector<std::string>& warnings) {
  for (Value* input : graph.inputs()) {
    if (!IsComplex(input->dtype())) continue;
    std::optional<Shape> shape;
    if (input->shape()) {
      shape = *input->shape();
      shape->Append(Dim(2));
    }
    input->set_type(Type::Tensor(PartType(input->dtype()), shape));
    // The nodes of the parts get their operand after all other uses are replaced by the number.
    Builder b(graph, graph.first());
    const Expr re = Gather({b, input}, b.Int(0), -1), im = Gather({b, input}, b.Int(1), -1);
    Value* number = re.Op("complex", {im});
    X2IR_RETURN_IF_ERROR(NameMade(b, input->name()));
    graph.ReplaceAllUses(input, number);
    re->producer()->SetInput(0, input);
    im->producer()->SetInput(0, input);
    warnings.push_back(ToldAbout("input", input->name()));
  }
  absl::flat_hash_map<const Value*, Value*> handed_out;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* output = graph.outputs()[i];
    if (!IsComplex(output->dtype())) continue;
    Value*& pairs = handed_out[output];
    if (!pairs) {
      const std::string name(output->name());
      if (output->producer()) graph.Rename(output, graph.UniqueName(StrCat(name, "_complex")));
      Builder b(graph, nullptr);
      const Expr number(b, output);
      pairs =
          Concat(b, {Unsqueeze(number.Op("real"), {-1}), Unsqueeze(number.Op("imag"), {-1})}, -1);
      graph.Rename(pairs, graph.UniqueName(name));
      X2IR_RETURN_IF_ERROR(NameMade(b, name));
      warnings.push_back(ToldAbout("output", name));
    }
    graph.SetOutput(i, pairs);
  }
  return absl::OkStatus();
}

}  // namespace x2ir
