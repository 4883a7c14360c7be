// Caffe2: recurrent networks, whose nets are nested graphs that see the blobs around them, and the
// units of such networks.
#include <memory>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/loop.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// The reader says which operands and results there are. A state is [1, batch, n] at a step.
absl::StatusOr<Values> Recurrent(Caffe2Args& a) {
  const std::shared_ptr<Graph> net = a.SubGraph("step_net");
  const auto count = static_cast<size_t>(a.Int("states", 0));
  const std::vector<int64_t> states = a.Ints("result_states"), rows = a.Ints("result_rows");
  std::vector<Value*> operands = a.inputs();
  const Expr x(a, operands.back());
  operands.pop_back();
  std::vector<Expr> first, sequences;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Expr operand(a, operands[i]);
    if (i >= count) {
      sequences.push_back(operand);
      continue;
    }
    const int64_t rank = a.RankOf(i);
    a.Require(rank >= 1 && rank <= 3, "states of this rank");
    if (rank == 3) a.Require(DimAt(operand, 0) == Dim(1), "states of several steps at first");
    if (rank == 1) {
      const std::vector<Value*> shape = {Ints(a, {1}), AtLeast1d(SizeOf(x, 1)),
                                         AtLeast1d(SizeOf(operand, 0))};
      first.push_back(Expand(Unsqueeze(operand, {0, 1}), Concat(a, shape, 0)));
    } else {
      first.push_back(rank == 2 ? Unsqueeze(operand, {0}) : operand);
    }
  }
  const std::vector<Expr> last =
      Rounds(SizeOf(x, 0), first, [&](const Expr& i, const std::vector<Expr>& carried) {
        const Expr at = AtLeast1d(i);
        Values inputs = {at.To(DType::kInt32)};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        for (const Expr& sequence : sequences) inputs.push_back(Gather(sequence, at, 0));
        std::vector<Expr> next;
        for (Value* value : InlineGraph(i.builder(), *net, inputs)) {
          next.emplace_back(i.builder(), value);
        }
        for (size_t k = 0; k < count; ++k) next.push_back(Squeeze(next[k], {0}));
        return next;
      });
  Values results;
  for (size_t i = 0; i < states.size(); ++i) {
    const auto state = static_cast<size_t>(states[i]);
    if (rows[i] == -1 || rows[i] == 1) {
      results.push_back(last[rows[i] < 0 ? state : count + state]);
      continue;
    }
    const Expr all = Concat(a, {first[state], last[count + state]}, 0);
    results.push_back(rows[i] == 0 ? all : Slice(all, 0, Size(rows[i]), kToEnd));
  }
  return results;
}

// Rows of the batch whose sequence has ended keep their state, or have none.
std::vector<Expr> OfSequences(Caffe2Args& a, size_t lengths_at, std::vector<Expr> next) {
  const bool given = a.Bool("sequence_lengths", true), drops = a.Bool("drop_states", false);
  if (!given) return next;
  const Expr lengths = a.in(lengths_at), step = a.in(lengths_at + 1);
  const Expr goes_on = Unsqueeze(step.To(DType::kInt64) < Flat(lengths).To(DType::kInt64), {0, 2});
  for (size_t i = 0; i < next.size(); ++i) {
    const Expr before = a.in(i);
    next[i] = Where(goes_on, next[i], drops ? before.Number(0) : before);
  }
  return next;
}
GateSlices SumsOf(Caffe2Args& a, const Expr& gates, std::string_view order, const Expr& state) {
  const Dim size = DimAt(state, 2);
  a.Require(size.is_static(), "states of unknown size");
  return {gates, order, 2, size.value()};
}

Values LstmUnit(Caffe2Args& a) {
  const Expr before = a.in(1);
  const GateSlices sums = SumsOf(a, a.in(2), "ifog", before);
  const Expr forget = sums['f'] + a.Number("forget_bias", 0);
  const auto gate = [&](char name) { return name == 'f' ? forget.Op("sigmoid") : sums.Open(name); };
  const auto [h, c] = LstmStep(gate, before);
  const std::vector<Expr> next = OfSequences(a, 3, {h, c});
  return {next.begin(), next.end()};
}

// The candidate's reset is applied before, in the net.
Expr GruUnit(Caffe2Args& a) {
  const Expr before = a.in(0);
  const GateSlices sums = SumsOf(a, a.in(1), "rzn", before);
  const Expr keeps = sums.Open('z'), candidate = sums.Open('n');
  return OfSequences(a, 2, {before * keeps + candidate * (1 - keeps)})[0];
}

}  // namespace

X2IR_CAFFE2(loop).From("RecurrentNetwork", Recurrent);
X2IR_CAFFE2(lstm).From("LSTMUnit", LstmUnit);
X2IR_CAFFE2(gru).From("GRUUnit", GruUnit);

}  // namespace x2ir
