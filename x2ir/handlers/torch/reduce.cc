// Reductions: sums, products, extremes, norms, variances.
#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

bool Keepdim(TorchCall& c) { return c.Bool("keepdim", false); }
DType TakeDtype(TorchCall& c, DType fallback) { return c.Dtype("dtype", fallback); }

// Axes that the program computes, as a vector; null where they are known.
Value* ComputedDim(TorchCall& c) {
  if (!c.Has("dim")) return nullptr;
  const std::vector<Size> sizes = c.Sizes("dim");
  const bool computed =
      std::any_of(sizes.begin(), sizes.end(), [](const Size& size) { return !size.number; });
  return computed ? Vector(c, sizes).value() : nullptr;
}

Value* ReduceDim(TorchCall& c, Value* x, Symbol op) {
  if (Value* dim = ComputedDim(c)) {
    return c.Op(op, {x, dim}, {{"keepdims", Keepdim(c)}, {"noop_with_empty_axes", 0}});
  }
  const std::vector<int64_t> axes = c.Axes("dim", x);
  return Reduce({c, x}, op, axes, Keepdim(c));
}

// Overloads differ in what `dim` may be; none given: all axes.
TorchHandler InResultType(Symbol op) {
  return [op](TorchCall& c) -> Values {
    TakeDtype(c, DType::kUndefined);
    Value* x = c.Operand("self", c.out_dtype());
    return {ReduceDim(c, x, op)};
  };
}

// NaN counts as nothing.
Value* WithoutNaN(TorchCall& c, Value* x) {
  Value* nan = WhereNan({c, x});
  return nan ? Select({c, nan}, c.Constant(x->dtype(), 0), {c, x}) : x;
}

Values NanSum(TorchCall& c) {
  TakeDtype(c, DType::kUndefined);
  Value* x = c.Cast(WithoutNaN(c, c.Tensor("self")), c.out_dtype());
  const std::vector<int64_t> axes = c.Axes("dim", x);
  return {Reduce({c, x}, "reduce_sum", axes, Keepdim(c))};
}

Values NanMean(TorchCall& c) {
  TakeDtype(c, DType::kUndefined);
  const DType computed = AtLeastFloat32(c.out_dtype());
  Value* x = c.Cast(c.Tensor("self"), computed);
  if (!IsFloating(computed)) return c.Fail(Invalid("expected floats"));
  const std::vector<int64_t> axes = c.Axes("dim", x);
  const bool keepdim = Keepdim(c);
  Value* counted = c.Cast(Not(WhereNan({c, x})), computed);
  Value* mean = c.Op("div", {Reduce({c, WithoutNaN(c, x)}, "reduce_sum", axes, keepdim),
                             Reduce({c, counted}, "reduce_sum", axes, keepdim)});
  return {c.Cast(mean, c.out_dtype())};
}

TorchHandler OfTruth(bool all) {
  return [all](TorchCall& c) -> Values {
    Value* x = IsTrue(c.Tensor("self"));
    const std::vector<int64_t> axes = c.Axes("dim", x);
    const bool keepdim = Keepdim(c);
    // Here, and only here, an empty list of axes means none of them.
    const auto dim = c.OptInts("dim");
    if (dim && dim->empty()) return {c.Cast(x, c.out_dtype())};
    return {c.Cast(all ? All({c, x}, axes, keepdim) : Any({c, x}, axes, keepdim), c.out_dtype())};
  };
}

Values CountNonzero(TorchCall& c) {
  Value* x = c.Cast(IsTrue(c.Tensor("self")), DType::kInt64);
  return {Reduce({c, x}, "reduce_sum", c.Axes("dim", x), false)};
}

Values AMinMax(TorchCall& c) {
  Value* x = c.Tensor("self");
  const std::vector<int64_t> axes = c.Axes("dim", x);
  const bool keepdim = Keepdim(c);
  Values results = {Reduce({c, x}, "reduce_min", axes, keepdim),
                    Reduce({c, x}, "reduce_max", axes, keepdim)};
  // Of rank 0 with keepdim some versions make rank 1: the program says.
  const Shape* declared = c.out_shape();
  for (Value*& v : results) {
    if (c.Rank(v) == 0 && declared && declared->rank() == 1) v = Unsqueeze({c, v}, {0});
  }
  return results;
}

