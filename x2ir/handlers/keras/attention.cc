// Keras: attention.
#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// What is added to scores that do not count.
double ClosedScore(DType type) { return type == DType::kFloat16 ? -65504.0 : -1e9; }

// Whether a query may look at a key: [queries, keys], the keys up to its own place.
Expr CausalMask(KerasArgs& a, const Expr& query, const Expr& key) {
  const Expr rows = Unsqueeze(Iota(Scalar(a, SizeAt(query, 1))), {1});
  const Expr columns = Unsqueeze(Iota(Scalar(a, SizeAt(key, 1))), {0});
  return columns <= rows;
}

Expr Both(const Expr& x, const Expr& y) { return x.value() ? (y.value() ? x & y : x) : y; }

Expr OpenScores(const Expr& scores, const Expr& mask) {
  if (!mask.value()) return scores;
  return scores + Not(mask).To(scores.dtype()) * ClosedScore(scores.dtype());
}

// --- Attention over whole vectors ----------------------------------------------------------------

struct Queried {
  Expr query, value, key;
  Expr query_mask = nullptr, value_mask = nullptr;
};
Queried TakeQueried(KerasArgs& a) {
  a.Require(a.num_tensors() == 2 || a.num_tensors() == 3, "attention of other than 2 or 3 tensors");
  Queried q = {a.tensor(0), a.tensor(1), a.tensor(a.num_tensors() - 1)};
  q.query_mask = a.mask(0);
  q.value_mask = a.mask(1);
  const std::vector<Expr> masks = a.named("mask");
  if (!masks.empty()) q.query_mask = masks[0];
  if (masks.size() > 1) q.value_mask = masks[1];
  // One of them may be None.
  for (const Expr& mask : a.named("mask[0]")) q.query_mask = mask;
  for (const Expr& mask : a.named("mask[1]")) q.value_mask = mask;
  return q;
}

Values AttendBy(KerasArgs& a, const Queried& q, const Expr& scores) {
  const bool causal = a.Flag("causal", false) || a.Flag(keras::kCausalMask, false);
  a.Ignore(keras::kCausalMask);
  a.Ignore("call.return_attention_scores");
  a.Ignore("dropout");
  Expr mask = q.value_mask.value() ? Unsqueeze(q.value_mask, {1}) : Expr(nullptr);
  if (causal) mask = Both(mask, Unsqueeze(CausalMask(a, q.query, q.value), {0}));
  const Expr weights = OpenScores(scores, mask).Op("softmax", {}, {{"axis", -1}});
  Expr y = MatMul(weights, q.value);
  if (q.query_mask.value()) y = y * Unsqueeze(q.query_mask, {2}).To(y.dtype());
  return {y, weights};
}

// Queries and keys added, each to each: [batch, queries, keys, features].
Expr Pairs(const Queried& q) { return Unsqueeze(q.query, {2}) + Unsqueeze(q.key, {1}); }

Values DotAttention(KerasArgs& a) {
  const Queried q = TakeQueried(a);
  const bool scaled = a.Flag("use_scale", false);
  const std::string mode = a.Text("score_mode", "dot");
  std::vector<std::string> names;
  if (scaled) names.emplace_back("scale");
  if (mode == "concat") names.emplace_back("concat score weight");
  const std::vector<Expr> w = a.Weights(names);
  a.Require(mode == "dot" || mode == "concat", StrCat("score_mode '", mode, "'"));
  if (mode == "dot") {
    const Expr scores = MatMul(q.query, SwapLast(q.key));
    return AttendBy(a, q, scaled ? scores * w[0] : scores);
  }
  Expr sums = Pairs(q);
  if (scaled) sums = w[0] * sums;
  return AttendBy(a, q, w.back() * Sum(sums.Op("tanh"), -1));
}

Values AdditiveAttention(KerasArgs& a) {
  const Queried q = TakeQueried(a);
  const bool scaled = a.Flag("use_scale", true);
  Expr sums = Pairs(q).Op("tanh");
  if (scaled) sums = a.Weights({"scale"})[0] * sums;
  return AttendBy(a, q, Sum(sums, -1));
}

// --- Attention by heads --------------------------------------------------------------------------

