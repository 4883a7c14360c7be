// Reductions, order and cumulation.

#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

struct Over {
  std::vector<int64_t> axes;  // none: all
  bool keep;
};

// The attributes of reductions, under their older and newer names.
Over TakeOver(PaddleArgs& a, const Expr& x) {
  Over over;
  over.axes = a.HasAttr("axis") ? a.Ints("axis") : a.KnownList("dim", {}, {0});
  if (a.HasAttr("dim") || !a.HasAttr("axis")) a.Ints("dim");
  over.keep = a.Bool("keep_dim", false) || a.Bool("keepdim", false);
  if (a.Bool("reduce_all", false) || a.Rank(x) == 0) over.axes.clear();
  for (int64_t& axis : over.axes) axis = a.Axis(axis, x);
  return over;
}

Expr Reduced(PaddleArgs& a, const Expr& x, const Over& over, Symbol op) {
  if (a.Rank(x) == 0 && op != Symbol("reduce_l1") && op != Symbol("reduce_log_sum_exp")) {
    return x.Op("identity");
  }
  return Reduce(x, op, over.axes, over.keep);
}

auto Reduction(const char* op) {
  return [op](PaddleArgs& a) {
    const Expr x = a.X();
    const Over over = TakeOver(a, x);
    a.Dtype("out_dtype", x.dtype());
    return Reduced(a, x, over, op);
  };
}

// Sums and products of bools and int32 are int64, unless an attribute gives the type.
auto Total(const char* op) {
  return [op](PaddleArgs& a) {
    const Expr x = a.X();
    const Over over = TakeOver(a, x);
    const bool narrow = x.dtype() == DType::kBool || x.dtype() == DType::kInt32;
    const DType type = a.Dtype("out_dtype", a.Dtype("dtype", narrow ? DType::kInt64 : x.dtype()));
    return Reduced(a, x.To(type), over, op);
  };
}

auto Truth(bool any) {
  return [any](PaddleArgs& a) {
    const Expr x = a.X();
    const Over over = TakeOver(a, x);
    a.Dtype("out_dtype", x.dtype());
    const Expr truth = IsTrue(x);
    return any ? Any(truth, over.axes, over.keep) : All(truth, over.axes, over.keep);
  };
}

Expr MeanOfAll(PaddleArgs& a) { return Reduce(a.X(), "reduce_mean", {}); }
Expr SquaredNorm(PaddleArgs& a) { return Reshape(Reduce(Square(a.X()), "reduce_sum", {}), {1}); }
Expr AbsoluteNorm(PaddleArgs& a) { return Reduce(Abs(a.X()), "reduce_sum", {}); }

Expr PNorm(PaddleArgs& a) {
  Expr x = a.X();
  const double p = a.Number("porder", 2);
  int64_t axis = a.Int("axis", -1);
  const bool keep = a.Bool("keepdim", false) || a.Bool("keep_dim", false);
  a.Number("epsilon", 1e-12);  // of the gradient
  if (a.Bool("asvector", false) || a.Rank(x) == 0) {
    const int64_t rank = a.Rank(x);
    const Expr norm = VectorNorm(Flat(x), p, {0}, false);
    return keep ? Unsqueeze(norm, CountedFrom(0, rank)) : norm;
  }
  return VectorNorm(x, p, {a.Axis(axis, x)}, keep);
}

Expr FrobeniusNorm(PaddleArgs& a) {
  const Expr x = a.X();
  const Over over = TakeOver(a, x);
  return Reduce(x, "reduce_l2", over.axes, over.keep);
}

// x divided by its length along an axis.
PaddleResults NormalizeLength(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t axis = a.Axis(a.Int("axis", -1), x);
  const Expr norm = Sqrt(Sum(Square(x), axis, true) + a.Number("epsilon", 1e-10));
  return {{"Out", {x / norm}}, {"Norm", {norm}}};
}

Expr ClipByNorm(PaddleArgs& a) {
  const Expr x = a.X();
  const double most = a.Number("max_norm", 1);
  const Expr norm = Sqrt(Reduce(Square(x), "reduce_sum", {}));
  return Where(norm > most, x * (most / norm), x);
}