// max.dim, min.dim: also the index of the first extreme element.
TorchHandler ExtremeAndIndex(bool max) {
  return [max](TorchCall& c) -> Values {
    Value* self = c.Tensor("self");
    const int64_t axis = c.Axis("dim", self);
    const bool keepdim = Keepdim(c);
    Value* x = AtLeast1d({c, self});
    Value* index = c.Op(max ? "arg_max" : "arg_min", {x}, {{"axis", axis}, {"keepdims", keepdim}});
    Value* value = Reduce({c, x}, max ? "reduce_max" : "reduce_min", {axis}, keepdim);
    if (!keepdim) return {value, index};
    return {LikeRank({c, value}, self), LikeRank({c, index}, self)};
  };
}

TorchHandler ArgExtreme(Symbol op) {
  return [op](TorchCall& c) -> Values {
    Value* self = c.Tensor("self");
    RequireReal({c, self});
    const int64_t rank = c.Rank(self);
    const bool keepdim = Keepdim(c);
    if (!c.Has("dim")) {
      c.Ignore({"dim"});
      Value* index = c.Op(op, {Flat({c, self})}, {{"axis", 0}, {"keepdims", 0}});
      return {keepdim ? Unsqueeze({c, index}, AllAxes({c, self})) : index};
    }
    const int64_t axis = c.Axis("dim", self);
    if (rank == 0) return {Int(c, 0)};
    return {c.Op(op, {self}, {{"axis", axis}, {"keepdims", keepdim}})};
  };
}

Values BinaryExtreme(TorchCall& c, Symbol op) {
  const DType t = c.ResultType({"self", "other"});
  Value *x = c.Operand("self", t), *y = c.Operand("other", t);
  RequireReal({c, x});
  if (t != DType::kBool) return {c.Op(op, {x, y})};
  return {c.Op(op == Symbol("max") ? "or" : "and", {x, y})};
}

Values LogSumExp(TorchCall& c) {
  const DType computed = AtLeastFloat32(c.out_dtype());
  Value* x = c.Cast(c.Tensor("self"), computed);
  return {c.Cast(ReduceDim(c, x, "reduce_log_sum_exp"), c.out_dtype())};
}

// The sum over the axes whose given size is one, and over the axes before the given sizes.
Values SumToSize(TorchCall& c) {
  Value* x = c.Operand("self", c.out_dtype());
  const std::vector<Size> sizes = c.Sizes("size");
  const int64_t rank = c.Rank(x), fewer = rank - static_cast<int64_t>(sizes.size());
  if (fewer < 0) return c.Fail(Invalid("size: expected at most ", rank, " numbers"));
  std::vector<int64_t> axes, gone;
  for (int64_t i = 0; i < rank; ++i) {
    const Dim& dim = (*x->shape())[i];
    if (i < fewer) {
      axes.push_back(i);
      gone.push_back(i);
      continue;
    }
    const Size& size = sizes[static_cast<size_t>(i - fewer)];
    if (size.number == 1 && !(dim.is_static() && dim.value() == 1)) axes.push_back(i);
  }
  if (axes.empty()) return {c.Op("identity", {x})};
  return {Squeeze(Reduce({c, x}, "reduce_sum", axes, true), gone)};
}

// --- Norms ----------------------------------------------------------------------------------

Values Norm(TorchCall& c, std::string_view order) {
  const DType t = TakeDtype(c, c.out_dtype());
  const double p = c.Float(order, 2);
  const Expr self = c.Tensor("self");
  const bool complex = IsComplex(self.dtype());
  // The absolute values of complex numbers are used; the result is real even where `dtype` is not.
  const Expr x = (complex ? Abs(PartsOf(self)) : self).To(IsComplex(t) ? PartType(t) : t);
  const std::vector<int64_t> axes = c.Axes("dim", x);
  return {VectorNorm({c, x}, p, axes, Keepdim(c))};
}

