// ncnn: attention.
#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/ncnn/windows_internal.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// The product of x [..., rows, in] and y [..., in, columns]: of floats, or of both in steps, each
// row of x and each matrix y in its own.
Expr AttentionProduct(const Expr& x, const Expr& y, bool quantized) {
  if (!quantized) return MatMul(x, y);
  const int64_t rank = x.rank();
  const NcnnSteps rows = NcnnQuantizedOver(x, {rank - 1}),
                  other = NcnnQuantizedOver(y, {y.rank() - 2, y.rank() - 1});
  return MatMul(rows.steps, other.steps) / (rows.scale * other.scale);
}

// Of queries [1, heads, rows, each], keys [1, heads, each, all] and values [1, heads, all, each]. A
// mask is added, for all heads or each.
Expr Attended(const Expr& queries, const Expr& keys, const Expr& values, const Expr& mask,
              bool quantized) {
  Expr scores = AttentionProduct(queries, keys, quantized);
  if (mask.value()) scores = scores + (mask.rank() == 3 ? Unsqueeze(mask, {1}) : mask);
  return AttentionProduct(scores.Op("softmax", {}, {{"axis", -1}}), values, quantized);
}

// Operands: queries; keys (default: the queries); values (default: the keys); a mask; keys
// and values of the steps before, [1, numbers, steps], and so are results 1 and 2. If the keys are
// other rows than the queries, keys and values of the steps before replace the operands.
absl::StatusOr<Values> MultiHeadAttention(NcnnArgs& a) {
  const int64_t embed = a.Int(0, 0), heads = a.Int(1, 1), of_keys = a.Int(3, embed),
                of_values = a.Int(4, embed), bits = a.Int(18, 0);
  a.Drop({2});
  const bool masked = a.Flag(5, false), cached = a.Flag(7, false), quantized = bits != 0;
  a.Require(bits < 400, "weights in blocks of few bits");
  if (embed < 1 || heads < 1 || embed % heads != 0 || of_keys < 1 || of_values < 1) {
    return Invalid(embed, " numbers for ", heads, " heads");
  }
  const int64_t each = embed / heads;
  const double scale = a.Float(6, 1 / std::sqrt(static_cast<double>(each)));
  const size_t more = (masked ? 1 : 0) + (cached ? 2 : 0),
               n = a.num_bottoms() - std::min(more, a.num_bottoms());
  if (n < 1 || n > 3 || a.RankOf() != 3) return Invalid("attention of ", n, " operands");
  const Expr q = a.in(0), k = n > 1 ? a.in(1) : q, v = n > 2 ? a.in(2) : k;
  const Expr mask = masked ? a.in(n) : nullptr;
  const auto affine = [&](const Expr& x, size_t at, int64_t inner) {
    const Expr w = SwapLast(Reshape(a.weights(at), {embed, inner}));
    if (!quantized) return MatMul(x, w) + a.weights(at + 1);
    const NcnnSteps rows = NcnnQuantizedOver(x, {1, 2});
    return MatMul(rows.steps, w) / (rows.scale * a.weights(8 + at / 2)) + a.weights(at + 1);
  };
  // [1, rows, numbers] by heads.
  const auto apart = [&](const Expr& x) {
    return Transpose(ReshapeTo(x, {Size(1), Size(-1), Size(heads), Size(each)}), {0, 2, 1, 3});
  };
  // Keys or values [1, steps, numbers], with those of before.
  const auto with_past = [&](const Expr& x, size_t at, int64_t inner,
                             size_t i) -> absl::StatusOr<Expr> {
    if (!cached) return affine(x, at, inner);
    const Expr past = Transpose(a.in(n + (masked ? 1 : 0) + i), {0, 2, 1});
    if (n == 1) return Concat(a, {past, affine(x, at, inner)}, 1);
    const Dim steps = DimAt(past, 1);
    a.Require(steps.is_static(), "steps of before, known or not, in place of other rows");
    return steps == Dim(0) ? affine(x, at, inner) : past;
  };
  const Expr whole = Reshape(a.weights(0), {embed, -1});
  const Dim inner = DimAt(whole, 1);
  a.Require(inner.is_static(), "weights of unknown size");
  const Expr queries = apart(Scaled(affine(q, 0, inner.value()), scale));
  X2IR_ASSIGN_OR_RETURN(const Expr keys, with_past(k, 2, of_keys, 0));
  // Values are other rows than queries only where a third operand, or keys, are.
  X2IR_ASSIGN_OR_RETURN(const Expr values, with_past(v, 4, of_values, 1));
  const Expr joined =
      ReshapeTo(Transpose(Attended(queries, SwapLast(apart(keys)), apart(values), mask, quantized),
                          {0, 2, 1, 3}),
                {Size(1), SizeAt(q, 1), Size(embed)});
  const Expr out = SwapLast(Reshape(a.weights(6), {-1, embed}));
  Expr y = nullptr;
  if (quantized) {
    const NcnnSteps rows = NcnnQuantizedOver(joined, {2});
    y = MatMul(rows.steps, out) / (rows.scale * a.weights(11)) + a.weights(7);
  } else {
    y = MatMul(joined, out) + a.weights(7);
  }
  Values results = {y};
  if (a.num_outputs() > 1) results.push_back(SwapLast(keys));
  if (a.num_outputs() > 2) results.push_back(SwapLast(values));
  return results;
}

