// Tensors of nothing but sizes: fills, ranges, spaces, identity matrices, windows.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/views.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 24;  // of a constant that is made here

void IgnorePlace(TorchCall& c) {
  c.Ignore({"dtype", "layout", "device", "pin_memory", "memory_format", "requires_grad", "stride",
            "names"});
}

Value* Fill(TorchCall& c, Value* element, const std::vector<Size>& sizes) {
  if (sizes.empty()) return c.Op("identity", {element});
  return Expand({c, element}, Vector(c, sizes));
}

TorchHandler Filled(double number) {
  return [number](TorchCall& c) -> Values {
    IgnorePlace(c);
    c.Ignore({"self"});
    return {Fill(c, c.Constant(OutType(c), number), c.Sizes("size"))};
  };
}

TorchHandler FilledLike(double number) {
  return [number](TorchCall& c) -> Values {
    IgnorePlace(c);
    return {Fill(c, c.Constant(OutType(c), number), AllSizes(c.Tensor("self")))};
  };
}

// Whether the model gives it, as pairs where it is complex.
bool IsHandedOut(const Value& value) {
  return value.is_graph_output() ||
         std::any_of(value.uses().begin(), value.uses().end(), [](const Use& use) {
           return use.node && use.node->op() == "aten::view_as_real.default" &&
                  use.node->output(0) && use.node->output(0)->is_graph_output();
         });
}

// Unwritten memory may hold any values, here zeros, if no output of the model shows them.
TorchHandler Empty(const TorchHandler& zeros) {
  return [zeros](TorchCall& c) -> Values {
    const Value* output = c.node().output(0);
    const Shape* shape = c.out_shape();
    const auto is_zero = [](const Dim& dim) { return dim == Dim(0); };
    const bool nothing = shape && std::any_of(shape->begin(), shape->end(), is_zero);
    if (output && IsHandedOut(*output) && !nothing) {
      return c.Fail(Unimplemented("an output of the model that nothing is written to"));
    }
    c.Ignore({"physical_layout"});
    return zeros(c);
  };
}

Values Full(TorchCall& c) {
  IgnorePlace(c);
  c.Ignore({"self"});
  return {Fill(c, c.Operand("fill_value", OutType(c)), c.Sizes("size"))};
}

Values FullLike(TorchCall& c, std::string_view value) {
  IgnorePlace(c);
  Value* x = c.Tensor("self");
  return {Fill(c, c.Operand(value, OutType(c)), AllSizes({c, x}))};
}

Values FillTensor(TorchCall& c) {
  Value* value = c.Cast(c.Tensor("value"), OutType(c));
  if (c.Rank(value) != 0) return c.Fail(Invalid("a fill of rank ", c.Rank(value)));
  return {Fill(c, value, AllSizes(c.Tensor("self")))};
}

// Another tensor's elements in the shape and type of self.
Values Copy(TorchCall& c) {
  c.Ignore({"non_blocking"});
  Value* x = c.Tensor("self");
  Value* src = c.Cast(c.Tensor("src"), x->dtype());
  if (x->shape() && src->shape() && *x->shape() == *src->shape() && x->shape()->is_static()) {
    return {c.Op("identity", {src})};
  }
  return {Expand({c, src}, Vector(c, AllSizes({c, x})))};
}

Values ScalarTensor(TorchCall& c) {
  IgnorePlace(c);
  return {c.Op("identity", {c.Operand("s", OutType(c))})};
}

Values Eye(TorchCall& c) {
  IgnorePlace(c);
  Value* n = c.SymInt("n");
  Value* m = c.Has("m") ? c.SymInt("m") : n;
  for (const Value* size : {n, m}) {
    const auto known = KnownInts(size);
    if (known && known->size() == 1 && (*known)[0] < 0) {
      return c.Fail(Invalid("a matrix of ", (*known)[0]));
    }
  }
  Value* same = c.Op("equal", {Unsqueeze(Iota({c, n}), {1}), Unsqueeze(Iota({c, m}), {0})});
  return {c.Cast(same, OutType(c))};
}

// --- Ranges ---------------------------------------------------------------------------------

// Whether the argument is a whole number, known or computed.
bool IsWhole(TorchCall& c, std::string_view name) {
  return !c.Has(name) || c.ResultType({name}) == DType::kInt64;
}

// Whether the argument is left out, or told by the program.
bool IsKnownNumber(TorchCall& c, std::string_view name) {
  if (!c.Has(name)) return true;
  const Attribute* attr = c.node().attrs().Find(name);
  return attr && (attr->get<double>() || attr->get<int64_t>());
}