// What is longer than maxnorm along the axis is made as short.
Values Renorm(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self);
  const double p = c.Float("p"), most = c.Float("maxnorm");
  const bool complex = IsComplex(self->dtype());
  const DType computed = complex ? PartType(self->dtype()) : AtLeastFloat32(self->dtype());
  std::vector<int64_t> axes = AllAxes({c, self});
  if (axes.size() < 2) return c.Fail(Invalid("expected rank 2 or more"));
  axes.erase(axes.begin() + axis);
  const Complex parts = complex ? PartsOf({c, self}) : Complex{nullptr, nullptr};
  Value* x = complex ? Abs(parts).value() : c.Cast(self, computed);
  Value* norm = VectorNorm({c, x}, p, axes, true);
  Value* limit = c.Constant(computed, most);
  Value* shorter = c.Op("div", {limit, c.Op("add", {norm, c.Constant(computed, 1e-7)})});
  Value* factor = Select(c.Op("greater", {norm, limit}), {c, shorter}, c.Constant(computed, 1));
  if (complex) return {ComplexOf(parts * Expr(c, factor))};
  return {c.Cast(c.Op("mul", {x, factor}), self->dtype())};
}

// --- Variance -------------------------------------------------------------------------------

// The sum of squares about the mean over count - correction; what is divided by never falls
// below 0, and 0 gives inf or NaN.
Values Variance(TorchCall& c, bool root, bool with_mean) {
  const Expr self = c.Tensor("self");
  double correction = c.Bool("unbiased", true) ? 1 : 0;
  if (const auto number = c.OptFloat("correction")) correction = *number;
  const bool keepdim = Keepdim(c);
  const bool complex = IsComplex(self.dtype());
  // If the variance has no uses, the type is that of the mean.
  DType t = c.out_dtype(c.wants(0) || !with_mean ? 0 : 1);
  if (IsComplex(t)) t = PartType(t);
  const DType computed = AtLeastFloat32(t);
  // The squares of complex numbers are those of how far they lie from the mean.
  const Expr x = complex ? self : self.To(computed);
  const std::vector<int64_t> axes = c.Axes("dim", x);
  const Expr mean = Reduce(x, "reduce_mean", axes, true), apart = x - mean;
  const auto sum = [&](const Expr& y) { return Reduce(y, "reduce_sum_square", axes, keepdim); };
  Value* squares = complex ? sum(PartsOf(apart).re) + sum(PartsOf(apart).im) : sum(apart);
  Value* zero = c.Constant(computed, 0);
  Value* count = c.Cast(CountOf({c, x}, axes), computed);
  Value* divisor = c.Op("max", {c.Op("sub", {count, c.Constant(computed, correction)}), zero});
  Value* result = c.Op("div", {squares, divisor});
  if (root) result = c.Op("sqrt", {result});
  result = c.Cast(result, t);
  if (!with_mean) return {result};
  return {result, (keepdim ? mean : Squeeze(mean, axes)).To(complex ? mean.dtype() : t)};
}

struct ReductionRow {
  std::string_view ir;
  std::vector<std::string_view> ops;
  TorchHandler handler;
};

