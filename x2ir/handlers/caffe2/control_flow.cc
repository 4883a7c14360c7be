// Caffe2: branches, loops and recurrent networks, whose nets are nested graphs that see the blobs
// around them, and the units of such networks.
#include <memory>

#include "x2ir/builder/loop.h"
#include "x2ir/builder/nested.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// A condition has one element.
Value* ConditionOf(Builder& b, Value* value) {
  const Expr flat = Expr(b, value).Op("reshape", {b.Ints({})}, {{"allowzero", 1}});
  return flat.dtype() == DType::kBool ? flat : flat.To(DType::kBool);
}

absl::StatusOr<Values> Branches(Caffe2Args& a) {
  std::shared_ptr<Graph> branches[2];
  static constexpr const char* kNets[] = {"then_net", "else_net"};
  for (size_t i = 0; i < 2; ++i) {
    const std::shared_ptr<Graph> net = a.SubGraph(kNets[i]);
    branches[i] = std::make_shared<Graph>(net->name());
    Builder b(*branches[i], nullptr);
    AddResults(b, InlineGraph(b, *net, {}));
    X2IR_RETURN_IF_ERROR(b.status());
  }
  return a.b().Ops("if", {ConditionOf(a, a.in(0))},
                   {{"then_branch", branches[0]}, {"else_branch", branches[1]}}, a.num_outputs());
}

// The net gives the condition of the next round, and what is carried.
absl::StatusOr<Values> Loop(Caffe2Args& a) {
  const std::shared_ptr<Graph> net = a.SubGraph("loop_net");
  const std::vector<Value*> first = a.inputs(1);
  LoopBody body;
  Values state;
  for (size_t i = 0; i < first.size(); ++i)
    state.push_back(body.Carry(first[i], StrCat("blob_", i)));
  const Values next = InlineGraph(body.b(), *net, state);
  if (next.size() != first.size() + 1 || a.num_outputs() != first.size()) {
    return Invalid("a net that carries other blobs");
  }
  return body.Loop(a.b(), nullptr, ConditionOf(a, a.in(0)), ConditionOf(body.b(), next[0]),
                   Values(next.begin() + 1, next.end()));
}

// --- Recurrent networks --------------------------------------------------------------------------

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
Expr GateOf(Caffe2Args& a, const Expr& gates, const Expr& state, int64_t k) {
  const Dim size = DimAt(state, 2);
  a.Require(size.is_static(), "states of unknown size");
  return Slice(gates, 2, Size(k * size.value()), Size((k + 1) * size.value()));
}

Values LstmUnit(Caffe2Args& a) {
  const Expr before = a.in(1), gates = a.in(2);
  const auto gate = [&](int64_t k) { return GateOf(a, gates, before, k); };
  const Expr forget = gate(1) + a.Number("forget_bias", 0);
  const Expr cell = forget.Op("sigmoid") * before + gate(0).Op("sigmoid") * gate(3).Op("tanh");
  const std::vector<Expr> next = OfSequences(a, 3, {gate(2).Op("sigmoid") * cell.Op("tanh"), cell});
  return {next.begin(), next.end()};
}

// The candidate's reset is applied before, in the net.
Expr GruUnit(Caffe2Args& a) {
  const Expr before = a.in(0), gates = a.in(1);
  const Expr keeps = GateOf(a, gates, before, 1).Op("sigmoid"),
             candidate = GateOf(a, gates, before, 2).Op("tanh");
  return OfSequences(a, 2, {before * keeps + candidate * (1 - keeps)})[0];
}

}  // namespace

X2IR_CAFFE2(if).From("If", Branches);
X2IR_CAFFE2(loop).From("While", Loop).From("RecurrentNetwork", Recurrent);
X2IR_CAFFE2(lstm).From("LSTMUnit", LstmUnit);
X2IR_CAFFE2(gru).From("GRUUnit", GruUnit);

}  // namespace x2ir
