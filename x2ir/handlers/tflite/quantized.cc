// Quantized networks: units of dequantize_linear, the operator in floats, and quantize_linear,
// which runtimes know for one integer kernel. Operators that only move numbers work on the
// integers.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/prepare.h"
#include "x2ir/handlers/tflite/weights.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {
namespace {

using tflite::Quantization;

// What an operator does with quantized integers.
enum class TypeUse {
  kFloats,    // it computes: a unit
  kSame,      // it hands them on or compares them, where operands and results have the same scale
  kIntegers,  // it hands them on whatever their scales are
};

// Operators of each kind, with a space around each. Where runtimes have no kernel for integers of 8
// bits (selection, the largest ones), floats give the same numbers.
constexpr std::string_view kMoveIntegers =
    " RESHAPE TRANSPOSE GATHER GATHER_ND SLICE STRIDED_SLICE SQUEEZE UNPACK EXPAND_DIMS TILE "
    "REVERSE_V2 REVERSE_SEQUENCE SPLIT SPLIT_V SPACE_TO_DEPTH DEPTH_TO_SPACE BATCH_TO_SPACE_ND "
    "CAST "
    "BITCAST SHAPE RANK FILL ZEROS_LIKE SCATTER_ND SPARSE_TO_DENSE BROADCAST_TO ONE_HOT WHERE "
    "DYNAMIC_UPDATE_SLICE FLOOR_DIV FLOOR_MOD RIGHT_SHIFT BITWISE_XOR DENSIFY IF WHILE CALL "
    "CALL_ONCE ASSIGN_VARIABLE "
    "READ_VARIABLE STABLEHLO_COMPOSITE STABLEHLO_CASE STABLEHLO_WHILE ";
constexpr std::string_view kMoveSame =
    " CONCATENATION PACK MAX_POOL_2D REDUCE_MAX REDUCE_MIN PAD PADV2 MIRROR_PAD "
    "RESIZE_NEAREST_NEIGHBOR ARG_MAX ARG_MIN ";

TypeUse UseOf(std::string_view op) {
  // The semantics of other custom operators are not known.
  const bool custom = op.find(':') != op.npos;
  if (custom && op != "custom::TFLite_Detection_PostProcess") return TypeUse::kIntegers;
  const std::string word = StrCat(" ", op, " ");
  if (kMoveIntegers.find(word) != kMoveIntegers.npos) return TypeUse::kIntegers;
  return kMoveSame.find(word) != kMoveSame.npos ? TypeUse::kSame : TypeUse::kFloats;
}

// Kernels that compare integers as they are, whatever their scales are.
bool IgnoresScales(const Node& node) {
  static constexpr std::string_view kOf16[] = {"EQUAL", "GREATER",    "GREATER_EQUAL",
                                               "LESS",  "LESS_EQUAL", "NOT_EQUAL"};
  const std::string_view op = node.op().view();
  if (op == "MAXIMUM" || op == "MINIMUM") return true;
  const bool compares = std::find(std::begin(kOf16), std::end(kOf16), op) != std::end(kOf16);
  return compares && node.input(0) && node.input(0)->dtype() == DType::kInt16;
}

class Units {
 public:
  Units(Graph& graph, bool floats) : graph_(graph), floats_(floats) {}

  absl::Status Run() {
    for (Node* node : graph_.nodes()) {
      if (node->dialect() != Symbol(tflite::kDialect)) continue;
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Units(*inner, floats_).Run());
      X2IR_RETURN_IF_ERROR(Annotate(Convert(node), node->op().view()));
    }
    return Finish();
  }

 private:
  static bool OnlyMoves(TypeUse use) { return use != TypeUse::kFloats; }
  static bool TakesQuantized(const Node& node) {
    for (const Value* v : node.inputs()) {
      if (v && tflite::IsQuantized(*v)) return true;
    }
    return false;
  }