// Bounds that are computed. Those of integers are cut after the length is taken of them.
Values ComputedArange(TorchCall& c, DType t) {
  const auto bound = [&](std::string_view name, double fallback) {
    return c.Has(name) ? c.Operand(name, DType::kFloat64) : c.Constant(DType::kFloat64, fallback);
  };
  const Expr start = bound("start", 0), end = bound("end", 0), step = bound("step", 1);
  const Expr position = Iota(Ceil((end - start) / step).To(DType::kInt64));
  const DType in = IsInteger(t) ? DType::kInt64 : DType::kFloat64;
  return {(position.To(in) * step.To(in) + start.To(in)).To(t)};
}

// Of whole numbers exact; of others element i is start + i * step, computed in float64 as
// PyTorch does, with as many elements as float64 says.
Values Arange(TorchCall& c) {
  IgnorePlace(c);
  const DType t = OutType(c);
  if (IsWhole(c, "start") && IsWhole(c, "end") && IsWhole(c, "step")) {
    Value* values = c.Op("range", {c.SymInt("start", 0), c.SymInt("end"), c.SymInt("step", 1)});
    return {c.Cast(values, t)};
  }
  if (!IsKnownNumber(c, "start") || !IsKnownNumber(c, "end") || !IsKnownNumber(c, "step")) {
    return ComputedArange(c, t);
  }
  const double start = c.Float("start", 0), end = c.Float("end"), step = c.Float("step", 1);
  const double length = std::ceil((end - start) / step);
  if (!std::isfinite(start) || !std::isfinite(end) || !(length >= 0) || length > 1e15) {
    return c.Fail(Invalid("a range from ", start, " to ", end, " by ", step));
  }
  Value* position = Iota(Int(c, static_cast<int64_t>(length)));
  // Into integers bounds are cut first.
  const bool ints = IsInteger(t);
  const DType in = ints ? DType::kInt64 : DType::kFloat64;
  Value* by = c.Constant(in, ints ? std::trunc(step) : step);
  Value* from = c.Constant(in, ints ? std::trunc(start) : start);
  return {c.Cast(c.Op("add", {c.Op("mul", {c.Cast(position, in), by}), from}), t)};
}

// steps numbers from start to end, both included; each half counts from its own end.
Value* Spaced(TorchCall& c, DType in, DType whole) {
  int64_t steps = c.Int("steps", 100);
  if (steps < 0 || steps > kMaxElements) {
    c.Fail(Unimplemented("of ", steps, " steps"));
    steps = 0;
  }
  const auto end_of = [&](std::string_view name) {
    // Numbers for integers are cut before anything is computed of them.
    Value* x = c.Operand(name, whole == DType::kUndefined ? in : whole);
    return c.Cast(c.Rank(x) == 0 ? x : Reshape({c, x}, std::vector<int64_t>{}), in);
  };
  Value *start = end_of("start"), *end = end_of("end");
  if (steps == 1) return Unsqueeze({c, start}, {0});
  const auto counted = [&](int64_t from, int64_t to) {
    std::vector<double> numbers;
    for (int64_t i = from; i < to; ++i) {
      numbers.push_back(static_cast<double>(from == 0 ? i : steps - 1 - i));
    }
    return NumbersAs(c, in, {to - from}, numbers);
  };
  const int64_t half = steps / 2;
  if (steps == 0) return c.Op("mul", {counted(0, 0), start});
  Value* span = c.Op("sub", {end, start});
  Value* step = c.Op("div", {span, c.Constant(in, static_cast<double>(steps - 1))});
  Value* low = c.Op("add", {start, c.Op("mul", {step, counted(0, half)})});
  Value* high = c.Op("sub", {end, c.Op("mul", {step, counted(half, steps)})});
  return Concat(c, {low, high}, 0);
}

// Integers are computed in float64 and cut.
struct SpaceTypes {
  DType in, whole;
};

SpaceTypes TypesOfSpace(DType t) {
  if (IsInteger(t)) return {DType::kFloat64, t};
  return {AtLeastFloat32(t), DType::kUndefined};
}

Values Linspace(TorchCall& c) {
  IgnorePlace(c);
  const DType t = OutType(c);
  const auto [in, whole] = TypesOfSpace(t);
  return {c.Cast(Spaced(c, in, whole), t)};
}

