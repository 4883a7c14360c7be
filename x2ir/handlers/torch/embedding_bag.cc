// embedding_bag: rows of a table, put together bag by bag.
#include <limits>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// The bag of each index: how many bags begin at its place or before it, less one. Empty bags begin
// where the next one does.
Value* BagOf(TorchCall& c, Value* count, Value* offsets) {
  Value* places = c.Op("range", {c.Int64(0), count, c.Int64(1)});
  Value* begun = c.Op("greater_or_equal", {c.Unsqueeze(places, {1}), c.Unsqueeze(offsets, {0})});
  Value* bags =
      c.Op("reduce_sum", {c.Cast(begun, DType::kInt64), c.Int64s({1})}, {{"keepdims", 0}});
  return c.Op("sub", {bags, c.Int64(1)});
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
    offsets = c.Op("slice", {offsets, c.Int64s({0}), c.Int64s({-1}), c.Int64s({0})});
  }
  TorchMath m(c, ComputeTypeFor(weight->dtype()));
  const TorchSize bags = SizeAt(c, offsets, 0), width = SizeAt(c, weight, 1);
  Value* rows = m.In(c.Op("gather", {weight, indices}, {{"axis", 0}}));
  if (scales) rows = m.Mul(rows, c.Unsqueeze(m.In(scales), {1}));
  Value* bag = BagOf(c, ValueOf(c, SizeAt(c, indices, 0)), offsets);
  // Indices that do not count go into a bag of their own, behind the others.
  TorchSize all = bags;
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
    Value* out = c.Op("equal", {indices, c.Int64(*skipped)});
    bag = c.Op("where", {out, ValueOf(c, bags), bag});
    all = bags.number ? TorchSize{*bags.number + 1, nullptr}
                      : TorchSize{std::nullopt, c.Op("add", {bags.value, c.Int64(1)})};
  }
  const auto whole = [&](Value* y) {
    return skipped ? c.Op("slice", {y, c.Int64s({0}), c.Int64s({-1}), c.Int64s({0})}) : y;
  };
  Value* where = c.Op("expand", {c.Unsqueeze(bag, {1}), c.Op("shape", {rows})});
  const auto scattered = [&](double start, const char* how, Value* updates) {
    return c.Op("scatter_elements", {Filled(c, m.type(), {all, width}, start), where, updates},
                {{"axis", 0}, {"reduction", how}});
  };
  Value* y;
  if (mode == 2) {
    const double none = -std::numeric_limits<double>::infinity();
    y = scattered(none, "max", rows);
  } else {
    y = scattered(0, "add", rows);
  }
  if (mode != 0) {
    Value* ones = Filled(c, m.type(), {SizeAt(c, indices, 0), width}, 1);
    Value* counts = scattered(0, "add", ones);
    Value* none = c.Op("equal", {counts, m.N(0)});
    y = mode == 2 ? m.Where(none, m.N(0), y) : m.Div(y, m.Max(counts, m.N(1)));
  }
  return FirstAlone(c, c.Cast(whole(y), weight->dtype()));
}
X2IR_TORCH(gather).Is({"aten::embedding_bag.default", "aten::embedding_bag.padding_idx",
                       "aten::_embedding_bag.default", "aten::_embedding_bag_forward_only.default"},
                      EmbeddingBag);

}  // namespace
}  // namespace x2ir
