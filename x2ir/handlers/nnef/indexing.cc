// NNEF: elements picked and put by indices.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Value* GatherRow(NnefArgs& a) {
  const int64_t axis = a.AxisOf(a.Integer("axis"));
  if (a.op() != "gather") a.Require(a.Text("datum_type").empty(), "a gather into another type");
  return Gather(a.Tensor("input"), a.AsInt64(a.Tensor("indices")), axis);
}
Value* GatherElementsRow(NnefArgs& a) {
  return GatherElements(a.Tensor("input"), a.AsInt64(a.Tensor("indices")),
                        a.AxisOf(a.Integer("axis")));
}
Value* GatherNdRow(NnefArgs& a) {
  return a.Tensor("input").Op("gather_nd", {a.AsInt64(a.Tensor("indices"))},
                              {{"batch_dims", a.Integer("batch_dims")}});
}
Value* ScatterElementsRow(NnefArgs& a) {
  return ScatterElements(a.Tensor("input"), a.AxisOf(a.Integer("axis")),
                         a.AsInt64(a.Tensor("indices")), a.Tensor("updates"), "none");
}
Value* ScatterNdRow(NnefArgs& a) {
  return ScatterNd(a.Tensor("input"), a.AsInt64(a.Tensor("indices")), a.Tensor("updates"), "none");
}
// An element of a tensor of sizes: x[i].
Value* ElementRow(NnefArgs& a) { return ElementAt(a.in(0), 0, a.Integer("index")); }

absl::StatusOr<Values> TopKRow(NnefArgs& a) {
  const Expr k = Reshape(a.AsInt64(a.Tensor("k")), {1});
  const Sorted top = TopOf(a.in(0), k, a.AxisOf(a.Integer("axis")), a.Flag("largest"));
  return Values{top.values, top.indices};
}

absl::StatusOr<Value*> ToGather(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  // The interpreter of NNEF-Tools and tract count negative ones from the end, as the IR does.
  Value* index = w.in(1);
  if (index->dtype() != DType::kInt64) {
    if (!index->fixed_constant()) return CannotExpress("indices that are not int64");
    index = w.Cast(index, DType::kInt64);
  }
  return w.Call("gather", {{"input", w.in(0)}, {"indices", index}}, {{"axis", axis}});
}

}  // namespace

X2IR_NNEF(gather)
    .From({"gather", "tract_core_gather"}, GatherRow)
    .From("x2ir.element", ElementRow)
    .To("gather", ToGather);
X2IR_NNEF(top_k).From("tract_core_topk", TopKRow);
X2IR_NNEF(gather_elements).From("tract_core_gather_elements", GatherElementsRow);
X2IR_NNEF(gather_nd).From("tract_core_gather_nd", GatherNdRow);
X2IR_NNEF(scatter_elements).From("tract_core_scatter_elements", ScatterElementsRow);
X2IR_NNEF(scatter_nd).From("tract_core_scatter_nd", ScatterNdRow);

}  // namespace x2ir