// Operands: queries [1, heads, rows, each], keys and values [1, groups, steps, each], a mask, keys
// and values of before; results 1 and 2 are both together. Each group serves as many heads.
absl::StatusOr<Values> Sdpa(NcnnArgs& a) {
  const bool masked = a.Flag(5, false), cached = a.Flag(7, false), quantized = a.Int(18, 0) != 0;
  double scale = a.Float(6, 0);
  if (a.num_bottoms() != 3u + (masked ? 1 : 0) + (cached ? 2 : 0) || a.RankOf() != 4) {
    return Invalid("attention of ", a.num_bottoms(), " operands");
  }
  const Expr q = a.in(0);
  const auto with_past = [&](size_t i) {
    if (!cached) return a.in(i);
    return Concat(a, {a.in(i + (masked ? 3 : 2)), a.in(i)}, 2);
  };
  const Expr keys = with_past(1), values = with_past(2);
  const Dim heads = DimAt(q, 1), groups = DimAt(keys, 1), each = DimAt(q, 3);
  a.Require(heads.is_static() && groups.is_static() && each.is_static(), "heads of unknown size");
  if (groups.value() < 1 || each.value() < 1 || heads.value() % groups.value() != 0) {
    return Invalid(heads.value(), " heads in ", groups.value(), " groups");
  }
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(each.value()));
  const int64_t times = heads.value() / groups.value();
  const auto of_heads = [&](const Expr& x) {
    if (times == 1) return x;
    const Expr alike = Unsqueeze(x, {2}).Op("tile", {a.b().Ints({1, 1, times, 1, 1})});
    return ReshapeTo(alike, {Size(1), Size(heads.value()), SizeAt(x, 2), SizeAt(x, 3)});
  };
  // The scale is of what the product of steps gives, which is the same as of the queries.
  const Expr y = Attended(q * scale, SwapLast(of_heads(keys)), of_heads(values),
                          masked ? a.in(3) : nullptr, quantized);
  Values results = {y};
  if (a.num_outputs() > 1) results.push_back(keys);
  if (a.num_outputs() > 2) results.push_back(values);
  return results;
}

// Pairs of numbers of each row, adjacent or a half apart, rotated by angles [1, rows, half]. Of
// twice as many angles the second half is for the second numbers.
absl::StatusOr<Value*> RotaryEmbed(NcnnArgs& a) {
  const bool side_by_side = a.Flag(0, false);
  const Expr x = a.in(0);
  const int64_t rank = a.RankOf();
  const Dim width = DimAt(x, rank - 1), angles = DimAt(a.in(1), a.RankOf(1) - 1);
  a.Require(width.is_static() && angles.is_static() && rank == 4 && a.RankOf(1) == 3,
            "rows of unknown size");
  const int64_t half = width.value() / 2;
  if (2 * half != width.value() || (angles != Dim(half) && angles != width)) {
    return Invalid("angles of another size than rows");
  }
  const auto turned = [&](const Expr& first, const Expr& second, int64_t axis) {
    const auto angle = [&](size_t i, bool second_half) {
      const int64_t from = second_half && angles == width && !side_by_side ? half : 0;
      return Unsqueeze(Slice(a.in(i), 2, Size(from), Size(from + half)), {1});
    };
    const Expr y = first * angle(1, false) - second * angle(2, false),
               z = first * angle(2, true) + second * angle(1, true);
    return axis < 0 ? Concat(a, {y, z}, 3) : Stack(a, {y, z}, axis);
  };
  if (!side_by_side) {
    return turned(Slice(x, 3, Size(0), Size(half)), Slice(x, 3, Size(half), Size(2 * half)), -1)
        .value();
  }
  const std::vector<Size> sizes = AllSizes(x);
  const Expr pairs = ReshapeTo(x, {sizes[0], sizes[1], sizes[2], Size(half), Size(2)});
  const auto one = [&](int64_t i) { return Squeeze(Slice(pairs, 4, Size(i), Size(i + 1)), {4}); };
  return ReshapeTo(turned(one(0), one(1), 4), sizes).value();
}

}  // namespace

X2IR_NCNN(attention).From({{"MultiHeadAttention", MultiHeadAttention}, {"SDPA", Sdpa}});
X2IR_NCNN(rotary_embedding).From("RotaryEmbed", RotaryEmbed);

}  // namespace x2ir
