// Caffe2: operators that work on each number.

#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

template <typename Fn>
auto Each(Fn fn) {
  return [fn](Caffe2Args& a) { return fn(a.in(0)).value(); };
}

// The second operand; its first axis is at `axis` of the first if the old argument gives one.
Expr SecondOf(Caffe2Args& a) {
  const Expr y = a.in(1);
  const bool broadcast = a.Bool("broadcast", false);
  const bool placed = a.HasAttr("axis");
  int64_t axis = a.Int("axis", -1);
  const std::string name = a.String("axis_str", "");
  a.Require(name.empty(), "an axis by its name");
  if (!broadcast || !placed || axis == -1) return y;
  const int64_t rank = a.RankOf(0), own = a.RankOf(1);
  if (axis < 0 || axis + own > rank) a.Fail(Invalid("axes ", axis, " to ", axis + own));
  std::vector<int64_t> behind;
  for (int64_t i = own; i < rank - axis; ++i) behind.push_back(i);
  return Unsqueeze(y, behind);
}

template <typename Fn>
auto OfTwo(Fn fn) {
  return [fn](Caffe2Args& a) {
    const Expr y = SecondOf(a);
    return fn(a.in(0), y).value();
  };
}

Value* Folded(Caffe2Args& a, Expr (*fn)(const Expr&, const Expr&)) {
  Expr y = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) y = fn(y, a.in(i));
  return a.num_inputs() == 1 ? a.Op("identity", {y}).value() : y.value();
}

Expr Plus2(const Expr& x, const Expr& y) { return x + y; }

// Tensors, each before its factor of one element.
absl::StatusOr<Value*> WeightedSum(Caffe2Args& a) {
  if (a.num_inputs() % 2 != 0) return Invalid("a tensor without its factor");
  const auto factor = [&](size_t i) {
    return a.in(i).Op("reshape", {a.b().Ints({})}, {{"allowzero", 1}});
  };
  Expr y = a.in(0) * factor(1);
  for (size_t i = 2; i < a.num_inputs(); i += 2) y = y + a.in(i)*factor(i + 1);
  return y.value();
}

Expr LogitOp(Caffe2Args& a) {
  const double least = a.Number("eps", 1e-6);
  const Expr x = a.in(0);
  const Expr inside = Clip(x, x.Number(least), x.Number(1 - least));
  return Log(inside / (1 - inside));
}

absl::StatusOr<Value*> PowOp(Caffe2Args& a) {
  if (a.num_inputs() == 2) return Pow(a.in(0), SecondOf(a)).value();
  if (!a.HasAttr("exponent")) return Invalid("a power without an exponent");
  return Pow(a.in(0), a.Number("exponent", 1)).value();
}

absl::StatusOr<Value*> CastOp(Caffe2Args& a) {
  const Attribute* to = a.attrs().Find("to");
  a.Ignore("to");
  if (to && to->get<std::string>()) {
    std::string name = *to->get<std::string>();
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (name == "float") return a.in(0).To(DType::kFloat32).value();
    if (name == "int32" || name == "int64" || name == "bool") {
      return a.in(0).To(*ParseDType(name)).value();
    }
    return Unimplemented("a cast to ", name);
  }
  const auto* number = to ? to->get<int64_t>() : nullptr;
  switch (number ? *number : 0) {
    case 1: return a.in(0).To(DType::kFloat32).value();
    case 2: return a.in(0).To(DType::kInt32).value();
    case 5: return a.in(0).To(DType::kBool).value();
    case 10: return a.in(0).To(DType::kInt64).value();
    default: return Unimplemented("a cast to type ", number ? *number : 0);
  }
}

Values SameAll(Caffe2Args& a) {
  a.Drop({"ratio"});
  return {a.Op("identity", {a.in(0)})};
}

Value* RowMul(Caffe2Args& a) { return a.in(0) * AlongChannels(a.in(1), a.RankOf() + 1); }

Value* NormalizeOp(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", -1));
  const Expr x = a.in(0);
  return x / Max(Sqrt(Reduce(Square(x), "reduce_sum", {axis}, true)), 1e-12);
}

}  // namespace

X2IR_CAFFE2(identity).From({"Dropout", "Copy", "Alias", "StopGradient", "EnsureCPUOutput",
                            "CopyFromCPUInput", "CopyCPUToGPU", "CopyGPUToCPU", "EnsureDense"},
                           SameAll);