  absl::Status Convert(Node* node) {
    bool any = false;
    for (const Value* v : node->inputs()) any |= v && tflite::IsQuantized(*v);
    for (const Value* v : node->outputs()) any |= v && tflite::IsQuantized(*v);
    if (!any) return absl::OkStatus();
    const TypeUse use = UseOf(node->op().view());
    if (floats_ && OnlyMoves(use) && !TakesQuantized(*node)) {
      // Plain integers, without a scale.
      for (Value* v : node->outputs()) {
        if (v) tflite::ClearQuantization(*v);
      }
      return absl::OkStatus();
    }
    if (!floats_) {
      if (use == TypeUse::kIntegers) return absl::OkStatus();
      // What computes with a fused activation is a unit with it.
      X2IR_ASSIGN_OR_RETURN(const bool same, SameScales(*node));
      if (use == TypeUse::kSame && same && !HasActivation(*node)) return PadWithZeroPoint(node);
      if (IgnoresScales(*node)) {
        X2IR_ASSIGN_OR_RETURN(const bool differ, ScalesDiffer(*node));
        if (differ) return absl::OkStatus();
      }
    } else if (node->op() == Symbol("CAST")) {
      return Unimplemented("a cast of quantized numbers has no meaning in a float network");
    }
    X2IR_RETURN_IF_ERROR(DequantizeBias(node));
    if (!floats_) MarkHybrid(node);
    if (!floats_ && node->op() == Symbol("RESIZE_BILINEAR") && node->output(0) &&
        node->output(0)->dtype() == DType::kInt16) {
      node->SetAttr("fixed_point", 1);
    }
    for (size_t i = 0; i < node->num_inputs(); ++i) {
      Value* v = node->input(i);
      if (!v || !tflite::IsQuantized(*v)) continue;
      if (floats_ && !v->constant()) continue;
      X2IR_ASSIGN_OR_RETURN(Value * x, Dequantized(node, v));
      node->SetInput(i, x);
    }
    for (size_t i = 0; !floats_ && i < node->num_outputs(); ++i) {
      Value* v = node->output(i);
      if (v && tflite::IsQuantized(*v)) X2IR_RETURN_IF_ERROR(Quantize(node, i));
    }
    return absl::OkStatus();
  }

  // The mark tells the writer to let the operator quantize its operand again.
  static void MarkHybrid(Node* node) {
    const WeightSlots* slots = WeightSlotsOf(node->op().view());
    const Value *x = slots ? node->input(slots->x) : nullptr,
                *weights = slots ? node->input(slots->weights) : nullptr;
    if (!x || !weights || x->dtype() != DType::kFloat32 || weights->dtype() != DType::kInt8) return;
    const bool asymmetric = node->attrs().Int("asymmetric_quantize_inputs", 0) != 0;
    node->annotations().GetOrMake().extra[kHybrid] = asymmetric ? "asymmetric" : "symmetric";
  }

  // Kernels take a bias for integers of the scale that products of operand and weights have,
  // whatever the file says of it.
  absl::Status DequantizeBias(Node* node) {
    const WeightSlots* slots = WeightSlotsOf(node->op().view());
    if (!slots) return absl::OkStatus();
    Value *x = node->input(slots->x), *weights = node->input(slots->weights),
          *bias = node->input(slots->bias);
    const Tensor* numbers = bias ? bias->fixed_constant() : nullptr;
    if (!x || !weights || !numbers || !IsInteger(numbers->dtype())) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(const auto of_x, tflite::QuantizationOf(*x));
    X2IR_ASSIGN_OR_RETURN(const auto of_weights, tflite::QuantizationOf(*weights));
    if (!of_x || !of_weights || of_x->scales.size() != 1 || of_weights->block_size != 0) {
      return absl::OkStatus();
    }
    const Quantization product = tflite::ProductOf(*of_x, *of_weights);
    if (product.scales.size() > 1 &&
        (numbers->rank() != 1 || numbers->dim(0) != static_cast<int64_t>(product.scales.size()))) {
      return Invalid("its bias does not fit its weights");
    }
    X2IR_ASSIGN_OR_RETURN(const auto own, tflite::QuantizationOf(*bias));
    if (own && tflite::IsNear(*own, product)) return absl::OkStatus();
    // Others may use the same numbers with other scales.
    Value* copy = graph_.AddConstant(graph_.UniqueName(bias->name()), *numbers);
    tflite::SetQuantization(*copy, product);
    node->SetInput(slots->bias, copy);
    return absl::OkStatus();
  }

  static bool HasActivation(const Node& node) {
    return node.attrs().String("fused_activation_function", "NONE") != "NONE";
  }

  // Whether all quantized operands and results have one scale and zero point, and none is a float.
  static absl::StatusOr<bool> SameScales(const Node& node) {
    std::optional<Quantization> first;
    for (const auto& all :
         {node.inputs(), std::vector<Value*>(node.outputs().begin(), node.outputs().end())}) {
      for (const Value* v : all) {
        if (!v) continue;
        // Few runtimes have these operators for int16.
        if (v->dtype() == DType::kFloat32 || v->dtype() == DType::kInt16) return false;
        X2IR_ASSIGN_OR_RETURN(const auto q, tflite::QuantizationOf(*v));
        if (!q) continue;
        if (q->scales.size() > 1) return false;
        if (first && (first->scales != q->scales || first->zero_points != q->zero_points)) {
          return false;
        }
        first = q;
      }
    }
    return true;
  }

