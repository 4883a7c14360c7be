// ncnn: recurrent layers over the rows of a blob, and attention between rows.
#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/loop.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// One bias for each gate; of a GRU, another one for the candidate's product with the state.
int64_t GatesOf(const RecurrentCell& cell) { return static_cast<int64_t>(cell.gates.size()); }
int64_t BiasesOf(const RecurrentCell& cell) {
  return GatesOf(cell) + (cell.linear_before_reset ? 1 : 0);
}

// The product of rows [n, in] with weights [out, in]: of floats, or of both in steps.
Expr Product(const Expr& x, const Expr& weights, const Expr& scales) {
  if (!scales.value()) return MatMul(x, SwapLast(weights));
  const NcnnSteps rows = NcnnQuantizedOver(x, {1});
  return MatMul(rows.steps, SwapLast(weights)) / (rows.scale * scales);
}
struct StepWeights {
  Expr x = nullptr, h = nullptr;                                // [gates * hidden, in]
  Expr projection = nullptr;                                    // [out, hidden]
  Expr bias = nullptr, x_scales = nullptr, h_scales = nullptr;  // [1, ...]
  int64_t hidden = 0;
};
// The states after a step, the first one is its result. x: the gates' part of the operand, biases
// among it.
std::vector<Expr> StepOf(const RecurrentCell& cell, const StepWeights& w, const Expr& x,
                         const std::vector<Expr>& before) {
  const Expr h = Product(before[0], w.h, w.h_scales);
  if (cell.op == "rnn") return {(x + h).Op("tanh")};
  if (cell.op == "gru") {
    const GateSlices of_x = {x, cell.gates, 1, w.hidden}, of_h = {h, cell.gates, 1, w.hidden};
    const Expr reset = (of_x['r'] + of_h['r']).Op("sigmoid"),
               update = (of_x['z'] + of_h['z']).Op("sigmoid");
    const auto own_bias = [&] { return Slice(w.bias, 1, Size(3 * w.hidden), Size(4 * w.hidden)); };
    const Expr fresh = (of_x['n'] + reset * (of_h['n'] + own_bias())).Op("tanh");
    return {(1.0 - update) * fresh + update * before[0]};
  }
  const GateSlices sums = {x + h, cell.gates, 1, w.hidden};
  const auto [y, state] = LstmStep([&](char gate) { return sums.Open(gate); }, before[1]);
  return {w.projection.value() ? MatMul(y, SwapLast(w.projection)) : y, state};
}
// Step by step: what no op of the IR does.
Values ByStep(NcnnArgs& a, const RecurrentCell& cell, int64_t out, int64_t hidden, int64_t way,
              bool quantized) {
  const int64_t ways = way == 2 ? 2 : 1, all = GatesOf(cell) * hidden;
  const size_t states = cell.states(), behind = hidden != out ? 4 : 3;
  const Expr rows = Squeeze(a.in(0), {0});
  const auto own = [&](const Expr& of, int64_t i) {
    return Squeeze(Slice(of, 0, Size(i), Size(i + 1)), {0});
  };
  std::vector<Value*> results;
  std::vector<std::vector<Value*>> last(states);
  for (int64_t i = 0; i < ways; ++i) {
    const auto list = [&](size_t at, int64_t count) {
      return Unsqueeze(own(Reshape(a.weights(at), {ways, count}), i), {0});
    };
    StepWeights w;
    w.hidden = hidden;
    w.x = own(Reshape(a.weights(0), {ways, all, -1}), i);
    w.bias = list(1, BiasesOf(cell) * hidden);
    w.h = own(Reshape(a.weights(2), {ways, all, out}), i);
    if (hidden != out) w.projection = own(Reshape(a.weights(3), {ways, out, hidden}), i);
    if (quantized) {
      w.x_scales = list(behind, all);
      w.h_scales = list(behind + 1, all);
    }
    // Of all steps at once.
    const Expr gates = Product(rows, w.x, w.x_scales) + Slice(w.bias, 1, Size(0), Size(all));
    const bool reversed = way == 1 || i == 1;
    const Expr in_order = reversed ? Flipped(gates, {0}) : gates;
    std::vector<Expr> first;
    for (size_t k = 0; k < states; ++k) {
      const int64_t size = k == 0 ? out : hidden;
      first.push_back(a.num_bottoms() > 1
                          ? Unsqueeze(own(Reshape(a.in(k + 1), {ways, size}), i), {0})
                          : Filled(a, DType::kFloat32, {Size(1), Size(size)}, 0));
    }
    std::vector<Expr> made =
        Rounds(SizeOf(in_order, 0), first, [&](const Expr& n, const std::vector<Expr>& before) {
          const Expr x = Unsqueeze(Gather(in_order, n, 0), {0});
          std::vector<Expr> after = StepOf(cell, w, x, before);
          after.push_back(Squeeze(after[0], {0}));
          return after;
        });
    results.push_back(reversed ? Flipped(made[states], {0}) : made[states]);
    for (size_t k = 0; k < states; ++k) last[k].push_back(made[k]);
  }
  Values values = {Unsqueeze(Concat(a, results, 1), {0})};
  for (size_t k = 1; k < a.num_outputs(); ++k) {
    values.push_back(Unsqueeze(Concat(a, last[k - 1], 0), {0}));
  }
  return values;
}