[[maybe_unused]] const bool kReductionRows = [] {
  const ReductionRow rows[] = {
      {"reduce_sum", {"aten::sum.default", "aten::sum.dim_IntList"}, InResultType("reduce_sum")},
      {"reduce_mean", {"aten::mean.default", "aten::mean.dim"}, InResultType("reduce_mean")},
      {"reduce_prod", {"aten::prod.default", "aten::prod.dim_int"}, InResultType("reduce_prod")},
      {"reduce_max", {"aten::amax.default", "aten::max.default"}, InResultType("reduce_max")},
      {"reduce_min", {"aten::amin.default", "aten::min.default"}, InResultType("reduce_min")},
      {"reduce_max",
       {"aten::any.default", "aten::any.dim", "aten::any.dims", "aten::_is_any_true.default"},
       OfTruth(false)},
      {"reduce_min",
       {"aten::all.default", "aten::all.dim", "aten::all.dims", "aten::_is_all_true.default"},
       OfTruth(true)},
      {"reduce_sum", {"aten::nansum.default"}, NanSum},
      {"reduce_mean", {"aten::nanmean.default"}, NanMean},
      {"reduce_sum",
       {"aten::count_nonzero.default", "aten::count_nonzero.dim_IntList"},
       CountNonzero},
      {"reduce_max", {"aten::aminmax.default"}, AMinMax},
      {"reduce_max", {"aten::max.dim"}, ExtremeAndIndex(true)},
      {"reduce_min", {"aten::min.dim"}, ExtremeAndIndex(false)},
      {"arg_max", {"aten::argmax.default"}, ArgExtreme("arg_max")},
      {"arg_min", {"aten::argmin.default"}, ArgExtreme("arg_min")},
      {"max",
       {"aten::maximum.default", "aten::max.other"},
       [](TorchCall& c) { return BinaryExtreme(c, "max"); }},
      {"min",
       {"aten::minimum.default", "aten::min.other"},
       [](TorchCall& c) { return BinaryExtreme(c, "min"); }},
      {"reduce_log_sum_exp",
       {"aten::logsumexp.default", "aten::special_logsumexp.default"},
       LogSumExp},
      {"reduce_sum", {"aten::sum_to_size.default"}, SumToSize},
      {"reduce_l2",
       {"aten::norm.Scalar", "aten::norm.ScalarOpt_dim", "aten::norm.ScalarOpt_dtype",
        "aten::norm.ScalarOpt_dim_dtype"},
       [](TorchCall& c) { return Norm(c, "p"); }},
      {"reduce_l2",
       {"aten::linalg_vector_norm.default"},
       [](TorchCall& c) { return Norm(c, "ord"); }},
      {"reduce_l2", {"aten::frobenius_norm.dim"}, [](TorchCall& c) { return Norm(c, "p"); }},
      {"reduce_l2", {"aten::renorm.default"}, Renorm},
  };
  for (const ReductionRow& row : rows) {
    for (const std::string_view op : row.ops) TorchSpec(row.ir).From(op, row.handler);
  }
  constexpr struct {
    std::string_view op;
    bool root, with_mean;
  } kVariances[] = {{"var", false, false},
                    {"std", true, false},
                    {"var_mean", false, true},
                    {"std_mean", true, true}};
  for (const auto& v : kVariances) {
    for (const std::string_view overload : {"default", "dim", "correction"}) {
      TorchSpec("reduce_sum_square").From(StrCat("aten::", v.op, ".", overload), [v](TorchCall& c) {
        return Variance(c, v.root, v.with_mean);
      });
    }
  }
  return true;
}();

// The norm of what lies between a and b along the last axis.
Expr Distance(const Expr& a, const Expr& b, double p) {
  const Expr apart = a - b;
  return VectorNorm(apart, p, {apart.rank() - 1}, false);
}

Values Cdist(TorchCall& c) {
  const DType t = c.out_dtype();
  const double p = c.Float("p", 2);
  c.Ignore({"compute_mode"});
  const Expr a = c.Operand("x1", t), b = c.Operand("x2", t);
  if (a.rank() < 2 || b.rank() < 2) return c.Fail(Invalid("cdist of vectors"));
  return {Distance(Unsqueeze(a, {-2}), Unsqueeze(b, {b.rank() - 2}), p)};
}

