// Quantized operations of StableHLO as units of dequantize_linear, the operation on floats and
// quantize_linear, which runtimes know for one integer kernel. Operations that only move numbers
// work on the integers.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/prepare.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {
namespace {

using mlir::Quantization;

// Operations that see the integers, whatever they stand for.
constexpr std::string_view kTakesIntegers[] = {
    "bitcast_convert",      "case", "constant", "custom_call", "get_dimension_size", "if",
    "optimization_barrier", "while"};
// Operations that hand numbers on or compare them: integers that all stand for numbers in the same
// way stay integers.
constexpr std::string_view kMovesNumbers[] = {"broadcast",
                                              "broadcast_in_dim",
                                              "clamp",
                                              "concatenate",
                                              "dynamic_broadcast_in_dim",
                                              "dynamic_gather",
                                              "dynamic_pad",
                                              "dynamic_reshape",
                                              "dynamic_slice",
                                              "dynamic_update_slice",
                                              "gather",
                                              "maximum",
                                              "minimum",
                                              "pad",
                                              "real_dynamic_slice",
                                              "reshape",
                                              "reverse",
                                              "select",
                                              "slice",
                                              "transpose"};

template <size_t kCount>
bool IsOneOf(const std::string_view (&names)[kCount], std::string_view op) {
  return std::find(std::begin(names), std::end(names), op) != std::end(names);
}

const std::string* AnnotationOf(const Value* value) {
  const Annotations* annotations = value ? value->annotations().get() : nullptr;
  if (!annotations) return nullptr;
  const auto found = annotations->extra.find(stablehlo::kQuantized);
  return found == annotations->extra.end() ? nullptr : &found->second;
}

absl::StatusOr<Quantization> QuantizationOf(const Value& value) {
  X2IR_ASSIGN_OR_RETURN(Quantization q, stablehlo::ParseQuantization(*AnnotationOf(&value)));
  const auto is_scale = [](double scale) { return std::isfinite(scale) && scale > 0; };
  if (q.scales.empty() || q.scales.size() != q.zero_points.size() ||
      (q.axes.empty() && q.scales.size() != 1) || !IsInteger(q.storage) ||
      !IsFloating(q.expressed) || q.storage_min > q.storage_max ||
      !std::all_of(q.scales.begin(), q.scales.end(), is_scale)) {
    return Invalid("the quantization of '", value.name(), "' is not consistent");
  }
  if (value.dtype() != q.storage) {
    return Invalid("'", value.name(), "' is quantized to ", Name(q.storage), " and stored as ",
                   Name(value.dtype()));
  }
  if (!q.axes.empty() && (q.axes[0] < 0 || (value.shape() && q.axes[0] >= value.shape()->rank()))) {
    return Invalid("'", value.name(), "' is quantized along axis ", q.axes[0], ", which it lacks");
  }
  if (q.axes.size() > 1) {
    return Unimplemented("'", value.name(), "' is quantized along more than one axis");
  }
  return q;
}

// --- Numbers -------------------------------------------------------------------------------------

// Scales or zero points as a constant, and what the ops of the IR say of the axis.
std::vector<int64_t> SizesOf(const Value& value, const Quantization& q) {
  const auto count = static_cast<int64_t>(q.scales.size());
  const bool blocks = !q.block_sizes.empty() && q.block_sizes[0] > 1;
  if (q.axes.empty()) return {};
  if (!blocks) return {count};
  const Shape* shape = value.shape();
  if (!shape) return {count};
  std::vector<int64_t> sizes(static_cast<size_t>(shape->rank()), 1);
  sizes[static_cast<size_t>(q.axes[0])] = count;
  return sizes;
}
AttributeMap AxisOf(const Quantization& q) {
  AttributeMap attrs;
  if (!q.axes.empty()) attrs.Set("axis", q.axes[0]);
  attrs.Set("block_size", q.block_sizes.empty() || q.block_sizes[0] <= 1 ? 0 : q.block_sizes[0]);
  return attrs;
}
Expr ScalesOf(Builder& b, const Value& value, const Quantization& q) {
  return NumbersAs(b, q.expressed, SizesOf(value, q), q.scales, "scale");
}
Expr ZeroPointsOf(Builder& b, const Value& value, const Quantization& q, DType as) {
  const std::vector<double> numbers(q.zero_points.begin(), q.zero_points.end());
  return NumbersAs(b, as, SizesOf(value, q), numbers, "zero_point");
}

bool HasOps(const Quantization& q) {
  return BitWidth(q.storage) <= 16 && q.expressed != DType::kFloat64 && BitWidth(q.expressed) >= 16;
}
// One axis of numbers beside a tensor of that rank.
Expr Beside(const Expr& numbers, const Quantization& q, const Expr& x) {
  return q.axes.empty() || numbers.rank() != 1 ? numbers : AlongAxis(numbers, q.axes[0], x.rank());
}

absl::StatusOr<Value*> Dequantize(Builder& b, Value* value) {
  X2IR_ASSIGN_OR_RETURN(const Quantization q, QuantizationOf(*value));
  const Expr x(b, value), scales = ScalesOf(b, *value, q);
  if (HasOps(q)) {
    return x.Op("dequantize_linear", {scales, ZeroPointsOf(b, *value, q, q.storage)}, AxisOf(q))
        .value();
  }
  if (!q.block_sizes.empty() && q.block_sizes[0] > 1) {
    return Unimplemented("blocks of ", Name(q.storage), " that stand for ", Name(q.expressed));
  }
  // Zero points are taken off in a type that has every integer.
  const Expr steps =
      x.To(DType::kFloat64) - Beside(ZeroPointsOf(b, *value, q, DType::kFloat64), q, x);
  return (steps * Beside(scales.To(DType::kFloat64), q, x)).To(q.expressed).value();
}

// The least and the greatest integers may be less than those of the type.
Expr WithinStorage(const Expr& integers, const Quantization& q) {
  Builder& b = integers.builder();
  const int64_t bits = BitWidth(q.storage);
  const bool is_signed = IsSignedInt(q.storage);
  const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t greatest = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (q.storage_min <= least && q.storage_max >= greatest) return integers;
  return Clip(integers, IntegerOf(b, q.storage, q.storage_min),
              IntegerOf(b, q.storage, q.storage_max));
}

// `value` says how its integers stand for the numbers x.
absl::StatusOr<Value*> Quantize(Builder& b, const Expr& x, const Value& value,
                                const Quantization& q) {
  const Expr scales = ScalesOf(b, value, q);
  if (HasOps(q)) {
    const Expr integers =
        x.Op("quantize_linear", {scales, ZeroPointsOf(b, value, q, q.storage)}, AxisOf(q));
    return WithinStorage(integers, q).value();
  }
  if (!q.block_sizes.empty() && q.block_sizes[0] > 1) {
    return Unimplemented("blocks of ", Name(q.storage), " that stand for ", Name(q.expressed));
  }
  if (BitWidth(q.storage) > 32) return Unimplemented("numbers that are quantized to 64 bits");
  const DType wide = DType::kFloat64;
  const Expr steps = Round(x.To(wide) / Beside(scales.To(wide), q, x)) +
                     Beside(ZeroPointsOf(b, value, q, wide), q, x);
  const Expr inside = Clip(steps, steps.Number(static_cast<double>(q.storage_min)),
                           steps.Number(static_cast<double>(q.storage_max)));
  return Where(IsNan(inside), 0, inside).To(q.storage).value();
}

// --- Units ---------------------------------------------------------------------------------------

class QuantizedUnits {
 public:
  explicit QuantizedUnits(Graph& graph) : graph_(graph) {}