  static absl::StatusOr<bool> ScalesDiffer(const Node& node) {
    std::optional<Quantization> first;
    std::vector<Value*> all = node.inputs();
    all.insert(all.end(), node.outputs().begin(), node.outputs().end());
    for (const Value* v : all) {
      if (!v) continue;
      X2IR_ASSIGN_OR_RETURN(const auto q, tflite::QuantizationOf(*v));
      if (q && first && (first->scales != q->scales || first->zero_points != q->zero_points)) {
        return true;
      }
      if (q) first = q;
    }
    return false;
  }

  // The elements that PAD adds are the zero point.
  absl::Status PadWithZeroPoint(Node* node) {
    if (node->op() != Symbol("PAD")) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(const auto q, tflite::QuantizationOf(*node->input(0)));
    if (!q) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(const Tensor zero,
                          Integers({q->zero_points[0]}, {}, node->input(0)->dtype()));
    node->set_op(tflite::kDialect, "PADV2");
    node->AddInput(graph_.AddConstant(graph_.UniqueName("zero_point"), zero));
    return absl::OkStatus();
  }

  static absl::StatusOr<Tensor> Integers(const std::vector<int64_t>& numbers,
                                         std::vector<int64_t> dims, DType dtype) {
    if (!IsInteger(dtype)) return Invalid("a zero point of ", Name(dtype));
    const int bits = BitWidth(dtype);
    Tensor bytes = Tensor::Zeros(dtype, std::move(dims));
    const absl::Span<std::byte> out = bytes.mutable_bytes();
    for (size_t i = 0; i < numbers.size(); ++i) {
      const bool fits = IsSignedInt(dtype)
                            ? bits >= 64 || (numbers[i] >= -(int64_t{1} << (bits - 1)) &&
                                             numbers[i] < (int64_t{1} << (bits - 1)))
                            : numbers[i] >= 0 && (bits >= 63 || numbers[i] < (int64_t{1} << bits));
      if (!fits) return Invalid("zero point ", numbers[i], " is none of ", Name(dtype));
      for (int b = 0; b < bits; ++b) {
        const size_t at = i * static_cast<size_t>(bits) + static_cast<size_t>(b);
        if (numbers[i] >> b & 1) out[at / 8] |= std::byte{1} << (at % 8);
      }
    }
    return bytes;
  }

  struct Steps {
    Value *scale, *zero_point;
    AttributeMap attrs;
  };
  // Constants of scales and zero points, once for each quantization.
  absl::StatusOr<Steps> StepsOf(const Value& v, const Quantization& q) {
    Steps steps;
    std::vector<int64_t> dims;
    if (q.block_size != 0) {
      const std::optional<std::vector<int64_t>> shape =
          v.shape() ? v.shape()->Static() : std::nullopt;
      if (!shape || shape->empty()) return Unimplemented("blocks of a tensor of unknown shape");
      dims = *shape;
      dims.back() /= q.block_size;
      steps.attrs = {{"axis", static_cast<int64_t>(dims.size()) - 1}, {"block_size", q.block_size}};
      if (CheckedProduct(dims) != static_cast<int64_t>(q.scales.size())) {
        return Invalid("tensor '", v.name(), "': its blocks do not fit its shape");
      }
    } else if (q.scales.size() > 1) {
      dims = {static_cast<int64_t>(q.scales.size())};
      steps.attrs = {{"axis", q.axis}};
    }
    X2IR_ASSIGN_OR_RETURN(const Tensor zeros, Integers(q.zero_points, dims, v.dtype()));
    const std::string base(v.name());
    steps.scale =
        graph_.AddConstant(graph_.UniqueName(base + "_scale"), Tensor::Of<float>(dims, q.scales));
    steps.zero_point = graph_.AddConstant(graph_.UniqueName(base + "_zero_point"), zeros);
    return steps;
  }

  absl::StatusOr<Value*> Dequantized(Node* before, Value* v) {
    Value*& x = dequantized_[v];
    if (x) return x;
    X2IR_ASSIGN_OR_RETURN(const auto q, tflite::QuantizationOf(*v));
    if (const Tensor* wide = v->fixed_constant(); wide && v->dtype() == DType::kInt64) {
      // Biases of int16 layers have more digits than the op takes.
      return x = graph_.AddConstant(graph_.UniqueName(v->name() + "_float"), Floats(*wide, *q));
    }
    X2IR_ASSIGN_OR_RETURN(Steps steps, StepsOf(*v, *q));
    // After its producer, and before all users.
    Node* at = v->producer() ? v->producer()->next() : graph_.first();
    (void)before;
    Node* node =
        graph_.InsertNode(at, kIrDialect, "dequantize_linear", {v, steps.scale, steps.zero_point});
    for (auto& [name, value] : steps.attrs) node->SetAttr(name, value);
    node->SetAttr("block_size", steps.attrs.Int("block_size", 0));
    return x = graph_.AddNodeOutput(node, graph_.UniqueName(v->name() + "_float"),
                                    Type::Tensor(DType::kFloat32));
  }

