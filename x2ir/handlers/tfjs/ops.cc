// See ops.h.
#include "x2ir/handlers/tfjs/ops.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/signatures.h"

namespace x2ir {
namespace {

// The attributes are those that TensorFlow.js reads; nothing is said of operands.
constexpr TfSignature kTfjsOps[] = {
#include "x2ir_tfjs_ops_schema_data.inc"
};

// In its list, but without effect or failing (4.22): BitwiseAnd looks for operands of other names,
// FakeQuantWithMinMaxVars gives its operand, and Multinomial draws the same numbers for each row.
// Lists lose their tensors where a function ends, change in place, and have elements of one shape.
// Tables need a graph that fills them, which is not written.
constexpr std::string_view kBroken[] = {
    "BitwiseAnd",        "EmptyTensorList",    "FakeQuantWithMinMaxVars", "LookupTableFindV2",
    "Multinomial",       "TensorListConcatV2", "TensorListFromTensor",    "TensorListGetItem",
    "TensorListLength",  "TensorListPopBack",  "TensorListPushBack",      "TensorListReserve",
    "TensorListSetItem", "TensorListSplit",    "TensorListStack"};

const TfSignature* FindTfjsOp(std::string_view name) {
  if (std::find(std::begin(kBroken), std::end(kBroken), name) != std::end(kBroken)) return nullptr;
  const auto* found = std::lower_bound(
      std::begin(kTfjsOps), std::end(kTfjsOps), name,
      [](const TfSignature& op, std::string_view wanted) { return op.op < wanted; });
  return found != std::end(kTfjsOps) && found->op == name ? found : nullptr;
}

// Attributes that TensorFlow.js does not read, with the value that it computes with; kHint: the
// attribute does not change what is computed, or is only the type of a result.
struct FixedAttr {
  std::string_view op;  // empty: of every op
  std::string_view attr;
  enum class Value { kHint, kFalse, kTrue, kOnes, kNone, kChannelsLast, kLastAxis } value;
};
using Fixed = FixedAttr::Value;
constexpr FixedAttr kFixedAttrs[] = {
    {"OneHot", "axis", Fixed::kLastAxis},
    {"Unpack", "num", Fixed::kHint},
    {"", "Targmax", Fixed::kHint},
    {"", "Truncate", Fixed::kFalse},
    {"", "data_format", Fixed::kChannelsLast},
    {"", "dilations", Fixed::kOnes},
    {"", "explicit_paddings", Fixed::kNone},
    {"", "exponential_avg_factor", Fixed::kHint},
    {"", "incompatible_shape_error", Fixed::kTrue},
    {"", "is_training", Fixed::kFalse},
    {"", "num_split", Fixed::kHint},
    {"", "out_type", Fixed::kHint},
    {"", "output_shapes", Fixed::kHint},
    {"", "output_type", Fixed::kHint},
    {"", "parallel_iterations", Fixed::kHint},
    {"", "seed", Fixed::kHint},
    {"", "seed2", Fixed::kHint},
    {"", "use_cudnn_on_gpu", Fixed::kHint},
    {"", "validate_indices", Fixed::kHint},
};

bool IsFixedValue(Fixed fixed, const Attribute& value) {
  const auto all_are = [&](int64_t number) {
    const Attribute::Ints* list = value.get<Attribute::Ints>();
    return list && std::all_of(list->begin(), list->end(), [=](int64_t i) { return i == number; });
  };
  switch (fixed) {
    case Fixed::kHint: return true;
    case Fixed::kFalse: return value == Attribute(int64_t{0});
    case Fixed::kTrue: return value == Attribute(int64_t{1});
    case Fixed::kOnes: return all_are(1);
    case Fixed::kNone: return all_are(0);
    case Fixed::kChannelsLast:
      return value == Attribute(std::string("NHWC")) || value == Attribute(std::string("NDHWC"));
    case Fixed::kLastAxis: return value == Attribute(int64_t{-1});
  }
  return false;
}

bool IgnoresRightly(std::string_view op, std::string_view attr, const Attribute& value) {
  for (const FixedAttr& fixed : kFixedAttrs) {
    if (fixed.attr != attr || (!fixed.op.empty() && fixed.op != op)) continue;
    return IsFixedValue(fixed.value, value);
  }
  return false;
}

// Element types that graphs declare: int64 and integers of 8 bits are computed as int32, float64
// and float16 as float32.
bool HasTfjsType(DType type) {
  switch (type) {
    case DType::kUndefined:
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kFloat64:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
    case DType::kString: return true;
    default: return false;
  }
}

// Ops whose results may be out of the range of the operands' type.
constexpr std::string_view kMayOverflow[] = {
    "Abs",       "AddV2",  "BatchMatMulV2", "Cumprod",  "Cumsum", "Einsum",
    "LeftShift", "MatMul", "Mul",           "Neg",      "Pow",    "Prod",
    "Range",     "Sub",    "Sum",           "FloorDiv", "Conv2D", "Conv3D"};

// A size that is known; nullopt for others.
std::optional<int64_t> SizeOf(const Value* value, int64_t axis) {
  const Shape* shape = value ? value->shape() : nullptr;
  if (!shape || shape->rank() <= axis || !(*shape)[axis].is_static()) return std::nullopt;
  return (*shape)[axis].value();
}

bool IsEmpty(const Value* value) {
  const Shape* shape = value ? value->shape() : nullptr;
  for (int64_t axis = 0; shape && axis < shape->rank(); ++axis) {
    if (SizeOf(value, axis) == 0) return true;
  }
  return false;
}

// Where there are no elements (4.22). Sizes that only a run finds are not looked at.
std::string EmptyProblem(const Node& node) {
  const std::string_view op = node.op().view();
  if ((op == "Max" || op == "Min") && IsEmpty(node.input(0))) {
    return "TensorFlow.js gives NaN for empty tensors";
  }
  if (op == "All" && IsEmpty(node.input(0))) {
    return "TensorFlow.js gives false for empty tensors";
  }
  if (op == "Mean" && IsEmpty(node.input(0))) {
    return "TensorFlow.js gives 0 for empty tensors";
  }
  bool repeats = false;
  if (op == "BroadcastTo") {
    const Tensor* sizes = node.input(1)->fixed_constant();
    for (int64_t i = 0; sizes && i < sizes->num_elements(); ++i) repeats |= sizes->AsInt(i) == 0;
    repeats &= !IsEmpty(node.input(0));
  } else if (op == "SelectV2") {
    int empty = 0;
    for (size_t i = 0; i < node.num_inputs(); ++i) empty += IsEmpty(node.input(i));
    repeats = empty != 0 && empty != 3;
  }
  return repeats ? "TensorFlow.js does not repeat elements 0 times" : "";
}

// These count axes from the front alone, where other ops count from the end as well.
std::string AxisProblem(const Node& node) {
  const std::string_view op = node.op().view();
  if (op != "Cumsum" && op != "Cumprod") return "";
  const Tensor* axis = node.input(1)->fixed_constant();
  if (!axis) return "a computed axis";
  return axis->AsInt(0) < 0 ? "an axis that is counted from the end" : "";
}

// Along three axes, SAME begins before the first element where steps are longer than windows, by as
// much as they leave out at the end.
std::string PadsProblem(const Node& node) {
  const std::string_view op = node.op().view();
  const bool pool = op == "MaxPool3D" || op == "AvgPool3D";
  if ((!pool && op != "Conv3D") || node.attrs().String("padding", "") != "SAME") return "";
  const std::vector<int64_t> steps = node.attrs().Ints("strides", {});
  const std::vector<int64_t> window = node.attrs().Ints("ksize", {});
  for (int64_t axis = 1; axis < 4 && steps.size() == 5; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t length = !pool                ? SizeOf(node.input(1), axis - 1).value_or(1)
                           : window.size() == 5 ? window[i]
                                                : 1;
    if (steps[i] <= std::max<int64_t>(length, 1)) continue;
    const auto size = SizeOf(node.input(0), axis);
    const int64_t rest = size.value_or(0) % steps[i];
    if (!size || rest == 0 || rest > length) {
      return "TensorFlow.js misplaces windows with padding SAME whose steps are longer";
    }
  }
  return "";
}

// Ops of some numbers alone.
std::string NumberProblem(const Node& node) {
  const std::string_view op = node.op().view();
  const DType type = node.num_inputs() ? node.input(0)->dtype() : DType::kUndefined;
  if (op == "OneHot") {
    const Tensor* depth = node.input(1)->fixed_constant();
    const bool small = depth && depth->num_elements() == 1 && depth->AsInt(0) < 2;
    return small ? "TensorFlow.js has no OneHot of a depth below 2" : "";
  }
  if (type == DType::kUndefined || IsFloating(type)) return "";
  if (op == "DepthToSpace") return "TensorFlow.js has DepthToSpace of floats alone";
  if (op == "Mean") return "TensorFlow.js gives floats as means of integers";
  return "";
}

std::string ShapeProblem(const Node& node) {
  const std::string_view op = node.op().view();
  const bool back = op == "Conv2DBackpropInput";
  if (op == "Conv2D" || op == "Conv3D" || back) {
    const int64_t channels = op == "Conv3D" ? 4 : 3;
    const auto own = SizeOf(node.input(back ? 2 : 0), channels);
    const auto kernel = SizeOf(node.input(1), back ? 3 : channels - 1);
    if (own && kernel && own != kernel) return "convolutions have no groups in TensorFlow.js";
    const Tensor* sizes = back ? node.input(0)->fixed_constant() : nullptr;
    const auto results = SizeOf(node.input(1), 2);
    if (sizes && sizes->num_elements() == 4 && results && sizes->AsInt(3) != *results) {
      return "transposed convolutions have no groups in TensorFlow.js";
    }
  }
  if (op == "Einsum") {
    const std::string equation = node.attrs().String("equation", "");
    if (equation.find('.') != std::string::npos) {
      return "TensorFlow.js has no ellipsis in equations";
    }
    std::string letters;  // of one operand, so far
    for (const char c : equation) {
      if (c == ',' || c == '-') letters.clear();
      if (letters.find(c) != std::string::npos && c != ' ') {
        return "TensorFlow.js has no diagonals in equations";
      }
      letters += c;
    }
  }
  return "";
}

}  // namespace

bool HasTfjsOp(Symbol op) { return FindTfjsOp(op.view()) != nullptr; }

std::vector<std::string> CheckTfjsNode(const Node& node) {
  std::vector<std::string> problems = CheckTfNode(node);
  if (!problems.empty()) return problems;
  const TfSignature* op = FindTfjsOp(node.op().view());
  if (!op) return {"TensorFlow.js does not have that op"};
  const auto check_type = [&](const Value* value, std::string_view what, size_t i) {
    if (value && value->type().is_tensor() && !HasTfjsType(value->dtype())) {
      problems.push_back(StrCat(what, " ", i, ": TensorFlow.js has no ", Name(value->dtype())));
    }
  };
  for (size_t i = 0; i < node.num_inputs(); ++i) check_type(node.input(i), "operand", i);
  for (size_t i = 0; i < node.num_outputs(); ++i) check_type(node.output(i), "result", i);
  const TfSignature* signature = FindTfSignature(node.op().view());
  const AttributeMap types = TfTypeAttrs(*signature, node.inputs());
  for (const auto& [name, value] : node.attrs()) {
    const Type* type = value.get<Type>();
    if (type && !HasTfjsType(type->dtype())) {
      problems.push_back(
          StrCat("attribute '", name.str(), "': TensorFlow.js has no ", Name(type->dtype())));
    }
    if (op->HasAttr(name.view()) || types.Has(name)) continue;
    if (!IgnoresRightly(op->op, name.view(), value)) {
      problems.push_back(
          StrCat("TensorFlow.js does not read attribute '", name.str(), "' = ", value.ToString()));
    }
  }
  for (const auto& find : {ShapeProblem, PadsProblem, NumberProblem, EmptyProblem, AxisProblem}) {
    if (const std::string problem = find(node); !problem.empty()) problems.push_back(problem);
  }
  const bool pool = op->op.find("Pool") != op->op.npos;
  if (pool && node.attrs().Has("padding") && node.attrs().String("padding") == "EXPLICIT") {
    problems.push_back("pools have no explicit padding in TensorFlow.js");
  }
  return problems;
}

bool LacksTfjsKernel(Symbol op, int, size_t, DType type) {
  if (type != DType::kInt8 && type != DType::kUInt8) return false;
  return std::find(std::begin(kMayOverflow), std::end(kMayOverflow), op.view()) !=
         std::end(kMayOverflow);
}

}  // namespace x2ir