// Operands behind the rows are states, and so are results.
absl::StatusOr<Values> Net(NcnnArgs& a, const RecurrentCell& cell) {
  const int64_t out = a.Int(0, 0), way = a.Int(2, 0), hidden = a.Int(3, out);
  a.Drop({1});
  const bool quantized = a.Int(8, 0) != 0;
  const size_t states = cell.states();
  a.Require(a.num_bottoms() == 1 || a.num_bottoms() == states + 1, "only some of its states");
  if (a.num_outputs() > states + 1) return Invalid(a.num_outputs(), " results");
  if (out < 1 || hidden < 1 || way < 0 || way > 2) return Invalid("direction ", way, " of ", out);
  if (a.RankOf() != 3) return Invalid("rows of an operand of ", a.RankOf() - 1, " axes");
  if (quantized || hidden != out) return ByStep(a, cell, out, hidden, way, quantized);
  const int64_t ways = way == 2 ? 2 : 1, gates = GatesOf(cell);
  RecurrentLayer layer{.cell = cell};
  layer.direction = way == 0 ? "forward" : way == 1 ? "reverse" : "bidirectional";
  const auto in_order = [&](const Expr& all) {
    return GateSlices{all, cell.gates, 1, out}.InOrder(IrOrder(cell.op));
  };
  layer.w = in_order(Reshape(a.weights(0), {ways, gates * out, -1}));
  layer.r = in_order(Reshape(a.weights(2), {ways, gates * out, out}));
  const Expr own = Reshape(a.weights(1), {ways, BiasesOf(cell) * out});
  std::vector<Value*> biases = {in_order(Slice(own, 1, Size(0), Size(gates * out)))};
  const Expr zeros = Filled(a, own.dtype(), {Size(ways), Size(out)}, 0);
  for (int64_t i = 0; i + 1 < gates; ++i) biases.push_back(zeros);
  // The last one is the hidden state's own, where there is one.
  biases.push_back(cell.linear_before_reset
                       ? Slice(own, 1, Size(gates * out), Size(BiasesOf(cell) * out))
                       : zeros);
  const Expr x = Transpose(a.in(0), {1, 0, 2});
  layer.x = x;
  layer.biases = Concat(a, biases, 1);
  Value** const given[] = {&layer.h, &layer.c};
  for (size_t i = 1; i < a.num_bottoms(); ++i) *given[i - 1] = Reshape(a.in(i), {ways, 1, out});
  std::vector<bool> wanted = {true};
  for (size_t i = 1; i < a.num_outputs(); ++i) wanted.push_back(a.wants(i));
  Values results = RunRecurrent(a, layer, std::move(wanted));
  // [length, ways, 1, out] as rows of both ways; states [ways, 1, out] as [1, ways, out].
  const Expr y = Transpose(Expr(a, results[0]), {2, 0, 1, 3});
  results[0] = ReshapeTo(y, {Size(1), SizeAt(x, 0), Size(ways * out)});
  for (size_t i = 1; i < results.size(); ++i) {
    if (results[i]) results[i] = Reshape({a, results[i]}, {1, ways, out});
  }
  return results;
}

absl::StatusOr<Values> Lstm(NcnnArgs& a) { return Net(a, UsualLstm("ifog")); }
absl::StatusOr<Values> Gru(NcnnArgs& a) { return Net(a, *CudnnCell("gru")); }
absl::StatusOr<Values> Rnn(NcnnArgs& a) { return Net(a, *CudnnCell("rnn_tanh")); }

// --- Attention -----------------------------------------------------------------------------------

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

// Operands: queries; keys; values, each what stands before it where it is left out; a mask; keys
// and values of the steps before, [1, numbers, steps], and so are results 1 and 2. Where keys are
// other rows than queries, those of before are all there are.
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

// Pairs of numbers of each row, side by side or a half apart, turned by angles [1, rows, half]. Of
// twice as many angles the second half is of the second numbers.
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

X2IR_NCNN(lstm).From("LSTM", Lstm);
X2IR_NCNN(gru).From("GRU", Gru);
X2IR_NCNN(rnn).From("RNN", Rnn);
X2IR_NCNN(attention).From("MultiHeadAttention", MultiHeadAttention).From("SDPA", Sdpa);
X2IR_NCNN(rotary_embedding).From("RotaryEmbed", RotaryEmbed);

}  // namespace x2ir
