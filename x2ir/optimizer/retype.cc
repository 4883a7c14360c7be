#include "x2ir/optimizer/retype.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

// What an op does with the numbers of its element type. Each kind allows less than the one before.
enum class NumberUse {
  kMoves,      // nothing: any type that every value gets to and back from
  kCompares,   // tells which is greater, or whether one is 0: any type that has every value
  kWraps,      // sums and products modulo the width: any integer type that is as wide
  kComputes,   // other integer arithmetic: any integer type that has every value
  kFloatOnly,  // there are no integers
};

// Floats of 16 bits and less are computed in float32 and rounded once by every op, here as in
// evaluation, so that they may always become float32 (kMoves and kCompares: as said there).

struct Row {
  std::string_view ops;  // names, between spaces
  NumberUse use;
  uint32_t operands = ~0u;  // bit i: operand i is of the element type, if its dtype is that of
                            // the first of them; bit 31 stands for all from there on
  uint32_t outputs = ~0u;
};

constexpr uint32_t kAll = ~0u;
constexpr uint32_t kNone = 0;
constexpr uint32_t kFirstOperand = 1;

constexpr Row kRows[] = {
    {"identity transpose squeeze unsqueeze flatten reshape slice expand tile split gather "
     "gather_elements gather_nd reverse_sequence depth_to_space space_to_depth compress trilu "
     "center_crop_pad",
     NumberUse::kMoves, kFirstOperand},
    {"concat", NumberUse::kMoves},
    {"where", NumberUse::kMoves, 0b110},
    {"pad scatter_elements scatter_nd", NumberUse::kMoves, 0b101},
    {"one_hot", NumberUse::kMoves, 0b100},
    {"shape size", NumberUse::kMoves, kFirstOperand, kNone},
    {"equal greater greater_or_equal less less_or_equal", NumberUse::kCompares, kAll, kNone},
    {"is_nan is_inf non_zero arg_max arg_min", NumberUse::kCompares, kFirstOperand, kNone},
    {"max min clip relu sign", NumberUse::kCompares},
    {"reduce_max reduce_min global_max_pool", NumberUse::kCompares, kFirstOperand},
    {"max_pool top_k unique", NumberUse::kCompares, kFirstOperand, kFirstOperand},
    {"add sub mul sum neg matmul", NumberUse::kWraps},
    {"reduce_sum reduce_prod reduce_sum_square cum_sum", NumberUse::kWraps, kFirstOperand},
    {"div mod abs prelu", NumberUse::kComputes},
    {"acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log reciprocal round sin sinh "
     "sqrt tan tanh elu selu celu leaky_relu sigmoid hard_sigmoid softplus softsign hard_swish "
     "thresholded_relu mish gelu swish shrink softmax log_softmax hardmax conv conv_transpose gemm "
     "average_pool global_average_pool lp_pool global_lp_pool lrn batch_normalization "
     "instance_normalization group_normalization layer_normalization rms_normalization "
     "lp_normalization mean_variance_normalization det mean pow",
     NumberUse::kFloatOnly},
    {"reduce_mean reduce_l1 reduce_l2 reduce_log_sum reduce_log_sum_exp resize grid_sample",
     NumberUse::kFloatOnly, kFirstOperand},
};

const Row* FindRow(Symbol op) {
  static const auto* rows = [] {
    auto* all = new absl::flat_hash_map<Symbol, const Row*>;
    for (const Row& row : kRows) {
      for (size_t at = 0; at < row.ops.size();) {
        const size_t end = std::min(row.ops.find(' ', at), row.ops.size());
        all->emplace(row.ops.substr(at, end - at), &row);
        at = end + 1;
      }
    }
    return all;
  }();
  auto it = rows->find(op);
  return it == rows->end() ? nullptr : it->second;
}

bool Selected(uint32_t mask, size_t i) { return (mask >> std::min<size_t>(i, 31)) & 1; }

// Binary digits that a type has for integers: all whole numbers of that many fit.
int Digits(DType t) {
  switch (t) {
    case DType::kFloat64: return 53;
    case DType::kFloat32: return 24;
    case DType::kFloat16: return 11;
    case DType::kBFloat16: return 8;
    case DType::kBool: return 1;
    default: return IsInteger(t) ? BitWidth(t) - (IsSignedInt(t) ? 1 : 0) : 0;
  }
}

}  // namespace

bool HoldsEvery(DType to, DType from) {
  if (to == from) return true;
  if (IsFloating(from)) {
    if (to == DType::kFloat64) return true;
    if (to == DType::kFloat32) return from != DType::kFloat64;
    return to == DType::kFloat16 && BitWidth(from) <= 8 && from != DType::kFloat8E8M0;
  }
  if (!IsInteger(from) && from != DType::kBool) return false;
  if (IsSignedInt(from) && IsUnsignedInt(to)) return false;
  return Digits(to) >= Digits(from);
}

