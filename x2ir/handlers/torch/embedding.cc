// Rows of a table: embedding, and embedding_bag, which puts them together bag by bag.
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

Values Embedding(TorchCall& c) {
  c.Ignore({"padding_idx", "scale_grad_by_freq", "sparse"});  // of training
  return {c.Op("gather", {c.Tensor("weight"), c.Tensor("indices")}, {{"axis", 0}})};
}

// Rows that the indices name are made no longer than max_norm.
Values EmbeddingRenorm(TorchCall& c) {
  Value *self = c.Tensor("self"), *indices = c.Tensor("indices");
  const DType t = self->dtype(), computed = AtLeastFloat32(t);
  const double most = c.Float("max_norm"), p = c.Float("norm_type");
  Value* x = c.Cast(self, computed);
  Value* rows = Unsqueeze(Iota(SizeOf({c, x}, 0)), {1});
  Value* used = Any(c.Op("equal", {rows, Flat(c.Cast(indices, DType::kInt64))}), {1}, true);
  Value* norm = VectorNorm({c, x}, p, {1}, true);
  Value* limit = c.Constant(computed, most);
  Value* factor = c.Op("div", {limit, c.Op("add", {norm, c.Constant(computed, 1e-7)})});
  Value* changed = c.Op("and", {used, c.Op("greater", {norm, limit})});
  return {c.Cast(Select({c, changed}, c.Op("mul", {x, factor}), {c, x}), t)};
}
X2IR_TORCH(gather).From("aten::embedding.default", Embedding);
X2IR_TORCH(where).From("aten::embedding_renorm.default", EmbeddingRenorm);

// The bag of each index: how many bags begin at its place or before it, less one. Empty bags begin
// where the next one does.
Value* BagOf(TorchCall& c, Value* count, Value* offsets) {
  Value* places = c.Op("range", {Int(c, 0), count, Int(c, 1)});
  Value* begun =
      c.Op("greater_or_equal", {Unsqueeze({c, places}, {1}), Unsqueeze({c, offsets}, {0})});
  Value* bags = c.Op("reduce_sum", {c.Cast(begun, DType::kInt64), Ints(c, {1})}, {{"keepdims", 0}});
  return c.Op("sub", {bags, Int(c, 1)});
}

Values EmbeddingBag(TorchCall& c) {
  Value* weight = c.Tensor("weight");
  Value* indices = c.Cast(c.Tensor("indices"), DType::kInt64);
  Value* offsets = c.Cast(c.Tensor("offsets"), DType::kInt64);
  Value* scales = c.OptTensor("per_sample_weights");
  c.Ignore({"scale_grad_by_freq", "sparse"});
  const int64_t mode = c.Int("mode", 0);
  const bool last = c.Bool("include_last_offset", false);
  const std::optional<int64_t> padding = c.OptInt("padding_idx");
  RequireFloat(c, weight);
  if (mode < 0 || mode > 2) return c.Fail(Invalid("mode: expected 0 to 2, got ", mode));
  if (c.Rank(indices) != 1 || c.Rank(offsets) != 1 || c.Rank(weight) != 2) {
    return c.Fail(Unimplemented("indices and offsets that are not of rank 1"));
  }
  if (scales && mode != 0) return c.Fail(Invalid("per_sample_weights with mean or max"));
  // The last offset is the number of indices, and no bag.
  if (last) {
    offsets = Slice({c, offsets}, 0, 0, -1);
  }
  const DType t = AtLeastFloat32(weight->dtype());
  const Size bags = SizeAt({c, offsets}, 0), width = SizeAt({c, weight}, 1);
  Expr rows = Gather({c, weight}, indices, 0).To(t);
  if (scales) rows = rows * Unsqueeze(c.Cast(scales, t), {1});
  Value* bag = BagOf(c, Scalar(c, SizeAt({c, indices}, 0)), offsets);
  // Indices that do not count go into a bag of their own, after the others.
  Size all = bags;
  // -1 is how the form without the overload says that there is none; here it counts from the end.
  std::optional<int64_t> skipped = padding;
  if (skipped && c.node().op().view() != "aten::embedding_bag.padding_idx") {
    if (*skipped < 0) skipped.reset();
  } else if (skipped && *skipped < 0) {
    const auto known = KnownSizes(weight, 0, 1);
    if (!known) return c.Fail(Unimplemented("a table of unknown size"));
    *skipped += (*known)[0];
  }
  if (skipped) {
    Value* out = c.Op("equal", {indices, Int(c, *skipped)});
    bag = c.Op("where", {out, Scalar(c, bags), bag});
    all = Plus(c, bags, 1);
  }
  const auto whole = [&](const Expr& y) { return skipped ? Slice(y, 0, 0, -1) : y; };
  Value* where = c.Op("expand", {Unsqueeze({c, bag}, {1}), c.Op("shape", {rows})});
  const auto scattered = [&](double start, const char* how, Value* updates) {
    return c.Op("scatter_elements", {Filled(c, t, {all, width}, start), where, updates},
                {{"axis", 0}, {"reduction", how}});
  };
  Expr y = mode == 2 ? scattered(-std::numeric_limits<double>::infinity(), "max", rows)
                     : scattered(0, "add", rows);
  if (mode != 0) {
    const Expr ones = Filled(c, t, {SizeAt({c, indices}, 0), width}, 1);
    const Expr counts = scattered(0, "add", ones);
    const Expr none = counts == 0;
    y = mode == 2 ? Where(none, 0, y) : y / Max(counts, 1);
  }
  return FirstAlone(c, c.Cast(whole(y), weight->dtype()));
}
X2IR_TORCH(gather).From({"aten::embedding_bag.default", "aten::embedding_bag.padding_idx",
                         "aten::_embedding_bag.default",
                         "aten::_embedding_bag_forward_only.default"},
                        EmbeddingBag);

}  // namespace
}  // namespace x2ir
