// Python's arithmetic: what is known is computed, the rest is written as the operators of sizes
// are.
#include <cmath>
#include <functional>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"
#include "x2ir/ops/infer.h"

namespace x2ir::torch_script {
namespace {

bool IsComparison(std::string_view op) {
  return op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge";
}

int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == 0) throw Raised{"division by zero"};
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  const int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
double FloatRemainder(double a, double b) {
  if (b == 0) throw Raised{"float modulo by zero"};
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Both known.
Val Compute(Machine& m, std::string_view op, const Val& a, const Val& b) {
  if (IsComparison(op)) {
    const bool floats = a.kind == Val::kFloat || b.kind == Val::kFloat;
    const bool less = floats ? a.d < b.d : a.i < b.i, equal = floats ? a.d == b.d : a.i == b.i;
    const bool more = floats ? a.d > b.d : a.i > b.i;
    return Val::Bool(op == "eq"   ? equal
                     : op == "ne" ? !equal
                     : op == "lt" ? less
                     : op == "le" ? less || equal
                     : op == "gt" ? more
                                  : more || equal);
  }
  if (a.kind == Val::kComplex || b.kind == Val::kComplex) {
    const std::complex<double> x(a.d, a.im), y(b.d, b.im);
    const std::complex<double> z = op == "add"   ? x + y
                                   : op == "sub" ? x - y
                                   : op == "mul" ? x * y
                                                 : x / y;
    return Val::Complex(z.real(), z.imag());
  }
  if (op == "div") {
    if (b.d == 0) throw Raised{"division by zero"};
    return Val::Float(a.d / b.d);
  }
  if (op == "pow") return Val::Float(portable::pow(a.d, b.d));
  if (op == "fmod") return Val::Float(std::fmod(a.d, b.d));
  if (a.kind != Val::kFloat && b.kind != Val::kFloat) {
    const uint64_t x = static_cast<uint64_t>(a.i), y = static_cast<uint64_t>(b.i);
    if (op == "add") return Val::Int(static_cast<int64_t>(x + y));
    if (op == "sub") return Val::Int(static_cast<int64_t>(x - y));
    if (op == "mul") return Val::Int(static_cast<int64_t>(x * y));
    if (op == "floordiv") return Val::Int(FloorDivide(a.i, b.i));
    if (op == "remainder") {
      return Val::Int(static_cast<int64_t>(x - static_cast<uint64_t>(FloorDivide(a.i, b.i)) * y));
    }
    if (op == "max") return Val::Int(std::max(a.i, b.i));
    if (op == "min") return Val::Int(std::min(a.i, b.i));
    const bool bools = a.kind == Val::kBool && b.kind == Val::kBool;
    if (op == "__and__") return bools ? Val::Bool(a.i && b.i) : Val::Int(a.i & b.i);
    if (op == "__or__") return bools ? Val::Bool(a.i || b.i) : Val::Int(a.i | b.i);
    if (op == "__xor__") return bools ? Val::Bool(a.i != b.i) : Val::Int(a.i ^ b.i);
    if (op == "__lshift__" && b.i >= 0 && b.i < 64) return Val::Int(static_cast<int64_t>(x << y));
    if (op == "__rshift__" && b.i >= 0 && b.i < 64) return Val::Int(a.i >> b.i);
  } else {
    if (op == "add") return Val::Float(a.d + b.d);
    if (op == "sub") return Val::Float(a.d - b.d);
    if (op == "mul") return Val::Float(a.d * b.d);
    if (op == "floordiv") {
      if (b.d == 0) throw Raised{"float floor division by zero"};
      return Val::Float(std::floor(a.d / b.d));
    }
    if (op == "remainder") return Val::Float(FloatRemainder(a.d, b.d));
    if (op == "max") return Val::Float(std::max(a.d, b.d));
    if (op == "min") return Val::Float(std::min(a.d, b.d));
  }
  m.Refuse("operator ", op, " of ", Describe(a), " and ", Describe(b));
}

}  // namespace

Val Arithmetic(Machine& m, std::string_view op, const Val& a, const Val& b) {
  if (op == "neg") {
    if (a.kind == Val::kComplex) return Val::Complex(-a.d, -a.im);
    if (!a.value) {
      return a.kind == Val::kFloat ? Val::Float(-a.d)
                                   : Val::Int(static_cast<int64_t>(0 - static_cast<uint64_t>(a.i)));
    }
    return m.NumberOf(a.kind, m.Op("neg", {a.value}));
  }
  if (!a.value && !b.value) return Compute(m, op, a, b);
  const auto both_bool = a.kind == Val::kBool && b.kind == Val::kBool;
  // Sizes that are the same expression are equal in every run.
  if (a.value && b.value && a.kind == b.kind && a.kind == Val::kInt) {
    const auto *x = a.value->elements(), *y = b.value->elements();
    const bool same = a.value == b.value || (x && y && x->size() == 1 && y->size() == 1 &&
                                             !(*x)[0].is_unknown() && (*x)[0] == (*y)[0]);
    if (same) {
      if (op == "eq" || op == "le" || op == "ge") return Val::Bool(true);
      if (op == "ne" || op == "lt" || op == "gt") return Val::Bool(false);
      if (op == "max" || op == "min") return a;
    }
  }
  if (op == "__and__" && both_bool) {
    if (!a.value) return a.i ? b : a;
    if (!b.value) return b.i ? a : b;
    return m.NumberOf(Val::kBool, m.Op("and", {a.value, b.value}));
  }
  if (op == "__or__" && both_bool) {
    if (!a.value) return a.i ? a : b;
    if (!b.value) return b.i ? b : a;
    return m.NumberOf(Val::kBool, m.Op("or", {a.value, b.value}));
  }
  if (both_bool && (op == "__xor__" || op == "eq" || op == "ne")) {
    Value* differs = m.Op("xor", {m.ValueOf(a), m.ValueOf(b)});
    return m.NumberOf(Val::kBool, op == "eq" ? m.Op("not", {differs}) : differs);
  }
  static constexpr std::pair<std::string_view, std::string_view> kOps[] = {
      {"add", "_operator::add"},     {"sub", "_operator::sub"},
      {"mul", "_operator::mul"},     {"floordiv", "_operator::floordiv"},
      {"div", "_operator::truediv"}, {"remainder", "_operator::mod"},
      {"pow", "_operator::pow"},     {"eq", "_operator::eq"},
      {"ne", "_operator::ne"},       {"lt", "_operator::lt"},
      {"le", "_operator::le"},       {"gt", "_operator::gt"},
      {"ge", "_operator::ge"},       {"max", "torch::sym_max"},
      {"min", "torch::sym_min"},     {"__and__", "_operator::and_"},
      {"__or__", "_operator::or_"}};
  for (const auto& [name, torch] : kOps) {
    if (name != op) continue;
    const bool floats = a.kind == Val::kFloat || b.kind == Val::kFloat;
    const Val::Kind kind = IsComparison(op)                       ? Val::kBool
                           : floats || op == "div" || op == "pow" ? Val::kFloat
                                                                  : Val::kInt;
    TorchCallRecord call;
    call.op = torch;
    const auto argument = [&](const Val& v, const char* n) {
      if (v.value) {
        call.operands.push_back(v.value);
        call.names.push_back(StrCat(n, v.kind == Val::kFloat  ? ":float"
                                       : v.kind == Val::kBool ? ":bool"
                                                              : ":int"));
      } else if (v.kind == Val::kFloat) {
        call.attrs.Set(n, v.d);
      } else {
        call.attrs.Set(n, v.i);
      }
    };
    argument(a, "a");
    argument(b, "b");
    return m.NumberOf(kind, m.Emit(call, 1, DTypeOfKind(kind))[0]);
  }
  // What the operators of sizes do not have: as tensors of rank 0.
  static constexpr std::pair<std::string_view, std::string_view> kTensorOps[] = {
      {"__lshift__", "aten::bitwise_left_shift"},
      {"__rshift__", "aten::bitwise_right_shift"},
      {"__xor__", "aten::bitwise_xor"},
      {"fmod", "aten::fmod"}};
  for (const auto& [name, torch] : kTensorOps) {
    if (name != op) continue;
    const bool floats = op == "fmod";
    if (!floats && (a.kind == Val::kFloat || b.kind == Val::kFloat)) break;
    const auto tensor = [&](const Val& v) {
      Value* x = m.ValueOf(v);
      const DType t = floats ? DType::kFloat64 : DType::kInt64;
      return m.Fresh(x->dtype() == t ? x : m.Op("cast", {x}, {{"to", std::string(Name(t))}}));
    };
    const Val result = m.Call(torch, {{tensor(a), tensor(b)}, {}});
    return m.NumberOf(floats ? Val::kFloat : Val::kInt, m.Read(result));
  }
  m.Refuse("operator ", op, " of ", Describe(a), " and ", Describe(b));
}

Val CeilDivide(Machine& m, const Val& a, const Val& b) {
  if (b.is_known(Val::kInt) && b.i == 1) return a;
  return Arithmetic(m, "neg", Arithmetic(m, "floordiv", Arithmetic(m, "neg", a, {}), b), {});
}

std::optional<Val> UnaryNumber(Machine& m, std::string_view op, const Val& v) {
  // What TorchScript gives an int for.
  const bool whole = op == "floor" || op == "ceil" || op == "trunc";
  if (!v.value) {
    const double x = v.d;
    if (op == "abs") {
      return v.kind == Val::kFloat ? Val::Float(std::fabs(x)) : Val::Int(v.i < 0 ? -v.i : v.i);
    }
    if (whole || op == "round") {
      if (v.kind != Val::kFloat) return op == "round" ? Val::Float(x) : Val::Int(v.i);
      const double r = op == "floor"   ? std::floor(x)
                       : op == "ceil"  ? std::ceil(x)
                       : op == "trunc" ? std::trunc(x)
                                       : std::nearbyint(x);
      if (op == "round") return Val::Float(r);
      if (!(r >= -9.2e18 && r <= 9.2e18)) throw Raised{"a float that is no int"};
      return Val::Int(static_cast<int64_t>(r));
    }
    if (op == "isnan") return Val::Bool(std::isnan(x));
    if (op == "isinf") return Val::Bool(std::isinf(x));
    if (op == "isfinite") return Val::Bool(std::isfinite(x));
    static constexpr std::pair<std::string_view, double (*)(double)> kFunctions[] = {
        {"sqrt", std::sqrt},         {"exp", portable::exp},       {"log", portable::log},
        {"log2", portable::log2},    {"log10", portable::log10},   {"log1p", portable::log1p},
        {"sin", portable::sin},      {"cos", portable::cos},       {"tan", portable::tan},
        {"asin", portable::asin},    {"acos", portable::acos},     {"atan", portable::atan},
        {"sinh", portable::sinh},    {"cosh", portable::cosh},     {"tanh", portable::tanh},
        {"expm1", portable::expm1},  {"erf", portable::erf},       {"erfc", portable::erfc},
        {"gamma", portable::tgamma}, {"lgamma", portable::lgamma}, {"asinh", portable::asinh},
        {"acosh", portable::acosh},  {"atanh", portable::atanh},   {"fabs", std::fabs}};
    for (const auto& [name, f] : kFunctions) {
      if (name == op) return Val::Float(f(x));
    }
    if (op == "degrees") return Val::Float(x * 180 / 3.141592653589793);
    if (op == "radians") return Val::Float(x * 3.141592653589793 / 180);
    if (op == "factorial") return Val::Int(static_cast<int64_t>(portable::tgamma(x + 1) + 0.5));
    return std::nullopt;
  }
  if (op == "abs") return m.NumberOf(v.kind, m.Op("abs", {v.value}));
  if (v.kind == Val::kInt && whole) return v;
  Value* x =
      v.kind == Val::kFloat ? v.value : m.Op("cast", {v.value}, {{"to", std::string("float64")}});
  if (whole || op == "round") {
    Value* r = op == "trunc" ? x : m.Op(op, {x});
    if (op == "round") return m.NumberOf(Val::kFloat, r);
    return m.NumberOf(Val::kInt, m.Op("cast", {r}, {{"to", std::string("int64")}}));
  }
  for (const std::string_view name : {"sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos",
                                      "atan", "sinh", "cosh", "tanh", "erf"}) {
    if (name == op) return m.NumberOf(Val::kFloat, m.Op(op, {x}));
  }
  if (op == "isnan") return m.NumberOf(Val::kBool, m.Op("is_nan", {x}));
  for (const std::string_view name : {"log2", "log10", "log1p", "expm1", "erfc", "lgamma", "asinh",
                                      "acosh", "atanh", "isinf", "isfinite"}) {
    if (name != op) continue;
    const Val result = m.Call(StrCat("aten::", op), {{m.Fresh(x)}, {}});
    return m.NumberOf(op.starts_with("is") ? Val::kBool : Val::kFloat, m.Read(result));
  }
  return std::nullopt;
}

}  // namespace x2ir::torch_script
