// Paddle: random numbers.

#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

Expr RandPerm(PaddleArgs& a) {
  const int64_t n = a.Int("n", 0);
  const DType type = a.Dtype("dtype", DType::kInt64);
  a.Require(n >= 0 && n <= (1 << 24), "as many numbers");
  AttributeMap attrs;
  const int64_t seed = a.Int("seed", 0);
  if (seed != 0) attrs.Set("seed", static_cast<float>(seed));
  const Expr keys = Ints(a, {n}).Op("random_uniform", {}, std::move(attrs));
  return Sort(keys, 0, false).indices.To(type);
}

Expr Multinomial(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t count = a.KnownNumber("num_samples", {}, 1);
  const bool again = a.Bool("replacement", false);
  a.Require(again || count == 1, "samples that are not put back");
  a.Require(a.Rank(x) <= 2, "probabilities of more axes");
  const Expr rows = a.Rank(x) == 1 ? Unsqueeze(x, {0}) : x;
  const Expr y = Log(rows).Op("multinomial", {}, {{"sample_size", count}, {"dtype", "int64"}});
  return a.Rank(x) == 1 ? Squeeze(y, {0}) : y;
}

}  // namespace

X2IR_PADDLE(random_uniform).From("randperm", RandPerm);
X2IR_PADDLE(multinomial).From("multinomial", Multinomial);

}  // namespace x2ir
