// StableHLO, written: elements picked and put at indices.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/stablehlo/write_regions.h"

namespace x2ir {
namespace {

using Numbers = std::vector<int64_t>;

// Indices of an axis, none of which counts from the end.
Value* FromFront(StablehloWriter& w, size_t operand, int64_t axis) {
  Value* index = w.in(operand);
  if (w.CountsFromTheFront(*index)) return w.Cast(index, DType::kInt64);
  return w.FromTheFront(index, SizeOf(X(w), axis));
}

// A gather of slices that have all of each axis, except that they have one element of the axes that
// indices are of, which they lose.
absl::StatusOr<Value*> GatherHlo(StablehloWriter& w, Value* x, Value* indices, Numbers offset_dims,
                                 const Numbers& index_map, const Numbers& batching,
                                 const Numbers& indices_batching) {
  Numbers slice;
  std::vector<Size> sizes;
  for (int64_t i = 0; i < x->shape()->rank(); ++i) {
    const auto is_in = [&](const Numbers& axes) {
      return std::find(axes.begin(), axes.end(), i) != axes.end();
    };
    const bool is_one = is_in(index_map) || is_in(batching);
    sizes.push_back(is_one ? Size(1) : SizeAt({w, x}, i));
    if (sizes.back().number) slice.push_back(*sizes.back().number);
  }
  AttributeMap attrs{{"offset_dims", std::move(offset_dims)},
                     {"collapsed_slice_dims", index_map},
                     {"operand_batching_dims", batching},
                     {"start_indices_batching_dims", indices_batching},
                     {"start_index_map", index_map},
                     {"index_vector_dim", indices->shape()->rank() - 1},
                     {"indices_are_sorted", 0}};
  if (slice.size() < sizes.size()) {
    return w.Hlo("dynamic_gather", {x, indices, Vector(w, sizes)}, std::move(attrs));
  }
  attrs.Set("slice_sizes", slice);
  return w.Hlo("gather", {x, indices}, std::move(attrs));
}

absl::StatusOr<Value*> ToGather(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t index_rank, w.Rank(1));
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = w.Op("unsqueeze", {FromFront(w, 1, axis), w.Ints({index_rank})});
  Numbers offset = CountedFrom(0, axis);
  for (int64_t i = axis + 1; i < rank; ++i) offset.push_back(i - 1 + index_rank);
  return GatherHlo(w, w.in(0), index, std::move(offset), {axis}, {}, {});
}

// x without what lies beyond the sizes of the indices, along all axes but one: then the other axes
// go together. nullptr where sizes are not known.
Value* CutTo(StablehloWriter& w, const Shape& sizes, int64_t axis) {
  Expr x = X(w);
  for (int64_t i = 0; i < sizes.rank(); ++i) {
    if (i == axis || ProvablyEqual(sizes[i], (*x->shape())[i])) continue;
    if (!sizes[i].is_static()) return nullptr;
    x = Slice(x, i, 0, sizes[i].value());
  }
  return x;
}

Numbers AllBut(int64_t rank, int64_t axis) {
  Numbers axes = CountedFrom(0, rank);
  axes.erase(axes.begin() + axis);
  return axes;
}

absl::StatusOr<Value*> ToGatherElements(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_RETURN_IF_ERROR(w.Rank(1).status());
  Value* x = CutTo(w, *w.shape(1), axis);
  if (!x) return CannotExpress("indices of unknown sizes");
  Value* index = w.Op("unsqueeze", {FromFront(w, 1, axis), w.Ints({rank})});
  return GatherHlo(w, x, index, {}, {axis}, AllBut(rank, axis), AllBut(rank, axis));
}

absl::StatusOr<Value*> ToGatherNd(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t index_rank, w.Rank(1));
  const int64_t batch = w.Int("batch_dims");
  const Dim count = (*w.shape(1))[index_rank - 1];
  if (!count.is_static()) return CannotExpress("indices of an unknown number of components");
  const int64_t components = count.value();
  Value* index = w.Cast(w.in(1), DType::kInt64);
  if (!w.CountsFromTheFront(*w.in(1))) {
    index = w.FromTheFront(w.in(1), ShapeOf(X(w), batch, batch + components));
  }
  const Numbers batches = CountedFrom(0, batch);
  const int64_t rest = rank - batch - components;
  return GatherHlo(w, w.in(0), index, CountedFrom(index_rank - 1, rest),
                   CountedFrom(batch, components), batches, batches);
}

// --- Scatters
// -------------------------------------------------------------------------------------

std::string_view BodyFor(const std::string& reduction) {
  if (reduction == "add") return "add";
  if (reduction == "mul") return "multiply";
  if (reduction == "max") return "maximum";
  return reduction == "min" ? "minimum" : "second";
}

absl::StatusOr<Value*> ScatterHlo(StablehloWriter& w, Value* indices, Numbers window_dims,
                                  const Numbers& index_map, const Numbers& batching) {
  X2IR_ASSIGN_OR_RETURN(auto body, BodyOf(BodyFor(w.String("reduction")), w.dtype()));
  return w.Hlo("scatter", {w.in(0), indices, w.in(2)},
               {{"update_window_dims", std::move(window_dims)},
                {"inserted_window_dims", index_map},
                {"input_batching_dims", batching},
                {"scatter_indices_batching_dims", batching},
                {"scatter_dims_to_operand_dims", index_map},
                {"index_vector_dim", indices->shape()->rank() - 1},
                {"indices_are_sorted", 0},
                {"unique_indices", 0},
                {"update_computation", body}});
}

absl::StatusOr<Value*> ToScatterNd(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t index_rank, w.Rank(1));
  const Dim count = (*w.shape(1))[index_rank - 1];
  if (!count.is_static()) return CannotExpress("indices of an unknown number of components");
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  const int64_t components = count.value();
  return ScatterHlo(w, tuples, CountedFrom(index_rank - 1, rank - components),
                    CountedFrom(0, components), {});
}

absl::StatusOr<Value*> ToScatterElements(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_RETURN_IF_ERROR(w.Rank(1).status());
  bool together = true;
  for (int64_t i = 0; i < rank; ++i) {
    together = together && (i == axis || ProvablyEqual((*w.shape(0))[i], (*w.shape(1))[i]));
  }
  if (!together) return ScatterElementsByTuples(w);
  Value* index = w.Op("unsqueeze", {FromFront(w, 1, axis), w.Ints({rank})});
  return ScatterHlo(w, index, {}, {axis}, AllBut(rank, axis));
}

}  // namespace

X2IR_STABLEHLO(gather).To("gather", ToGather);
X2IR_STABLEHLO(gather_elements).To("gather", ToGatherElements);
X2IR_STABLEHLO(gather_nd).To("gather", ToGatherNd);
X2IR_STABLEHLO(scatter_nd).To("scatter", ToScatterNd);
X2IR_STABLEHLO(scatter_elements).To("scatter", ToScatterElements);

}  // namespace x2ir