Values Pdist(TorchCall& c) {
  const Expr x = c.Tensor("self");
  const double p = c.Float("p", 2);
  const Shape* shape = x.value()->shape();
  if (!shape || shape->rank() != 2) return c.Fail(Invalid("pdist: expected rank 2"));
  if (!(*shape)[0].is_static() || (*shape)[0].value() > 1024) {
    return c.Fail(Unimplemented("pdist of so many rows, or of a number that is not known"));
  }
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < (*shape)[0].value(); ++i) {
    for (int64_t j = i + 1; j < (*shape)[0].value(); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  return {Distance(Gather(x, Ints(c, first), 0), Gather(x, Ints(c, second), 0), p)};
}

Values Dist(TorchCall& c) {
  const DType of_both = c.ResultType({"self", "other"});
  const DType t = IsComplex(of_both) ? of_both : c.out_dtype();
  const double p = c.Number("p", 2).real();
  Expr apart = c.Operand("self", t) - c.Operand("other", t);
  if (IsComplex(t)) apart = Abs(PartsOf(apart));
  return {VectorNorm(apart, p, AllAxes(apart), false)};
}

// v g / |v|, the norm being over all axes but `dim` (over all: -1).
Values WeightNorm(TorchCall& c) {
  Value* v = c.Tensor("v");
  Value* g = c.Tensor("g");
  const int64_t dim = c.Int("dim", 0), rank = c.Rank(v);
  RequireFloat(c, v);
  std::vector<int64_t> axes;
  const int64_t kept = dim == -1 ? -1 : c.NormalAxis(dim, rank);
  for (int64_t i = 0; i < rank; ++i) {
    if (i != kept) axes.push_back(i);
  }
  const Expr wide = c.Cast(v, AtLeastFloat32(v->dtype()));
  const Expr norm = axes.empty() ? Abs(wide) : Reduce(wide, "reduce_l2", axes, true);
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = (wide * (c.Cast(g, wide.dtype()) / norm)).To(v->dtype());
  if (c.wants(1)) values[1] = c.Cast(norm, c.out_dtype(1));
  return values;
}

// The axes, from the front; none: the operand itself is the result.
absl::StatusOr<std::optional<std::vector<int64_t>>> WrittenAxes(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  if (axes.empty()) {
    if (w.Int("noop_with_empty_axes") != 0) return std::nullopt;
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

// Axes that are computed: as many as their tensor has elements; none are all of them.
absl::StatusOr<std::optional<std::vector<TorchScalar>>> ComputedAxes(TorchWriter& w) {
  if (!w.has(1) || KnownInts(w.in(1))) return std::nullopt;
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> axes, w.Sizes(w.in(1)));
  if (axes.empty()) return std::nullopt;
  return axes;
}

// Of nothing PyTorch has no largest element.
bool IsEmptyAlong(TorchWriter& w, const std::vector<int64_t>& axes) {
  const Shape* out = w.out_type().shape();
  return out && out->is_static() && std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
           const Dim& dim = (*w.in(0)->shape())[axis];
           return dim.is_static() && dim.value() == 0;
         });
}

Value* SizesOf(TorchWriter& w, const Shape& shape) { return w.b().Ints(*shape.Static()); }

// `op` reduces over the axes. PyTorch sums small integers as int64 unless it is told otherwise.
auto WriteReduce(std::string_view op, bool says_dtype) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (op == "aten::mean.dim" && !IsFloating(w.dtype())) return CannotExpress("means of integers");
    if (op == "aten::logsumexp.default" && !IsFloating(w.dtype())) {
      return CannotExpress("exponentials of integers");
    }
    TorchArguments arguments = {{"self", w.in(0)}};
    X2IR_ASSIGN_OR_RETURN(auto computed, ComputedAxes(w));
    if (computed) {
      const auto dims = w.in(0)->shape() ? w.in(0)->shape()->dims() : std::vector<Dim>();
      const bool empty = std::any_of(dims.begin(), dims.end(), [](const Dim& dim) {
        return dim.is_static() && dim.value() == 0;
      });
      if (empty && !says_dtype) return CannotExpress("computed axes of no elements");
      arguments.emplace_back("dim", *std::move(computed));
    } else {
      X2IR_ASSIGN_OR_RETURN(const auto axes, WrittenAxes(w));
      if (!axes) return w.Op("identity", {w.in(0)});
      if ((op == "aten::amax.default" || op == "aten::amin.default") && IsEmptyAlong(w, *axes)) {
        const bool max = op == "aten::amax.default";
        return w.Op("expand", {Extreme(w, w.dtype(), !max), SizesOf(w, *w.out_type().shape())});
      }
      arguments.emplace_back("dim", *axes);
    }
    arguments.emplace_back("keepdim", w.Int("keepdims") != 0);
    if (says_dtype && !IsFloating(w.dtype())) arguments.emplace_back("dtype", w.dtype());
    return w.Call(op, std::move(arguments));
  };
}

// One axis at a time.
absl::StatusOr<Value*> WriteProd(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, WrittenAxes(w));
  if (!axes || axes->empty()) return w.Op("identity", {w.in(0)});
  const bool keepdims = w.Int("keepdims") != 0;
  Value* x = w.in(0);
  for (size_t i = axes->size(); i-- > 1;) {
    x = w.Op("reduce_prod", {x, w.b().Ints({(*axes)[i]})}, {{"keepdims", keepdims}});
  }
  TorchArguments arguments = {{"self", x}, {"dim", (*axes)[0]}, {"keepdim", keepdims}};
  if (!IsFloating(w.dtype())) arguments.emplace_back("dtype", w.dtype());
  return w.Call("aten::prod.dim_int", std::move(arguments));
}

