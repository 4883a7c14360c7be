// See finish.h.
#include "x2ir/handlers/tfjs/finish.h"

#include <utility>

#include "x2ir/builder/narrow.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/fuse.h"
#include "x2ir/handlers/tfjs/ops.h"

namespace x2ir {
namespace {

constexpr std::string_view kSteps[] = {"AddV2",   "ConcatV2", "ExpandDims", "Identity",
                                       "Maximum", "Minimum",  "SelectV2",   "Sub"};
constexpr std::string_view kQuestions[] = {"Greater", "GreaterEqual", "Less", "LessEqual"};
constexpr BoundOps kBoundOps{"StridedSlice", kSteps, kQuestions, "GatherV2"};

absl::Status CheckPort(const Value& value) {
  if (value.dtype() != DType::kFloat64) return absl::OkStatus();
  return CannotExpress("'", value.name(), "' is an input or output of float64; ",
                       OptionText("float64_as_float32"), " makes it float32");
}

absl::StatusOr<Tensor> InRange(const Value& constant) {
  const Tensor& tensor = *constant.constant();
  X2IR_ASSIGN_OR_RETURN(const Tensor narrow,
                        Narrowed(tensor, constant.name(), OnlyBounds(constant, kBoundOps)));
  Tensor again = Tensor::Zeros(DType::kInt64, tensor.dims());
  const absl::Span<int64_t> out = again.mutable_span<int64_t>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = narrow.AsInt(static_cast<int64_t>(i));
  return again;
}

bool IsInRange(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (tensor.AsInt(i) != static_cast<int32_t>(tensor.AsInt(i))) return false;
  }
  return true;
}

void AsFloat32(Value* value) {
  if (!value || value->dtype() != DType::kFloat64) return;
  Type type = value->type();
  type.set_dtype(DType::kFloat32);
  value->set_type(std::move(type));
}

absl::Status Finish(Graph& graph) {
  for (Value* constant : graph.constants()) {
    const Tensor& tensor = *constant->constant();
    if (tensor.is_sparse()) continue;
    if (tensor.dtype() == DType::kFloat64) {
      X2IR_ASSIGN_OR_RETURN(Tensor narrow, Narrowed(tensor, constant->name()));
      graph.ReplaceConstant(constant, std::move(narrow));
    } else if (tensor.dtype() == DType::kInt64 && !IsInRange(tensor)) {
      X2IR_ASSIGN_OR_RETURN(Tensor clamped, InRange(*constant));
      graph.ReplaceConstant(constant, std::move(clamped));
    }
  }
  for (Value* input : graph.inputs()) AsFloat32(input);
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Finish(*inner));
    for (size_t i = 0; i < node->num_outputs(); ++i) AsFloat32(node->output(i));
    for (const auto& [name, value] : AttributeMap(node->attrs())) {
      const Type* type = value.get<Type>();
      if (!type || type->dtype() != DType::kFloat64) continue;
      Type narrow = *type;
      narrow.set_dtype(DType::kFloat32);
      node->SetAttr(name, std::move(narrow));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FinishTfjs(Model& model, const FormatOptions& options) {
  Graph& graph = *model.graph;
  if (!options.Flag("float64_as_float32")) {
    for (const Value* input : graph.inputs()) X2IR_RETURN_IF_ERROR(CheckPort(*input));
    for (const Value* output : graph.outputs()) X2IR_RETURN_IF_ERROR(CheckPort(*output));
  }
  FuseTfOps(graph, CheckTfjsNode);
  return Finish(graph);
}

}  // namespace x2ir
