// OneFlow: elements picked and put by their places.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/weights.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/oneflow/oneflow.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* FromGather(OneflowArgs& a) {
  return Gather(a.in(0), a.in(1), a.AxisOf(a.Int("axis"), a.in(0).rank()));
}

// The axes of the indices are batches, but for the last.
Value* BatchGather(OneflowArgs& a) {
  const int64_t rank = a.in(1).rank(), of_data = a.in(0).rank();
  a.Require(rank >= 1 && rank <= of_data, "indices of more axes");
  const Expr places = Unsqueeze(a.AsInt64(a.in(1)), {-1});
  return a.Op("gather_nd", {a.in(0), places}, {{"batch_dims", rank - 1}});
}

Value* FromGatherNd(OneflowArgs& a) { return a.Op("gather_nd", {a.in(0), a.AsInt64(a.in(1))}); }

Value* DimGather(OneflowArgs& a) {
  return GatherElements(a.in(0), a.AsInt64(a.in(1)), a.AxisOf(a.Int("dim"), a.in(0).rank()));
}

enum Combination : uint8_t { kPut, kAdd, kMultiply };
constexpr std::string_view kReductions[] = {"none", "add", "mul"};

// Updates have the sizes of the indices; the rest is ignored.
Value* Scattered(OneflowArgs& a, const Expr& data, const Expr& index, Expr updates,
                 Combination how) {
  const int64_t dim = a.AxisOf(a.Int("dim"), data.rank());
  for (int64_t i = 0; i < index.rank(); ++i) {
    if (ProvablyEqual(DimAt(index, i), DimAt(updates, i))) continue;
    updates = Slice(updates, i, Size(0), SizeAt(index, i));
  }
  return ScatterElements(data, dim, a.AsInt64(index), updates, kReductions[how]);
}

template <Combination how>
Value* DimScatter(OneflowArgs& a) {
  return Scattered(a, a.in(0), a.in(1), a.in(2), how);
}

template <Combination how>
Value* DimScatterScalar(OneflowArgs& a) {
  const Expr number = a.in(0).Number(a.Number("src_scalar"));
  return Scattered(a, a.in(0), a.in(1), Expand(number, ShapeOf(a.in(1))), how);
}

Value* DimScatterAddLike(OneflowArgs& a) {
  const Expr zeros = Expand(a.in(2).Number(0), ShapeOf(a.in(0)));
  return Scattered(a, zeros, a.in(1), a.in(2), kAdd);
}

// Slices that meet are summed.
Value* FromScatterNd(OneflowArgs& a) {
  const Expr updates = a.in(1);
  const Expr zeros = Expand(updates.Number(0), a.b().Ints(a.Ints("shape")));
  return ScatterNd(zeros, a.AsInt64(a.in(0)), updates, "add");
}

Value* ScatterNdLike(OneflowArgs& a) {
  const Expr zeros = Expand(a.in(2).Number(0), ShapeOf(a.in(0)));
  return ScatterNd(zeros, a.AsInt64(a.in(1)), a.in(2), "add");
}

Value* TensorScatterNdUpdate(OneflowArgs& a) {
  return ScatterNd(a.in(0), a.AsInt64(a.in(2)), a.in(1), "none");
}

Value* TensorScatterNdAdd(OneflowArgs& a) {
  return ScatterNd(a.in(0), a.AsInt64(a.in(2)), a.in(1), "add");
}

Value* IndexAdd(OneflowArgs& a) {
  const Expr data = a.in(0);
  const Expr source = Scaled(a.in(2), a.Number("alpha"));
  return ScatterSlices(data, a.AxisOf(a.Int("dim"), data.rank()), a.AsInt64(a.in(1)), source,
                       "add");
}

// The sums of the slices of each segment, along the axis of the segment numbers.
Value* SegmentSum(OneflowArgs& a) {
  const Expr data = a.in(0), numbers = a.AsInt64(a.in(1));
  const int64_t axis = a.AxisOf(a.Int("axis"), data.rank());
  a.Require(axis == 0 && numbers.rank() == 1, "segments of another axis than the first");
  return CombineRows(data, numbers, Int(a, a.Int("num_segments")), "add", data.Number(0));
}

