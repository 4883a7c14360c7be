// Branches, loops, and arrays of tensors, which are sequences.
#include <memory>
#include <utility>

#include "x2ir/builder/nested.h"
#include "x2ir/handlers/paddle/paddle.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

// A condition has one element, of any type and rank.
Expr Truth(const Expr& x) {
  const Expr flat = x->shape() && x->shape()->rank() == 0
                        ? x
                        : x.Op("reshape", {x.builder().Ints({})}, {{"allowzero", 1}});
  return flat.dtype() == DType::kBool ? flat : flat.To(DType::kBool);
}

GraphPtr Branch(PaddleArgs& a, const Graph& body) {
  if (!body.inputs().empty() || body.outputs().size() < a.num_outputs()) {
    a.Fail(Invalid("a branch of other results"));
  }
  auto branch = std::make_shared<Graph>(body.name());
  Builder b(*branch, nullptr);
  AddResults(b, InlineGraph(b, body, {}));
  if (!b.status().ok()) a.Fail(b.status());
  return branch;
}

Values If(PaddleArgs& a) {
  const Expr cond = Truth(a.X("Cond"));
  const GraphPtr yes = a.SubGraph("then_branch"), no = a.SubGraph("else_branch");
  if (yes->outputs().size() != no->outputs().size()) a.Fail(Invalid("branches of other results"));
  return a.b().Ops("if", {cond},
                   {{"then_branch", Branch(a, *yes)}, {"else_branch", Branch(a, *no)}},
                   yes->outputs().size());
}

// What the block does not write because it does not run is as it was.
Values Conditional(PaddleArgs& a) {
  a.Require(a.Bool("is_scalar_condition", false), "a condition of more than one element");
  const Expr cond = Truth(a.X("Cond"));
  const GraphPtr body = a.SubGraph("body");
  a.List("Old");
  // "Cond" is the first operand, what was before the others.
  const Values old = a.inputs(1);
  if (body->outputs().size() != old.size() || a.num_outputs() > old.size()) {
    a.Fail(Invalid("a body of other results"));
  }
  std::vector<size_t> wanted;
  for (size_t i = 0; i < a.num_outputs(); ++i) {
    if (!a.wants(i)) continue;
    a.Require(old[i] != nullptr, "a value that is there only where a condition holds");
    wanted.push_back(i);
  }
  const auto branch = [&](bool runs) {
    auto graph = std::make_shared<Graph>(runs ? "then" : "else");
    Builder b(*graph, nullptr);
    const Values results = runs ? InlineGraph(b, *body, {}) : old;
    Values picked;
    for (const size_t i : wanted) picked.push_back(results[i]);
    AddResults(b, picked);
    if (!b.status().ok()) a.Fail(b.status());
    return graph;
  };
  const Values given = a.b().Ops(
      "if", {cond}, {{"then_branch", branch(true)}, {"else_branch", branch(false)}}, wanted.size());
  Values values(a.num_outputs());
  for (size_t i = 0; i < wanted.size(); ++i) values[wanted[i]] = given[i];
  return values;
}

// The body gives the condition for the next round, and what it carries on.
Values While(PaddleArgs& a) {
  const Expr cond = Truth(a.X("Condition"));
  const std::vector<Value*> first = a.List("X");
  const GraphPtr step = a.SubGraph("body");
  a.Bool("is_test", true);
  const size_t count = first.size();
  if (step->inputs().size() != count || step->outputs().size() != count + 1 ||
      a.num_outputs() > count) {
    a.Fail(Invalid("a body that carries other values"));
    return {};
  }
  LoopBody body;
  Builder& b = body.b();
  Values state;
  for (size_t i = 0; i < count; ++i) state.push_back(body.Carry(first[i], StrCat("variable_", i)));
  const Values next = InlineGraph(b, *step, state);
  Value* goes_on =
      b.Op("cast", {b.Op("reshape", {next[0], b.Ints({})}, {{"allowzero", 1}})}, {{"to", "bool"}});
  auto loop = body.Loop(a.b(), nullptr, cond, goes_on, Values(next.begin() + 1, next.end()));
  if (loop.ok()) return *std::move(loop);
  a.Fail(loop.status());
  return {};
}

// One of several, by number.
Expr SelectInput(PaddleArgs& a) {
  const std::vector<Value*> given = a.List("X");
  a.Require(given.size() == 2, "a choice among two");
  const Expr mask = Truth(a.X("Mask"));
  const auto branch = [&](Value* value) {
    auto graph = std::make_shared<Graph>("branch");
    Builder b(*graph, nullptr);
    AddResults(b, {value});
    return graph;
  };
  return {a.b(),
          a.b().Ops("if", {mask},
                    {{"then_branch", branch(given[1])}, {"else_branch", branch(given[0])}}, 1)[0]};
}

auto CumulatedExtreme(const char* op) {
  return [op](PaddleArgs& a) -> PaddleResults {
    Expr x = a.X();
    const int64_t axis = a.Int("axis", -1);
    const DType type = a.Dtype("dtype", DType::kInt64);
    const Values both =
        AsTorch(a, op, {{"self", x}, {"dim", axis}}, std::vector<DType>{x.dtype(), DType::kInt64});
    return {{"Out", {both[0]}}, {"Indices", {a.Cast(both[1], type)}}};
  };
}

}  // namespace

X2IR_PADDLE(if).From({{"if", If},
                      {"conditional_block", Conditional},
                      {"select_input", SelectInput}});
X2IR_PADDLE(loop).From("while", While);
X2IR_PADDLE(scan).From({{"cummax", CumulatedExtreme("aten::cummax.default")},
                        {"cummin", CumulatedExtreme("aten::cummin.default")}});

}  // namespace x2ir