  static Tensor Floats(const Tensor& wide, const Quantization& q) {
    Tensor floats = Tensor::Zeros(DType::kFloat32, wide.dims());
    const absl::Span<float> out = floats.mutable_span<float>();
    int64_t inner = 1;
    for (int64_t i = q.axis + 1; i < wide.rank(); ++i) inner *= wide.dim(i);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t k = q.scales.size() == 1 ? 0 : i / static_cast<size_t>(inner) % q.scales.size();
      out[i] = static_cast<float>(
          static_cast<double>(wide.AsInt(static_cast<int64_t>(i)) - q.zero_points[k]) *
          static_cast<double>(q.scales[k]));
    }
    return floats;
  }

  absl::Status Quantize(Node* node, size_t i) {
    Value* y = node->output(i);
    X2IR_ASSIGN_OR_RETURN(const auto q, tflite::QuantizationOf(*y));
    if (BitWidth(y->dtype()) > 16) return QuantizeWide(node, i, *q);
    X2IR_ASSIGN_OR_RETURN(Steps steps, StepsOf(*y, *q));
    Node* made = graph_.InsertNode(node->next(), kIrDialect, "quantize_linear", {});
    Value* fresh = graph_.AddNodeOutput(made, "");
    graph_.AdoptOutput(fresh, y);
    made->AddInput(graph_.FillOutput(node, i, graph_.UniqueName(y->name() + "_float"),
                                     Type::Tensor(DType::kFloat32)));
    made->AddInput(steps.scale);
    made->AddInput(steps.zero_point);
    for (auto& [name, value] : steps.attrs) made->SetAttr(name, value);
    made->SetAttr("block_size", steps.attrs.Int("block_size", 0));
    made->SetAttr("saturate", 1);
    return absl::OkStatus();
  }

  // Integers that the op does not know: arithmetic.
  absl::Status QuantizeWide(Node* node, size_t i, const Quantization& q) {
    if (q.scales.size() != 1)
      return Unimplemented("scales of an axis of ", Name(node->output(i)->dtype()));
    Value* y = node->output(i);
    const DType dtype = y->dtype();
    Node* made = graph_.InsertNode(node->next(), kIrDialect, "cast", {});
    made->SetAttr("to", Name(dtype));
    made->SetAttr("saturate", 1);
    made->SetAttr("round_mode", "up");
    Value* fresh = graph_.AddNodeOutput(made, "");
    graph_.AdoptOutput(fresh, y);
    Value* x = graph_.FillOutput(node, i, graph_.UniqueName(y->name() + "_float"),
                                 Type::Tensor(DType::kFloat32));
    Builder b(graph_, made);
    Value* wide = b.Op("cast", {x}, {{"to", Name(DType::kFloat64)}});
    Value* steps = b.Op("div", {wide, b.Scalar(DType::kFloat64, q.scales[0])});
    Value* number = b.Op("add", {b.Op("round", {steps}),
                                 b.Scalar(DType::kFloat64, static_cast<double>(q.zero_points[0]))});
    const double top = std::ldexp(1.0, IsSignedInt(dtype) ? BitWidth(dtype) - 1 : BitWidth(dtype));
    number = b.Op("clip",
                  {number, b.Scalar(DType::kFloat64, IsSignedInt(dtype) ? -top : 0),
                   b.Scalar(DType::kFloat64,
                            std::nextafter(top, 0) < top - 1 ? top - 1 : std::nextafter(top, 0))});
    X2IR_RETURN_IF_ERROR(NameMade(b, y->name()));
    made->AddInput(number);
    return absl::OkStatus();
  }

  // No annotation is left; of a float network no type either.
  absl::Status Finish() {
    const auto settle = [&](Value* v) {
      if (!tflite::IsQuantized(*v)) return;
      if (floats_ && !v->constant() && v->type().is_tensor()) {
        Type type = v->type();
        type.set_dtype(DType::kFloat32);
        v->set_type(std::move(type));
      }
      tflite::ClearQuantization(*v);
    };
    for (Value* v : graph_.inputs()) settle(v);
    for (Value* v : graph_.constants()) settle(v);
    for (Node* node : graph_.nodes()) {
      for (Value* v : node->outputs()) {
        if (v) settle(v);
      }
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  const bool floats_;
  absl::flat_hash_map<const Value*, Value*> dequantized_;
};

}  // namespace

absl::Status MakeQuantizedUnits(Graph& graph, bool floats) { return Units(graph, floats).Run(); }

}  // namespace x2ir
