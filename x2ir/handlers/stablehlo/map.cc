// StableHLO: a region applied to every element.
#include <memory>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/stablehlo/regions.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> FromMap(StablehloArgs& a) {
  const std::shared_ptr<Graph> body = a.SubGraph("computation");
  a.Ignore("dimensions");  // all of them
  if (a.num_inputs() == 0) return Invalid("it has no operands");
  CheckRegion(a, *body, a.num_inputs(), 1);
  std::vector<Expr> x;
  for (size_t i = 0; i < a.num_inputs(); ++i) x.push_back(a.in(i));
  const Expr y = RunRegion(a, *body, x)[0];
  // A body that uses no argument gives one number.
  if (y.rank() < x[0].rank()) return Values{Expand(y, ShapeOf(x[0]))};
  return Values{y};
}

}  // namespace

X2IR_STABLEHLO(identity).From("map", FromMap);

}  // namespace x2ir