Value* SegmentSumLike(OneflowArgs& a) {
  const Expr data = a.in(0), numbers = a.AsInt64(a.in(1));
  a.Require(a.Int("axis") == 0 && numbers.rank() == 1, "segments of another axis than the first");
  return CombineRows(data, numbers, SizeOf(a.in(2), 0), "add", data.Number(0));
}

Value* RepeatInterleave(OneflowArgs& a) {
  const std::optional<std::vector<int64_t>> ends = a.Ints(1);
  a.Require(ends.has_value(), "counts that are computed");
  a.Ignore("repeat_num");
  std::vector<int64_t> places;
  for (size_t i = 0; i < ends->size(); ++i) {
    a.Require((*ends)[i] >= 0 && (*ends)[i] <= (int64_t{1} << 24), "so many elements");
    while (static_cast<int64_t>(places.size()) < (*ends)[i]) {
      places.push_back(static_cast<int64_t>(i));
    }
  }
  return Gather(a.in(0), a.b().Ints(places), 0);
}

// Indices count from the front there.
absl::StatusOr<Value*> FrontIndex(OneflowWriter& w, int64_t axis) {
  Value* index = w.in(1);
  if (w.CountsFromTheFront(*index)) return index;
  const Dim& dim = (*w.shape())[axis];
  if (!dim.is_static()) return CannotExpress("indices that may count from an unknown end");
  return w.FromTheFront(index, w.b().Int(dim.value()));
}

absl::StatusOr<Value*> FrontTuples(OneflowWriter& w) {
  if (w.CountsFromTheFront(*w.in(1))) return w.in(1);
  return TuplesFromTheFront(w);
}

absl::StatusOr<Value*> ToGather(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontIndex(w, axis));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.RankOf(index));
  if (rank == 0) {  // of one axis at least, which is a part where the index is known
    const Type& out = w.out_type();
    if (!out.shape()) return CannotExpress("sizes that are not known");
    std::vector<Dim> dims = out.shape()->dims();
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), Dim(1));
    const Type part = Type::Tensor(out.dtype(), Shape(dims));
    const auto known = OneflowWriter::NumberOf(index);
    Value* y =
        known
            ? w.Oneflow("narrow", {w.in(0)},
                        {{"dim", axis}, {"start", static_cast<int64_t>(*known)}, {"length", 1}},
                        part)
            : w.Oneflow("gather", {w.in(0), ReshapedWeight(w, index, {1})}, {{"axis", axis}}, part);
    return w.Op("squeeze", {y, w.Ints({axis})});
  }
  return w.Oneflow("gather", {w.in(0), index}, {{"axis", axis}});
}

absl::StatusOr<Value*> ToGatherElements(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontIndex(w, axis));
  return w.Oneflow("dim_gather", {w.in(0), index}, {{"dim", axis}});
}

absl::StatusOr<Value*> ToGatherNd(OneflowWriter& w) {
  if (w.Int("batch_dims") != 0) return CannotExpress("batches of indices");
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontTuples(w));
  return w.Oneflow("gather_nd", {w.in(0), index});
}

absl::StatusOr<Value*> ToDimScatter(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontIndex(w, axis));
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add" && how != "mul") return CannotExpress("reduction ", how);
  return w.Oneflow(how == "none"  ? "dim_scatter_update"
                   : how == "add" ? "dim_scatter_add"
                                  : "dim_scatter_mul",
                   {w.in(0), index, w.in(2)}, {{"dim", axis}});
}

absl::StatusOr<Value*> ToScatterNd(OneflowWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("reduction ", how);
  X2IR_ASSIGN_OR_RETURN(Value * index, FrontTuples(w));
  return w.Oneflow(how == "add" ? "tensor_scatter_nd_add" : "tensor_scatter_nd_update",
                   {w.in(0), w.in(2), index});
}

Value* FromMedian(OneflowArgs& a) {
  return AsTorch(a, "aten::median.default", {{"self", a.in(0)}})[0];
}

Values MedianWithIndices(OneflowArgs& a) {
  return AsTorch(a, "aten::median.dim",
                 {{"self", a.in(0)}, {"dim", int64_t{-1}}, {"keepdim", false}},
                 {a.dtype(), DType::kInt64});
}

Values FromMode(OneflowArgs& a) {
  return AsTorch(a, "aten::mode.default",
                 {{"self", a.in(0)}, {"dim", int64_t{-1}}, {"keepdim", false}},
                 {a.dtype(), DType::kInt64});
}

