// Caffe2: branches and loops, whose nets are nested graphs that see the blobs around them.
#include <memory>

#include "x2ir/builder/layers/recurrent.h"
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

}  // namespace

X2IR_CAFFE2(if).From("If", Branches);
X2IR_CAFFE2(loop).From({{"While", Loop}, {"RecurrentNetwork", Recurrent}});

}  // namespace x2ir
