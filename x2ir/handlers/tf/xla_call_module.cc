// XlaCallModule of TensorFlow: a program of StableHLO inside a graph. jax2tf makes such nodes, and
// so do exporters of PyTorch/XLA and Keras.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/convert.h"
#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/stablehlo/platforms.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// Versions of the calling convention. Since 5 all that a program needs of its operands it finds out
// itself; what is later than 10 is not known.
constexpr int64_t kOldestConvention = 5, kNewestConvention = 10;

absl::StatusOr<mlir::Module> ReadModule(const std::string& bytes) {
  if (bytes.empty()) return Unimplemented("it is empty: a function elsewhere has it");
  if (!mlir::IsBytecode(bytes)) return mlir::ParseText(bytes);
  // Tensors of the module are views of the bytes.
  const auto owner = std::make_shared<const std::string>(bytes);
  return stablehlo::ReadArtifact(Blob::InMemory(
      {reinterpret_cast<const std::byte*>(owner->data()), owner->size()}, owner, "module"));
}

// The module as a model; its inputs are the operands.
absl::StatusOr<Model> ModelOf(const std::string& bytes, const std::vector<std::string>& platforms) {
  X2IR_ASSIGN_OR_RETURN(mlir::Module module, ReadModule(bytes));
  X2IR_ASSIGN_OR_RETURN(mlir::Op * main, stablehlo::MainOf(module));
  X2IR_RETURN_IF_ERROR(stablehlo::ChoosePlatform(module, *main, platforms));
  for (const mlir::ValueId argument : main->regions[0].blocks[0].arguments) {
    if (module.type(argument)->kind == mlir::MlirType::kToken) {
      return Unimplemented("it has effects that are in an order (calls of the host)");
    }
  }
  return stablehlo::GraphOf(module, {.entry = "main"});
}

absl::Status CheckPorts(const std::vector<Value*>& ports) {
  for (const Value* port : ports) {
    if (port->type().is_tensor() && IsComplex(port->dtype())) {
      return Unimplemented("'", port->name(), "' of it is complex");
    }
  }
  return absl::OkStatus();
}

// Inputs are of the types of the operands, which may say more than the module.
absl::Status GiveTypes(const std::vector<Value*>& operands, Graph& graph) {
  if (graph.inputs().size() != operands.size()) {
    return Invalid("it takes ", graph.inputs().size(), " tensors, but the node has ",
                   operands.size(), " operands");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) return Invalid("operand ", i, " is left out");
    Value& input = *graph.inputs()[i];
    auto type = MergeTypes(input.type(), operands[i]->type());
    if (!type.ok()) {
      return Invalid("operand ", i, " is ", operands[i]->type().ToString(),
                     ", but its argument is ", input.type().ToString());
    }
    input.set_type(*std::move(type));
  }
  return absl::OkStatus();
}

// Results must be what the node says of them.
absl::Status CheckResults(const std::vector<DType>& dtypes, const std::vector<Type>& shapes,
                          const Graph& graph) {
  const size_t count = graph.outputs().size();
  if (dtypes.size() != count || (!shapes.empty() && shapes.size() != count)) {
    return Invalid("it gives ", count, " tensors, but the node has ", dtypes.size(), " results of ",
                   shapes.size(), " shapes");
  }
  for (size_t i = 0; i < count; ++i) {
    const Type& own = graph.outputs()[i]->type();
    Type said = Type::Tensor(dtypes[i]);
    if (!shapes.empty() && shapes[i].shape()) said.set_shape(*shapes[i].shape());
    if (MergeTypes(said, own).ok()) continue;
    return Invalid("result ", i, " is ", own.ToString(), ", but the node says ", said.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> CallModule(TfArgs& a) {
  const int64_t version = a.Int("version", 0);
  if (version < kOldestConvention || version > kNewestConvention) {
    return Unimplemented("version ", version, " of its calling convention; ", kOldestConvention,
                         " to ", kNewestConvention, " are read",
                         version < kOldestConvention ? ": export the model by a newer jax" : "");
  }
  if (!a.StringList("function_list").empty()) {
    return Unimplemented("its module calls functions of TensorFlow");
  }
  if (!a.StringList("dim_args_spec").empty()) {
    return Unimplemented("sizes are arguments of its module (dim_args_spec)");
  }
  if (a.Bool("has_token_input_output", false)) {
    return Unimplemented("its module has effects that are in an order (calls of the host)");
  }
  // What is checked when TensorFlow runs it, and how several devices would share it.
  for (const char* name : {"disabled_checks", "use_shardy_partitioner"}) a.Ignore(name);
  a.Ignore("Sout");
  const Attribute* sout = a.attrs().Find("Sout");
  const auto* shapes = sout ? sout->get<std::vector<Type>>() : nullptr;
  const std::vector<Type> sizes = shapes ? *shapes : std::vector<Type>();
  const auto run = [&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(Model model, ModelOf(a.String("module", ""), a.StringList("platforms")));
    X2IR_RETURN_IF_ERROR(CheckPorts(model.graph->inputs()));
    X2IR_RETURN_IF_ERROR(CheckPorts(model.graph->outputs()));
    X2IR_RETURN_IF_ERROR(GiveTypes(a.inputs(), *model.graph));
    X2IR_ASSIGN_OR_RETURN(model, ToIr(std::move(model)));
    X2IR_RETURN_IF_ERROR(CheckResults(a.TypeList("Tout"), sizes, *model.graph));
    return model;
  };
  const absl::StatusOr<Model> model = run();
  if (!model.ok()) return Annotate(model.status(), "its module");
  return InlineGraph(a.b(), *model->graph, a.inputs());
}

}  // namespace

X2IR_TF(identity).From("XlaCallModule", CallModule);

}  // namespace x2ir
