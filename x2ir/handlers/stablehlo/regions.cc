// See regions.h.
#include "x2ir/handlers/stablehlo/regions.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/builder/loop.h"
#include "x2ir/core/read_through.h"
#include "x2ir/handlers/stablehlo/elementwise.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr std::string_view kCommuting[] = {"add", "multiply", "minimum", "maximum",
                                           "and", "or",       "xor"};

// Operations whose result at a place depends on their operands at that place alone.
bool IsByElement(std::string_view op) {
  static const auto* const kOps =
      new absl::flat_hash_set<std::string_view>{"abs",
                                                "add",
                                                "and",
                                                "atan2",
                                                "bitcast_convert",
                                                "cbrt",
                                                "ceil",
                                                "clamp",
                                                "compare",
                                                "complex",
                                                "convert",
                                                "cosine",
                                                "count_leading_zeros",
                                                "divide",
                                                "exponential",
                                                "exponential_minus_one",
                                                "floor",
                                                "imag",
                                                "is_finite",
                                                "log",
                                                "log_plus_one",
                                                "logistic",
                                                "maximum",
                                                "minimum",
                                                "multiply",
                                                "negate",
                                                "not",
                                                "or",
                                                "popcnt",
                                                "power",
                                                "real",
                                                "reduce_precision",
                                                "remainder",
                                                "round_nearest_afz",
                                                "round_nearest_even",
                                                "rsqrt",
                                                "select",
                                                "shift_left",
                                                "shift_right_arithmetic",
                                                "shift_right_logical",
                                                "sign",
                                                "sine",
                                                "sqrt",
                                                "subtract",
                                                "tan",
                                                "tanh",
                                                "xor",
                                                "chlo.acos",
                                                "chlo.acosh",
                                                "chlo.asin",
                                                "chlo.asinh",
                                                "chlo.atan",
                                                "chlo.atanh",
                                                "chlo.bessel_i1e",
                                                "chlo.conj",
                                                "chlo.cosh",
                                                "chlo.digamma",
                                                "chlo.erf",
                                                "chlo.erf_inv",
                                                "chlo.erfc",
                                                "chlo.is_inf",
                                                "chlo.is_neg_inf",
                                                "chlo.is_pos_inf",
                                                "chlo.lgamma",
                                                "chlo.mulhi",
                                                "chlo.next_after",
                                                "chlo.polygamma",
                                                "chlo.sinh",
                                                "chlo.square",
                                                "chlo.tan",
                                                "chlo.zeta"};
  return kOps->contains(op);
}

// Operations that change nothing of a tensor of rank 0.
bool IsIdentityOfScalars(std::string_view op) {
  return op == "reshape" || op == "broadcast_in_dim" || op == "transpose" || op == "reverse" ||
         op == "optimization_barrier";
}

bool IsArgument(const Graph& region, const Value* value, size_t i) {
  return i < region.inputs().size() && region.inputs()[i] == value;
}

// The shape of operands by element, of which those of rank 0 are broadcast.
Type ResultTypeOf(const Value& result, const std::vector<Value*>& operands) {
  for (const Value* operand : operands) {
    if (!operand->shape()) return Type::Tensor(result.dtype());
    if (operand->shape()->rank() > 0) return Type::Tensor(result.dtype(), *operand->shape());
  }
  return result.type();
}

// What `wanted` needs of the region, in the region's order.
absl::flat_hash_set<const Node*> NeededBy(const Graph& region,
                                          absl::Span<const Value* const> wanted) {
  absl::flat_hash_set<const Node*> needed;
  std::vector<const Node*> open;
  const auto need = [&](const Value* value) {
    const Node* node = value ? value->producer() : nullptr;
    if (node && node->graph() == &region && needed.insert(node).second) open.push_back(node);
  };
  for (const Value* value : wanted) need(value);
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Value* operand : node->inputs()) need(operand);
  }
  return needed;
}

}  // namespace

// --- A region as it is --------------------------------------------------------------------------

void CheckRegion(StablehloArgs& a, const Graph& region, size_t arguments, size_t results) {
  if (region.inputs().size() != arguments || region.outputs().size() != results) {
    a.Fail(Invalid("its region takes ", region.inputs().size(), " and gives ",
                   region.outputs().size(), " values; it must be ", arguments, " and ", results));
  }
  for (const Value* input : region.inputs()) {
    if (input->type().is_tensor() && input->shape() && input->shape()->rank() != 0) {
      a.Fail(Invalid("an argument of its region is not of rank 0"));
    }
  }
}