namespace {

bool MayStandIn(DType to, DType from, NumberUse use) {
  const bool integers = IsInteger(to) && IsInteger(from);
  if (IsFloating(from) && use > NumberUse::kCompares) {
    return BitWidth(from) <= 16 && (to == DType::kFloat32 || to == DType::kFloat64);
  }
  switch (use) {
    case NumberUse::kMoves:
      return HoldsEvery(to, from) || (integers && BitWidth(to) >= BitWidth(from));
    case NumberUse::kCompares: return HoldsEvery(to, from);
    case NumberUse::kWraps: return integers && BitWidth(to) >= BitWidth(from);
    case NumberUse::kComputes: return integers && HoldsEvery(to, from);
    case NumberUse::kFloatOnly: return false;
  }
  return false;
}

// Whether a maximum or minimum over nothing may come about: that is the type's least or greatest
// value, which no other type has.
bool MayBeOfNothing(const Node& node) {
  const std::string_view op = node.op().view();
  if (op == "max_pool") {  // does every window meet the input?
    const std::vector<int64_t>& kernel = node.attrs().Ints("kernel_shape");
    const std::vector<int64_t> pads = node.attrs().Ints("pads", {});
    const std::vector<int64_t> dilations = node.attrs().Ints("dilations", {});
    for (size_t i = 0; i < pads.size(); ++i) {
      if (kernel.empty() || pads[i] >= kernel[i % kernel.size()]) return true;
    }
    return std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; });
  }
  if (op != "reduce_max" && op != "reduce_min" && op != "global_max_pool") return false;
  const Shape* shape = node.input(0)->shape();
  const auto dims = shape ? shape->Static() : std::nullopt;
  return !dims || std::find(dims->begin(), dims->end(), 0) != dims->end();
}

DType ElementType(const Node& node, const Row& row) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (Selected(row.operands, i) && node.input(i)) return node.input(i)->dtype();
  }
  return DType::kUndefined;
}

absl::StatusOr<Value*> Cast(Builder& b, Value* value, DType to) {
  if (const Tensor* tensor = value->fixed_constant(); tensor && !tensor->is_sparse()) {
    X2IR_ASSIGN_OR_RETURN(Tensor cast, CastTensor(*tensor, to, /*saturate=*/false));
    return b.Constant(std::move(cast));
  }
  // Saturation would make an infinity of float8 finite.
  const bool small_float = IsFloating(to) && BitWidth(to) <= 8;
  return b.Op("cast", {value}, {{"to", Name(to)}, {"saturate", small_float ? 0 : 1}});
}

}  // namespace

std::vector<DType> StandInTypes(const Node& node) {
  // What runtimes have for most ops stands first.
  constexpr DType kTypes[] = {DType::kInt32,   DType::kFloat32, DType::kInt64,
                              DType::kFloat64, DType::kUInt8,   DType::kInt8,
                              DType::kUInt32,  DType::kUInt64,  DType::kFloat16};
  const Row* row = FindRow(node.op());
  if (!row) return {};
  // Reductions of elements that are scattered to are arithmetic.
  const Attribute* reduction = node.attrs().Find("reduction");
  if (reduction && node.attrs().String("reduction") != "none") return {};
  const DType from = ElementType(node, *row);
  if (!IsFloating(from) && !IsInteger(from) && from != DType::kBool) return {};
  if (!IsFloating(from) && MayBeOfNothing(node)) return {};
  std::vector<DType> types;
  for (const DType to : kTypes) {
    if (to != from && MayStandIn(to, from, row->use)) types.push_back(to);
  }
  return types;
}

absl::StatusOr<Values> InStandInType(Rewrite& r, DType type) {
  const Row* row = FindRow(r.node.op());
  if (!row) return Internal(r.node.op().str(), " has no stand-in types");
  const DType from = ElementType(r.node, *row);
  std::vector<Value*> operands = r.node.inputs();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i] || !Selected(row->operands, i) || operands[i]->dtype() != from) continue;
    X2IR_ASSIGN_OR_RETURN(operands[i], Cast(r.b, operands[i], type));
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  Values values = r.b.Ops(r.node.op(), std::move(operands), r.attrs(), wanted);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i] || !Selected(row->outputs, i) || r.node.output(i)->dtype() != from) continue;
    X2IR_ASSIGN_OR_RETURN(values[i], Cast(r.b, values[i], from));
  }
  return values;
}

}  // namespace x2ir