Values Logspace(TorchCall& c) {
  IgnorePlace(c);
  const DType t = OutType(c);
  // Complex powers of a base above 0 are real ones.
  const auto [in, whole] = TypesOfSpace(IsComplex(t) ? PartType(t) : t);
  const double number = c.Float("base", 10.0);
  if (IsComplex(t) && number <= 0) return c.Fail(Unimplemented("complex powers of ", number));
  Value* base = c.Constant(in, number);
  return {c.Cast(c.Op("pow", {base, Spaced(c, in, whole)}), t)};
}

// --- Windows --------------------------------------------------------------------------------

// I0, the modified Bessel function, by its series.
double BesselI0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 500 && term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// Numbers of the window at i of n: w(i, n).
TorchHandler WindowHandler(double (*value)(TorchCall&, double, double)) {
  return [value](TorchCall& c) -> Values {
    IgnorePlace(c);
    const int64_t length = c.Int("window_length");
    const bool periodic = c.Bool("periodic", true);
    if (length < 0 || length > kMaxElements) return c.Fail(Invalid("of ", length, " elements"));
    std::vector<double> numbers;
    const double last = static_cast<double>(length - (periodic ? 0 : 1));
    for (int64_t i = 0; i < length; ++i) {
      numbers.push_back(length == 1 ? 1.0 : value(c, static_cast<double>(i), last));
    }
    if (length < 2) c.Ignore({"alpha", "beta"});
    return {NumbersAs(c, OutType(c), {length}, numbers)};
  };
}

constexpr double kTau = 2 * std::numbers::pi;
double Hann(TorchCall&, double i, double n) { return 0.5 - 0.5 * portable::cos(kTau * i / n); }

double Hamming(TorchCall& c, double i, double n) {
  return c.Float("alpha", 0.54) - c.Float("beta", 0.46) * portable::cos(kTau * i / n);
}

double Blackman(TorchCall&, double i, double n) {
  return 0.42 - 0.5 * portable::cos(kTau * i / n) + 0.08 * portable::cos(2 * kTau * i / n);
}

double Bartlett(TorchCall&, double i, double n) { return 1 - std::abs(2 * i / n - 1); }

double Kaiser(TorchCall& c, double i, double n) {
  const double beta = c.Float("beta", 12.0), x = 2 * i / n - 1;
  return BesselI0(beta * std::sqrt(std::max(0.0, 1 - x * x))) / BesselI0(beta);
}

X2IR_TORCH(expand)
    .From({"aten::zeros.default", "aten::new_zeros.default", "aten::_efficientzerotensor.default"},
          Filled(0))
    .From({"aten::empty.memory_format", "aten::empty_strided.default", "aten::new_empty.default",
           "aten::new_empty_strided.default", "aten::empty_permuted.default"},
          Empty(Filled(0)))
    .From({"aten::ones.default", "aten::new_ones.default"}, Filled(1))
    .From({"aten::zeros_like.default", "aten::zero.default"}, FilledLike(0))
    .From("aten::empty_like.default", Empty(FilledLike(0)))
    .From("aten::ones_like.default", FilledLike(1))
    .From({"aten::full.default", "aten::new_full.default"}, Full)
    .From("aten::full_like.default", [](TorchCall& c) { return FullLike(c, "fill_value"); })
    .From("aten::fill.Scalar", [](TorchCall& c) { return FullLike(c, "value"); })
    .From("aten::fill.Tensor", FillTensor)
    .From("aten::copy.default", Copy);
X2IR_TORCH(identity)
    .From("aten::scalar_tensor.default", ScalarTensor)
    .From({"aten::bartlett_window.default", "aten::bartlett_window.periodic"},
          WindowHandler(Bartlett))
    .From({"aten::kaiser_window.default", "aten::kaiser_window.periodic",
           "aten::kaiser_window.beta"},
          WindowHandler(Kaiser));
X2IR_TORCH(equal).From({"aten::eye.default", "aten::eye.m"}, Eye);
X2IR_TORCH(range).From({"aten::arange.default", "aten::arange.start", "aten::arange.start_step"},
                       Arange);
X2IR_TORCH(add).From({"aten::linspace.default", "aten::linspace.Tensor_Tensor",
                      "aten::linspace.Tensor_Scalar", "aten::linspace.Scalar_Tensor"},
                     Linspace);
X2IR_TORCH(pow).From({"aten::logspace.default", "aten::logspace.Tensor_Tensor",
                      "aten::logspace.Tensor_Scalar", "aten::logspace.Scalar_Tensor"},
                     Logspace);
X2IR_TORCH(hann_window)
    .From({"aten::hann_window.default", "aten::hann_window.periodic"}, WindowHandler(Hann));
