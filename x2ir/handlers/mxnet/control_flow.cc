// MXNet: loops and branches, whose subgraphs see nothing but their own operands.
#include <algorithm>
#include <memory>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/nested.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

absl::Status CheckPlaces(const std::vector<int64_t>& places, size_t count) {
  for (const int64_t place : places) {
    if (place < 0 || place >= static_cast<int64_t>(count))
      return Invalid("there is no operand ", place);
  }
  return absl::OkStatus();
}
// Each place once: a value that is carried is handed on in one way.
absl::Status CheckDistinct(std::vector<int64_t> places) {
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) == places.end()) return absl::OkStatus();
  return Invalid("two operands of the subgraph have the same place");
}
// The operands at these places, as operands of a subgraph.
absl::StatusOr<Values> Picked(const Graph& subgraph, const Values& from,
                              const std::vector<int64_t>& places) {
  X2IR_RETURN_IF_ERROR(CheckPlaces(places, from.size()));
  if (subgraph.inputs().size() != places.size()) {
    return Invalid("a subgraph of ", subgraph.inputs().size(), " operands is given ",
                   places.size());
  }
  Values values;
  for (const int64_t place : places) values.push_back(from[static_cast<size_t>(place)]);
  return values;
}

absl::StatusOr<std::vector<GraphPtr>> TakeGraphs(SymbolArgs& a, size_t count) {
  std::vector<GraphPtr> graphs = a.SubGraphs("subgraphs");
  if (graphs.size() != count) return Invalid("it has ", graphs.size(), " subgraphs");
  return graphs;
}

// MXNet's subgraphs give data first; loops carry on before they collect.
Values StatesFirst(const Values& results, size_t num_data) {
  const auto states = results.begin() + static_cast<ptrdiff_t>(num_data);
  Values ordered(states, results.end());
  ordered.insert(ordered.end(), results.begin(), states);
  return ordered;
}

// Each round works on the next slice of the data, and on states that it hands on. Before 1.5
// operands are those of the subgraph, in its order; since then data come first, then states, then
// the others.
absl::StatusOr<Values> Foreach(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<GraphPtr> graphs, TakeGraphs(a, 1));
  const Graph& step = *graphs[0];
  const auto num_data = static_cast<size_t>(a.Integer("num_out_data", 0));
  const auto num_outputs = static_cast<size_t>(a.Integer("num_outputs", 0));
  const std::vector<int64_t> data = a.Tuple("in_data_locs"), states = a.Tuple("in_state_locs");
  const bool ordered = a.attrs().Has("remain_locs");
  const std::vector<int64_t> remain = a.Tuple("remain_locs");
  const size_t count = step.inputs().size();
  X2IR_RETURN_IF_ERROR(CheckPlaces(data, count));
  X2IR_RETURN_IF_ERROR(CheckPlaces(states, count));
  X2IR_RETURN_IF_ERROR(CheckPlaces(remain, count));
  std::vector<int64_t> stepped = data;
  stepped.insert(stepped.end(), states.begin(), states.end());
  X2IR_RETURN_IF_ERROR(CheckDistinct(std::move(stepped)));
  if (data.empty() || a.num_inputs() != count || step.outputs().size() != num_outputs ||
      num_data > num_outputs || num_outputs - num_data != states.size()) {
    return Invalid("a loop whose subgraph does not fit");
  }
  // What each operand of the subgraph is.
  Values given(count, nullptr);
  if (ordered) {
    size_t next = 0;
    for (const auto* places : {&data, &states, &remain}) {
      for (const int64_t place : *places) {
        if (next >= a.num_inputs()) return Invalid("a loop whose subgraph does not fit");
        given[static_cast<size_t>(place)] = a.in(next++);
      }
    }
  } else {
    given = a.inputs();
  }
  for (Value* value : given) {
    if (!value) return Invalid("an operand of the subgraph is nothing");
  }
  LoopBody body;
  Builder& b = body.b();
  Values operands = given;
  for (size_t k = 0; k < states.size(); ++k) {
    Value*& operand = operands[static_cast<size_t>(states[k])];
    operand = body.Carry(operand, StrCat("state_", k + 1), operand->type());
  }
  for (const int64_t place : data) {
    Value*& operand = operands[static_cast<size_t>(place)];
    operand = b.Op("gather", {operand, body.iteration()}, {{"axis", 0}});
  }
  const Values results = InlineGraph(b, step, operands);
  X2IR_RETURN_IF_ERROR(b.status());
  X2IR_ASSIGN_OR_RETURN(const Values last,
                        body.Loop(a.b(), SizeOf({a, given[static_cast<size_t>(data[0])]}, 0),
                                  nullptr, body.condition(), StatesFirst(results, num_data)));
  Values in_order(last.begin() + static_cast<ptrdiff_t>(states.size()), last.end());
  in_order.insert(in_order.end(), last.begin(),
                  last.begin() + static_cast<ptrdiff_t>(states.size()));
  return in_order;
}

