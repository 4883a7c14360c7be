// What Toy's layers are in the IR: all that x2ir has to know of them. Each row serves both
// directions.
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

#define TOY_OP(ir_op) X2IR_SPEC("toy", ir_op)

namespace {

[[maybe_unused]] const bool kToyIsRegistered = x2ir::RegisterDialect({.name = "toy"});

TOY_OP(relu).Is("ReluLayer", x2ir::Since(1));

// Weights are [in, out], and there is always a bias.
TOY_OP(gemm).Is("Dense", x2ir::Since(1), x2ir::Fixed("alpha", 1.0f), x2ir::Fixed("beta", 1.0f),
                x2ir::Fixed("transA", 0), x2ir::Fixed("transB", 0));

// Scale has its factor as an attribute; the IR multiplies by a constant.
absl::StatusOr<x2ir::Values> FromScale(x2ir::Rewrite& r) {
  x2ir::Value* factor = r.b.Scalar(x2ir::DType::kFloat32, r.attrs().Float("factor"), "factor");
  return x2ir::Values{r.b.Op("mul", {r.in(0), factor})};
}

absl::StatusOr<x2ir::Values> ToScale(x2ir::Rewrite& r) {
  for (const size_t i : {1, 0}) {
    const x2ir::Tensor* factor = r.in(i) ? r.in(i)->fixed_constant() : nullptr;
    if (!factor || factor->num_elements() != 1) continue;
    x2ir::AttributeMap attrs;
    attrs.Set("factor", static_cast<float>(factor->AsDouble(0)));
    return r.b.Node("toy", "Scale", {r.in(1 - i)}, std::move(attrs), {true});
  }
  return x2ir::CannotExpress("Toy multiplies by a single constant only");
}

TOY_OP(mul).Is("Scale", x2ir::Since(1), x2ir::Code{FromScale, ToScale});

}  // namespace
