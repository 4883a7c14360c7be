// Keras: function_indexing.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

Sorted SortedBy(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const std::string direction = c.Text("direction", "ASCENDING");
  if (direction != "ASCENDING" && direction != "DESCENDING") {
    c.Fail(Invalid("direction '", direction, "'"));
  }
  return Sort(x, c.AxisOf(c.Integer("axis", -1), x.rank()), direction == "DESCENDING");
}

// Equal elements keep their order.
Value* FunctionArgsort(KerasCall& c) {
  c.Flag("stable");
  return SortedBy(c).indices.To(DType::kInt32);
}

Value* FunctionSort(KerasCall& c) { return SortedBy(c).values; }

Value* FunctionGather(KerasCall& c) {
  c.Arg("validate_indices");
  const Expr x = c.Tensor("params"), index = c.Tensor("indices");
  const int64_t batch = c.Integer("batch_dims", 0), axis = c.Integer("axis", batch);
  return c.AsTf("GatherV2", {x, index, Int(c, axis)}, {{"batch_dims", batch}});
}

Value* FunctionGatherNd(KerasCall& c) {
  const Expr x = c.Tensor("params"), index = c.Tensor("indices").To(DType::kInt64);
  return x.Op("gather_nd", {index}, {{"batch_dims", c.Integer("batch_dims", 0)}});
}

// Of one table, or of the only one of a list.
Value* FunctionEmbeddingLookup(KerasCall& c) {
  c.Arg("partition_strategy");
  c.Arg("validate_indices");
  return Gather(c.Tensor("params"), c.Tensor("ids").To(DType::kInt64), 0);
}

// Keras 3: indices count from the end where they are negative; of all elements without an axis.
Value* FunctionTake(KerasCall& c) {
  const Expr x = c.Tensor("x"), index = c.Tensor("indices").To(DType::kInt64);
  if (!c.Given("axis")) return Gather(Flat(x), index, 0);
  return Gather(x, index, c.AxisOf(c.Integer("axis", 0), x.rank()));
}

Value* FunctionTakeAlong(KerasCall& c) {
  const Expr x = c.Tensor("x"), index = c.Tensor("indices").To(DType::kInt64);
  if (!c.Given("axis")) return GatherElements(Flat(x), Flat(index), 0);
  const int64_t rank = x.rank(), axis = c.AxisOf(c.Integer("axis", 0), rank);
  if (index.rank() != rank) c.Fail(Invalid("indices of rank ", index.rank()));
  bool same = true;
  for (int64_t i = 0; i < rank; ++i) {
    same = same && (i == axis || ProvablyEqual(DimAt(x, i), DimAt(index, i)));
  }
  if (same) return GatherElements(x, index, axis);
  // All other sizes broadcast.
  std::vector<Size> of_x = AllSizes(x), of_index = AllSizes(index);
  of_x[static_cast<size_t>(axis)] = of_index[static_cast<size_t>(axis)] = Size(1);
  return GatherElements(Expand(x, Vector(c, of_index)), Expand(index, Vector(c, of_x)), axis);
}

// The elements whose mask is true; the mask is of the axes from `axis` on.
Value* FunctionBooleanMask(KerasCall& c) {
  const Expr x = c.Tensor("x"), mask = c.Tensor("mask");
  if (mask.dtype() != DType::kBool) c.Fail(Invalid("a mask of ", Name(mask.dtype())));
  const int64_t rank = x.rank(), of_mask = mask.rank();
  const int64_t axis = c.AxisOf(c.Integer("axis", 0), rank);
  if (of_mask < 1 || axis + of_mask > rank) c.Fail(Invalid("a mask of rank ", of_mask));
  std::vector<Size> sizes = SizesAt(x, 0, axis);
  sizes.emplace_back(-1);
  for (const Size& size : SizesAt(x, axis + of_mask, rank)) sizes.push_back(size);
  const Expr rows = of_mask == 1 ? x : ReshapeTo(x, sizes);
  return rows.Op("compress", {Flat(mask)}, {{"axis", axis}});
}

// Each element several times; without an axis those of all.
Value* FunctionRepeat(KerasCall& c) {
  Expr x = c.Tensor("x");
  const auto count = c.Integers("repeats");
  if (!count) c.Fail(Invalid("it does not say how often"));
  const bool flat = !c.Given("axis");
  if (flat) x = Flat(x);
  const int64_t axis = flat ? 0 : c.AxisOf(c.Integer("axis", 0), x.rank());
  if (count->size() != 1) {
    std::vector<int64_t> places;
    for (size_t i = 0; i < count->size(); ++i) {
      const int64_t times = (*count)[i];
      if (times < 0 || times > (1 << 24)) c.Fail(Invalid(times, " times"));
      if (places.size() + static_cast<size_t>(times) > (1 << 24)) c.Fail(Invalid("too many"));
      places.insert(places.end(), static_cast<size_t>(times), static_cast<int64_t>(i));
    }
    return Gather(x, Ints(c, places), axis);
  }
  if ((*count)[0] < 0) c.Fail(Invalid((*count)[0], " times"));
  // [.., n, ..] as [.., n, times, ..].
  std::vector<Size> sizes = AllSizes(x), wide = sizes;
  wide.insert(wide.begin() + static_cast<ptrdiff_t>(axis) + 1, Size((*count)[0]));
  sizes[static_cast<size_t>(axis)] = Times(c, sizes[static_cast<size_t>(axis)], (*count)[0]);
  return ReshapeTo(Expand(Unsqueeze(x, {axis + 1}), Vector(c, wide)), sizes);
}

}  // namespace

X2IR_KERAS_FUNCTION(top_k)
    .From("tf.sort ops.Sort", "x|values axis direction", FunctionSort)
    .From("tf.argsort ops.Argsort", "x|values axis direction stable", FunctionArgsort);
X2IR_KERAS_FUNCTION(gather)
    .From("tf.gather tf.compat.v1.gather", "params indices validate_indices axis batch_dims",
          FunctionGather)
    .From("tf.nn.embedding_lookup tf.compat.v1.nn.embedding_lookup",
          "params ids partition_strategy validate_indices max_norm", FunctionEmbeddingLookup)
    .From("ops.Take", "x indices axis", FunctionTake)
    .From("tf.repeat ops.Repeat", "x|input repeats axis", FunctionRepeat);
X2IR_KERAS_FUNCTION(gather_nd).From("tf.gather_nd tf.compat.v1.gather_nd",
                                    "params indices batch_dims", FunctionGatherNd);
X2IR_KERAS_FUNCTION(gather_elements).From("ops.TakeAlongAxis", "x indices axis", FunctionTakeAlong);
X2IR_KERAS_FUNCTION(compress).From("tf.boolean_mask tf.compat.v1.boolean_mask",
                                   "x|tensor mask axis", FunctionBooleanMask);

}  // namespace x2ir