std::string_view OpOf(const Graph& region, const Value* value) {
  const Node* node = value->producer();
  if (!node || node->graph() != &region || node->dialect().view() != StablehloDialect::kName) {
    return "";
  }
  return node->op().view();
}

bool IsOf(const Graph& region, const Value* value, std::string_view op, const Value* first,
          const Value* second) {
  if (OpOf(region, value) != op) return false;
  const Node& node = *value->producer();
  if (node.num_inputs() != 2) return false;
  if (node.input(0) == first && node.input(1) == second) return true;
  const bool commutes =
      std::find(std::begin(kCommuting), std::end(kCommuting), op) != std::end(kCommuting);
  return commutes && node.input(1) == first && node.input(0) == second;
}

std::string_view KnownBody(const Graph& region, size_t i) {
  const size_t n = region.outputs().size();
  if (i >= n || region.inputs().size() != 2 * n) return "";
  const Value* result = region.outputs()[i];
  if (IsArgument(region, result, i)) return "first";
  if (IsArgument(region, result, i + n)) return "second";
  for (const std::string_view op : kCommuting) {
    if (IsOf(region, result, op, region.inputs()[i], region.inputs()[i + n])) return op;
  }
  if (IsOf(region, result, "subtract", region.inputs()[i], region.inputs()[i + n])) {
    return "subtract";
  }
  return "";
}

// --- A region of whole tensors ------------------------------------------------------------------

std::vector<Expr> RunRegionTo(StablehloArgs& a, const Graph& region,
                              const std::vector<Expr>& arguments,
                              absl::Span<const Value* const> wanted) {
  absl::flat_hash_map<const Value*, Value*> values;
  for (size_t i = 0; i < arguments.size() && i < region.inputs().size(); ++i) {
    values[region.inputs()[i]] = arguments[i];
  }
  for (const Value* constant : region.constants()) {
    values[constant] = a.b().Constant(*constant->constant());
  }
  // What is not there is a value from outside.
  const auto mapped = [&](const Value* value) {
    const auto it = values.find(value);
    return it == values.end() ? const_cast<Value*>(value) : it->second;
  };
  const absl::flat_hash_set<const Node*> needed = NeededBy(region, wanted);
  for (const Node* node : region.nodes()) {
    if (!needed.contains(node)) continue;
    const std::string_view op = node->op().view();
    std::vector<Value*> operands;
    for (const Value* operand : node->inputs()) {
      if (!operand) a.Fail(Invalid("an operand in its region is missing"));
      operands.push_back(mapped(operand));
    }
    const bool same = IsIdentityOfScalars(op) && operands.size() == 1 && node->output(0) &&
                      node->output(0)->shape() && node->output(0)->shape()->rank() == 0;
    if (same) {
      values[node->output(0)] = operands[0];
      continue;
    }
    if (node->dialect().view() != StablehloDialect::kName || node->has_subgraphs() ||
        node->num_outputs() != 1 || !(IsByElement(op) || op == "constant")) {
      a.Fail(Unimplemented("its region has '", op, "', which is not by element"));
    }
    std::vector<Value*> results =
        ReadThrough(a, StablehloDialect::kName, 1, op, operands, node->attrs(),
                    {{true, ResultTypeOf(*node->output(0), operands)}});
    values[node->output(0)] = results[0];
  }
  std::vector<Expr> results;
  for (const Value* value : wanted) results.emplace_back(a.b(), mapped(value));
  return results;
}

std::vector<Expr> RunRegion(StablehloArgs& a, const Graph& region,
                            const std::vector<Expr>& arguments) {
  return RunRegionTo(a, region, arguments, region.outputs());
}

Combine CombineBy(StablehloArgs& a, const Graph& region) {
  return [&a, &region](const std::vector<Expr>& x, const std::vector<Expr>& y) {
    std::vector<Expr> arguments = x;
    arguments.insert(arguments.end(), y.begin(), y.end());
    return RunRegion(a, region, arguments);
  };
}

// --- Identities ---------------------------------------------------------------------------------

