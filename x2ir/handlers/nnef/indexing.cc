// NNEF: elements picked and put by indices.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/nnef/nnef.h"
#include "x2ir/ops/infer.h"

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

// Of the flattened tensor, by numbers of its elements that are computed as real numbers.
absl::StatusOr<Value*> ToGatherElements(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const auto data = KnownSizes(w.in(0)), sizes = KnownSizes(w.in(1));
  const auto count = data ? CheckedProduct(*data) : std::nullopt;
  if (!count || !sizes) return CannotExpress("operands of unknown size");
  if (*count > NnefWriter::kExact || w.dtype(1) != DType::kInt64) {
    return CannotExpress("more than 2^24 elements, or indices that are not int64");
  }
  const int64_t rank = static_cast<int64_t>(data->size());
  Expr at = w.AsReal(w.in(1));
  if (!w.CountsFromTheFront(*w.in(1))) {
    at = Where(at < 0.0, at + static_cast<double>((*data)[static_cast<size_t>(axis)]), at);
  }
  std::vector<int64_t> strides(data->size(), 1);
  for (size_t i = data->size() - 1; i-- > 0;) strides[i] = strides[i + 1] * (*data)[i + 1];
  at = at * static_cast<double>(strides[static_cast<size_t>(axis)]);
  for (size_t i = 0; i < data->size(); ++i) {
    if (static_cast<int64_t>(i) == axis || (*sizes)[i] == 1) continue;
    std::vector<double> offsets;
    for (int64_t n = 0; n < (*sizes)[i]; ++n) {
      offsets.push_back(static_cast<double>(n * strides[i]));
    }
    at = at + AlongAxis(NumbersAs(w, DType::kFloat32, {(*sizes)[i]}, offsets),
                        static_cast<int64_t>(i), rank);
  }
  return w.Op("gather", {Flat({w, w.in(0)}), at.To(DType::kInt64)}, {{"axis", 0}});
}

// --- Written with tract's operators --------------------------------------------------------------

absl::StatusOr<Values> ToTopK(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const auto known = x2ir::KnownInts(w.in(1));
  Value* k = known && known->size() == 1 ? w.b().Int((*known)[0]) : w.Cast(w.in(1), DType::kInt64);
  return w.CallAll("tract_core_topk", {{"input", w.in(0)}, {"k", k}},
                   {{"axis", axis}, {"largest", w.Int("largest")}}, 2);
}
absl::StatusOr<Value*> ToScatterElements(NnefWriter& w) {
  if (w.String("reduction") != "none") return CannotExpress("updates that are combined");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Call(
      "tract_core_scatter_elements",
      {{"input", w.in(0)}, {"indices", w.Cast(w.in(1), DType::kInt64)}, {"updates", w.in(2)}},
      {{"axis", axis}});
}
// tract counts the indices of tuples from the front alone.
absl::StatusOr<Value*> ToScatterNd(NnefWriter& w) {
  if (w.String("reduction") != "none") return CannotExpress("updates that are combined");
  Value* indices = w.Cast(w.in(1), DType::kInt64);
  if (!w.CountsFromTheFront(*w.in(1))) {
    const Shape *data = w.shape(0), *of = w.shape(1);
    const Dim depth = of ? (*of)[of->rank() - 1] : Dim();
    if (!data || !depth.is_static()) return CannotExpress("operands of unknown size");
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < depth.value(); ++i) {
      if (!(*data)[i].is_static()) return CannotExpress("operands of unknown size");
      sizes.push_back((*data)[i].value());
    }
    indices = w.FromTheFront(indices, w.Ints(sizes));
  }
  return w.Call("tract_core_scatter_nd",
                {{"input", w.in(0)}, {"indices", indices}, {"updates", w.in(2)}});
}

}  // namespace

X2IR_NNEF(gather)
    .From({"gather", "tract_core_gather"}, GatherRow)
    .From("x2ir.element", ElementRow)
    .To("gather", ToGather);
X2IR_NNEF(top_k).From("tract_core_topk", TopKRow).To("tract_core_topk", ToTopK);
X2IR_NNEF(gather_elements)
    .From("tract_core_gather_elements", GatherElementsRow)
    .To("gather", ToGatherElements);
X2IR_NNEF(gather_nd).From("tract_core_gather_nd", GatherNdRow);
X2IR_NNEF(scatter_elements)
    .From("tract_core_scatter_elements", ScatterElementsRow)
    .To("tract_core_scatter_elements", ToScatterElements);
X2IR_NNEF(scatter_nd)
    .From("tract_core_scatter_nd", ScatterNdRow)
    .To("tract_core_scatter_nd", ToScatterNd);

}  // namespace x2ir