// x [batch, steps, features] by a kernel [features, heads, size]: [batch, heads, steps, size].
Expr Projected(KerasArgs& a, const Expr& x, const Expr& kernel, const Expr& bias) {
  const std::vector<Size> sizes = AllSizes(kernel);
  a.Require(sizes.size() == 3, "a kernel that is not of three axes");
  const Expr flat = MatMul(x, ReshapeTo(kernel, {sizes[0], Times(a, sizes[1], sizes[2])}));
  Expr y = ReshapeTo(flat, {SizeAt(x, 0), SizeAt(x, 1), sizes[1], sizes[2]});
  if (bias.value()) y = y + bias;
  return Transpose(y, {0, 2, 1, 3});
}

// Each head so many times over, one after the other.
Expr Repeated(KerasArgs& a, const Expr& x, int64_t times) {
  if (times == 1) return x;
  const std::vector<Value*> copies(static_cast<size_t>(times), x.value());
  const std::vector<Size> sizes = AllSizes(x);
  return ReshapeTo(Stack(a, copies, 2),
                   {sizes[0], Times(a, sizes[1], Size(times)), sizes[2], sizes[3]});
}

// Tensors of more axes than [batch, steps, features], as such: the axes that attention is over are
// the steps, all others belong to the batch.
struct Spread {
  std::vector<int64_t> others, over;  // of a tensor's axes

  std::vector<Size> Of(const Expr& x, const std::vector<int64_t>& axes) const {
    std::vector<Size> sizes;
    for (const int64_t axis : axes) sizes.push_back(SizeAt(x, axis));
    return sizes;
  }
  std::vector<int64_t> Order() const {
    std::vector<int64_t> order = {0};
    order.insert(order.end(), others.begin(), others.end());
    order.insert(order.end(), over.begin(), over.end());
    order.push_back(static_cast<int64_t>(order.size()));
    return order;
  }
  Expr Flat(KerasArgs& a, const Expr& x) const {
    std::vector<Size> batch = Of(x, others);
    batch.insert(batch.begin(), SizeAt(x, 0));
    return ReshapeTo(Transpose(x, Order()),
                     {Product(a, batch), Product(a, Of(x, over)), SizeAt(x, x.rank() - 1)});
  }
  Expr Back(const Expr& y, const Expr& query) const {
    std::vector<Size> sizes = {SizeAt(query, 0)};
    for (const auto* axes : {&others, &over}) {
      for (const Size& size : Of(query, *axes)) sizes.push_back(size);
    }
    sizes.push_back(SizeAt(y, 2));
    const std::vector<int64_t> order = Order();
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    }
    return Transpose(ReshapeTo(y, sizes), back);
  }
  // [batch.., heads, queries.., keys..]
  Expr Scores(const Expr& weights, const Expr& query, const Expr& key) const {
    std::vector<Size> sizes = {SizeAt(query, 0)};
    for (const Size& size : Of(query, others)) sizes.push_back(size);
    sizes.push_back(SizeAt(weights, 1));
    for (const Expr* x : {&query, &key}) {
      for (const Size& size : Of(*x, over)) sizes.push_back(size);
    }
    return ReshapeTo(weights, sizes);
  }
};
Spread SpreadOf(KerasArgs& a, std::vector<int64_t> over, int64_t rank) {
  Spread spread;
  if (over.empty()) over = CountedFrom(1, rank - 2);
  spread.over = a.Axes(over, rank);
  for (int64_t i = 1; i + 1 < rank; ++i) {
    if (std::ranges::find(spread.over, i) == spread.over.end()) spread.others.push_back(i);
  }
  if (spread.others.size() + spread.over.size() != static_cast<size_t>(rank - 2)) {
    a.Fail(Invalid("attention_axes"));
  }
  return spread;
}

