// Random numbers where a target lacks the form: computed shapes, Bernoulli, and classes.
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

// A tensor of that shape, then its like. Only for shapes that are computed: a constant one is the
// op's own affair.
absl::StatusOr<Values> OfShapeAsLike(Rewrite& r, Symbol like) {
  if (r.in(0)->fixed_constant()) return NothingToDo();
  Value* zeros = r.b.Op("constant_of_shape", {r.in(0)});
  return Values{r.b.Op(like, {zeros}, r.attrs())};
}

absl::StatusOr<Values> UniformAsLike(Rewrite& r) { return OfShapeAsLike(r, "random_uniform_like"); }
absl::StatusOr<Values> NormalAsLike(Rewrite& r) { return OfShapeAsLike(r, "random_normal_like"); }

// Uniform numbers below the probability. 16 bits would be too coarse for small ones.
absl::StatusOr<Values> BernoulliAsUniform(Rewrite& r) {
  const DType own = r.dtype(0);
  if (!IsFloating(own)) return CannotExpress("the element type of the operand is not known");
  const DType fine = own == DType::kFloat64 ? own : DType::kFloat32;
  Value* chances = r.in(0);
  if (own != fine) chances = r.b.Op("cast", {chances}, {{"to", std::string(Name(fine))}});
  AttributeMap uniform = {{"dtype", std::string(Name(fine))}};
  if (const Attribute* seed = r.attrs().Find("seed")) uniform.Set("seed", *seed);
  Value* numbers = r.b.Op("random_uniform_like", {chances}, std::move(uniform));
  Value* below = r.b.Op("less", {numbers, chances});
  const Attribute* dtype = r.attrs().Find("dtype");
  const Attribute to = dtype ? *dtype : Attribute(std::string(Name(own)));
  return Values{r.b.Op("cast", {below}, {{"to", to}})};
}

// Where a number of [0, 1) is among the sums of the chances. 16 bits would be too coarse.
absl::StatusOr<Values> MultinomialAsUniform(Rewrite& r) {
  Builder& b = r.b;
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatComputeType(r.dtype(0)));
  const Expr x = Expr(b, r.in(0)).To(t);
  const Expr sums = CumSum(Exp(x - Reduce(x, "reduce_max", {1}, true)), 1);  // [rows, classes]
  const Expr all = SliceAt(sums, 1, -1);
  AttributeMap attrs = {{"dtype", std::string(Name(t))}};
  if (const Attribute* seed = r.attrs().Find("seed")) attrs.Set("seed", *seed);
  Value* shape = Vector(b, {SizeAt(x, 0), Size(r.attrs().Int("sample_size"))});
  const Expr at = Expr(b, b.Op("random_uniform", {shape}, std::move(attrs))) * all;
  // The first class whose sum is above; the last one that has a chance where rounding leaves none.
  const auto count = [&](const Expr& before) { return Sum(before.To(DType::kInt32), -1); };
  const Expr last = Unsqueeze(count(sums < all), {1});
  const Expr found = count(Unsqueeze(sums, {1}) <= Unsqueeze(at, {2}));
  const Expr index = Where(found < last, found, last);
  return Values{index.Op("cast", {}, {{"to", r.attrs().String("dtype")}})};
}

}  // namespace

X2IR_LOWERING(random_uniform, UniformAsLike);
X2IR_LOWERING(random_normal, NormalAsLike);
X2IR_LOWERING(bernoulli, BernoulliAsUniform);
X2IR_LOWERING(multinomial, MultinomialAsUniform);

}  // namespace x2ir
