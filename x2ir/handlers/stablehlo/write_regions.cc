#include "x2ir/handlers/stablehlo/write_regions.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/nested.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {

absl::StatusOr<std::shared_ptr<Graph>> RegionOf(const std::vector<Type>& arguments,
                                                const RegionBody& body) {
  auto graph = std::make_shared<Graph>("region");
  Builder b(*graph, nullptr);
  std::vector<Expr> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    inputs.emplace_back(b, graph->AddInput(StrCat("arg", i), arguments[i]));
  }
  const std::vector<Expr> results = body(inputs);
  for (const Expr& result : results) graph->AddOutput(result);
  X2IR_RETURN_IF_ERROR(NameMade(b, "", graph->outputs()));
  return graph;
}

absl::StatusOr<std::shared_ptr<Graph>> BodyOf(std::string_view op, DType t) {
  const Type number = Type::Tensor(t, Shape());
  return RegionOf({number, number}, [&](const std::vector<Expr>& x) {
    return std::vector<Expr>{Combined(op, x[0], x[1])};
  });
}

Type WithDims(const Type& x, std::vector<Dim> dims) {
  return Type::Tensor(x.dtype(), Shape(std::move(dims)));
}
Type WithoutAxes(const Type& x, const std::vector<int64_t>& axes) {
  std::vector<Dim> dims;
  for (int64_t i = 0; i < x.shape()->rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) dims.push_back((*x.shape())[i]);
  }
  return WithDims(x, std::move(dims));
}

Expr InitOf(Builder& b, std::string_view op, DType t) {
  if (op == "add" && IsFloating(t)) return {b, b.Scalar(t, 0)};
  return NeutralOf(b, op, t);
}

absl::StatusOr<Value*> ReduceHlo(StablehloWriter& w, Value* x, std::string_view op,
                                 const std::vector<int64_t>& axes) {
  X2IR_RETURN_IF_ERROR(w.RankOf(x).status());
  X2IR_ASSIGN_OR_RETURN(auto body, BodyOf(op, x->dtype()));
  Value* init = InitOf(w.b(), op, x->dtype());
  return w.Hlo("reduce", {x, init}, {{"dimensions", axes}, {"body", std::move(body)}},
               WithoutAxes(x->type(), axes));
}

absl::StatusOr<Value*> SlideHlo(StablehloWriter& w, Value* x, Value* init, std::string_view op,
                                const std::vector<int64_t>& window,
                                const std::vector<int64_t>& padding) {
  X2IR_ASSIGN_OR_RETURN(auto body, BodyOf(op, x->dtype()));
  const std::vector<int64_t> ones(window.size(), 1);
  return w.Hlo("reduce_window", {x, init},
               {{"window_dimensions", window},
                {"window_strides", ones},
                {"base_dilations", ones},
                {"window_dilations", ones},
                {"padding", padding},
                {"body", std::move(body)}},
               x->type());
}

Value* IotaHlo(StablehloWriter& w, DType t, const Expr& like, int64_t axis) {
  const AttributeMap attrs = {{"iota_dimension", axis}};
  const Type type = Type::Tensor(t, *like->shape());
  if (like->shape()->Static()) return w.Hlo("iota", {}, attrs, type);
  return w.Hlo("dynamic_iota", {Vector(w.b(), AllSizes(like))}, attrs, type);
}

}  // namespace x2ir