// Keys and values have as many heads as queries, or each serves `repeats` of these. `over`: the
// axes; none: all but the first and the last.
Values AttentionByHeads(KerasArgs& a, int64_t head_size, int64_t repeats,
                        const std::vector<int64_t>& over = {}) {
  const bool biased = a.Flag("use_bias", true);
  const bool causal = a.Flag(keras::kCausalMask, false);
  for (const char* name : {"flash_attention", "dropout", "call.return_attention_scores"}) {
    a.Ignore(name);
  }
  std::vector<std::string> names;
  for (const char* part : {"query", "key", "value", "output"}) {
    names.push_back(StrCat(part, " kernel"));
    if (biased) names.push_back(StrCat(part, " bias"));
  }
  const std::vector<Expr> w = a.Weights(names);
  const auto kernel = [&](size_t i) { return w[biased ? 2 * i : i]; };
  const auto bias = [&](size_t i) { return biased ? w[2 * i + 1] : Expr(nullptr); };
  std::vector<Expr> given = a.tensors();
  for (const char* name : {"query", "value", "key"}) {
    for (const Expr& x : a.named(name)) given.push_back(x);
  }
  a.Require(given.size() >= 1 && given.size() <= 4, "attention of this many tensors");
  Expr query = given[0], value = given.size() > 1 ? given[1] : query;
  Expr key = given.size() > 2 ? given[2] : value;
  const Expr own_query = query, own_key = key;
  const int64_t rank = a.RankOf(query);
  a.Require(rank >= 3 && a.RankOf(value) == rank && a.RankOf(key) == rank,
            "attention of tensors of different ranks");
  const Spread spread = SpreadOf(a, over, rank);
  // Masks that it is given go before those of its tensors.
  static constexpr const char* kMasks[] = {"query_mask", "value_mask", "key_mask"};
  std::vector<Expr> masks;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<Expr> named = a.named(kMasks[i]);
    masks.push_back(named.empty() ? a.mask(i) : named[0]);
  }
  const bool any_mask =
      std::ranges::any_of(masks, [](const Expr& m) { return m.value() != nullptr; });
  if (rank > 3) {
    const bool masked =
        any_mask || causal || given.size() > 3 || !a.named("attention_mask").empty();
    a.Require(!masked, "masks of attention over several axes");
    query = spread.Flat(a, query);
    value = spread.Flat(a, value);
    key = spread.Flat(a, key);
  }
  // What counts: [batch, queries, keys].
  Expr mask = nullptr;
  if (masks[0].value()) mask = Unsqueeze(masks[0], {2});
  for (size_t i = 1; i < 3; ++i) {
    if (masks[i].value()) mask = Both(mask, Unsqueeze(masks[i], {1}));
  }
  if (causal) mask = Both(mask, Unsqueeze(CausalMask(a, query, value), {0}));
  std::vector<Expr> own = a.named("attention_mask");
  if (own.empty() && given.size() == 4) own = {given[3]};
  if (!own.empty()) mask = Both(mask, IsTrue(own[0]));
  if (mask.value() && a.RankOf(mask) == 3) mask = Unsqueeze(mask, {1});

  const Expr q =
      Projected(a, query, kernel(0), bias(0)) * (1.0 / std::sqrt(static_cast<double>(head_size)));
  const Expr k = Repeated(a, Projected(a, key, kernel(1), bias(1)), repeats);
  const Expr v = Repeated(a, Projected(a, value, kernel(2), bias(2)), repeats);
  const Expr weights = OpenScores(MatMul(q, SwapLast(k)), mask).Op("softmax", {}, {{"axis", -1}});
  // [batch, heads, steps, size] by [heads, size, out].
  const Expr heads = Transpose(MatMul(weights, v), {0, 2, 1, 3});
  const std::vector<Size> sizes = AllSizes(kernel(3));
  a.Require(sizes.size() == 3, "an output kernel that is not of three axes");
  const Size width = Times(a, sizes[0], sizes[1]);
  Expr y = MatMul(ReshapeTo(heads, {SizeAt(heads, 0), SizeAt(heads, 1), width}),
                  ReshapeTo(kernel(3), {width, sizes[2]}));
  if (biased) y = y + bias(3);
  if (rank == 3) return {y, weights};
  return {spread.Back(y, own_query), spread.Scores(weights, own_query, own_key)};
}

Values MultiHeadAttention(KerasArgs& a) {
  for (const char* name :
       {"num_heads", "value_dim", "output_shape", "query_shape", "key_shape", "value_shape"}) {
    a.Ignore(name);
  }
  return AttentionByHeads(a, a.Integer("key_dim", 1), 1, a.Integers("attention_axes"));
}
Values GroupedQueryAttention(KerasArgs& a) {
  const int64_t size = a.Integer("head_dim", 1), heads = a.Integer("num_query_heads", 1),
                shared = a.Integer("num_key_value_heads", 1);
  if (size < 1 || shared < 1 || heads % shared != 0 || heads / shared > 4096) {
    a.Fail(Invalid(heads, " heads of queries for ", shared, " of keys"));
  }
  return AttentionByHeads(a, size, heads / shared);
}

}  // namespace

X2IR_KERAS(attention)
    .From({{"AdditiveAttention", AdditiveAttention}, {"Attention", DotAttention}})
    .From({"GroupedQueryAttention", "GroupQueryAttention"}, GroupedQueryAttention)
    .From("MultiHeadAttention", MultiHeadAttention);

}  // namespace x2ir
