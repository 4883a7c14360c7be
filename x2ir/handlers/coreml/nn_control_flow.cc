// Branches and loops of networks, which see what is around them.
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/nested.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// One number: whether it is not zero.
Expr Question(const Expr& number) {
  return Abs(number)
      .Op("greater", {number.builder().Scalar(DType::kFloat32, 1e-6)})
      .Op("reshape", {number.builder().Ints({})}, {{"allowzero", 1}});
}

absl::StatusOr<Values> Branch(NnArgs& a) {
  const auto branch = [&](Symbol name) -> absl::StatusOr<std::shared_ptr<Graph>> {
    const std::shared_ptr<Graph> block = a.SubGraph(name);
    auto graph = std::make_shared<Graph>(block->name());
    Builder b(*graph, nullptr);
    Values results = InlineGraph(b, *block, {});
    if (results.size() < a.num_outputs()) return Invalid("a branch gives too few results");
    results.resize(a.num_outputs());
    AddResults(b, results);
    X2IR_RETURN_IF_ERROR(b.status());
    return graph;
  };
  X2IR_ASSIGN_OR_RETURN(const auto yes, branch("ifBranch"));
  X2IR_ASSIGN_OR_RETURN(const auto no, branch("elseBranch"));
  return a.b().Ops("if", {Question(a.X())}, {{"then_branch", yes}, {"else_branch", no}},
                   a.num_outputs());
}

// The first operand is how often, or null; others are carried. The condition's network, where there
// is one, runs before each round and may write what is carried, too: what it wrote last stays.
absl::StatusOr<Values> Loop(NnArgs& a) {
  const std::vector<Value*> first = a.inputs(1);
  const size_t count = first.size();
  const int64_t most = a.Int("maxLoopIterations");
  const bool asks = a.HasAttr("conditionNetwork"), breaks = a.Flag("breaks#");
  const std::shared_ptr<Graph> step = a.SubGraph("bodyNetwork"),
                               question = asks ? a.SubGraph("conditionNetwork") : nullptr;
  if (step->inputs().size() != count || a.num_outputs() > count) {
    return Invalid("not as many results as variables");
  }
  // The answer, followed by the variables.
  const auto asked = [&](Builder& at, const Values& given) {
    if (!asks) {
      Values all = {at.Constant(Tensor::Scalar<bool>(true))};
      all.insert(all.end(), given.begin(), given.end());
      return all;
    }
    Values all = InlineGraph(at, *question, given);
    all[0] = Question({at, all[0]});
    return all;
  };
  const Values start = asked(a.b(), Values(first.begin(), first.end()));
  LoopBody body;
  Values state;
  for (size_t i = 0; i < count; ++i) {
    const Type type = Type::Tensor(DType::kFloat32);
    state.push_back(body.Carry(start[1 + i], StrCat("variable_", i), type));
  }
  Values next = InlineGraph(body.b(), *step, state);
  if (breaks) {
    // The last variable says whether the loop is left, and then nothing is asked.
    const Expr left = Question({body.b(), next.back()});
    if (asks) {
      const auto arm = [&](bool of_left) -> absl::StatusOr<std::shared_ptr<Graph>> {
        auto graph = std::make_shared<Graph>(of_left ? "left" : "asked");
        Builder b(*graph, nullptr);
        Values results = next;
        if (of_left) {
          results.insert(results.begin(), b.Constant(Tensor::Scalar<bool>(false)));
        } else {
          results = asked(b, next);
        }
        AddResults(b, results);
        X2IR_RETURN_IF_ERROR(b.status());
        return graph;
      };
      X2IR_ASSIGN_OR_RETURN(const auto yes, arm(true));
      X2IR_ASSIGN_OR_RETURN(const auto no, arm(false));
      next = body.b().Ops("if", {left}, {{"then_branch", yes}, {"else_branch", no}}, count + 1);
    } else {
      next.insert(next.begin(), Not(left).value());
    }
  } else {
    next = asked(body.b(), next);
  }
  Value* rounds = nullptr;
  if (a.has(0)) {
    rounds = Reshape(a.in(0).To(DType::kInt64), {});
    if (most > 0) rounds = Min({a, rounds}, {a, a.b().Int(most)});
  } else if (most > 0) {
    rounds = a.b().Int(most);
  }
  X2IR_ASSIGN_OR_RETURN(Values last, body.Loop(a.b(), rounds, asks || breaks ? start[0] : nullptr,
                                               next[0], Values(next.begin() + 1, next.end())));
  last.resize(a.num_outputs());
  return last;
}

}  // namespace

X2IR_NN(if).From("branch", Branch);
X2IR_NN(loop).From("loop", Loop);

}  // namespace x2ir
