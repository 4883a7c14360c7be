// OneFlow: random numbers.

#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

Value* Uniform(OneflowArgs& a) {
  const auto low = static_cast<float>(a.Number("from")), high = static_cast<float>(a.Number("to"));
  const DType type = a.DataType("dtype", DType::kFloat32);
  const auto seed = static_cast<float>(a.Int("seed"));
  return a.Op("random_uniform", {a.b().Ints(a.Ints("shape"))},
              {{"low", low}, {"high", high}, {"dtype", Name(type)}, {"seed", seed}});
}

Value* FromNormal(OneflowArgs& a) {
  const auto mean = static_cast<float>(a.Number("mean")), std = static_cast<float>(a.Number("std"));
  const DType type = a.DataType("dtype", DType::kFloat32);
  const auto seed = static_cast<float>(a.Int("seed"));
  return a.Op("random_normal", {a.b().Ints(a.Ints("shape"))},
              {{"mean", mean}, {"scale", std}, {"dtype", Name(type)}, {"seed", seed}});
}

absl::StatusOr<Value*> ToUniform(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.out_type()));
  return w.Oneflow("uniform", {},
                   {{"from", static_cast<double>(w.Float("low"))},
                    {"to", static_cast<double>(w.Float("high"))},
                    {"seed", static_cast<int64_t>(w.attrs().Float("seed", 0))},
                    {"dtype", w.String("dtype")},
                    {"shape", dims}});
}

absl::StatusOr<Value*> ToNormal(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.out_type()));
  return w.Oneflow("normal", {},
                   {{"mean", static_cast<double>(w.Float("mean"))},
                    {"std", static_cast<double>(w.Float("scale"))},
                    {"seed", static_cast<int64_t>(w.attrs().Float("seed", 0))},
                    {"dtype", w.String("dtype")},
                    {"shape", dims}});
}

}  // namespace

X2IR_ONEFLOW(random_uniform).To("uniform", ToUniform).From("uniform", Uniform);
X2IR_ONEFLOW(random_normal).To("normal", ToNormal).From("normal", FromNormal);

}  // namespace x2ir