X2IR_TORCH(hamming_window)
    .From({"aten::hamming_window.default", "aten::hamming_window.periodic",
           "aten::hamming_window.periodic_alpha", "aten::hamming_window.periodic_alpha_beta"},
          WindowHandler(Hamming));
X2IR_TORCH(blackman_window)
    .From({"aten::blackman_window.default", "aten::blackman_window.periodic"},
          WindowHandler(Blackman));

// 1 where a position along the new axis is the index.
absl::StatusOr<Value*> WriteOneHot(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += rank + 1;
  const Expr depth = Expr{w, OneElement(w, w.in(1))}.To(DType::kInt64);
  const Expr given = Expr{w, w.in(0)}.To(DType::kInt64);
  const Expr index = Where(given < 0, given + depth, given);
  Value* hit = Unsqueeze(index, {axis}) == AlongAxis(Iota(depth), axis, rank + 1);
  const auto value = [&](int64_t i) {
    return w.Op("gather", {w.in(2), w.b().Int(i)}, {{"axis", 0}});
  };
  return w.Op("where", {hit, value(1), value(0)});
}

// Ones where the column is the row + k.
absl::StatusOr<Value*> WriteEyeLike(TorchWriter& w) {
  const Expr x{w, w.in(0)};
  if (x.rank() != 2) return CannotExpress("another rank than 2");
  const Expr row = Unsqueeze(Iota(SizeOf(x, 0)), {1}), column = Unsqueeze(Iota(SizeOf(x, 1)), {0});
  const Expr shifted = w.Int("k") == 0 ? row : row + static_cast<double>(w.Int("k"));
  return (column == shifted).To(w.out_type().dtype());
}

absl::StatusOr<Value*> WriteConstantOfShape(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> sizes, w.Sizes(w.in(0)));
  const Attribute* value = w.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor || tensor->is_string()) return CannotExpress("elements that are no numbers");
  const DType t = tensor->dtype();
  TorchScalar number{tensor->AsDouble(0)};
  if (t == DType::kBool) number = {tensor->AsInt(0) != 0};
  if (IsInteger(t)) number = {tensor->AsInt(0)};
  return w.Call("aten::full.default",
                {{"size", std::move(sizes)}, {"fill_value", number}, {"dtype", t}});
}

// Whether the limit is known to be the start or in the steps' direction. Sizes are at least 0.
bool IsAhead(TorchWriter& w) {
  const auto start = KnownTensor(*w.in(0)), limit = KnownTensor(*w.in(1)),
             step = KnownTensor(*w.in(2));
  if (!step || step->num_elements() != 1) return false;
  const double by = step->AsDouble(0);
  if (start && limit) return (limit->AsDouble(0) - start->AsDouble(0)) * by >= 0;
  return IsInteger(w.dtype(0)) && start && start->AsDouble(0) <= 0 && by > 0 &&
         w.out_type().shape() && !(*w.out_type().shape())[0].is_unknown();
}

// PyTorch refuses a limit on the wrong side of the start; here such a range is empty.
Value* WriteRange(TorchWriter& w) {
  Value* limit = w.in(1);
  if (!IsAhead(w)) {
    const auto step = KnownTensor(*w.in(2));
    const auto bound = [&](Symbol op) { return w.Op(op, {w.in(1), w.in(0)}); };
    if (step && step->num_elements() == 1) {
      limit = bound(step->AsDouble(0) > 0 ? "max" : "min");
    } else {
      Value* up = w.Op("less", {w.Number(w.dtype(2), 0), w.in(2)});
      limit = w.Op("where", {up, bound("max"), bound("min")});
    }
  }
  return w.Call("aten::arange.start_step", {{"start", w.Scalar(w.in(0))},
                                            {"end", w.Scalar(limit)},
                                            {"step", w.Scalar(w.in(2))},
                                            {"dtype", w.dtype()}});
}

absl::StatusOr<Value*> WriteTrilu(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto k, w.KnownInts(1, "diagonal"));
  return w.Call(w.Int("upper") != 0 ? "aten::triu.default" : "aten::tril.default",
                {{"self", w.in(0)}, {"diagonal", k && !k->empty() ? (*k)[0] : int64_t{0}}});
}

}  // namespace

X2IR_TORCH(one_hot).To("aten::where.self", WriteOneHot);
X2IR_TORCH(eye_like).To("aten::eq.Tensor", WriteEyeLike);
X2IR_TORCH(constant_of_shape).To("aten::full.default", WriteConstantOfShape);
X2IR_TORCH(range).To("aten::arange.start_step", WriteRange);
X2IR_TORCH(trilu).To("aten::tril.default", WriteTrilu);

}  // namespace x2ir