// Outputs of the rounds that there are, and zeros up to the most that there may be.
absl::StatusOr<Values> WhileLoop(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<GraphPtr> graphs, TakeGraphs(a, 2));
  const Graph &cond = *graphs[0], &step = *graphs[1];
  const int64_t most = a.Integer("max_iterations", 0);
  const auto num_data = static_cast<size_t>(a.Integer("num_out_data", 0));
  const auto num_outputs = static_cast<size_t>(a.Integer("num_outputs", 0));
  const std::vector<int64_t> of_cond = a.Tuple("cond_input_locs"),
                             of_step = a.Tuple("func_input_locs"),
                             variables = a.Tuple("func_var_locs");
  if (most < 1 || cond.outputs().size() != 1 || step.outputs().size() != num_outputs ||
      num_data > num_outputs || num_outputs - num_data != variables.size()) {
    return Invalid("a loop whose subgraphs do not fit");
  }
  X2IR_RETURN_IF_ERROR(CheckPlaces(of_step, a.num_inputs()));
  X2IR_RETURN_IF_ERROR(CheckPlaces(variables, of_step.size()));
  std::vector<int64_t> carried;
  for (const int64_t variable : variables) {
    carried.push_back(of_step[static_cast<size_t>(variable)]);
  }
  X2IR_RETURN_IF_ERROR(CheckDistinct(std::move(carried)));
  LoopBody body;
  Builder& b = body.b();
  const Values given = a.inputs();
  Values inside = given;
  for (size_t k = 0; k < variables.size(); ++k) {
    Value*& operand = inside[static_cast<size_t>(of_step[static_cast<size_t>(variables[k])])];
    operand = body.Carry(operand, StrCat("variable_", k + 1), operand->type());
  }
  const auto asks = [&](Builder& at, const Values& from) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const Values operands, Picked(cond, from, of_cond));
    const Expr answer(at, InlineGraph(at, cond, operands)[0]);
    return Reshape(IsTrue(answer), {}).value();
  };
  X2IR_ASSIGN_OR_RETURN(const Values operands, Picked(step, inside, of_step));
  const Values results = InlineGraph(b, step, operands);
  Values after = inside;
  for (size_t i = 0; i < variables.size(); ++i) {
    after[static_cast<size_t>(of_step[static_cast<size_t>(variables[i])])] = results[num_data + i];
  }
  X2IR_ASSIGN_OR_RETURN(Value * again, asks(b, after));
  X2IR_RETURN_IF_ERROR(b.status());
  X2IR_ASSIGN_OR_RETURN(Value * starts, asks(a.b(), given));
  X2IR_ASSIGN_OR_RETURN(const Values last, body.Loop(a.b(), a.b().Int(most), starts, again,
                                                     StatesFirst(results, num_data)));
  Values in_order;
  for (size_t i = 0; i < num_data; ++i) {
    const Expr rounds(a, last[variables.size() + i]);
    // Zeros are appended, one for each round that was left.
    const Expr lack = AtLeast1d(Int(a, most) - SizeOf(rounds, 0));
    in_order.push_back(
        a.Op("pad", {rounds, Concat(a, {a.b().Ints({0}), lack}, 0), nullptr, a.b().Ints({0})},
             {{"mode", "constant"}}));
  }
  in_order.insert(in_order.end(), last.begin(),
                  last.begin() + static_cast<ptrdiff_t>(variables.size()));
  return in_order;
}

absl::StatusOr<Values> Cond(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<GraphPtr> graphs, TakeGraphs(a, 3));
  a.Ignore("num_outputs");
  const Values given = a.inputs();
  X2IR_ASSIGN_OR_RETURN(const Values of_cond,
                        Picked(*graphs[0], given, a.Tuple("cond_input_locs")));
  if (graphs[0]->outputs().size() != 1) return Invalid("a condition of several values");
  const Expr answer(a, InlineGraph(a.b(), *graphs[0], of_cond)[0]);
  const auto branch = [&](const Graph& from, Symbol places) -> absl::StatusOr<GraphPtr> {
    X2IR_ASSIGN_OR_RETURN(const Values operands, Picked(from, given, a.Tuple(places)));
    auto graph = std::make_shared<Graph>(from.name());
    Builder b(*graph, nullptr);
    AddResults(b, InlineGraph(b, from, operands));
    X2IR_RETURN_IF_ERROR(b.status());
    return graph;
  };
  X2IR_ASSIGN_OR_RETURN(const GraphPtr then_branch, branch(*graphs[1], "then_input_locs"));
  X2IR_ASSIGN_OR_RETURN(const GraphPtr else_branch, branch(*graphs[2], "else_input_locs"));
  const size_t count = then_branch->outputs().size();
  if (count != else_branch->outputs().size()) return Invalid("branches of different results");
  return a.b().Ops("if", {Reshape(IsTrue(answer), {})},
                   {{"then_branch", then_branch}, {"else_branch", else_branch}}, count);
}

}  // namespace

X2IR_MXNET(if).From({"_cond", "_npx_cond"}, Cond);
X2IR_MXNET(loop)
    .From({"_foreach", "_npx_foreach"}, Foreach)
    .From({"_while_loop", "_npx_while_loop"}, WhileLoop);

}  // namespace x2ir
