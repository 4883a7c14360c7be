// StableHLO: random numbers of a distribution. The specification names no generator for them, so
// they are those of the IR.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> FromRng(StablehloArgs& a) {
  const std::string distribution = a.String("rng_distribution", "");
  const Expr low = a.in(0), high = a.in(1), shape = a.AsInt64(a.in(2));
  const DType t = low.dtype();
  const auto known = a.Ints(2);
  const Expr sizes = known ? Ints(a, *known) : shape;
  const Expr like = Expand(Expr(a, a.b().Scalar(DType::kFloat32, 0)), sizes);
  if (distribution == "NORMAL") {
    if (!IsFloating(t)) return Invalid("normally distributed numbers of ", Name(t));
    const Expr z = like.Op("random_normal_like", {}, {{"dtype", std::string(Name(t))}});
    return low + z * high;
  }
  if (distribution != "UNIFORM") return Invalid("rng_distribution is '", distribution, "'");
  if (IsFloating(t)) {
    const Expr even = like.Op("random_uniform_like", {}, {{"dtype", std::string(Name(t))}});
    return low + even * (high - low);
  }
  const Expr even = like.Op("random_uniform_like", {}, {{"dtype", "float64"}});
  if (t == DType::kBool) return even < 0.5;
  if (!IsInteger(t)) return Unimplemented("random numbers of ", Name(t));
  const Expr from = low.To(DType::kFloat64), to = high.To(DType::kFloat64);
  return Floor(from + even * (to - from)).To(t);
}

auto ToRng(const char* distribution, const char* first, const char* second) {
  return [=](StablehloWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, w.Sizes(w.out_type()));
    const DType t = w.out_type().dtype();
    return w.Hlo(
        "rng",
        {w.Number(t, w.attrs().Float(first)), w.Number(t, w.attrs().Float(second)), w.Ints(sizes)},
        {{"rng_distribution", distribution}});
  };
}

}  // namespace

X2IR_STABLEHLO(random_uniform).From("rng", FromRng).To("rng", ToRng("UNIFORM", "low", "high"));
X2IR_STABLEHLO(random_uniform_like).To("rng", ToRng("UNIFORM", "low", "high"));
X2IR_STABLEHLO(random_normal).To("rng", ToRng("NORMAL", "mean", "scale"));
X2IR_STABLEHLO(random_normal_like).To("rng", ToRng("NORMAL", "mean", "scale"));

}  // namespace x2ir
