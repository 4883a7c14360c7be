// Random numbers where a target lacks the form: computed shapes, and Bernoulli.
#include "x2ir/optimizer/lowering.h"

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

}  // namespace

X2IR_LOWERING(random_uniform, UniformAsLike);
X2IR_LOWERING(random_normal, NormalAsLike);
X2IR_LOWERING(bernoulli, BernoulliAsUniform);

}  // namespace x2ir