X2IR_CAFFE2(tanh).From("Tanh", PlainOp("tanh"));
X2IR_CAFFE2(tan).From("Tan", PlainOp("tan"));
X2IR_CAFFE2(asin).From("Asin", PlainOp("asin"));
X2IR_CAFFE2(acos).From("Acos", PlainOp("acos"));
X2IR_CAFFE2(atan).From("Atan", PlainOp("atan"));
X2IR_CAFFE2(sinh).From("Sinh", PlainOp("sinh"));
X2IR_CAFFE2(cosh).From("Cosh", PlainOp("cosh"));
X2IR_CAFFE2(erf).From("Erf", PlainOp("erf"));
X2IR_CAFFE2(is_nan).From("IsNanOp", PlainOp("is_nan"));
X2IR_CAFFE2(abs).From("Abs", PlainOp("abs"));
X2IR_CAFFE2(neg).From("Negative", PlainOp("neg"));
X2IR_CAFFE2(exp).From("Exp", PlainOp("exp"));
X2IR_CAFFE2(log).From({{"Log", PlainOp("log")}, {"Logit", LogitOp}});
X2IR_CAFFE2(sqrt).From("Sqrt", PlainOp("sqrt"));
X2IR_CAFFE2(sin).From("Sin", PlainOp("sin"));
X2IR_CAFFE2(cos).From("Cos", PlainOp("cos"));
X2IR_CAFFE2(floor).From("Floor", PlainOp("floor"));
X2IR_CAFFE2(ceil).From("Ceil", PlainOp("ceil"));
X2IR_CAFFE2(sign).From("Sign", PlainOp("sign"));
X2IR_CAFFE2(not ).From("Not", PlainOp("not"));
X2IR_CAFFE2(reciprocal)
    .From("Reciprocal", PlainOp("reciprocal"))
    .From("Rsqrt", Each([](const Expr& x) { return Reciprocal(Sqrt(x)); }));
X2IR_CAFFE2(pow).From("Pow", PowOp);
X2IR_CAFFE2(cast).From("Cast", CastOp);
X2IR_CAFFE2(add)
    .From("Add", OfTwo([](const Expr& x, const Expr& y) { return x + y; }))
    .From("Sum", [](Caffe2Args& a) { return Folded(a, Plus2); })
    .From("WeightedSum", WeightedSum);
X2IR_CAFFE2(sub).From("Sub", OfTwo([](const Expr& x, const Expr& y) { return x - y; }));
X2IR_CAFFE2(mul)
    .From("Mul", OfTwo([](const Expr& x, const Expr& y) { return x * y; }))
    .From("Sqr", Each([](const Expr& x) { return Square(x); }))
    .From("Cube", Each([](const Expr& x) { return x * x * x; }))
    .From("Cbrt", Each([](const Expr& x) { return Sign(x) * Pow(Abs(x), 1.0 / 3); }))
    .From("RowMul", RowMul)
    .From("Scale", [](Caffe2Args& a) { return a.in(0) * a.Number("scale", 1); });
X2IR_CAFFE2(div)
    .From("Div", OfTwo([](const Expr& x, const Expr& y) { return x / y; }))
    .From("Normalize", NormalizeOp)
    .From("Mean", [](Caffe2Args& a) {
      return Expr(a, Folded(a, Plus2)) / static_cast<double>(a.num_inputs());
    });
X2IR_CAFFE2(max).From("Max", [](Caffe2Args& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return Max(x, y); });
});
X2IR_CAFFE2(min).From("Min", [](Caffe2Args& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return Min(x, y); });
});
X2IR_CAFFE2(equal)
    .From("EQ", OfTwo([](const Expr& x, const Expr& y) { return x == y; }))
    .From("NE", OfTwo([](const Expr& x, const Expr& y) { return Not(x == y); }));
X2IR_CAFFE2(xor).From("Xor", OfTwo([](const Expr& x, const Expr& y) { return x ^ y; }));
X2IR_CAFFE2(less)
    .From("LT", OfTwo([](const Expr& x, const Expr& y) { return x < y; }))
    .From("LE", OfTwo([](const Expr& x, const Expr& y) { return x <= y; }));
X2IR_CAFFE2(greater)
    .From("GT", OfTwo([](const Expr& x, const Expr& y) { return x > y; }))
    .From("GE", OfTwo([](const Expr& x, const Expr& y) { return x >= y; }));
X2IR_CAFFE2(and).From("And", OfTwo([](const Expr& x, const Expr& y) { return x & y; }));
X2IR_CAFFE2(or).From("Or", OfTwo([](const Expr& x, const Expr& y) { return x | y; }));
X2IR_CAFFE2(where).From("Where", [](Caffe2Args& a) { return Select(a.in(0), a.in(1), a.in(2)); });

}  // namespace x2ir
