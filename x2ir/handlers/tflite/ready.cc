// What is done to IR before it is optimized for TFLite.
#include <numeric>

#include "x2ir/builder/layers/resize.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tflite/finish.h"
#include "x2ir/handlers/tflite/recall.h"
#include "x2ir/handlers/tflite/weights.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// A tensor with its scale and zero point, as operands i, i + 1, i + 2.
Value* DequantizedOperand(Builder& b, const Node& node, size_t i, int64_t axis) {
  return b.Op("dequantize_linear", {node.input(i), node.input(i + 1), node.input(i + 2)},
              {{"axis", axis}});
}

// The op in floats, between its operands and its result. Sums of products are rounded to floats
// then, which may be one step of the result.
Value* UnitOf(Builder& b, const Node& node) {
  Value* y = nullptr;
  if (node.Is("qlinear_conv")) {
    std::vector<Value*> operands = {DequantizedOperand(b, node, 0, 1),
                                    DequantizedOperand(b, node, 3, 0)};
    if (Value* bias = node.input(8)) {
      Value* steps = b.Op("mul", {node.input(1), node.input(4)});
      operands.push_back(b.Op("dequantize_linear", {bias, steps}, {{"axis", 0}}));
    }
    y = b.Op("conv", std::move(operands), node.attrs());
  } else {
    y = b.Op("matmul", {DequantizedOperand(b, node, 0, -2), DequantizedOperand(b, node, 3, -1)});
  }
  return b.Op("quantize_linear", {y, node.input(6), node.input(7)});
}

// The numbers of some axes, of those of all.
Value* NumbersOf(Builder& b, const Value* all, const std::vector<int64_t>& axes) {
  const Tensor* numbers = all ? all->fixed_constant() : nullptr;
  if (!numbers || numbers->num_elements() == 0) return nullptr;
  if (numbers->dtype() == DType::kInt64) {
    std::vector<int64_t> some;
    for (const int64_t axis : axes) some.push_back(numbers->AsInt(axis));
    return b.Ints(some);
  }
  std::vector<float> some;
  for (const int64_t axis : axes) some.push_back(static_cast<float>(numbers->AsDouble(axis)));
  return b.Constant(Tensor::Of<float>({static_cast<int64_t>(axes.size())}, some));
}

// A resize of images says rows and columns alone, with channels last: null where it is another one.
Value* OfPlaces(Builder& b, const Node& node) {
  // It says rows and columns already, but they are the last axes.
  if (const Attribute* axes = node.attrs().Find("axes"); axes && *axes == Attribute({2, 3})) {
    return !node.input(1) && node.input(0)->shape() && node.input(0)->shape()->rank() == 4
               ? ResizedChannelsLast(b, node, node.input(2), node.input(3))
               : nullptr;
  }
  const Shape *in = node.input(0)->shape(),
              *out = node.output(0) ? node.output(0)->shape() : nullptr;
  if (node.attrs().Has("axes") || !in || !out || in->rank() != 4 || out->rank() != 4 ||
      !(node.input(0)->dtype() == DType::kFloat32 || IsInteger(node.input(0)->dtype())) ||
      node.attrs().String("coordinate_transformation_mode") == "tf_crop_and_resize" ||
      node.attrs().String("keep_aspect_ratio_policy") != "stretch") {
    return nullptr;
  }
  const auto stays = [&](int64_t axis) { return ProvablyEqual((*in)[axis], (*out)[axis]); };
  if (!stays(0)) return nullptr;
  const std::vector<int64_t> axes = stays(1)   ? std::vector<int64_t>{2, 3}
                                    : stays(3) ? std::vector<int64_t>{1, 2}
                                               : std::vector<int64_t>();
  if (axes.empty()) return nullptr;
  for (size_t i = 2; i < 4; ++i) {
    const Tensor* numbers = node.input(i) ? node.input(i)->fixed_constant() : nullptr;
    if (node.input(i) &&
        (!numbers || (numbers->num_elements() != 0 && numbers->num_elements() != 4))) {
      return nullptr;
    }
  }
  // A factor that keeps a size is not always 1.
  const Tensor* factors = node.input(2) ? node.input(2)->fixed_constant() : nullptr;
  for (int64_t axis = 0; factors && axis < factors->num_elements(); ++axis) {
    const bool named = axis == axes[0] || axis == axes[1];
    if (!named && factors->AsDouble(axis) != 1) return nullptr;
  }
  // In TFLite rows and columns are the axes after the batch.
  Value *factors_of_places = NumbersOf(b, node.input(2), axes),
        *sizes = NumbersOf(b, node.input(3), axes);
  if (axes[0] == 2) return ResizedChannelsLast(b, node, factors_of_places, sizes);
  AttributeMap attrs = node.attrs();
  attrs.Set("axes", axes);
  return b.Op("resize", {node.input(0), nullptr, factors_of_places, sizes}, std::move(attrs));
}

// Weights of float16 that are cast to floats. Kernels require them in another order, which only a
// constant can have; they become float16 again at the end (UseFloat16).
Value* FloatsOfHalves(Builder& b, const Node& node) {
  const Tensor* halves = node.input(0)->fixed_constant();
  if (!halves || halves->is_sparse() || halves->dtype() != DType::kFloat16 ||
      node.output(0)->dtype() != DType::kFloat32 || node.output(0)->is_graph_output()) {
    return nullptr;
  }
  absl::StatusOr<Tensor> floats = CastTensor(*halves, DType::kFloat32);
  if (!floats.ok()) return nullptr;
  DropPages(*halves);
  return b.Constant(Spilled(*std::move(floats)), node.input(0)->name());
}

absl::Status Ready(Graph& graph, NodeNames& names, bool* half) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Ready(*inner, names, half));
    Builder b(graph, node);
    Value* y = nullptr;
    if (node->Is("cast")) {
      y = FloatsOfHalves(b, *node);
      *half |= y != nullptr;
    }
    if (node->Is("qlinear_conv") || node->Is("qlinear_matmul")) y = UnitOf(b, *node);
    if (node->Is("resize")) y = OfPlaces(b, *node);
    X2IR_RETURN_IF_ERROR(b.status());
    if (y) Splice(node, {y}, b, names);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadyForTflite(Graph& graph) {
  X2IR_RETURN_IF_ERROR(RestoreOperators(graph));
  NodeNames names(graph);
  bool half = false;
  X2IR_RETURN_IF_ERROR(Ready(graph, names, &half));
  if (half) graph.annotations().GetOrMake().extra[kHalfWeights] = "1";
  return absl::OkStatus();
}

}  // namespace x2ir
