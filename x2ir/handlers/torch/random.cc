// Random numbers: of the same distributions, though never PyTorch's own.
#include <numbers>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

void IgnoreRandomPlace(TorchCall& c) {
  c.Ignore({"dtype", "layout", "device", "pin_memory", "memory_format", "generator", "names"});
}

// Drawn in float32, or float64 where that is wanted.
Value* Draw(TorchCall& c, Symbol op, Value* shape, DType t) {
  const DType in = t == DType::kFloat64 ? t : DType::kFloat32;
  return c.Cast(c.Op(op, {shape}, {{"dtype", Name(in)}}), t);
}

TorchHandler Drawn(Symbol op, bool like) {
  return [=](TorchCall& c) -> Values {
    IgnoreRandomPlace(c);
    if (!IsFloating(OutType(c))) return c.Fail(Unimplemented("of ", Name(OutType(c))));
    Value* shape = like ? Vector(c, AllSizes(c.Tensor("self"))) : c.SymInts("size");
    return {Draw(c, op, shape, OutType(c))};
  };
}

// Whole numbers of [low, high).
TorchHandler Integers(bool like) {
  return [=](TorchCall& c) -> Values {
    IgnoreRandomPlace(c);
    constexpr int64_t kLimit = int64_t{1} << 40;  // of which float64 draws each alike
    const int64_t low = c.Int("low", 0), high = c.Int("high");
    if (low >= high || low < -kLimit || high > kLimit) {
      return c.Fail(Unimplemented("from ", low, " to ", high));
    }
    Value* shape = like ? Vector(c, AllSizes(c.Tensor("self"))) : c.SymInts("size");
    Value* x = Draw(c, "random_uniform", shape, DType::kFloat64);
    x = c.Op("floor",
             {c.Op("mul", {x, c.Constant(DType::kFloat64, static_cast<double>(high - low))})});
    x = c.Op("add", {x, c.Constant(DType::kFloat64, static_cast<double>(low))});
    return {c.Cast(x, OutType(c))};
  };
}

// mean + std * what a standard normal distribution gives; either may be a tensor.
Values Normal(TorchCall& c) {
  IgnoreRandomPlace(c);
  const DType t = OutType(c);
  const auto number = [&](std::string_view name, double fallback) {
    return c.Has(name) ? c.Operand(name, t) : c.Constant(t, fallback);
  };
  Value* mean = number("mean", 0);
  Value* std = number("std", 1);
  Value* shape = nullptr;
  if (c.Has("size")) {
    shape = c.SymInts("size");
  } else if (c.Has("self")) {
    shape = Vector(c, AllSizes(c.Tensor("self")));
  } else {
    shape = ShapeOf(c.Op("add", {mean, std}));
  }
  Value* x = Draw(c, "random_normal", shape, t);
  return {c.Op("add", {c.Op("mul", {x, std}), mean})};
}

Values Uniform(TorchCall& c) {
  IgnoreRandomPlace(c);
  const DType t = OutType(c);
  const double from = c.Float("from", 0), to = c.Float("to", 1);
  Value* x = Draw(c, "random_uniform", Vector(c, AllSizes(c.Tensor("self"))), t);
  x = c.Op("mul", {x, c.Constant(t, to - from)});
  return {c.Op("add", {x, c.Constant(t, from)})};
}

// f of numbers drawn evenly from [0, 1).
TorchHandler OfUniform(Value* (*f)(TorchCall&, Value*, DType)) {
  return [f](TorchCall& c) -> Values {
    IgnoreRandomPlace(c);
    const DType t = OutType(c), in = IsFloating(t) ? t : DType::kFloat64;
    Value* x = Draw(c, "random_uniform", Vector(c, AllSizes(c.Tensor("self"))), in);
    return {c.Cast(f(c, x, in), t)};
  };
}

Value* Cauchy(TorchCall& c, Value* x, DType t) {
  x = c.Op("mul", {c.Op("sub", {x, c.Constant(t, 0.5)}), c.Constant(t, std::numbers::pi)});
  x = c.Op("mul", {c.Op("tan", {x}), c.Constant(t, c.Float("sigma", 1))});
  return c.Op("add", {x, c.Constant(t, c.Float("median", 0))});
}

// How many trials until the first success.
Value* Geometric(TorchCall& c, Value* x, DType t) {
  x = c.Op("log", {c.Op("sub", {c.Constant(t, 1), x})});
  x = c.Op("ceil", {c.Op("div", {x, c.Constant(t, portable::log1p(-c.Float("p")))})});
  return c.Op("max", {x, c.Constant(t, 1)});
}

Values LogNormal(TorchCall& c) {
  IgnoreRandomPlace(c);
  const DType t = OutType(c);
  Value* shape = Vector(c, AllSizes(c.Tensor("self")));
  Value* x = c.Op("mul", {Draw(c, "random_normal", shape, t), c.Constant(t, c.Float("std", 2))});
  return {c.Op("exp", {c.Op("add", {x, c.Constant(t, c.Float("mean", 1))})})};
}