Expr NeutralOf(Builder& b, std::string_view op, DType t) {
  const bool sum = op == "add" || op == "subtract" || op == "or" || op == "xor";
  if (IsComplex(t)) {
    if (!sum && op != "multiply") b.Fail(Unimplemented("an order of complex numbers"));
    const DType part = PartType(t);
    return Expr(b, b.Scalar(part, sum ? 0 : 1)).Op("complex", {b.Scalar(part, 0)});
  }
  if (t == DType::kBool) {
    const bool value = op == "multiply" || op == "and" || op == "minimum";
    return {b, b.Constant(Tensor::Scalar<bool>(value))};
  }
  if (op == "maximum" || op == "minimum") return Extreme(b, t, op == "minimum");
  if (IsFloating(t)) {
    // Of zeros, -0 is the one that leaves -0 as it is.
    return {b, b.Scalar(t, op == "multiply" ? 1.0 : op == "add" ? -0.0 : 0.0)};
  }
  return IntegerOf(b, t, op == "multiply" ? 1 : op == "and" ? -1 : 0);
}

bool IsNeutral(std::string_view op, const Value* value) {
  const std::optional<Tensor> known = KnownTensor(*value);
  if (!known || known->num_elements() != 1) return false;
  const DType t = known->dtype();
  if (IsComplex(t)) {
    const auto is = [&](auto zero) {
      using Part = decltype(zero);
      Part parts[2];
      std::memcpy(parts, known->bytes().data(), sizeof(parts));
      return parts[1] == 0 &&
             ((op == "add" && parts[0] == 0) || (op == "multiply" && parts[0] == 1));
    };
    return t == DType::kComplex64 ? is(float{}) : is(double{});
  }
  const bool sum = op == "add" || op == "or" || op == "xor" || op == "subtract";
  if (t == DType::kBool) {
    if (sum || op == "maximum") return known->AsInt(0) == 0;
    return known->AsInt(0) != 0 && (op == "multiply" || op == "and" || op == "minimum");
  }
  if (IsFloating(t)) {
    const double x = known->AsDouble(0);
    if (op == "maximum") return x == -std::numeric_limits<double>::infinity();
    if (op == "minimum") return x == std::numeric_limits<double>::infinity();
    return (op == "add" && x == 0) || (op == "multiply" && x == 1);
  }
  if (!IsInteger(t) || BitWidth(t) < 8) return false;
  const int64_t x = known->AsInt(0);
  const int bits = BitWidth(t);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  const auto is_all = [&] { return (static_cast<uint64_t>(x) & all) == all; };
  if (sum) return x == 0;
  if (op == "multiply") return x == 1;
  if (op == "and") return is_all();
  if (op == "maximum") return IsUnsignedInt(t) ? x == 0 : x == -most - 1;
  if (op == "minimum") return IsUnsignedInt(t) ? is_all() : x == most;
  return false;
}

Expr Combined(std::string_view op, const Expr& x, const Expr& y) {
  const bool logic = x.dtype() == DType::kBool;
  if (op == "first") return x;
  if (op == "second") return y;
  if (op == "add") return logic ? x | y : x + y;
  if (op == "multiply") return logic ? x & y : x * y;
  if (op == "minimum") return Least(x, y);
  if (op == "maximum") return Greatest(x, y);
  if (op == "subtract") return x - y;
  const std::string_view name = logic         ? op
                                : op == "and" ? "bitwise_and"
                                : op == "or"  ? "bitwise_or"
                                              : "bitwise_xor";
  return x.Op(name, {y});
}

// --- Complex numbers in loops -------------------------------------------------------------------

std::vector<Expr> PartsOf(const std::vector<Expr>& values) {
  std::vector<Expr> parts;
  for (const Expr& value : values) {
    if (!IsComplex(value.dtype())) {
      parts.push_back(value);
      continue;
    }
    parts.push_back(value.Op("real"));
    parts.push_back(value.Op("imag"));
  }
  return parts;
}

std::vector<Expr> FromParts(const std::vector<Expr>& parts, const std::vector<DType>& types) {
  std::vector<Expr> values;
  size_t at = 0;
  for (const DType type : types) {
    if (IsComplex(type)) {
      values.push_back(parts[at].Op("complex", {parts[at + 1]}));
      at += 2;
    } else {
      values.push_back(parts[at++]);
    }
  }
  return values;
}

std::vector<Expr> Repeat(
    const Expr& count, const std::vector<Expr>& first,
    const std::function<std::vector<Expr>(const Expr& i, const std::vector<Expr>& carried)>& body) {
  std::vector<DType> types;
  for (const Expr& value : first) types.push_back(value.dtype());
  const std::vector<Expr> last =
      Rounds(count, PartsOf(first), [&](const Expr& i, const std::vector<Expr>& carried) {
        return PartsOf(body(i, FromParts(carried, types)));
      });
  return FromParts(last, types);
}

}  // namespace x2ir