  absl::Status Run() {
    for (Node* node : graph_.nodes()) {
      if (node->dialect() != Symbol(stablehlo::kDialect)) continue;
      X2IR_RETURN_IF_ERROR(Annotate(Convert(node), node->op().view()));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Convert(Node* node) {
    const std::string_view op = node->op().view();
    const bool takes_integers = IsOneOf(kTakesIntegers, op) || op.starts_with("func::");
    for (Graph* inner : node->subgraphs()) {
      X2IR_RETURN_IF_ERROR(takes_integers ? QuantizedUnits(*inner).Run() : ToFloats(*inner));
    }
    if (takes_integers || (IsOneOf(kMovesNumbers, op) && IsOfOneKind(*node))) {
      return absl::OkStatus();
    }
    for (size_t i = 0; i < node->num_inputs(); ++i) {
      if (!AnnotationOf(node->input(i))) continue;
      Builder b(graph_, node);
      b.set_name_hint(std::string(node->input(i)->name()));
      X2IR_ASSIGN_OR_RETURN(Value * x, Dequantize(b, node->input(i)));
      X2IR_RETURN_IF_ERROR(NameMade(b, node->input(i)->name()));
      node->SetInput(i, x);
    }
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      if (AnnotationOf(node->output(i))) X2IR_RETURN_IF_ERROR(QuantizeResult(node, i));
    }
    return absl::OkStatus();
  }

  // The value stays, and gets another producer.
  absl::Status QuantizeResult(Node* node, size_t i) {
    Value* y = node->output(i);
    X2IR_ASSIGN_OR_RETURN(const Quantization q, QuantizationOf(*y));
    Node* last = graph_.InsertNode(node->next(), kIrDialect, "identity", {});
    graph_.AdoptOutput(graph_.AddNodeOutput(last, ""), y);
    Type type = y->type();
    type.set_dtype(q.expressed);
    Value* x = graph_.FillOutput(node, i, graph_.UniqueName(StrCat(y->name(), "_float")), type);
    Builder b(graph_, last);
    b.set_name_hint(std::string(y->name()));
    X2IR_ASSIGN_OR_RETURN(Value * integers, Quantize(b, {b, x}, *y, q));
    X2IR_RETURN_IF_ERROR(NameMade(b, y->name()));
    last->AddInput(integers);
    return absl::OkStatus();
  }

  // Whether all quantized operands and results have one quantization, not one of an axis.
  static bool IsOfOneKind(const Node& node) {
    const std::string* first = nullptr;
    std::vector<const Value*> values;
    for (const Value* value : node.inputs()) values.push_back(value);
    for (const Value* value : node.outputs()) values.push_back(value);
    for (const Value* value : values) {
      const std::string* own = AnnotationOf(value);
      if (!own) continue;
      if (first && *first != *own) return false;
      first = own;
    }
    if (!first) return true;
    const auto q = stablehlo::ParseQuantization(*first);
    return q.ok() && q->axes.empty() && q->scales.size() == 1 && q->scales[0] > 0;
  }

  // Of a reduction or the like: its body computes with what the integers stand for.
  static absl::Status ToFloats(Graph& graph) {
    const auto settle = [](Value* value) -> absl::Status {
      if (!AnnotationOf(value)) return absl::OkStatus();
      if (value->constant()) return Unimplemented("a quantized constant in a region");
      X2IR_ASSIGN_OR_RETURN(const Quantization q, QuantizationOf(*value));
      Type type = value->type();
      type.set_dtype(q.expressed);
      value->set_type(type);
      value->annotations().GetOrMake().extra.erase(stablehlo::kQuantized);
      return absl::OkStatus();
    };
    for (Value* input : graph.inputs()) X2IR_RETURN_IF_ERROR(settle(input));
    for (Value* constant : graph.constants()) X2IR_RETURN_IF_ERROR(settle(constant));
    for (Node* node : graph.nodes()) {
      for (Value* output : node->outputs()) X2IR_RETURN_IF_ERROR(settle(output));
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(ToFloats(*inner));
    }
    return absl::OkStatus();
  }

  Graph& graph_;
};

// No annotation is left in a graph of units: the integers are numbers of their own.
void ClearAnnotations(Graph& graph) {
  const auto clear = [](Value* value) {
    if (AnnotationOf(value)) value->annotations().GetOrMake().extra.erase(stablehlo::kQuantized);
  };
  for (Value* value : graph.inputs()) clear(value);
  for (Value* value : graph.constants()) clear(value);
  for (Node* node : graph.nodes()) {
    for (Value* value : node->outputs()) clear(value);
    for (Graph* inner : node->subgraphs()) ClearAnnotations(*inner);
  }
}

// By now operands and results are what the integers stand for.
Value* Requantized(StablehloArgs& a) {
  const DType to = a.out_dtype();
  return a.dtype() == to ? a.Op("identity", {a.in(0)}) : a.Cast(a.in(0), to).value();
}

}  // namespace

absl::Status MakeStablehloUnits(Graph& graph) {
  X2IR_RETURN_IF_ERROR(QuantizedUnits(graph).Run());
  ClearAnnotations(graph);
  return absl::OkStatus();
}

X2IR_STABLEHLO(quantize_linear).From("uniform_quantize", Requantized);
X2IR_STABLEHLO(dequantize_linear).From("uniform_dequantize", Requantized);

}  // namespace x2ir