Expr Dist(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  return VectorNorm(Flat(x - y), a.Number("p", 2), {0}, false);
}

auto ArgExtreme(const char* op) {
  return [op](PaddleArgs& a) -> Expr {
    Expr x = a.X();
    const DType type = a.Dtype("dtype", DType::kInt64);
    const bool keep = a.Bool("keepdims", false), flat = a.Bool("flatten", false);
    int64_t axis = a.KnownNumber("axis", {}, -1);
    const int64_t rank = a.Rank(x);
    if (flat || rank == 0) {
      x = Flat(x);
      axis = 0;
    }
    Expr y =
        x.Op(op, {}, {{"axis", a.Axis(axis, x)}, {"keepdims", keep && !flat && rank > 0 ? 1 : 0}});
    if (keep && flat) y = Unsqueeze(y, CountedFrom(0, rank));
    return y.To(type);
  };
}

Expr Cumulated(PaddleArgs& a, const char* op, Symbol axis_attr) {
  Expr x = a.X();
  int64_t axis = a.KnownNumber(axis_attr, {}, -1);
  if (a.Bool("flatten", false)) {
    x = Flat(x);
    axis = 0;
  }
  const bool exclusive = a.Bool("exclusive", false), reverse = a.Bool("reverse", false);
  return x.Op(op, {a.b().Int(a.Axis(axis, x))}, {{"exclusive", exclusive}, {"reverse", reverse}});
}

Expr LogCumSumExp(PaddleArgs& a) {
  Expr x = a.X();
  int64_t axis = a.Int("axis", -1);
  a.Require(!a.Bool("exclusive", false) && !a.Bool("reverse", false), "exclusive or reversed sums");
  if (a.Bool("flatten", false)) {
    x = Flat(x);
    axis = 0;
  }
  return AsTorch(a, "aten::logcumsumexp.default", {{"self", x}, {"dim", axis}}, x.dtype());
}

Expr Dot(PaddleArgs& a) {
  const Expr product = a.X() * a.X("Y");
  return Sum(product, -1);
}

}  // namespace

X2IR_PADDLE(reduce_sum)
    .From({{"reduce_sum", Total("reduce_sum")},
           {"squared_l2_norm", SquaredNorm},
           {"l1_norm", AbsoluteNorm},
           {"dot", Dot}});
X2IR_PADDLE(reduce_prod).From("reduce_prod", Total("reduce_prod"));
X2IR_PADDLE(reduce_mean).From({{"reduce_mean", Reduction("reduce_mean")}, {"mean", MeanOfAll}});
X2IR_PADDLE(reduce_max)
    .From({"reduce_max", "reduce_amax"}, Reduction("reduce_max"))
    .From("reduce_any", Truth(true));
X2IR_PADDLE(reduce_min)
    .From({"reduce_min", "reduce_amin"}, Reduction("reduce_min"))
    .From("reduce_all", Truth(false));
X2IR_PADDLE(reduce_log_sum_exp).From("logsumexp", Reduction("reduce_log_sum_exp"));
X2IR_PADDLE(reduce_l2).From({{"p_norm", PNorm},
                             {"frobenius_norm", FrobeniusNorm},
                             {"norm", NormalizeLength},
                             {"clip_by_norm", ClipByNorm},
                             {"dist", Dist}});
X2IR_PADDLE(arg_max).From("arg_max", ArgExtreme("arg_max"));
X2IR_PADDLE(arg_min).From("arg_min", ArgExtreme("arg_min"));
X2IR_PADDLE(cum_sum)
    .From("cumsum", [](PaddleArgs& a) { return Cumulated(a, "cum_sum", "axis"); })
    .From("logcumsumexp", LogCumSumExp);
X2IR_PADDLE(cum_prod).From("cumprod",
                           [](PaddleArgs& a) { return Cumulated(a, "cum_prod", "dim"); });

}  // namespace x2ir