// Along each axis the places that a slice takes get the elements of the other.
Value* SliceUpdate(OneflowArgs& a) {
  const std::vector<int64_t> start = a.Ints("start"), stop = a.Ints("stop"), step = a.Ints("step");
  const auto dims = a.shape(0) ? a.shape(0)->Static() : std::nullopt;
  a.Require(dims && start.size() == dims->size() && stop.size() == dims->size() &&
                step.size() == dims->size(),
            "bounds of other axes");
  const auto total = CheckedProduct(*dims);
  a.Require(total && *total <= (int64_t{1} << 24), "so large a tensor");
  std::vector<int64_t> places = {0};
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < dims->size(); ++i) {
    a.Require(step[i] > 0 && start[i] >= 0, "steps backwards");
    std::vector<int64_t> next;
    const int64_t end = std::min(stop[i], (*dims)[i]);
    for (const int64_t place : places) {
      for (int64_t k = start[i]; k < end; k += step[i]) next.push_back(place * (*dims)[i] + k);
    }
    places = std::move(next);
  }
  const Expr flat = Reshape(a.in(0), {-1}), updates = Reshape(a.in(1), {-1});
  const Expr put = a.Op("scatter_elements", {flat, a.b().Ints(places), updates}, {{"axis", 0}});
  return Reshape(put, *dims);
}

Value* FromDiag(OneflowArgs& a) {
  return AsTorch(a, "aten::diag.default", {{"self", a.in(0)}, {"diagonal", a.Int("diagonal")}})[0];
}

Value* FromAsStrided(OneflowArgs& a) {
  const std::vector<int64_t> sizes = a.Ints("size"), strides = a.Ints("stride");
  const int64_t offset = a.Int("storage_offset");
  const auto count = CheckedProduct(sizes);
  a.Require(sizes.size() == strides.size() && count && *count <= (int64_t{1} << 24),
            "so large a view");
  std::vector<int64_t> places = {offset};
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t k = 0; k < sizes[i]; ++k) next.push_back(place + k * strides[i]);
    }
    places = std::move(next);
  }
  return Reshape(Gather(Reshape(a.in(0), {-1}), a.b().Ints(places), 0), sizes);
}

}  // namespace

X2IR_ONEFLOW(gather)
    .To("gather", ToGather)
    .From({{"gather", FromGather},
           {"repeat_interleave", RepeatInterleave},
           {"as_strided", FromAsStrided},
           {"diag", FromDiag}});
X2IR_ONEFLOW(gather_nd)
    .To("gather_nd", ToGatherNd)
    .From({{"gather_nd", FromGatherNd}, {"batch_gather", BatchGather}});
X2IR_ONEFLOW(gather_elements).To("dim_gather", ToGatherElements).From("dim_gather", DimGather);
X2IR_ONEFLOW(scatter_elements)
    .To("dim_scatter_update", ToDimScatter)
    .From({{"dim_scatter_update", DimScatter<kPut>},
           {"dim_scatter_add", DimScatter<kAdd>},
           {"dim_scatter_mul", DimScatter<kMultiply>},
           {"dim_scatter_update_scalar", DimScatterScalar<kPut>},
           {"dim_scatter_add_scalar", DimScatterScalar<kAdd>},
           {"dim_scatter_mul_scalar", DimScatterScalar<kMultiply>},
           {"dim_scatter_add_like", DimScatterAddLike},
           {"index_add", IndexAdd},
           {"slice_update", SliceUpdate}});
X2IR_ONEFLOW(scatter_nd)
    .To("tensor_scatter_nd_update", ToScatterNd)
    .From({{"tensor_scatter_nd_update", TensorScatterNdUpdate},
           {"tensor_scatter_nd_add", TensorScatterNdAdd},
           {"scatter_nd", FromScatterNd},
           {"scatter_nd_like", ScatterNdLike},
           {"unsorted_segment_sum", SegmentSum},
           {"unsorted_segment_sum_like", SegmentSumLike}});
X2IR_ONEFLOW(top_k).From({{"median", FromMedian},
                          {"median_with_indices", MedianWithIndices},
                          {"mode", FromMode}});

}  // namespace x2ir
