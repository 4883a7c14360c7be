// Sizes of tensors, and Python's arithmetic of them.
#include <array>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

Values SizeOfAxis(TorchCall& c) {
  Value* x = c.Tensor("self");
  return {c.Op("identity", {SizeOf({c, x}, c.Axis("dim", x))})};
}
Values NumberOfElements(TorchCall& c) {
  return {c.Op("identity", {Scalar(c, Product(c, AllSizes(c.Tensor("self"))))})};
}
Values AllSizesOf(TorchCall& c) {
  Value* x = c.Tensor("self");
  Values sizes(c.num_outputs(), nullptr);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (c.wants(i)) sizes[i] = SizeOf({c, x}, c.NormalAxis(static_cast<int64_t>(i), c.Rank(x)));
  }
  return sizes;
}

// The names that an argument has: operators of Python, functions of torch and of math.
std::string_view NameOf(TorchCall& c, size_t i) {
  static constexpr std::array<std::array<std::string_view, 4>, 3> kNames = {
      {{"a", "arg0", "x", "self"}, {"b", "arg1", "y", "other"}, {"c", "arg2", "z", "f"}}};
  for (const std::string_view name : kNames[i]) {
    if (c.Has(name)) return name;
  }
  c.Fail(Invalid("expected ", i + 1, " arguments"));
  return kNames[i][0];
}
Value* Argument(TorchCall& c, size_t i, DType t) { return c.Operand(NameOf(c, i), t); }

// The type that both numbers are of, in Python: ints, or floats (of 64 bits).
DType CommonType(TorchCall& c) {
  const DType t = c.ResultType({NameOf(c, 0), NameOf(c, 1)});
  return IsFloating(t) ? DType::kFloat64 : DType::kInt64;
}

TorchHandler Binary(Symbol op) {
  return [op](TorchCall& c) -> Values {
    const DType t = OutType(c);
    return {c.Op(op, {Argument(c, 0, t), Argument(c, 1, t)})};
  };
}

// The remainder has the sign of the divisor.
Value* Remainder(TorchCall& c, Value* a, Value* b) {
  if (!IsFloating(a->dtype())) return c.Op("mod", {a, b}, {{"fmod", 0}});
  Value* zero = c.Constant(a->dtype(), 0);
  Value* rest = c.Op("mod", {a, b}, {{"fmod", 1}});
  Value* signs = c.Op("xor", {c.Op("less", {rest, zero}), c.Op("less", {b, zero})});
  Value* wrong = c.Op("and", {c.Op("not", {c.Op("equal", {rest, zero})}), signs});
  return c.Op("where", {wrong, c.Op("add", {rest, b}), rest});
}
Values ModuloCall(TorchCall& c) {
  const DType t = OutType(c);
  return {Remainder(c, Argument(c, 0, t), Argument(c, 1, t))};
}
Values FloorDivideSizes(TorchCall& c) {
  const DType t = OutType(c);
  Value *a = Argument(c, 0, t), *b = Argument(c, 1, t);
  Value* quotient = c.Op("div", {c.Op("sub", {a, Remainder(c, a, b)}), b});
  return {IsFloating(t) ? c.Op("round", {quotient}) : quotient};
}
Values TrueDivide(TorchCall& c) {
  return {c.Op("div", {Argument(c, 0, DType::kFloat64), Argument(c, 1, DType::kFloat64)})};
}
Values Power(TorchCall& c) {
  const DType t = OutType(c);
  return {c.Op("pow", {Argument(c, 0, t), Argument(c, 1, t)})};
}

TorchHandler Compare(Symbol op, bool negated) {
  return [=](TorchCall& c) -> Values {
    const DType t = CommonType(c);
    Value* result = c.Op(op, {Argument(c, 0, t), Argument(c, 1, t)});
    return {negated ? c.Op("not", {result}) : result};
  };
}

// Python's `and` of sizes is of ints bit by bit.
TorchHandler Bits(Symbol ints, Symbol bools) {
  return [=](TorchCall& c) -> Values {
    const DType t = OutType(c);
    return {c.Op(t == DType::kBool ? bools : ints, {Argument(c, 0, t), Argument(c, 1, t)})};
  };
}

