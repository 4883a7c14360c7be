// Linear algebra, sets and random numbers, written as calls.
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

X2IR_TORCH(cholesky).To("aten::linalg_cholesky.default");
X2IR_TORCH(det).To("aten::linalg_det.default");
X2IR_TORCH(solve).To("aten::linalg_solve.default");

Value* WriteTriangularSolve(TorchWriter& w) {
  return w.Call("aten::linalg_solve_triangular.default", {{"self", w.in(0)},
                                                          {"B", w.in(1)},
                                                          {"upper", w.Int("upper") != 0},
                                                          {"unitriangular", w.Int("unit") != 0}});
}
X2IR_TORCH(triangular_solve).To("aten::linalg_solve_triangular.default", WriteTriangularSolve);

// PyTorch does not say where an element stood first.
absl::StatusOr<Values> WriteUnique(TorchWriter& w) {
  if (w.wants(1)) return CannotExpress("the first places of elements");
  if (w.Int("sorted") == 0) return CannotExpress("elements in the order of the operand");
  const std::vector<bool> wanted = {true, w.wants(2), w.wants(3)};
  const Type places = Type::Tensor(DType::kInt64, std::nullopt);
  const bool of_axis = w.attrs().Has("axis");
  TorchArguments arguments = {{"self", w.in(0)}};
  if (of_axis) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    arguments.emplace_back("dim", axis);
  }
  arguments.emplace_back("sorted", true);
  arguments.emplace_back("return_inverse", w.wants(2));
  arguments.emplace_back("return_counts", w.wants(3));
  const Values made = w.Calls(of_axis ? "aten::unique_dim.default" : "aten::_unique2.default",
                              std::move(arguments), wanted, {w.out_type(), places, places});
  Values values = {w.wants(0) ? made[0] : nullptr, nullptr, made[1], made[2]};
  if (made[1] && !of_axis) values[2] = w.Reshape(made[1], {-1});
  values.resize(w.node().num_outputs());
  return values;
}
X2IR_TORCH(unique).To("aten::_unique2.default", WriteUnique);

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
X2IR_TORCH(random_uniform)
    .To("aten::rand.default", WriteDrawn("aten::rand.default", "low", 0, "high"));
X2IR_TORCH(random_normal)
    .To("aten::randn.default", WriteDrawn("aten::randn.default", "mean", 0, "scale"));

}  // namespace
}  // namespace x2ir
