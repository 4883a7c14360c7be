// Core ML: random numbers.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/classes.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

// Like an operand, of a static shape, or of the shape that the operand is.
using RandomFn = Expr (*)(NnArgs& a, Value* shape);

template <RandomFn fn>
Expr RandomLike(NnArgs& a) {
  return fn(a, ShapeOf(a.X()));
}

template <RandomFn fn>
Expr RandomStatic(NnArgs& a) {
  return fn(a, a.b().Ints(a.List("outputShape")));
}

template <RandomFn fn>
Expr RandomDynamic(NnArgs& a) {
  return fn(a, a.Whole(0));
}

AttributeMap Seeded(NnArgs& a, AttributeMap attrs) {
  const int64_t seed = a.Int("seed");
  if (seed >= 0) attrs.Set("seed", static_cast<float>(seed));
  return attrs;
}

Expr Normal(NnArgs& a, Value* shape) {
  return a.Op("random_normal", {shape},
              Seeded(a, {{"mean", static_cast<float>(a.Number("mean"))},
                         {"scale", static_cast<float>(a.Number("stdDev"))}}));
}

Expr Uniform(NnArgs& a, Value* shape) {
  return a.Op("random_uniform", {shape},
              Seeded(a, {{"low", static_cast<float>(a.Number("minVal"))},
                         {"high", static_cast<float>(a.Number("maxVal"))}}));
}

Expr Bernoulli(NnArgs& a, Value* shape) {
  const Expr chance = NumbersAs(a.b(), DType::kFloat32, {}, {a.Number("prob")});
  return Expand(chance, shape).Op("bernoulli", {}, Seeded(a, {}));
}

// Of probabilities or their logarithms, which a temperature divides.
Expr Categorical(NnArgs& a) {
  const int64_t count = a.Int("numSamples", 1), seed = a.Int("seed");
  const double epsilon = a.Number("eps", 1e-10), temperature = a.Number("temperature", 1);
  const Expr logits = a.Flag("isLogits") ? a.X() : Log(a.X() + epsilon);
  return DrawnClasses(a, Scaled(logits, 1 / temperature), count, seed);
}

}  // namespace

X2IR_NN(random_normal)
    .From({{"randomNormalLike", RandomLike<Normal>},
           {"randomNormalStatic", RandomStatic<Normal>},
           {"randomNormalDynamic", RandomDynamic<Normal>}});
X2IR_NN(random_uniform)
    .From({{"randomUniformLike", RandomLike<Uniform>},
           {"randomUniformStatic", RandomStatic<Uniform>},
           {"randomUniformDynamic", RandomDynamic<Uniform>}});
X2IR_NN(multinomial).From("categoricalDistribution", Categorical);
X2IR_NN(bernoulli).From({{"randomBernoulliLike", RandomLike<Bernoulli>},
                         {"randomBernoulliStatic", RandomStatic<Bernoulli>},
                         {"randomBernoulliDynamic", RandomDynamic<Bernoulli>}});

}  // namespace x2ir