TorchHandler Unary(Symbol op) {
  return [op](TorchCall& c) -> Values { return {c.Op(op, {Argument(c, 0, OutType(c))})}; };
}
TorchHandler UnaryFloat(Symbol op) {
  return [op](TorchCall& c) -> Values {
    return {c.Cast(c.Op(op, {Argument(c, 0, DType::kFloat64)}), OutType(c))};
  };
}
Values NumberCall(TorchCall& c) { return {c.Op("identity", {Argument(c, 0, OutType(c))})}; }
// Towards zero, as the cast to an int does.
Values Whole(TorchCall& c) {
  return {c.Cast(c.Cast(Argument(c, 0, DType::kFloat64), DType::kInt64), OutType(c))};
}

Values Choose(TorchCall& c) {
  const DType t = OutType(c);
  const bool named = c.Has("t") && c.Has("f");
  Value* condition = c.Operand(c.Has("b") && named ? "b" : NameOf(c, 0), DType::kBool);
  Value* yes = named ? c.Operand("t", t) : Argument(c, 1, t);
  Value* no = named ? c.Operand("f", t) : Argument(c, 2, t);
  return {Select({c, condition}, {c, yes}, {c, no})};
}

X2IR_TORCH(shape)
    .From({"aten::sym_size.int", "aten::size.int"}, SizeOfAxis)
    .From("aten::sym_size.default", AllSizesOf)
    .From({"aten::sym_numel.default", "aten::numel.default"}, NumberOfElements);
X2IR_TORCH(add).From("_operator::add", Binary("add"));
X2IR_TORCH(sub).From("_operator::sub", Binary("sub"));
X2IR_TORCH(mul).From("_operator::mul", Binary("mul"));
X2IR_TORCH(div)
    .From("_operator::floordiv", FloorDivideSizes)
    .From("_operator::truediv", TrueDivide);
X2IR_TORCH(mod).From("_operator::mod", ModuloCall);
X2IR_TORCH(pow).From("_operator::pow", Power);
X2IR_TORCH(neg).From("_operator::neg", Unary("neg"));
X2IR_TORCH(identity).From("_operator::pos", NumberCall).From("torch::sym_float", NumberCall);
X2IR_TORCH(max).From("torch::sym_max", Binary("max"));
X2IR_TORCH(min).From("torch::sym_min", Binary("min"));
X2IR_TORCH(equal)
    .From("_operator::eq", Compare("equal", false))
    .From("_operator::ne", Compare("equal", true));
X2IR_TORCH(less).From("_operator::lt", Compare("less", false));
X2IR_TORCH(less_or_equal).From("_operator::le", Compare("less_or_equal", false));
X2IR_TORCH(greater).From("_operator::gt", Compare("greater", false));
X2IR_TORCH(greater_or_equal).From("_operator::ge", Compare("greater_or_equal", false));
X2IR_TORCH(bitwise_and).From("_operator::and_", Bits("bitwise_and", "and"));
X2IR_TORCH(bitwise_or).From("_operator::or_", Bits("bitwise_or", "or"));
[[maybe_unused]] const TorchSpec kNotOfSize = TorchSpec("not").From(
    {"torch::sym_not", "_operator::not_"},
    [](TorchCall& c) -> Values { return {c.Op("not", {Argument(c, 0, DType::kBool)})}; });
X2IR_TORCH(where).From("torch::sym_ite", Choose);
X2IR_TORCH(cast).From({"torch::sym_int", "math::trunc"}, Whole);
X2IR_TORCH(ceil).From("math::ceil", UnaryFloat("ceil"));
X2IR_TORCH(floor).From("math::floor", UnaryFloat("floor"));
X2IR_TORCH(sqrt).From({"math::sqrt", "torch::_sym_sqrt", "torch::sym_sqrt"}, UnaryFloat("sqrt"));

}  // namespace
}  // namespace x2ir
