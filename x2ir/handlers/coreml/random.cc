// Core ML: random numbers.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/handlers/coreml/classes.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// A seed that is none: each run has numbers of its own.
void SetSeed(MilArgs& a, AttributeMap* attrs) {
  const int64_t seed = a.Int("seed");
  if (seed >= 0) attrs->Set("seed", static_cast<float>(seed));
}

Expr MilRandomNormal(MilArgs& a) {
  AttributeMap attrs = {{"mean", static_cast<float>(a.Number("mean"))},
                        {"scale", static_cast<float>(a.Number("stddev"))}};
  SetSeed(a, &attrs);
  return a.Op("random_normal", {a.AsInt64(a.X("shape"))}, std::move(attrs));
}

Expr MilRandomUniform(MilArgs& a) {
  AttributeMap attrs = {{"low", static_cast<float>(a.Number("low"))},
                        {"high", static_cast<float>(a.Number("high"))}};
  SetSeed(a, &attrs);
  return a.Op("random_uniform", {a.AsInt64(a.X("shape"))}, std::move(attrs));
}

Expr MilRandomBernoulli(MilArgs& a) {
  AttributeMap attrs;
  SetSeed(a, &attrs);
  const Expr number = NumbersAs(a.b(), DType::kFloat32, {}, {a.Number("prob")});
  return Expand(number, a.AsInt64(a.X("shape"))).Op("bernoulli", {}, std::move(attrs));
}

Expr MilRandomCategorical(MilArgs& a) {
  const std::string mode = a.Text("mode");
  const int64_t count = a.Int("size"), seed = a.Int("seed");
  a.Require(mode == "logits" || mode == "probs", StrCat("mode ", mode));
  return DrawnClasses(a, mode == "probs" ? Log(a.X()) : a.X(), count, seed);
}

absl::StatusOr<Value*> ToMultinomial(MilWriter& w) {
  if (w.dtype() == DType::kFloat64) return CannotExpress("chances of float64");
  Type type = w.out_type();
  type.set_dtype(w.dtype());
  Value* drawn = w.Mil("random_categorical", {w.in(0)},
                       {{"mode", "logits"},
                        {"size", w.Int("sample_size")},
                        {"seed", static_cast<int64_t>(w.attrs().Float("seed", -1))}},
                       type);
  return w.Cast(drawn, w.out_type().dtype());
}

Value* ToRandomNormal(MilWriter& w) {
  return w.Mil("random_normal", {w.in(0)},
               {{"mean", w.Float("mean")},
                {"stddev", w.Float("scale")},
                {"seed", static_cast<int64_t>(w.attrs().Float("seed", -1))}});
}

Value* ToRandomUniform(MilWriter& w) {
  return w.Mil("random_uniform", {w.in(0)},
               {{"low", w.Float("low")},
                {"high", w.Float("high")},
                {"seed", static_cast<int64_t>(w.attrs().Float("seed", -1))}});
}

template <typename... Attrs>
Value* DrawnLike(MilWriter& w, Symbol op, const Attrs&... names) {
  AttributeMap attrs = {{"dtype", Name(w.out_type().dtype())}};
  for (const Symbol name : {Symbol(names)...}) {
    if (const Attribute* attr = w.attrs().Find(name)) attrs.Set(name, *attr);
  }
  return w.Op(op, {ShapeOf(w.X())}, std::move(attrs));
}

Value* ToNormalLike(MilWriter& w) { return DrawnLike(w, "random_normal", "mean", "scale", "seed"); }
Value* ToUniformLike(MilWriter& w) { return DrawnLike(w, "random_uniform", "low", "high", "seed"); }

// As many numbers from 0 to 1 as chances: which of them are below.
Value* ToBernoulli(MilWriter& w) {
  const Expr x = w.X();
  AttributeMap attrs = {{"low", 0.0f}, {"high", 1.0f}, {"dtype", Name(x.dtype())}};
  if (const Attribute* seed = w.attrs().Find("seed")) attrs.Set("seed", *seed);
  const Expr drawn = {w.b(), w.Op("random_uniform", {ShapeOf(x)}, std::move(attrs))};
  return w.Cast(drawn.Op("less", {x}), w.out_type().dtype());
}

}  // namespace

X2IR_MIL(random_normal).To("random_normal", ToRandomNormal).From("random_normal", MilRandomNormal);
X2IR_MIL(random_uniform)
    .To("random_uniform", ToRandomUniform)
    .From("random_uniform", MilRandomUniform);
X2IR_MIL(multinomial)
    .To("random_categorical", ToMultinomial)
    .From("random_categorical", MilRandomCategorical);
X2IR_MIL(bernoulli).To("random_uniform", ToBernoulli).From("random_bernoulli", MilRandomBernoulli);
X2IR_MIL(random_normal_like).To("random_normal", ToNormalLike);
X2IR_MIL(random_uniform_like).To("random_uniform", ToUniformLike);

}  // namespace x2ir