Values Exponential(TorchCall& c) {
  IgnoreRandomPlace(c);
  const DType t = OutType(c);
  const double rate = c.Float("lambd", 1);
  Value* x = Draw(c, "random_uniform", Vector(c, AllSizes(c.Tensor("self"))), t);
  x = c.Op("log", {c.Op("sub", {c.Constant(t, 1), x})});
  return {c.Op("div", {x, c.Constant(t, -rate)})};
}

Values Bernoulli(TorchCall& c) {
  IgnoreRandomPlace(c);
  Value* self = c.Tensor("self");
  Value* p = self;
  if (c.Has("p")) {
    const DType in = IsFloating(self->dtype()) ? self->dtype() : DType::kFloat32;
    p = Expand(c.Operand("p", in), Vector(c, AllSizes({c, self})));
  }
  if (!IsFloating(p->dtype())) return c.Fail(Unimplemented("of ", Name(p->dtype())));
  const DType in = p->dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Value* drawn = c.Op("bernoulli", {c.Cast(p, in)}, {{"dtype", Name(in)}});
  return {c.Cast(drawn, OutType(c))};
}

// Weights in, their logarithms to the IR's op.
Values Multinomial(TorchCall& c) {
  IgnoreRandomPlace(c);
  Value* weights = c.Tensor("self");
  const int64_t samples = c.Int("num_samples");
  if (!c.Bool("replacement", false) && samples != 1) {
    return c.Fail(Unimplemented("without replacement"));
  }
  const bool single = c.Rank(weights) == 1;
  if (single) weights = Unsqueeze({c, weights}, {0});
  const DType in = weights->dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Value* drawn = c.Op("multinomial", {c.Op("log", {c.Cast(weights, in)})},
                      {{"dtype", "int64"}, {"sample_size", samples}});
  return {single ? Squeeze({c, drawn}, {0}) : drawn};
}

// The order of random keys.
Values Permutation(TorchCall& c) {
  IgnoreRandomPlace(c);
  Value* n = Unsqueeze(c.SymInt("n"), {0});
  Value* keys = Draw(c, "random_uniform", n, DType::kFloat64);
  return {c.Cast(Sort({c, keys}, 0, false).indices, OutType(c))};
}

X2IR_TORCH(random_uniform)
    .From({"aten::rand.default", "aten::rand.generator"}, Drawn("random_uniform", false))
    .From("aten::rand_like.default", Drawn("random_uniform", true))
    .From({"aten::randint.default", "aten::randint.low", "aten::randint.generator",
           "aten::randint.low_generator"},
          Integers(false))
    .From({"aten::randint_like.default", "aten::randint_like.low_dtype"}, Integers(true))
    .From("aten::uniform.default", Uniform)
    .From("aten::exponential.default", Exponential)
    .From("aten::cauchy.default", OfUniform(Cauchy))
    .From("aten::geometric.default", OfUniform(Geometric))
    .From({"aten::randperm.default", "aten::randperm.generator"}, Permutation);
X2IR_TORCH(random_normal)
    .From({"aten::randn.default", "aten::randn.generator"}, Drawn("random_normal", false))
    .From("aten::randn_like.default", Drawn("random_normal", true))
    .From({"aten::normal_functional.default", "aten::normal.default", "aten::normal.float_float",
           "aten::normal.Tensor_Tensor", "aten::normal.Tensor_float", "aten::normal.float_Tensor"},
          Normal)
    .From("aten::log_normal.default", LogNormal);
X2IR_TORCH(bernoulli).From({"aten::bernoulli.default", "aten::bernoulli.p", "aten::bernoulli.float",
                            "aten::bernoulli.Tensor"},
                           Bernoulli);
X2IR_TORCH(multinomial).From("aten::multinomial.default", Multinomial);

// A seed of the IR is none of PyTorch's.
auto WriteDrawn(std::string_view op, Symbol offset, double offset_default, Symbol scale) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (w.attrs().Has("seed")) return CannotExpress("a seed");
    X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> size, w.Sizes(w.in(0)));
    const DType t = w.DTypeAttr("dtype");
    const double from = w.Float(offset);
    const double factor = w.Float(scale) - (scale == "high" ? from : 0);
    Value* x = w.Call(op, {{"size", std::move(size)}, {"dtype", t}}, w.out_type());
    if (factor != 1) x = w.Op("mul", {x, w.Number(t, factor)});
    return from == offset_default ? x : w.Op("add", {x, w.Number(t, from)});
  };
}

}  // namespace

X2IR_TORCH(random_uniform)
    .To("aten::rand.default", WriteDrawn("aten::rand.default", "low", 0, "high"));
X2IR_TORCH(random_normal)
    .To("aten::randn.default", WriteDrawn("aten::randn.default", "mean", 0, "scale"));

}  // namespace x2ir