// |x|^p of floats; the norm of integers is written as its definition.
auto WriteNorm(double p) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axes, WrittenAxes(w));
    if (!IsFloating(w.dtype())) {
      if (p != 1) return CannotExpress("norms of integers");
      return w.Op("reduce_sum", {w.Op("abs", {w.in(0)}), w.in(1)}, w.attrs());
    }
    if (!axes || axes->empty()) return w.Op("abs", {w.in(0)});
    return w.Call(
        "aten::linalg_vector_norm.default",
        {{"self", w.in(0)}, {"ord", p}, {"dim", *axes}, {"keepdim", w.Int("keepdims") != 0}});
  };
}

Value* WriteSumSquare(TorchWriter& w) {
  return w.Op("reduce_sum", {w.Op("mul", {w.in(0), w.in(0)}), w.in(1)}, w.attrs());
}

absl::StatusOr<Value*> WriteLogSum(TorchWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("logarithms of integers");
  return w.Call("aten::log.default", {{"self", w.Op("reduce_sum", {w.in(0), w.in(1)}, w.attrs())}});
}

auto WriteArg(std::string_view op) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    return w.Call(op,
                  {{"self", w.in(0)}, {"dim", w.Int("axis")}, {"keepdim", w.Int("keepdims") != 0}});
  };
}

// Backwards between two flips.
auto WriteRunning(std::string_view op) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axis, w.KnownInts(1, "axis"));
    if (w.Int("exclusive") != 0) return CannotExpress("sums without the element itself");
    if (!axis || axis->size() != 1) return CannotExpress("an axis that is no number");
    const bool reverse = w.Int("reverse") != 0;
    Value* x = w.in(0);
    const Type type = x->type();
    const auto flip = [&](Value* v) {
      return w.Call("aten::flip.default", {{"self", v}, {"dims", *axis}}, type);
    };
    if (reverse) x = flip(x);
    TorchArguments arguments = {{"self", x}, {"dim", (*axis)[0]}};
    if (!IsFloating(w.dtype())) arguments.emplace_back("dtype", w.dtype());
    x = w.Call(op, std::move(arguments), type);
    return reverse ? flip(x) : x;
  };
}

}  // namespace

X2IR_TORCH(reduce_l2)
    .To("aten::linalg_vector_norm.default", WriteNorm(2))
    .From({"aten::cdist.default", "aten::_cdist_forward.default"}, Cdist)
    .From({"aten::pdist.default", "aten::_pdist_forward.default"}, Pdist)
    .From("aten::dist.default", Dist)
    .From({"aten::_weight_norm.default", "aten::_weight_norm_interface.default"}, WeightNorm);
X2IR_TORCH(reduce_sum).To("aten::sum.dim_IntList", WriteReduce("aten::sum.dim_IntList", true));
X2IR_TORCH(reduce_mean).To("aten::mean.dim", WriteReduce("aten::mean.dim", false));
X2IR_TORCH(reduce_max).To("aten::amax.default", WriteReduce("aten::amax.default", false));
X2IR_TORCH(reduce_min).To("aten::amin.default", WriteReduce("aten::amin.default", false));
X2IR_TORCH(reduce_log_sum_exp)
    .To("aten::logsumexp.default", WriteReduce("aten::logsumexp.default", false));
X2IR_TORCH(reduce_prod).To("aten::prod.dim_int", WriteProd);
X2IR_TORCH(reduce_l1).To("aten::linalg_vector_norm.default", WriteNorm(1));
X2IR_TORCH(reduce_sum_square).To("aten::sum.dim_IntList", WriteSumSquare);
X2IR_TORCH(reduce_log_sum).To("aten::log.default", WriteLogSum);
X2IR_TORCH(arg_max).To("aten::argmax.default", WriteArg("aten::argmax.default"));
X2IR_TORCH(arg_min).To("aten::argmin.default", WriteArg("aten::argmin.default"));
X2IR_TORCH(cum_sum).To("aten::cumsum.default", WriteRunning("aten::cumsum.default"));
X2IR_TORCH(cum_prod).To("aten::cumprod.default", WriteRunning("aten::cumprod.default"));

}  // namespace x2ir
